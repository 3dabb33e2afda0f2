"""k-means on the rows of a thin dense Phi, where the shift is 0: Elkan's bounds, sums kept up to date."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar import _threads
from nearfar.kernel.parts import row_squares
from nearfar.methods import _loops
from nearfar.methods._lloyd import Run, Stop, repair
from nearfar.methods._seeding import plus_plus
from nearfar.methods._spaces import Floats, Labels

__all__ = ["RowSpace", "bounded_lloyd", "draw_sample", "sample_centres", "sampled_starts"]

BLOCKS = 64
SAMPLE = 50_000  # rows on which starts are found when there are more than twice as many


class RowSpace:
    """Dense rows of which there are more than columns: K' = X X', never built."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self.rows = np.ascontiguousarray(rows)
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
        distances = _own_distances(self.rows, self.mean[None], np.zeros(len(self.rows), dtype=np.int32))
        return float(distances @ distances)

    def nowhere(self) -> Floats:
        """A place farther from every row than any mean of rows is: the centre of an empty cluster."""
        place = np.zeros(self.rows.shape[1])
        place[0] = 4 * np.sqrt(self.diagonal.max())
        return place


def bounded_lloyd(space: RowSpace, labels: Labels, k: int, stop: Stop) -> Run:
    """As ``lloyd``, with the same result up to ties; most rows are not looked at in most steps."""
    X = space.rows
    labels = labels.copy()
    total = space.scatter()
    sums = space.centre_sums(labels, k)
    nowhere = space.nowhere()
    upper = np.zeros(len(X), dtype=X.dtype)
    lower = np.zeros((len(X), k), dtype=X.dtype)
    before, centres = np.inf, np.zeros_like(sums)
    for n_iter in range(1, stop.max_iter + 1):
        sizes = np.bincount(labels, minlength=k)
        inertia = total - _explained(sums, sizes, space.mean)
        if before - inertia < stop.tol * abs(inertia):
            return Run(labels, inertia, n_iter, True)
        before = inertia
        previous, centres = centres, sums / np.maximum(sizes, 1)[:, None]
        centres[sizes == 0] = nowhere
        new = labels.copy()
        if n_iter == 1:
            _over_rows(_loops.first_step, X, (centres.astype(X.dtype),), (new, upper, lower))
        else:
            inputs = (centres.astype(X.dtype), _drift(previous, centres, X.dtype), _half(centres, X.dtype))
            _over_rows(_loops.bounded_step, X, inputs, (new, upper, lower))
        new = _repair(X, centres, new, upper, lower)
        moved = np.flatnonzero(new != labels)
        if not len(moved):
            return Run(labels, inertia, n_iter, True)
        _move(X, moved, labels[moved], new[moved], sums)
        labels = new
    inertia = total - _explained(sums, np.bincount(labels, minlength=k), space.mean)
    return Run(labels, inertia, stop.max_iter, False)


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
    blocks = _threads.blocks(len(X), BLOCKS if len(X) > 10_000 else 1)
    _threads.run(loop, [(X, *inputs, first, last, *outputs) for first, last in blocks])


def _move(X: NDArray[Any], moved: NDArray[np.intp], old: Labels, new: Labels, sums: Floats) -> None:
    threads = _threads.n_threads() if len(moved) > 10_000 else 1
    blocks = _threads.blocks(X.shape[1], threads)
    _threads.run(_loops.move_sums, [(X, moved, old, new, first, last, sums) for first, last in blocks])


def _own_distances(X: NDArray[Any], centres: Floats, labels: Labels) -> Floats:
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


def _repair(X: NDArray[Any], centres: Floats, labels: Labels, upper: Any, lower: Any) -> Labels:
    """Fill empty clusters; the bounds of objects that were moved for that no longer hold."""
    k = len(centres)
    if np.bincount(labels, minlength=k).all():
        return labels
    repaired = repair(labels, _own_distances(X, centres, labels) ** 2, k)
    moved = np.flatnonzero(repaired != labels)
    upper[moved] = np.inf
    lower[moved] = 0
    return repaired


def _explained(sums: Floats, sizes: NDArray[np.int64], mean: Floats) -> float:
    """Scatter between the clusters: sum over c of |c| |centre of c - mean|^2."""
    gaps = sums - sizes[:, None] * mean
    return float((np.einsum("ij,ij->i", gaps, gaps) / np.maximum(sizes, 1)).sum())
