"""k2: do two objects rank alike as seen from the others (Kleindessner and von Luxburg, 2017).

Columns are ordered pairs (i, j), i the anchor, and object a has

    phi2~(a)[i, j] = (#(i,a,j) - #(i,j,a)) / (#(i,a,j) + #(i,j,a)),   0/0 = 0,

where #(i,a,j) counts the answers "i is nearer to a than to j". So an answer (i, a, j) adds to two cells: row a,
column (i, j), +; and row j, column (i, a), -. Rows are scaled to unit length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfar._tools.compiled import compiled
from nearfar.features.part import ColumnCodes, Part


def _all_codes(marks: int) -> ColumnCodes:
    first = np.repeat(np.arange(marks, dtype=np.int64), max(marks - 1, 0))
    second = np.tile(np.arange(max(marks - 1, 0), dtype=np.int64), marks)
    return (first << 32) | (second + (second >= first))


@compiled()
def _add_to_grid(
    grid: Any, anchor: Any, near: Any, far: Any, mark: Any, n_marks: int, first_row: int
) -> None:
    """In: answers, mark. In and out: grid (rows, p, 2), its rows from first_row on."""
    for t in range(anchor.size):
        i = np.int64(mark[anchor[t]])
        if i < 0:
            continue
        for side in range(2):
            a, other = (near[t], far[t]) if side == 0 else (far[t], near[t])
            row, j = a - first_row, np.int64(mark[other])
            if j >= 0 and 0 <= row < grid.shape[0]:
                column = i * (n_marks - 1) + j - (j > i)
                grid[row, column, 0] += 1 - 2 * side
                grid[row, column, 1] += 1


@compiled()
def _fill_keys(anchor: Any, near: Any, far: Any, mark: Any, mark_bits: int, row_bits: int, out: Any) -> int:
    """In: answers, mark. Out: signed keys (column << row_bits | row) << 1 | (is +). Returns how many."""
    filled = 0
    for t in range(anchor.size):
        i = np.int64(mark[anchor[t]])
        if i < 0:
            continue
        for side in range(2):
            row, other = (near[t], far[t]) if side == 0 else (far[t], near[t])
            j = np.int64(mark[other])
            if j >= 0:
                column = (i << mark_bits) | j
                out[filled] = (((column << row_bits) | np.int64(row)) << 1) | np.int64(1 - side)
                filled += 1
    return filled


K2 = Part(
    name="k2",
    cells_per_answer=2,
    all_codes=_all_codes,
    n_columns=lambda marks: marks * (marks - 1),
    add_to_grid=_add_to_grid,
    fill_keys=_fill_keys,
)
