"""Counts -> rows of Phi: value of each cell, unit length, dense or csr."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from nearfar import _threads
from nearfar.features import _loops
from nearfar.features.counts import Counts
from nearfar.features.part import Codes

__all__ = ["Phi", "Rows", "rows_from_counts"]

Phi = NDArray[np.floating[Any]] | sparse.csr_array
"""n x p features: an ndarray, or a csr_array where most entries are zero."""

INDEX_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Rows:
    """Unit rows of one kernel part, and what they stand on.

    ``rows_per_column`` counts the objects that were answered about in each column; ``outside`` the answers on
    columns that are not among the given ones.
    """

    phi: Phi
    codes: Codes
    rows_per_column: NDArray[np.int64]
    outside: int


def rows_from_counts(counts: Counts, codes: Codes | None, keep_all: bool, dtype: DTypeLike) -> Rows:
    """Rows over the given columns, or over those that occur (all of them with ``keep_all``)."""
    if counts.grid is not None:
        return _from_grid(counts, codes, keep_all, np.dtype(dtype))
    return _from_cells(counts, codes, keep_all, np.dtype(dtype))


def _positions(occurring: Codes, wanted: Codes) -> NDArray[np.int64]:
    """Where each occurring column stands among the wanted ones, -1 for nowhere."""
    if len(wanted) == 0:
        return np.full(len(occurring), -1, dtype=np.int64)
    spot = np.minimum(np.searchsorted(wanted, occurring), len(wanted) - 1)
    return np.where(wanted[spot] == occurring, spot, -1)


def _from_grid(counts: Counts, codes: Codes | None, keep_all: bool, dtype: np.dtype[Any]) -> Rows:
    grid = counts.grid
    assert grid is not None
    blocks = _threads.blocks(grid.shape[0], _threads.n_threads() if grid.size > 100_000 else 1)
    partial = [np.zeros(grid.shape[1], np.int64) for _ in blocks]
    _threads.run(
        _loops.grid_columns, [(grid, a, b, part) for (a, b), part in zip(blocks, partial, strict=True)]
    )
    per_column = np.zeros(grid.shape[1], np.int64)
    for part in partial:
        per_column += part
    occurring = counts.part.all_codes(counts.n_places)
    if codes is None:
        codes = occurring if keep_all else occurring[per_column > 0]
    position = _positions(occurring, codes)
    phi = np.zeros((grid.shape[0], len(codes)), dtype=dtype)
    by_ratio = counts.part.by_ratio
    _threads.run(_loops.grid_rows, [(grid, by_ratio, position, a, b, phi) for a, b in blocks])
    outside = int(grid[:, position < 0, 1].sum()) if (position < 0).any() else 0
    kept = np.zeros(len(codes), np.int64)
    kept[position[position >= 0]] = per_column[position >= 0]
    return Rows(phi, codes, kept, outside)


def _from_cells(counts: Counts, codes: Codes | None, keep_all: bool, dtype: np.dtype[Any]) -> Rows:
    cells, part = counts.cells(), counts.part
    size = len(cells.keys)
    rows, columns = np.empty(size, np.int32), np.empty(size, np.int32)
    distinct, per_column = np.empty(size, np.int64), np.empty(size, np.int64)
    found = _loops.cell_columns(cells.keys, counts.row_bits, rows, columns, distinct, per_column)
    occurring = part.codes_of_keys(distinct[:found], counts.place_bits)
    if codes is None:
        codes = part.all_codes(counts.n_places) if keep_all else occurring
    position = _positions(occurring, codes)
    squares, lengths = np.zeros(counts.n_rows), np.zeros(counts.n_rows, np.int64)
    counted = (rows, columns, cells.net, cells.total, part.by_ratio, position)
    outside = _loops.row_squares(*counted, squares, lengths)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    index = np.int32 if max(indptr[-1], len(codes)) <= INDEX_LIMIT else np.int64
    indices, data = np.empty(indptr[-1], index), np.empty(indptr[-1], dtype)
    _loops.sparse_rows(*counted, np.sqrt(squares), indptr[:-1].copy(), indices, data)
    phi = sparse.csr_array((data, indices, indptr.astype(index)), shape=(counts.n_rows, len(codes)))
    kept = np.zeros(len(codes), np.int64)
    kept[position[position >= 0]] = per_column[:found][position >= 0]
    return Rows(phi, codes, kept, int(outside))
