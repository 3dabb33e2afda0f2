"""Lloyd's iteration for kernel k-means on K' = X X' + diag(own), with the rows of X in blocks.

With m_c the mean row of cluster c, the squared distance of object x to c is
K'(x, x) - 2 (x.m_c + own_x [x in c] / |c|) + |m_c|^2 + (sum of own over c) / |c|^2.
Without ``own``, a distance is computed only where bounds leave doubt (Elkan 2003): that of an object to its own centre
is never above its bound, those to the others never below. ``drift``, how far centres moved, loosens them. Bounds are in
units of the square root of ``unit``, below which squared distances differ by rounding only.
Labels, bounds and sums stay with the blocks during a run; only sums over clusters come here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools import threads
from nearfar._tools.arrays import Floats, Labels
from nearfar._tools.compiled import compiled
from nearfar.blocks import RowBlocks, join
from nearfar.kernel.phi import row_squares
from nearfar.methods._rows import SLICE_ROWS, cluster_sums, means, products


class Centres(NamedTuple):
    """Of k clusters: mean rows (k, p); |m_c|^2 and what ``own`` adds; sizes; drift since the last, None without bounds.

    Where K is given, means are (k, n), the mean of its rows.
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
    """A run in one block of b rows: labels, own (b,), sums (k, p), bounds (b, k); moved : rows that changed."""

    labels: Labels
    own: Floats
    sums: Any
    bounds: NDArray[np.float32]
    moved: int = 0


class Gram:
    """Objects with the kernel K' = X X' + diag(own), or K + diag(own) with K in place of X.

    rows : RowBlocks, dense or sparse; own : (n,), None for zeros; is_kernel : whether rows are those of K, in one block.
    """

    def __init__(self, rows: RowBlocks, own: Floats | None = None, *, is_kernel: bool = False) -> None:
        self.rows, self.is_kernel, self.is_bounded = rows, is_kernel, own is None and not is_kernel
        self.own = np.zeros(rows.n_rows) if own is None else own
        squares = rows.blocks[0].diagonal() if is_kernel else join(rows.gather("lengths", row_squares))
        self.diagonal: Floats = squares + self.own
        self.unit = max(1e-12 * float((squares + abs(self.own)).max()), float(np.finfo(float).tiny))

    def columns(self, objects: NDArray[np.intp]) -> Floats:
        """(n, len(objects)) K'(x, y) for all x and the given y, the same however rows are cut."""
        if self.is_kernel:
            columns: Floats = np.take(self.rows.blocks[0], objects, axis=1)
        else:
            others = self.rows.take(objects).astype(np.float64)
            columns = join(self.rows.gather("columns", products, others=others))
        columns[objects, np.arange(len(objects))] += self.own[objects]
        return columns

    def begin(self, labels: Labels, k: int) -> tuple[list[Any], Any]:
        """States of a run with these labels, in blocks, and their tally."""
        cut = self.rows.cut
        return self._tallied(self.rows.map("begin", _begin, cut(labels), cut(self.own), k=k))

    def step(self, states: list[Any], centres: Centres) -> tuple[list[Any], Any]:
        """Every object to its nearest centre; an empty cluster gets the object farthest from its centre."""
        new, tally = self._tallied(self.rows.map("step", _step, states, centres=centres))
        if tally[1].all():
            return new, tally
        labels = self.labels(new)
        squares = self.rows.gather("empty clusters", _chosen, states, self.rows.cut(labels), centres=centres)
        filled = repair(labels, np.round(join(squares) + self.diagonal / self.unit), len(centres.sizes))
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
        drift = None
        if self.is_bounded:  # too much drift, so that bounds stay bounds; no object goes to an empty cluster
            moves = 0.0 if before is None else np.sqrt(row_squares(centre_rows - before.means) / self.unit)
            drift = np.where(sizes > 0, moves + 1, -np.inf).astype(np.float32)
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

    The first seed is drawn evenly, others with probability proportional to the squared distance to the nearest one so
    far; of 2 + log(k) such draws the one that lowers the sum of squared distances most is kept.
    """
    n, diagonal = gram.rows.n_rows, gram.diagonal[:, None]
    closest, labels = np.full((n, n_starts), np.inf), np.zeros((n, n_starts), np.int32)
    count, seeds = 1, rng.integers(n, size=n_starts)
    for c in range(k):
        if c:
            count, steps = 2 + int(np.log(k)), closest.T.cumsum(axis=1)
            seeds = np.concatenate([np.searchsorted(each, each[-1] * rng.random(count)) for each in steps])
        squares = diagonal + diagonal[seeds].T - 2 * gram.columns(seeds)
        squares = np.round(np.maximum(squares, 0) / gram.unit)  # equals stay equal, however they were summed
        kept = np.minimum(squares.reshape(n, n_starts, count), closest[:, :, None])
        best = kept.sum(axis=0).argmin(axis=1)
        nearer = kept[:, np.arange(n_starts), best]
        labels[nearer < closest] = c
        closest = nearer
    return list(np.ascontiguousarray(labels.T))


def repair(labels: Labels, squares: Floats, k: int) -> Labels:
    """Give every empty cluster the object farthest from its centre, from a cluster that can spare one.

    Where all objects sit on their centres there is nothing to give, and the cluster stays empty.
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


