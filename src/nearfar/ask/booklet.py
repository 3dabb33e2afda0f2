"""A booklet: the questions one person gets, in order, with the sides at which things are shown."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearfar.ask.study import GAP
from nearfar.design.sides import even_sides

__all__ = ["Drawn", "Place", "arrange", "in_some_order", "on_other_sides"]

TRIES = 50
Items = tuple[int, ...]


@dataclass(frozen=True)
class Drawn:
    """A question of the pool: its id and its objects (an anchor comes first)."""

    question: int
    items: Items


@dataclass(frozen=True)
class Place:
    """One place of a booklet: "new", "again" or "check", and the objects in the order shown."""

    role: str
    question: int | None
    shown: Items


def in_some_order(items: Items, anchored: bool, rng: np.random.Generator) -> Items:
    """The objects of a question with the options in random order; an anchor stays in front."""
    head, options = (items[:1], items[1:]) if anchored else ((), items)
    return (*head, *(options[i] for i in rng.permutation(len(options))))


def on_other_sides(shown: Items, anchored: bool) -> Items:
    """The same question with every option elsewhere: two are exchanged, more of them move round by half.

    >>> on_other_sides((7, 1, 2), True), on_other_sides((1, 2, 3), False)
    ((7, 2, 1), (2, 3, 1))
    """
    head, options = (shown[:1], shown[1:]) if anchored else ((), shown)
    half = len(options) // 2
    return (*head, *options[half:], *options[:half])


def arrange(
    new: Sequence[Drawn],
    n_again: int,
    checks: Sequence[Items],
    anchored: bool,
    rng: np.random.Generator,
    earlier: Sequence[tuple[int, Place]] = (),
    first: int = 0,
) -> list[Place]:
    """Put questions into an order: checks spread out, repeats at least ``GAP`` places after their first time.

    Parameters
    ----------
    new : questions of the pool; they keep their order.
    n_again : how many are asked again; fewer where the gap leaves no room.
    checks : check questions as shown.
    anchored : whether the first object of a question is an anchor.
    earlier : (place, what was there) of answered new questions of the same person that may be asked again.
    first : number of the first place; later than all of ``earlier``.
    """
    shown = [
        Place("new", drawn.question, items)
        for drawn, items in zip(new, _shown(new, anchored, rng), strict=True)
    ]
    for wanted in range(min(n_again, len(new) + len(earlier)), -1, -1):
        total = len(shown) + wanted + len(checks)
        at_check = _spread(len(checks), total, rng)
        free = [place for place in range(total) if place not in at_check]
        for attempt in range(TRIES + 1):
            # at the very end there is most room for the gap, so the last attempt looks there
            at_again = (
                set(free[len(free) - wanted :])
                if attempt == TRIES
                else {free[i] for i in rng.choice(len(free), wanted, replace=False).tolist()}
            )
            filled = _fill(shown, at_again, dict(zip(sorted(at_check), checks, strict=True)), total)
            chosen = _sources(filled, earlier, first, rng)
            if chosen is not None:
                return [
                    Place("again", chosen[i].question, on_other_sides(chosen[i].shown, anchored))
                    if place is None
                    else place
                    for i, place in enumerate(filled)
                ]
    raise AssertionError("without repeats every order will do")


def _shown(new: Sequence[Drawn], anchored: bool, rng: np.random.Generator) -> list[Items]:
    """The questions of one person, of two options with every object left and right equally often, others at random."""
    if not anchored or any(len(drawn.items) != 3 for drawn in new) or not new:
        return [in_some_order(drawn.items, anchored, rng) for drawn in new]
    options = np.array([drawn.items[1:] for drawn in new], dtype=np.int32)
    row = np.arange(len(new))
    swap = even_sides(options, np.zeros_like(row), row, rng).tolist()
    return [
        on_other_sides(drawn.items, True) if turn else drawn.items
        for drawn, turn in zip(new, swap, strict=True)
    ]


def _spread(count: int, total: int, rng: np.random.Generator) -> set[int]:
    """One random place in each of ``count`` equal stretches."""
    edges = np.linspace(0, total, count + 1).astype(int)
    return {int(rng.integers(low, high)) for low, high in itertools.pairwise(edges)}


def _fill(
    new: Sequence[Place], at_again: set[int], at_check: dict[int, Items], total: int
) -> list[Place | None]:
    """Every place with what is there; None where a question comes again."""
    coming = iter(new)
    filled: list[Place | None] = []
    for place in range(total):
        if place in at_check:
            filled.append(Place("check", None, at_check[place]))
        else:
            filled.append(None if place in at_again else next(coming))
    return filled


def _sources(
    filled: Sequence[Place | None],
    earlier: Sequence[tuple[int, Place]],
    first: int,
    rng: np.random.Generator,
) -> dict[int, Place] | None:
    """Which question comes again at each open place, each at most once; None where the gap leaves none."""
    known = [*earlier, *((first + i, p) for i, p in enumerate(filled) if p is not None and p.role == "new")]
    chosen: dict[int, Place] = {}
    used: set[int | None] = set()
    for i, place in enumerate(filled):
        if place is None:
            open_to = [p for at, p in known if at <= first + i - GAP and p.question not in used]
            if not open_to:
                return None
            chosen[i] = open_to[int(rng.integers(len(open_to)))]
            used.add(chosen[i].question)
    return chosen
