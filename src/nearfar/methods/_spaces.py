"""The fitted objects as kernel k-means sees them: K' = K - s I, by its matrix or by products with Phi.

Both give ``diagonal``, ``columns`` and ``sums``; everything else about clusters follows from those.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nearfar.kernel.factored import Factored, is_sparse
from nearfar.kernel.products import rows_times, sums_by_label

__all__ = ["Kernel", "MatrixSpace", "ProductSpace", "Space", "by_label", "indicator", "times"]

Labels = NDArray[np.int32]
Floats = NDArray[np.float64]
BLOCK_BYTES = 1 << 26


class Kernel(Protocol):
    """Objects that have a kernel K'.

    diagonal : (n,) K'(x, x).
    """

    diagonal: Floats

    def columns(self, objects: NDArray[np.intp]) -> NDArray[Any]:
        """(n, len(objects)) K'(x, y) for all x and the given y."""


class Space(Kernel, Protocol):
    """Objects whose K' can be summed over clusters."""

    def sums(self, labels: Labels, k: int) -> Floats:
        """(n, k) sum of K'(x, y) over the y of every cluster."""

    def move(self, sums: Floats, moved: NDArray[np.intp], old: Labels, new: Labels) -> None:
        """Bring ``sums`` up to date after ``moved`` went from clusters ``old`` to ``new``. In and out: sums."""


class MatrixSpace:
    """K' as an (n, n) matrix."""

    def __init__(self, K: Floats, shift: float) -> None:
        self.K = K
        self.K[np.diag_indices_from(K)] -= shift
        self.diagonal = self.K.diagonal().copy()

    def columns(self, objects: NDArray[np.intp]) -> Floats:
        """Columns of the matrix."""
        return self.K[:, objects]

    def sums(self, labels: Labels, k: int) -> Floats:
        """K' times the indicator of every cluster."""
        result: Floats = self.K @ indicator(labels, k)
        return result

    def move(self, sums: Floats, moved: NDArray[np.intp], old: Labels, new: Labels) -> None:
        """Add and take away the columns of the objects that moved."""
        sums += self.K[:, moved] @ (indicator(new, sums.shape[1]) - indicator(old, sums.shape[1]))


class ProductSpace:
    """K' by products with the rows of Phi, a block of columns at a time: no n x n, no p-long centre."""

    def __init__(self, parts: Factored, shift: float) -> None:
        self.shift = shift
        self.own = parts.own - shift
        self.diagonal = parts.diagonal - shift
        self.rows = parts.shared
        self.blocks = column_blocks(parts.shared)

    def take(self, objects: NDArray[np.intp]) -> ProductSpace:
        """The space of some of the objects, with the same kernel values."""
        own, rows = self.own[objects] + self.shift, self.rows[objects]
        return ProductSpace(Factored(objects, np.arange(rows.shape[1]), rows, own), self.shift)

    def sums_over(self, objects: NDArray[np.intp], labels: Labels, k: int) -> Floats:
        """(n, k) sums of products of every row with those of labelled objects, all rows taken as new ones."""
        result = np.zeros((self.rows.shape[0], k))
        for block in self.blocks:
            result += times(block, by_label(block[objects], labels, k))
        return result

    def columns(self, objects: NDArray[np.intp]) -> Floats:
        """Products with the rows of the given objects."""
        chosen = self.rows[objects]
        values: Any = self.rows @ chosen.T
        result = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
        result[objects, np.arange(len(objects))] += self.own[objects]
        return result

    def sums(self, labels: Labels, k: int) -> Floats:
        """Sum over blocks of columns B of  B (B' indicator)."""
        result = self.sums_over(np.arange(len(labels)), labels, k)
        result[np.arange(len(labels)), labels] += self.own
        return result

    def move(self, sums: Floats, moved: NDArray[np.intp], old: Labels, new: Labels) -> None:
        """As ``sums``, with the rows of those that moved; their own part moves with them."""
        k = sums.shape[1]
        for block in self.blocks:
            rows = block[moved]
            sums += times(block, by_label(rows, new, k) - by_label(rows, old, k))
        sums[moved, old] -= self.own[moved]
        sums[moved, new] += self.own[moved]


def indicator(labels: Labels, k: int) -> Floats:
    """(n, k) 1 where object x is in cluster c.

    >>> indicator(np.array([1, 0], dtype=np.int32), 2)
    array([[0., 1.],
           [1., 0.]])
    """
    members = np.zeros((len(labels), k))
    members[np.arange(len(labels)), labels] = 1.0
    return members


def by_label(rows: Any, labels: Labels, k: int) -> Floats:
    """(p, k) sums of the rows of every cluster, as columns."""
    return sums_by_label(rows, labels, k) if is_sparse(rows) else np.asarray(rows.T @ indicator(labels, k))


def times(rows: Any, vectors: Floats) -> Floats:
    """rows @ vectors; reading those as float32 where the rows are halves what has to come from memory."""
    return rows_times(rows, vectors, dtype=rows.dtype) if is_sparse(rows) else np.asarray(rows @ vectors)


def column_blocks(rows: Any) -> list[Any]:
    """The columns of a dense or csr matrix in blocks, so that no array gets p long."""
    q = rows.shape[1]
    if not is_sparse(rows):
        return [rows]
    width = max(4096, BLOCK_BYTES // 128)
    if q <= width:
        return [rows]
    by_column = rows.tocsc()
    return [by_column[:, start : start + width].tocsr() for start in range(0, q, width)]
