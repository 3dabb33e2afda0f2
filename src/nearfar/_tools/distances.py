"""Distances between pairs of points, in a compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.compiled import compiled
from nearfar._tools.threads import blocks, run


def squared_distances(points: NDArray[Any], i: NDArray[Any], j: NDArray[Any]) -> NDArray[np.float64]:
    """(m,) squared Euclidean distances between rows i[t] and j[t] of points.

    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0]), np.array([1]))
    array([25.])
    """
    out = np.empty(len(i))
    run(_squared_distances, [(points, i[a:b], j[a:b], out[a:b]) for a, b in blocks(len(i), 8)])
    return out


# Sums may be taken in another order (several at a time); no fused multiply-add, which would make
# dx*dx + dy*dy differ from dy*dy + dx*dx and so break ties between mirror images.
@compiled(fastmath={"reassoc"})
def _squared_distances(points, i, j, out):  # type: ignore[no-untyped-def]
    """out[t] = sum_c (points[i[t], c] - points[j[t], c])^2; in: points (n, d), i, j (m,); out: out (m,)."""
    for t in range(len(i)):
        total = 0.0
        for c in range(points.shape[1]):
            gap = np.float64(points[i[t], c]) - np.float64(points[j[t], c])
            total += gap * gap
        out[t] = total
