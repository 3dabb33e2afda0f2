"""Distinct rows of objects in which every object stands, and is the anchor, equally often, give or take one."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations, count
from math import comb

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import TooLargeError

Row = tuple[int, ...]
Anchors = dict[Row, set[int]]  # of a trio
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
    gone = {_key(row, widths) for row in taken}
    total = count_rows(n, widths) - len(gone)
    few = 2 * m <= total
    drawn = _few(n, m, widths, rng, gone) if few else None
    if drawn is not None:
        return drawn
    if total > 2_000_000:  # all are listed one by one to draw more than half of them
        raise TooLargeError(
            f"budget: {m:,} of {total:,} possible questions cannot be drawn evenly in memory; "
            f"ask for at most {total // 2:,}"
        )
    free = [row for row in _all_rows(range(n), widths) if _key(row, widths) not in gone]
    left_out = None if few else _few(n, total - m, widths, rng, gone)
    if left_out is None:
        rows = [free[i] for i in even_subset(free, m, rng)]
    else:
        out = {_key(row, widths) for row in left_out.tolist()}
        rows = [row for row in free if _key(row, widths) not in out]
    return rng.permutation(np.array(rows, dtype=np.int32).reshape(m, sum(widths)), axis=0)


def even_subset(
    rows: Sequence[Sequence[int]],
    wanted: int,
    rng: np.random.Generator,
    *,
    anchored: bool = False,
    before: int = 0,
) -> list[int]:
    """Which ``wanted`` rows to take so that objects stand equally often, as far as a choice of one after the other can.

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
    while len(chosen) < wanted:
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
    n: int, m: int, widths: Sequence[int], rng: np.random.Generator, gone: Collection[Row]
) -> NDArray[np.int32] | None:
    """At most half of all rows that are not gone; None where those that are left cannot be drawn evenly.

    Where a second group takes most objects, those that it leaves out are drawn, and stand as often as the anchors let them.
    """
    wide = len(widths) == 2 and 2 * widths[1] >= n
    sizes = [1, n - 1 - widths[1]] if wide else widths
    for attempt in count():
        if attempt == RESTARTS and gone:  # a draw that cannot be repaired is rare otherwise
            return None
        quotas = [_quota(n, m * size, rng) for size in sizes]
        if wide:
            quotas[1] = _quota(n, m * sum(sizes), rng, quotas[0]) - quotas[0]
        columns = [
            rng.permutation(np.repeat(np.arange(n), quota)).reshape(m, size)
            for size, quota in zip(sizes, quotas, strict=True)
        ]
        rows = np.concatenate(columns, axis=1)
        if _repair(rows, sizes, rng, gone):
            break
    if wide:
        present = np.ones((m, n), dtype=bool)
        np.put_along_axis(present, rows, False, axis=1)
        rows = np.concatenate([rows[:, :1], np.nonzero(present)[1].reshape(m, widths[1])], axis=1)
    return rows.astype(np.int32)


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


def _key(row: Sequence[int], widths: Sequence[int]) -> Row:
    """The same for two rows that hold the same objects in each group of columns."""
    key: list[int] = []
    for size in widths:
        key += sorted(row[len(key) : len(key) + size])
    return tuple(key)


def _repair(
    drawn: NDArray[np.int64], widths: Sequence[int], rng: np.random.Generator, gone: Collection[Row]
) -> bool:
    """Exchange objects between rows, in place, until all rows are sound; False after too many attempts.

    A fault is an object that stands twice in a row, or a row that stands there already or is gone. Exchanges stay
    within a group of columns, so that the counts stay even, and never raise the number of faults.
    """
    rows, m = drawn.tolist(), len(drawn)
    keys = [_key(row, widths) for row in rows]
    seen = Counter(keys)
    seen.update(gone)
    group_of = np.repeat(np.arange(len(widths)), widths)
    positions = [np.flatnonzero(group_of == group).tolist() for group in group_of]

    def faults(i: int) -> int:
        key = keys[i]
        return len(key) - len(set(key)) + (seen[key] > 1)

    def exchange(i: int, a: int, j: int, b: int) -> None:
        rows[i][a], rows[j][b] = rows[j][b], rows[i][a]
        for row in (i, j):
            seen[keys[row]] -= 1
            keys[row] = _key(rows[row], widths)
            seen[keys[row]] += 1

    draws = _numbers(rng)
    attempts = 200 * (m + 20) if m > 1 else 0  # a single row has no partner
    wrong = [i for i in range(m) if faults(i)]
    while wrong:
        i = wrong.pop()
        while faults(i):
            if not attempts:
                return False
            attempts -= 1
            a, j = int(next(draws) * len(positions)), int(next(draws) * m)
            b = positions[a][int(next(draws) * len(positions[a]))]
            if i == j or rows[i][a] == rows[j][b]:
                continue
            before = faults(i) + faults(j)
            exchange(i, a, j, b)
            if faults(i) + faults(j) > before:
                exchange(i, a, j, b)
            elif faults(j):
                wrong.append(j)
    drawn[:] = np.reshape(rows, drawn.shape)
    return True


