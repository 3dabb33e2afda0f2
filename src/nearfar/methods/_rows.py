"""k-means on the rows of a thin Phi, where the shift is 0: Elkan's bounds, sums kept up to date.

Labels and bounds stay with the blocks of rows; only sums over clusters come here. This is our own loop because it
takes rows in blocks, copies none of them, and is faster than scikit-learn's KMeans from the same start to the same
labels: n = 100,000, p = 435, k = 10, 52 steps take 1.5 seconds of processor time and 76 MB, theirs 2.6 and 174 MB
(``python -m benchmarks.kmeans``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools import threads
from nearfar._tools.arrays import Floats, Labels
from nearfar.blocks import Backend, RowBlocks, join
from nearfar.kernel.phi import row_squares
from nearfar.methods import _loops
from nearfar.methods._columns import onto_columns
from nearfar.methods._lloyd import Run, Stop, repair
from nearfar.methods._seeding import plus_plus

__all__ = ["RowGram", "bounded_lloyd", "sampled_starts"]

CUTS = 64  # of the rows of a block, for threads
SAMPLE = 50_000  # rows on which starts are found when there are more than twice as many


class Look(NamedTuple):
    """What a step must know: the centres, how far each moved, half the distances between them; 0 rows at first."""

    centres: NDArray[Any]
    drift: NDArray[Any]
    half: NDArray[Any]


@dataclass
class State:
    """Where a run stands in a block of rows.

    labels : (n,) the cluster of every row. sums, sizes : (k, p) sums of the clusters' rows, and how many there are.
    upper, lower : (n,) and (n, k) Elkan's bounds. moved : rows that changed their cluster in the last step.
    """

    labels: Labels
    sums: Floats
    sizes: NDArray[np.int64]
    upper: NDArray[Any]
    lower: NDArray[Any]
    moved: int = 0


class Tally(NamedTuple):
    """What the states of blocks add up to: sums and sizes of the clusters, and how many rows changed theirs."""

    sums: Floats
    sizes: NDArray[np.int64]
    moved: int


class RunStanding(NamedTuple):
    """Where a run stands: handles of the blocks' states, and their tally."""

    states: list[Any]
    tally: Tally


class RowGram:
    """Dense rows of which there are more than columns, in blocks: K' = X X', never built."""

    def __init__(self, rows: RowBlocks) -> None:
        self.rows = rows
        self.backend: Backend = rows.backend

    @cached_property
    def mean(self) -> Floats:
        """(p,) mean row."""
        total: Floats = self.rows.sum("mean", _column_sums)
        return total / self.rows.n_rows

    @cached_property
    def diagonal(self) -> Floats:
        """(n,) squared lengths."""
        found: Floats = join(self.rows.gather("lengths", row_squares))
        return found

    def columns(self, objects: NDArray[np.intp]) -> Floats:
        """Products of all rows with those of the given objects, in float64: the same however rows are cut."""
        chosen = self.rows.take(objects).T.astype(np.float64)
        found: Floats = join(self.rows.gather("columns", onto_columns, axes=chosen))
        return found

    def nearest(self, centres: Floats) -> list[Any]:
        """Handles of the nearest centre of every row, in blocks."""
        return self.rows.map("labels", _nearest, centres=centres)

    def scatter(self) -> float:
        """Sum of squared distances to the mean, by differences."""
        return float(self.rows.sum("scatter", _scatter, mean=self.mean))

    def nowhere(self) -> Floats:
        """A point farther from every row than any mean of rows is: the centre of an empty cluster."""
        point = np.zeros(self.rows.width or 0)
        point[0] = 4 * np.sqrt(max(self.rows.gather("lengths", _longest)))
        return point

    def begin(self, labels: list[Any], k: int) -> RunStanding:
        """The start of a run from these labels, in blocks."""
        return self._tallied(self.rows.map("begin", _begin, labels, k=k))

    def step(self, standing: RunStanding, look: Look) -> RunStanding:
        """Every row to its nearest centre; then empty clusters are filled."""
        copy = not self.backend.in_place
        new = self._tallied(self.rows.map("step", _step, standing.states, look=look, copy=copy))
        return new if new.tally.sizes.all() else self._fill(new, standing, look)

    def _tallied(self, states: list[Any]) -> RunStanding:
        tally = self.backend.total("k-means", _tally, states)  # small: the states stay where they are
        return RunStanding(states, *self.backend.gather("k-means", [tally]))

    def _fill(self, standing: RunStanding, before: RunStanding, look: Look) -> RunStanding:
        """Empty clusters get the rows farthest from their centres."""
        states, sizes = standing.states, standing.tally.sizes
        found = self.rows.gather("empty clusters", _farthest, states, look=look, count=2 * len(sizes))
        chosen, own, squares = (np.concatenate(column) for column in zip(*found, strict=True))
        home = np.repeat(np.arange(len(found)), [len(each[0]) for each in found])
        repaired = repair(own, squares, len(sizes), sizes)
        changed = np.flatnonzero(repaired != own)
        blocks = list(states)
        for b in np.unique(home[changed]).tolist():
            here = changed[home[changed] == b]
            given = (self.rows.blocks[b], blocks[b], before.states[b], chosen[here], repaired[here])
            blocks[b] = self.backend.submit("empty clusters", _filled, *given, not self.backend.in_place)
        return self._tallied(blocks)


