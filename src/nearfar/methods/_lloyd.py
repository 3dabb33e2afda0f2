"""Lloyd's iteration for kernel k-means on K' = X X' + diag(own), with the rows of X in blocks.

With m_c the mean row of cluster c, the squared distance of object x to c is
K'(x, x) - 2 (x.m_c + own_x [x in c] / |c|) + |m_c|^2 + (sum of own over c) / |c|^2.
Without ``own``, distances are computed only where a bound leaves doubt (Elkan 2003): ``gaps[c, x]`` is never above the
distance of x to centre c less that to its own centre, and both centres can close it by no more than their ``drift``.
Both are in units of the square root of ``unit``, below which squared distances differ by rounding only.
Labels, gaps and sums stay with the blocks during a run; only sums over clusters come here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools import threads
from nearfar._tools.arrays import Floats, Labels
from nearfar.blocks import RowBlocks, join
from nearfar.kernel.phi import row_squares
from nearfar.methods._rows import cluster_sums, means, products, row_slices

DECIMALS = 12  # of a squared distance, as a share of the largest K(x, x), that are not rounding error


class Centres(NamedTuple):
    """Of k clusters: mean rows (k, p); |m_c|^2 and what ``own`` adds; sizes; drift since the last, None without gaps.

    Where K' is given, means are (k, n), the mean of its rows.
    """

    means: Any
    offsets: Floats
    sizes: NDArray[np.int64]
    drift: NDArray[np.float32] | None
    unit: float
    is_kernel: bool


class Run(NamedTuple):
    """One run: (n,) labels, its centres, the objective, steps, and whether it converged."""

    labels: Labels
    centres: Centres
    inertia: float
    n_iter: int
    converged: bool


class State(NamedTuple):
    """A run in one block of b rows: labels, own, diagonal (b,), sums (k, p), gaps (k, b); moved : rows that changed."""

    labels: Labels
    own: Floats
    diagonal: Floats
    sums: Any
    gaps: NDArray[np.float32]
    moved: int = 0


class Gram:
    """Objects with the kernel K' = X X' + diag(own), or with K' itself in place of X.

    rows : RowBlocks, dense or sparse; own : (n,), None for zeros; shift : what was taken off the diagonal for K';
    is_kernel : whether rows are those of K', in one block.
    """

    def __init__(
        self, rows: RowBlocks, own: Floats | None = None, *, shift: float = 0.0, is_kernel: bool = False
    ) -> None:
        self.rows, self.is_kernel = rows, is_kernel
        self.own, self.is_bounded = (np.zeros(rows.n_rows), not is_kernel) if own is None else (own, False)
        squares = rows.blocks[0].diagonal() if is_kernel else join(rows.gather("lengths", row_squares))
        self.diagonal: Floats = squares + self.own
        self.unit = max(10.0**-DECIMALS * float(self.diagonal.max() + shift), float(np.finfo(float).tiny))

    def columns(self, objects: NDArray[np.intp]) -> Floats:
        """(n, len(objects)) K'(x, y) for all x and the given y, the same however rows are cut."""
        chosen = self.rows.take(objects)
        if self.is_kernel:
            return np.asarray(chosen.T)
        columns: Floats = join(self.rows.gather("columns", products, others=chosen.astype(np.float64)))
        columns[objects, np.arange(len(objects))] += self.own[objects]
        return columns

    def begin(self, labels: Labels, k: int) -> tuple[list[Any], Any]:
        """States of a run with these labels, in blocks, and their tally."""
        columns = [self.rows.cut(values) for values in (labels, self.own, self.diagonal)]
        return self._tallied(self.rows.map("begin", _begin, *columns, k=k))

    def step(self, states: list[Any], centres: Centres) -> tuple[list[Any], Any]:
        """Every object to its nearest centre; an empty cluster gets the object farthest from its centre."""
        new, tally = self._tallied(self.rows.map("step", _step, states, centres=centres))
        if tally[1].all():
            return new, tally
        squares = join(self.rows.gather("empty clusters", _to_own_centre, new, centres=centres))
        filled = repair(self.labels(new), squares, len(centres.sizes))
        new, tally = self.begin(filled, len(centres.sizes))
        return new, (*tally[:3], int(np.count_nonzero(filled != self.labels(states))))

    def labels(self, states: list[Any]) -> Labels:
        """(n,) labels, here."""
        return np.asarray(join(self.rows.gather("labels", lambda rows, state: state.labels, states)))

    def centres(self, tally: Any, before: Centres | None) -> tuple[Centres, float]:
        """The centres of clusters, and the objective of these."""
        sums, sizes, own, _ = tally
        weights, centre_rows = 1 / np.maximum(sizes, 1), means(sums, sizes)
        squares = 0.0 if self.is_kernel else row_squares(centre_rows)
        inertia = float(self.diagonal.sum() - (sizes * squares + own * weights).sum())
        offsets = np.where(sizes > 0, squares + own * weights**2, np.inf)
        drift = (
            np.ones(len(sizes), np.float32) if self.is_bounded else None
        )  # too much, so that bounds stay bounds
        if drift is not None and before is not None:
            drift += np.sqrt(row_squares(centre_rows - before.means) / self.unit)
        return Centres(centre_rows, offsets, sizes, drift, self.unit, self.is_kernel), inertia

    def _tallied(self, states: list[Any]) -> tuple[list[Any], Any]:
        """With states, what they add up to: sums of rows, sizes, sums of ``own`` by cluster, and rows that moved."""
        total = self.rows.backend.total("k-means", _tally, states, kernel=self.is_kernel)
        return states, self.rows.backend.gather("k-means", [total])[0]


