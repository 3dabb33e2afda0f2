"""How questions were chosen, as far as it decides what a figure speaks of: declared, or seen in the structure."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from nearfar._tools.arrays import dense_codes
from nearfar.errors import InputError
from nearfar.evaluate.splits import Units
from nearfar.triplets import Triplets, random_rows

__all__ = ["Design", "design_of", "is_blocked"]

Design = Literal["random", "list", "landmarks", "blocked", "screens", "adaptive"]


def design_of(answers: Triplets, units: Units, declared: str | None = None) -> str | None:
    """The design: as declared; "adaptive" where rules are known and none of them is random; "blocked" where it is seen.

    >>> design_of(Triplets.from_array([[0, 1, 2]] * 3, rule=["ARR"] * 3), None)
    'adaptive'
    """
    if declared is not None:
        if declared not in get_args(Design):
            raise InputError(f"design: {declared!r} is not one of {', '.join(get_args(Design))}")
        return declared
    drawn = random_rows(answers)
    if drawn is not None:
        return "random" if drawn.any() else "adaptive"
    return "blocked" if is_blocked(answers, units) else None


def is_blocked(answers: Triplets, units: Units, most: float = 0.9) -> bool:
    """Whether participants got questions about objects of their own, as in booklets.

    Then a participant was asked about fewer objects than as many questions drawn from all would bring: at most 0.9 of
    them, summed over participants, a unit counted once for each. False where participants are not known.

    >>> from nearfar.evaluate.splits import split_units
    >>> rng = np.random.default_rng(0)
    >>> who = np.repeat(np.arange(30), 30)
    >>> trios, sets = np.argsort(rng.random((900, 18)))[:, :3], np.argsort(rng.random((30, 18)))[:, :10]
    >>> booklets = np.take_along_axis(sets[who], np.argsort(rng.random((900, 10)))[:, :3], axis=1)
    >>> [is_blocked(a, split_units(a)) for a in (Triplets.from_array(r, participant=who) for r in (trios, booklets))]
    [False, True]
    """
    if answers.participant is None or not len(answers):
        return False
    person = dense_codes(answers.participant.codes)
    first = np.unique(person * units.count + units.codes, return_index=True)[1]
    n, person = np.int64(answers.n_objects), np.repeat(person[first], 3)
    shown = answers.array[first].astype(np.int64).ravel()
    share = np.bincount(shown, minlength=n) / len(shown)
    slots, people = np.unique(np.bincount(person), return_counts=True)
    expected = people @ -np.expm1(np.outer(slots, np.log1p(-share))).sum(axis=1)
    return bool(len(np.unique(person * n + shown)) < most * expected)
