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


def count_rows(n: int, widths: Sequence[int]) -> int:
    """How many rows there are: widths [3] are trios, [1, 8] an anchor and 8 options."""
    total, left = 1, n
    for size in widths:
        total *= comb(left, size)
        left -= size
    return total


def balanced_rows(n: int, m: int, widths: Sequence[int], rng: np.random.Generator) -> NDArray[np.int32]:
    """(m, sum(widths)) distinct rows of distinct objects below n; in each group of columns every object stands equally often.

    A row is the same as another where each group holds the same objects. More than half of all rows are drawn by
    drawing those to leave out, which is as even.
    """
    total = count_rows(n, widths)
    if 2 * m <= total:
        return _few(n, m, widths, rng)
    if total > ENUMERATED:
        raise TooLargeError(
            f"budget: {m:,} of {total:,} possible questions cannot be drawn evenly in memory; "
            f"ask for at most {total // 2:,}",
        )
    out = {_key(row, widths) for row in _few(n, total - m, widths, rng).tolist()}
    rows = [row for row in _all_rows(range(n), widths) if _key(row, widths) not in out]
    return rng.permutation(np.array(rows, dtype=np.int32).reshape(m, sum(widths)), axis=0)


def _few(n: int, m: int, widths: Sequence[int], rng: np.random.Generator) -> NDArray[np.int32]:
    """At most half of all rows. Where a second group takes most objects, those that it leaves out are drawn."""
    wide = len(widths) == 2 and 2 * widths[1] >= n
    sizes = [1, n - 1 - widths[1]] if wide else list(widths)
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
    options = np.nonzero(present)[1].reshape(m, widths[1])
    return np.concatenate([drawn[:, :1], options], axis=1).astype(np.int32)


def _quotas(
    n: int, m: int, sizes: Sequence[int], wide: bool, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """How often each object stands in each group of columns."""
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


def _key(row: Sequence[int], widths: Sequence[int]) -> tuple[int, ...]:
    key: list[int] = []
    for size in widths:
        key += sorted(row[len(key) : len(key) + size])
    return tuple(key)


def _all_rows(objects: Sequence[int], widths: Sequence[int]) -> list[list[int]]:
    if not widths:
        return [[]]
    return [
        [*first, *rest]
        for first in combinations(objects, widths[0])
        for rest in _all_rows([x for x in objects if x not in first], widths[1:])
    ]


def _repair(rows: list[list[int]], widths: Sequence[int], rng: np.random.Generator) -> bool:
    """Exchange objects between rows, in place, until all rows are sound; False after too many attempts.

    A fault is an object that stands twice in a row, or a row that stands there already. Exchanges stay within a group,
    so that the counts stay even, and never raise the number of faults.
    """
    m = len(rows)
    if m == 0:
        return True
    keys = [_key(row, widths) for row in rows]
    seen = Counter(keys)
    group_of = np.repeat(np.arange(len(widths)), widths)
    width = len(group_of)

    def faults(key: tuple[int, ...]) -> int:
        return width - len(set(key)) + (seen[key] > 1)

    positions = [np.flatnonzero(group_of == p).tolist() for p in group_of]
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
            _exchange(rows, keys, seen, (i, a), (j, b), widths)
            if faults(keys[i]) + faults(keys[j]) > before:
                _exchange(rows, keys, seen, (i, a), (j, b), widths)
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
    widths: Sequence[int],
) -> None:
    (i, a), (j, b) = first, second
    rows[i][a], rows[j][b] = rows[j][b], rows[i][a]
    for row in (i, j):
        seen[keys[row]] -= 1
        keys[row] = _key(rows[row], widths)
        seen[keys[row]] += 1
