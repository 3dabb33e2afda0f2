"""How often two answers to the same question agree, and what that says about the best possible model.

A question gets option i with probability p_i (two options for a triplet, three for an odd-one-out). Two answers
agree with probability A = E sum_i p_i^2; the best any model can do is E max_i p_i, which lies in
``[A, (1 + sqrt((k - 1)(k A - 1))) / k]`` for k options (the upper end by Jensen's inequality).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Codes, Floats
from nearfar.evaluate.uncertainty import dense_codes

__all__ = ["Agreement", "Given", "agreement", "as_plain", "ceiling_bracket", "counts_of_others"]


class Given(NamedTuple):
    """Answers as codes: answer t says ``said[t]`` to question ``asked[t]``; one ``unit`` is drawn as a whole."""

    asked: Codes
    said: Codes
    unit: Codes


@dataclass(frozen=True)
class Agreement:
    """How often two answers to the same question agree.

    Parameters
    ----------
    share : of pairs that agree; every repeated question counts once, so that a catch question which everybody
        got does not drown the others.
    standard_error : over questions drawn and people drawn, both at once; NaN where it is not known.
    questions, answers : how many questions were answered more than once, and how many answers they got.
    people : how many people (or statements, where people are not known) gave those answers.
    options : how many answers are possible; chance is one over that.
    """

    share: float
    standard_error: float
    questions: int
    answers: int
    people: int
    options: int = 2

    @property
    def chance(self) -> float:
        """Agreement of people who guess."""
        return 1 / self.options

    @property
    def bracket(self) -> tuple[float, float]:
        """Lowest and highest accuracy that the best possible model can have, given this agreement."""
        return ceiling_bracket(self.share, self.options)

    def limits(self, level: float = 0.95) -> tuple[float, float]:
        """The interval of the agreement, by Student's t with as many degrees of freedom as people or questions."""
        from scipy.stats import t

        df = min(self.questions, self.people) - 1
        if df < 1 or not math.isfinite(self.standard_error):
            return math.nan, math.nan
        error = max(
            self.standard_error, 1 / (self.questions + 4)
        )  # equal values in a sample do not prove that all are equal
        width = float(t.ppf((1 + level) / 2, df)) * error
        return max(self.chance, self.share - width), min(1.0, max(self.chance, self.share + width))


def ceiling_bracket(share: float, options: int = 2) -> tuple[float, float]:
    """Bounds of E max_i p_i from the agreement E sum_i p_i^2; chance where agreement is not above chance.

    >>> ceiling_bracket(1.0), ceiling_bracket(0.5)
    ((1.0, 1.0), (0.5, 0.5))
    >>> low, high = ceiling_bracket(0.68)  # every question answered alike by 8 of 10: 0.8 * 0.8 + 0.2 * 0.2
    >>> round(low, 2), round(high, 2)
    (0.68, 0.8)
    """
    share = max(share, 1 / options)
    return share, (1 + math.sqrt(max(0.0, (options - 1) * (options * share - 1)))) / options


def counts_of_others(asked: Codes, said: Codes, person: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every answer: others to the same question by somebody else that say the same, and all of them."""
    return _size(asked, said) - _size(asked, said, person), _size(asked) - _size(asked, person)


def agreement(
    given: Given,
    same: NDArray[np.int64],
    others: NDArray[np.int64],
    person: Codes,
    *,
    options: int = 2,
    within: bool = False,
) -> Agreement | None:
    """Agreement from ``counts_of_others``; None where no question has two answers.

    ``within``: the two answers of a pair are one person's.
    With v_q pairs of answers to question q, of them g_q agreeing: ``A = mean_q g_q / v_q``.
    """
    n_questions = int(given.asked.max(initial=-1)) + 1
    pairs = np.bincount(given.asked, weights=others, minlength=n_questions)
    repeated = pairs > 0
    if not repeated.any():
        return None
    agreeing = np.bincount(given.asked, weights=same, minlength=n_questions)
    weight = np.where(repeated, 1 / np.maximum(pairs, 1), 0.0)
    total = int(repeated.sum())
    share = float(np.sum(weight * agreeing)) / total
    excess = weight[given.asked] * (same - share * others)  # of answer t, over the pairs it leads
    counted = repeated[given.asked]
    squares = weight**2 * (agreeing * (1 - share) ** 2 + (pairs - agreeing) * share**2)
    variance = _variance(given, excess, counted, person, float(squares.sum()), within)
    people = len(np.unique(person[counted]))
    if within and people == 1:
        people = total  # one person speaks for themselves: only questions are drawn
    return Agreement(share, math.sqrt(variance) / total, total, int(counted.sum()), people, options)


def _variance(
    given: Given,
    excess: Floats,
    counted: NDArray[np.bool_],
    person: Codes,
    squares: float,
    within: bool,
) -> float:
    """Variance of the sum of ``excess`` were other questions and other people drawn; NaN with less than two units.

    Two pairs of answers hang together if they share the unit (trio), or a person. The first is the sum by unit; the
    second is dyadic: a pair's excess belongs to both of its people, so its own square, counted twice, is taken away
    once. What shares both is taken away once.
    """
    by_unit = _clustered(given.unit, excess, counted)
    if math.isnan(by_unit) or (within and len(np.unique(person[counted])) < 2):
        return by_unit
    if within:
        by_person = _clustered(person, excess, counted)
        both = _sum_of_squares(_pair_codes(given.unit, person), excess)
    else:
        by_person = _sum_of_squares(person, 2 * excess) - 2 * squares
        both = _sum_of_squares(_pair_codes(given.unit, person), 2 * excess) - 2 * squares
    return max(by_unit + by_person - both, by_unit, by_person)


def _clustered(unit: Codes, excess: Floats, counted: NDArray[np.bool_]) -> float:
    """Variance of the sum of ``excess`` were other units drawn; NaN with less than two units."""
    count = len(np.unique(unit[counted]))
    return count / (count - 1) * _sum_of_squares(unit, excess) if count > 1 else math.nan


def _sum_of_squares(codes: Codes, values: Floats) -> float:
    return float(np.sum(np.bincount(codes, weights=values) ** 2))


def _pair_codes(one: Codes, other: Codes) -> Codes:
    return dense_codes(one * (int(other.max(initial=-1)) + 1) + other)


def _size(*keys: Codes) -> NDArray[np.int64]:
    """For every answer: how many answers have the same keys."""
    code = keys[0]
    for key in keys[1:]:
        code = _pair_codes(code, key)
    return np.bincount(code)[code] if len(code) else np.zeros(0, dtype=np.int64)


def as_plain(values: dict[str, Any]) -> dict[str, Any]:
    """NaN as None: JSON has no NaN."""
    return {name: None if value != value else value for name, value in values.items()}
