"""Dealing questions out to people: equally many each, no trio twice, objects evenly to all."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
from numpy.random import Generator

from nearfar._tools.arrays import Ints
from nearfar.design._even import even_order
from nearfar.design.questions import Questions
from nearfar.errors import InputError

Keys = list[tuple[int, ...]]
Counts = dict[int, int]
ANCHOR_WEIGHT = 1_000_000  # more than all the objects of two questions can weigh


def deal(questions: Questions, total: int, people: int, rng: Generator) -> tuple[Ints, Ints, int]:
    """(total,) questions, (total,) the person of each, and how many trios come to somebody who has them already.

    Slots of one trio lie side by side, those of one anchor too, and are dealt round the table, so that they come to
    different people. Random exchanges that bring no trio twice to anybody then mix who shares questions with whom and
    even out how often each person gets an object.
    """
    # the ids of the trios that each question shows: one, or for a grid those of the anchor and any two options
    n, width = len(questions.objects), questions.array.shape[1]
    columns = [(0, i, j) for i, j in combinations(range(1, width), 2)]
    trios = np.sort(questions.array.astype(np.int64)[:, columns], axis=2)
    keys: Keys = list(map(tuple, (trios @ [n * n, n, 1]).tolist()))
    load = _spread_load(questions, keys, total, people, rng)
    mixed = rng.permutation(len(keys)).tolist()
    anchor = questions.array[:, 0].tolist() if questions.anchored else [0] * len(keys)
    rank: dict[tuple[int, ...], tuple[int, int]] = {}
    for q in mixed:
        rank.setdefault(keys[q], (anchor[q], len(rank)))
    order = sorted(mixed, key=lambda q: rank[keys[q]])
    question = np.repeat(np.array(order, dtype=np.int64), load[order])
    person = rng.permutation(people)[np.arange(total) % people]
    lists = _Lists(questions, keys, question.tolist(), person.tolist())
    lists.mix(rng)
    return np.array(lists.asked, dtype=np.int64), person, lists.clashes()


def _spread_load(questions: Questions, keys: Keys, total: int, people: int, rng: Generator) -> Ints:
    """How often each question is asked: ``total`` in all, equally often give or take one.

    Those asked once more are chosen evenly over the objects. Questions that show one trio are together asked at most
    ``people`` times, for nobody gets a trio twice.
    """
    base, extra = divmod(total, len(keys))
    room = {key: people - base * (size if len(key) == 1 else 1) for key, size in Counter(keys).items()}
    load = np.full(len(keys), base, dtype=np.int64)
    for question in even_order(questions.array.tolist(), rng, anchored=questions.anchored, before=base):
        if not extra:
            break
        if room[keys[question]] > 0:
            room[keys[question]] -= len(keys[question]) == 1
            load[question] += 1
            extra -= 1
    if extra or min(room.values()) < 0:
        raise InputError(
            f"people: {len(keys):,} questions cannot be asked {total:,} times of {people:,} people so that nobody "
            "gets the same trio twice; take more people, more questions, or fewer answers per question"
        )
    return load


class _Lists:
    """Who is asked what: slot s asks person ``who[s]`` the question ``asked[s]``."""

    def __init__(self, questions: Questions, keys: Keys, asked: list[int], who: list[int]) -> None:
        self.n, self.anchored, self.asked, self.who = len(questions.objects), questions.anchored, asked, who
        self.anchor = questions.array[:, 0]
        self.trios = [frozenset(2 * self.n + trio for trio in key) for key in keys]
        self.parts = [frozenset(row) for row in questions.array.tolist()]  # objects, and n + the anchor
        if self.anchored:
            self.parts = [own | {self.n + x} for own, x in zip(self.parts, self.anchor.tolist(), strict=True)]
        self.counts: list[Counts] = [defaultdict(int) for _ in range(max(who) + 1)]
        for question, person in zip(asked, who, strict=True):
            self._count(person, question, 1)

    def mix(self, rng: Generator) -> None:
        """Exchange the questions of random slots, in place, wherever no further trio comes to anybody twice.

        First between slots of the same anchor, whatever comes of it, then wherever lists become no less even.
        """
        slots = len(self.asked)
        if slots < 2:
            return
        for i, j in self._pairs(4 * slots, rng):
            self._exchange(i, j)
        self._repair(rng)
        proposals = min(20 * slots, 500_000 + slots)  # of each kind; in all about a quarter of a minute
        for i, j in [*self._pairs(proposals, rng), *rng.integers(slots, size=(proposals, 2)).tolist()]:
            self._exchange(i, j, evenly=True)
        self._repair(rng)

    def clashes(self) -> int:
        """How many trios come to somebody who has them already."""
        return sum(max(times - 1, 0) for own in self.counts for x, times in own.items() if x >= 2 * self.n)

    def _repair(self, rng: Generator) -> None:
        """Give away, where that can be done, what somebody has twice."""
        for i in range(len(self.asked)):
            for j in rng.integers(len(self.asked), size=200).tolist() if self._clashes_at(i) else ():
                self._exchange(i, j)
                if not self._clashes_at(i):
                    break

    def _clashes_at(self, slot: int) -> bool:
        own = self.counts[self.who[slot]]
        return any(own[trio] > 1 for trio in self.trios[self.asked[slot]])

    def _pairs(self, count: int, rng: Generator) -> list[tuple[int, int]]:
        """Random pairs of slots, with the same anchor where questions have one."""
        slots = len(self.asked)
        group = self.anchor[self.asked] if self.anchored else np.zeros(slots, int)
        order = np.argsort(group, kind="stable")
        start = np.searchsorted(group[order], group)
        size = np.bincount(group)[group]
        i = rng.integers(slots, size=count)
        j = order[start[i] + (rng.random(count) * size[i]).astype(np.int64)]
        return list(zip(i.tolist(), j.tolist(), strict=True))

    def _exchange(self, i: int, j: int, evenly: bool = False) -> None:
        """Exchange the questions of two slots, unless more trios clash than before or, if asked, lists are less even."""
        one, other, first, second = self.who[i], self.who[j], self.asked[i], self.asked[j]
        if one == other or first == second:
            return
        for parts in (self.parts, self.trios) if evenly else (self.trios,):
            if self._worse(self.counts[one], parts[first], self.counts[other], parts[second]):
                return
        for person, gone, come in ((one, first, second), (other, second, first)):
            self._count(person, gone, -1)
            self._count(person, come, 1)
        self.asked[i], self.asked[j] = second, first

    def _worse(self, mine: Counts, gone: frozenset[int], yours: Counts, come: frozenset[int]) -> bool:
        """Whether an exchange brings more trios twice to somebody, or raises the sum of squares of the other counts."""
        rise = 0
        for own, parts, others in ((mine, gone - come, yours), (yours, come - gone, mine)):
            for x in parts:
                if x >= 2 * self.n:
                    rise += (others[x] > 0) - (own[x] > 1)
                else:
                    rise += (others[x] - own[x] + 1) * (ANCHOR_WEIGHT if x >= self.n else 1)
        return rise > 0

    def _count(self, person: int, question: int, by: int) -> None:
        own = self.counts[person]
        for parts in (self.parts[question], self.trios[question]):
            for x in parts:
                own[x] += by
