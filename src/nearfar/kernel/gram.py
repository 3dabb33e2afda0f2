"""Inner products of the rows of Phi: one triangle by BLAS or by columns, the other copied from it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas

from nearfar._tools import threads
from nearfar._tools.compiled import compiled
from nearfar._tools.memory import check_square
from nearfar.errors import InputError
from nearfar.kernel.phi import as_array, as_floats, refuse_others

STRIP = 512
DENSE_BYTES = 1 << 28
PAIR_COST = 16.0  # a scattered multiply-add against one inside BLAS


def gram(phi: Any) -> NDArray[Any]:
    """(n, n) Phi Phi' in the dtype of Phi, exactly symmetric.

    >>> gram(np.array([[1.0, 0.0], [0.6, 0.8]])).round(2)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """
    phi = as_floats(phi)
    check_square(phi.shape[0], phi.dtype.itemsize)
    if isinstance(phi, np.ndarray):
        return _dense(phi)
    columns = phi if isinstance(phi, sparse.csc_array) else sparse.csc_array(phi)
    columns.sort_indices()
    n, p = columns.shape
    per_column = np.diff(columns.indptr).astype(np.float64)
    crowded = PAIR_COST * float(per_column @ per_column) > float(n) * n * p
    if crowded and n * p * columns.dtype.itemsize < DENSE_BYTES:
        return _dense(columns.toarray())
    return _by_columns(columns)


def cross_kernel(phi: Any, other: Any) -> NDArray[Any]:
    """(n, m) inner products between the rows of two Phi with the same columns, e.g. new and fitted objects.

    >>> cross_kernel(np.eye(2), np.array([[0.6, 0.8]]))
    array([[0.6],
           [0.8]])
    """
    for given in (phi, other):
        refuse_others(given, "phi")
    phi, other = as_floats(phi), as_floats(other)
    if phi.shape[1] != other.shape[1]:
        raise InputError(
            f"cross_kernel: {phi.shape[1]} columns against {other.shape[1]}; both must come from one fitted FeatureMap"
        )
    return as_array(phi @ other.T)


def _dense(phi: NDArray[Any]) -> NDArray[Any]:
    """One triangle by BLAS (syrk), half the work of a product."""
    n, p = phi.shape
    if n == 0 or p == 0:
        return np.zeros((n, n), dtype=phi.dtype)
    syrk = blas.ssyrk if phi.dtype == np.float32 else blas.dsyrk
    # Fortran's upper triangle of the p x n transpose is C's lower triangle: no copy of Phi or of K is made
    K: NDArray[Any] = syrk(1.0, np.ascontiguousarray(phi).T, trans=1, lower=0).T
    _mirror(K)
    return K


def _by_columns(columns: Any) -> NDArray[Any]:
    """Sum over columns of the products of all pairs of entries; every thread owns a range of rows of K."""
    n = columns.shape[0]
    K = np.zeros((n, n), dtype=columns.dtype)
    # row r of the lower triangle has r entries, so equal work lies between equal steps of r^2
    count = threads.n_threads() if columns.nnz > 100_000 else 1
    edges = [round(n * (i / count) ** 0.5) for i in range(count + 1)]
    arrays = (columns.indptr, columns.indices, columns.data)
    threads.run(_add_pairs, [(*arrays, a, b, K.reshape(-1), n) for a, b in pairwise(edges)])
    _add_squares(columns.indices, columns.data, K)
    _mirror(K)
    return K


@compiled()
def _add_pairs(indptr: Any, indices: Any, data: Any, first: int, last: int, K: Any, n: int) -> None:
    """K[r, q] += phi[r, c] phi[q, c] over columns c, for q < r and first <= r < last.

    In: csc arrays with ascending row indices. In and out: rows first..last-1 of the lower triangle of K (flat).
    """
    start = indptr[0]
    for c in range(indptr.size - 1):
        stop = indptr[c + 1]
        for x in range(start + 1, stop):
            r = np.int64(indices[x])
            if first <= r < last:
                for y in range(start, x):
                    K[r * n + np.int64(indices[y])] += data[x] * data[y]
        start = stop


@compiled()
def _add_squares(indices: Any, data: Any, K: Any) -> None:
    """K[r, r] += phi[r, c]^2; apart from the pairs, since a chain of adds to one cell stalls them."""
    squares = np.zeros(K.shape[0])
    for x in range(indices.size):
        squares[indices[x]] += np.float64(data[x]) * data[x]
    for r in range(K.shape[0]):
        K[r, r] += squares[r]


def _mirror(K: NDArray[Any]) -> None:
    """Copy the lower triangle onto the upper one, in place, strip by strip."""

    def mirror_strip(start: int) -> None:
        stop = start + STRIP
        K[:start, start:stop] = K[start:stop, :start].T
        corner = K[start:stop, start:stop]
        corner[...] = np.tril(corner) + np.tril(corner, -1).T

    threads.run(mirror_strip, [(start,) for start in range(0, len(K), STRIP)])
