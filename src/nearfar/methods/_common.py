"""What the methods share: random numbers, checks of Phi and of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfar.checks import check_count, generator
from nearfar.errors import InputError
from nearfar.kernel.factored import Phi, as_rows, is_sparse

__all__ = ["check_count", "check_phi", "generator", "take_columns", "true_decimals"]


def check_phi(phi: Phi) -> Any:
    """Phi as a finite floating ndarray or canonical csr_array; for functions (estimators use scikit-learn's)."""
    if not is_sparse(phi):
        phi = np.asarray(phi)
    if phi.ndim != 2 or (phi.dtype.kind not in "fiub"):
        raise InputError(
            f"phi: expected a matrix of numbers, one row per object, got shape {phi.shape} of {phi.dtype}; "
            "make it with FeatureMap(...).fit_transform(answers)",
        )
    rows = as_rows(phi)
    values = rows.data if is_sparse(rows) else rows
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        raise InputError(
            "phi: some values are not finite; every entry must be a number",
        )
    return rows


def true_decimals(rows: Any) -> int:
    """Digits of a kernel value that are not rounding error."""
    return 5 if rows.dtype == np.float32 else 12


def take_columns(rows: Any, columns: Any) -> Any:
    """The given columns (ascending) of a dense or csr block, also of one with billions of columns.

    >>> take_columns(np.array([[1.0, 2.0, 3.0]]), np.array([0, 2]))
    array([[1., 3.]])
    """
    if len(columns) == rows.shape[1]:
        return rows
    if not is_sparse(rows):
        return rows[:, columns]
    place = np.searchsorted(columns, rows.indices)
    place[place == len(columns)] = 0
    keep = columns[place] == rows.indices if len(columns) else np.zeros(len(place), dtype=bool)
    indptr = np.concatenate([[0], np.cumsum(keep)])[rows.indptr]
    shape = (rows.shape[0], len(columns))
    return sparse.csr_array((rows.data[keep], place[keep], indptr), shape=shape)
