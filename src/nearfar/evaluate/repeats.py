"""Which questions were asked more than once, and whether they are a fair sample of all.

A ceiling from repeated questions holds for all questions only if the repeated ones are a fair draw. Control
questions (the same few put to everybody) are easy on purpose, and adaptive pools come back to hard ones.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import RepeatedControlWarning
from nearfar.evaluate.uncertainty import Groups, covariance_of_means, dense_codes
from nearfar.space.models import Model
from nearfar.triplets import Triplets

__all__ = [
    "FEW_SINGLE",
    "FairDraw",
    "control_rows",
    "counts_repeats",
    "fair_draw",
    "warn_of_controls",
    "without_excess_controls",
]

OFTEN = 10  # answers to one question, and ...
FAR_MORE = 5  # ... so many times the median: it is a control question
FEW_SINGLE = (
    0.1  # with a smaller share of answers to questions asked once, the repeated ones are (nearly) all
)
UNFAIR = 0.05  # level of the test


def control_rows(answers: Triplets) -> NDArray[np.bool_]:
    """(m,) answers to control questions: asked at least 10 times, and 5 times as often as the median question.

    >>> often = Triplets.from_array([[0, 1, 2]] * 12 + [[1, 2, 3], [2, 3, 0], [3, 0, 1]])
    >>> control_rows(often).sum()
    np.int64(12)
    """
    ids = answers.question_ids
    ordered = np.sort(ids)
    last = max(len(ids) - OFTEN + 1, 0)
    if not np.any(ordered[OFTEN - 1 :] == ordered[:last]):  # none was asked so often
        return np.zeros(len(ids), dtype=bool)
    codes = dense_codes(ids)
    count = np.bincount(codes)
    control = (count >= OFTEN) & (count > FAR_MORE * np.median(count))
    return np.asarray(control[codes])


def without_excess_controls(answers: Triplets, seed: int = 0) -> Triplets:
    """The answers, with every control question kept only as often as the median question was asked.

    One question that was put to everybody would otherwise weigh as much as everything else that is known about its three
    objects. Which of its answers stay is drawn at random, so that their shares stay as they are.

    >>> often = Triplets.from_array([[0, 1, 2]] * 12 + [[1, 2, 3], [2, 3, 0], [3, 0, 1]])
    >>> with warnings.catch_warnings(action="ignore"):
    ...     without_excess_controls(often)
    Triplets(4 answers, 4 objects)
    """
    controls = control_rows(answers)
    if not controls.any():
        return answers
    codes = dense_codes(answers.question_ids)
    typical = max(1, int(np.median(np.bincount(codes))))
    order = np.lexsort((np.random.default_rng(seed).random(len(codes)), codes))
    first = np.r_[True, codes[order][1:] != codes[order][:-1]]
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - start
    warnings.warn(
        f"{_asked(answers, controls)}; each weighs as much as a question asked {typical} times",
        RepeatedControlWarning,
        stacklevel=2,
    )
    return answers[~controls | (rank < typical)]


def counts_repeats(model: Model) -> bool:
    """Whether a model counts every answer to a question; k1 and k2 divide by their number.

    >>> from nearfar.space.models import parse_model
    >>> [counts_repeats(parse_model(name)) for name in ("k1+k2", "k1-5", "k1+score", "soe-8")]
    [False, False, True, True]
    """
    kernel = model.kernel
    return kernel is None or not set(kernel.split("+")) <= {"k1", "k2"}


def warn_of_controls(answers: Triplets) -> None:
    """Say so where control questions weigh as often as they were asked."""
    controls = control_rows(answers)
    if controls.any():
        warnings.warn(
            f"{_asked(answers, controls)}, and every answer counts in a model that is named; an analysis "
            "(nearfar.analyse(answers, model).space) weighs such a question like any other",
            RepeatedControlWarning,
            stacklevel=3,
        )


def _asked(answers: Triplets, controls: NDArray[np.bool_]) -> str:
    asked = len(np.unique(answers.question_ids[controls]))
    which = "1 control question was" if asked == 1 else f"{asked} control questions were"
    return f"{which} asked {int(controls.sum()):,} times, far more often than the others"


@dataclass(frozen=True)
class FairDraw:
    """Whether a model predicts repeated questions as well as the others.

    ``repeated``, ``single`` : its held-out accuracy on answers to questions asked more than once, and on the rest.
    ``p`` : of no difference; NaN where it cannot be told.
    """

    repeated: float
    single: float
    p: float

    @property
    def fair(self) -> bool:
        """Whether nothing speaks against a fair draw."""
        return not self.p < UNFAIR


def fair_draw(credit: NDArray[Any], repeated: NDArray[np.bool_], groups: Groups) -> FairDraw | None:
    """Compare held-out credits (m,) on repeated questions with the others; None where all or none were repeated.

    >>> rng = np.random.default_rng(0)
    >>> repeated = np.arange(1000) < 300
    >>> easy = rng.random(1000) < np.where(repeated, 0.95, 0.7)
    >>> fair_draw(easy, repeated, Groups(None, np.arange(1000))).fair
    False
    """
    from scipy.stats import t

    size, many = len(repeated), int(repeated.sum())
    if many in (0, size):
        return None
    credit = np.asarray(credit, dtype=np.float64)
    one, other = float(credit[repeated].mean()), float(credit[~repeated].mean())
    off = np.where(repeated, (credit - one) * size / many, (other - credit) * size / (size - many))
    found = covariance_of_means(off, groups)
    error = float(np.sqrt(found.matrix[0, 0])) if found.df > 0 else np.nan
    if not error > 0:
        return FairDraw(one, other, np.nan)
    return FairDraw(one, other, float(2 * t.sf(abs(one - other) / error, found.df)))
