"""Integer counts of cells: a dense grid where it pays, else sorted keys. Adding is order-free and exact.

A cell is (row, column) with two integers: ``net``, how often it was answered + minus how often -, and
``total``, how often it was answered at all. Cells live in a dense grid (n, p, 2), or sorted by
key = column << row_bits | row in three arrays. Both are read column by column within a row, in the same
order, so that dense and sparse Phi are equal to the last bit.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools import threads
from nearfar._tools.compiled import compiled
from nearfar.errors import InputError
from nearfar.features.part import Part

MAX_MARKS = 1 << 20  # of pairs; with four million rows their cells still fit in 62 bits
SMALL_GRID = 1 << 22  # cells of a grid that is cheap whatever is in it
CHUNK = 1 << 15  # answers whose keys stay in the processor's cache

Indices = NDArray[np.int32]


class CountedCells(NamedTuple):
    """Counted cells, sorted by key = column << row_bits | row."""

    keys: NDArray[np.int64]
    net: NDArray[Any]
    total: NDArray[Any]


def grid_pays(n_cells: int, n_entries: int) -> bool:
    """Whether a dense grid of ``n_cells`` costs less than sorting and storing ``n_entries``; a small one always does."""
    # a csr entry takes 12 bytes and slow products; up to 6 cells of 8 bytes beat it
    return n_cells <= max(SMALL_GRID, 6 * n_entries)


def bits(count: int) -> int:
    """Bits that number ``count`` things.

    >>> bits(1), bits(8), bits(9)
    (1, 3, 4)
    """
    return max(1, int(count - 1).bit_length())


@dataclass(eq=False, repr=False)
class Counts:
    """How often each cell (row, column) of one kernel part was answered, + and -.

    Parameters
    ----------
    part : the kernel.
    n_rows : objects that have a row.
    mark : (n_rows,) number of each object among the column objects, -1 for none.
    n_marks : how many column objects there are.
    dense : True for a grid, False for sorted cells, None for what is cheaper.
    """

    part: Part
    n_rows: int
    mark: NDArray[np.signedinteger[Any]]
    n_marks: int
    _: KW_ONLY
    dense: bool | None = None

    def __post_init__(self) -> None:
        self.n_answers = 0
        self._most = 0  # no cell holds more than this
        self.grid: NDArray[Any] | None = None
        self._runs: list[CountedCells] = []
        self.row_bits = bits(self.n_rows)

    @property
    def n_columns(self) -> int:
        """How many columns there could be."""
        return self.part.n_columns(self.n_marks)

    def add(self, anchor: Indices, near: Indices, far: Indices) -> None:
        """Count more answers: (m,) indices of objects in each role."""
        self.n_answers += len(anchor)
        # a cell names the anchor, or either may be it
        self._most += 2 * int(np.bincount(anchor).max(initial=0))
        if self.part.of_pairs and (self.n_marks > MAX_MARKS or bits(self.n_columns) + self.row_bits > 62):
            raise InputError(
                f"{self.part.name} on {self.n_rows:,} objects has more cells than can be numbered "
                f"(with {MAX_MARKS:,} landmarks or more); give landmarks, or use the score kernel"
            )
        if self.grid is not None or self._wants_grid():
            grid, keys = self._roomy_grid(), np.empty(CHUNK * self.part.cells_per_answer, dtype=np.int64)
            for start in range(0, len(anchor), CHUNK):
                batch = (role[start : start + CHUNK] for role in (anchor, near, far))
                filled = self.part.fill_keys(*batch, self.mark, self.n_marks, self.row_bits, keys)
                add_to_grid(keys[:filled], self.row_bits, grid)
            return
        keys = np.empty(len(anchor) * self.part.cells_per_answer, dtype=np.int64)
        filled = self.part.fill_keys(anchor, near, far, self.mark, self.n_marks, self.row_bits, keys)
        self._add_cells(count_keys(keys[:filled], threads.n_threads()))

    def _wants_grid(self) -> bool:
        if self.dense is not None:
            return self.dense
        return grid_pays(self.n_rows * self.n_columns, self.n_answers * self.part.cells_per_answer)

    # ---------------------------------------------------------------- dense

    def _roomy_grid(self) -> NDArray[Any]:
        """The grid, made with all that was counted so far, in integers that hold whatever comes."""
        kind = self._kind(np.int16)  # small: a new page of memory costs more than counting into it
        if self.grid is None:
            cells, self._runs = self.cells(), []
            self.grid = np.zeros((self.n_rows, self.n_columns, 2), dtype=kind)
            self._put(cells)
        elif self.grid.dtype != kind:
            self.grid = self.grid.astype(kind)
        return self.grid

    def _put(self, cells: CountedCells) -> None:
        """Add cells to the grid, which has room for them."""
        for start in range(0, len(cells.keys), 1 << 20):
            keys, net, total = (column[start : start + (1 << 20)] for column in cells)
            at = keys & ((1 << self.row_bits) - 1), keys >> self.row_bits
            self.grid[at] += np.stack([net, total], axis=1)  # type: ignore[index]  # a cell occurs once

    def _kind(self, least: Any = np.int32) -> Any:
        """The integers that no count outgrows."""
        return np.result_type(least, np.min_scalar_type(-1 - self._most))

    # ---------------------------------------------------------------- sparse

    def add_cells(self, cells: CountedCells) -> None:
        """Add cells that were counted elsewhere, in integers of any size."""
        self._most += int(cells.total.max(initial=0))
        same = _as(cells._replace(keys=cells.keys.astype(np.int64, copy=False)), self._kind())
        if self.dense:
            self._roomy_grid()
            self._put(same)
        else:
            self._add_cells(same)

    def settle(self) -> None:
        """Make the grid where one was asked for."""
        if self.dense:
            self._roomy_grid()

    def _add_cells(self, cells: CountedCells) -> None:
        self._runs.append(cells)
        while len(self._runs) > 1 and len(self._runs[-1].keys) * 2 > len(self._runs[-2].keys):
            self._merge_last_two()

    def _merge_last_two(self) -> None:
        second, first = self._runs.pop(), self._runs.pop()
        size = len(first.keys) + len(second.keys)
        kind = self._kind()
        keys, net, total = np.empty(size, np.int64), np.empty(size, kind), np.empty(size, kind)
        n = merge_cells(tuple(_as(first, kind)), tuple(_as(second, kind)), keys, net, total)
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
        row = cells.keys & ((1 << self.row_bits) - 1)
        block = row // block_rows
        order = np.argsort(block, kind="stable")
        blocks = []
        for number, at in enumerate(np.split(order, np.searchsorted(block[order], np.arange(1, n_blocks)))):
            first = number * block_rows
            own = bits(min(block_rows, self.n_rows - first))
            keys = ((cells.keys[at] >> self.row_bits) << own) | (row[at] - first)
            blocks.append(CountedCells(keys, cells.net[at], cells.total[at]))
        return blocks


def count_keys(keys: NDArray[np.int64], n_threads: int, *, few: int = 500_000) -> CountedCells:
    """The cells that signed keys (see ``count_sorted``) name, sorted; ``keys`` is used up.

    ``few`` : keys that one thread sorts as soon as several.
    """
    edges = [start for start, _ in threads.blocks(len(keys), min(n_threads, 1 + len(keys) // few))]
    if len(edges) > 1:
        keys.partition(edges[1:])
    threads.run(np.ndarray.sort, [(keys[a:b],) for a, b in pairwise([*edges, len(keys)])])
    net, total = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    n = count_sorted(keys, keys, net, total)
    return CountedCells(keys[:n], net[:n], total[:n])


def _as(cells: CountedCells, kind: Any) -> CountedCells:
    return CountedCells(cells.keys, cells.net.astype(kind, copy=False), cells.total.astype(kind, copy=False))


@compiled()
def add_to_grid(signed_keys: Any, row_bits: int, grid: Any) -> None:
    """In: signed keys, as for ``count_sorted``, in any order. In and out: grid (n, p, 2)."""
    mask = (np.int64(1) << row_bits) - 1
    for signed in signed_keys:
        key = signed >> 1
        grid[key & mask, key >> row_bits, 0] += 2 * (signed & 1) - 1
        grid[key & mask, key >> row_bits, 1] += 1


@compiled()
def count_sorted(signed_keys: Any, keys: Any, net: Any, total: Any) -> int:
    """Runs of equal keys -> cells; the lowest bit of a signed key is 1 for +, 0 for -.

    In: signed_keys, sorted. Out: keys, net, total, filled from the front. Returns how many cells.
    """
    cells = -1
    last = np.int64(-1)
    for signed in signed_keys:
        key = signed >> 1
        if key != last:
            cells += 1
            keys[cells] = key
            net[cells] = 0
            total[cells] = 0
            last = key
        net[cells] += 2 * (signed & 1) - 1
        total[cells] += 1
    return cells + 1


@compiled()
def merge_cells(one: Any, other: Any, keys: Any, net: Any, total: Any) -> int:
    """Two sorted lists of cells -> one. Out: keys, net, total, filled from the front. Returns how many."""
    (keys_a, net_a, total_a), (keys_b, net_b, total_b) = one, other
    a, b, cells = 0, 0, 0
    while a < keys_a.size or b < keys_b.size:
        take_a = b == keys_b.size or (a < keys_a.size and keys_a[a] <= keys_b[b])
        take_b = a == keys_a.size or (b < keys_b.size and keys_b[b] <= keys_a[a])
        keys[cells] = keys_a[a] if take_a else keys_b[b]
        net[cells] = 0
        total[cells] = 0
        if take_a:
            net[cells] += net_a[a]
            total[cells] += total_a[a]
            a += 1
        if take_b:
            net[cells] += net_b[b]
            total[cells] += total_b[b]
            b += 1
        cells += 1
    return cells
