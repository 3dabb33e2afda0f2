"""Lloyd's iteration for kernel k-means on K' = X X' + diag(own), with the rows of X in blocks.

With m_c the mean row of cluster c, the squared distance of object x to c is
K'(x, x) - 2 (x.m_c + own_x [x in c] / |c|) + |m_c|^2 + (sum of own over c) / |c|^2.
Dense rows without ``own`` use Elkan's bounds (2003): ``upper[x]`` is never below the distance of row x to its own centre,
``lower[x, c]`` never above that to centre c, and a centre that moved loosens them by no more than its ``drift``.
Labels, bounds and sums stay with the blocks during a run; only sums over clusters come here.
"""

from __future__ import annotations

from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nearfar._tools import threads
from nearfar._tools.arrays import Floats, Labels
from nearfar._tools.compiled import compiled
from nearfar.blocks import RowBlocks, join
from nearfar.kernel.phi import is_sparse, row_squares
from nearfar.methods._rows import products, row_slices

DECIMALS = 12  # of a squared distance that are not rounding error


class Centres(NamedTuple):
    """Of k clusters: means (k, p); offsets (k,), |m_c|^2 and what ``own`` adds; sizes (k,); drift (k,) since the last."""

    means: Any
    offsets: Floats
    sizes: NDArray[np.int64]
    drift: Floats


class Run(NamedTuple):
    """One run: (n,) labels, its centres, the objective, steps, and whether it converged."""

    labels: Labels
    centres: Centres
    inertia: float
    n_iter: int
    converged: bool


class State(NamedTuple):
    """A run in one block of rows; bounds are empty where they are not kept; moved : rows that changed their cluster."""

    labels: Labels
    sums: Any
    upper: NDArray[Any]
    lower: NDArray[Any]
    moved: int = 0


class Gram:
    """Objects with the kernel K' = X X' + diag(own), or with K' itself in place of X.

    rows : RowBlocks, dense or sparse; own : (n,), or None for dense rows without; is_kernel : whether rows are those of K'.
    """

    def __init__(self, rows: RowBlocks, own: Floats | None = None, *, is_kernel: bool = False) -> None:
        self.rows, self.own, self.is_kernel = rows, own, is_kernel
        self.is_bounded = own is None and not is_kernel
        self._own = [None] * len(rows.blocks) if own is None else rows.cut(own)

    @cached_property
    def diagonal(self) -> Floats:
        """(n,) K'(x, x)."""
        diagonal: Floats = join(self.rows.gather("lengths", _diagonal, self._own, kernel=self.is_kernel))
        return diagonal

    def columns(self, objects: NDArray[np.intp]) -> Floats:
        """(n, len(objects)) K'(x, y) for all x and the given y, the same however rows are cut."""
        chosen = self.rows.take(objects)
        if self.is_kernel:
            return np.asarray(chosen.T)
        columns: Floats = join(self.rows.gather("columns", _columns, others=chosen))
        if self.own is not None:
            columns[objects, np.arange(len(objects))] += self.own[objects]
        return columns

    def begin(self, labels: Labels, k: int) -> tuple[list[Any], Any]:
        """States of a run with these labels, in blocks, and their tally."""
        states = self.rows.map("begin", _begin, self.rows.cut(labels), k=k, bounded=self.is_bounded)
        return self._tallied(states)

    def step(self, states: list[Any], centres: Centres) -> tuple[list[Any], Any]:
        """Every object to its nearest centre; an empty cluster gets the object farthest from its centre."""
        given = {"centres": centres, "kernel": self.is_kernel}
        copy = not self.rows.backend.in_place
        new, tally = self._tallied(self.rows.map("step", _step, states, self._own, copy=copy, **given))
        if tally[1].all():
            return new, tally
        squares = join(self.rows.gather("empty clusters", _to_own_centre, new, self._own, **given))
        filled = repair(self.labels(new), squares, len(centres.sizes))
        new, tally = self.begin(filled, len(centres.sizes))
        return new, (*tally[:3], int(np.count_nonzero(filled != self.labels(states))))

    def labels(self, states: list[Any]) -> Labels:
        """(n,) labels, here."""
        backend = self.rows.backend
        labels: Labels = join(backend.gather("labels", backend.map("labels", attrgetter("labels"), states)))
        return labels

    def centres(self, tally: Any, before: Centres | None) -> tuple[Centres, float]:
        """The centres of clusters, and the objective of these."""
        sums, sizes, own, _ = tally
        weights, centre_rows = 1 / np.maximum(sizes, 1), means(sums, sizes)
        squares = 0.0 if self.is_kernel else row_squares(centre_rows)
        inertia = float(self.diagonal.sum() - (sizes * squares + own * weights).sum())
        offsets = np.where(sizes > 0, squares + own * weights**2, np.inf)
        drift = np.zeros(len(sizes))
        if self.is_bounded:  # drift is rounded up, so that bounds stay bounds
            if not sizes.all():  # an empty cluster is farther than any other
                centre_rows[sizes == 0] = np.eye(1, centre_rows.shape[1]) * 4 * np.sqrt(self.diagonal.max())
            slack = 8 * float(np.finfo(self.rows.dtype).eps)
            moved = drift if before is None else np.linalg.norm(centre_rows - before.means, axis=1)
            drift = moved * (1 + slack) + slack * np.abs(centre_rows).max()
        return Centres(centre_rows, offsets, sizes, drift), inertia

    def _tallied(self, states: list[Any]) -> tuple[list[Any], Any]:
        """With states, what they add up to: sums of rows, sizes, sums of ``own`` by cluster, and rows that moved."""
        total = self.rows.backend.total("k-means", _tally, states, self._own, kernel=self.is_kernel)
        return states, self.rows.backend.gather("k-means", [total])[0]


