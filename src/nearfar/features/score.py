"""score: how often an object was preferred as seen from another, whatever it was compared with (ours).

k1 compares two objects only through questions that both got, so a random collection leaves K almost diagonal.
The score map has one column per object i instead of one per pair, and object a has

    s(a)[i] = sum_j #(a,i,j) - #(a,j,i)  +  sum_j #(i,a,j) - #(i,j,a),

where #(a,i,j) counts the answers "a is nearer to i than to j". The first sum is to Spearman what k1 is to
Kendall; the second is the same with the roles turned. So an answer (a, i, j) adds to four cells: (a, i) +,
(a, j) -, (i, a) +, (j, a) -. An object is nearest to itself, so s(a)[a] is the length of the rest of the row.
Rows are scaled to unit length. With u the row without its own entry, scaled to unit length, this says

    K(a, b) = ( <u(a), u(b)> + u(a)[b] + u(b)[a] ) / 2 :

do a and b prefer alike, and were they preferred to others as seen from each other. The variants that were tried,
and the held-out accuracies that decided, are in docs/score.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfar._tools.compiled import compiled
from nearfar.features.part import Part


@compiled()
def _add_to_grid(
    grid: Any, anchor: Any, near: Any, far: Any, mark: Any, n_marks: int, first_row: int
) -> None:
    """In: answers, mark. In and out: grid (rows, p, 2), its rows from first_row on."""
    for t in range(anchor.size):
        a = anchor[t]
        for side in range(2):
            other = near[t] if side == 0 else far[t]
            for object_, column in ((a, mark[other]), (other, mark[a])):
                row = object_ - first_row
                if column >= 0 and 0 <= row < grid.shape[0]:
                    grid[row, column, 0] += 1 - 2 * side
                    grid[row, column, 1] += 1


@compiled()
def _fill_keys(anchor: Any, near: Any, far: Any, mark: Any, mark_bits: int, row_bits: int, out: Any) -> int:
    """In: answers, mark. Out: signed keys (column << row_bits | row) << 1 | (is +). Returns how many."""
    filled = 0
    for t in range(anchor.size):
        a = anchor[t]
        for side in range(2):
            other = near[t] if side == 0 else far[t]
            for row, column in ((a, mark[other]), (other, mark[a])):
                if column >= 0:
                    key = (np.int64(column) << row_bits) | np.int64(row)
                    out[filled] = (key << 1) | np.int64(1 - side)
                    filled += 1
    return filled


SCORE = Part(
    name="score",
    cells_per_answer=4,
    all_codes=lambda marks: np.arange(marks, dtype=np.int64) << 32,
    n_columns=lambda marks: marks,
    add_to_grid=_add_to_grid,
    fill_keys=_fill_keys,
    of_pairs=False,
)
