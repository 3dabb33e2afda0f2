"""Distinct rows of objects in which every object stands equally often, give or take one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import TooLargeError

__all__ = ["balanced_rows", "count_rows"]

ENUMERATED = 2_000_000  # rows that are listed one by one to draw more than half of them
PATIENCE = 200  # proposals per row that is not sound, before a new start


def count_rows(n: int, parts: Sequence[int]) -> int:
    """How many rows there are: parts [3] are trios, [1, 8] an anchor and 8 options."""
    total, left = 1, n
    for size in parts:
        total *= comb(left, size)
        left -= size
    return total


def balanced_rows(n: int, m: int, parts: Sequence[int], rng: np.random.Generator) -> NDArray[np.int32]:
    """(m, sum(parts)) distinct rows of distinct objects below n; in each part every object stands equally often.

    A row is the same as another where each part holds the same objects. More than half of all rows are drawn by
    drawing those to leave out, which is as even.
    """
    total = count_rows(n, parts)
    if 2 * m <= total:
        return _few(n, m, parts, rng)
    if total > ENUMERATED:
        raise TooLargeError(
            f"budget: {m:,} of {total:,} possible questions cannot be drawn evenly in memory; "
            f"ask for at most {total // 2:,}",
        )
    out = {_key(row, parts) for row in _few(n, total - m, parts, rng).tolist()}
    rows = [row for row in _all_rows(range(n), parts) if _key(row, parts) not in out]
    return rng.permutation(np.array(rows, dtype=np.int32).reshape(m, sum(parts)), axis=0)


def _few(n: int, m: int, parts: Sequence[int], rng: np.random.Generator) -> NDArray[np.int32]:
    """At most half of all rows. Where a second part takes most objects, those that it leaves out are drawn."""
    wide = len(parts) == 2 and 2 * parts[1] >= n
    sizes = [1, n - 1 - parts[1]] if wide else list(parts)
    while True:  # a draw that cannot be repaired is rare
        quotas = _quotas(n, m, sizes, wide, rng)
        columns = [
            rng.permutation(np.repeat(np.arange(n), quota)).reshape(m, size)
            for size, quota in zip(sizes, quotas, strict=True)
        ]
        rows = np.concatenate(columns, axis=1).tolist()
        if _repair(rows, sizes, rng):
            break
    drawn = np.array(rows, dtype=np.int32).reshape(m, sum(sizes))
    if not wide:
        return drawn
    present = np.ones((m, n), dtype=bool)
    np.put_along_axis(present, drawn.astype(np.int64), False, axis=1)
    options = np.nonzero(present)[1].reshape(m, parts[1])
    return np.concatenate([drawn[:, :1], options], axis=1).astype(np.int32)


def _quotas(
    n: int, m: int, sizes: Sequence[int], wide: bool, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """How often each object stands in each part."""
    if not wide:
        return [_quota(n, m * size, rng) for size in sizes]
    anchor = _quota(n, m, rng)
    absent = _quota(n, m * sum(sizes), rng, first=anchor)  # not an option: the anchor, or left out
    return [anchor, absent - anchor]


def _quota(
    n: int, total: int, rng: np.random.Generator, first: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """(n,) how often each object stands, give or take one equally often; one more goes to the largest of ``first``."""
    whole, left = divmod(total, n)
    order = rng.permutation(n)
    if first is not None:
        order = order[np.argsort(-first[order], kind="stable")]
    quota = np.full(n, whole, dtype=np.int64)
    quota[order[:left]] += 1
    return quota


def _key(row: Sequence[int], parts: Sequence[int]) -> tuple[int, ...]:
    key: list[int] = []
    for size in parts:
        key += sorted(row[len(key) : len(key) + size])
    return tuple(key)


def _all_rows(objects: Sequence[int], parts: Sequence[int]) -> list[list[int]]:
    if not parts:
        return [[]]
    return [
        [*first, *rest]
        for first in combinations(objects, parts[0])
        for rest in _all_rows([x for x in objects if x not in first], parts[1:])
    ]


def _repair(rows: list[list[int]], parts: Sequence[int], rng: np.random.Generator) -> bool:
    """Exchange objects between rows, in place, until all rows are sound; False after too many attempts.

    A fault is an object that stands twice in a row, or a row that stands there already. Exchanges stay within a part,
    so that the counts stay even, and never raise the number of faults.
    """
    m = len(rows)
    if m == 0:
        return True
    keys = [_key(row, parts) for row in rows]
    seen = Counter(keys)
    part = np.repeat(np.arange(len(parts)), parts)
    width = len(part)

    def faults(key: tuple[int, ...]) -> int:
        return width - len(set(key)) + (seen[key] > 1)

    positions = [np.flatnonzero(part == p).tolist() for p in part]
    draws = _numbers(rng)
    wrong = [i for i in range(m) if faults(keys[i])]
    attempts = 0 if m > 1 else PATIENCE * (m + 20)  # a single row has no partner
    while wrong:
        i = wrong.pop()
        while faults(keys[i]):
            attempts += 1
            if attempts > PATIENCE * (m + 20):
                return False
            a, j = int(next(draws) * width), int(next(draws) * m)
            b = positions[a][int(next(draws) * len(positions[a]))]
            if i == j or rows[i][a] == rows[j][b]:
                continue
            before = faults(keys[i]) + faults(keys[j])
            _exchange(rows, keys, seen, (i, a), (j, b), parts)
            if faults(keys[i]) + faults(keys[j]) > before:
                _exchange(rows, keys, seen, (i, a), (j, b), parts)
            elif faults(keys[j]):
                wrong.append(j)
    return True


def _numbers(rng: np.random.Generator) -> Iterator[float]:
    """Random numbers from 0 to 1, drawn many at a time because one at a time is slow."""
    while True:
        yield from rng.random(1000).tolist()


def _exchange(
    rows: list[list[int]],
    keys: list[tuple[int, ...]],
    seen: Counter[tuple[int, ...]],
    first: tuple[int, int],
    second: tuple[int, int],
    parts: Sequence[int],
) -> None:
    (i, a), (j, b) = first, second
    rows[i][a], rows[j][b] = rows[j][b], rows[i][a]
    for row in (i, j):
        seen[keys[row]] -= 1
        keys[row] = _key(rows[row], parts)
        seen[keys[row]] += 1
