"""Signed keys of answers -> counted cells, sorted; in several threads where there are many."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools import threads
from nearfar.features import _loops

__all__ = ["FEW_KEYS", "close_gaps", "count_keys"]

FEW_KEYS = 500_000  # that one thread sorts as soon as several


def count_keys(
    keys: NDArray[np.int64], n_threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Keys, net and total of the cells that signed keys (see ``_loops.count_sorted``) name, sorted; ``keys`` is used up.

    >>> [column.tolist() for column in count_keys(np.array([9, 4, 8, 5, 9]), 2)]
    [[2, 4], [0, 1], [2, 3]]
    """
    parts = _sort(keys, n_threads)
    net, total = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    counted = threads.run(
        _loops.count_sorted, [(keys[a:b], keys[a:b], net[a:b], total[a:b]) for a, b in parts]
    )
    starts = [a for a, _ in parts]
    n = sum(counted)
    for column in (keys, net, total):
        close_gaps(column, starts, counted)
    return keys[:n], net[:n], total[:n]


def close_gaps(column: NDArray[Any], starts: list[int], sizes: list[int]) -> None:
    """Move what stands from each start on, so many values, to the front, without gaps and in order."""
    end = 0
    for start, size in zip(starts, sizes, strict=True):
        if start > end:
            column[end : end + size] = column[start : start + size]
        end += size


def _sort(keys: NDArray[np.int64], count: int) -> list[tuple[int, int]]:
    """Sort keys in at most ``count`` parts side by side; (start, stop) of parts that share no cell."""
    edges = [start for start, _ in threads.blocks(len(keys), count)]
    if len(edges) < 2:
        keys.sort()
        return [(0, len(keys))]
    keys.partition(edges[1:])
    threads.run(np.ndarray.sort, [(keys[a:b],) for a, b in pairwise([*edges, len(keys)])])
    for at in range(1, len(edges)):  # to the end of the cell that the part before ends with
        last = keys[edges[at] - 1] >> 1
        edges[at] = int(np.searchsorted(keys, (last + 1) << 1))
    return [(a, b) for a, b in pairwise([*edges, len(keys)]) if b > a]
