"""Questions "which is nearer" about trios that are covered evenly, with every object the anchor equally often."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from math import comb

import numpy as np
from numpy.typing import NDArray

from nearfar.design._balance import anchored_trios, balanced_rows

__all__ = ["near_rows"]

Trio = tuple[int, ...]
Anchors = dict[Trio, set[int]]


def near_rows(n: int, m: int, rng: np.random.Generator, asked: Iterable[list[int]] = ()) -> NDArray[np.int32]:
    """(m, 3) anchor, one, other: distinct questions that are not in ``asked``.

    No trio is asked about twice before all are asked about once, and so on; within such a round every object stands
    in equally many trios, give or take one. Then every object is the anchor equally often, give or take one, as far
    as the anchors that are left allow.
    """
    frozen: Anchors = {}
    for row in asked:
        frozen.setdefault(tuple(sorted(row)), set()).add(row[0])
    few = anchored_trios(n, m, rng, frozen)
    if few is not None:
        return few
    covered = Counter({trio: len(anchors) for trio, anchors in frozen.items()})
    drawn: list[Trio] = []
    level = 0
    while len(drawn) < m:
        beyond = [trio for trio, times in covered.items() if times > level]
        count = min(m - len(drawn), comb(n, 3) - len(beyond))
        rows = balanced_rows(n, count, [3], rng, beyond)
        fresh: list[Trio] = list(map(tuple, np.sort(rows, axis=1).tolist()))
        covered.update(fresh)
        drawn += fresh
        level += 1
    chosen = _spread(n, drawn, frozen, rng)
    questions = [[a, *(x for x in trio if x != a)] for trio, anchors in chosen.items() for a in anchors]
    return rng.permutation(np.array(questions, dtype=np.int32).reshape(m, 3), axis=0)


def _spread(n: int, drawn: list[Trio], frozen: Anchors, rng: np.random.Generator) -> Anchors:
    """Different anchors of each trio, as many as it was drawn; each object as often as the next, give or take one."""
    chosen: Anchors = {trio: set() for trio in drawn}
    owned: list[set[Trio]] = [set() for _ in range(n)]
    for trio, order in zip(
        drawn, rng.permuted(np.tile(np.arange(3), (len(drawn), 1)), axis=1).tolist(), strict=True
    ):
        free = [trio[k] for k in order if trio[k] not in chosen[trio] and trio[k] not in frozen.get(trio, ())]
        anchor = min(free, key=lambda x: len(owned[x]))
        chosen[trio].add(anchor)
        owned[anchor].add(trio)
    while path := _path(chosen, owned, frozen):
        for trio, giver, taker in path:
            chosen[trio] = chosen[trio] - {giver} | {taker}
            owned[giver].discard(trio)
            owned[taker].add(trio)
    return chosen


def _path(chosen: Anchors, owned: list[set[Trio]], frozen: Anchors) -> list[tuple[Trio, int, int]]:
    """Exchanges that take an anchor from a most frequent object and give one to an object with two fewer; [] if none.

    Every step hands one trio from an anchor to another of its objects, so that those between keep their number.
    Where there is no such path, no choice of anchors is more even.
    """
    loads = [len(trios) for trios in owned]
    most = max(loads)
    if most - min(loads) < 2:
        return []
    paths: dict[int, list[tuple[Trio, int, int]]] = {x: [] for x, load in enumerate(loads) if load == most}
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
