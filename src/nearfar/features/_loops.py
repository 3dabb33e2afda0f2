"""Compiled loops shared by all kernels: counted cells -> rows of Phi.

A cell is (row, column) with two integers: ``net``, how often it was answered + minus how often -, and
``total``, how often it was answered at all. Cells live in a dense grid (n, p, 2), or sorted by
key = column << row_bits | row in three arrays. Both are read column by column within a row, in the same
order, so that dense and sparse Phi are equal to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfar._tools.compiled import compiled

__all__ = [
    "cells_to_csc",
    "count_columns",
    "count_sorted",
    "cut_cells",
    "grid_rows",
    "merge_cells",
    "put_cells",
    "unit_values",
]


@compiled()
def count_sorted(signed_keys: Any, keys: Any, net: Any, total: Any) -> int:
    """Runs of equal keys -> cells; the lowest bit of a signed key is 1 for +, 0 for -.

    In: signed_keys, sorted. Out: keys, net, total, filled from the front. Returns how many cells.
    """
    cells = -1
    last = np.int64(-1)
    for signed in signed_keys:
        key = signed >> 1
        if key != last:
            cells += 1
            keys[cells] = key
            net[cells] = 0
            total[cells] = 0
            last = key
        net[cells] += 2 * (signed & 1) - 1
        total[cells] += 1
    return cells + 1


@compiled()
def merge_cells(
    keys_a: Any,
    net_a: Any,
    total_a: Any,
    keys_b: Any,
    net_b: Any,
    total_b: Any,
    keys: Any,
    net: Any,
    total: Any,
) -> int:
    """Two sorted lists of cells -> one. Out: keys, net, total, filled from the front. Returns how many."""
    a, b, cells = 0, 0, 0
    while a < keys_a.size or b < keys_b.size:
        take_a = b == keys_b.size or (a < keys_a.size and keys_a[a] <= keys_b[b])
        take_b = a == keys_a.size or (b < keys_b.size and keys_b[b] <= keys_a[a])
        keys[cells] = keys_a[a] if take_a else keys_b[b]
        net[cells] = 0
        total[cells] = 0
        if take_a:
            net[cells] += net_a[a]
            total[cells] += total_a[a]
            a += 1
        if take_b:
            net[cells] += net_b[b]
            total[cells] += total_b[b]
            b += 1
        cells += 1
    return cells


@compiled()
def cut_cells(
    keys_in: Any,
    net_in: Any,
    total_in: Any,
    row_bits: int,
    block_rows: int,
    block_bits: Any,
    starts: Any,
    keys: Any,
    net: Any,
    total: Any,
) -> None:
    """Sorted cells -> the same by blocks of ``block_rows`` rows, sorted within each, rows counted from its first.

    In: cells; block_bits (blocks,). Out: starts (blocks + 1,), zeroed before: cells starts[b]..starts[b+1]-1 of
    keys, net, total are those of block b, key = column << block_bits[b] | row.
    """
    mask = (np.int64(1) << row_bits) - 1
    for key in keys_in:
        starts[(key & mask) // block_rows + 1] += 1
    for block in range(starts.size - 1):
        starts[block + 1] += starts[block]
    free = starts[:-1].copy()
    for cell in range(keys_in.size):
        row = keys_in[cell] & mask
        block = row // block_rows
        spot = free[block]
        free[block] += 1
        keys[spot] = ((keys_in[cell] >> row_bits) << block_bits[block]) | (row - block * block_rows)
        net[spot] = net_in[cell]
        total[spot] = total_in[cell]


@compiled()
def put_cells(
    keys: Any, net: Any, total: Any, row_bits: int, first: Any, grid_columns: Any, grid: Any
) -> None:
    """Add sorted cells to a grid. In: the first cell of every column that occurs, its column of the grid. In and out: grid."""
    mask = (np.int64(1) << row_bits) - 1
    for i in range(first.size):
        last = first[i + 1] if i + 1 < first.size else keys.size
        column = grid_columns[i]
        for cell in range(first[i], last):
            row = keys[cell] & mask
            grid[row, column, 0] += net[cell]
            grid[row, column, 1] += total[cell]


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
def count_columns(keys: Any, row_bits: int) -> int:
    """How many columns occur among sorted keys."""
    found = 0
    last = np.int64(-1)
    for key in keys:
        found += (key >> row_bits) != last
        last = key >> row_bits
    return found


@compiled()
def cells_to_csc(
    keys: Any,
    net: Any,
    total: Any,
    by_ratio: bool,
    row_bits: int,
    rows: Any,
    columns: Any,
    starts: Any,
    squares: Any,
) -> None:
    """Sorted cells -> the row of each, the columns that occur, where each begins, squared row lengths.

    Out: rows, columns, starts (one more than columns, the last is the number of cells); squares, zeroed before:
    squares[r] = sum of value^2 over the cells of row r, column by column.
    """
    mask = (np.int64(1) << row_bits) - 1
    found = 0
    last = np.int64(-1)
    for cell in range(keys.size):
        column, row = keys[cell] >> row_bits, keys[cell] & mask
        if column != last:
            columns[found] = column
            starts[found] = cell
            found += 1
            last = column
        rows[cell] = row
        value = np.float64(net[cell]) / total[cell] if by_ratio else np.float64(net[cell])
        squares[row] += value * value
    starts[found] = keys.size


@compiled()
def unit_values(rows: Any, net: Any, total: Any, by_ratio: bool, norms: Any, data: Any) -> None:
    """data[cell] = value / norm of its row. In: norms, not zero where a cell's net is not."""
    for cell in range(rows.size):
        if net[cell] == 0:
            data[cell] = 0.0
        else:
            value = np.float64(net[cell]) / total[cell] if by_ratio else np.float64(net[cell])
            data[cell] = value / norms[rows[cell]]
