"""What rows (points, or features of a kernel) say about a question: which of two objects is nearer, and by how much.

The margin of (anchor a, one i, other j) is ``||x_a - x_j||^2 - ||x_a - x_i||^2``: positive where i is nearer, 0 for
a tie. Only the pairs that are asked about are computed, unless all n x n are cheaper.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Indices
from nearfar._tools.compiled import compiled
from nearfar._tools.distances import squared_distances
from nearfar._tools.threads import blocks, run
from nearfar.kernel.phi import as_rows, is_sparse, row_squares
from nearfar.kernel.ties import tie_tolerance

__all__ = ["phi_margins", "point_margins", "without_rounding"]

MarginStrategy = Literal["auto", "matrix", "products"]
MOST_IN_MATRIX = 5000  # objects up to which an n x n matrix is small (200 MB)


def point_margins(points: NDArray[Any], anchor: Indices, one: Indices, other: Indices) -> NDArray[np.float64]:
    """(m,) margins from (n, d) coordinates.

    >>> point_margins(np.array([[0.0], [1.0], [3.0]]), np.array([0, 1]), np.array([1, 2]), np.array([2, 0]))
    array([ 8., -3.])
    """
    points = np.ascontiguousarray(points)
    to_one, to_other = squared_distances(points, anchor, one), squared_distances(points, anchor, other)
    return without_rounding(to_other - to_one, np.maximum(to_one, to_other), points.dtype)


def phi_margins(
    phi: Any, anchor: Indices, one: Indices, other: Indices, *, strategy: MarginStrategy = "auto"
) -> NDArray[np.float64]:
    """(m,) margins from the rows of Phi, ndarray or csr_array; a zero row knows nothing, so that is a tie.

    ``strategy`` : "matrix" for the inner products of all pairs, "products" for those that are asked for only, or
    "auto" for what is cheaper.

    >>> phi = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.0, 0.0]])
    >>> phi_margins(phi, np.array([0, 2]), np.array([1, 3]), np.array([2, 0])).round(2)
    array([1.2, 0. ])
    """
    phi = as_rows(phi)
    length = row_squares(phi)
    to_one, to_other = _dots(phi, anchor, one, other, strategy)
    margin = (length[other] - 2 * to_other) - (length[one] - 2 * to_one)
    margin[(length[anchor] == 0) | (length[one] == 0) | (length[other] == 0)] = 0
    size = length[one] + length[other] + 2 * np.abs(to_one) + 2 * np.abs(to_other)
    return without_rounding(margin, size, phi.dtype)


def without_rounding(
    margin: NDArray[np.float64], size: NDArray[np.float64], dtype: Any
) -> NDArray[np.float64]:
    """The one rule for ties: a margin that may be rounding error of sums of this ``size`` is 0. In and out: margin."""
    margin[np.abs(margin) <= tie_tolerance(dtype) * size] = 0
    return margin


def _dots(
    phi: Any, anchor: Indices, one: Indices, other: Indices, strategy: MarginStrategy
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Inner products of row anchor[t] with rows one[t] and other[t]."""
    n = phi.shape[0]
    # a product inside a matrix product costs about a twentieth of one alone
    cheap = n <= MOST_IN_MATRIX and n * n < 20 * len(anchor)
    if strategy == "matrix" or (strategy == "auto" and cheap):
        from nearfar.kernel import gram

        K = gram(phi)
        return K[anchor, one].astype(np.float64), K[anchor, other].astype(np.float64)
    return _row_dots(phi, anchor, one), _row_dots(phi, anchor, other)


def _row_dots(phi: Any, i: Indices, j: Indices) -> NDArray[np.float64]:
    """(m,) inner products of rows i[t] and j[t]."""
    out = np.empty(len(i))
    cuts = blocks(len(i), 8)
    if is_sparse(phi):  # as_rows left its indices ascending
        rows = (phi.indptr, phi.indices, phi.data)
        run(_sparse_dots, [(*rows, i[a:b], j[a:b], out[a:b]) for a, b in cuts])
    else:
        run(_dense_dots, [(phi, i[a:b], j[a:b], out[a:b]) for a, b in cuts])
    return out


@compiled(fastmath={"reassoc"})
def _dense_dots(phi: Any, i: Any, j: Any, out: Any) -> None:
    """out[t] = sum_c phi[i[t], c] phi[j[t], c]. In: phi (n, p), i, j (m,). Out: out (m,)."""
    for t in range(i.size):
        total = 0.0
        for c in range(phi.shape[1]):
            total += np.float64(phi[i[t], c]) * phi[j[t], c]
        out[t] = total


@compiled()
def _sparse_dots(indptr: Any, indices: Any, data: Any, i: Any, j: Any, out: Any) -> None:
    """The same for csr arrays with ascending indices, by merging the two rows."""
    for t in range(i.size):
        x, x_end = indptr[i[t]], indptr[i[t] + 1]
        y, y_end = indptr[j[t]], indptr[j[t] + 1]
        total = 0.0
        while x < x_end and y < y_end:
            if indices[x] < indices[y]:
                x += 1
            elif indices[x] > indices[y]:
                y += 1
            else:
                total += np.float64(data[x]) * data[y]
                x += 1
                y += 1
        out[t] = total
