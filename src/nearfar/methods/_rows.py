"""Rows of Phi as the methods take them, and products and sums of one block, in float64 piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nearfar._tools import threads
from nearfar._tools.arrays import Floats, Labels
from nearfar._tools.compiled import compiled
from nearfar.blocks import RowBlocks
from nearfar.errors import InputError
from nearfar.kernel.phi import PhiLike, as_rows, check_phi, is_sparse, refuse_others

SLICE_ROWS = 8192
CAST_NUMBERS = 2**18  # of a block that are multiplied at a time: they stay in the processor's cache
DENSE_BYTES = 1 << 27  # of long sparse vectors that are dense at a time


def too_many_clusters(k: int, informed: int, n: int) -> InputError:
    """The error for k clusters of n objects of which fewer are ``informed``."""
    if not informed:
        return InputError(f"clusters: none can be made, because the model places none of the {n} objects")
    placed = f"there are {n} objects" if informed == n else f"only {informed} of {n} objects can be clustered"
    return InputError(f"clusters: {k} are too many; {placed}")


def estimator_rows(estimator: Any, X: PhiLike, *, reset: bool) -> RowBlocks:
    """The rows that an estimator was given: RowBlocks as they are, anything else checked as scikit-learn does."""
    if isinstance(X, RowBlocks):
        if reset:
            estimator.n_features_in_ = X.width
        elif X.width != estimator.n_features_in_:
            raise InputError(
                f"X has {X.width} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input; use the same FeatureMap"
            )
        return X
    from sklearn.utils.validation import validate_data

    refuse_others(X, "X")
    checked = validate_data(estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
    return RowBlocks.of(as_rows(checked))


def phi_rows(phi: PhiLike) -> RowBlocks:
    """The rows that a function was given."""
    return phi if isinstance(phi, RowBlocks) else RowBlocks.of(check_phi(phi))


def as_given(X: PhiLike, result: RowBlocks) -> Any:
    """A result with an entry per row: in blocks where the rows were, else as an array."""
    return result if isinstance(X, RowBlocks) else result.to_array()


# -------------------------------------------------------------------- one block


def row_slices(rows: Any, height: int | None = None) -> Iterator[tuple[slice, Any]]:
    """(where, slice) for consecutive slices of a dense or csr block, none of them a copy."""
    height = SLICE_ROWS if height is None else height
    for start in range(0, rows.shape[0], height):
        where = slice(start, min(start + height, rows.shape[0]))
        if is_sparse(rows):
            ends = rows.indptr[start : where.stop + 1]
            entries = slice(ends[0], ends[-1])
            parts = rows.data[entries], rows.indices[entries], ends - ends[0]
            yield where, sparse.csr_array(parts, shape=(len(ends) - 1, rows.shape[1]))
        else:
            yield where, rows[where]


def onto_columns(rows: Any, axes: Floats) -> Floats:
    """(n, d) rows @ axes, on all cores."""
    result = np.empty((rows.shape[0], axes.shape[1]))
    axes = np.ascontiguousarray(axes)

    def multiply(where: slice, some: Any) -> None:
        result[where] = some @ axes

    height = max(64, CAST_NUMBERS * rows.shape[0] // max(1, rows.nnz if is_sparse(rows) else rows.size))
    with threads.one_blas_thread():
        threads.run(multiply, row_slices(rows, height))
    return result


def products(rows: Any, others: Any) -> Floats:
    """(n, m) rows @ others.T; of sparse others, which may be very long, some at a time.

    >>> products(sparse.csr_array([[1.0, 2.0]]), sparse.csr_array([[3.0, 0.0], [0.0, 1.0]]))
    array([[3., 2.]])
    """
    if not is_sparse(others):
        return onto_columns(rows, others.T)
    count = max(1, DENSE_BYTES // (8 * max(1, others.shape[1])))
    parts = [onto_columns(rows, some.toarray().T) for _, some in row_slices(others, count)]
    return np.hstack(parts) if parts else np.zeros((rows.shape[0], 0))


def into_columns(rows: Any, vectors: Floats) -> Floats:
    """(p, d) rows' @ vectors."""
    result = np.zeros((rows.shape[1], vectors.shape[1]))
    for where, some in row_slices(rows):
        result += some.T @ vectors[where]
    return result


def scatter_of(rows: Any, mean: Floats) -> Floats:
    """(p, p) (rows - mean)' (rows - mean), multiplied in the precision of the rows."""
    scatter = np.zeros((rows.shape[1], rows.shape[1]))
    for _, some in row_slices(rows):
        if is_sparse(some):  # centring would fill it: take the mean off the result instead
            sums = np.asarray(some.sum(axis=0, dtype=np.float64)).ravel()
            scatter += (some.T @ some).toarray()
            scatter -= np.outer(sums, mean) + np.outer(mean, sums) - some.shape[0] * np.outer(mean, mean)
        else:
            centred = some - mean.astype(some.dtype)
            scatter += centred.T @ centred
    return scatter


def cluster_sums(rows: Any, labels: Labels, k: int) -> Any:
    """(k, p) sums of rows by their labels, a csr_array where they are long and sparse; -1 labels rows of no cluster."""
    n, p = rows.shape
    if not is_sparse(rows):
        sums = np.zeros((k, p))
        _add_rows(rows, labels, sums)
        return sums
    if k * p <= CAST_NUMBERS:
        cells = np.repeat(labels + 1, np.diff(rows.indptr)) * p + rows.indices
        return np.bincount(cells, rows.data, (k + 1) * p).reshape(k + 1, p)[1:]
    inside = np.flatnonzero(labels >= 0)
    members = sparse.csc_array((np.ones(len(inside)), (labels[inside], inside)), shape=(k, n))
    return sparse.csr_array(members @ rows)


@compiled()
def _add_rows(rows: Any, labels: Any, sums: Any) -> None:
    """In and out: sums (k, p)."""
    for x in range(rows.shape[0]):
        if labels[x] >= 0:
            for j in range(rows.shape[1]):
                sums[labels[x], j] += rows[x, j]


def means(sums: Any, sizes: NDArray[np.int64]) -> Any:
    """(k, p) mean rows of clusters from their sums, dense or sparse."""
    weights = 1 / np.maximum(sizes, 1)
    if not is_sparse(sums):
        return sums * weights[:, None]
    return sparse.csr_array(sparse.diags_array(weights) @ sums)


def take_columns(rows: Any, columns: Any) -> Any:
    """The given columns (ascending) of a dense or csr block, also of one with billions of columns.

    >>> take_columns(np.array([[1.0, 2.0, 3.0]]), np.array([0, 2]))
    array([[1., 3.]])
    """
    if len(columns) == rows.shape[1]:
        return rows
    if not is_sparse(rows):
        return rows[:, columns]
    at = np.searchsorted(columns, rows.indices)
    at[at == len(columns)] = 0
    keep = columns[at] == rows.indices if len(columns) else np.zeros(len(at), dtype=bool)
    indptr = np.concatenate([[0], np.cumsum(keep)])[rows.indptr]
    shape = (rows.shape[0], len(columns))
    return sparse.csr_array((rows.data[keep], at[keep], indptr), shape=shape)
