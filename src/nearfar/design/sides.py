"""At which side the two options of a question are shown: each object left and right equally often, in every list."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from nearfar._tools.arrays import Ints


def even_sides(options: NDArray[np.int32], person: Ints, question: Ints, rng: Generator) -> NDArray[np.bool_]:
    """(slots,) whether to exchange the (slots, 2) options.

    Every question stands either way, and every object left and right, equally often, give or take one; so does every
    object for every person, or where questions are asked of several people, as far as exchanges even it out.
    """
    if len(np.unique(question)) == len(question):
        return _along_circles(options.tolist(), person.tolist(), rng)
    return _by_exchanges(options.tolist(), person.tolist(), question, rng)


def _along_circles(options: list[list[int]], person: list[int], rng: Generator) -> NDArray[np.bool_]:
    """Euler's circles: a slot joins its two objects of the person, and whoever walks along them leaves as often as they come.

    Objects that a person sees an odd number of times are joined with the same object of another person, and those
    left over with each other.
    """
    nodes: dict[tuple[int, int], int] = {}
    ends = [
        [nodes.setdefault((p, x), len(nodes)) for x in pair] for p, pair in zip(person, options, strict=True)
    ]
    degree = np.bincount(np.array(ends, dtype=np.int64).ravel(), minlength=len(nodes))
    lonely: dict[int, int] = {}
    for (_, x), node in nodes.items():
        if degree[node] % 2 and x in lonely:
            ends.append([lonely.pop(x), node])
        elif degree[node] % 2:
            lonely[x] = node
    left_over = list(lonely.values())  # an even number: every slot has two ends
    ends += [list(pair) for pair in zip(left_over[::2], left_over[1::2], strict=True)]
    at: list[list[int]] = [[] for _ in nodes]
    for edge in rng.permutation(len(ends)).tolist():
        for node in ends[edge]:
            at[node].append(edge)
    swap, gone = np.zeros(len(ends), dtype=bool), [False] * len(ends)
    for start in range(len(nodes)):
        here = start
        while at[here]:
            edge = at[here].pop()
            if not gone[edge]:
                gone[edge] = True
                swap[edge] = ends[edge][0] != here
                here = ends[edge][0] if swap[edge] else ends[edge][1]
    return swap[: len(options)]


def _by_exchanges(
    options: list[list[int]], person: list[int], question: Ints, rng: Generator
) -> NDArray[np.bool_]:
    """Slots of a question in pairs of different sides, those left over along circles; then exchanges within questions."""
    slots: dict[int, list[int]] = defaultdict(list)
    for slot in rng.permutation(len(person)).tolist():
        slots[int(question[slot])].append(slot)
    asked = list(slots.values())
    sides = np.zeros(len(person), dtype=bool)
    sides[[slot for own in asked for slot in own[1::2]]] = True
    alone = [own[-1] for own in asked if len(own) % 2]
    sides[alone] = _along_circles([options[slot] for slot in alone], [person[slot] for slot in alone], rng)
    swap: list[bool] = sides.tolist()
    balance: dict[tuple[int, int], int] = defaultdict(int)  # how much more often a person sees an object left

    def show(slot: int, by: int) -> None:
        left, right = options[slot][::-1] if swap[slot] else options[slot]
        balance[person[slot], left] += by
        balance[person[slot], right] -= by

    def flip(moved: list[int]) -> int:
        """Exchange the sides; by how much that makes lists less even (one difference of 3 is worse than two of 2)."""
        seen = [(person[slot], x) for slot in moved for x in options[slot]]
        before = sum(balance[each] ** 4 for each in seen)
        for slot in moved:
            swap[slot] = not swap[slot]
            show(slot, 2)
        return sum(balance[each] ** 4 for each in seen) - before

    for slot in range(len(swap)):
        show(slot, 1)
    several = [own for own in asked if len(own) > 1]
    for _ in range(min(20, 400_000 // len(several) + 1)):  # at most about two seconds
        for number in rng.permutation(len(several)).tolist():
            turned = [slot for slot in several[number] if swap[slot]]
            straight = [slot for slot in several[number] if not swap[slot]]
            moved = [part[int(rng.integers(len(part)))] for part in (turned, straight)]
            if flip(moved) > 0:
                flip(moved)
    return np.array(swap)
