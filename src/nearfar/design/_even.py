"""Distinct rows of objects in which every object stands, and is the anchor, equally often, give or take one."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from itertools import accumulate, combinations, count, islice
from math import comb, prod
from random import Random

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from nearfar._tools.arrays import Ints
from nearfar.errors import TooLargeError

Row = tuple[int, ...]
Anchors = dict[Row, set[int]]  # of a trio
RESTARTS = 20  # where rows are gone, so that those left may not allow an even draw


def count_rows(n: int, widths: Sequence[int]) -> int:
    """How many rows there are: widths [3] are trios, [1, 8] an anchor and 8 options."""
    before = accumulate(widths[:-1], initial=0)
    return prod(comb(n - others, size) for others, size in zip(before, widths, strict=True))


def balanced_rows(
    n: int, m: int, widths: Sequence[int], rng: Generator, taken: Collection[Sequence[int]] = ()
) -> NDArray[np.int32]:
    """(m, sum(widths)) distinct rows of distinct objects below n; in each group of columns every object stands equally often.

    Rows with the same objects in each group are the same; those ``taken`` are not drawn. More than half of the others are
    drawn by drawing those to leave out, which is as even (together with those taken).
    """
    weights = _weights(n, widths)
    gone = _codes(np.array(taken, dtype=np.int64).reshape(-1, sum(widths)), weights)
    total = count_rows(n, widths) - len(gone)
    few = 2 * m <= total
    drawn = _few(n, m, widths, widths, rng, gone) if few else None
    if drawn is not None:
        return drawn
    if total > 2_000_000:  # all are listed one by one to draw more than half of them
        drawn_evenly = f"{m:,} of {total:,} possible questions cannot be drawn evenly in memory"
        raise TooLargeError(f"budget: {drawn_evenly}; ask for at most {total // 2:,}")
    free = np.array(_all_rows(range(n), widths), dtype=np.int32)
    free = free[~np.isin(_codes(free, weights), gone)]
    left_out = None if few else _few(n, total - m, widths, widths, rng, gone)
    if left_out is None:
        rows = free[list(islice(even_order(free.tolist(), rng), m))]
    else:
        rows = free[~np.isin(_codes(free, weights), _codes(left_out, weights))]
    return rng.permutation(rows, axis=0)


def even_order(
    rows: Sequence[Sequence[int]], rng: Generator, *, anchored: bool = False, before: int = 0
) -> Iterator[int]:
    """The rows one after the other, so that those taken so far hold objects as equally often as such a choice can.

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
    while waiting:
        known, draw, i = waiting[0]
        now = crowded(i)
        if now > known:  # counts only grow, so the least of what was known is enough to look at
            heapreplace(waiting, (now, draw, i))
            continue
        heappop(waiting)
        yield i
        first[rows[i][0]] += 1
        shown.update(rows[i])


def _few(
    n: int, m: int, widths: Sequence[int], alike: Sequence[int], rng: Generator, gone: Ints
) -> NDArray[np.int32] | None:
    """At most half of all rows that are not gone; None where those that are left cannot be drawn evenly.

    Where a second group takes most objects, those that it leaves out are drawn, and stand as often as the anchors let
    them. Rows that are ``alike`` by other groups than ``widths`` hold all objects equally often, too.
    """
    joint = alike != widths
    wide = not joint and len(widths) == 2 and 2 * widths[1] >= n
    sizes = [1, n - 1 - widths[1]] if wide else widths
    for attempt in count():
        if attempt == RESTARTS and (joint or len(gone)):  # a draw that cannot be repaired is rare otherwise
            return None
        quotas = [_quota(n, m * size, rng) for size in sizes]
        if wide or joint:
            quotas[1] = _quota(n, m * sum(sizes), rng, quotas[0]) - quotas[0]
        groups = zip(sizes, quotas, strict=True)
        rows = np.concatenate([np.repeat(np.arange(n), q).reshape(m, size) for size, q in groups], axis=1)
        if _deal(rows, sizes, _weights(n, alike if joint else sizes), rng, gone):
            break
    if wide:
        present = np.ones((m, n), dtype=bool)
        np.put_along_axis(present, rows, False, axis=1)
        rows = np.concatenate([rows[:, :1], np.nonzero(present)[1].reshape(m, widths[1])], axis=1)
    return rows.astype(np.int32)