def lloyd(gram: Gram, labels: Labels, k: int, max_iter: int, tol: float) -> Run:
    """Kernel k-means from starting labels, until no label changes or a step brings too little."""
    before, centres = np.inf, None
    states, tally = gram.begin(labels, k)
    for n_iter in range(1, max_iter + 1):
        centres, inertia = gram.centres(tally, centres)
        small = before - inertia < tol * abs(inertia)
        if not small:
            before = inertia
            states, tally = gram.step(states, centres)
        if small or not tally[3]:
            return Run(gram.labels(states), centres, inertia, n_iter, True)
    return Run(gram.labels(states), *gram.centres(tally, centres), max_iter, False)


def plus_plus(gram: Gram, k: int, n_starts: int, rng: np.random.Generator) -> list[Labels]:
    """Greedy k-means++ on the distances of K': (n,) labels of the nearest seed, for all starts in the same passes.

    A seed is drawn with probability proportional to its squared distance to the nearest one so far; of
    2 + log(k) such draws the one that lowers the sum of squared distances most is kept.
    """
    diagonal = gram.diagonal
    closest = np.full((n_starts, len(diagonal)), np.inf)
    labels = np.zeros(closest.shape, dtype=np.int32)
    for c in range(k):
        count = 2 + int(np.log(k)) if c else 1
        seeds = np.concatenate([_draw(each, count, rng) for each in closest])
        squares = diagonal[:, None] + diagonal[seeds] - 2 * gram.columns(seeds)
        squares[seeds, np.arange(len(seeds))] = 0  # whatever rounding says
        squares = np.round(np.maximum(squares, 0), DECIMALS)  # equals stay equal, however they were summed
        for run, mine in enumerate(np.split(squares, n_starts, axis=1)):
            kept = np.minimum(mine, closest[run][:, None])
            best = int(np.argmin(kept.sum(axis=0)))
            labels[run][mine[:, best] < closest[run]] = c
            closest[run] = kept[:, best]
    return list(labels)


