"""Distinct rows of objects in which every object stands equally often, give or take one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations
from itertools import count as count_up
from math import comb

import numpy as np
from numpy.typing import NDArray

from nearfar.design._repair import key_of, repair
from nearfar.errors import TooLargeError

__all__ = ["anchored_trios", "balanced_rows", "count_rows", "even_subset"]

ENUMERATED = 2_000_000  # rows that are listed one by one to draw more than half of them
RESTARTS = 20  # where rows are gone, so that those left may not allow an even draw


def count_rows(n: int, widths: Sequence[int]) -> int:
    """How many rows there are: widths [3] are trios, [1, 8] an anchor and 8 options."""
    total, left = 1, n
    for size in widths:
        total *= comb(left, size)
        left -= size
    return total


def balanced_rows(
    n: int, m: int, widths: Sequence[int], rng: np.random.Generator, taken: Collection[Sequence[int]] = ()
) -> NDArray[np.int32]:
    """(m, sum(widths)) distinct rows of distinct objects below n; in each group of columns every object stands equally often.

    A row is the same as another where each group holds the same objects; those ``taken`` are not drawn. More than half
    of the others are drawn by drawing those to leave out, which is as even (together with those taken).
    """
    gone = {key_of(row, widths) for row in taken}
    total = count_rows(n, widths) - len(gone)
    few = 2 * m <= total
    drawn = _few(n, m, widths, rng, gone) if few else None
    if drawn is not None:
        return drawn
    if total > ENUMERATED:
        raise TooLargeError(
            f"budget: {m:,} of {total:,} possible questions cannot be drawn evenly in memory; "
            f"ask for at most {total // 2:,}"
        )
    free = [row for row in _all_rows(range(n), widths) if key_of(row, widths) not in gone]
    left_out = None if few else _few(n, total - m, widths, rng, gone)
    if left_out is None:
        rows = [free[i] for i in even_subset(free, m, rng)]
    else:
        out = {key_of(row, widths) for row in left_out.tolist()}
        rows = [row for row in free if key_of(row, widths) not in out]
    return rng.permutation(np.array(rows, dtype=np.int32).reshape(m, sum(widths)), axis=0)


def even_subset(
    rows: Sequence[Sequence[int]],
    count: int,
    rng: np.random.Generator,
    *,
    anchored: bool = False,
    before: int = 0,
) -> list[int]:
    """Which ``count`` rows to take so that objects stand equally often, as far as a choice of one after the other can.

    The next row is one whose objects stand in fewest of those taken, with all rows taken ``before`` times; where
    ``anchored``, first of all one whose first object is first in fewest.
    """
    first = Counter({x: before * times for x, times in Counter(row[0] for row in rows).items()})
    shown = Counter({x: before * times for x, times in Counter(x for row in rows for x in row).items()})

    def crowded(i: int) -> tuple[int, int]:
        row = rows[i]
        return (first[row[0]] if anchored else 0), sum(shown[x] for x in row)

    waiting = [(crowded(i), draw, i) for i, draw in enumerate(rng.random(len(rows)).tolist())]
    heapify(waiting)
    chosen: list[int] = []
    while len(chosen) < count:
        known, draw, i = heappop(waiting)
        now = crowded(i)
        if now > known:  # counts only grow, so the least of what was known is enough to look at
            heappush(waiting, (now, draw, i))
            continue
        chosen.append(i)
        first[rows[i][0]] += 1
        shown.update(rows[i])
    return chosen


def _few(
    n: int, m: int, widths: Sequence[int], rng: np.random.Generator, gone: set[tuple[int, ...]]
) -> NDArray[np.int32] | None:
    """At most half of all rows that are not gone; None where those that are left cannot be drawn evenly.

    Where a second group takes most objects, those that it leaves out are drawn.
    """
    wide = len(widths) == 2 and 2 * widths[1] >= n
    sizes = [1, n - 1 - widths[1]] if wide else list(widths)
    for attempt in count_up():
        if gone and attempt == RESTARTS:
            return None
        rows = _shuffled(m, _quotas(n, m, sizes, wide, rng), sizes, rng)
        if repair(rows, sizes, rng, gone):  # a draw that cannot be repaired is rare, unless rows are gone
            break
    if not wide:
        return rows.astype(np.int32)
    present = np.ones((m, n), dtype=bool)
    np.put_along_axis(present, rows, False, axis=1)
    options = np.nonzero(present)[1].reshape(m, widths[1])
    return np.concatenate([rows[:, :1], options], axis=1).astype(np.int32)


def anchored_trios(
    n: int, m: int, rng: np.random.Generator, taken: Collection[Sequence[int]]
) -> NDArray[np.int32] | None:
    """(m, 3) rows of different trios, none of them taken; every object stands first, and in all, equally often.

    None where most of the trios are wanted, or where those that are left cannot be drawn evenly.
    """
    gone = {key_of(row, [3]) for row in taken}
    if 2 * m > count_rows(n, [3]) - len(gone):
        return None
    for _ in range(RESTARTS):
        first = _quota(n, m, rng)
        rows = _shuffled(m, [first, _quota(n, 3 * m, rng, first) - first], [1, 2], rng)
        if repair(rows, [1, 2], rng, gone, same=[3]):
            return rows.astype(np.int32)
    return None


def _shuffled(
    m: int, quotas: Sequence[NDArray[np.int64]], sizes: Sequence[int], rng: np.random.Generator
) -> NDArray[np.int64]:
    """m rows at random, in whose groups of columns every object stands as often as its quota says."""
    columns = [
        rng.permutation(np.repeat(np.arange(len(quota)), quota)).reshape(m, size)
        for size, quota in zip(sizes, quotas, strict=True)
    ]
    return np.concatenate(columns, axis=1)


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


def _all_rows(objects: Sequence[int], widths: Sequence[int]) -> list[list[int]]:
    if not widths:
        return [[]]
    return [
        [*first, *rest]
        for first in combinations(objects, widths[0])
        for rest in _all_rows([x for x in objects if x not in first], widths[1:])
    ]
