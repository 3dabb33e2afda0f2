"""What every participant did: shares of agreement, with statements counted and not rows, and response times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats, dense_codes
from nearfar.evaluate.bootstrap import speakers
from nearfar.evaluate.ceiling import counts_of_others
from nearfar.io.reading import double_submits
from nearfar.triplets import Triplets
from nearfar.triplets.columns import median_of_times

__all__ = ["shares_of_people", "statements_of_people", "times_of_people"]

FAST = 1 / 3  # of the median time of all answers: faster is "very fast"


def shares_of_people(
    answers: Triplets, credit: NDArray[Any], codes: NDArray[np.int64], size: int
) -> dict[str, tuple[Floats, NDArray[np.int64]]]:
    """Per kind of agreement and person: hits (a statement counts once) and of how many."""
    statement = dense_codes(answers.statement_ids)
    asked = dense_codes(answers.question_ids)
    said = (answers.near < answers.far).astype(np.int64)
    person = speakers(answers)
    same, others = counts_of_others(asked, said, person)
    first = ~double_submits(answers)
    own = dense_codes(asked * (int(person.max(initial=-1)) + 1) + person)
    same_again, again = np.zeros(len(answers)), np.zeros(len(answers))
    same_again[first], again[first] = counts_of_others(own[first], said[first], statement[first])
    side = _sides(answers)
    left = np.zeros(len(answers)) if answers.near_side is None else (answers.near_side == 0).astype(float)
    predicted = np.asarray(credit, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = {
            "with_prediction": (predicted, np.isfinite(predicted)),
            "with_others": (same / others, others > 0),
            "with_themselves": (same_again / again, again > 0),
            "left": (left, side),
        }
    found = {}
    for kind, (value, known) in values.items():
        # a question asked again is one comparison, however often; anything else counts by statement
        compared = own if kind == "with_themselves" else statement
        found[kind] = _hits(value[known], compared[known], codes[known], size)
    return found


def _sides(answers: Triplets) -> NDArray[np.bool_]:
    """(m,) whether it is known at which side the chosen one stood; a side that never varies is none."""
    if answers.near_side is None:
        return np.zeros(len(answers), dtype=bool)
    known = answers.near_side >= 0
    return known if len(np.unique(answers.near_side[known])) > 1 else np.zeros(len(answers), dtype=bool)


def _hits(
    value: Floats, compared: NDArray[np.int64], codes: NDArray[np.int64], size: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Per person: the sum of the means of the things compared, and how many there are."""
    hits: Floats = np.zeros(size)
    count: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
    if len(value):
        _, first, inverse = np.unique(compared, return_index=True, return_inverse=True)
        np.add.at(hits, codes[first], np.bincount(inverse, weights=value) / np.bincount(inverse))
        np.add.at(count, codes[first], 1)
    return hits, count


def statements_of_people(answers: Triplets, codes: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """How many statements every person made."""
    _, first = np.unique(answers.statement_ids, return_index=True)
    return np.bincount(codes[first], minlength=size)


def times_of_people(answers: Triplets, size: int) -> tuple[Floats, Floats, float | None]:
    """Per participant: median seconds of a statement and the share of very fast ones; and the limit of that."""
    unknown = np.full(size, math.nan)
    if answers.seconds is None or answers.participant is None or not np.isfinite(answers.seconds).any():
        return unknown, unknown, None
    _, first = np.unique(answers.statement_ids, return_index=True)  # one time per statement
    seconds, codes = answers.seconds[first], answers.participant.codes[first]
    timed = np.isfinite(seconds)
    seconds, codes = seconds[timed], codes[timed]
    limit = FAST * median_of_times(seconds)
    median, fast = unknown.copy(), unknown.copy()
    for code in np.unique(codes).tolist():
        own = seconds[codes == code]
        median[code], fast[code] = median_of_times(own), np.mean(own < limit)
    return median, fast, limit