def nearest(rows: Any, centres: Centres, state: State | None = None) -> Labels:
    """(b,) the nearest centre of every row; of equals, but for rounding, its own, else (a new object) the first."""
    ranks = np.round(_squares(rows, centres, state))
    if state is not None:
        ranks[np.arange(len(ranks)), state.labels] -= 1
    return np.asarray(np.argmin(ranks, axis=1), np.int32)


def _begin(rows: Any, labels: Labels, own: Floats, k: int) -> State:
    bounds = np.where(labels[:, None] == np.arange(k), np.float32(np.inf), np.float32(0))
    return State(labels, own, cluster_sums(rows, labels, k), bounds)


def _tally(state: State, kernel: bool) -> tuple[Any, ...]:
    labels, k = state.labels, state.sums.shape[0]
    own = state.own + (state.sums[labels, np.arange(len(labels))] if kernel else 0)
    return state.sums, np.bincount(labels, minlength=k), np.bincount(labels, own, minlength=k), state.moved


def _step(rows: Any, state: State, centres: Centres) -> State:
    """Every row to its nearest centre."""
    old, bounds = state.labels, state.bounds
    if centres.drift is None:
        new = nearest(rows, centres, state)
    else:
        new, bounds = np.empty_like(old), np.empty_like(bounds)
        given = (centres.means, centres.drift, 1 / centres.unit), (old, state.bounds), (new, bounds)
        cuts = threads.blocks(len(old), -(-len(old) // SLICE_ROWS))
        threads.run(_bounded_step, [(rows, *given, first, last) for first, last in cuts])
    moved, k = np.flatnonzero(new != old), len(centres.sizes)
    changed = rows[moved]
    sums = state.sums + cluster_sums(changed, new[moved], k) - cluster_sums(changed, old[moved], k)
    return State(new, state.own, sums, bounds, len(moved))


def _squares(rows: Any, centres: Centres, state: State | None = None) -> Floats:
    """(b, k) squared distances less K'(x, x), in units, of new rows or those of ``state``; infinite to empty clusters."""
    inner: Floats = centres.means.T if centres.is_kernel else products(rows, centres.means)
    squares = -2 * inner + centres.offsets
    if state is not None:
        squares[np.arange(len(squares)), state.labels] -= 2 * state.own / centres.sizes[state.labels]
    squares /= centres.unit
    return squares


def _chosen(rows: Any, state: State, labels: Labels, centres: Centres) -> Floats:
    return _squares(rows, centres, state)[np.arange(len(labels)), labels]


@compiled(fastmath=True)
def _square(row: Any, centre: Any) -> Any:
    """|row - centre|^2, by differences, which lose nothing to cancellation."""
    total = 0.0
    for j in range(row.size):
        gap = row[j] - centre[j]
        total += gap * gap
    return total


@compiled()
def _bounded_step(X: Any, centres: Any, before: Any, after: Any, first: int, last: int) -> None:
    """In: means, drift, 1 / unit of centres; labels and bounds before. Out: first..last-1 of these after."""
    (means, drift, scale), (old, loose), (labels, bounds) = centres, before, after
    for x in range(first, last):
        own = labels[x] = old[x]
        farthest, is_sure = loose[x, own] + drift[own], True
        for c in range(len(means)):
            bounds[x, c] = loose[x, c] - drift[c]
            is_sure &= c == own or farthest <= bounds[x, c]
        bounds[x, own] = farthest
        if not is_sure:
            least = _square(X[x], means[own]) * scale
            bounds[x, own] = farthest = np.float32(np.sqrt(least))
            for c in range(len(means)):
                if bounds[x, c] < farthest:
                    square = _square(X[x], means[c]) * scale
                    bounds[x, c] = np.float32(np.sqrt(square))
                    if square < least - 1:  # a tie moves nobody
                        labels[x], least, farthest = c, square, bounds[x, c]