def lloyd(gram: Gram, labels: Labels, k: int, max_iter: int, tol: float) -> Run:
    """Kernel k-means from starting labels, until no label changes or a step brings too little."""
    before, centres = np.inf, None
    states, tally = gram.begin(labels, k)
    for n_iter in range(1, max_iter + 1):
        centres, inertia = gram.centres(tally, centres)
        if before - inertia >= tol * abs(inertia):
            before = inertia
            states, tally = gram.step(states, centres)
            if tally[3]:
                continue
        return Run(gram.labels(states), centres, inertia, n_iter, True)
    return Run(gram.labels(states), *gram.centres(tally, centres), max_iter, False)


def plus_plus(gram: Gram, k: int, n_starts: int, rng: np.random.Generator) -> list[Labels]:
    """Greedy k-means++ on the distances of K': (n,) labels of the nearest seed, for all starts in the same passes.

    A seed is drawn with probability proportional to its squared distance to the nearest one so far, evenly where all
    are zero; of 2 + log(k) such draws the one that lowers the sum of squared distances most is kept.
    """
    diagonal = gram.diagonal
    closest = np.full((n_starts, len(diagonal)), np.inf)
    labels = np.zeros(closest.shape, dtype=np.int32)
    for c in range(k):
        count = 2 + int(np.log(k)) if c else 1
        shares = [each / each.sum() if 0 < each.sum() < np.inf else None for each in closest]
        seeds = np.concatenate([rng.choice(len(diagonal), count, p=share) for share in shares])
        squares = diagonal[:, None] + diagonal[seeds] - 2 * gram.columns(seeds)
        squares[seeds, np.arange(len(seeds))] = 0  # whatever rounding says
        squares = np.round(np.maximum(squares, 0) / gram.unit)  # equals stay equal, however they were summed
        for run, mine in enumerate(np.split(squares, n_starts, axis=1)):
            kept = np.minimum(mine, closest[run][:, None])
            best = int(np.argmin(kept.sum(axis=0)))
            labels[run][mine[:, best] < closest[run]] = c
            closest[run] = kept[:, best]
    return list(labels)


