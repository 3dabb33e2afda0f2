"""Rows of Phi, dense or sparse: what they are made from, and facts about them."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from nearfar._tools.arrays import Floats, distinct
from nearfar.blocks import RowBlocks
from nearfar.errors import InputError
from nearfar.triplets import Triplets

PhiLike: TypeAlias = Any  # an ndarray, a scipy.sparse matrix or array, or RowBlocks of such; rows are objects


def is_sparse(matrix: Any) -> bool:
    """Whether a matrix is one of SciPy's sparse ones."""
    return bool(sparse.issparse(matrix))


def as_array(matrix: Any) -> NDArray[Any]:
    """A matrix, dense or sparse, as an ndarray."""
    return np.asarray(matrix.toarray() if is_sparse(matrix) else matrix)


def as_rows(phi: PhiLike) -> Any:
    """Phi as a floating ndarray or a canonical csr_array without stored zeros; copied only where needed."""
    if is_sparse(phi):
        rows = sparse.csr_array(phi)
        if rows.dtype.kind != "f":
            rows = rows.astype(np.float64)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        if not np.all(rows.data):
            rows = rows.copy()
            rows.eliminate_zeros()
        return rows
    dense = np.asarray(phi)
    return dense if dense.dtype.kind == "f" else dense.astype(np.float64)


# -------------------------------------------------------------------- what was given


def check_phi(phi: PhiLike) -> Any:
    """Phi as a finite floating ndarray or canonical csr_array; for functions (estimators use scikit-learn's)."""
    refuse_others(phi, "phi")
    if not is_sparse(phi):
        phi = np.asarray(phi)
    if phi.ndim != 2 or (phi.dtype.kind not in "fiub"):
        raise InputError(
            f"phi: expected a matrix of numbers, one row per object, got shape {phi.shape} of {phi.dtype}; "
            "make it with FeatureMap(...).fit_transform(answers)"
        )
    rows = as_rows(phi)
    if not np.isfinite(rows.sum()):  # or it is too large
        check_finite(rows, "phi")
    return rows


def as_floats(phi: PhiLike) -> Any:
    """A floating matrix as it is; anything else checked, and refused where it is not rows of Phi."""
    is_matrix = isinstance(phi, np.ndarray) or is_sparse(phi)
    return phi if is_matrix and phi.dtype.kind == "f" else check_phi(phi)


def refuse_others(given: Any, name: str) -> None:
    """One sentence with the right call where answers, a Space, text, a path or a dask array are given instead of Phi."""
    if isinstance(given, Triplets):
        make_phi = "make Phi of them first: FeatureMap(...).fit_transform(answers)"
        raise InputError(f"{name}: these are answers, not rows of numbers; {make_phi}")
    if hasattr(given, "rows") and hasattr(given, "informed"):
        remedy = "give its rows, space.rows, or call its own map, tree or clusters"
        raise InputError(f"{name}: this is a Space; {remedy}")
    if isinstance(given, (str, os.PathLike)):
        raise InputError(
            f"{name}: expected rows of numbers, got the path {os.fspath(given)!r}; for answers in a file give "
            "FeatureMap(...).fit_transform(nearfar.read_triplets(path))"
        )
    if hasattr(given, "__dask_graph__"):
        remedy = f"give nearfar.scale.from_dask({name}), its rows in blocks"
        raise InputError(f"{name}: this is a dask array; {remedy}")
    if is_sparse(given):
        return
    is_table = isinstance(given, (list, tuple, np.ndarray)) or hasattr(given, "columns")
    values = np.asarray(given if is_table else ())
    if values.ndim != 2 or not values.size:
        return
    if values.dtype.kind in "UST" or (values.dtype == object and isinstance(values[0, 0], str)):
        raise InputError(
            f"{name}: holds text such as {str(values[0, 0])!r}, expected rows of numbers; if these are names of objects "
            "in answers, read them with nearfar.read_triplets(...) and then use FeatureMap(...).fit_transform"
        )


# -------------------------------------------------------------------- facts


