"""Distances between pairs of objects, from points, a matrix or a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.checks import check_rows
from nearfar._tools.distances import squared_distances
from nearfar.errors import InputError

Pairwise = Callable[[NDArray[Any], NDArray[Any]], ArrayLike]
Measure = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]


def pair_distances(
    n: int,
    points: ArrayLike | None,
    distances: ArrayLike | None,
    distance: Pairwise | None,
    metric: str | Pairwise,
    *,
    roots: bool = False,
    cells: int = 1 << 20,
) -> Measure:
    """The one function (anchors, others) -> distances that the caller described.

    Euclidean distances come squared, which keeps their order, unless ``roots`` are wanted. Other metrics work on as
    many pairs at a time as have ``cells`` coordinates.
    """
    ways = {"points": points, "distances": distances, "distance": distance}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        got = " and ".join(given) or "none"
        raise InputError(f"simulate.answers: expected one of points, distances and distance, got {got}")
    if points is not None:
        return _between_points(check_rows(points, n, "points"), metric, roots, cells)
    if distances is not None:
        matrix = check_rows(distances, n, "distances", finite=False)
        if matrix.shape != (n, n):
            raise InputError(f"distances: expected shape ({n}, {n}), got {matrix.shape}")
        return lambda i, j: matrix[i, j]
    return lambda i, j: _checked(distance(i, j) if distance else [], len(i), "distance")


def _between_points(points: NDArray[Any], metric: str | Pairwise, roots: bool, cells: int) -> Measure:
    if isinstance(metric, str) and metric in ("euclidean", "sqeuclidean"):
        if roots and metric == "euclidean":
            return lambda i, j: np.sqrt(squared_distances(points, i, j))
        return lambda i, j: squared_distances(points, i, j)  # the same order as their roots
    if isinstance(metric, str) and metric not in METRICS:
        known = f"euclidean, {', '.join(METRICS)} or a function"
        raise InputError(f"metric: {metric!r} is not known; expected {known}")
    rows_apart: Pairwise = METRICS[metric] if isinstance(metric, str) else metric
    width = max(1, cells // max(1, points.shape[1]))

    def measure(i: NDArray[Any], j: NDArray[Any]) -> NDArray[np.float64]:
        slices = [slice(start, start + width) for start in range(0, len(i), width)]
        done = [_checked(rows_apart(real(i[p]), real(j[p])), len(i[p]), "metric") for p in slices]
        return np.concatenate(done) if done else np.empty(0)

    def real(rows: NDArray[Any]) -> NDArray[Any]:
        chosen: NDArray[Any] = points[rows]  # differences of unsigned pixels would wrap round
        return chosen if chosen.dtype.kind == "f" else chosen.astype(np.float64)

    return measure


def _checked(values: ArrayLike, m: int, name: str) -> NDArray[np.float64]:
    result = np.asarray(values, dtype=np.float64)
    got = "NaN" if np.isnan(result).any() else ""
    if result.shape != (m,):
        got = f"shape {result.shape}; np.vectorize helps with one for numbers"
    if got:
        wanted = f"a function that returns {m} distances for two arrays of {m}"
        raise InputError(f"{name}: expected {wanted}, got {got}")
    return result


def _cosine(u: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    norms = np.sqrt(np.einsum("ij,ij->i", u, u) * np.einsum("ij,ij->i", v, v))
    dots = np.einsum("ij,ij->i", u, v)
    # The zero vector points nowhere: it counts as orthogonal to everything.
    cosines: NDArray[Any] = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
    return 1.0 - cosines


METRICS: dict[str, Pairwise] = {
    "manhattan": lambda u, v: np.abs(u - v).sum(axis=1),
    "cityblock": lambda u, v: np.abs(u - v).sum(axis=1),
    "chebyshev": lambda u, v: np.abs(u - v).max(axis=1, initial=0.0),
    "cosine": _cosine,
}