def _numbers(rng: np.random.Generator) -> Iterator[float]:
    """Random numbers from 0 to 1, drawn many at a time because one at a time is slow."""
    while True:
        yield from rng.random(1000).tolist()


def near_rows(n: int, m: int, rng: np.random.Generator, asked: Iterable[list[int]] = ()) -> NDArray[np.int32]:
    """(m, 3) anchor, one, other: distinct questions that are not in ``asked``.

    No trio is asked about twice before all are asked about once, and so on; within such a round every object stands
    in equally many trios, give or take one. Then every object is the anchor equally often, give or take one, as far
    as the anchors that are left allow.
    """
    frozen: Anchors = {}
    for row in asked:
        frozen.setdefault(tuple(sorted(row)), set()).add(row[0])
    covered = Counter({trio: len(anchors) for trio, anchors in frozen.items()})
    drawn: list[Row] = []
    level = 0
    while len(drawn) < m:
        beyond = [trio for trio, times in covered.items() if times > level]
        count = min(m - len(drawn), comb(n, 3) - len(beyond))
        rows = balanced_rows(n, count, [3], rng, beyond)
        fresh: list[Row] = list(map(tuple, np.sort(rows, axis=1).tolist()))
        covered.update(fresh)
        drawn += fresh
        level += 1
    chosen = _spread(n, drawn, frozen, rng)
    questions = [[a, *(x for x in trio if x != a)] for trio, anchors in chosen.items() for a in anchors]
    return rng.permutation(np.array(questions, dtype=np.int32).reshape(m, 3), axis=0)


def _spread(n: int, drawn: list[Row], frozen: Anchors, rng: np.random.Generator) -> Anchors:
    """Different anchors of each trio, as many as it was drawn; each object as often as the next, give or take one."""
    chosen: Anchors = {trio: set() for trio in drawn}
    owned: list[set[Row]] = [set() for _ in range(n)]
    loads = [0] * n
    orders = rng.permuted(np.tile(np.arange(3), (len(drawn), 1)), axis=1).tolist()
    for trio, order in zip(drawn, orders, strict=True):
        free = [trio[k] for k in order if trio[k] not in chosen[trio] and trio[k] not in frozen.get(trio, ())]
        anchor = min(free, key=loads.__getitem__)
        chosen[trio].add(anchor)
        owned[anchor].add(trio)
        loads[anchor] += 1
    while path := _path(chosen, owned, loads, frozen):
        for trio, giver, taker in path:
            chosen[trio] = chosen[trio] - {giver} | {taker}
            owned[giver].discard(trio)
            owned[taker].add(trio)
            loads[giver] -= 1
            loads[taker] += 1
    return chosen


def _path(
    chosen: Anchors, owned: list[set[Row]], loads: list[int], frozen: Anchors
) -> list[tuple[Row, int, int]]:
    """Exchanges that take an anchor from a most frequent object and give one to an object with two fewer; [] if none.

    Every step hands one trio from an anchor to another of its objects, so that those between keep their number.
    Where there is no such path, no choice of anchors is more even.
    """
    most = max(loads)
    if most - min(loads) < 2:
        return []
    paths: dict[int, list[tuple[Row, int, int]]] = {x: [] for x, load in enumerate(loads) if load == most}
    waiting = deque(paths)
    while waiting:
        giver = waiting.popleft()
        for trio in sorted(owned[giver]):
            for taker in trio:
                if taker in paths or taker in chosen[trio] or taker in frozen.get(trio, ()):
                    continue
                paths[taker] = [(trio, giver, taker), *paths[giver]]
                if loads[taker] <= most - 2:
                    return paths[taker]
                waiting.append(taker)
    return []