def bounded_lloyd(gram: RowGram, labels: list[Any], k: int, stop: Stop) -> Run:
    """As ``lloyd``, with the same result up to ties; most rows are not looked at in most steps.

    In and out: ``labels`` are handles of blocks, and so are those of the run.
    """

    def run(inertia: float, n_iter: int, converged: bool) -> Run:
        labels = gram.backend.map("labels", attrgetter("labels"), standing.states)
        return Run(labels, inertia, n_iter, converged)

    standing = gram.begin(labels, k)
    total, nowhere = gram.scatter(), gram.nowhere()
    before, centres = np.inf, np.zeros((0, len(nowhere)))
    for n_iter in range(1, stop.max_iter + 1):
        sums, sizes, _ = standing.tally
        inertia = total - _explained(sums, sizes, gram.mean)
        if before - inertia < stop.tol * abs(inertia):
            return run(inertia, n_iter, True)
        before = inertia
        previous, centres = centres, sums / np.maximum(sizes, 1)[:, None]
        centres[sizes == 0] = nowhere
        standing = gram.step(standing, _look(previous, centres, gram.rows.dtype))
        if not standing.tally.moved:
            return run(inertia, n_iter, True)
    sums, sizes, _ = standing.tally
    return run(total - _explained(sums, sizes, gram.mean), stop.max_iter, False)


def sampled_starts(
    gram: RowGram, k: int, n_starts: int, stop: Stop, rng: np.random.Generator, sample: int | None = None
) -> list[list[Any]]:
    """Starting labels by k-means++; of very many rows, by k-means on a sample of them.

    The centres that a sample settles on are close to those of all rows, so that the long way there is not
    walked with all of them. ``sample`` says how many rows that has; without it, that is decided here.
    """
    n = gram.rows.n_rows
    count = SAMPLE if sample is None else sample
    if n <= (2 * count if sample is None else count):
        return [gram.rows.cut(labels) for labels in plus_plus(gram, k, n_starts, rng)]
    drawn = RowGram(RowBlocks.of(gram.rows.take(np.sort(rng.choice(n, count, replace=False)))))
    starts = []
    for labels in plus_plus(drawn, k, n_starts, rng):
        sums, sizes, _ = drawn.begin(bounded_lloyd(drawn, [labels], k, stop).labels, k).tally
        centres = sums / np.maximum(sizes, 1)[:, None]
        centres[sizes == 0] = drawn.nowhere()
        starts.append(gram.nearest(centres))
    return starts


def _look(previous: Floats, centres: Floats, dtype: Any) -> Look:
    if not len(previous):
        return Look(centres.astype(dtype), np.zeros(0, dtype), np.zeros((0, 0), dtype))
    return Look(centres.astype(dtype), _drift(previous, centres, dtype), _half(centres, dtype))


def _drift(previous: Floats, centres: Floats, dtype: Any) -> NDArray[Any]:
    """How far every centre moved, rounded up so that the bounds stay bounds."""
    drift = np.linalg.norm(centres - previous, axis=1)
    slack = 8 * float(np.finfo(dtype).eps)
    return np.asarray(drift * (1 + slack) + slack * np.abs(centres).max(), dtype=dtype)


def _half(centres: Floats, dtype: Any) -> NDArray[Any]:
    """Half the distances between centres, rounded down; the diagonal holds the smallest of the row."""
    half = np.stack([np.linalg.norm(centres - centre, axis=1) / 2 for centre in centres])
    np.fill_diagonal(half, np.inf)
    np.fill_diagonal(half, half.min(axis=1))
    slack = 8 * float(np.finfo(dtype).eps)
    return np.asarray(half * (1 - slack) - slack * np.abs(centres).max(), dtype=dtype)


