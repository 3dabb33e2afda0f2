"""One map onto another: moved, turned, mirrored and scaled by the objects that both know (Procrustes)."""

from __future__ import annotations

import numpy as np

from nearfar._tools.arrays import Floats

__all__ = ["align", "along_axes", "radius"]


def radius(points: Floats) -> float:
    """Root mean square distance of finite rows from their middle; 1 where all are at one point.

    >>> radius(np.array([[0.0, 0.0], [2.0, 0.0], [np.nan, 0.0]]))
    1.0
    """
    known = points[np.isfinite(points).all(axis=1)]
    size = float(np.sqrt(np.mean(np.sum((known - known.mean(axis=0)) ** 2, axis=1)))) if len(known) else 0.0
    return size or 1.0


def align(points: Floats, reference: Floats) -> Floats:
    """Points moved, turned, mirrored and scaled onto the reference, by least squares over rows finite in both.

    >>> turned = align(np.array([[0.0, 1.0], [0.0, 3.0]]), np.array([[-1.0, 0.0], [1.0, 0.0]]))
    >>> np.abs(turned.round(6))
    array([[1., 0.],
           [1., 0.]])
    """
    both = np.isfinite(points).all(axis=1) & np.isfinite(reference).all(axis=1)
    if not both.any():
        return np.full(points.shape, np.nan)
    x, y = reference[both], points[both]
    x0, y0 = x.mean(axis=0), y.mean(axis=0)
    left, values, right = np.linalg.svd((y - y0).T @ (x - x0))
    length = float(np.sum((y - y0) ** 2))
    scale = float(values.sum()) / length if length > 0 else 0.0
    moved: Floats = scale * (points - y0) @ (left @ right) + x0
    return moved


def along_axes(points: Floats) -> Floats:
    """Centred, the widest direction flat, the typical radius 1; NaN rows stay NaN."""
    known = np.isfinite(points).all(axis=1)
    if not known.any():
        return points.copy()
    centred = points - points[known].mean(axis=0)
    _, _, axes = np.linalg.svd(centred[known].T @ centred[known])
    turned: Floats = centred @ axes.T
    for column in range(turned.shape[1]):
        values = turned[known, column]
        if values[np.argmax(np.abs(values))] < 0:
            turned[:, column] *= -1
    return turned / radius(turned)