def _draw(weights: Floats, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Objects drawn with probability proportional to weights; evenly where these are all zero or infinite."""
    steps = np.cumsum(weights)
    if not np.isfinite(steps[-1]) or steps[-1] <= 0:
        return rng.integers(len(weights), size=count)
    drawn: NDArray[np.intp] = np.searchsorted(steps, rng.random(count) * steps[-1], side="right")
    return np.minimum(drawn, len(weights) - 1).astype(np.intp)


def repair(labels: Labels, squares: Floats, k: int) -> Labels:
    """Give every empty cluster the object farthest from its centre, from a cluster that can spare one.

    Where all objects sit on their centres there is nothing to give, and the cluster stays empty.

    >>> repair(np.array([0, 0, 0], dtype=np.int32), np.array([0.1, 0.9, 0.2]), 2)
    array([0, 1, 0], dtype=int32)
    """
    labels, sizes = labels.copy(), np.bincount(labels, minlength=k)
    order = np.argsort(-squares, kind="stable")
    farthest = iter(order[squares[order] > 1e-12 * squares.max()])
    for c in np.flatnonzero(sizes == 0):
        x = next((x for x in farthest if sizes[labels[x]] > 1), None)
        if x is None:
            break
        sizes[labels[x]] -= 1
        labels[x], sizes[c] = c, 1
    return labels


def means(sums: Any, sizes: NDArray[np.int64]) -> Any:
    """(k, p) mean rows of clusters from their sums, dense or sparse."""
    result = sparse.diags_array(1 / np.maximum(sizes, 1)) @ sums
    return sparse.csr_array(result) if is_sparse(result) else result


# -------------------------------------------------------------------- one block


def cluster_sums(rows: Any, labels: Labels, k: int) -> Any:
    """(k, p) sums of rows by their labels, a csr_array where rows are sparse; -1 labels rows of no cluster."""
    inside = np.flatnonzero(labels >= 0)
    members = sparse.csc_array((np.ones(len(inside)), (labels[inside], inside)), shape=(k, rows.shape[0]))
    if is_sparse(rows):
        return sparse.csr_array(members @ rows)
    sums = np.zeros((k, rows.shape[1]))
    for where, some in row_slices(rows):
        sums += members[:, where] @ some
    return sums


def nearest(block: Any, means: Any, offsets: Floats) -> Labels:
    """(b,) the nearest centre of every row, taken as a new object; of equals, but for rounding, the first."""
    squares = offsets - 2 * products(block, means)
    chosen: Labels = np.argmin(np.round(squares, DECIMALS), axis=1).astype(np.int32)
    return chosen


def _begin(rows: Any, labels: Labels, k: int, bounded: bool) -> State:
    n = len(labels) if bounded else 0
    bounds = np.full(n, np.inf, rows.dtype), np.zeros((n, k), rows.dtype)
    return State(labels, cluster_sums(rows, labels, k), *bounds)


def _tally(state: State, own: Floats | None, kernel: bool) -> tuple[Any, ...]:
    labels, k = state.labels, state.sums.shape[0]
    own = state.sums[labels, np.arange(len(labels))] if kernel else own
    added = np.zeros(k) if own is None else np.bincount(labels, weights=own, minlength=k)
    return state.sums, np.bincount(labels, minlength=k), added, state.moved


def _step(rows: Any, state: State, own: Floats | None, centres: Centres, kernel: bool, copy: bool) -> State:
    """Every row to its nearest centre. In and out: the bounds of ``state``, unless they are copied."""
    old, upper, lower = state.labels, state.upper, state.lower
    if len(upper):
        new, kind = old.copy(), rows.dtype.type
        if copy:
            upper, lower = upper.copy(), lower.copy()
        tie = kind(1 - max(10.0**-DECIMALS, 4 * float(np.finfo(kind).eps)))
        cuts = threads.blocks(len(rows), 64 if len(rows) > 10_000 and not threads.inside() else 1)
        given = rows, centres.means.astype(kind), centres.drift.astype(kind), tie
        threads.run(_elkan, [(*given, first, last, new, upper, lower) for first, last in cuts])
    else:
        squares = np.round(_squares(rows, old, own, centres, kernel), DECIMALS)
        squares[np.arange(len(old)), old] -= 10.0**-DECIMALS  # a tie moves nobody
        new = np.argmin(squares, axis=1).astype(np.int32)
    moved, sums, k = np.flatnonzero(new != old), state.sums, len(centres.sizes)
    if len(moved):
        changed = rows[moved]
        sums = sums + cluster_sums(changed, new[moved], k) - cluster_sums(changed, old[moved], k)
    return State(new, sums, upper, lower, len(moved))


def _squares(rows: Any, labels: Labels, own: Floats | None, centres: Centres, kernel: bool) -> Floats:
    """(b, k) squared distances to the clusters; an empty cluster is infinitely far."""
    inner: Floats = centres.means.T if kernel else products(rows, centres.means)
    squares: Floats = centres.offsets - 2 * inner + _diagonal(rows, own, kernel)[:, None]
    if own is not None:
        squares[np.arange(len(labels)), labels] -= 2 * own / centres.sizes[labels]
    return squares


def _to_own_centre(rows: Any, state: State, own: Floats | None, centres: Centres, kernel: bool) -> Floats:
    squares = _squares(rows, state.labels, own, centres, kernel)
    return np.maximum(squares[np.arange(len(squares)), state.labels], 0)


def _diagonal(rows: Any, own: Floats | None, kernel: bool) -> Floats:
    diagonal: Floats = rows.diagonal() if kernel else row_squares(rows)
    return diagonal if own is None else diagonal + own


def _columns(rows: Any, others: Any) -> Floats:
    if not is_sparse(rows):
        return products(rows, others.astype(np.float64))
    return np.asarray((rows @ others.T.astype(np.float64)).toarray())


@compiled(fastmath=True)
def _distance(row: Any, centre: Any) -> Any:
    """|row - centre|, by differences, so that float32 loses nothing to cancellation."""
    total = row[0] * 0
    for j in range(row.size):
        gap = row[j] - centre[j]
        total += gap * gap
    return np.sqrt(total)


@compiled()
def _elkan(
    X: Any, centres: Any, drift: Any, tie: Any, first: int, last: int, labels: Any, upper: Any, lower: Any
) -> None:
    """The nearest centre of rows first..last-1, looking only where the bounds leave doubt; a tie moves nobody.

    In: drift (k,) since the last step, tie: a distance is less than another if it is less than this share of it.
    In and out: labels, upper, lower.
    """
    for x in range(first, last):
        best, exact = labels[x], False
        u = upper[x] + drift[best]
        for c in range(centres.shape[0]):
            lower[x, c] -= drift[c]
        for c in range(centres.shape[0]):
            if c == best or u <= lower[x, c]:
                continue
            if not exact:
                u = _distance(X[x], centres[best])
                lower[x, best], exact = u, True
                if u <= lower[x, c]:
                    continue
            d = _distance(X[x], centres[c])
            lower[x, c] = d
            if d < u * tie:
                best, u = c, d
        labels[x], upper[x] = best, u
