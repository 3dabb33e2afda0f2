"""Coverage: how many columns two objects share, counted by numpy alone.

``nearfar check`` prints it. Counting by the compiled loops gives the same number, but loading a compiler takes longer
than everything else that the command does.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Ints
from nearfar.errors import InputError
from nearfar.triplets import Triplets, as_triplets

__all__ = ["coverage", "shared_columns"]


def coverage(answers: Triplets | ArrayLike, kernel: Literal["k1", "k2"] = "k1") -> float:
    """Columns of k1 or k2 that two informed objects share on average: sum_c n_c (n_c - 1) / (N (N - 1)).

    It is the ``coverage_`` of a ``FeatureMap`` of that kernel.

    >>> coverage([[0, 2, 3], [1, 2, 3]], "k1")
    1.0
    """
    if kernel not in ("k1", "k2"):
        raise InputError(f"kernel: expected 'k1' or 'k2', got {kernel!r}")
    given = as_triplets(answers)
    anchor, near, far = (np.asarray(role, dtype=np.int64) for role in (given.anchor, given.near, given.far))
    if kernel == "k1":
        column = np.minimum(near, far) * given.n_objects + np.maximum(near, far)
        row, positive = anchor, near < far
    else:
        first = anchor * given.n_objects
        column, row = np.concatenate([first + far, first + near]), np.concatenate([near, far])
        positive = np.arange(len(row)) < len(near)
    column, row, sign = _sorted(column, row, positive, given.n_objects)
    starts = _starts(column, row)
    informed = row[starts][np.add.reduceat(sign, starts) != 0] if len(starts) else row
    per_column = np.diff(_starts(column[starts]), append=len(starts))
    return shared_columns(per_column, int((np.bincount(informed, minlength=1) > 0).sum()))


def _sorted(column: Ints, row: Ints, positive: NDArray[np.bool_], n: int) -> tuple[Ints, Ints, Ints]:
    """Columns, rows and signs (1 or -1), by column and row."""
    if 2 * n**3 < 2**63:  # then the three of them are one number
        keys = (column * n + row) * 2 + positive
        keys.sort()
        cell = keys >> 1
        return cell // n, cell % n, 2 * (keys & 1) - 1
    order = np.lexsort((row, column))
    return column[order], row[order], np.where(positive[order], 1, -1)


def _starts(*sorted_by: Ints) -> NDArray[np.intp]:
    """Where each run of equal values begins."""
    if not len(sorted_by[0]):
        return np.empty(0, dtype=np.intp)
    new = np.ones(len(sorted_by[0]), dtype=bool)
    new[1:] = np.any([values[1:] != values[:-1] for values in sorted_by], axis=0)
    return np.flatnonzero(new)


def shared_columns(rows_per_column: NDArray[Any], n_informed: int) -> float:
    """Columns that two informed objects share on average, from how many rows each column has."""
    if n_informed < 2:
        return 0.0
    n_c = rows_per_column.astype(np.float64)
    return float(n_c @ n_c - n_c.sum()) / (n_informed * (n_informed - 1))
