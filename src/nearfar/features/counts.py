"""Integer counts of cells: a dense grid where it pays, else sorted keys. Adding is order-free and exact."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nearfar._tools import threads
from nearfar.errors import InputError
from nearfar.features import _loops
from nearfar.features.part import Part
from nearfar.features.sorting import FEW_KEYS, close_gaps, count_keys

__all__ = ["CountedCells", "Counts", "bits", "grid_pays"]

SMALL_GRID = 1 << 22
CELLS_PER_ENTRY = 6  # a csr entry takes 12 bytes and slow products; up to 6 cells of 8 bytes beat it
INT32_LIMIT = 2**31 - 1
CHUNK = 1 << 20  # cells that are put into a grid at a time
SLACK = 4  # below the largest integer: a cell at its limit, as a new grid may have, takes one more answer


class AnswerColumns(Protocol):
    """What counting needs of answers; Triplets have it."""

    @property
    def anchor(self) -> NDArray[np.int32]:
        """(m,) indices of objects."""

    @property
    def near(self) -> NDArray[np.int32]:
        """(m,) indices of objects."""

    @property
    def far(self) -> NDArray[np.int32]:
        """(m,) indices of objects."""

    def __len__(self) -> int: ...


class CountedCells(NamedTuple):
    """Counted cells, sorted by key = key column << row_bits | row."""

    keys: NDArray[np.int64]
    net: NDArray[Any]
    total: NDArray[Any]


def grid_pays(n_cells: int, n_entries: int, *, small_grid: int = SMALL_GRID) -> bool:
    """Whether a dense grid of ``n_cells`` costs less than sorting and storing ``n_entries``.

    One of at most ``small_grid`` cells always does.
    """
    return n_cells <= max(small_grid, CELLS_PER_ENTRY * n_entries)


def bits(count: int) -> int:
    """Bits that number ``count`` things.

    >>> bits(1), bits(8), bits(9)
    (1, 3, 4)
    """
    return max(1, int(count - 1).bit_length())


class Counts:
    """How often each cell (row, column) of one kernel part was answered, + and -.

    Parameters
    ----------
    part : the kernel.
    n_rows : objects that have a row.
    mark : (n_rows,) number of each object among the column objects, -1 for none.
    n_marks : how many column objects there are.
    dense : True for a grid, False for sorted cells, None for what is cheaper.
    small_grid : cells of a grid that is cheap whatever is in it.
    few : answers that one thread counts as soon as several.
    """

    def __init__(
        self,
        part: Part,
        n_rows: int,
        mark: NDArray[np.signedinteger[Any]],
        n_marks: int,
        *,
        dense: bool | None = None,
        small_grid: int = SMALL_GRID,
        few: int = FEW_KEYS,
    ) -> None:
        self.part = part
        self.n_rows = n_rows
        self.mark = mark
        self.n_marks = n_marks
        self.dense = dense
        self.small_grid = small_grid
        self.few = few
        self.n_answers = 0
        self._most = 0  # no cell holds more than this
        self.grid: NDArray[Any] | None = None
        self._runs: list[CountedCells] = []
        self.row_bits = bits(n_rows)
        self.mark_bits = bits(n_marks)

    @property
    def n_columns(self) -> int:
        """How many columns there could be."""
        return self.part.n_columns(self.n_marks)

    def add(self, answers: AnswerColumns) -> None:
        """Count more answers."""
        self.n_answers += len(answers)
        self._most += len(answers)
        if self.grid is None and self._wants_grid():
            self._make_grid()
        if self.grid is None:
            self._add_run(answers)
        else:
            self._add_to_grid(answers)

    def _wants_grid(self) -> bool:
        if self.dense is not None:
            return self.dense
        n_cells, n_entries = self.n_rows * self.n_columns, self.n_answers * self.part.cells_per_answer
        return grid_pays(n_cells, n_entries, small_grid=self.small_grid)

    # ---------------------------------------------------------------- dense

    def _make_grid(self) -> None:
        """A grid of small integers, which grows when a cell asks for it, with all that was counted so far."""
        cells, kind = self.cells(), np.dtype(np.int16)
        while cells.total.max(initial=0) > _limit(kind):
            kind = _wider(kind)
        self.grid = np.zeros((self.n_rows, self.n_columns, 2), dtype=kind)
        self._runs = []
        self._put(cells)

    def _put(self, cells: CountedCells) -> None:
        """Add cells to the grid, which has room for them."""
        all_codes = self.part.all_codes(self.n_marks) if len(cells.keys) else np.empty(0, np.int64)
        for start in range(0, len(cells.keys), CHUNK):
            keys, net, total = (column[start : start + CHUNK] for column in cells)
            columns = keys >> self.row_bits
            first = np.flatnonzero(np.diff(columns, prepend=-1))  # cell of every column
            codes = self.part.codes_of_keys(columns[first], self.mark_bits)
            _loops.put_cells(
                keys, net, total, self.row_bits, first, np.searchsorted(all_codes, codes), self.grid
            )

    def _add_to_grid(self, answers: AnswerColumns) -> None:
        blocks = threads.blocks(self.n_rows, threads.n_threads() if len(answers) > 50_000 else 1)
        columns = (answers.anchor, answers.near, answers.far, self.mark, self.n_marks)
        todo = [(block, 0) for block in blocks]
        while todo:
            assert self.grid is not None
            limit = _limit(self.grid.dtype)
            stopped = threads.run(
                self.part.add_to_grid,
                [(self.grid[a:b], *columns, a, start, limit) for (a, b), start in todo],
            )
            todo = [(block, at) for (block, _), at in zip(todo, stopped, strict=True) if at >= 0]
            if todo:  # a cell is full, maybe by the last answer: whatever comes next finds more room
                self.grid = self.grid.astype(_wider(self.grid.dtype))

    # ---------------------------------------------------------------- sparse

    def _add_run(self, answers: AnswerColumns) -> None:
        if self.part.column_bits(self.mark_bits) + self.row_bits + 1 > 63:
            raise InputError(
                f"{self.part.name} on {self.n_rows:,} objects is past what sparse counting holds "
                "(1,048,576 objects); give landmarks, or use the score kernel",
            )
        n_threads = threads.n_threads() if len(answers) > self.few else 1
        self._add_cells(CountedCells(*count_keys(self._keys(answers, n_threads), n_threads)))

    def _keys(self, answers: AnswerColumns, n_threads: int) -> NDArray[np.int64]:
        """The signed keys of answers."""
        each = self.part.cells_per_answer
        keys = np.empty(len(answers) * each, dtype=np.int64)
        blocks = threads.blocks(len(answers), n_threads)
        filled = threads.run(
            self.part.fill_keys,
            [
                (
                    *(column[a:b] for column in (answers.anchor, answers.near, answers.far)),
                    *(self.mark, self.mark_bits, self.row_bits),
                    keys[each * a : each * b],
                )
                for a, b in blocks
            ],
        )
        close_gaps(keys, [each * a for a, _ in blocks], filled)
        return keys[: sum(filled)]

    def add_cells(self, cells: CountedCells) -> None:
        """Add cells that were counted elsewhere, in integers of any size."""
        self._most += int(cells.total.max(initial=0))
        kind = np.int32 if cells.total.itemsize <= 4 else np.int64
        same = _as(CountedCells(cells.keys.astype(np.int64, copy=False), cells.net, cells.total), kind)
        if not self.dense:
            self._add_cells(same)
            return
        if self.grid is None:
            self._make_grid()
        assert self.grid is not None
        while self._most > _limit(self.grid.dtype):
            self.grid = self.grid.astype(_wider(self.grid.dtype))
        self._put(same)

    def settle(self) -> None:
        """Make the grid where one was asked for."""
        if self.grid is None and self.dense:
            self._make_grid()

    def _add_cells(self, cells: CountedCells) -> None:
        self._runs.append(cells)
        while len(self._runs) > 1 and len(self._runs[-1].keys) * 2 > len(self._runs[-2].keys):
            self._merge_last_two()

    def _merge_last_two(self) -> None:
        second, first = self._runs.pop(), self._runs.pop()
        size = len(first.keys) + len(second.keys)
        kind = np.int32 if self._most <= INT32_LIMIT else np.int64
        keys, net, total = np.empty(size, np.int64), np.empty(size, kind), np.empty(size, kind)
        n = _loops.merge_cells(*_as(first, kind), *_as(second, kind), keys, net, total)
        self._runs.append(CountedCells(keys[:n], net[:n], total[:n]))

    def cells(self) -> CountedCells:
        """All counted cells, sorted; only where there is no grid."""
        while len(self._runs) > 1:
            self._merge_last_two()
        if not self._runs:
            return CountedCells(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
        return self._runs[0]

    def cut(self, block_rows: int) -> list[CountedCells]:
        """The cells of every block of ``block_rows`` rows, rows counted from the first of the block."""
        cells, n_blocks = self.cells(), max(1, -(-self.n_rows // block_rows))
        starts = np.zeros(n_blocks + 1, np.int64)
        keys, net, total = (np.empty_like(column) for column in cells)
        block_bits = np.full(n_blocks, bits(block_rows))
        block_bits[-1:] = bits(self.n_rows - block_rows * (n_blocks - 1))
        _loops.cut_cells(*cells, self.row_bits, block_rows, block_bits, starts, keys, net, total)
        return [CountedCells(keys[a:b], net[a:b], total[a:b]) for a, b in pairwise(starts.tolist())]


def _limit(kind: np.dtype[Any]) -> int:
    return int(np.iinfo(kind).max) - SLACK


def _wider(kind: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.int32 if kind.itemsize == 2 else np.int64)


def _as(cells: CountedCells, kind: Any) -> CountedCells:
    return CountedCells(cells.keys, cells.net.astype(kind, copy=False), cells.total.astype(kind, copy=False))
