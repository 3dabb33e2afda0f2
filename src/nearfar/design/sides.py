"""At which side the two options of a question are shown: each object left and right equally often, in every list."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Ints

__all__ = ["even_sides"]

SWEEPS = 20  # through all questions, of exchanges that even out how often a person sees an object at a side
MOST = 400_000  # exchanges proposed in all, about two seconds

Places = dict[tuple[int, int], int]


def even_sides(
    options: NDArray[np.int32], person: Ints, question: Ints, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """(slots,) whether to exchange the (slots, 2) options.

    Every question stands either way equally often, and every object stands left and right equally often, give or take
    one. Every person sees every object left and right equally often, give or take one; where questions are asked of
    several people that is only evened out by exchanges.
    """
    if len(np.unique(question)) == len(question):
        return _along_circles(options.tolist(), person.tolist(), rng)
    return _by_exchanges(options.tolist(), person.tolist(), question, rng)


def _along_circles(
    options: list[list[int]], person: list[int], rng: np.random.Generator
) -> NDArray[np.bool_]:
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
        if degree[node] % 2:
            other = lonely.pop(x, None)
            if other is None:
                lonely[x] = node
            else:
                ends.append([other, node])
    left_over = list(lonely.values())  # an even number: every slot has two ends
    ends += [list(pair) for pair in zip(left_over[::2], left_over[1::2], strict=True)]
    at: list[list[int]] = [[] for _ in nodes]
    for edge in rng.permutation(len(ends)).tolist():
        for node in ends[edge]:
            at[node].append(edge)
    swap = np.zeros(len(ends), dtype=bool)
    gone = [False] * len(ends)
    for start in range(len(nodes)):
        here = start
        while at[here]:
            edge = at[here].pop()
            if not gone[edge]:
                gone[edge] = True
                swap[edge] = ends[edge][0] != here
                here = ends[edge][0] if swap[edge] else ends[edge][1]
    chosen: NDArray[np.bool_] = swap[: len(options)]
    return chosen


def _by_exchanges(
    options: list[list[int]], person: list[int], question: Ints, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Slots of a question in pairs of different sides, those left over along circles; then exchanges within questions."""
    slots: dict[int, list[int]] = defaultdict(list)
    for slot in rng.permutation(len(person)).tolist():
        slots[int(question[slot])].append(slot)
    asked = list(slots.values())
    swap = [False] * len(person)
    for own in asked:
        for slot in own[1::2]:
            swap[slot] = True
    alone = [own[-1] for own in asked if len(own) % 2]
    chosen = _along_circles([options[slot] for slot in alone], [person[slot] for slot in alone], rng)
    for slot, is_swapped in zip(alone, chosen.tolist(), strict=True):
        swap[slot] = is_swapped
    balance: Places = defaultdict(int)  # how much more often a person sees an object left than right
    for slot, is_swapped in enumerate(swap):
        _show(balance, options[slot], person[slot], is_swapped, 1)
    several = [own for own in asked if len(own) > 1]
    for _ in range(min(SWEEPS, MOST // len(several) + 1)):
        for number in rng.permutation(len(several)).tolist():
            moved = _two_that_differ(several[number], swap, rng)
            before = sum(_unevenness(balance, options[slot], person[slot]) for slot in moved)
            _flip(moved, swap, options, person, balance)
            if sum(_unevenness(balance, options[slot], person[slot]) for slot in moved) > before:
                _flip(moved, swap, options, person, balance)
    return np.array(swap)


def _two_that_differ(own: list[int], swap: list[bool], rng: np.random.Generator) -> list[int]:
    turned = [slot for slot in own if swap[slot]]
    straight = [slot for slot in own if not swap[slot]]
    return [part[int(rng.integers(len(part)))] for part in (turned, straight)]


def _flip(
    moved: list[int], swap: list[bool], options: list[list[int]], person: list[int], balance: Places
) -> None:
    for slot in moved:
        _show(balance, options[slot], person[slot], swap[slot], -1)
        swap[slot] = not swap[slot]
        _show(balance, options[slot], person[slot], swap[slot], 1)


def _show(balance: Places, pair: list[int], who: int, swap: bool, by: int) -> None:
    left, right = (pair[1], pair[0]) if swap else pair
    balance[who, left] += by
    balance[who, right] -= by


def _unevenness(balance: Places, pair: list[int], who: int) -> int:
    one, other = balance[who, pair[0]], balance[who, pair[1]]
    return one * one + other * other
