"""The order of the leaves of a tree: alike objects side by side, uninformed ones at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar.errors import InputError

__all__ = ["good_order", "uninformed_last", "uninformed_leaves"]

OPTIMAL_LIMIT = 400  # the best order takes up to n^3: a second here, minutes at 1,500
ABOVE = np.pi / 3  # uninformed objects join at this many times the root's height, which no measured height is


def good_order(Z: Floats, distances: Floats, position: Callable[[], Floats], order: str = "auto") -> Floats:
    """Turn the branches so that neighbouring leaves are alike: "optimal", or along ``position()`` ("map")."""
    if order not in ("auto", "optimal", "map"):
        raise InputError(f"leaf_order={order!r} is not known; expected auto, optimal or map")
    if order == "map" or (order == "auto" and len(Z) >= OPTIMAL_LIMIT):
        return along(Z, position())
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
    """A tree over the informed objects -> one over all, the others joined one by one above its root.

    Their height distinguishes them from measured joins, so that ``uninformed_leaves`` finds them again.
    """
    n, known = len(informed) + len(uninformed), len(informed)
    whole = np.zeros((n - 1, 4))
    names = np.concatenate([informed, n + np.arange(max(known - 1, 0))])
    root = int(names[-1]) if known else int(uninformed[0])
    if known > 1:
        whole[: known - 1] = Z
        whole[: known - 1, :2] = names[Z[:, :2].astype(int)]
    rest = uninformed if known else uninformed[1:]
    for row, x in enumerate(rest, start=max(known - 1, 0)):
        whole[row] = root, x, _height_above(whole, known), row + 2
        root = n + row
    return whole


def uninformed_leaves(Z: Floats) -> NDArray[np.intp]:
    """The leaves of a tree that ``uninformed_last`` joined above its root; none where something else made it.

    >>> tree = uninformed_last(np.array([[0.0, 1.0, 0.5, 2.0]]), np.array([0, 2]), np.array([1, 3]))
    >>> uninformed_leaves(tree)
    array([1, 3])
    """
    n = len(Z) + 1
    first = len(Z)  # the first of the joins of a leaf and all below it, at the height of the last one
    while first > 0 and Z[first - 1, 2] == Z[-1, 2] and Z[first - 1, 1] < n and _joins_root(Z, first - 1):
        first -= 1
    for known in (first + 1, 0) if first == 0 else (first + 1,):
        if first < len(Z) and Z[-1, 2] == _height_above(Z, known):
            leaves = Z[first:, 1] if known else np.concatenate([Z[:1, 0], Z[:, 1]])
            return np.sort(leaves.astype(np.intp))
    return np.zeros(0, dtype=np.intp)


def _joins_root(Z: Floats, row: int) -> bool:
    return bool(Z[row, 0] < len(Z) + 1 if row == 0 else Z[row, 0] == len(Z) + row)


def _height_above(Z: Floats, known: int) -> float:
    """Where uninformed objects join above a root over so many informed ones."""
    if known == 0:
        return 2 * ABOVE
    height = float(Z[known - 2, 2]) if known > 1 else 0.0
    return ABOVE * height if height > 0 else ABOVE
