"""Control questions: the same few put to everybody, easy on purpose, and asked far more often than the others."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import dense_codes
from nearfar.errors import RepeatedControlWarning
from nearfar.space.models import Model
from nearfar.triplets import Triplets

__all__ = ["control_rows", "counts_repeats", "warn_of_controls", "without_excess_controls"]


def control_rows(answers: Triplets, often: int = 10, far_more: int = 5) -> NDArray[np.bool_]:
    """(m,) answers to control questions: asked at least 10 times, and 5 times as often as the median question.

    >>> often = Triplets.from_array([[0, 1, 2]] * 12 + [[1, 2, 3], [2, 3, 0], [3, 0, 1]])
    >>> control_rows(often).sum()
    np.int64(12)
    """
    ids = answers.question_ids
    ordered = np.sort(ids)  # quicker than counting, for the many collections without
    if not np.any(ordered[often - 1 :] == ordered[: max(len(ids) - often + 1, 0)]):
        return np.zeros(len(ids), dtype=bool)
    codes = dense_codes(ids)
    count = np.bincount(codes)
    control = (count >= often) & (count > far_more * np.median(count))
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
    count = np.bincount(codes)
    typical = max(1, int(np.median(count)))
    order = np.lexsort((np.random.default_rng(seed).random(len(codes)), codes))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - (np.cumsum(count) - count)[codes[order]]
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
