"""Coverage: how many columns two objects share, counted by numpy alone.

``nearfar check`` prints it. Counting by the compiled loops gives the same number, but loading a compiler takes longer
than everything else that the command does.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    n = max(given.n_objects, 1)
    if kernel == "k1":
        column = np.minimum(near, far) * n + np.maximum(near, far)
        row, positive = anchor, near < far
    else:
        column, row = np.concatenate([anchor * n + far, anchor * n + near]), np.concatenate([near, far])
        positive = np.arange(len(row)) < len(near)
    if 2 * n**3 >= 2**63:  # else column, row and sign are one number as they are
        column = np.unique(column, return_inverse=True)[1]
    keys = (column * n + row) * 2 + positive
    keys.sort()
    cells = keys >> 1
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    net = np.add.reduceat(2 * (keys & 1) - 1, starts) if len(starts) else starts
    column, row = np.divmod(cells[starts], n)
    rows_per_column = np.unique(column, return_counts=True)[1]
    return shared_columns(rows_per_column, len(np.unique(row[net != 0])))


def shared_columns(rows_per_column: NDArray[Any], n_informed: int) -> float:
    """Columns that two informed objects share on average, from how many rows each column has."""
    if n_informed < 2:
        return 0.0
    n_c = rows_per_column.astype(np.float64)
    return float(n_c @ n_c - n_c.sum()) / (n_informed * (n_informed - 1))
