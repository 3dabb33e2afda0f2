"""A quick look at what answers predict: held-out credits of the score kernel, for tests that need some model."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import NearfarWarning
from nearfar.evaluate.metrics import answer_credits
from nearfar.evaluate.splits import kfold, split_units
from nearfar.triplets import Triplets

__all__ = ["quick_credits", "score_credits"]

MOST_OBJECTS = 3000  # up to which an n x n kernel is quick
FOLDS = 5


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


def quick_credits(answers: Triplets, seed: int = 0) -> NDArray[np.float64] | None:
    """(m,) held-out credits of the score kernel; None where there are too few answers or too many objects."""
    if answers.n_objects > MOST_OBJECTS or split_units(answers).count < FOLDS:
        return None
    credit = np.full(len(answers), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        folds = list(kfold(answers, FOLDS, seed=seed))
    for train, test in folds:
        credit[test] = score_credits(answers[train], answers[test])
    return credit
