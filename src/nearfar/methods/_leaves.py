"""The order of the leaves of a tree: alike objects side by side, uninformed ones at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_order", "good_order", "uninformed_last"]

Floats = NDArray[np.float64]
OPTIMAL_LIMIT = 400  # the best order takes up to n^3: a second here, minutes at 1,500
ABOVE = 1.1  # uninformed objects join this many times higher than the root: seen, not measured


def good_order(Z: Floats, distances: Floats, position: Callable[[], Floats]) -> Floats:
    """Turn the branches so that neighbouring leaves are alike: optimally for small n, else along ``position()``."""
    return best_order(Z, distances) if len(Z) < OPTIMAL_LIMIT else along(Z, position())


def best_order(Z: Floats, distances: Floats) -> Floats:
    """Turn the branches so that the sum of distances between neighbouring leaves is as small as can be."""
    from scipy.cluster import hierarchy

    ordered: Any = hierarchy.optimal_leaf_ordering(Z, distances)
    return np.asarray(ordered, dtype=np.float64)


def along(Z: Floats, position: Floats) -> Floats:
    """Turn every branch so that the half with the smaller mean position comes first.

    >>> along(np.array([[0.0, 1.0, 0.5, 2.0]]), np.array([3.0, 1.0]))
    array([[1. , 0. , 0.5, 2. ]])
    """
    n = len(position)
    sums = np.concatenate([position, np.zeros(len(Z))])
    sizes = np.concatenate([np.ones(n), Z[:, 3]])
    turned = Z.copy()
    for row in range(len(Z)):
        a, b = int(Z[row, 0]), int(Z[row, 1])
        sums[n + row] = sums[a] + sums[b]
        if sums[b] / sizes[b] < sums[a] / sizes[a]:
            turned[row, :2] = b, a
    return turned


def uninformed_last(Z: Floats, informed: NDArray[np.intp], uninformed: NDArray[np.intp]) -> Floats:
    """A tree over the informed objects -> one over all, the others joined one by one above its root."""
    n, known = len(informed) + len(uninformed), len(informed)
    whole = np.zeros((n - 1, 4))
    names = np.concatenate([informed, n + np.arange(max(known - 1, 0))])
    root, height = (int(names[-1]), 0.0) if known else (int(uninformed[0]), 0.0)
    if known > 1:
        whole[: known - 1] = Z
        whole[: known - 1, :2] = names[Z[:, :2].astype(int)]
        height = float(Z[-1, 2])
    rest = uninformed if known else uninformed[1:]
    for row, x in enumerate(rest, start=max(known - 1, 0)):
        whole[row] = root, x, ABOVE * height if height > 0 else 1.0, row + 2
        root = n + row
    return whole
