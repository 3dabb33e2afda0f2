"""Lloyd's iteration on blocks of rows: every step of it is one of ``nearfar.methods``, on one block.

A round has two passes over Phi. In the first a block multiplies its rows with the sums S of the clusters' rows,
which gives R and its share of the clusters' sizes and inner sums W; in the second it assigns its objects anew and
sums their rows. Only S, of clusters times columns, and numbers per cluster leave a block.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nearfar.kernel.factored import is_sparse
from nearfar.methods._lloyd import Clusters, Run, Stop, assign, clusters_of, explained, nearest, repair
from nearfar.methods._rows import RowSpace
from nearfar.methods._spaces import by_label, times
from nearfar.scale._engine import Future
from nearfar.scale._parts import CutParts, add_all, block_diagonal, parts_of

__all__ = ["CutSpace", "cut_lloyd", "nearest_in_block", "nearest_to_sample"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


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


def cut_lloyd(space: CutSpace, labels: list[Future], k: int, stop: Stop) -> Run:
    """As ``nearfar.methods._lloyd.lloyd``, block by block; the labels of the run are futures of blocks."""
    engine, blocks = space.engine, space.parts.blocks
    many = len(blocks)
    total = sum(engine.gather("diagonal", engine.map("diagonal", _total, space.diagonals)))
    steps = engine.map("begin", _begin, blocks, labels, [k] * many)
    before = np.inf
    for n_iter in range(1, stop.max_iter + 1):
        rounds, clusters = _multiply(space, steps)
        inertia = total - explained(clusters)
        if before - inertia < stop.tol * abs(inertia):
            return Run(_labels(space, steps), inertia, n_iter, True)
        before = inertia
        new = engine.map("assign", _assign, blocks, rounds, space.diagonals, steps, [clusters] * many)
        changes = engine.gather("assigning", engine.map("change", _change, new))
        moved = sum(change.moved for change in changes)
        sizes = np.sum([change.sizes for change in changes], axis=0)
        if not sizes.all():
            moved += _mend(space, steps, new, sizes)
        if not moved:
            return Run(_labels(space, steps), inertia, n_iter, True)
        steps = new
    _, clusters = _multiply(space, steps)
    return Run(_labels(space, steps), total - explained(clusters), stop.max_iter, False)


def _multiply(space: CutSpace, steps: list[Future]) -> tuple[list[Future], Clusters]:
    """Futures of R, the sums of K' over every cluster, for every block; and the clusters."""
    engine, many = space.engine, len(steps)
    sums = engine.reduce("sums", add_all, engine.map("sums", attrgetter("sums"), steps))
    rounds = engine.map("products", _products, space.parts.blocks, steps, [sums] * many, [space.shift] * many)
    found = engine.gather("clusters", engine.map("clusters", attrgetter("clusters"), rounds))
    sizes, within = (np.sum(column, axis=0) for column in zip(*found, strict=True))
    return rounds, Clusters(sizes, within)


def _labels(space: CutSpace, steps: list[Future]) -> Any:
    return space.engine.map("labels", attrgetter("labels"), steps)


def _mend(space: CutSpace, before: list[Future], steps: list[Future], sizes: NDArray[np.int64]) -> int:
    """Fill empty clusters with the farthest objects; returns how many more moved by that. In and out: steps."""
    k, engine = len(sizes), space.engine
    found = engine.gather("empty clusters", engine.map("farthest", _farthest, steps, [2 * k] * len(steps)))
    places, own, squares = (np.concatenate(columns) for columns in zip(*found, strict=True))
    block = np.repeat(np.arange(len(found)), [len(each[0]) for each in found])
    repaired = repair(own, squares, k, sizes)
    changed = np.flatnonzero(repaired != own)
    touched = np.unique(block[changed]).tolist()
    was = engine.gather("empty clusters", engine.map("change", _change, [steps[b] for b in touched]))
    for b in touched:
        here = changed[block[changed] == b]
        steps[b] = engine.submit(
            "assign", _relabel, space.parts.blocks[b], steps[b], before[b], places[here], repaired[here]
        )
    now = engine.gather("empty clusters", engine.map("change", _change, [steps[b] for b in touched]))
    return int(sum(change.moved for change in now) - sum(change.moved for change in was))


# -------------------------------------------------------------------- tasks


class _Round(NamedTuple):
    """R of a block (n, k), and what it adds to the clusters."""

    products: Floats
    clusters: Clusters


class _Step(NamedTuple):
    """Labels of a block, how far each object is from its centre, how many moved, sums of the clusters' rows (q, k)."""

    labels: Labels
    squares: Floats
    moved: int
    sums: Floats


class _Change(NamedTuple):
    moved: int
    sizes: NDArray[np.int64]


def nearest_in_block(block: Any, centres: Floats) -> Labels:
    """(n,) the nearest centre of every row of a block."""
    shared = parts_of(block).shared
    return RowSpace(shared.toarray() if is_sparse(shared) else shared).nearest(centres)


def nearest_to_sample(block: Any, sums: Floats, clusters: Clusters) -> Labels:
    """(n,) the nearest cluster of a sample, of which ``sums`` (q, k) are the sums of the rows."""
    products = times(parts_of(block).shared, sums)
    return nearest(assign(products, np.zeros(len(products)), clusters))


def _shifted(block: Any, shift: float) -> Floats:
    return block_diagonal(block) - shift


def _total(diagonal: Floats) -> float:
    return float(diagonal.sum())


def _columns(block: Any, chosen: Any) -> Floats:
    values: Any = parts_of(block).shared @ chosen.T
    return np.asarray(values.toarray() if is_sparse(values) else values)


def _pick(block: Any, places: NDArray[np.intp]) -> Any:
    return parts_of(block).shared[places]


def _stacked(found: list[Any]) -> Any:
    return sparse.csr_array(sparse.vstack(found)) if is_sparse(found[0]) else np.concatenate(found)


def _begin(block: Any, labels: Labels, k: int) -> _Step:
    return _Step(labels, np.zeros(len(labels)), 0, _sums(block, labels, k))


def _sums(block: Any, labels: Labels, k: int) -> Floats:
    return by_label(parts_of(block).shared, labels, k)


def _products(block: Any, step: _Step, sums: Floats, shift: float) -> _Round:
    parts, labels = parts_of(block), step.labels
    products = times(parts.shared, sums)
    products[np.arange(len(labels)), labels] += parts.own - shift
    return _Round(products, clusters_of(products, labels))


def _assign(block: Any, round: _Round, diagonal: Floats, step: _Step, clusters: Clusters) -> _Step:
    squares = assign(round.products, diagonal, clusters)
    new = nearest(squares)
    sums = _sums(block, new, len(clusters.sizes))
    return _Step(new, squares.min(axis=1), int((new != step.labels).sum()), sums)


def _change(step: _Step) -> _Change:
    return _Change(step.moved, np.bincount(step.labels, minlength=step.sums.shape[1]))


def _farthest(step: _Step, count: int) -> tuple[NDArray[np.intp], Labels, Floats]:
    """(places, labels, squared distances) of the objects of a block farthest from their centres."""
    places = np.sort(np.argsort(-step.squares, kind="stable")[:count])
    return places, step.labels[places], step.squares[places]


def _relabel(block: Any, step: _Step, before: _Step, places: NDArray[np.intp], new: Labels) -> _Step:
    labels = step.labels.copy()
    labels[places] = new
    moved = int((labels != before.labels).sum())
    return step._replace(labels=labels, moved=moved, sums=_sums(block, labels, step.sums.shape[1]))
