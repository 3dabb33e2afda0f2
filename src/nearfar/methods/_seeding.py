"""k-means++: starts spread over the data, for all runs at once so that a pass over Phi serves them all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.methods._spaces import Floats, Labels, Space

__all__ = ["adopt", "drawn_from", "plus_plus", "potentials", "squared_distances", "trials_for"]


def plus_plus(space: Space, k: int, n_starts: int, rng: np.random.Generator) -> list[Labels]:
    """Greedy k-means++ on the distances of K': (n,) labels of the nearest seed, for every start.

    A seed is drawn with probability proportional to its squared distance to the nearest one so far; of
    2 + log(k) such draws the one that lowers the sum of squared distances most is kept.
    """
    n = len(space.diagonal)
    nearest = np.full((n_starts, n), np.inf)
    labels = np.zeros((n_starts, n), dtype=np.int32)
    for c in range(k):
        seeds = np.concatenate([_draw(nearest[run], trials_for(c, k), rng) for run in range(n_starts)])
        products = space.columns(seeds)
        squares = squared_distances(products, space.diagonal, space.diagonal[seeds], seeds)
        best = np.argmin(potentials(squares, nearest), axis=1)
        adopt(squares, best, c, nearest, labels)
    return list(labels)


def trials_for(c: int, k: int) -> int:
    """How many objects are drawn for seed c of k; the first is drawn once, there is nothing to compare."""
    return 1 if c == 0 else 2 + int(np.log(k))


def _draw(nearest: Floats, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Objects drawn with probability proportional to ``nearest``; evenly where that is all zero or infinite."""
    steps = np.cumsum(nearest)
    if not np.isfinite(steps[-1]) or steps[-1] <= 0:
        return rng.integers(len(nearest), size=count)
    return drawn_from(steps, rng.random(count) * steps[-1])


def drawn_from(steps: Floats, marks: Floats) -> NDArray[np.intp]:
    """The object whose step each mark falls into; ``steps`` are the running sums of all objects' shares."""
    places: NDArray[np.intp] = np.searchsorted(steps, marks, side="right")
    return np.minimum(places, len(steps) - 1).astype(np.intp)


# The rest works on a block of objects as it does on all of them.


def squared_distances(
    products: NDArray[Any], diagonal: Floats, seed_diagonal: Floats, seeds: NDArray[np.intp]
) -> Floats:
    """(n, s) squared distances to s seeds, K'(x, x) - 2 K'(x, y) + K'(y, y), never below 0.

    In: products (n, s) K'(x, y); diagonals of both; seeds (s,) their places among the n, or -1.
    """
    squares: Any = products.astype(np.float64, copy=True)
    squares *= -2
    squares += diagonal[:, None]
    squares += seed_diagonal
    np.maximum(squares, 0, out=squares)
    here = np.flatnonzero(seeds >= 0)
    squares[seeds[here], here] = 0  # an object is at no distance from itself, whatever rounding says
    result: Floats = squares
    return result


def potentials(squares: Floats, nearest: Floats) -> Floats:
    """(starts, trials) sum of squared distances to the nearest seed, if that trial were one too.

    In: squares (n, starts * trials); nearest (starts, n) so far. Over blocks of objects these add up.
    """
    starts = len(nearest)
    trials = squares.shape[1] // starts
    sums = [np.minimum(_of(squares, run, trials), nearest[run][:, None]).sum(axis=0) for run in range(starts)]
    return np.stack(sums)


def adopt(
    squares: Floats, best: NDArray[np.intp], c: int, nearest: Floats, labels: NDArray[np.int32]
) -> None:
    """Make trial best[run] the seed of cluster c. In and out: nearest and labels (starts, n)."""
    trials = squares.shape[1] // len(nearest)
    for run, trial in enumerate(best):
        mine = _of(squares, run, trials)[:, trial]
        labels[run][mine < nearest[run]] = c
        np.minimum(mine, nearest[run], out=nearest[run])


def _of(squares: Floats, run: int, trials: int) -> Floats:
    return squares[:, run * trials : (run + 1) * trials]
