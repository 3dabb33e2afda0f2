"""Covariance of distances between points with a normal posterior; compiled, one pass over questions."""

from __future__ import annotations

from typing import Any

from nearfar._tools.compiled import compiled


@compiled()
def distance_covariance(slope: Any, covariance: Any, one: Any, other: Any, spread: Any) -> None:
    """Covariance of the distances of the pairs (a, b) of every question, to first order.

    With u the slope of a distance, v that of another, and C the covariance of the two differences x_a - x_b, it is u' C v.

    In: slope (c, w, d); covariance (n d, n d), or (n d, d) where objects are independent; one, other (c, w), the pairs.
    Out: spread (c, w, w).
    """
    d = slope.shape[2]
    for c in range(one.shape[0]):
        for p in range(one.shape[1]):
            a, b = one[c, p], other[c, p]
            for q in range(p + 1):
                e, f = one[c, q], other[c, q]
                total = 0.0
                for k in range(d):
                    for m in range(d):
                        both = _entry(covariance, d, a, k, e, m) - _entry(covariance, d, a, k, f, m)
                        both += _entry(covariance, d, b, k, f, m) - _entry(covariance, d, b, k, e, m)
                        total += slope[c, p, k] * slope[c, q, m] * both
                spread[c, p, q] = spread[c, q, p] = total


@compiled(inline="always")
def _entry(covariance: Any, d: int, i: int, k: int, j: int, m: int) -> Any:
    """In: all. The covariance of coordinate k of object i and m of object j."""
    if covariance.shape[1] > d:
        return covariance[i * d + k, j * d + m]
    return covariance[i * d + k, m] if i == j else 0.0
