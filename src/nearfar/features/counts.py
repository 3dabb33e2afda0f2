"""Integer counts of cells: a dense grid where it pays, else sorted keys. Adding is order-free and exact."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar import _threads
from nearfar.errors import InputError
from nearfar.features import _loops
from nearfar.features.part import Part
from nearfar.triplets import Triplets

__all__ = ["Cells", "Counts", "grid_pays"]

SMALL_GRID = 1 << 22  # cells; below this a grid is cheap whatever is in it
CELLS_PER_ENTRY = 6  # a csr entry takes 12 bytes and slow products; up to 6 cells of 8 bytes beat it
INT32_LIMIT = 2**31 - 1


class Cells(NamedTuple):
    """Counted cells, sorted by key = key column << row_bits | row."""

    keys: NDArray[np.int64]
    net: NDArray[np.int32]
    total: NDArray[np.int32]


def grid_pays(n_cells: int, n_entries: int) -> bool:
    """Whether a dense grid of ``n_cells`` costs less than sorting and storing ``n_entries``."""
    return n_cells <= max(SMALL_GRID, CELLS_PER_ENTRY * n_entries)


class Counts:
    """How often each cell (row, column) of one kernel part was answered, + and -.

    Parameters
    ----------
    part : the kernel.
    n_rows : objects that have a row.
    place : (n_rows,) place of each object among the column objects, -1 for none.
    n_places : how many column objects there are.
    """

    def __init__(self, part: Part, n_rows: int, place: NDArray[np.int32], n_places: int) -> None:
        self.part = part
        self.n_rows = n_rows
        self.place = place
        self.n_places = n_places
        self.n_answers = 0
        self.grid: NDArray[Any] | None = None
        self._runs: list[Cells] = []
        self.row_bits = max(1, int(n_rows - 1).bit_length())
        self.place_bits = max(1, int(n_places - 1).bit_length())

    @property
    def n_columns(self) -> int:
        """How many columns there could be."""
        return self.part.n_columns(self.n_places)

    def add(self, answers: Triplets) -> None:
        """Count more answers."""
        self.n_answers += len(answers)
        if self.grid is None and self._wants_grid():
            self._make_grid()
        if self.grid is None:
            self._add_run(answers)
        else:
            self._add_to_grid(answers)

    def _wants_grid(self) -> bool:
        return grid_pays(self.n_rows * self.n_columns, self.n_answers * self.part.cells_per_answer)

    # ---------------------------------------------------------------- dense

    def _make_grid(self) -> None:
        self.grid = np.zeros((self.n_rows, self.n_columns, 2), dtype=np.int32)
        if self._runs:
            cells = self.cells()
            columns, rows = cells.keys >> self.row_bits, cells.keys & ((1 << self.row_bits) - 1)
            codes = self.part.codes_of_keys(columns, self.place_bits)
            spot = np.searchsorted(self.part.all_codes(self.n_places), codes)
            self.grid[rows, spot, 0] = cells.net
            self.grid[rows, spot, 1] = cells.total
            self._runs = []

    def _add_to_grid(self, answers: Triplets) -> None:
        assert self.grid is not None
        if self.n_answers * 2 > INT32_LIMIT and self.grid.dtype == np.int32:
            self.grid = self.grid.astype(np.int64)  # a cell can hold at most all answers
        threads = _threads.n_threads() if len(answers) > 50_000 else 1
        _threads.run(
            self.part.add_to_grid,
            [
                (self.grid, answers.anchor, answers.near, answers.far, self.place, self.n_places, first, last)
                for first, last in _threads.blocks(self.n_rows, threads)
            ],
        )

    # ---------------------------------------------------------------- sparse

    def _add_run(self, answers: Triplets) -> None:
        bits = self.part.column_bits(self.place_bits) + self.row_bits + 1
        if bits > 63 or self.n_answers * 2 > INT32_LIMIT:
            raise InputError(
                f"{self.part.name} on {self.n_rows:,} objects and {self.n_answers:,} answers is past what sparse "
                "counting holds (1,048,576 objects, 1,073,741,823 answers); give landmarks, or use the score kernel",
                came=self.n_rows,
                expected="at most 1,048,576 objects",
                remedy="landmarks=",
            )
        keys = np.empty(len(answers) * self.part.cells_per_answer, dtype=np.int64)
        filled = self.part.fill_keys(
            answers.anchor, answers.near, answers.far, self.place, self.place_bits, self.row_bits, keys
        )
        keys = keys[:filled]
        keys.sort()
        net, total = np.empty(filled, np.int32), np.empty(filled, np.int32)
        n = _loops.count_sorted(keys, keys, net, total)
        self._runs.append(Cells(keys[:n], net[:n], total[:n]))
        while len(self._runs) > 1 and len(self._runs[-1].keys) * 2 > len(self._runs[-2].keys):
            self._merge_last_two()

    def _merge_last_two(self) -> None:
        second, first = self._runs.pop(), self._runs.pop()
        size = len(first.keys) + len(second.keys)
        keys, net, total = np.empty(size, np.int64), np.empty(size, np.int32), np.empty(size, np.int32)
        n = _loops.merge_cells(*first, *second, keys, net, total)
        self._runs.append(Cells(keys[:n], net[:n], total[:n]))

    def cells(self) -> Cells:
        """All counted cells, sorted; only where there is no grid."""
        while len(self._runs) > 1:
            self._merge_last_two()
        if not self._runs:
            return Cells(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
        return self._runs[0]
