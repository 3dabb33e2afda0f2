"""k-means++: starts spread over the data, for all runs at once so that a pass over Phi serves them all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats, Labels
from nearfar.methods._grams import Gram

__all__ = ["DECIMALS", "plus_plus"]

DECIMALS = 12  # of a squared distance that are not rounding error


def plus_plus(gram: Gram, k: int, n_starts: int, rng: np.random.Generator) -> list[Labels]:
    """Greedy k-means++ on the distances of K': (n,) labels of the nearest seed, for every start.

    A seed is drawn with probability proportional to its squared distance to the nearest one so far; of
    2 + log(k) such draws the one that lowers the sum of squared distances most is kept.
    """
    n = len(gram.diagonal)
    trials = 2 + int(np.log(k))
    nearest = np.full((n_starts, n), np.inf)
    labels = np.zeros((n_starts, n), dtype=np.int32)
    for c in range(k):
        count = 1 if c == 0 else trials
        drawn = np.stack([_draw(nearest[run], count, rng) for run in range(n_starts)])
        squares = _squared_distances(gram, drawn.ravel())
        for run in range(n_starts):
            mine = squares[:, run * count : (run + 1) * count]
            kept = np.minimum(mine, nearest[run][:, None])
            best = int(np.argmin(kept.sum(axis=0)))
            labels[run][mine[:, best] < nearest[run]] = c
            nearest[run] = kept[:, best]
    return list(labels)


def _draw(nearest: Floats, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Objects drawn with probability proportional to ``nearest``; evenly where that is all zero or infinite."""
    steps = np.cumsum(nearest)
    if not np.isfinite(steps[-1]) or steps[-1] <= 0:
        return rng.integers(len(nearest), size=count)
    chosen: NDArray[np.intp] = np.searchsorted(steps, rng.random(count) * steps[-1], side="right")
    return np.minimum(chosen, len(nearest) - 1).astype(np.intp)


def _squared_distances(gram: Gram, seeds: NDArray[np.intp]) -> Floats:
    squares: Any = gram.columns(seeds).astype(np.float64, copy=True)
    squares *= -2
    squares += gram.diagonal[:, None]
    squares += gram.diagonal[seeds]
    np.maximum(squares, 0, out=squares)
    squares[seeds, np.arange(len(seeds))] = (
        0  # an object is at no distance from itself, whatever rounding says
    )
    result: Floats = np.round(squares, DECIMALS, out=squares)  # equals stay equal, however they were summed
    return result
