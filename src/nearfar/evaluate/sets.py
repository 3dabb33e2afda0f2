"""Recognise questions that were asked within sets of objects, such as booklets.

Then many pairs of objects never stand in one question, although as many independent questions would have compared them; or, where
sets overlap so much that few pairs are left out, a person is asked about fewer objects than independent questions would bring. What is
held out lies within the sets as well, so accuracy and forecast say nothing about questions across them.
"""

from __future__ import annotations

import numpy as np

from nearfar.evaluate.splits import split_units
from nearfar.evaluate.uncertainty import dense_codes
from nearfar.triplets import Triplets

__all__ = ["asked_in_sets", "share_of_objects", "share_of_pairs"]

# Of the pairs, or of the objects of a person, that independent questions would compare. Simulated designs without sets have .99 or more, and booklets of ten
# of 30 to 100 objects .59 to .87.
WITHIN_SETS = 0.9


def share_of_pairs(answers: Triplets) -> float:
    """How many pairs (anchor, option) stand in a question, over how many would if options did not depend on the anchor.

    Every object is expected as the anchor and as an option as often as it is; a trio, or a statement that spans several, counts once.
    NaN without answers, and where screens have lost their statements.

    >>> rng = np.random.default_rng(0)
    >>> trios = np.argsort(rng.random((900, 30)))[:, :3]
    >>> booklets = np.argsort(rng.random((900, 10)))[:, :3] + 10 * rng.integers(3, size=(900, 1))
    >>> [round(share_of_pairs(Triplets.from_array(rows, n_objects=30)), 1) for rows in (trios, booklets)]
    [1.1, 0.4]
    """
    units = split_units(answers)
    if units.kind == "pair" or not len(answers):
        return np.nan
    n = np.int64(answers.n_objects)
    anchor = np.tile(answers.anchor.astype(np.int64), 2)
    pairs, codes = np.unique(anchor * n + np.concatenate([answers.near, answers.far]), return_inverse=True)
    slots = pairs[np.unique(np.tile(units.codes, 2) * len(pairs) + codes) % len(pairs)]
    asked = np.bincount(slots // n, minlength=n)
    share = np.bincount(slots % n, minlength=n) / len(slots)
    some_asked, anchors = np.unique(asked, return_counts=True)
    some_share, options = np.unique(share, return_counts=True)
    every = anchors @ -np.expm1(-np.outer(some_asked, some_share)) @ options
    itself = -np.expm1(-asked * share).sum()
    return float(len(pairs) / (every - itself))


def share_of_objects(answers: Triplets) -> float:
    """How many objects the people were asked about, over how many they would be if everybody's questions were drawn from all.

    Summed over people; a trio counts once for each. NaN where the answers do not say who gave them.

    >>> rng = np.random.default_rng(0)
    >>> who = np.repeat(np.arange(30), 30)
    >>> trios, sets = np.argsort(rng.random((900, 18)))[:, :3], np.argsort(rng.random((30, 18)))[:, :10]
    >>> booklets = np.take_along_axis(sets[who], np.argsort(rng.random((900, 10)))[:, :3], axis=1)
    >>> [round(share_of_objects(Triplets.from_array(rows, participant=who)), 1) for rows in (trios, booklets)]
    [1.0, 0.6]
    """
    if answers.participant is None or not len(answers):
        return np.nan
    person, units = dense_codes(answers.participant.codes), split_units(answers)
    first = np.unique(person * units.count + units.codes, return_index=True)[1]
    n, person = np.int64(answers.n_objects), np.repeat(person[first], 3)
    shown = answers.array[first].astype(np.int64).ravel()
    share = np.bincount(shown, minlength=n) / len(shown)
    slots, people = np.unique(np.bincount(person), return_counts=True)
    expected = people @ -np.expm1(np.outer(slots, np.log1p(-share))).sum(axis=1)
    return float(len(np.unique(person * n + shown)) / expected)


def asked_in_sets(answers: Triplets) -> bool:
    """Whether questions were asked within sets of objects."""
    return share_of_pairs(answers) < WITHIN_SETS or share_of_objects(answers) < WITHIN_SETS
