"""k-means on the rows of a thin dense Phi, where the shift is 0: Elkan's bounds, sums kept up to date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nearfar import threads
from nearfar.kernel.factored import row_squares
from nearfar.methods import _loops
from nearfar.methods._lloyd import Run, Stop, repair
from nearfar.methods._seeding import plus_plus
from nearfar.methods._spaces import Floats, Labels

__all__ = [
    "Look",
    "RowSpace",
    "State",
    "begin",
    "bounded_lloyd",
    "draw_sample",
    "far_away",
    "fill",
    "own_distances",
    "sample_centres",
    "sampled_starts",
    "step",
]

BLOCKS = 64
SAMPLE = 50_000  # rows on which starts are found when there are more than twice as many


class RowSpace:
    """Dense rows of which there are more than columns: K' = X X', never built."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self.rows = np.ascontiguousarray(rows)
        self.dtype = rows.dtype
        self.diagonal = row_squares(self.rows)
        self.mean = self.rows.mean(axis=0, dtype=np.float64)

    def columns(self, objects: NDArray[np.intp]) -> NDArray[Any]:
        """Products of all rows with those of the given objects."""
        result: NDArray[Any] = self.rows @ self.rows[objects].T
        return result

    def centre_sums(self, labels: Labels, k: int) -> Floats:
        """(k, p) sums of the rows of every cluster, in float64."""
        sums = np.zeros((k, self.rows.shape[1]))
        everyone = np.arange(len(labels))
        _move(self.rows, everyone, np.full(len(labels), -1, dtype=np.int32), labels, sums)
        return sums

    def nearest(self, centres: Floats) -> Labels:
        """(n,) the nearest centre of every row."""
        labels = np.zeros(len(self.rows), dtype=np.int32)
        bounds = (
            np.empty(len(self.rows), self.rows.dtype),
            np.empty((len(self.rows), len(centres)), self.rows.dtype),
        )
        _over_rows(_loops.first_step, self.rows, (centres.astype(self.rows.dtype),), (labels, *bounds))
        return labels

    def scatter(self) -> float:
        """Sum of squared distances to the mean, by differences."""
        distances = own_distances(self.rows, self.mean[None], np.zeros(len(self.rows), dtype=np.int32))
        return float(distances @ distances)

    def nowhere(self) -> Floats:
        """A place farther from every row than any mean of rows is: the centre of an empty cluster."""
        return far_away(float(self.diagonal.max()), self.rows.shape[1])

    def begin(self, labels: Labels, k: int) -> State:
        """The state with these labels."""
        return begin(self.rows, labels, k)

    def step(self, state: State, look: Look) -> State:
        """The state after every row went to its nearest centre, and empty clusters were filled."""
        before = state.labels
        new = step(self.rows, state, look)
        if new.sizes.all():
            return new
        squares = own_distances(self.rows, look.centres, new.labels) ** 2
        repaired = repair(new.labels, squares, len(new.sizes))
        places = np.flatnonzero(repaired != new.labels)
        return fill(self.rows, new, before, places, repaired[places])


def far_away(longest: float, width: int) -> Floats:
    """A place farther from all rows of at most this squared length than any mean of them is."""
    place = np.zeros(width)
    place[0] = 4 * np.sqrt(longest)
    return place


@dataclass
class State:
    """Where a run of k-means on rows stands.

    labels : (n,) the cluster of every row. sums, sizes : (k, p) sums of the clusters' rows, and how many there are.
    upper, lower : (n,) and (n, k) Elkan's bounds. moved : rows that changed their cluster in the last step.
    """

    labels: Labels
    sums: Floats
    sizes: NDArray[np.int64]
    upper: NDArray[Any]
    lower: NDArray[Any]
    moved: int = 0


class Look(NamedTuple):
    """What a step must know: the centres, how far each moved, half the distances between them; 0 rows at first."""

    centres: NDArray[Any]
    drift: NDArray[Any]
    half: NDArray[Any]


class Rows(Protocol):
    """Rows that k-means can work on, in one piece or in many."""

    mean: Floats
    dtype: Any

    def scatter(self) -> float:
        """Sum of squared distances to the mean."""

    def nowhere(self) -> Floats:
        """A place farther from every row than any mean of rows is."""

    def begin(self, labels: Any, k: int) -> Any:
        """The state with these labels."""

    def step(self, state: Any, look: Look) -> Any:
        """The state after every row went to its nearest centre."""


def bounded_lloyd(space: Rows, labels: Any, k: int, stop: Stop) -> Run:
    """As ``lloyd``, with the same result up to ties; most rows are not looked at in most steps."""
    state = space.begin(labels, k)
    total, nowhere = space.scatter(), space.nowhere()
    before, centres = np.inf, np.zeros((0, len(nowhere)))
    for n_iter in range(1, stop.max_iter + 1):
        inertia = total - _explained(state.sums, state.sizes, space.mean)
        if before - inertia < stop.tol * abs(inertia):
            return Run(state.labels, inertia, n_iter, True)
        before = inertia
        previous, centres = centres, state.sums / np.maximum(state.sizes, 1)[:, None]
        centres[state.sizes == 0] = nowhere
        new = space.step(state, _look(previous, centres, space.dtype))
        if not new.moved:
            return Run(state.labels, inertia, n_iter, True)
        state = new
    inertia = total - _explained(state.sums, state.sizes, space.mean)
    return Run(state.labels, inertia, stop.max_iter, False)


