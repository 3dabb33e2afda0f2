"""Sums and products over blocks of rows, each block taken to float64 alone: float32 stays float32 outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.kernel.factored import is_sparse
from nearfar.kernel.products import rows_times, transposed_times

__all__ = ["add_scatter", "column_sums", "into_columns", "onto_columns", "row_blocks"]

Floats = NDArray[np.float64]
BLOCK_ROWS = 8192


def row_blocks(rows: Any) -> Iterator[tuple[slice, Any]]:
    """(where, block) for consecutive blocks of rows of a dense or csr matrix."""
    for start in range(0, rows.shape[0], BLOCK_ROWS):
        where = slice(start, min(start + BLOCK_ROWS, rows.shape[0]))
        yield where, rows[where]


def column_sums(rows: Any) -> Floats:
    """(p,) sum of all rows."""
    total = np.zeros(rows.shape[1])
    for _, block in row_blocks(rows):
        total += np.asarray(block.sum(axis=0, dtype=np.float64)).ravel()
    return total


def onto_columns(rows: Any, axes: Floats) -> Floats:
    """(n, d) rows @ axes."""
    if is_sparse(rows):
        return rows_times(rows, axes)
    result = np.empty((rows.shape[0], axes.shape[1]))
    for where, block in row_blocks(rows):
        result[where] = block @ axes
    return result


def into_columns(rows: Any, vectors: Floats) -> Floats:
    """(p, d) rows' @ vectors."""
    if is_sparse(rows):
        return transposed_times(rows, vectors)
    result = np.zeros((rows.shape[1], vectors.shape[1]))
    for where, block in row_blocks(rows):
        result += block.T @ vectors[where]
    return result


def add_scatter(block: Any, mean: Floats, scatter: Floats) -> None:
    """scatter += (block - mean)' (block - mean), multiplied in the precision of the block.

    In: (b, p) rows, (p,) mean. In and out: scatter (p, p).
    """
    if is_sparse(block):  # centring would fill it: take the mean off the result instead
        sums = np.asarray(block.sum(axis=0, dtype=np.float64)).ravel()
        scatter += (block.T @ block).toarray()
        scatter -= np.outer(sums, mean) + np.outer(mean, sums) - block.shape[0] * np.outer(mean, mean)
    else:
        centred = block - mean.astype(block.dtype)
        scatter += centred.T @ centred
