"""Products of a csr matrix with vectors on all cores, in float64 whatever the matrix holds.

SciPy's run on one core and copy a float32 matrix to float64 every time. Work is cut into a fixed number of
blocks of rows, so results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools import threads
from nearfar._tools.arrays import Floats
from nearfar._tools.compiled import compiled

__all__ = ["rows_times", "sums_by_label", "transposed_times"]

BLOCKS = 8
PARTIAL_BYTES = 1 << 28  # what the partial results of all blocks may take together
SERIAL_UP_TO = 200_000  # stored entries; threads do not pay for fewer


def rows_times(
    matrix: Any, vectors: Floats, *, dtype: Any = np.float64, serial_up_to: int = SERIAL_UP_TO
) -> Floats:
    """(n, d) matrix @ vectors; d may be missing. Float32 as ``dtype`` reads the vectors, not the sums, in that.

    A matrix of at most ``serial_up_to`` stored entries is one block, here and below.

    >>> from scipy import sparse
    >>> rows_times(sparse.csr_array([[1.0, 2.0]]), np.array([3.0, 4.0]))
    array([11.])
    """
    columns = _as_columns(vectors, dtype)
    result = np.zeros((matrix.shape[0], columns.shape[1]))
    blocks = threads.blocks(matrix.shape[0], BLOCKS if matrix.nnz > serial_up_to else 1)
    arrays = (matrix.indptr, matrix.indices, matrix.data)
    threads.run(_rows_times, [(*arrays, columns, first, last, result) for first, last in blocks])
    return result.reshape(matrix.shape[0], *vectors.shape[1:])


def transposed_times(matrix: Any, vectors: Floats, *, serial_up_to: int = SERIAL_UP_TO) -> Floats:
    """(p, d) matrix' @ vectors; d may be missing.

    >>> from scipy import sparse
    >>> transposed_times(sparse.csr_array([[1.0, 2.0], [0.0, 1.0]]), np.array([3.0, 4.0]))
    array([ 3., 10.])
    """
    rows = _as_columns(vectors, np.float64)
    width = rows.shape[1]
    result = _by_blocks(_add_transposed, matrix, (rows,), width, serial_up_to)
    return result.reshape(matrix.shape[1], *vectors.shape[1:])


def sums_by_label(
    matrix: Any, labels: NDArray[np.int32], k: int, *, serial_up_to: int = SERIAL_UP_TO
) -> Floats:
    """(p, k) sums of the rows with each label, as columns; rows with label -1 are left out.

    >>> from scipy import sparse
    >>> sums_by_label(sparse.csr_array([[1.0, 2.0], [0.0, 1.0]]), np.array([1, 1], dtype=np.int32), 2)
    array([[0., 1.],
           [0., 3.]])
    """
    return _by_blocks(_add_by_label, matrix, (labels,), k, serial_up_to)


def _as_columns(vectors: Floats, dtype: Any) -> NDArray[Any]:
    columns = np.ascontiguousarray(vectors, dtype=dtype)
    return columns[:, None] if columns.ndim == 1 else columns


def _by_blocks(loop: Any, matrix: Any, inputs: tuple[Any, ...], width: int, serial_up_to: int) -> Floats:
    """Every block of rows adds to a (p, width) array of its own; these are added in order."""
    size = 8 * matrix.shape[1] * max(width, 1)
    most = max(1, min(BLOCKS, PARTIAL_BYTES // max(size, 1)))
    blocks = threads.blocks(matrix.shape[0], most if matrix.nnz > serial_up_to else 1) or [(0, 0)]
    partial = np.zeros((len(blocks), matrix.shape[1], width))
    arrays = (matrix.indptr, matrix.indices, matrix.data)
    jobs = [(*arrays, *inputs, first, last, own) for (first, last), own in zip(blocks, partial, strict=True)]
    threads.run(loop, jobs)
    total: Floats = partial[0]
    for own in partial[1:]:
        total += own
    return total


@compiled()
def _rows_times(
    indptr: Any, indices: Any, data: Any, vectors: Any, first: int, last: int, result: Any
) -> None:
    """result[r, :] = sum over stored (r, c) of data vectors[c, :], for rows first..last-1. Out: result."""
    width = vectors.shape[1]
    if width == 1:
        for r in range(first, last):
            total = 0.0
            for e in range(indptr[r], indptr[r + 1]):
                total += data[e] * vectors[indices[e], 0]
            result[r, 0] = total
        return
    for r in range(first, last):
        for e in range(indptr[r], indptr[r + 1]):
            c, value = indices[e], data[e]
            for d in range(width):
                result[r, d] += value * vectors[c, d]


@compiled()
def _add_transposed(
    indptr: Any, indices: Any, data: Any, vectors: Any, first: int, last: int, result: Any
) -> None:
    """result[c, :] += data vectors[r, :] over stored (r, c) of rows first..last-1. In and out: result."""
    width = vectors.shape[1]
    if width == 1:
        for r in range(first, last):
            value = vectors[r, 0]
            for e in range(indptr[r], indptr[r + 1]):
                result[indices[e], 0] += data[e] * value
        return
    for r in range(first, last):
        for e in range(indptr[r], indptr[r + 1]):
            c, value = indices[e], data[e]
            for d in range(width):
                result[c, d] += value * vectors[r, d]


@compiled()
def _add_by_label(
    indptr: Any, indices: Any, data: Any, labels: Any, first: int, last: int, result: Any
) -> None:
    """result[c, labels[r]] += data over stored (r, c) of rows first..last-1. In and out: result."""
    for r in range(first, last):
        label = labels[r]
        if label >= 0:
            for e in range(indptr[r], indptr[r + 1]):
                result[indices[e], label] += data[e]
