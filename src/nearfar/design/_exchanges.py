"""Exchanges of questions between the lists of people, so that nobody gets a trio twice and objects come evenly to all."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from nearfar.design.questions import Questions

__all__ = ["Keys", "Lists"]

Keys = list[tuple[int, ...]]

MIXING = 4  # exchanges proposed per slot, which leave no trace of the order of dealing
REPAIRS = 200  # exchanges proposed for each slot that clashes
EVENING = 40  # exchanges proposed per slot, of which those that make lists no less even are made
MOST_EVENING = 1_000_000  # proposals in all, about a quarter of a minute


class Lists:
    """Who is asked what: slot s asks person ``who[s]`` the question ``asked[s]``."""

    def __init__(self, questions: Questions, keys: Keys, asked: list[int], who: list[int]) -> None:
        n, people = len(questions.objects), max(who, default=-1) + 1
        self.keys, self.asked, self.who = keys, asked, who
        self.rows: list[list[int]] = questions.array.tolist()
        self.anchored = questions.anchored
        self.trios: list[dict[int, int]] = [defaultdict(int) for _ in range(people)]  # how often each trio
        self.shown = [[0] * n for _ in range(people)]  # how often each object
        self.first = [[0] * n for _ in range(people)]  # how often each object as the anchor
        for question, person in zip(asked, who, strict=True):
            _add(self.trios[person], keys[question], 1)
            self._count(person, question, 1)

    def mix(self, rng: np.random.Generator) -> None:
        """Exchange the questions of random slots, in place, wherever no further trio comes to anybody twice.

        First at random between slots of the same anchor, then wherever lists become no less even.
        """
        slots = len(self.asked)
        if slots < 2:
            return
        for i, j in self._pairs(MIXING * slots, rng):
            self.exchange(i, j)
        self._repair(rng)
        proposals = min(EVENING * slots, max(MOST_EVENING, slots))
        for i, j in self._pairs(proposals // 2, rng):
            self.exchange(i, j, evenly=True)
        for i, j in rng.integers(slots, size=(proposals - proposals // 2, 2)).tolist():
            self.exchange(i, j, evenly=True)
        self._repair(rng)

    def _repair(self, rng: np.random.Generator) -> None:
        """Give away, where that can be done, what somebody has twice."""
        for i in range(len(self.asked)):
            for j in rng.integers(len(self.asked), size=REPAIRS).tolist() if self._clashes(i) else ():
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
        group = np.array([self.rows[q][0] for q in self.asked]) if self.anchored else np.zeros(slots, int)
        order = np.argsort(group, kind="stable")
        start = np.searchsorted(group[order], group)
        size = np.bincount(group)[group]
        i = rng.integers(slots, size=count)
        j = order[start[i] + (rng.random(count) * size[i]).astype(np.int64)]
        return list(zip(i.tolist(), j.tolist(), strict=True))

    def _count(self, person: int, question: int, by: int) -> None:
        row, shown = self.rows[question], self.shown[person]
        for x in row:
            shown[x] += by
        self.first[person][row[0]] += by

    def _less_even(self, one: int, first: int, other: int, second: int) -> bool:
        """Whether an exchange raises the sum of squares of the counts of the two people, those of anchors before all."""
        gone, come = self.rows[first], self.rows[second]
        if self.anchored and (a := gone[0]) != (b := come[0]):
            mine, yours = self.first[one], self.first[other]
            change = yours[a] - mine[a] + mine[b] - yours[b] + 2
            if change:
                return change > 0
        mine, yours = self.shown[one], self.shown[other]
        change = 0
        for x in gone:
            if x not in come:
                change += yours[x] - mine[x] + 1
        for x in come:
            if x not in gone:
                change += mine[x] - yours[x] + 1
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