def _look(previous: Floats, centres: Floats, dtype: Any) -> Look:
    if not len(previous):
        return Look(centres.astype(dtype), np.zeros(0, dtype), np.zeros((0, 0), dtype))
    return Look(centres.astype(dtype), _drift(previous, centres, dtype), _half(centres, dtype))


# What follows works on a block of rows as it does on all of them; sums and sizes of blocks add up.


def begin(rows: NDArray[Any], labels: Labels, k: int) -> State:
    """The state of rows with these labels, bounds not known."""
    bounds = np.zeros(len(rows), rows.dtype), np.zeros((len(rows), k), rows.dtype)
    sums = np.zeros((k, rows.shape[1]))
    _move(rows, np.arange(len(labels)), np.full(len(labels), -1, dtype=np.int32), labels, sums)
    return State(labels, sums, np.bincount(labels, minlength=k), *bounds)


def step(rows: NDArray[Any], state: State, look: Look) -> State:
    """Every row to its nearest centre. In and out: the bounds and sums of ``state``, which is of no more use."""
    new = state.labels.copy()
    if not len(look.drift):
        _over_rows(_loops.first_step, rows, (look.centres,), (new, state.upper, state.lower))
    else:
        _over_rows(_loops.bounded_step, rows, look, (new, state.upper, state.lower))
    return relabel(rows, state, state.labels, new)


def relabel(rows: NDArray[Any], state: State, before: Labels, new: Labels) -> State:
    """``state`` with labels ``new``; ``before`` are those to which moves count. In and out: the sums of ``state``."""
    changed = np.flatnonzero(new != state.labels)
    _move(rows, changed, state.labels[changed], new[changed], state.sums)
    sizes = np.bincount(new, minlength=len(state.sizes))
    moved = int(np.count_nonzero(new != before))
    return State(new, state.sums, sizes, state.upper, state.lower, moved)


def fill(rows: NDArray[Any], state: State, before: Labels, places: NDArray[np.intp], labels: Labels) -> State:
    """``state`` with rows moved into empty clusters, whose bounds no longer hold. In and out: ``state``."""
    new = state.labels.copy()
    new[places] = labels
    state.upper[places] = np.inf
    state.lower[places] = 0
    return relabel(rows, state, before, new)


def sampled_starts(
    space: RowSpace, k: int, n_starts: int, stop: Stop, rng: np.random.Generator
) -> list[Labels]:
    """Starting labels by k-means++; of very many rows, by k-means on a sample of them.

    The centres that a sample settles on are close to those of all rows, so that the long way there is not
    walked with all of them.
    """
    chosen = draw_sample(len(space.rows), rng)
    if chosen is None:
        return plus_plus(space, k, n_starts, rng)
    sample = RowSpace(space.rows[chosen])
    return [space.nearest(centres) for centres in sample_centres(sample, k, n_starts, stop, rng)]


def draw_sample(n: int, rng: np.random.Generator) -> NDArray[np.int64] | None:
    """The rows to start from, ascending; None where there are few enough to take all."""
    return np.sort(rng.choice(n, SAMPLE, replace=False)) if n > 2 * SAMPLE else None


def sample_centres(
    sample: RowSpace, k: int, n_starts: int, stop: Stop, rng: np.random.Generator
) -> list[Floats]:
    """(k, p) centres that k-means settles on, from every start by k-means++."""
    found = []
    for labels in plus_plus(sample, k, n_starts, rng):
        rested = bounded_lloyd(sample, labels, k, stop).labels
        sizes = np.bincount(rested, minlength=k)
        centres = sample.centre_sums(rested, k) / np.maximum(sizes, 1)[:, None]
        centres[sizes == 0] = sample.nowhere()
        found.append(centres)
    return found


def _over_rows(loop: Any, X: NDArray[Any], inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    blocks = threads.blocks(len(X), BLOCKS if len(X) > 10_000 else 1)
    threads.run(loop, [(X, *inputs, first, last, *outputs) for first, last in blocks])


def _move(X: NDArray[Any], moved: NDArray[np.intp], old: Labels, new: Labels, sums: Floats) -> None:
    count = threads.n_threads() if len(moved) > 10_000 else 1
    blocks = threads.blocks(X.shape[1], count)
    threads.run(_loops.move_sums, [(X, moved, old, new, first, last, sums) for first, last in blocks])


def own_distances(X: NDArray[Any], centres: NDArray[Any], labels: Labels) -> Floats:
    """(n,) distance of every row to the centre of its cluster."""
    distances = np.empty(len(X))
    _over_rows(_loops.own_distances, X, (centres.astype(X.dtype), labels), (distances,))
    return distances


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
