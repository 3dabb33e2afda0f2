"""The kernel without its matrix: over the informed rows of Phi, K = diag(own) + shared @ shared.T.

A column that only one object has adds to that object's own diagonal entry and to nothing else. In a
sparse collection almost all columns are such, so taking them out of the products makes those cheap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nearfar.kernel.gram import gram

__all__ = [
    "Factored",
    "Phi",
    "as_rows",
    "column_counts",
    "factor",
    "informed_rows",
    "is_sparse",
    "row_squares",
    "used_columns",
]

Phi: TypeAlias = Any  # an ndarray or a scipy.sparse matrix or array; rows are objects
BLOCK_BYTES = 1 << 26


def is_sparse(matrix: Any) -> bool:
    """Whether a matrix is one of SciPy's sparse ones."""
    return bool(sparse.issparse(matrix))


@dataclass(frozen=True)
class Factored:
    """K over the informed rows, as ``diag(own) + shared @ shared.T``.

    rows : (N,) indices of the informed rows, ascending.
    columns : (q,) indices of the columns of ``shared``, ascending.
    shared : (N, q) ndarray or csr_array: the columns that at least two objects have (a dense Phi: all).
    own : (N,) what the columns of a single object add to the diagonal.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.int64]
    shared: Any
    own: NDArray[np.float64]

    @property
    def size(self) -> int:
        """How many informed rows there are."""
        return len(self.rows)

    @property
    def width(self) -> int:
        """How many columns ``shared`` has."""
        return int(self.shared.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether ``shared`` is sparse."""
        return is_sparse(self.shared)

    @property
    def diagonal(self) -> NDArray[np.float64]:
        """(N,) the diagonal of K."""
        return self.own + row_squares(self.shared)

    def product(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """``K @ vectors`` without K.

        >>> factored = factor(np.eye(2))
        >>> factored.product(np.array([1.0, 2.0]))
        array([1., 2.])
        """
        return self.out_of_columns(vectors, self.into_columns(vectors))

    def into_columns(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """The first half of a product, ``shared' @ vectors``; over blocks of rows these add up."""
        result: NDArray[Any] = self.shared.T @ vectors
        return result

    def out_of_columns(self, vectors: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
        """The second half, ``own * vectors + shared @ columns``."""
        own = self.own if vectors.ndim == 1 else self.own[:, None]
        result: NDArray[Any] = own * vectors + self.shared @ columns
        return result

    def matrix(self) -> NDArray[np.float64]:
        """(N, N) K itself, in float64."""
        wide = not is_sparse(self.shared) and self.shared.dtype != np.float64
        K = _gram_of_float32(self.shared) if wide else gram(self.shared.astype(np.float64, copy=False))
        K[np.diag_indices_from(K)] += self.own
        return K


def as_rows(phi: Phi) -> Any:
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


def informed_rows(phi: Phi) -> NDArray[np.intp]:
    """Indices of the rows of Phi that are not zero.

    >>> informed_rows(np.array([[0.0, 1.0], [0.0, 0.0]]))
    array([0])
    """
    if is_sparse(phi) and phi.format == "csc":  # as counting leaves it; zeros may be stored
        informed = np.zeros(phi.shape[0], dtype=np.bool_)
        informed[phi.indices[phi.data != 0]] = True
        return np.flatnonzero(informed)
    phi = as_rows(phi)
    return np.flatnonzero(np.diff(phi.indptr) if is_sparse(phi) else phi.any(axis=1))


def factor(phi: Phi, counts: NDArray[np.int64] | None = None) -> Factored:
    """The informed rows of Phi, its single-object columns folded into ``own``, its empty columns dropped.

    A block of rows is split as the whole is when ``counts`` are the ``column_counts`` of the whole.

    >>> factored = factor(sparse.csr_array([[0.6, 0.8, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> factored.rows, parts.columns, parts.own
    (array([0, 1]), array([1]), array([0.36, 0.  ]))
    """
    phi = as_rows(phi)
    rows = informed_rows(phi)
    if len(rows) < phi.shape[0]:
        phi = phi[rows]
    if not is_sparse(phi):
        used = phi.any(axis=0) if counts is None else counts > 0
        columns = np.flatnonzero(used)
        return Factored(rows, columns, phi if used.all() else phi[:, columns], np.zeros(len(rows)))
    columns, found, codes = _column_counts(phi, counts)
    private = found == 1
    alone = private[codes]
    squares = np.where(alone, phi.data, 0).astype(np.float64) ** 2
    starts = phi.indptr[:-1]
    own = np.add.reduceat(squares, starts) if len(rows) else np.zeros(0)
    return Factored(rows, columns[~private], _keep_columns(phi, codes, ~private), own)


def column_counts(phi: Phi) -> NDArray[np.int64]:
    """(p,) how many rows have each column; over blocks of rows these add up."""
    phi = as_rows(phi)
    if is_sparse(phi):
        return np.bincount(phi.indices, minlength=phi.shape[1]).astype(np.int64, copy=False)
    return np.asarray(np.count_nonzero(phi, axis=0), dtype=np.int64)


def used_columns(phi: Phi) -> NDArray[Any]:
    """The columns of canonical rows that occur, ascending; all of those of dense rows.

    >>> used_columns(sparse.csr_array([[0.6, 0.0, 0.8], [0.0, 0.0, 1.0]]))
    array([0, 2], dtype=int32)
    """
    if not is_sparse(phi):
        return np.arange(phi.shape[1])
    if _is_crowded(phi):
        return np.flatnonzero(column_counts(phi)).astype(phi.indices.dtype)
    columns: NDArray[Any] = np.unique(phi.indices)
    return columns


def row_squares(block: Any) -> NDArray[np.float64]:
    """(n,) squared length of every row, summed in float64."""
    if is_sparse(block):
        squares = block.data.astype(np.float64) ** 2
        filled = np.flatnonzero(np.diff(block.indptr))
        lengths = np.zeros(block.shape[0])
        if len(filled):
            lengths[filled] = np.add.reduceat(squares, block.indptr[filled])
        return lengths
    result: NDArray[np.float64] = np.einsum("ij,ij->i", block, block, dtype=np.float64)
    return result


def _column_counts(
    phi: Any, counts: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(used columns, how many rows have each, position of every stored entry's column among them)."""
    if counts is not None or _is_crowded(phi):
        counts = column_counts(phi) if counts is None else counts
        columns = np.flatnonzero(counts)
        place = np.cumsum(counts > 0) - 1
        return columns, counts[columns], place[phi.indices]
    columns, codes, counts = np.unique(phi.indices, return_inverse=True, return_counts=True)
    return columns, counts, codes


def _is_crowded(phi: Any) -> bool:
    """Whether an array with an entry per column is not much longer than the stored entries."""
    return bool(phi.shape[1] <= 4 * phi.nnz + 1024)


def _keep_columns(phi: Any, codes: NDArray[np.int64], wanted: NDArray[np.bool_]) -> Any:
    """``phi`` reduced to the wanted ones among its used columns, renumbered in order."""
    keep = wanted[codes]
    place = np.cumsum(wanted) - 1
    indptr = np.concatenate([[0], np.cumsum(keep)])[phi.indptr]
    small = max(int(wanted.sum()), len(keep)) < np.iinfo(np.int32).max
    kind = np.int32 if small else np.int64
    indices = place[codes[keep]].astype(kind)
    return sparse.csr_array(
        (phi.data[keep], indices, indptr.astype(kind)), shape=(phi.shape[0], int(wanted.sum()))
    )


def _gram_of_float32(block: NDArray[Any]) -> NDArray[np.float64]:
    """X X' in float64, a block of columns at a time, so that X is never held twice."""
    n, p = block.shape
    K = np.zeros((n, n))
    width = max(64, BLOCK_BYTES // (8 * max(n, 1)))
    for start in range(0, p, width):
        K += gram(block[:, start : start + width].astype(np.float64))
    return K
