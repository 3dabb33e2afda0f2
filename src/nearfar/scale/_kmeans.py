"""Lloyd's iteration on blocks of rows: every step of it is one of ``nearfar.methods``, on one block.

A round has two passes over Phi. In the first a block multiplies its rows with the sums S of the clusters' rows,
which gives R and its share of the clusters' sizes and inner sums W; in the second it assigns its objects anew and
sums their rows. Only S, of clusters times columns, and numbers per cluster leave a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar.kernel.parts import is_sparse
from nearfar.methods._lloyd import Clusters, Stop, assign, clusters_of, explained, repair
from nearfar.methods._rows import RowSpace
from nearfar.methods._spaces import indicator
from nearfar.scale._engine import Future
from nearfar.scale._parts import CutParts, add_all, block_diagonal, parts_of

__all__ = ["CutRun", "CutSpace", "cut_lloyd", "nearest_in_block"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class CutRun:
    """One run of k-means; labels are futures of blocks, of informed objects only."""

    labels: list[Future]
    sizes: NDArray[np.int64]
    inertia: float
    n_iter: int
    converged: bool


class CutSpace:
    """The informed objects as kernel k-means sees them, K' = K - s I, by products that the workers make."""

    def __init__(self, parts: CutParts, shift: float) -> None:
        self.parts = parts
        self.shift = shift
        self.engine = parts.engine
        self.diagonals: list[Future] = self.engine.map(
            "diagonal", _shifted, parts.blocks, [shift] * len(parts.blocks)
        )

    @property
    def diagonal(self) -> Floats:
        """(N,) K'(x, x), here."""
        return self.parts.diagonal - self.shift

    def columns(self, objects: NDArray[np.intp]) -> Floats:
        """(N, len(objects)) K'(x, y) for all x and the given y, here."""
        chosen = self.rows_of(objects)
        futures = self.engine.map("columns", _columns, self.parts.blocks, [chosen] * len(self.parts.blocks))
        result: Floats = np.concatenate(self.engine.gather("columns", futures))
        result[objects, np.arange(len(objects))] += self.parts.own[objects] - self.shift
        return result

    def rows_of(self, objects: NDArray[np.intp]) -> Any:
        """The shared rows of the given objects, in their order, here."""
        edges = np.concatenate([[0], np.cumsum(self.parts.sizes)])
        home = np.searchsorted(edges, objects, side="right") - 1
        used = np.unique(home)
        wanted = [objects[home == b] - edges[b] for b in used]
        futures = self.engine.map("pick", _pick, [self.parts.blocks[b] for b in used], wanted)
        found = self.engine.gather("picking rows", futures)
        order = np.argsort(np.concatenate([np.flatnonzero(home == b) for b in used]))
        return _stacked(found)[order]


def cut_lloyd(space: CutSpace, labels: list[Future], k: int, stop: Stop) -> CutRun:
    """As ``nearfar.methods._lloyd.lloyd``, block by block."""
    engine, blocks = space.engine, space.parts.blocks
    many = len(blocks)
    total = sum(engine.gather("diagonal", engine.map("diagonal", _total, space.diagonals)))
    sums = engine.map("sums", _sum_rows, blocks, labels, [k] * many)
    before, clusters = np.inf, Clusters(np.zeros(k, np.int64), np.zeros(k))
    for n_iter in range(1, stop.max_iter + 1):
        products = _multiply(space, labels, sums)
        clusters = _add_clusters(
            engine.gather("clusters", engine.map("clusters", clusters_of, products, labels))
        )
        inertia = total - explained(clusters)
        if before - inertia < stop.tol * abs(inertia):
            return CutRun(labels, clusters.sizes, inertia, n_iter, True)
        before = inertia
        steps = engine.map("assign", _assign, products, space.diagonals, labels, [clusters] * many)
        changes = engine.gather("assigning", engine.map("moved", _change, steps, [k] * many))
        new = engine.map("labels", _labels, steps)
        moved = sum(change.moved for change in changes)
        sizes = np.sum([change.sizes for change in changes], axis=0)
        if not sizes.all():
            new, mended = _mend(space, steps, new, sizes, k)
            moved += mended
        if not moved:
            return CutRun(labels, clusters.sizes, inertia, n_iter, True)
        labels = new
        sums = engine.map("sums", _sum_rows, blocks, labels, [k] * many)
    products = _multiply(space, labels, sums)
    clusters = _add_clusters(engine.gather("clusters", engine.map("clusters", clusters_of, products, labels)))
    return CutRun(labels, clusters.sizes, total - explained(clusters), stop.max_iter, False)


