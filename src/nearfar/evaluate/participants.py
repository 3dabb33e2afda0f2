"""Participants to check: whoever agrees with the prediction not clearly more often than chance, and why that may be.

Statements count, not rows: a grid screen is one value, the mean credit of its rows, and the error of a person's
agreement comes from the spread over their own statements. Two one-sided t tests decide who is named: clearly below
what is usual (Benjamini and Hochberg over all participants), and not clearly above chance. Nobody is left out by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Codes, Floats, dense_codes
from nearfar._tools.records import Record
from nearfar.evaluate.bootstrap import Estimate
from nearfar.evaluate.ceiling import counts_of_others
from nearfar.evaluate.collection import double_submits
from nearfar.evaluate.crossval import MAX_OBJECTS, quick_credits, score_credits
from nearfar.evaluate.splits import respondents
from nearfar.triplets import Triplets
from nearfar.triplets.columns import median_of_times

Reason = Literal[
    "opposite", "one-sided", "too fast", "not above chance", "inconsistent", "different strategy"
]
LEVEL = 0.05
REPEAT_LEVEL = 0.01  # level at which somebody is said to repeat their own answers
MIN_STATEMENTS = 10  # behind a share before it can be held against somebody


@dataclass(frozen=True)
class Rate(Estimate):
    """A share ``of`` so many statements (or questions asked again)."""

    of: int = 0


@dataclass(frozen=True)
class Person(Record):
    """One participant.

    Parameters
    ----------
    name : as in the answers.
    answers, statements : how many.
    with_prediction : held-out answers that the model predicts.
    with_others : answers that others gave, too, to the same question.
    with_themselves : the same answer to the same question, given again.
    median_seconds, fast : of a statement; share of statements faster than a third of everybody's median.
    left : statements that chose the option on the left.
    reasons : to check this participant, the likeliest cause first; none for most. "opposite": agrees clearly less often than
        chance; "one-sided": nearly always the same side; "too fast": most statements are; "not above chance": agrees not
        clearly more often than chance; "inconsistent": does not repeat their own answers; "different strategy": answers
        reliably, by another strategy. Without the last two, careless and different cannot be distinguished.
    """

    name: str
    answers: int
    statements: int
    with_prediction: Rate | None
    with_others: Rate | None
    with_themselves: Rate | None
    median_seconds: float | None
    fast: float | None
    left: Rate | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class People(Record):
    """The participants, those to check first.

    ``usual`` : kind of share -> its median over participants, where it is known.
    ``fast_below`` : seconds below which a statement counts as very fast.
    ``detectable`` : how many participants made enough statements for somebody who guesses to be found among them.
    """

    rows: tuple[Person, ...]
    usual: dict[str, float]
    fast_below: float | None
    detectable: int

    @property
    def to_check(self) -> tuple[Person, ...]:
        """Those with a reason to check them."""
        return tuple(person for person in self.rows if person.reasons)


def wilson(share: Any, count: Any) -> tuple[Any, Any]:
    """The 95 % Wilson interval of shares, each of ``count`` (not always whole) independent ones; it never leaves 0 to 1."""
    z = 1.96**2 / count
    middle = (share + z / 2) / (1 + z)
    width = 1.96 / (1 + z) * np.sqrt(share * (1 - share) / count + z / (4 * count))
    return np.maximum(0.0, middle - width), np.minimum(1.0, middle + width)


@dataclass(frozen=True, eq=False)
class _Shares:
    """(P,) mean, its standard error by the spread over statements, and their number; NaN where unknown."""

    mean: Floats
    error: Floats
    count: NDArray[np.int64]

    @property
    def enough(self) -> NDArray[np.bool_]:
        return np.asarray(self.count >= MIN_STATEMENTS)

    def rate(self, person: int) -> Rate | None:
        """The interval is Wilson's for as many coins as would give this error."""
        mean, error, count = float(self.mean[person]), float(self.error[person]), int(self.count[person])
        if not count:
            return None
        coins = mean * (1 - mean) / error**2 if error > 0 else float(count)
        low, high = wilson(mean, coins)
        return Rate(mean, float(low), float(high), count)

    def p_below(self, value: float) -> Floats:
        """(P,) p of a mean so low, were the true one ``value``; 1 with too few statements."""
        from scipy.stats import t

        error = np.where(self.error > 0, self.error, 1 / np.maximum(self.count, 1))  # as if one differed
        p = t.cdf((self.mean - value) / error, np.maximum(self.count - 1, 1))
        return np.where(self.enough, p, 1.0)

    def p_above(self, value: float) -> Floats:
        return replace(self, mean=-self.mean).p_below(-value)


