"""Lloyd's iteration for kernel k-means on K' = X X' + diag(own), with the rows of X in blocks.

With m_c the mean row of cluster c, the squared distance of object x to c is
K'(x, x) - 2 (x.m_c + own_x [x in c] / |c|) + |m_c|^2 + (sum of own over c) / |c|^2.
Dense rows without ``own`` use Elkan's bounds (2003): ``upper[x]`` is never below the distance of row x to its own centre,
``lower[x, c]`` never above that to centre c, and a centre that moved loosens them by no more than its ``drift``.
Labels, bounds and sums stay with the blocks; only sums over clusters come here.
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
from nearfar.kernel.factored import as_split
from nearfar.kernel.phi import is_sparse, row_squares
from nearfar.methods._columns import products, row_slices

__all__ = ["Centres", "Gram", "Run", "cluster_sums", "lloyd", "means", "nearest", "plus_plus", "repair"]

DECIMALS = 12  # of a squared distance that are not rounding error


class Centres(NamedTuple):
    """Of k clusters: means (k, p); offsets (k,), |m_c|^2 and what ``own`` adds; sizes (k,); drift (k,) since the last."""

    means: Any
    offsets: Floats
    sizes: NDArray[np.int64]
    drift: Floats


class Run(NamedTuple):
    """One run: labels in blocks, its centres, the objective, steps, and whether it converged."""

    labels: list[Any]
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
        found: Floats = join(self.rows.gather("lengths", _diagonal, self._own, kernel=self.is_kernel))
        return found

    def columns(self, objects: NDArray[np.intp]) -> Floats:
        """(n, len(objects)) K'(x, y) for all x and the given y, the same however rows are cut."""
        chosen = self.rows.take(objects, _pick)
        if self.is_kernel:
            return np.asarray(chosen.T)
        found: Floats = join(self.rows.gather("columns", _columns, others=chosen))
        if self.own is not None:
            found[objects, np.arange(len(objects))] += self.own[objects]
        return found

    def take(self, objects: NDArray[np.intp]) -> Gram:
        """The same of some of the objects, in this process."""
        own = None if self.own is None else self.own[objects]
        return Gram(RowBlocks.of(self.rows.take(objects, _pick)), own)

    @cached_property
    def _scatter(self) -> tuple[Any, float]:
        """A point, and the sum of squared distances to it: among dense rows, so that little is lost to cancellation."""
        if not self.is_bounded:
            return 0.0, float(self.diagonal.sum())
        point = self.rows.take(np.zeros(1, np.intp)).astype(np.float64)
        return point, float(self.rows.sum("scatter", _scatter_about, point=point))

    def begin(self, labels: list[Any], k: int) -> tuple[list[Any], Any]:
        """States of a run with these labels, in blocks, and their tally."""
        return self._tallied(self.rows.map("begin", _begin, labels, k=k, bounded=self.is_bounded))

    def step(self, states: list[Any], centres: Centres) -> tuple[list[Any], Any]:
        """Every object to its nearest centre; an empty cluster gets the object farthest from its centre."""
        backend, given = self.rows.backend, {"centres": centres, "kernel": self.is_kernel}
        copy = not backend.in_place
        new, tally = self._tallied(self.rows.map("step", _step, states, self._own, copy=copy, **given))
        if tally[1].all():
            return new, tally
        before, after = (join(backend.gather("labels", self.labels(each))) for each in (states, new))
        squares = join(self.rows.gather("empty clusters", _to_own_centre, new, self._own, **given))
        filled = repair(after, squares, len(centres.sizes))
        new, tally = self.begin(self.rows.cut(filled), len(centres.sizes))
        return new, (*tally[:3], int(np.count_nonzero(filled != before)))

    def labels(self, states: list[Any]) -> list[Any]:
        """Handles of the labels."""
        return self.rows.backend.map("labels", attrgetter("labels"), states)

    def centres(self, tally: Any, before: Centres | None) -> tuple[Centres, float]:
        """The centres of clusters, and the objective of these."""
        sums, sizes, own, _ = tally
        found, weights, (point, scatter) = means(sums, sizes), 1 / np.maximum(sizes, 1), self._scatter
        squares = 0.0 if self.is_kernel else row_squares(found)
        about = row_squares(found - point) if self.is_bounded else squares
        inertia = scatter - float((sizes * about + own * weights).sum())
        offsets = np.where(sizes > 0, squares + own * weights**2, np.inf)
        drift = np.zeros(len(sizes))
        if self.is_bounded:  # drift is rounded up, so that bounds stay bounds
            if not sizes.all():  # an empty cluster is farther than any other
                found[sizes == 0] = np.eye(1, found.shape[1]) * 4 * np.sqrt(self.diagonal.max())
            slack = 8 * float(np.finfo(self.rows.dtype).eps)
            moved = drift if before is None else np.linalg.norm(found - before.means, axis=1)
            drift = moved * (1 + slack) + slack * np.abs(found).max()
        return Centres(found, offsets, sizes, drift), inertia

    def _tallied(self, states: list[Any]) -> tuple[list[Any], Any]:
        """With states, what they add up to: sums of rows, sizes, sums of ``own`` by cluster, and rows that moved."""
        total = self.rows.backend.total("k-means", _tally, states, self._own, kernel=self.is_kernel)
        return states, self.rows.backend.gather("k-means", [total])[0]