def _quota(n: int, total: int, rng: Generator, first: Ints | None = None) -> Ints:
    """(n,) how often each object stands, give or take one equally often; one more goes to the largest of ``first``."""
    order = rng.permutation(n)
    if first is not None:
        order = order[np.argsort(-first[order], kind="stable")]
    quota = np.full(n, total // n, dtype=np.int64)
    quota[order[: total % n]] += 1
    return quota


def _all_rows(objects: Sequence[int], widths: Sequence[int]) -> list[list[int]]:
    if not widths:
        return [[]]
    return [
        [*first, *rest]
        for first in combinations(objects, widths[0])
        for rest in _all_rows([x for x in objects if x not in first], widths[1:])
    ]


def _weights(n: int, widths: Sequence[int]) -> list[Ints]:
    """For each column (n,) random numbers of 63 bits, one for each object; the same in all columns of a group."""
    table = np.random.default_rng(0).integers(2**63 - 1, size=(len(widths), n))
    return [weights for weights, size in zip(table, widths, strict=True) for _ in range(size)]


def _codes(rows: NDArray[np.integer], weights: list[Ints]) -> Ints:
    """(m,) the same for two rows that hold the same objects in each group of columns; in practice never for others."""
    codes = np.zeros(len(rows), dtype=np.int64)
    for column, own in zip(rows.T, weights, strict=True):
        codes ^= own[column]
    return codes


def _deal(drawn: Ints, widths: Sequence[int], weights: list[Ints], rng: Generator, gone: Ints) -> bool:
    """Shuffle the objects of each group of columns, in place, until all rows are sound; False after too many attempts.

    A fault is an object that stands twice in a row, or a row whose code stands there already or is gone. Rows with a
    fault are shuffled among themselves while they are many and become fewer.
    """
    m = len(drawn)
    parts = [range(end - size, end) for end, size in zip(accumulate(widths), widths, strict=True)]
    before, wrong, codes = m + 1, np.arange(m), gone
    while m < 50 * len(wrong) < 50 * before:
        before = len(wrong)
        for part in parts:
            old = drawn[wrong[:, None], part]
            drawn[wrong[:, None], part] = rng.permutation(old.ravel()).reshape(old.shape)
        ordered, codes = np.sort(drawn, axis=1), np.concatenate([gone, _codes(drawn, weights)])
        order = np.argsort(codes, kind="stable")  # of rows that are the same, one that is gone comes first
        again = order[1:][codes[order[1:]] == codes[order[:-1]]] - len(gone)
        wrong = np.union1d(again, np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)))
    return not len(wrong) or _repair(drawn, wrong, codes, weights, parts, rng)


def _repair(
    drawn: Ints, unsound: Ints, known: Ints, weights: list[Ints], parts: list[range], rng: Generator
) -> bool:
    """Exchange objects of unsound rows with others in the same group of columns, never so that there are more faults."""
    rows, (m, width), wrong, seen = drawn.tolist(), drawn.shape, unsound.tolist(), Counter(known.tolist())
    codes = known[len(known) - m :].tolist()
    partners = [part for part in parts for _ in part]

    def faults(i: int) -> int:
        return int(width - len(set(rows[i])) + (seen[codes[i]] > 1))

    def exchange(i: int, a: int, j: int, b: int) -> None:
        rows[i][a], rows[j][b] = rows[j][b], rows[i][a]
        change = int(weights[a][rows[i][a]] ^ weights[a][rows[j][b]])
        for row in (i, j):
            seen[codes[row]] -= 1
            codes[row] ^= change
            seen[codes[row]] += 1

    draw = Random(int(rng.integers(2**63))).random  # numpy's are slow one by one
    attempts = 70 * width * (m + 20) if m > 1 else 0  # a single row has no partner
    while wrong:
        i = wrong.pop()
        while faults(i):
            if not attempts:
                return False
            attempts -= 1
            a, j = int(draw() * width), int(draw() * m)
            b = partners[a][int(draw() * len(partners[a]))]
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


def near_rows(n: int, m: int, rng: Generator, asked: Iterable[list[int]] = ()) -> NDArray[np.int32]:
    """(m, 3) anchor, one, other: distinct questions that are not in ``asked``.

    No trio is asked about twice before all are asked about once, and so on; within such a round every object stands in
    equally many trios, and is the anchor equally often, give or take one, as far as the anchors that are left allow.
    """
    used: Anchors = {}
    for row in asked:
        used.setdefault(tuple(sorted(row)), set()).add(row[0])
    gone = _codes(np.array(list(used), dtype=np.int64).reshape(-1, 3), _weights(n, [3]))
    few = _few(n, m, [1, 2], [3], rng, gone) if 2 * m <= comb(n, 3) - len(gone) else None
    if few is not None:
        return few
    covered = Counter({trio: len(anchors) for trio, anchors in used.items()})
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
    owned = _spread(n, drawn, used, rng)
    questions = [[a, *(x for x in trio if x != a)] for a, trios in enumerate(owned) for trio in sorted(trios)]
    return rng.permutation(np.array(questions, dtype=np.int32).reshape(m, 3), axis=0)


def _spread(n: int, drawn: list[Row], used: Anchors, rng: Generator) -> list[set[Row]]:
    """(n,) the trios that each object is the anchor of, equally many give or take one; a trio never has an anchor twice."""
    owned: list[set[Row]] = [set() for _ in range(n)]
    orders = rng.permuted(np.tile(np.arange(3), (len(drawn), 1)), axis=1).tolist()
    for trio, order in zip(drawn, orders, strict=True):
        anchors = used.setdefault(trio, set())
        anchor = min((trio[k] for k in order if trio[k] not in anchors), key=lambda x: len(owned[x]))
        anchors.add(anchor)
        owned[anchor].add(trio)
    while path := _path(used, owned):
        for trio, giver, taker in path:
            used[trio] ^= {giver, taker}
            owned[giver].remove(trio)
            owned[taker].add(trio)
    return owned


def _path(used: Anchors, owned: list[set[Row]]) -> list[tuple[Row, int, int]]:
    """Exchanges that take an anchor from a most frequent object and give one to an object with two fewer; [] if none.

    Every step hands one trio from an anchor to another of its objects, so that those between keep their number.
    Where there is no such path, no choice of anchors is more even.
    """
    most = max(map(len, owned))
    if most - min(map(len, owned)) < 2:
        return []
    paths: dict[int, list[tuple[Row, int, int]]] = {x: [] for x, own in enumerate(owned) if len(own) == most}
    waiting = deque(paths)
    while waiting:
        giver = waiting.popleft()
        for trio in sorted(owned[giver]):
            for taker in trio:
                if taker in paths or taker in used[trio]:
                    continue
                paths[taker] = [(trio, giver, taker), *paths[giver]]
                if len(owned[taker]) <= most - 2:
                    return paths[taker]
                waiting.append(taker)
    return []