def _multiply(space: CutSpace, labels: list[Future], sums: list[Future]) -> list[Future]:
    """Futures of R, the sums of K' over every cluster, for every block."""
    many = len(labels)
    joined = space.engine.reduce("sums", add_all, sums)
    return space.engine.map(
        "products", _products, space.parts.blocks, labels, [joined] * many, [space.shift] * many
    )


def _add_clusters(blocks: list[Clusters]) -> Clusters:
    return Clusters(np.sum([b.sizes for b in blocks], axis=0), np.sum([b.within for b in blocks], axis=0))


def _mend(
    space: CutSpace, steps: list[Future], labels: list[Future], sizes: NDArray[np.int64], k: int
) -> tuple[list[Future], int]:
    """Labels without empty clusters, and how many objects were moved for that."""
    found = space.engine.gather(
        "empty clusters", space.engine.map("farthest", _farthest, steps, [2 * k] * len(steps))
    )
    places, own, squares = (np.concatenate(columns) for columns in zip(*found, strict=True))
    block = np.repeat(np.arange(len(found)), [len(each[0]) for each in found])
    repaired = repair(own, squares, k, sizes)
    changed = np.flatnonzero(repaired != own)
    labels = list(labels)
    for b in np.unique(block[changed]):
        here = changed[block[changed] == b]
        labels[b] = space.engine.submit("labels", _relabel, labels[b], places[here], repaired[here])
    return labels, len(changed)


# -------------------------------------------------------------------- tasks


class _Step(NamedTuple):
    labels: Labels
    squares: Floats
    moved: int


class _Change(NamedTuple):
    moved: int
    sizes: NDArray[np.int64]


def nearest_in_block(block: Any, centres: Floats) -> Labels:
    """(n,) the nearest centre of every row of a block."""
    shared = parts_of(block).shared
    return RowSpace(shared.toarray() if is_sparse(shared) else shared).nearest(centres)


def _shifted(block: Any, shift: float) -> Floats:
    return block_diagonal(block) - shift


def _total(diagonal: Floats) -> float:
    return float(diagonal.sum())


def _columns(block: Any, chosen: Any) -> Floats:
    values: Any = parts_of(block).shared @ chosen.T
    return np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)


def _pick(block: Any, places: NDArray[np.intp]) -> Any:
    return parts_of(block).shared[places]


def _stacked(found: list[Any]) -> Any:
    from scipy import sparse

    return sparse.csr_array(sparse.vstack(found)) if is_sparse(found[0]) else np.concatenate(found)


def _sum_rows(block: Any, labels: Labels, k: int) -> Floats:
    """(q, k) sums of the rows of every cluster."""
    result: Floats = parts_of(block).into_columns(indicator(labels, k))
    return result


def _products(block: Any, labels: Labels, sums: Floats, shift: float) -> Floats:
    """(n, k) sum of K'(x, y) over the y of every cluster."""
    parts = parts_of(block)
    result: Floats = np.asarray(parts.shared @ sums)
    result[np.arange(len(labels)), labels] += parts.own - shift
    return result


def _assign(products: Floats, diagonal: Floats, labels: Labels, clusters: Clusters) -> _Step:
    squares = assign(products, diagonal, clusters)
    new = np.argmin(squares, axis=1).astype(np.int32)
    return _Step(new, squares.min(axis=1, initial=np.inf), int((new != labels).sum()))


def _change(step: _Step, k: int) -> _Change:
    return _Change(step.moved, np.bincount(step.labels, minlength=k))


def _labels(step: _Step) -> Labels:
    return step.labels


def _farthest(step: _Step, count: int) -> tuple[NDArray[np.intp], Labels, Floats]:
    """(places, labels, squared distances) of the objects of a block farthest from their centres."""
    places = np.sort(np.argsort(-step.squares, kind="stable")[:count])
    return places, step.labels[places], step.squares[places]


def _relabel(labels: Labels, places: NDArray[np.intp], new: Labels) -> Labels:
    labels = labels.copy()
    labels[places] = new
    return labels