def check_finite(block: Any, name: str = "X") -> None:
    """An error where a block holds a number that is not finite."""
    if not np.isfinite(block.data if is_sparse(block) else block).all():
        raise InputError(f"{name}: holds NaN or infinity; expected finite numbers")


def informed_rows(phi: PhiLike) -> NDArray[np.intp]:
    """Indices of the rows of Phi that are not zero.

    >>> informed_rows(np.array([[0.0, 1.0], [0.0, 0.0]]))
    array([0])
    """
    phi = as_rows(phi)
    return np.flatnonzero(np.diff(phi.indptr) if is_sparse(phi) else phi.any(axis=1))


def uninformed(phi: RowBlocks) -> NDArray[np.intp]:
    """Indices of the rows that are zero; an error where some value is not finite."""
    missing = phi.gather("uninformed", _uninformed_rows, phi.starts, check=not phi.checked)
    return np.concatenate([np.zeros(0, dtype=np.intp), *missing])


def _uninformed_rows(block: Any, start: int, check: bool) -> NDArray[np.intp]:
    if check:
        check_finite(block)
    return np.setdiff1d(np.arange(block.shape[0]), informed_rows(block), assume_unique=True) + start


def column_counts(phi: Any) -> NDArray[np.int64]:
    """(p,) how many rows of a sparse block have each column; of a dense one, whether any has. Over blocks they add up."""
    phi = as_rows(phi)
    if is_sparse(phi):
        return np.bincount(phi.indices, minlength=phi.shape[1]).astype(np.int64, copy=False)
    return np.asarray(phi.any(axis=0), dtype=np.int64)


def used_columns(phi: PhiLike) -> NDArray[Any]:
    """The columns of canonical rows that occur, ascending; all of those of dense rows.

    >>> used_columns(sparse.csr_array([[0.6, 0.0, 0.8], [0.0, 0.0, 1.0]]))
    array([0, 2], dtype=int32)
    """
    if not is_sparse(phi):
        return np.arange(phi.shape[1])
    used = np.flatnonzero(column_counts(phi)) if is_crowded(phi) else distinct(phi.indices)
    return used.astype(phi.indices.dtype, copy=False)


def is_crowded(phi: Any) -> bool:
    """Whether an array with an entry per column is not much longer than the stored entries."""
    return bool(phi.shape[1] <= 4 * phi.nnz + 1024)


def row_squares(block: Any) -> Floats:
    """(n,) squared length of every row, summed in float64."""
    if not is_sparse(block):
        return np.asarray(np.einsum("ij,ij->i", block, block, dtype=np.float64))
    filled, lengths = np.flatnonzero(np.diff(block.indptr)), np.zeros(block.shape[0])
    if len(filled):
        lengths[filled] = np.add.reduceat(block.data.astype(np.float64) ** 2, block.indptr[filled])
    return lengths


def entries_per_row(block: Any) -> NDArray[np.int64]:
    """(n,) how many entries of every row are not zero."""
    rows = as_rows(block)
    counts = np.diff(rows.indptr) if is_sparse(rows) else np.count_nonzero(rows, axis=1)
    return np.asarray(counts, dtype=np.int64)


def stored_bytes(block: Any) -> int:
    """Bytes that a dense or csr block takes."""
    if is_sparse(block):
        return int(block.data.nbytes + block.indices.nbytes + block.indptr.nbytes)
    return int(block.nbytes)


# -------------------------------------------------------------------- ties
# Kernel values are often fractions, and equal ones come out a little different however products are summed. One rule,
# used by neighbours, medoids, trees and predictions alike, says which are equal.


def tie_decimals(dtype: DTypeLike) -> int:
    """Digits of a kernel value that are not rounding error, for rows of this dtype.

    >>> tie_decimals(np.float32), tie_decimals(np.float64)
    (5, 12)
    """
    return 5 if np.dtype(dtype) in (np.float32, np.float16) else 12


def rounded(values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Values as they are compared: equal ones are equal to the last bit."""
    return np.round(values, tie_decimals(dtype))
