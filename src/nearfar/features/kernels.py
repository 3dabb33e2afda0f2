"""k1, k2 and score: which cells of Phi an answer adds to. #(a,i,j) counts the answers "a is nearer to i than to j".

**k1**, Kendall's tau between two objects' rankings of everything else (Kleindessner and von Luxburg, 2017). Columns are
unordered pairs i < j, and object a has

    phi1~(a)[i, j] = (#(a,i,j) - #(a,j,i)) / (#(a,i,j) + #(a,j,i)),   0/0 = 0.

So an answer (a, i, j) adds to one cell: row a, column {i, j}, + if i < j and - if i > j.

**k2**, do two objects rank alike as seen from the others (the same paper). Columns are ordered pairs (i, j), i the anchor:

    phi2~(a)[i, j] = (#(i,a,j) - #(i,j,a)) / (#(i,a,j) + #(i,j,a)),   0/0 = 0.

So an answer (i, a, j) adds to two cells: row a, column (i, j), +; and row j, column (i, a), -.

**score**, how often an object was preferred as seen from another, whatever it was compared with (ours). k1 compares two
objects only through questions that both got, so a random collection leaves K almost diagonal. The score map has one column
per object i instead of one per pair:

    s(a)[i] = sum_j #(a,i,j) - #(a,j,i)  +  sum_j #(i,a,j) - #(i,j,a).

The first sum is to Spearman what k1 is to Kendall; the second is the same with the roles turned. So an answer (a, i, j)
adds to four cells: (a, i) +, (a, j) -, (i, a) +, (j, a) -. An object is nearest to itself, so s(a)[a] is the length of the
rest of the row. With u the row without its own entry, scaled to unit length, this says

    K(a, b) = ( <u(a), u(b)> + u(a)[b] + u(b)[a] ) / 2 :

do a and b prefer alike, and were they preferred to others as seen from each other. The variants that were tried,
and the held-out accuracies that decided, are in docs/score.md.

Rows are scaled to unit length in all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import pair_of
from nearfar._tools.compiled import compiled
from nearfar.features.part import ColumnCodes, Part


def _k1_codes(columns: NDArray[np.int64], marks: int) -> ColumnCodes:
    last = marks * (marks - 1) // 2 - 1
    low, high = pair_of(last - columns)  # of the pairs counted from the last one
    return ((marks - 1 - high) << 32) | (marks - 1 - low)


@compiled()
def _k1_keys(anchor: Any, near: Any, far: Any, mark: Any, marks: int, row_bits: int, out: Any) -> int:
    """In: answers, mark. Out: signed keys (column << row_bits | row) << 1 | (is +). Returns how many."""
    filled = 0
    for t in range(anchor.size):
        i, j = np.int64(mark[near[t]]), np.int64(mark[far[t]])
        if i >= 0 and j >= 0:
            low, high = min(i, j), max(i, j)
            column = ((low * (2 * marks - low - 1)) >> 1) + high - low - 1
            out[filled] = (((column << row_bits) | np.int64(anchor[t])) << 1) | np.int64(i < j)
            filled += 1
    return filled


K1 = Part("k1", 1, n_columns=lambda marks: marks * (marks - 1) // 2, codes=_k1_codes, fill_keys=_k1_keys)


def _k2_codes(columns: NDArray[np.int64], marks: int) -> ColumnCodes:
    first = columns // max(marks - 1, 1)
    second = columns - first * (marks - 1)
    return (first << 32) | (second + (second >= first))


@compiled()
def _k2_keys(anchor: Any, near: Any, far: Any, mark: Any, marks: int, row_bits: int, out: Any) -> int:
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
                column = i * (marks - 1) + j - (j > i)
                out[filled] = (((column << row_bits) | np.int64(row)) << 1) | np.int64(1 - side)
                filled += 1
    return filled


K2 = Part("k2", 2, n_columns=lambda marks: marks * (marks - 1), codes=_k2_codes, fill_keys=_k2_keys)


@compiled()
def _score_keys(anchor: Any, near: Any, far: Any, mark: Any, marks: int, row_bits: int, out: Any) -> int:
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
    "score", 4, n_columns=lambda marks: marks, codes=lambda columns, marks: columns << 32,
    fill_keys=_score_keys, of_pairs=False,
)  # fmt: skip
