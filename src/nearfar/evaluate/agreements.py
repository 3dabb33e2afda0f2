"""How often people give the same answer to the same question: every two of them, and within and between groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Codes, Floats, dense_codes
from nearfar._tools.records import Record
from nearfar.errors import InputError
from nearfar.evaluate.bootstrap import Estimate, respondents
from nearfar.evaluate.participants import wilson
from nearfar.evaluate.splits import split_units
from nearfar.triplets import Triplets, as_triplets

__all__ = [
    "FirstResponses",
    "GroupAgreement",
    "PersonAgreement",
    "first_responses",
    "group_agreement",
    "person_agreement",
]


class FirstResponses(NamedTuple):
    """One answer per person and question: who, which question, which of its options, in which unit; and how many options.

    Statements "odd one out" and "most central" are one answer with three options; anything else is one with two.
    ``row`` : the answer's row among the triplets.
    """

    person: Codes
    asked: Codes
    option: Codes
    unit: Codes
    row: NDArray[np.intp]
    options: int


def first_responses(answers: Triplets) -> FirstResponses:
    """The first answer of every person to every question, in terms of what was chosen."""
    person = respondents(answers)
    rows, chosen, options = _choices(answers)
    asked = dense_codes(answers.trio_ids[rows] if options == 3 else answers.question_ids[rows])
    _, firsts = np.unique(person[rows] * (int(asked.max(initial=-1)) + 1) + asked, return_index=True)
    rows = rows[firsts]
    unit = split_units(answers).codes[rows]
    return FirstResponses(dense_codes(person[rows]), asked[firsts], chosen[firsts], unit, rows, options)


def _choices(answers: Triplets) -> tuple[NDArray[np.intp], Codes, int]:
    """Rows that stand for an answer, the number of the option chosen in each, and how many options there are."""
    everything = np.arange(len(answers)), (answers.near < answers.far).astype(np.int64), 2
    if answers.statement is None or not len(answers):
        return everything
    statement = dense_codes(answers.statement_ids)
    order = np.argsort(statement, kind="stable")
    if len(order) % 2 or (np.bincount(statement) != 2).any():
        return everything
    one, two = order[::2], order[1::2]
    trio = np.sort(answers.array, axis=1)
    twins = (trio[one] == trio[two]).all(axis=1) & (answers.anchor[one] != answers.anchor[two])
    for choice in (answers.far, answers.near):
        if (twins & (choice[one] == choice[two])).all():
            option = np.argmax(trio[one] == choice[one][:, None], axis=1)
            return one, option.astype(np.int64), 3
    return everything


# ---------------------------------------------------------------- every two people


@dataclass(frozen=True, eq=False)
class PersonAgreement(Record):
    """How often every two people gave the same answer to the same question.

    Attributes
    ----------
    people : names, in order.
    share : (P, P) share of shared questions answered alike; NaN below 10 independent ones, and on the diagonal.
    low, high : (P, P) 95 % interval of it (Wilson), for as many independent questions as the shared ones are worth.
    shared : (P, P) how many questions both answered.
    options : answers that are possible; chance is one over that.
    together : how many answers are worth one independent answer: 1 for single questions, more where answers of one screen
        or trio are correlated. Two people must share 10 times as many questions.
    """

    people: tuple[str, ...]
    share: Floats
    low: Floats
    high: Floats
    shared: NDArray[np.int64]
    options: int
    together: float

    @property
    def known(self) -> float:
        """Share of all pairs of people whose agreement is told."""
        pairs = len(self.people) * (len(self.people) - 1)
        return float(np.isfinite(self.share).sum() / pairs) if pairs else 0.0


def person_agreement(answers: Triplets | ArrayLike, *, max_people: int = 300) -> PersonAgreement:
    """Agreement of every two people on the questions that both answered.

    Parameters
    ----------
    answers : with participants.
    max_people : of more people so many are drawn at random, since the result grows with the square of their number.

    Examples
    --------
    >>> rows = [[0, i, i + 1] for i in range(1, 13)]
    >>> answers = Triplets.from_array(rows + rows, participant=["ann"] * 12 + ["bob"] * 12)
    >>> found = person_agreement(answers)
    >>> found.people, float(found.share[0, 1]), int(found.shared[0, 1])
    (('ann', 'bob'), 1.0, 12)
    """
    from scipy.sparse import coo_array

    answers = as_triplets(answers)
    if answers.participant is None:
        raise InputError("people: the answers do not say who gave them; add a column participant")
    chosen = np.sort(np.random.default_rng(0).permutation(answers.participant.known)[:max_people])
    said = first_responses(answers[np.isin(answers.participant.codes, chosen)])
    count, questions = len(chosen), int(said.asked.max(initial=-1)) + 1
    ones = np.ones(len(said.person))
    asked: Any = coo_array((ones, (said.person, said.asked)), shape=(count, questions)).tocsr()
    cell = said.asked * said.options + said.option
    chose: Any = coo_array((ones, (said.person, cell)), shape=(count, questions * said.options)).tocsr()
    shared = np.asarray((asked @ asked.T).todense())
    alike = np.asarray((chose @ chose.T).todense())
    np.fill_diagonal(shared, 0)
    together = _design_effect(said, shared, alike)
    enough = shared >= 10 * together
    share = np.where(enough, alike, np.nan) / np.maximum(shared, 1)
    low, high = wilson(share, np.where(enough, shared / together, np.nan))
    names = tuple(map(str, answers.participant.names[chosen].tolist()))
    return PersonAgreement(names, share, low, high, shared.astype(np.int64), said.options, together)


def _design_effect(said: FirstResponses, shared: Floats, alike: Floats, max_pairs: int = 300) -> float:
    """Variance of the agreement of two people over that of independent questions, pooled over pairs; at least 1.

    Answers of one person in one unit (a screen, or a trio) may be correlated, and a shared question lies in a unit of
    either person. With e the agreement on a question less that of the pair, the variance is the sum of squares of sums
    of e by the units of the one, plus that by the units of the other, less that by both.
    """
    one, other = np.nonzero(np.triu(shared >= 10, 1))
    some = np.random.default_rng(0).permutation(len(one))[:max_pairs]
    order = np.argsort(said.person, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(said.person))[:-1])
    clustered = independent = 0.0
    for p, q in zip(one[some].tolist(), other[some].tolist(), strict=True):
        _, mine, theirs = np.intersect1d(
            said.asked[rows[p]], said.asked[rows[q]], assume_unique=True, return_indices=True
        )
        mine, theirs = rows[p][mine], rows[q][theirs]
        off = (said.option[mine] == said.option[theirs]) - alike[p, q] / shared[p, q]
        both = said.unit[mine] * (int(said.unit.max()) + 1) + said.unit[theirs]
        by_one, by_other, by_both = (
            _squares(unit, off) for unit in (said.unit[mine], said.unit[theirs], both)
        )
        clustered += max(by_one + by_other - by_both, by_one, by_other)
        independent += float(np.sum(off**2)) * len(off) / (len(off) - 1)
    return max(1.0, clustered / independent) if independent > 0 else 1.0


def _squares(unit: NDArray[np.int64], off: Floats) -> float:
    """Sum of squares of sums by unit, were other units drawn; 0 for one unit, which says nothing."""
    codes = dense_codes(unit)
    count = int(codes.max()) + 1
    return count / (count - 1) * float(np.sum(np.bincount(codes, weights=off) ** 2)) if count > 1 else 0.0


# ---------------------------------------------------------------- two groups


@dataclass(frozen=True)
class GroupAgreement(Record):
    """Shares of pairs of people that agree, each repeated question counted once.

    Attributes
    ----------
    shares : within the first group, within the second, between the two.
    gap : mean of the two within less that between.
    questions : how many questions stand behind each of the three; below 20 there are no intervals.
    options : answers that are possible; chance is one over that.
    """

    shares: tuple[Estimate, Estimate, Estimate]
    gap: Estimate
    questions: tuple[int, int, int]
    options: int


def group_agreement(
    answers: Triplets, group: NDArray[np.int64], *, n_draws: int = 200, seed: int = 0
) -> GroupAgreement | None:
    """Agreement within and between two groups; None where some of the three has no question.

    A person's first answer to a question counts. Intervals are the wider of two bootstraps, of people and of trios (or
    screens): to draw both at once would count the noise of single pairs many times.
    """
    from scipy.stats import t

    said = first_responses(answers)
    units = dense_codes(said.unit)
    unit_of = np.zeros(int(said.asked.max(initial=-1)) + 1, dtype=np.int64)
    unit_of[said.asked] = units
    of_group = group[said.row]
    people, all_units = (np.ones(int(codes.max(initial=-1)) + 1) for codes in (said.person, units))
    values, counts = _agreeing(said, of_group, people, all_units[unit_of])
    if (counts == 0).any():
        return None
    rng = np.random.default_rng(seed)

    def again(ones: Floats) -> Floats:
        return rng.multinomial(len(ones), ones / len(ones)).astype(float)

    drawn = np.empty((2, n_draws, 4))
    for by_people, by_units in zip(*drawn, strict=True):
        by_people[:] = _agreeing(said, of_group, again(people), all_units[unit_of])[0]
        by_units[:] = _agreeing(said, of_group, people, again(all_units)[unit_of])[0]
    smaller = min(len(np.unique(said.person[of_group == g])) for g in (0, 1))
    known = counts.min() >= 20 and smaller >= 3
    width = t.ppf(0.975, smaller - 1) * np.nanstd(drawn, axis=1).max(axis=0) if known else np.full(4, np.nan)
    low, high = np.maximum(values - width, [0, 0, 0, -1]), np.minimum(values + width, 1)
    made = [Estimate(*row) for row in np.column_stack([values, low, high]).tolist()]
    first, second, between = counts.astype(int).tolist()
    return GroupAgreement((made[0], made[1], made[2]), made[3], (first, second, between), said.options)


def _agreeing(
    said: FirstResponses, of_group: Codes, weight: Floats, of_question: Floats
) -> tuple[Floats, Floats]:
    """(4,) within the groups, between them, and the gap; (3,) the weight of the questions behind the first three.

    A pair has the product of the weights of its people; nobody is a pair with themselves.
    """
    own = weight[said.person]
    cell = (of_group * said.options + said.option) * len(of_question) + said.asked
    shape = (2, said.options, len(of_question))
    votes = np.bincount(cell, weights=own, minlength=int(np.prod(shape))).reshape(shape)
    at = of_group * len(of_question) + said.asked
    alone = np.bincount(at, weights=own**2, minlength=2 * len(of_question)).reshape(2, -1)
    n = votes.sum(axis=1)
    pairs = np.stack([*(n**2 - alone) / 2, n[0] * n[1]])
    agree = np.stack([*((votes**2).sum(axis=1) - alone) / 2, (votes[0] * votes[1]).sum(axis=0)])
    known = (pairs > 1e-9) * of_question
    counts = known.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = (known * agree / np.maximum(pairs, 1e-9)).sum(axis=1) / counts
    return np.append(shares, (shares[0] + shares[1]) / 2 - shares[2]), counts
