"""Drawing without replacement: how many questions per object, and which, in memory that grows with the result."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def quotas(room: NDArray[np.int64], budget: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many questions each object gets: min(room, level), the rest one each to random objects with room."""
    total = int(room.sum())
    if budget is None or budget == total:
        return room
    low, high = 0, int(room.max())
    while low < high:
        level = (low + high + 1) // 2
        low, high = (level, high) if int(np.minimum(room, level).sum()) <= budget else (low, level - 1)
    quota = np.minimum(room, low)
    left = budget - int(quota.sum())
    quota[rng.choice(np.flatnonzero(room > low), left, replace=False)] += 1
    return quota


def distinct(total: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``count`` distinct numbers below ``total``, all sets equally likely, in memory O(count)."""
    if count > total // 2:  # then marking all of them costs no more than the result
        keep = np.ones(total, dtype=bool)
        keep[distinct(total, total - count, rng)] = False
        return np.flatnonzero(keep)
    codes = np.empty(0, dtype=np.int64)
    while len(codes) < count:
        more = rng.integers(total, size=int(1.05 * (count - len(codes))) + 10)
        codes = np.sort(np.concatenate([codes, more]))  # np.unique hashes whole numbers, 100 times slower
        codes = codes[np.concatenate([[True], codes[1:] != codes[:-1]])]
    # Drawing treats all numbers alike, and so does dropping the surplus: the set stays uniform.
    surplus = rng.choice(len(codes), len(codes) - count, replace=False)
    return np.delete(codes, surplus)


def unrank(codes: NDArray[np.int64], n: int) -> NDArray[np.int32]:
    """(3, m) anchor, one, other of the questions with these numbers, of the n (n - 1)(n - 2) / 2 there are."""
    anchor, pair = np.divmod(codes, (n - 1) * (n - 2) // 2)
    low, high = pair_of(pair)
    return np.array([anchor, low + (low >= anchor), high + (high >= anchor)], dtype=np.int32)


def pair_of(number: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs low < high with these numbers, in the order (0, 1), (0, 2), (1, 2), (0, 3), ..."""
    high = ((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0).astype(np.int64)
    high -= high * (high - 1) // 2 > number  # the root may be off by one
    high += high * (high + 1) // 2 <= number
    return number - high * (high - 1) // 2, high
