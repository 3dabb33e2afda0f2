"""A one-dimensional result as a scale: the value of every object with its interval, as difference scaling shows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar._tools.records import Record
from nearfar.evaluate.map_stability import Resamples, align


@dataclass(frozen=True, eq=False)
class Scale(Record):
    """Objects on one dimension, the lowest first.

    ``order`` : their indices; ``values``, ``low``, ``high`` : from 0 to 1, with 95 % intervals over resamples. Ends and unit
    of the scale are arbitrary, its direction too.
    """

    order: NDArray[np.intp]
    values: Floats
    low: Floats
    high: Floats


def make_scale(points: Floats, resamples: Resamples) -> Scale:
    """The scale of (n, 1) points, NaN for objects without an answer; ``resamples`` : their one-dimensional fits."""
    from scipy.stats import t

    cloud = np.stack([align(own, points) for own in resamples.points])[:, :, 0]
    known = np.flatnonzero(np.isfinite(points[:, 0]) & (np.isfinite(cloud).sum(axis=0) > 1))
    order = known[np.argsort(points[known, 0], kind="stable")]
    values = points[order, 0]
    half = t.ppf(0.975, max(resamples.drawn - 1, 1)) * np.nanstd(cloud[:, order], axis=0, ddof=1)
    start, size = (values[0], (values[-1] - values[0]) or 1.0) if len(values) else (0.0, 1.0)
    low, middle, high = ((each - start) / size for each in (values - half, values, values + half))
    return Scale(order, middle, low, high)
