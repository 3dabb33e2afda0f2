"""What was asked how often: answers per object, questions asked again, questions answered both ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearfar.triplets import Triplets

__all__ = ["AnswerCounts", "Disputed", "accuracy_per_object", "count_answers"]


@dataclass(frozen=True)
class Disputed:
    """A question that was answered both ways: so many said ``one``, so many ``other`` (indices of objects)."""

    anchor: int
    one: int
    other: int
    said_one: int
    said_other: int


@dataclass(frozen=True, eq=False)
class AnswerCounts:
    """How often everything was asked.

    Attributes
    ----------
    per_object, as_anchor : (n,) answers that concern every object, and of those as anchor.
    statements, triplets, questions : how many different ones there are.
    repeated, contradicted : questions answered more than once, and of those both ways.
    """

    per_object: NDArray[np.int64]
    as_anchor: NDArray[np.int64]
    statements: int
    triplets: int
    questions: int
    repeated: int
    contradicted: int
    _answers: Triplets

    def disputed(self, most: int = 12) -> list[Disputed]:
        """The questions that split people most evenly, those with the most answers first among equals."""
        answers = self._answers
        ids, first = np.unique(answers.question_ids, return_index=True)
        low, high = _votes(answers)
        minority, total = np.minimum(low, high), low + high
        both = np.flatnonzero(minority > 0)
        shuffled = np.random.default_rng(0).permutation(len(ids))[both]
        # how sure it is that people are split: a share near one half, from many answers
        evenness = (minority[both] + 1) / (total[both] + 2)
        order = both[np.lexsort((shuffled, -total[both], -evenness * (1 - 1 / total[both])))]
        found = []
        for question in order[:most].tolist():
            row = first[question]
            one, other = sorted((int(answers.near[row]), int(answers.far[row])))
            found.append(
                Disputed(int(answers.anchor[row]), one, other, int(low[question]), int(high[question]))
            )
        return found


def count_answers(answers: Triplets) -> AnswerCounts:
    """Count a collection once.

    >>> counts = count_answers(Triplets.from_array([[0, 1, 2], [0, 2, 1], [1, 0, 2]]))
    >>> counts.questions, counts.repeated, counts.contradicted, counts.as_anchor.tolist()
    (2, 1, 1, [2, 1, 0])
    """
    n = answers.n_objects
    anchor = np.bincount(answers.anchor, minlength=n)
    total = anchor + np.bincount(answers.near, minlength=n) + np.bincount(answers.far, minlength=n)
    low, high = _votes(answers)
    return AnswerCounts(
        per_object=total,
        as_anchor=anchor,
        statements=len(np.unique(answers.statement_ids)),
        triplets=len(np.unique(answers.triplet_ids)),
        questions=len(low),
        repeated=int((low + high > 1).sum()),
        contradicted=int(((low > 0) & (high > 0)).sum()),
        _answers=answers,
    )


def accuracy_per_object(answers: Triplets, credit: NDArray[np.floating]) -> NDArray[np.float64]:
    """(n,) mean held-out credit of the judged answers that concern every object; NaN where there is none."""
    judged = np.isfinite(credit)
    hits, count = np.zeros(answers.n_objects), np.zeros(answers.n_objects)
    for role in (answers.anchor, answers.near, answers.far):
        hits += np.bincount(role[judged], weights=credit[judged], minlength=answers.n_objects)
        count += np.bincount(role[judged], minlength=answers.n_objects)
    return np.where(count > 0, hits / np.maximum(count, 1), np.nan)


def _votes(answers: Triplets) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per question, in the order of their ids: answers for the option with the lower index, and the higher."""
    ids, codes = np.unique(answers.question_ids, return_inverse=True)
    low = np.bincount(codes[answers.near < answers.far], minlength=len(ids))
    return low, np.bincount(codes, minlength=len(ids)) - low
