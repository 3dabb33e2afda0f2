"""Dealing questions out to people: equally many each, no trio twice, objects evenly to all."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np

from nearfar._tools.arrays import Ints
from nearfar.design._even import even_subset
from nearfar.design.questions import Questions
from nearfar.errors import InputError

Keys = list[tuple[int, ...]]
ANCHOR_WEIGHT = 1_000_000  # more than all the objects of two questions can weigh


def trio_keys(questions: Questions) -> Keys:
    """The ids of the trios that each question shows: one, or for a grid those of the anchor and any two options."""
    n = len(questions.objects)
    if questions.kind != "grid":
        low, middle, high = np.sort(questions.array, axis=1).astype(np.int64).T
        return [(code,) for code in ((low * n + middle) * n + high).tolist()]
    keys: Keys = []
    for anchor, *options in questions.array.tolist():
        trios = (sorted((anchor, one, other)) for one, other in combinations(options, 2))
        keys.append(tuple((a * n + b) * n + c for a, b, c in trios))
    return keys


def spread_load(questions: Questions, keys: Keys, total: int, people: int, rng: np.random.Generator) -> Ints:
    """How often each question is asked: ``total`` in all, equally often give or take one.

    Those asked once more are chosen evenly over the objects. Questions that show one trio are together asked at most
    ``people`` times, for nobody gets a trio twice.
    """
    m = len(keys)
    base, extra = divmod(total, m) if m else (0, total)
    group: Counter[tuple[int, ...]] = Counter(key for key in keys if len(key) == 1)
    room = {key: people - base * size for key, size in group.items()}
    crowded = base + (extra > 0) > people or min(room.values(), default=0) < 0
    load = np.full(m, base, dtype=np.int64)
    tight = extra > 0 and any(size > 1 for size in group.values())
    order = even_subset(
        questions.array.tolist(), m if tight else extra, rng, anchored=questions.anchored, before=base
    )
    for question in order:
        key = keys[question]
        if extra and room.get(key, 1) > 0:
            room[key] = room.get(key, 2) - 1
            load[question] += 1
            extra -= 1
    if crowded or extra:
        raise InputError(
            f"people: {m:,} questions cannot be asked {total:,} times of {people:,} people so that nobody gets the "
            "same trio twice; take more people, more questions, or fewer answers per question"
        )
    return load


def deal(
    questions: Questions, keys: Keys, load: Ints, people: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """(slots,) questions and (slots,) the person of each: equally many each, give or take one; no trio twice.

    Slots of one trio lie side by side, those of one anchor too, and are dealt round the table, so that they come to
    different people. Random exchanges that bring no trio twice to anybody then mix who shares questions with whom and
    even out how often each person gets an object.
    """
    mixed = rng.permutation(len(keys)).tolist()
    anchor = questions.array[:, 0].tolist() if questions.anchored else [0] * len(keys)
    rank: dict[tuple[int, ...], tuple[int, int]] = {}
    for q in mixed:
        rank.setdefault(keys[q], (anchor[q], len(rank)))
    order = sorted(mixed, key=lambda q: rank[keys[q]])
    question = np.repeat(np.array(order, dtype=np.int64), load[order])
    seat = rng.permutation(people)
    person = seat[np.arange(len(question)) % people]
    lists = Lists(questions, keys, question.tolist(), person.tolist())
    lists.mix(rng)
    return np.array(lists.asked, dtype=np.int64), person


def count_clashes(keys: Keys, question: Ints, person: Ints) -> int:
    """How many trios come to somebody who has them already."""
    shown = [(p, trio) for q, p in zip(question.tolist(), person.tolist(), strict=True) for trio in keys[q]]
    return len(shown) - len(set(shown))


class Lists:
    """Who is asked what: slot s asks person ``who[s]`` the question ``asked[s]``."""

    def __init__(self, questions: Questions, keys: Keys, asked: list[int], who: list[int]) -> None:
        self.n, people = len(questions.objects), max(who, default=-1) + 1
        self.keys, self.asked, self.who = keys, asked, who
        self.parts: list[list[int]] = questions.array.tolist()  # objects of a question, and n + its anchor
        if questions.anchored:
            self.parts = [[*row, self.n + row[0]] for row in self.parts]
        self.anchored = questions.anchored
        self.trios: list[dict[int, int]] = [defaultdict(int) for _ in range(people)]  # how often each trio
        self.counts = [[0] * 2 * self.n for _ in range(people)]  # how often each part
        for question, person in zip(asked, who, strict=True):
            _add(self.trios[person], keys[question], 1)
            self._count(person, question, 1)

    def mix(self, rng: np.random.Generator) -> None:
        """Exchange the questions of random slots, in place, wherever no further trio comes to anybody twice.

        First at random between slots of the same anchor, which leaves no trace of the order of dealing, then wherever
        lists become no less even.
        """
        slots = len(self.asked)
        if slots < 2:
            return
        for i, j in self._pairs(4 * slots, rng):
            self.exchange(i, j)
        self._repair(rng)
        proposals = min(20 * slots, 500_000 + slots)  # of each kind; in all about a quarter of a minute
        for i, j in [*self._pairs(proposals, rng), *rng.integers(slots, size=(proposals, 2)).tolist()]:
            self.exchange(i, j, evenly=True)
        self._repair(rng)

    def _repair(self, rng: np.random.Generator) -> None:
        """Give away, where that can be done, what somebody has twice."""
        for i in range(len(self.asked)):
            for j in rng.integers(len(self.asked), size=200).tolist() if self._clashes(i) else ():
                self.exchange(i, j)
                if not self._clashes(i):
                    break

    def exchange(self, i: int, j: int, evenly: bool = False) -> None:
        """Exchange the questions of two slots, unless more trios clash than before or, if asked, lists are less even."""
        one, other = self.who[i], self.who[j]
        first, second = self.asked[i], self.asked[j]
        if one == other or first == second or (evenly and self._less_even(one, first, other, second)):
            return
        if not self._exchange_trios(one, self.keys[first], other, self.keys[second]):
            return
        for person, gone, come in ((one, first, second), (other, second, first)):
            self._count(person, gone, -1)
            self._count(person, come, 1)
        self.asked[i], self.asked[j] = second, first

    def _pairs(self, count: int, rng: np.random.Generator) -> list[tuple[int, int]]:
        """Random pairs of slots, with the same anchor where questions have one."""
        slots = len(self.asked)
        group = np.array([self.parts[q][0] for q in self.asked]) if self.anchored else np.zeros(slots, int)
        order = np.argsort(group, kind="stable")
        start = np.searchsorted(group[order], group)
        size = np.bincount(group)[group]
        i = rng.integers(slots, size=count)
        j = order[start[i] + (rng.random(count) * size[i]).astype(np.int64)]
        return list(zip(i.tolist(), j.tolist(), strict=True))

    def _count(self, person: int, question: int, by: int) -> None:
        counts = self.counts[person]
        for x in self.parts[question]:
            counts[x] += by

    def _less_even(self, one: int, first: int, other: int, second: int) -> bool:
        """Whether an exchange raises the sum of squares of the counts of the two people, those of anchors before all."""
        gone, come, n = self.parts[first], self.parts[second], self.n
        mine, yours = self.counts[one], self.counts[other]
        change = 0
        for x in gone:
            if x not in come:
                change += (yours[x] - mine[x] + 1) * (ANCHOR_WEIGHT if x >= n else 1)
        for x in come:
            if x not in gone:
                change += (mine[x] - yours[x] + 1) * (ANCHOR_WEIGHT if x >= n else 1)
        return change > 0

    def _exchange_trios(self, one: int, first: tuple[int, ...], other: int, second: tuple[int, ...]) -> bool:
        mine, yours = self.trios[one], self.trios[other]
        before = _repeated(mine, first, 1) + _repeated(yours, second, 1)
        _add(mine, first, -1)
        _add(yours, second, -1)
        allowed = _repeated(mine, second) + _repeated(yours, first) <= before
        _add(mine, second if allowed else first, 1)
        _add(yours, first if allowed else second, 1)
        return allowed

    def _clashes(self, slot: int) -> bool:
        return _repeated(self.trios[self.who[slot]], self.keys[self.asked[slot]], 1) > 0


def _add(own: dict[int, int], key: tuple[int, ...], by: int) -> None:
    for trio in key:
        own[trio] += by


def _repeated(own: dict[int, int], key: tuple[int, ...], at_least: int = 0) -> int:
    count = 0
    for trio in key:
        count += own[trio] > at_least
    return count
