"""Pairs of landmarks for each object, dealt out so that every pair, and every landmark, is used equally often."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator

import numpy as np

from nearfar._tools.arrays import Indices, Ints

__all__ = ["dealt_pairs"]

Pair = tuple[int, int]


def dealt_pairs(
    rank: Indices, quota: Ints, room: Ints, ordered: bool, rng: np.random.Generator
) -> list[Pair]:
    """For one object after the other, ``quota`` different pairs of landmarks (numbers below k), none with itself.

    All pairs come round before one comes again; what an object cannot take goes to the next one. Landmarks have their
    turn first, since others can take what they leave. Objects come in random order: neighbours would share no pair.

    Parameters
    ----------
    rank : (n,) number of each object among the landmarks, or -1.
    quota, room : (n,) how many pairs each object gets, and could get.
    ordered : whether (a, b) and (b, a) differ, as in k2; a landmark then takes its own third of the questions.
    """
    k = int(rank.max(initial=-1)) + 1
    coming = _rounds(k, ordered, rng)
    found: list[list[Pair]] = [[] for _ in rank]
    order = rng.permutation(len(rank))
    order = order[np.argsort(rank[order] < 0, kind="stable")]
    left: deque[Pair] = deque()
    is_full = (quota == room) & (rank >= 0)
    if is_full.sum() == k:  # each landmark gets all it can, and the others make up for what was used less
        for x in order[:k].tolist():
            found[x] = [pair for pair in _all_pairs(k, ordered) if _may_take(pair, int(rank[x]), ordered)]
        used = Counter(pair for own in found for pair in own)
        most = max(used.values(), default=0)
        missing = [pair for pair in _all_pairs(k, ordered) for _ in range(most - used[pair])]
        left.extend(missing[i] for i in rng.permutation(len(missing)).tolist())
        order = order[k:]
    for x in order.tolist():
        own, p, passed = found[x], int(rank[x]), []
        taken: set[Pair] = set()
        while len(own) < quota[x]:
            pair = left.popleft() if left else next(coming)
            if pair not in taken and _may_take(pair, p, ordered):
                own.append(pair)
                taken.add(pair)
            else:
                passed.append(pair)
        left.extendleft(reversed(passed))
    return [pair for own in found for pair in own]


def _may_take(pair: Pair, p: int, ordered: bool) -> bool:
    """Whether landmark p (or another object, -1) is asked about this pair.

    Of the three k2 questions in a trio of landmarks each object owns one: its anchor is the object before it, going round.
    """
    a, b = pair
    if p < 0 or p in pair:
        return p < 0
    return not ordered or (a < p < b if a < b else not b < p < a)


def _all_pairs(k: int, ordered: bool) -> list[Pair]:
    return [(a, b) for b in range(k) for a in range(k if ordered else b) if a != b]


def _rounds(k: int, ordered: bool, rng: np.random.Generator) -> Iterator[Pair]:
    """All pairs, then all again in another order, and so on, so that landmarks come evenly within a round, too.

    Ordered pairs are cut into circles in which every landmark comes first once and second once; others as in a
    tournament, into matches at which everybody plays once (an odd landmark out plays nobody).
    """
    even = k + k % 2
    while True:
        name = rng.permutation(k).tolist()
        for step in (1 + rng.permutation(k - 1 if ordered else even - 1)).tolist():
            for i in rng.permutation(k if ordered else even // 2).tolist():
                if ordered:
                    a, b = i, (i + step) % k
                elif i == 0:
                    a, b = step - 1, even - 1
                else:
                    a, b = (step - 1 + i) % (even - 1), (step - 1 - i) % (even - 1)
                if max(a, b) < k:
                    one, other = name[a], name[b]
                    yield (one, other) if ordered or one < other else (other, one)