def repair(labels: Labels, squares: Floats, k: int) -> Labels:
    """Give every empty cluster the object farthest from its centre, from a cluster that can spare one.

    Where all objects sit on their centres there is nothing to give, and the cluster stays empty.

    >>> repair(np.array([0, 0, 0], dtype=np.int32), np.array([0.1, 0.9, 0.2]), 2)
    array([0, 1, 0], dtype=int32)
    """
    labels, sizes = labels.copy(), np.bincount(labels, minlength=k)
    for x in np.argsort(-squares, kind="stable"):
        if sizes.all() or squares[x] <= 1e-12 * squares.max():
            break
        if sizes[labels[x]] > 1:
            sizes[labels[x]] -= 1
            labels[x] = np.argmin(sizes)
            sizes[labels[x]] = 1
    return labels


# -------------------------------------------------------------------- one block


def nearest(block: Any, centres: Centres) -> Labels:
    """(b,) the nearest centre of every row, taken as a new object; of equals, but for rounding, the first."""
    squares = centres.offsets - 2 * products(block, centres.means)
    chosen: Labels = np.argmin(np.round(squares / centres.unit), axis=1).astype(np.int32)
    return chosen


def _begin(rows: Any, labels: Labels, own: Floats, diagonal: Floats, k: int) -> State:
    sums, gaps = (
        cluster_sums(rows, labels, k),
        np.zeros((1, len(labels)), np.float32),
    )  # the same for all centres
    return State(labels, own, diagonal, sums, gaps)


def _tally(state: State, kernel: bool) -> tuple[Any, ...]:
    labels, k = state.labels, state.sums.shape[0]
    own = state.sums[labels, np.arange(len(labels))] if kernel else state.own
    return state.sums, np.bincount(labels, minlength=k), np.bincount(labels, own, minlength=k), state.moved


def _step(rows: Any, state: State, centres: Centres) -> State:
    """Every row to its nearest centre; of equals, but for rounding, to its own, else to the first."""
    old, new, gaps = state.labels, state.labels.copy(), state.gaps
    pieces: Iterable[Any] = [(slice(0, len(old)), rows)]
    if centres.drift is not None:
        gaps, pieces = gaps - centres.drift[:, None] - centres.drift[old], row_slices(rows)

    def move(where: slice, some: Any) -> None:
        """In and out: new, gaps."""
        at = where.start + np.flatnonzero(gaps[:, where].min(axis=0) <= 0)
        squares = _squares(some if len(at) == some.shape[0] else rows[at], at, state, centres)
        each, ranks = np.arange(len(at)), np.round(squares)
        ranks[each, old[at]] -= 1  # a tie moves nobody
        new[at] = best = np.argmin(ranks, axis=1)
        if centres.drift is not None:
            distances = np.sqrt(np.maximum(squares, 0))
            gaps[:, at] = (distances - distances[each, best, None]).T
            gaps[best, at] = np.inf

    with threads.one_blas_thread():
        threads.run(move, pieces)
    moved, k = np.flatnonzero(new != old), len(centres.sizes)
    changed = rows[moved]
    sums = state.sums + cluster_sums(changed, new[moved], k) - cluster_sums(changed, old[moved], k)
    return State(new, state.own, state.diagonal, sums, gaps, len(moved))


def _squares(rows: Any, at: NDArray[np.intp], state: State, centres: Centres) -> Floats:
    """(b, k) squared distances of the rows ``at`` a block to the clusters, in units; an empty one is infinitely far."""
    labels = state.labels[at]
    inner: Floats = centres.means.T[at] if centres.is_kernel else products(rows, centres.means)
    squares: Floats = centres.offsets - 2 * inner + state.diagonal[at, None]
    squares[np.arange(len(labels)), labels] -= 2 * state.own[at] / centres.sizes[labels]
    return squares / centres.unit


def _to_own_centre(rows: Any, state: State, centres: Centres) -> Floats:
    each = np.arange(len(state.labels))
    return np.maximum(_squares(rows, each, state, centres)[each, state.labels], 0)
