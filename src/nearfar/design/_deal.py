"""Dealing questions out to people: equally many each, no trio twice."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from nearfar._tools.arrays import Ints
from nearfar.design._balance import even_subset
from nearfar.design._exchanges import Keys, Lists
from nearfar.design.questions import Questions
from nearfar.errors import InputError

__all__ = ["count_clashes", "deal", "spread_load", "trio_keys"]


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
