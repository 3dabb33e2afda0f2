"""Compiled loops shared by all kernels: counted cells -> rows of Phi.

A cell is (row, column) with two integers: ``net``, how often it was answered + minus how often -, and
``total``, how often it was answered at all. Cells live in a dense grid (n, p, 2), or sorted by
key = column << row_bits | row in three arrays. Both are read column by column within a row, in the same
order, so that dense and sparse Phi are equal to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = [
    "cell_columns",
    "count_sorted",
    "grid_columns",
    "grid_rows",
    "merge_cells",
    "row_squares",
    "sparse_rows",
]


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def grid_columns(grid: Any, first: int, last: int, rows_per_column: Any) -> None:
    """rows_per_column[c] += rows of first..last-1 that were answered about in column c."""
    for row in range(first, last):
        for column in range(grid.shape[1]):
            rows_per_column[column] += grid[row, column, 1] > 0


@njit(cache=True, nogil=True)
def grid_rows(grid: Any, by_ratio: bool, position: Any, first: int, last: int, phi: Any) -> None:
    """phi[row, position[c]] = value(cell) / norm of the row, value = net / total or net.

    In: grid, position (-1: not a column of the result, counts in the norm only). Out: rows first..last-1 of phi, zeroed before.
    """
    for row in range(first, last):
        squares = 0.0
        for column in range(grid.shape[1]):
            net = np.float64(grid[row, column, 0])
            if net != 0.0:
                value = net / grid[row, column, 1] if by_ratio else net
                squares += value * value
        if squares == 0.0:
            continue
        norm = np.sqrt(squares)
        for column in range(grid.shape[1]):
            net = np.float64(grid[row, column, 0])
            if net != 0.0:
                value = net / grid[row, column, 1] if by_ratio else net
                if position[column] >= 0:
                    phi[row, position[column]] = value / norm


@njit(cache=True, nogil=True)
def cell_columns(
    keys: Any, row_bits: int, rows: Any, columns: Any, distinct: Any, rows_per_column: Any
) -> int:
    """Take sorted keys apart and number the columns that occur.

    Out: rows, columns per cell; distinct key columns and rows_per_column, filled from the front.
    Returns how many columns occur.
    """
    mask = (np.int64(1) << row_bits) - 1
    found = -1
    last = np.int64(-1)
    for cell in range(keys.size):
        column = keys[cell] >> row_bits
        if column != last:
            found += 1
            distinct[found] = column
            rows_per_column[found] = 0
            last = column
        rows[cell] = keys[cell] & mask
        columns[cell] = found
        rows_per_column[found] += 1
    return found + 1


@njit(cache=True, nogil=True)
def row_squares(
    rows: Any, columns: Any, net: Any, total: Any, by_ratio: bool, position: Any, squares: Any, lengths: Any
) -> int:
    """squares[r] = sum of value^2 over the cells of row r; lengths[r] = its non-zeros in the result.

    In: position of each column in the result (-1: not in it). Out: squares, lengths, both zeroed before.
    Returns the answers that fell outside the result.
    """
    outside = 0
    for cell in range(rows.size):
        value = np.float64(net[cell]) / total[cell] if by_ratio else np.float64(net[cell])
        squares[rows[cell]] += value * value
        if position[columns[cell]] < 0:
            outside += total[cell]
        elif net[cell] != 0:
            lengths[rows[cell]] += 1
    return outside


@njit(cache=True, nogil=True)
def sparse_rows(
    rows: Any,
    columns: Any,
    net: Any,
    total: Any,
    by_ratio: bool,
    position: Any,
    norms: Any,
    slots: Any,
    indices: Any,
    data: Any,
) -> None:
    """Cells in column order -> csr rows of unit length.

    In: cells, norms per row. In and out: slots, where the next entry of each row goes. Out: indices, data.
    """
    for cell in range(rows.size):
        target = position[columns[cell]]
        if net[cell] != 0 and target >= 0:
            row = rows[cell]
            value = np.float64(net[cell]) / total[cell] if by_ratio else np.float64(net[cell])
            indices[slots[row]] = target
            data[slots[row]] = value / norms[row]
            slots[row] += 1
