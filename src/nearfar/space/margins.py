"""Rows of a space (points, or features of a kernel): the nearest of them, and their margins.

The margin of (anchor a, one i, other j) is ``||x_a - x_j||^2 - ||x_a - x_i||^2``: positive where i is nearer, 0 for
a tie. Only the pairs that are asked about are computed, unless all n x n are cheaper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar import methods
from nearfar._tools.arrays import Floats, Indices
from nearfar._tools.distances import squared_distances
from nearfar.kernel import gram
from nearfar.kernel.phi import as_rows, is_sparse, row_squares, tie_decimals

MOST_IN_MATRIX = 5000  # objects up to which an n x n matrix is small (200 MB)


def point_margins(points: NDArray[Any], anchor: Indices, one: Indices, other: Indices) -> Floats:
    """(m,) margins from (n, d) coordinates."""
    points = np.ascontiguousarray(points)
    to_one, to_other = squared_distances(points, anchor, one), squared_distances(points, anchor, other)
    return without_rounding(to_other - to_one, np.maximum(to_one, to_other), points.dtype)


def lawful_margins(
    points: NDArray[Any], law: str, mu: float, anchor: Indices, one: Indices, other: Indices
) -> Floats:
    """(m,) margins on the scale that a model's answers go by, of the same sign as ``point_margins``.

    "root" : ``|a - other| - |a - one|`` (SOE); "ratio" : ``log (mu + |a - other|^2) / (mu + |a - one|^2)`` (CKL).
    """
    margin, points = point_margins(points, anchor, one, other), np.ascontiguousarray(points)
    to_one = squared_distances(points, anchor, one)
    if law == "root":
        lengths = np.sqrt(to_one) + np.sqrt(squared_distances(points, anchor, other))
        return np.asarray(margin / np.maximum(lengths, 1e-300))
    with np.errstate(divide="ignore"):  # with mu = 0 two objects at one place are infinitely alike
        return np.asarray(np.log1p(margin / np.maximum(mu + to_one, 1e-300)))


def phi_margins(phi: Any, anchor: Indices, one: Indices, other: Indices) -> Floats:
    """(m,) margins from the rows of Phi, ndarray or csr_array; a zero row knows nothing, so that is a tie."""
    phi = as_rows(phi)
    n = phi.shape[0]
    # a product inside a matrix product costs about a twentieth of one alone
    if n <= MOST_IN_MATRIX and n * n < 20 * len(anchor):
        return kernel_margins(gram(phi), anchor, one, other)
    products = _row_products(phi, anchor, one), _row_products(phi, anchor, other)
    return _margins(row_squares(phi), (anchor, one, other), *products, phi.dtype)


def kernel_margins(K: NDArray[Any], anchor: Indices, one: Indices, other: Indices) -> Floats:
    """(m,) margins from a kernel matrix; an object with K_xx = 0 makes a tie."""
    to_one, to_other = K[anchor, one].astype(np.float64), K[anchor, other].astype(np.float64)
    return _margins(K.diagonal().astype(np.float64), (anchor, one, other), to_one, to_other, K.dtype)


def _margins(
    squares: Floats, rows: tuple[Indices, ...], to_one: Floats, to_other: Floats, dtype: Any
) -> Floats:
    """Margins from the squared lengths of all objects, and the products of the anchors with one and other."""
    length, one, other = (squares[role] for role in rows)
    margin = (other - 2 * to_other) - (one - 2 * to_one)
    margin[(length == 0) | (one == 0) | (other == 0)] = 0
    size = np.abs(one) + np.abs(other) + 2 * np.abs(to_one) + 2 * np.abs(to_other)
    return without_rounding(margin, size, dtype)


def dot_margins(points: NDArray[Any], anchor: Indices, one: Indices, other: Indices) -> Floats:
    """(m,) ``x_a.x_i - x_a.x_j``: positive where the similarity to i is larger.

    >>> dot_margins(np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]]), np.array([0]), np.array([1]), np.array([2]))
    array([2.])
    """
    to_one, to_other = _row_products(points, anchor, one), _row_products(points, anchor, other)
    return without_rounding(to_one - to_other, np.maximum(to_one, to_other), points.dtype)


def without_rounding(margin: Floats, size: Floats, dtype: Any) -> Floats:
    """The one rule for ties: a margin that may be rounding error of sums of this ``size`` is 0. In and out: margin."""
    margin[np.abs(margin) <= 10.0 ** -tie_decimals(dtype) * size] = 0
    return margin


def _row_products(phi: Any, i: Indices, j: Indices) -> Floats:
    """(m,) inner products of rows i[t] and j[t]."""
    out = np.empty(len(i))
    at_once = 20_000 if is_sparse(phi) else max(1, (1 << 20) // max(phi.shape[1], 1))
    for start in range(0, len(i), at_once):
        part = slice(start, start + at_once)
        x, y = phi[i[part]].astype(np.float64, copy=False), phi[j[part]]
        out[part] = x.multiply(y).sum(axis=1) if is_sparse(phi) else np.einsum("tc,tc->t", x, y)
    return out


def nearest_points(
    points: Floats, chosen: NDArray[np.intp], k: int, *, itself: bool
) -> tuple[NDArray[Any], Floats]:
    """(c, k) the nearest points to the chosen of them, and their similarities 1 - d^2 / 2."""
    # 1 - |x - y|^2 / 2 is largest where x.y - |y|^2 / 2 is: a product, with one more column
    half = np.sum(points**2, axis=1, keepdims=True) / 2
    rows, columns = np.hstack([points, np.ones_like(half)]), np.hstack([points, -half])
    near, values = methods.nearest_among(rows[chosen], columns, k, itself=itself)
    return near, values + 1 - half[chosen]
