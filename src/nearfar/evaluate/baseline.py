"""Baselines: what remembering pairs predicts, and a quick look at what answers predict at all.

The pair memory knows nothing about objects, only how often an option has won as seen from the same anchor. A model that
does not beat it has learnt no more than those pairs: either they come back so often that remembering them is enough,
or the split let screens through.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import NearfarWarning
from nearfar.evaluate.metrics import answer_credits
from nearfar.evaluate.splits import Split, kfold, split_units
from nearfar.triplets import Triplets

__all__ = ["PAIR_MEMORY", "pair_memory_credits", "quick_credits", "score_credits"]

PAIR_MEMORY = "pair memory"


def pair_memory_credits(answers: Triplets, splits: Iterable[Split]) -> NDArray[np.float64]:
    """(m,) 1 where win rates of pairs (anchor, option) in training predict an answer, 0 where the other, 0.5 for a tie.

    The rate is (wins + 1) / (comparisons + 2), one half for a pair that was never compared.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 1, 3], [0, 4, 1]], n_objects=5)
    >>> pair_memory_credits(answers, [Split(np.array([0, 1]), np.array([2])), Split(np.array([2]), np.array([0, 1]))])
    array([0., 0., 0.])
    """
    anchor = answers.anchor.astype(np.int64) * answers.n_objects
    codes = np.unique(np.stack([anchor + answers.near, anchor + answers.far]), return_inverse=True)[1]
    near, far = codes.reshape(2, -1)
    size = int(codes.max(initial=-1)) + 1
    credits = np.full(len(answers), 0.5)
    for train, test in splits:
        won, lost = np.bincount(near[train], minlength=size), np.bincount(far[train], minlength=size)
        rate = (won + 1) / (won + lost + 2)
        credits[test] = (1 + np.sign(rate[near[test]] - rate[far[test]])) / 2
    return credits


def score_credits(train: Triplets, test: Triplets) -> NDArray[np.float64]:
    """(m,) 1 where the score kernel of some answers predicts a test answer, 0 where not, 0.5 for a tie."""
    from nearfar.features import FeatureMap
    from nearfar.kernel import gram

    if not len(train):
        return np.full(len(test), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        kernel = gram(FeatureMap("score").fit_transform(train))
    return answer_credits(test, K=kernel).astype(np.float64)


def quick_credits(answers: Triplets, *, cv: int = 5, max_objects: int = 3_000) -> NDArray[np.float64] | None:
    """(m,) held-out credits of the score kernel; None where there are too few answers or too many objects."""
    units = split_units(answers)
    if answers.n_objects > max_objects or units.count < cv:
        return None
    credit = np.full(len(answers), 0.5)
    for train, test in kfold(answers, cv, by=units):
        credit[test] = score_credits(answers[train], answers[test])
    return credit
