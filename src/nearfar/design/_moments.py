"""Mean and covariance of squared distances between points with a normal posterior; compiled, one pass over questions."""

from __future__ import annotations

from typing import Any

from nearfar._tools.compiled import compiled


@compiled()
def distance_moments(points: Any, covariance: Any, one: Any, other: Any, mean: Any, spread: Any) -> None:
    """Moments of |x_a - x_b|^2 for the pairs (a, b) of every question.

    With u = E (x_a - x_b), v that of another pair, and C the covariance of the two differences, the covariance of the squared
    distances is 4 u' C v + 2 tr C'C. The mean is u'u + tr C, with C of the pair itself.

    In: points (n, d); covariance (n d, n d), or (n d, d) where objects are independent; one, other (c, w), the pairs.
    Out: mean (c, w), spread (c, w, w).
    """
    d = points.shape[1]
    for c in range(one.shape[0]):
        for p in range(one.shape[1]):
            a, b = one[c, p], other[c, p]
            mean[c, p] = 0.0
            for q in range(p + 1):
                e, f = one[c, q], other[c, q]
                total = 0.0
                for k in range(d):
                    u = points[a, k] - points[b, k]
                    for m in range(d):
                        both = _entry(covariance, d, a, k, e, m) - _entry(covariance, d, a, k, f, m)
                        both += _entry(covariance, d, b, k, f, m) - _entry(covariance, d, b, k, e, m)
                        total += (4.0 * u * (points[e, m] - points[f, m]) + 2.0 * both) * both
                        if p == q and k == m:
                            mean[c, p] += u * u + both
                spread[c, p, q] = spread[c, q, p] = total


@compiled(inline="always")
def _entry(covariance: Any, d: int, i: int, k: int, j: int, m: int) -> Any:
    """In: all. The covariance of coordinate k of object i and m of object j."""
    if covariance.shape[1] > d:
        return covariance[i * d + k, j * d + m]
    return covariance[i * d + k, m] if i == j else 0.0
