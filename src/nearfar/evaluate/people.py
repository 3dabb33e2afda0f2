"""Participants: who answers unlike the others, and whether that is carelessness or another taste.

A look is suggested; nobody is ever left out by itself. Every person gets one p-value over all tests, and who is
named is decided by Benjamini and Hochberg over all people (docs/honesty.md says how often that holds in simulations).
Statements count, not rows: a grid screen is one thing said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats, dense_codes
from nearfar.evaluate.baseline import quick_credits, score_credits
from nearfar.evaluate.shares_of_people import shares_of_people, statements_of_people, times_of_people
from nearfar.triplets import Triplets

__all__ = ["DISCOVERY_RATE", "People", "Person", "Rate", "Standing", "Usual", "judge_people", "wilson"]

Standing = Literal["", "inconsistent", "different", "unlike the others", "one-sided"]
DISCOVERY_RATE = 0.05
ENOUGH = 10  # statements behind a share before it can be held against somebody
SIDED = 0.1  # beyond what is usual, that honest people may prefer one side
LEAST_USUAL = 0.55  # below it, what is usual is hardly above guessing and nobody can be nearer to guessing
SURE = (
    0.01  # level at which somebody named is said to be inconsistent, or to repeat their own answers reliably
)
TASTE = 0.05  # level at which the answers of somebody named are said to follow another taste
LOW_SIDE = 1.5  # abilities differ more towards guessing than towards perfection, by so much in the spread


class Rate(NamedTuple):
    """A share with its 95 % Wilson interval, ``of`` so many statements (or questions asked again)."""

    share: float
    low: float
    high: float
    of: int


@dataclass(frozen=True)
class Person:
    """One participant.

    Parameters
    ----------
    name : as in the answers.
    answers, statements : how many.
    with_prediction : held-out answers that the model predicts.
    with_others : answers that others gave, too, to the same question.
    with_themselves : the same answer to the same question, given again.
    with_own : answers predicted from those of other people named with them, or from their own; only where it decides.
    median_seconds, fast : of a statement; share of statements faster than a third of everybody's median.
    left : statements that chose the option on the left.
    standing : "" for nothing remarkable; "inconsistent" (does not repeat their own answers); "different" (follows
        another taste, and does so reliably); "unlike the others" (one or the other, which cannot be told);
        "one-sided".
    p : of being like the others, over all tests of this person.
    """

    name: str
    answers: int
    statements: int
    with_prediction: Rate | None
    with_others: Rate | None
    with_themselves: Rate | None
    with_own: Rate | None
    median_seconds: float | None
    fast: float | None
    left: Rate | None
    standing: Standing
    p: float


@dataclass(frozen=True)
class People:
    """The participants, those to look at first, and what is usual of them; None where unknown.

    ``fast_below`` : seconds below which a statement counts as very fast.
    """

    rows: tuple[Person, ...]
    usual: dict[str, Usual | None]
    fast_below: float | None

    @property
    def to_review(self) -> tuple[Person, ...]:
        """Those with a standing."""
        return tuple(person for person in self.rows if person.standing)


def wilson(hits: float, count: int, level: float = 1.96) -> Rate | None:
    """A share and its Wilson interval, which never leaves 0 to 1; None of nothing.

    >>> wilson(10, 10)
    Rate(share=1.0, low=0.7224598..., high=1.0, of=10)
    """
    if count == 0:
        return None
    share, z = hits / count, level**2 / count
    middle = (share + z / 2) / (1 + z)
    width = level / (1 + z) * math.sqrt(share * (1 - share) / count + z / (4 * count))
    return Rate(share, max(0.0, middle - width), min(1.0, middle + width), count)


def judge_people(answers: Triplets, credit: NDArray[Any] | None = None) -> People | None:
    """Judge every participant; None where nobody is known.

    Parameters
    ----------
    answers : what was answered.
    credit : (m,) 1 where a held-out prediction agrees with the answer, 0 where not, 0.5 for a tie, NaN where there is
        none. Default: that of ``score``.
    """
    if answers.participant is None:
        return None
    codes = answers.participant.codes.astype(np.int64)
    names = [str(name) for name in answers.participant.names.tolist()]
    count = np.bincount(codes, minlength=len(names))
    there = [code for code in np.flatnonzero(count).tolist() if names[code]]
    if not there:
        return None
    credit = quick_credits(answers) if credit is None else credit
    credit = np.full(len(answers), math.nan) if credit is None else credit
    shares = shares_of_people(answers, credit, codes, len(names))
    median, fast, limit = times_of_people(answers, len(names))
    statements = statements_of_people(answers, codes, len(names))
    rows = [
        Person(
            name=names[code],
            answers=int(count[code]),
            statements=int(statements[code]),
            with_own=None,
            median_seconds=_known(median[code]),
            fast=_known(fast[code]),
            standing="",
            p=1.0,
            **{kind: wilson(hits[code], int(total[code])) for kind, (hits, total) in shares.items()},
        )
        for code in there
    ]
    usual = {kind: _usual([getattr(row, kind) for row in rows]) for kind in shares}
    tested = [(row, _p_values(row, usual)) for row in rows]
    named = _discoveries([_over_tests(p) for _, p in tested])
    suspects = {row.name for (row, p), found in zip(tested, named, strict=True) if found and "unlike" in p}
    judged = [
        replace(row, p=_over_tests(p), **(_standing(answers, row, p, suspects) if found else {}))
        for (row, p), found in zip(tested, named, strict=True)
    ]
    judged.sort(key=lambda row: (not row.standing, row.p, row.name))
    return People(tuple(judged), usual, limit)


# ---------------------------------------------------------------- tests


class Usual(NamedTuple):
    """What is usual over people: the median share, and how much honest people differ (a standard deviation).

    The difference is measured above the median only, so that careless people, who lie below, do not widen it;
    ``of`` : by so many people.
    """

    share: float
    spread: float
    of: int = 1_000_000


def _usual(rates: list[Rate | None]) -> Usual | None:
    known = [rate for rate in rates if rate is not None and rate.of >= ENOUGH]
    if not known:
        return None
    share = np.array([rate.share for rate in known])
    middle = float(np.median(share))
    chance = max(middle * (1 - middle), 0.01) / np.array([rate.of for rate in known])
    above = share >= middle
    low, high = 0.0, 1.0
    for _ in range(40):  # 68 % of people above the median lie within one standard deviation of it
        spread = (low + high) / 2
        inside = np.mean(share[above] - middle <= np.sqrt(chance[above] + spread**2))
        low, high = (spread, high) if inside < 0.683 else (low, spread)
    return Usual(middle, high, int(above.sum()))


def _p_values(row: Person, usual: dict[str, Usual | None]) -> dict[str, float]:
    """Of every test that can be made: is the person further from what is usual than honest people are?"""
    found = {}
    unlike = [
        _p_below(rate, usual[kind])
        for kind, rate in (("with_prediction", row.with_prediction), ("with_others", row.with_others))
    ]
    known = [p for p in unlike if p is not None]
    if known:
        found["unlike"] = min(1.0, len(known) * min(known))
    again = _p_below(row.with_themselves, usual["with_themselves"])
    if again is not None:
        found["inconsistent"] = again
    centre = usual["left"]
    if row.left is not None and row.left.of >= ENOUGH and centre is not None:
        hits = row.left.share * row.left.of
        low, high = max(0.0, centre.share - SIDED), min(1.0, centre.share + SIDED)
        found["one-sided"] = min(
            1.0, 2 * min(_at_most(hits, row.left.of, low), _at_least(hits, row.left.of, high))
        )
    return found


def _p_below(rate: Rate | None, usual: Usual | None) -> float | None:
    """Of a share so low for somebody like the others; 1 where it is not nearer to guessing than to what is usual.

    The larger of two: by a beta-binomial, which is skewed as shares near 1 are; and by Student's t, for how much honest people
    differ is estimated by few of them (the degrees of freedom of chance and spread together are Satterthwaite's).
    """
    from scipy.stats import betabinom, t

    if rate is None or usual is None or rate.of < ENOUGH or usual.share < LEAST_USUAL:
        return None
    if rate.share >= (0.5 + usual.share) / 2:
        return 1.0
    unit = max(usual.share * (1 - usual.share), 0.01)
    chance, spread = unit / rate.of, (LOW_SIDE * usual.spread) ** 2
    spread = max(spread + 1.57 * (chance + spread) / (2 * usual.of), 1e-9)  # the median is estimated, too
    below = usual.share - rate.share - 0.5 / rate.of
    df = max(1, usual.of - 1) * ((chance + spread) / spread) ** 2
    by_t = float(t.sf(below / math.sqrt(chance + spread), df))
    weight = max(unit / spread - 1, 0.1)
    mean = min(usual.share, 0.99)
    skewed = betabinom.cdf(
        math.ceil(rate.share * rate.of - 1e-9), rate.of, weight * mean, weight * (1 - mean)
    )
    return max(by_t, float(skewed))


def _at_most(hits: float, count: int, p: float) -> float:
    """P(X <= hits) of a binomial, also between whole numbers."""
    from scipy.special import betainc

    return 1.0 if hits >= count else float(betainc(count - hits, hits + 1, 1 - p))


def _at_least(hits: float, count: int, p: float) -> float:
    return _at_most(count - hits, count, 1 - p)


def _over_tests(ps: dict[str, float]) -> float:
    """One p-value per person, corrected for how many tests were made."""
    return min(1.0, len(ps) * min(ps.values())) if ps else 1.0


def _discoveries(ps: list[float]) -> list[bool]:
    """Benjamini and Hochberg: which p-values are discoveries at the rate ``DISCOVERY_RATE``.

    >>> _discoveries([0.001, 0.03, 0.5, 0.9])
    [True, False, False, False]
    """
    order = np.argsort(ps)
    below = np.array(ps)[order] <= DISCOVERY_RATE * np.arange(1, len(ps) + 1) / len(ps)
    last = np.flatnonzero(below).max(initial=-1)
    found = np.zeros(len(ps), dtype=bool)
    found[order[: last + 1]] = True
    return [bool(f) for f in found]


# ---------------------------------------------------------------- careless or different


def _standing(answers: Triplets, row: Person, ps: dict[str, float], suspects: set[str]) -> dict[str, Any]:
    """What a person who was named is, with the share that decided."""
    again = row.with_themselves
    if ps.get("inconsistent", 1.0) <= SURE:
        return {"standing": "inconsistent"}
    least = min(ps, key=lambda test: ps[test])
    if least == "one-sided":
        return {"standing": "one-sided"}
    if again is not None and again.of >= ENOUGH and _at_least(again.share * again.of, again.of, 0.5) < SURE:
        return {"standing": "different"}
    own = _own_taste(answers, row, suspects)
    return {"standing": "different" if own else "unlike the others", "with_own": own}


def _own_taste(answers: Triplets, row: Person, suspects: set[str]) -> Rate | None:
    """How well a person's answers follow from those of the others named, or from their own; None where not clearly.

    Clearly: better than from everybody's answers. Somebody who is careless half of the time still follows everybody's
    taste best; a guesser follows nobody's.
    """
    assert answers.participant is not None
    theirs = answers.participant == row.name
    mine = answers[theirs]
    general = score_credits(answers[~theirs], mine)
    group = np.isin(np.asarray(answers.participant), list(suspects - {row.name}))
    ways = [
        score_credits(answers[group], mine) if group.any() else None,
        quick_credits(mine) if len(mine) >= 5 * ENOUGH else None,
    ]
    statement = dense_codes(mine.statement_ids)
    best = None
    for credit in ways:
        if credit is None:
            continue
        ahead = _by_statement(credit, statement) - _by_statement(general, statement)
        rate = wilson(float(_by_statement(credit, statement).sum()), len(ahead))
        if rate is None or rate.low <= 0.5 or len(ahead) < ENOUGH:
            continue
        error = float(ahead.std(ddof=1)) / math.sqrt(len(ahead))
        # two ways are tried
        if ahead.mean() > _quantile(1 - TASTE / 2, len(ahead) - 1) * error and (
            best is None or rate.share > best.share
        ):
            best = rate
    return best


def _quantile(level: float, df: int) -> float:
    from scipy.stats import t

    return float(t.ppf(level, df))


def _by_statement(values: NDArray[Any], statement: NDArray[np.int64]) -> Floats:
    return np.asarray(np.bincount(statement, weights=values) / np.bincount(statement))


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
