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

__all__ = ["cells_to_csc", "count_sorted", "grid_rows", "merge_cells"]


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
