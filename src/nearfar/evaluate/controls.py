"""Control questions: the same few put to everybody, easy on purpose, and asked far more often than the others."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from nearfar import words
from nearfar._tools.arrays import dense_codes
from nearfar.errors import RepeatedControlWarning
from nearfar.triplets import Triplets

__all__ = ["control_rows", "controls_text", "warn_of_controls"]


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


def controls_text(answers: Triplets) -> str:
    """The sentence about control questions that are not declared; "" where there are none."""
    controls = control_rows(answers)
    return words.controls(len(np.unique(answers.question_ids[controls])), int(controls.sum()))


def warn_of_controls(answers: Triplets, kernel: str | None = None) -> None:
    """Warn of control questions, for a model that counts every answer to them: k1 and k2 divide by their number."""
    divides = kernel is not None and set(kernel.split("+")) <= {"k1", "k2"}
    if not divides and (text := controls_text(answers)):
        warnings.warn(text, RepeatedControlWarning, stacklevel=3)