def lloyd(gram: Gram, labels: list[Any], k: int, max_iter: int, tol: float) -> Run:
    """Kernel k-means from starting labels, in blocks, until no label changes or a step brings too little."""
    before, centres = np.inf, None
    states, tally = gram.begin(labels, k)
    for n_iter in range(1, max_iter + 1):
        centres, inertia = gram.centres(tally, centres)
        if before - inertia < tol * abs(inertia):
            return Run(gram.labels(states), centres, inertia, n_iter, True)
        before = inertia
        states, tally = gram.step(states, centres)
        if not tally[3]:
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
    found = sparse.diags_array(1 / np.maximum(sizes, 1)) @ sums
    return sparse.csr_array(found) if is_sparse(found) else found


# -------------------------------------------------------------------- one block


def cluster_sums(rows: Any, labels: Labels, k: int, chosen: NDArray[np.intp] | None = None) -> Any:
    """(k, p) sums of rows by their labels, a csr_array where rows are sparse; -1 labels rows of no cluster.

    ``chosen`` : the rows that the labels are of, where these are not all.
    """
    if chosen is None:
        chosen = np.flatnonzero(labels >= 0)
        labels = labels[chosen]
    if is_sparse(rows):
        members = sparse.csr_array((np.ones(len(chosen)), (labels, chosen)), shape=(k, rows.shape[0]))
        return sparse.csr_array(members @ rows)
    sums = np.zeros((k, rows.shape[1]))
    _add_rows(rows, chosen, labels, sums)
    return sums


def nearest(block: Any, means: Any, offsets: Floats) -> Labels:
    """(b,) the nearest centre of every row, taken as a new object; of equals, but for rounding, the first."""
    squares = offsets - 2 * products(as_split(block).shared, means)
    chosen: Labels = np.argmin(np.round(squares, DECIMALS), axis=1).astype(np.int32)
    return chosen


def _begin(block: Any, labels: Labels, k: int, bounded: bool) -> State:
    rows, n = as_split(block).shared, len(labels) if bounded else 0
    bounds = np.full(n, np.inf, rows.dtype), np.zeros((n, k), rows.dtype)
    return State(labels, cluster_sums(rows, labels, k), *bounds)


def _tally(state: State, own: Floats | None, kernel: bool) -> tuple[Any, ...]:
    labels, k = state.labels, state.sums.shape[0]
    own = state.sums[labels, np.arange(len(labels))] if kernel else own
    added = np.zeros(k) if own is None else np.bincount(labels, weights=own, minlength=k)
    return state.sums, np.bincount(labels, minlength=k), added, state.moved


def _step(block: Any, state: State, own: Floats | None, centres: Centres, kernel: bool, copy: bool) -> State:
    """Every row to its nearest centre. In and out: the bounds of ``state``, unless they are copied."""
    rows, old = as_split(block).shared, state.labels
    upper, lower = (state.upper.copy(), state.lower.copy()) if copy else (state.upper, state.lower)
    if len(upper):
        new, kind = old.copy(), rows.dtype.type
        tie = kind(1 - max(10.0**-DECIMALS, 4 * float(np.finfo(kind).eps)))
        given = rows, centres.means.astype(kind), centres.drift.astype(kind), tie
        cuts = threads.blocks(len(rows), 64 if len(rows) > 10_000 and not threads.inside() else 1)
        threads.run(_elkan, [(*given, first, last, new, upper, lower) for first, last in cuts])
    else:
        squares = np.round(_squares(block, old, own, centres, kernel), DECIMALS)
        squares[np.arange(len(old)), old] -= 10.0**-DECIMALS  # a tie moves nobody
        new = np.argmin(squares, axis=1).astype(np.int32)
    moved, sums, k = np.flatnonzero(new != old), state.sums, len(centres.sizes)
    if len(moved):
        sums = sums + cluster_sums(rows, new[moved], k, moved) - cluster_sums(rows, old[moved], k, moved)
    return State(new, sums, upper, lower, len(moved))


def _squares(block: Any, labels: Labels, own: Floats | None, centres: Centres, kernel: bool) -> Floats:
    """(b, k) squared distances to the clusters; an empty cluster is infinitely far."""
    inner: Floats = centres.means.T if kernel else products(as_split(block).shared, centres.means)
    squares: Floats = centres.offsets - 2 * inner + _diagonal(block, own, kernel)[:, None]
    if own is not None:
        squares[np.arange(len(labels)), labels] -= 2 * own / centres.sizes[labels]
    return squares


def _to_own_centre(block: Any, state: State, own: Floats | None, centres: Centres, kernel: bool) -> Floats:
    squares = _squares(block, state.labels, own, centres, kernel)
    return np.maximum(squares[np.arange(len(squares)), state.labels], 0)


def _diagonal(block: Any, own: Floats | None, kernel: bool) -> Floats:
    found: Floats = block.diagonal() if kernel else row_squares(as_split(block).shared)
    return found if own is None else found + own


def _pick(block: Any, rows: NDArray[Any]) -> Any:
    return as_split(block).shared[rows]


def _columns(block: Any, others: Any) -> Floats:
    rows: Any = as_split(block).shared
    if not is_sparse(rows):
        return products(rows, others.astype(np.float64))
    return np.asarray((rows @ others.T.astype(np.float64)).toarray())


def _scatter_about(rows: NDArray[Any], point: Floats) -> float:
    return sum(float(((some - point) ** 2).sum()) for _, some in row_slices(rows))


@compiled()
def _add_rows(X: Any, chosen: Any, labels: Any, sums: Any) -> None:
    """sums[labels[t]] += X[chosen[t]]. In and out: sums (k, p)."""
    for t in range(chosen.size):
        x, c = chosen[t], labels[t]
        for j in range(X.shape[1]):
            sums[c, j] += X[x, j]


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
            lower[x, c] = max(lower[x, c] - drift[c], 0)
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
