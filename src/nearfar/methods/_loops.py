"""Compiled loops of k-means on the rows of a thin dense Phi, with Elkan's bounds.

``upper[x]`` is never below the distance of row x to its own centre, ``lower[x, c]`` never above that to
centre c. By the triangle inequality a centre that moved by ``drift[c]`` loosens them by no more than that,
and a row nearer to its centre than half the way to any other needs no look at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfar._tools.compiled import compiled

__all__ = ["bounded_step", "first_step", "move_sums", "own_distances"]


@compiled(fastmath=True)
def _distance(row: Any, centre: Any) -> Any:
    """|row - centre|, by differences, so that float32 loses nothing to cancellation."""
    total = row[0] * 0
    for j in range(row.size):
        gap = row[j] - centre[j]
        total += gap * gap
    return np.sqrt(total)


@compiled()
def first_step(X: Any, centres: Any, first: int, last: int, labels: Any, upper: Any, lower: Any) -> None:
    """All distances of rows first..last-1. Out: their labels (nearest centre), upper, lower."""
    for x in range(first, last):
        best = 0
        for c in range(centres.shape[0]):
            lower[x, c] = _distance(X[x], centres[c])
            if lower[x, c] < lower[x, best]:
                best = c
        labels[x] = best
        upper[x] = lower[x, best]


@compiled()
def bounded_step(
    X: Any, centres: Any, drift: Any, half: Any, first: int, last: int, labels: Any, upper: Any, lower: Any
) -> None:
    """The nearest centre of rows first..last-1, looking only where the bounds leave doubt.

    In: drift (k,) since the last step, half (k, k) half the distances between centres, its diagonal the
    smallest of the row. In and out: labels, upper, lower.
    """
    k = centres.shape[0]
    for x in range(first, last):
        best = labels[x]
        u = upper[x] + drift[best]
        for c in range(k):
            lower[x, c] = max(lower[x, c] - drift[c], 0)
        exact = False
        if u > half[best, best]:
            for c in range(k):
                if c == best or u <= lower[x, c] or u <= half[best, c]:
                    continue
                if not exact:
                    u = _distance(X[x], centres[best])
                    lower[x, best] = u
                    exact = True
                    if u <= lower[x, c] or u <= half[best, c]:
                        continue
                d = _distance(X[x], centres[c])
                lower[x, c] = d
                if d < u:
                    best = c
                    u = d
        labels[x] = best
        upper[x] = u


@compiled()
def own_distances(X: Any, centres: Any, labels: Any, first: int, last: int, distances: Any) -> None:
    """distances[x] = distance of row x to the centre of its cluster, for rows first..last-1."""
    for x in range(first, last):
        distances[x] = _distance(X[x], centres[labels[x]])


@compiled()
def move_sums(X: Any, moved: Any, old: Any, new: Any, first: int, last: int, sums: Any) -> None:
    """Columns first..last-1 of sums (k, p): take row moved[t] out of cluster old[t], put it into new[t].

    In: old may be -1, for a row that was in no cluster. Cut by columns, every sum runs in row order
    whatever the number of threads.
    """
    for t in range(moved.size):
        x, a, b = moved[t], old[t], new[t]
        for j in range(first, last):
            sums[b, j] += X[x, j]
        if a >= 0:
            for j in range(first, last):
                sums[a, j] -= X[x, j]
