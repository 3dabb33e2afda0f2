"""Counts -> rows of Phi: value of each cell, unit length, dense or csr; the parts of a kernel side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from nearfar._tools import threads
from nearfar._tools.compiled import compiled
from nearfar._tools.memory import check_bytes
from nearfar.features.counts import Counts
from nearfar.features.part import ColumnCodes

INDEX_LIMIT = 2**31 - 1

Phi = NDArray[np.floating[Any]] | sparse.csr_array
"""n x p features: an ndarray, or a csr_array where most entries are zero."""

Block = NDArray[Any] | Any
"""Rows of one part: an ndarray, or a csc_array (which the stubs cannot index, hence Any)."""


@dataclass(frozen=True)
class FeatureRows:
    """Unit rows of one kernel part, and what they stand on.

    ``phi`` is an ndarray, or a csc_array as counting leaves it: column by column, zeros stored where answers
    cancel out. ``rows_per_column`` counts the objects that were answered about in each column; ``informed``
    says which rows are not zero; ``outside`` counts the answers on columns that are not among the given ones.
    """

    phi: Block
    codes: ColumnCodes
    rows_per_column: NDArray[Any]
    informed: NDArray[np.bool_]
    outside: int


def rows_from_counts(
    counts: Counts, codes: ColumnCodes | None, keep_all: bool, dtype: DTypeLike
) -> FeatureRows:
    """Rows over the given columns, or over those that occur (all of them with ``keep_all``)."""
    make = _from_cells if counts.grid is None else _from_grid
    rows = make(counts, codes, keep_all, np.dtype(dtype))
    return rows if counts.part.of_pairs else replace(rows, phi=_with_self(rows, counts.mark))


def _with_self(rows: FeatureRows, mark: NDArray[Any]) -> Block:
    """An object is nearest to itself: its own column gets as much as the rest of its row, which keeps length 1."""
    phi = rows.phi
    mine = np.flatnonzero(rows.informed & (mark >= 0))
    scale = np.ones(phi.shape[0], dtype=phi.dtype)
    scale[mine] = np.sqrt(0.5)
    if isinstance(phi, np.ndarray):
        phi[mine, mark[mine]] = 1
        phi *= scale[:, None]
        return phi
    kind = phi.indices.dtype  # scikit-learn takes 32 bits only
    itself = (np.ones(len(mine), phi.dtype), (mine.astype(kind), mark[mine].astype(kind)))
    joined = sparse.csc_array(phi + sparse.csc_array(itself, shape=phi.shape))
    joined.data *= scale[joined.indices]
    return joined


def _from_grid(
    counts: Counts, codes: ColumnCodes | None, keep_all: bool, dtype: np.dtype[Any]
) -> FeatureRows:
    grid = counts.grid
    assert grid is not None
    phi = np.empty(grid.shape[:2], dtype=dtype)
    blocks = threads.blocks(grid.shape[0], threads.n_threads() if grid.size > 100_000 else 1)
    tallies = [np.zeros(grid.shape[1], np.int64) for _ in blocks]
    by_ratio = counts.part.of_pairs
    jobs = [(grid, by_ratio, a, b, phi, tally) for (a, b), tally in zip(blocks, tallies, strict=True)]
    threads.run(grid_rows, jobs)
    per_column = np.sum([np.zeros(grid.shape[1], np.int64), *tallies], axis=0)
    occurring, outside = counts.part.all_codes(counts.n_marks), 0
    if codes is None:
        wanted = np.arange(len(occurring)) if keep_all else np.flatnonzero(per_column)
        codes = occurring[wanted]
    else:
        wanted = np.searchsorted(occurring, codes)
        outside = int(grid[:, :, 1].sum() - grid[:, wanted, 1].sum())
    if len(wanted) < len(occurring):
        phi, per_column = phi[:, wanted], per_column[wanted]
    return FeatureRows(phi, codes, per_column, informed_rows(phi), outside)


def _from_cells(
    counts: Counts, codes: ColumnCodes | None, keep_all: bool, dtype: np.dtype[Any]
) -> FeatureRows:
    cells, part, size = counts.cells(), counts.part, len(counts.cells().keys)
    index = np.int32 if size <= INDEX_LIMIT else np.int64
    rows: NDArray[Any] = np.empty(size, index)
    starts: NDArray[Any] = np.empty(size + 1, index)
    columns, values, squares = np.empty(size, np.int64), np.empty(size), np.zeros(counts.n_rows)
    n = cells_to_csc(tuple(cells), part.of_pairs, counts.row_bits, rows, columns, starts, values, squares)
    starts = np.append(starts[:n], size).astype(index)
    values /= np.sqrt(np.where(squares > 0, squares, 1.0))[rows]
    occurring = part.codes(columns[:n], counts.n_marks)
    per_column = np.diff(starts)
    phi = sparse.csc_array((values.astype(dtype, copy=False), rows, starts), shape=(counts.n_rows, n))
    phi.has_sorted_indices = phi.has_canonical_format = True
    if codes is None and not keep_all:
        return FeatureRows(phi, occurring, per_column, squares > 0, 0)
    codes = part.all_codes(counts.n_marks) if codes is None else codes
    position = np.searchsorted(
        codes, occurring
    )  # of each column that occurs among those wanted, -1 for nowhere
    position[np.append(codes, -1)[position] != occurring] = -1
    known = position >= 0
    kept = np.zeros(len(codes), np.int64)
    kept[position[known]] = per_column[known]
    outside = int(cells.total[~np.repeat(known, per_column)].sum())
    result = _spread(phi, position, len(codes))
    return FeatureRows(result, codes, kept, informed_rows(result), outside)


def _spread(phi: Any, position: NDArray[np.int64], width: int) -> sparse.csc_array:
    """The columns of ``phi`` at their (ascending) positions among ``width``; those at -1 are left out."""
    known = position >= 0
    if not known.all():
        phi, position = phi[:, known], position[known]
    lengths: NDArray[Any] = np.zeros(width + 1, phi.indptr.dtype)
    lengths[position + 1] = np.diff(phi.indptr)
    starts = np.cumsum(lengths, dtype=lengths.dtype)
    return sparse.csc_array((phi.data, phi.indices, starts), (phi.shape[0], width))


def shared_columns(rows_per_column: NDArray[Any], n_informed: int) -> float:
    """Columns that two informed objects share on average, from how many rows each column has."""
    if n_informed < 2:
        return 0.0
    n_c = rows_per_column.astype(np.float64)
    return float(n_c @ n_c - n_c.sum()) / (n_informed * (n_informed - 1))


# -------------------------------------------------------------------- parts side by side


def stack(blocks: Sequence[Block], layout: str, dtype: DTypeLike) -> Phi:
    """Blocks in order, every row again of unit length, as "dense" or "sparse" or as they come ("auto")."""
    if len(blocks) > 1:
        # a block's row has length one or zero, so the stacked row has the root of how many are informed
        informed = np.sum([informed_rows(block) for block in blocks], axis=0)
        scale = (1 / np.sqrt(np.maximum(informed, 1))).astype(dtype)
        blocks = [_scale_rows(block, scale) for block in blocks]
    are_dense = all(isinstance(block, np.ndarray) for block in blocks)
    if layout == "dense" or (layout == "auto" and are_dense):
        if not are_dense:
            n, p = blocks[0].shape[0], sum(block.shape[1] for block in blocks)
            remedy = "use layout='sparse', or landmarks"
            check_bytes(n * p * np.dtype(dtype).itemsize, f"a dense Phi of {n:,} x {p:,} needs", remedy)
        arrays = [block if isinstance(block, np.ndarray) else block.toarray() for block in blocks]
        return arrays[0] if len(arrays) == 1 else np.hstack(arrays)
    parts = [sparse.csr_array(block) for block in blocks]
    rows = parts[0] if len(parts) == 1 else sparse.csr_array(sparse.hstack(parts, format="csr"))
    rows.eliminate_zeros()
    return rows


def informed_rows(block: Block) -> NDArray[np.bool_]:
    """(n,) whether each row has anything but zeros."""
    if isinstance(block, np.ndarray):
        return np.asarray(block.any(axis=1))
    informed = np.zeros(block.shape[0], dtype=np.bool_)
    informed[block.indices[block.data != 0]] = True
    return informed


def _scale_rows(block: Block, scale: NDArray[Any]) -> Block:
    if isinstance(block, np.ndarray):
        scaled: NDArray[Any] = block * scale[:, None]
        return scaled
    data = block.data * scale[block.indices]
    return sparse.csc_array((data, block.indices, block.indptr), shape=block.shape)


# -------------------------------------------------------------------- loops


@compiled()
def grid_rows(grid: Any, by_ratio: bool, first: int, last: int, phi: Any, rows_per_column: Any) -> None:
    """phi[row, c] = value of the cell / norm of the row, value = net / total or net.

    In: grid (n, p, 2). Out: rows first..last-1 of phi. In and out: rows_per_column, the answered cells of each.
    """
    width = grid.shape[1]
    values = np.empty(width)  # in float64, so that a float32 Phi is rounded once
    for row in range(first, last):
        for column in range(width):
            total = grid[row, column, 1]
            rows_per_column[column] += total > 0
            values[column] = np.float64(grid[row, column, 0]) / (max(total, 1) if by_ratio else 1)
        squares = 0.0
        for column in range(width):
            squares += values[column] * values[column]
        norm = np.sqrt(squares) if squares > 0.0 else 1.0
        for column in range(width):
            phi[row, column] = values[column] / norm


@compiled()
def cells_to_csc(
    cells: Any, by_ratio: bool, row_bits: int, rows: Any, columns: Any, starts: Any, values: Any, squares: Any
) -> int:
    """Sorted cells -> the row and value of each, the columns that occur, where each begins; returns how many occur.

    Out: rows, values; columns, starts, filled from the front; squares, zeroed before: sum of value^2 over the cells of
    every row, column by column.
    """
    keys, net, total = cells
    mask = (np.int64(1) << row_bits) - 1
    occurring = 0
    last = np.int64(-1)
    for cell in range(keys.size):
        column, row = keys[cell] >> row_bits, keys[cell] & mask
        if column != last:
            columns[occurring] = column
            starts[occurring] = cell
            occurring += 1
            last = column
        rows[cell] = row
        values[cell] = np.float64(net[cell]) / total[cell] if by_ratio else np.float64(net[cell])
        squares[row] += values[cell] * values[cell]
    return occurring
