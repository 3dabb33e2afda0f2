"""k1: Kendall's tau between two objects' rankings of everything else (Kleindessner and von Luxburg, 2017).

Columns are unordered pairs i < j, and object a has

    phi1~(a)[i, j] = (#(a,i,j) - #(a,j,i)) / (#(a,i,j) + #(a,j,i)),   0/0 = 0,

where #(a,i,j) counts the answers "a is nearer to i than to j". So an answer (a, i, j) adds to one cell: row a,
column {i, j}, + if i < j and - if i > j. Rows are scaled to unit length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfar._tools.compiled import compiled
from nearfar.features.part import ColumnCodes, Part


def _all_codes(marks: int) -> ColumnCodes:
    first, second = np.triu_indices(marks, 1)
    return (first.astype(np.int64) << 32) | second


@compiled()
def _add_to_grid(
    grid: Any, anchor: Any, near: Any, far: Any, mark: Any, n_marks: int, first_row: int
) -> None:
    """In: answers, mark. In and out: grid (rows, p, 2), its rows from first_row on."""
    for t in range(anchor.size):
        row = anchor[t] - first_row
        if 0 <= row < grid.shape[0]:
            i, j = np.int64(mark[near[t]]), np.int64(mark[far[t]])
            if i >= 0 and j >= 0:
                low, high = min(i, j), max(i, j)
                column = ((low * (2 * n_marks - low - 1)) >> 1) + high - low - 1
                grid[row, column, 0] += 2 * (i < j) - 1
                grid[row, column, 1] += 1


@compiled()
def _fill_keys(anchor: Any, near: Any, far: Any, mark: Any, mark_bits: int, row_bits: int, out: Any) -> int:
    """In: answers, mark. Out: signed keys (column << row_bits | row) << 1 | (is +). Returns how many."""
    filled = 0
    for t in range(anchor.size):
        i, j = np.int64(mark[near[t]]), np.int64(mark[far[t]])
        if i >= 0 and j >= 0:
            column = (min(i, j) << mark_bits) | max(i, j)
            out[filled] = (((column << row_bits) | np.int64(anchor[t])) << 1) | np.int64(i < j)
            filled += 1
    return filled


K1 = Part(
    name="k1",
    cells_per_answer=1,
    all_codes=_all_codes,
    n_columns=lambda marks: marks * (marks - 1) // 2,
    add_to_grid=_add_to_grid,
    fill_keys=_fill_keys,
)