def judge_people(answers: Triplets, credit: NDArray[Any] | None = None) -> People | None:
    """Judge every participant; None where nobody is known.

    ``credit`` : (m,) held-out credits, NaN where there is none. Default: those of ``score``.
    """
    if answers.participant is None or not len(answers.participant.known):
        return None
    names = answers.participant.names
    who = answers.participant.codes.astype(np.int64)
    credit = quick_credits(answers) if credit is None else credit
    credit = np.full(len(answers), math.nan) if credit is None else np.asarray(credit, dtype=np.float64)
    shares = _shares(answers, credit, who, len(names))
    known = answers.participant.known
    enough = {kind: each.mean[known][each.enough[known]] for kind, each in shares.items()}
    usual = {kind: float(np.median(means)) for kind, means in enough.items() if len(means)}
    median, fast, limit = _times(answers, who, len(names))
    p, tests = _tests(shares, usual, known)
    tests["too fast"] = np.isfinite(fast) & (fast > 0.5)
    naming = tests["opposite"] | tests["not above chance"] | tests["one-sided"]
    named = set(known[naming[known]].tolist())
    different = (shares["with_themselves"].p_above(0.5) <= REPEAT_LEVEL) & naming
    different[[code for code in named if _has_own_strategy(answers, credit, who, code, named)]] = True
    tests["different strategy"] = different & tests["not above chance"] & ~tests["one-sided"]
    first = np.unique(answers.statement_ids, return_index=True)[1]
    n_answers, n_statements = (np.bincount(x, minlength=len(names)).tolist() for x in (who, who[first]))
    rows = []
    for code in sorted(known.tolist(), key=lambda code: (p[code], str(names[code]))):
        about: dict[str, Any] = {kind: each.rate(code) for kind, each in shares.items()}
        for kind, each in (("median_seconds", median), ("fast", fast)):
            about[kind] = None if math.isnan(each[code]) else float(each[code])
        reasons = tuple(reason for reason in get_args(Reason) if code in named and tests[reason][code])
        size = n_answers[code], n_statements[code]
        rows.append(Person(str(names[code]), *size, reasons=reasons, **about))
    rows.sort(key=lambda row: not row.reasons)
    agrees = shares["with_prediction"]
    # were they alone in it, would they be named if they agreed in half of their statements?
    guessing = replace(agrees, mean=np.full(len(names), 0.5)).p_below(usual.get("with_prediction", 0.0))
    detectable = int((guessing[known] <= LEVEL / len(known)).sum())
    return People(tuple(rows), usual, limit, detectable)


def _tests(
    shares: dict[str, _Shares], usual: dict[str, float], known: NDArray[Any]
) -> tuple[Floats, dict[Reason, NDArray[np.bool_]]]:
    """(P,) p of agreeing as often as is usual, and which reasons hold of whom."""
    from scipy.stats import false_discovery_control

    agrees, again, left = (shares[kind] for kind in ("with_prediction", "with_themselves", "left"))
    p = agrees.p_below(usual.get("with_prediction", 0.0))

    def significant(values: Floats) -> NDArray[np.bool_]:
        marked = np.zeros(len(values), dtype=bool)
        marked[known] = false_discovery_control(values[known]) <= LEVEL
        return marked

    chance = significant(p) & (agrees.p_above(0.5) > LEVEL)
    opposite = chance & (agrees.p_below(0.5) <= LEVEL / len(known))
    # honest people may prefer a side: by a tenth more than is usual is not held against them
    middle = usual.get("left", 0.5)
    sided = np.minimum(left.p_below(max(0.0, middle - 0.1)), left.p_above(min(1.0, middle + 0.1)))
    one_sided = significant(np.minimum(1.0, 2 * sided))
    rarely = again.p_below(usual.get("with_themselves", 0.0)) <= LEVEL
    inconsistent = (again.p_above(0.5) > REPEAT_LEVEL) & rarely & ~opposite
    tests: dict[Reason, NDArray[np.bool_]] = {"opposite": opposite, "one-sided": one_sided}
    return p, tests | {"not above chance": chance & ~opposite, "inconsistent": inconsistent}