def _explained(sums: Floats, sizes: NDArray[np.int64], mean: Floats) -> float:
    """Scatter between the clusters: sum over c of |c| |centre of c - mean|^2."""
    gaps = sums - sizes[:, None] * mean
    return float((np.einsum("ij,ij->i", gaps, gaps) / np.maximum(sizes, 1)).sum())


# -------------------------------------------------------------------- one block


def _column_sums(rows: NDArray[Any]) -> Floats:
    result: Floats = rows.sum(axis=0, dtype=np.float64)
    return result


def _longest(rows: NDArray[Any]) -> float:
    return float(row_squares(rows).max(initial=0.0))


def _scatter(rows: NDArray[Any], mean: Floats) -> float:
    distances = _own_distances(rows, mean[None], np.zeros(len(rows), dtype=np.int32))
    return float(distances @ distances)


def _nearest(rows: NDArray[Any], centres: Floats) -> Labels:
    state = _begin(rows, np.zeros(len(rows), dtype=np.int32), len(centres))
    _over_rows(
        _loops.first_step, rows, (centres.astype(rows.dtype),), (state.labels, state.upper, state.lower)
    )
    return state.labels


def _begin(rows: NDArray[Any], labels: Labels, k: int) -> State:
    """The state of rows with these labels, bounds not known."""
    bounds = np.zeros(len(rows), rows.dtype), np.zeros((len(rows), k), rows.dtype)
    sums = np.zeros((k, rows.shape[1]))
    _move(rows, np.arange(len(labels)), np.full(len(labels), -1, dtype=np.int32), labels, sums)
    return State(labels, sums, np.bincount(labels, minlength=k), *bounds)


def _step(rows: NDArray[Any], state: State, look: Look, copy: bool) -> State:
    """Every row to its nearest centre. In and out: the bounds and sums of ``state``, unless they are copied."""
    state = _copied(state) if copy else state
    new = state.labels.copy()
    if not len(look.drift):
        _over_rows(_loops.first_step, rows, (look.centres,), (new, state.upper, state.lower))
    else:
        _over_rows(_loops.bounded_step, rows, look, (new, state.upper, state.lower))
    return _relabelled(rows, state, state.labels, new)


def _copied(state: State) -> State:
    return replace(state, sums=state.sums.copy(), upper=state.upper.copy(), lower=state.lower.copy())


def _relabelled(rows: NDArray[Any], state: State, before: Labels, new: Labels) -> State:
    """``state`` with labels ``new``; ``before`` are those to which moves count. In and out: the sums of ``state``."""
    changed = np.flatnonzero(new != state.labels)
    _move(rows, changed, state.labels[changed], new[changed], state.sums)
    sizes = np.bincount(new, minlength=len(state.sizes))
    moved = int(np.count_nonzero(new != before))
    return State(new, state.sums, sizes, state.upper, state.lower, moved)


def _tally(state: State) -> Tally:
    return Tally(state.sums, state.sizes, state.moved)


def _farthest(rows: NDArray[Any], state: State, look: Look, count: int) -> tuple[Any, Labels, Floats]:
    """(indices, labels, squared distances) of the rows of a block farthest from their centres."""
    squares = _own_distances(rows, look.centres, state.labels) ** 2
    chosen = np.sort(np.argsort(-squares, kind="stable")[:count])
    return chosen, state.labels[chosen], squares[chosen]


def _filled(
    rows: NDArray[Any], state: State, before: State, chosen: NDArray[np.intp], labels: Labels, copy: bool
) -> State:
    """``state`` with rows moved into empty clusters, whose bounds no longer hold."""
    state = _copied(state) if copy else state
    new = state.labels.copy()
    new[chosen] = labels
    state.upper[chosen] = np.inf
    state.lower[chosen] = 0
    return _relabelled(rows, state, before.labels, new)


def _over_rows(loop: Any, X: NDArray[Any], inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    cuts = threads.blocks(len(X), CUTS if len(X) > 10_000 and not threads.inside() else 1)
    threads.run(loop, [(X, *inputs, first, last, *outputs) for first, last in cuts])


def _move(X: NDArray[Any], moved: NDArray[np.intp], old: Labels, new: Labels, sums: Floats) -> None:
    cuts = threads.blocks(X.shape[1], 1 if len(moved) <= 10_000 or threads.inside() else threads.n_threads())
    threads.run(_loops.move_sums, [(X, moved, old, new, first, last, sums) for first, last in cuts])


def _own_distances(X: NDArray[Any], centres: NDArray[Any], labels: Labels) -> Floats:
    """(n,) distance of every row to the centre of its cluster."""
    distances = np.empty(len(X))
    _over_rows(_loops.own_distances, X, (centres.astype(X.dtype), labels), (distances,))
    return distances
