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

from nearfar.evaluate.uncertainty import dense_codes

__all__ = ["Agreement", "Given", "agreement", "ceiling_bracket", "counts_of_others"]

Codes = NDArray[np.int64]


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
    standard_error : the larger of two, over questions drawn and over people drawn; NaN where it is not known.
    questions, answers : how many questions were answered more than once, and how many answers they got.
    options : how many answers are possible; chance is one over that.
    """

    share: float
    standard_error: float
    questions: int
    answers: int
    options: int = 2

    @property
    def chance(self) -> float:
        """Agreement of people who guess."""
        return 1 / self.options

    @property
    def bracket(self) -> tuple[float, float]:
        """Lowest and highest accuracy that the best possible model can have, given this agreement."""
        return ceiling_bracket(self.share, self.options)


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

    ``within``: the two answers of a pair are one person's. With v_q pairs of answers to question q, of them g_q agreeing: ``A = mean_q g_q / v_q``.
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
    over_questions = _clustered(given.unit, excess, counted)
    if within:
        over_people = _clustered(person, excess, counted)
    else:
        over_people = _dyadic(person, excess, weight, agreeing, pairs, share)
    # fmax: one person is no sample of people; but one question is no sample at all
    variance = np.fmax(over_questions, over_people) if over_questions >= 0 else math.nan
    error = math.sqrt(variance) / total
    answers = int(repeated[given.asked].sum())
    return Agreement(share, error, total, answers, options)


def _clustered(unit: Codes, excess: NDArray[Any], counted: NDArray[np.bool_]) -> float:
    """Variance of the sum of ``excess`` were other units drawn; NaN with less than two units."""
    count = len(np.unique(unit[counted]))
    if count < 2:
        return math.nan
    return float(count / (count - 1) * np.sum(np.bincount(unit, weights=excess) ** 2))


def _dyadic(
    person: Codes,
    excess: NDArray[Any],
    weight: NDArray[Any],
    agreeing: NDArray[Any],
    pairs: NDArray[Any],
    share: float,
) -> float:
    """Variance of the same sum were other people drawn: over pairs of pairs that share a person.

    A pair's excess x belongs to both of its people, so sum_p (sum of x over p's pairs)^2 holds x^2 twice: once
    is taken away (the dyadic cluster-robust variance).
    """
    of_people = np.sum(np.bincount(person, weights=2 * excess) ** 2)
    twice = 2 * weight**2 * (agreeing * (1 - share) ** 2 + (pairs - agreeing) * share**2)
    return float(of_people - np.sum(twice))


def _size(*keys: Codes) -> NDArray[np.int64]:
    """For every answer: how many answers have the same keys."""
    code = keys[0]
    for key in keys[1:]:
        code = dense_codes(code * (int(key.max(initial=-1)) + 1) + key)
    return np.bincount(code)[code] if len(code) else np.zeros(0, dtype=np.int64)
