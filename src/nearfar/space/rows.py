"""Rows of a space: which of them say anything, their scale, and the nearest of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar.kernel.phi import check_finite, informed_rows


def non_zero(rows: Any) -> NDArray[np.bool_]:
    """(n,) which rows are not zero."""
    known = np.zeros(rows.shape[0], dtype=bool)
    known[informed_rows(rows)] = True
    return known


def scaled(points: Floats) -> Floats:
    """Points centred and scaled to a mean squared length of 1."""
    check_finite(points)
    if not len(points):
        return points
    centred = points - points.mean(axis=0)
    size = float(np.sqrt(np.mean(np.sum(centred**2, axis=1))))
    result: Floats = centred / size if size > 0 else centred
    return result


def nearest_points(
    points: Floats, chosen: NDArray[np.intp], k: int, *, itself: bool
) -> tuple[NDArray[Any], Floats]:
    """(c, k) the nearest points to the chosen of them, and their similarities 1 - d^2 / 2."""
    from nearfar.methods import nearest_among

    # 1 - |x - y|^2 / 2 is largest where x.y - |y|^2 / 2 is: a product, with one more column
    half = np.sum(points**2, axis=1, keepdims=True) / 2
    near, values = nearest_among(
        np.hstack([points, np.ones_like(half)])[chosen], np.hstack([points, -half]), k, itself=itself
    )
    return near, values + 1 - half[chosen]