def _shares(answers: Triplets, credit: Floats, who: Codes, size: int) -> dict[str, _Shares]:
    """Of every person: how often they agree with the prediction, with others, with themselves, and choose the left."""
    statement = dense_codes(answers.statement_ids)
    asked = dense_codes(answers.question_ids)
    said = (answers.near < answers.far).astype(np.int64)
    person = respondents(answers)
    same, others = counts_of_others(asked, said, person)
    own = dense_codes(asked * (int(person.max(initial=-1)) + 1) + person)
    first = ~double_submits(answers)
    again = np.zeros((2, len(answers)))
    again[:, first] = counts_of_others(own[first], said[first], statement[first])
    side = np.full(len(answers), np.nan)
    if answers.near_side is not None:
        told = answers.near_side >= 0
        if len(np.unique(answers.near_side[told])) > 1:  # a side that never varies says nothing
            side[told] = answers.near_side[told] == 0
    with np.errstate(invalid="ignore", divide="ignore"):
        # a question asked again is one comparison, however often; anything else counts by statement
        values = {
            "with_prediction": (credit, statement),
            "with_others": (same / others, statement),
            "with_themselves": (again[0] / again[1], own),
            "left": (side, statement),
        }
    return {kind: _by_person(value, unit, who, size) for kind, (value, unit) in values.items()}


def _by_person(value: Floats, unit: Codes, who: Codes, size: int) -> _Shares:
    """Means over the units (statements) of each person, of the mean of the values in each."""
    known = np.isfinite(value)
    value, who = value[known], who[known]
    _, first, unit = np.unique(unit[known], return_index=True, return_inverse=True)
    mean = np.bincount(unit, weights=value) / np.maximum(np.bincount(unit), 1)
    who = who[first]
    count = np.bincount(who, minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = np.bincount(who, weights=mean, minlength=size) / count
        squares = np.bincount(who, weights=(mean - middle[who]) ** 2, minlength=size)
        error = np.sqrt(squares / (count - 1) / count)
    return _Shares(middle, np.nan_to_num(error), count)


def _times(answers: Triplets, who: Codes, size: int) -> tuple[Floats, Floats, float | None]:
    """Per participant: median seconds of a statement and the share of very fast ones, NaN where unknown; and the limit of that."""
    from scipy import ndimage

    unknown = np.full(size, math.nan)
    if answers.seconds is None or not np.isfinite(answers.seconds).any():
        return unknown, unknown, None
    _, first = np.unique(answers.statement_ids, return_index=True)  # one time per statement
    first = first[np.isfinite(answers.seconds[first])]
    seconds, who = answers.seconds[first], who[first]
    limit = median_of_times(seconds) / 3
    count = np.bincount(who, minlength=size)
    median = np.asarray(ndimage.median(seconds, who, np.arange(size)))
    fast = np.bincount(who, weights=seconds < limit, minlength=size) / np.maximum(count, 1)
    return np.where(count, median, math.nan), np.where(count, fast, math.nan), limit


def _has_own_strategy(answers: Triplets, credit: Floats, who: Codes, code: int, named: set[int]) -> bool:
    """Whether a person's answers follow from those of the others named, or from their own, clearly better than from everybody's.

    Somebody who is careless half of the time still follows everybody's strategy best; a guesser follows nobody's.
    """
    theirs, fellows = who == code, np.isin(who, list(named - {code}))
    mine = answers[theirs]
    statement, alone = dense_codes(mine.statement_ids), np.zeros(len(mine), dtype=np.int64)
    few = fellows.any() and answers.n_objects <= MAX_OBJECTS
    by_fellows = score_credits(answers[fellows], mine) if few else None
    by_own = quick_credits(mine) if len(mine) >= 5 * MIN_STATEMENTS else None
    for predicted in (each for each in (by_fellows, by_own) if each is not None):
        ahead = _by_person(predicted - credit[theirs], statement, alone, 1)
        rate = _by_person(predicted, statement, alone, 1).rate(0)
        if rate is not None and rate.low > 0.5 and ahead.p_above(0.0)[0] <= LEVEL / 4:  # two tried, two-sided
            return True
    return False
