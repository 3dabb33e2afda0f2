"""Participants: who deserves a look. A look is suggested; nobody is ever left out by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.evaluate.ceiling import NoiseCeiling
from nearfar.report.facts import Participant
from nearfar.report.words import percent
from nearfar.triplets import Triplets

__all__ = ["FAST", "People", "participants"]

FAST = 1 / 3  # of the median time of all answers: faster is "very fast"
MANY_FAST = 0.2
SIDED, SIDED_Z = 0.1, 3.3  # share beyond one half, and its test (one in a thousand)
ENOUGH = 10  # answers behind a share before it can be held against somebody
CERTAIN = 1.645  # standard errors: 95 % on one side


@dataclass(frozen=True)
class People:
    """The participants of a report, and what is typical of them: medians over participants."""

    rows: tuple[Participant, ...]
    fast_below: float | None
    typical: dict[str, float | None]


def participants(
    answers: Triplets,
    shown: dict[str, str],
    ceiling: NoiseCeiling,
    credit: NDArray[np.floating] | None,
) -> People | None:
    """One row per participant, those to look at first, or None where nobody is known.

    ``credit`` : (m,) 1 where the held-out prediction agrees with the answer, 0 where not, 0.5 for a tie.
    """
    if answers.participant is None:
        return None
    codes = answers.participant.codes
    names = [str(name) for name in answers.participant.names.tolist()]
    size = len(names)
    count = np.bincount(codes, minlength=size)
    agreed = {row.participant: row for row in ceiling.participants}
    credit = np.full(len(codes), math.nan) if credit is None else credit
    judged = np.isfinite(credit)
    predicted = _mean_by(credit[judged], codes[judged], size)
    median, fast, limit = _times(answers, size)
    left, sided = _sides(answers, size)
    rows = []
    for code in np.flatnonzero(count).tolist():
        if not names[code]:
            continue
        own = agreed.get(names[code])
        rows.append(
            Participant(
                name=shown[names[code]],
                answers=int(count[code]),
                with_prediction=_known(predicted[code]),
                with_others=own.with_others if own else None,
                shared=own.questions_with_others if own else 0,
                with_themselves=own.with_themselves if own else None,
                repeated=own.repeated if own else 0,
                median_seconds=_known(median[code]),
                fast=_known(fast[code]),
                left=_known(left[code]),
                sided=int(sided[code]),
                reasons=(),
            )
        )
    if not rows:
        return None
    typical = {
        field: _median([getattr(row, field) for row in rows])
        for field in ("with_prediction", "with_others", "with_themselves", "median_seconds", "fast")
    }
    judged = [_with_reasons(row, typical) for row in rows]
    judged.sort(key=lambda row: (-len(row.reasons), _or_one(row.with_prediction), row.name))
    return People(tuple(judged), limit, typical)


def _with_reasons(row: Participant, typical: dict[str, float | None]) -> Participant:
    """The row with every reason to look at it; each says the figure that gave it."""
    reasons = []
    for share, behind, usual, what in (
        (row.with_prediction, row.answers, typical["with_prediction"], "with the held-out prediction"),
        (row.with_others, row.shared, typical["with_others"], "with others"),
        (row.with_themselves, row.repeated // 2, typical["with_themselves"], "with themselves"),
    ):
        if share is not None and usual is not None and _nearer_to_guessing(share, behind, usual):
            reasons.append(
                f"agrees {what} in {percent(share, 0)}, nearer to guessing than to the usual {percent(usual, 0)}"
            )
    if row.left is not None and row.sided >= ENOUGH:
        z = abs(row.left - 0.5) * 2 * math.sqrt(row.sided)
        side, share = ("left", row.left) if row.left > 0.5 else ("right", 1 - row.left)
        if _exceeds(share, 0.5 + SIDED) and z > SIDED_Z:
            reasons.append(f"chose the {side} side in {percent(share, 0)}")
    if row.fast is not None and row.answers >= ENOUGH and _exceeds(row.fast, MANY_FAST):
        reasons.append(f"{percent(row.fast, 0)} of the answers very fast")
    return Participant(**{**vars(row), "reasons": tuple(reasons)})


def _exceeds(share: float, limit: float) -> bool:
    """Whether a share is above a limit as the page shows both: 60.4 % is shown as 60 %, not more than 60 %."""
    return round(100 * share) > round(100 * limit)


def _nearer_to_guessing(share: float, behind: int, usual: float) -> bool:
    """Whether a share lies below the middle of one half (guessing) and the usual share, with 95 % certainty."""
    if behind < ENOUGH or usual <= 0.5:
        return False
    middle = (0.5 + usual) / 2
    return share + CERTAIN * math.sqrt(middle * (1 - middle) / behind) < middle


def _times(answers: Triplets, size: int) -> tuple[NDArray[np.float64], NDArray[np.float64], float | None]:
    """Per participant: median seconds of a statement and the share of very fast ones; and the limit of that."""
    unknown = np.full(size, math.nan)
    if answers.seconds is None or answers.participant is None or not np.isfinite(answers.seconds).any():
        return unknown, unknown, None
    _, first = np.unique(answers.statement_ids, return_index=True)  # one time per statement
    seconds, codes = answers.seconds[first], answers.participant.codes[first]
    timed = np.isfinite(seconds)
    seconds, codes = seconds[timed], codes[timed]
    limit = FAST * float(np.median(seconds))
    median = unknown.copy()
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(size + 1))
    for code in np.unique(codes).tolist():
        median[code] = np.median(seconds[order[edges[code] : edges[code + 1]]])
    return median, _mean_by((seconds < limit).astype(float), codes, size), limit


def _sides(answers: Triplets, size: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Per participant: share of answers that chose the left one, and of how many."""
    if answers.near_side is None or answers.participant is None:
        return np.full(size, math.nan), np.zeros(size, dtype=np.int64)
    known = answers.near_side >= 0
    codes = answers.participant.codes[known]
    left = (answers.near_side[known] == 0).astype(float)
    return _mean_by(left, codes, size), np.bincount(codes, minlength=size)


def _mean_by(values: NDArray[Any], codes: NDArray[Any], size: int) -> NDArray[np.float64]:
    count = np.bincount(codes, minlength=size)
    total = np.bincount(codes, weights=values, minlength=size)
    return np.where(count > 0, total / np.maximum(count, 1), math.nan)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _median(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def _or_one(value: float | None) -> float:
    return 1.0 if value is None else value
