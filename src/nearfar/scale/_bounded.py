"""Rows in blocks for ``nearfar.methods._rows.bounded_lloyd``: labels and bounds stay with the blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar.kernel.factored import is_sparse, row_squares
from nearfar.methods import _rows
from nearfar.methods._lloyd import repair
from nearfar.methods._rows import Look, State
from nearfar.scale._engine import Engine, Future
from nearfar.scale._parts import CutParts, add_all, parts_of

__all__ = ["CutRows"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class CutState:
    """Where a run stands: futures of the blocks' states; here only what all blocks add up to."""

    engine: Engine
    blocks: list[Future]
    sums: Floats
    sizes: NDArray[np.int64]
    moved: int

    @property
    def labels(self) -> list[Future]:
        """Futures of the labels of every block."""
        return self.engine.map("labels", attrgetter("labels"), self.blocks)


class CutRows:
    """The informed rows of a thin Phi in blocks, as k-means on rows sees them."""

    def __init__(self, parts: CutParts) -> None:
        self.engine = parts.engine
        self.dtype = parts.shared.dtype
        self.width = parts.shared.shape[1]
        self.mean = parts.column_sums / parts.size
        self.rows = self.engine.map("rows", _dense, parts.blocks) if parts.is_sparse else list(parts.blocks)

    def scatter(self) -> float:
        """Sum of squared distances to the mean."""
        found = self.engine.map("scatter", _scatter, self.rows, [self.mean] * len(self.rows))
        return float(sum(self.engine.gather("scatter", found)))

    def nowhere(self) -> Floats:
        """A place farther from every row than any mean of rows is."""
        longest = self.engine.gather("lengths", self.engine.map("lengths", _longest, self.rows))
        return _rows.far_away(max(longest), self.width)

    def begin(self, labels: list[Future], k: int) -> CutState:
        """The state with these labels."""
        return self._state(self.engine.map("begin", _begin, self.rows, labels, [k] * len(labels)))

    def step(self, state: CutState, look: Look) -> CutState:
        """The state after every row went to its nearest centre, and empty clusters were filled."""
        shared = self.engine.submit("centres", _same, look)  # sent once, not once for every block
        many = len(self.rows)
        new = self._state(self.engine.map("step", _step, self.rows, state.blocks, [shared] * many))
        if new.sizes.all():
            return new
        return self._fill(state, new, shared)

    def _state(self, blocks: list[Future]) -> CutState:
        tallies = self.engine.map(
            "tally", _tally, blocks
        )  # small, so that the blocks' states stay where they are
        total: _Tally = self.engine.result("k-means", self.engine.reduce("tally", _add_tallies, tallies))
        return CutState(self.engine, blocks, *total)

    def _fill(self, before: CutState, state: CutState, look: Future) -> CutState:
        """Empty clusters get the rows farthest from their centres."""
        engine, k, many = self.engine, len(state.sizes), len(self.rows)
        found = engine.gather(
            "empty clusters",
            engine.map("farthest", _farthest, self.rows, state.blocks, [look] * many, [2 * k] * many),
        )
        places, own, squares = (np.concatenate(columns) for columns in zip(*found, strict=True))
        home = np.repeat(np.arange(many), [len(each[0]) for each in found])
        repaired = repair(own, squares, k, state.sizes)
        changed = np.flatnonzero(repaired != own)
        blocks = list(state.blocks)
        for b in np.unique(home[changed]):
            here = changed[home[changed] == b]
            blocks[b] = engine.submit(
                "fill", _filled, self.rows[b], blocks[b], before.blocks[b], places[here], repaired[here]
            )
        return self._state(blocks)


# -------------------------------------------------------------------- tasks


class _Tally(NamedTuple):
    """What a step tells of a block: sums and sizes of the clusters, and how many rows changed theirs."""

    sums: Floats
    sizes: NDArray[np.int64]
    moved: int


def _same(value: Any) -> Any:
    return value


def _dense(block: Any) -> NDArray[Any]:
    shared = parts_of(block).shared
    return np.asarray(shared.toarray() if is_sparse(shared) else shared)


def _of(block: Any) -> NDArray[Any]:
    return np.ascontiguousarray(parts_of(block).shared)


def _scatter(block: Any, mean: Floats) -> float:
    rows = _of(block)
    distances = _rows.own_distances(rows, mean[None], np.zeros(len(rows), dtype=np.int32))
    return float(distances @ distances)


def _longest(block: Any) -> float:
    return float(row_squares(_of(block)).max(initial=0.0))


def _begin(block: Any, labels: Labels, k: int) -> State:
    return _rows.begin(_of(block), labels, k)


def _own(state: State) -> State:
    """A state that nobody else holds: a task must not change what it is given."""
    return replace(state, sums=state.sums.copy(), upper=state.upper.copy(), lower=state.lower.copy())


def _step(block: Any, state: State, look: Look) -> State:
    return _rows.step(_of(block), _own(state), look)


def _tally(state: State) -> _Tally:
    return _Tally(state.sums, state.sizes, state.moved)


def _add_tallies(tallies: list[_Tally]) -> _Tally:
    sums, sizes, moved = zip(*tallies, strict=True)
    return _Tally(add_all(list(sums)), add_all(list(sizes)), sum(moved))


def _farthest(block: Any, state: State, look: Look, count: int) -> tuple[NDArray[np.intp], Labels, Floats]:
    """(places, labels, squared distances) of the rows of a block farthest from their centres."""
    squares = _rows.own_distances(_of(block), look.centres, state.labels) ** 2
    places = np.sort(np.argsort(-squares, kind="stable")[:count])
    return places, state.labels[places], squares[places]


def _filled(block: Any, state: State, before: State, places: NDArray[np.intp], labels: Labels) -> State:
    return _rows.fill(_of(block), _own(state), before.labels, places, labels)
