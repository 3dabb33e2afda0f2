"""The informed objects as kernel k-means sees them: K' = K - s I, by its matrix or by products with Phi.

Both give ``diagonal``, ``columns`` and ``sums``; everything else about clusters follows from those.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats, Labels
from nearfar.blocks import join
from nearfar.kernel.factored import Factored, as_split
from nearfar.kernel.phi import is_sparse
from nearfar.kernel.products import rows_times, sums_by_label

__all__ = ["Gram", "MatrixGram", "ProductGram", "SummableGram", "by_label", "indicator", "times"]

CUT_COLUMNS = 1 << 19  # so many columns at a time, so that no array gets p times k long


class Gram(Protocol):
    """Objects that have a kernel K'.

    diagonal : (n,) K'(x, x).
    """

    @property
    def diagonal(self) -> Floats:
        """(n,) K'(x, x)."""

    def columns(self, objects: NDArray[np.intp]) -> NDArray[Any]:
        """(n, len(objects)) K'(x, y) for all x and the given y."""


class SummableGram(Gram, Protocol):
    """Objects whose K' can be summed over clusters."""

    def sums(self, labels: Labels, k: int) -> Floats:
        """(n, k) sum of K'(x, y) over the y of every cluster."""

    def move(self, sums: Floats, moved: NDArray[np.intp], old: Labels, new: Labels) -> None:
        """Bring ``sums`` up to date after ``moved`` went from clusters ``old`` to ``new``. In and out: sums."""


class MatrixGram:
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


class ProductGram:
    """K' by products with the rows of Phi, some columns at a time: no n x n, no p-long centre."""

    def __init__(self, factored: Factored, shift: float, *, cut_columns: int = CUT_COLUMNS) -> None:
        self.factored, self.shift = factored, shift
        self.own = factored.own - shift
        self.diagonal = factored.diagonal - shift
        self._backend = factored.shared.backend
        self._cuts = [factored.shared.blocks]
        if factored.is_sparse and factored.width > cut_columns:
            cuts = self._backend.store("columns", _column_cuts, factored.shared.blocks, width=cut_columns)
            count = -(-factored.width // cut_columns)
            self._cuts = [self._backend.store("columns", _nth, cuts, [i] * len(cuts)) for i in range(count)]

    def take(self, objects: NDArray[np.intp]) -> ProductGram:
        """The same of some of the objects, with the same kernel values, in this process."""
        rows = self.factored.take(objects)
        return ProductGram(Factored.of(rows, self.own[objects] + self.shift), self.shift)

    def columns(self, objects: NDArray[np.intp]) -> Floats:
        """Products with the rows of the given objects."""
        chosen = self.factored.take(objects)
        found = join(self.factored.shared.gather("columns", _columns, chosen=chosen))
        result = np.asarray(found, dtype=np.float64)
        result[objects, np.arange(len(objects))] += self.own[objects]
        return result

    def sums(self, labels: Labels, k: int) -> Floats:
        """Sum over cuts B of the columns of  B (B' indicator)."""
        result = self._products(_by_label, self.factored.shared.cut(labels), k=k)
        result[np.arange(len(labels)), labels] += self.own
        return result

    def sums_over(self, sample: ProductGram, labels: Labels, k: int) -> Floats:
        """(n, k) sums of products of every row with those of labelled objects of a sample, taken as other objects."""
        rows = sample.factored.take(np.arange(len(labels)))
        sums = by_label(rows, labels, k)
        found: Floats = join(self.factored.shared.gather("products", _times, sums=sums))
        return found

    def move(self, sums: Floats, moved: NDArray[np.intp], old: Labels, new: Labels) -> None:
        """As ``sums``, with the rows of those that moved; what is their own moves with them."""
        edges = [*self.factored.shared.starts, self.factored.size]
        at = np.searchsorted(moved, edges).tolist()
        pieces = [
            [values[a:b] - first for a, b, first in zip(at, at[1:], firsts, strict=False)]
            for values, firsts in ((moved, edges), (old, [0] * len(edges)), (new, [0] * len(edges)))
        ]
        sums += self._products(_moved, *pieces, k=sums.shape[1])
        sums[moved, old] -= self.own[moved]
        sums[moved, new] += self.own[moved]

    def _products(self, sums_of: Any, *columns: Any, k: int) -> Floats:
        """(n, k) every row times the sums over clusters that blocks make together, added over cuts of the columns."""
        result: Any = 0.0
        for blocks in self._cuts:
            sums = self._backend.total("sums", sums_of, blocks, *columns, k=k)
            found = self._backend.map("products", _times, blocks, sums=sums)
            result = result + join(self._backend.gather("products", found))
        return np.asarray(result)


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


# -------------------------------------------------------------------- one block


def _by_label(block: Any, labels: Labels, k: int) -> Floats:
    return by_label(as_split(block).shared, labels, k)


def _moved(block: Any, chosen: NDArray[np.intp], old: Labels, new: Labels, k: int) -> Floats:
    rows = as_split(block).shared[chosen]
    return by_label(rows, new, k) - by_label(rows, old, k)


def _times(block: Any, sums: Floats) -> Floats:
    return times(as_split(block).shared, sums)


def _columns(block: Any, chosen: Any) -> NDArray[Any]:
    values: Any = as_split(block).shared @ chosen.T
    return np.asarray(values.toarray() if is_sparse(values) else values)


def _column_cuts(block: Any, width: int) -> list[Any]:
    by_column = as_split(block).shared.tocsc()
    return [by_column[:, start : start + width].tocsr() for start in range(0, by_column.shape[1], width)]


def _nth(cuts: list[Any], number: int) -> Any:
    return cuts[number]
