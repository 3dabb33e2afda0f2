"""How often people of one group, and of two, give the same answer to the same question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Codes, Floats, dense_codes
from nearfar.evaluate.bootstrap import Estimate, speakers
from nearfar.evaluate.splits import split_units
from nearfar.triplets import Triplets

__all__ = ["GroupAgreement", "Said", "first_answers", "group_agreement"]

LEAST_QUESTIONS = 20  # answered by two people of each sort; fewer give no interval


@dataclass(frozen=True)
class GroupAgreement:
    """Shares of pairs of people that agree, each repeated question counted once.

    Attributes
    ----------
    shares : within the first group, within the second, between the two.
    gap : mean of the two within less that between.
    questions : how many questions stand behind each of the three.
    options : answers that are possible; chance is one over that.
    """

    shares: tuple[Estimate, Estimate, Estimate]
    gap: Estimate
    questions: tuple[int, int, int]
    options: int = 2


class Said(NamedTuple):
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


def first_answers(answers: Triplets) -> Said:
    """The first answer of every person to every question, in terms of what was chosen."""
    person = speakers(answers)
    rows, chosen, options = _choices(answers)
    asked = answers.trio_ids[rows] if options == 3 else answers.question_ids[rows]
    asked = dense_codes(asked)
    _, firsts = np.unique(person[rows] * (int(asked.max(initial=-1)) + 1) + asked, return_index=True)
    rows = rows[firsts]
    unit = split_units(answers).codes[rows]
    return Said(dense_codes(person[rows]), asked[firsts], chosen[firsts], unit, rows, options)


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


def _agreeing(votes: Floats) -> Floats:
    """(2, 3, questions) from votes (groups, options, questions): share of agreeing pairs, and whether there are any.

    The three are pairs within the first group, within the second, and between the two.
    """
    n = votes.sum(axis=1)
    pairs = np.stack([*(n * (n - 1) / 2), n[0] * n[1]])
    agree = np.stack([*((votes**2).sum(axis=1) - n) / 2, (votes[0] * votes[1]).sum(axis=0)])
    known = pairs > 0
    return np.stack([np.where(known, agree / np.maximum(pairs, 1), 0.0), known.astype(float)])


def group_agreement(answers: Triplets, group: NDArray[np.int64]) -> GroupAgreement | None:
    """Agreement within and between two groups; None where no question has answers of both.

    A person's first answer to a question counts. The variance is the larger of two delete-one jackknives, over people
    and over trios (or screens).
    """
    said = first_answers(answers)
    of_group = group[said.row]
    questions = int(said.asked.max(initial=-1)) + 1
    votes = np.zeros((2, said.options, questions))
    np.add.at(votes, (of_group, said.option, said.asked), 1.0)
    per_question = _agreeing(votes)
    total = per_question.sum(axis=2)
    if (total[1] == 0).any():
        return None
    by_people = _jackknife(_without_people(votes, per_question, total, said, of_group))
    unit_of = np.zeros(questions, dtype=np.int64)
    unit_of[said.asked] = said.unit
    unit_of = dense_codes(unit_of)
    lost = np.stack([[np.bincount(unit_of, weights=row) for row in rows] for rows in per_question])
    by_units = _jackknife(_four(total[..., None] - lost))
    error = np.sqrt(np.fmax(by_people, by_units))
    few = total[1].min() < LEAST_QUESTIONS
    people = min(len(np.unique(said.person[of_group == g])) for g in (0, 1))
    least = (0.0, 0.0, 0.0, -1.0)  # of shares, and of the gap
    made = [
        _estimate(v, np.nan if few else e, people, low)
        for v, e, low in zip(_four(total), error, least, strict=True)
    ]
    counts = total[1].astype(int).tolist()
    return GroupAgreement(
        (made[0], made[1], made[2]), made[3], (counts[0], counts[1], counts[2]), said.options
    )


def _four(total: Floats) -> Floats:
    """The three shares and the gap, from sums and counts (2, 3, ...)."""
    shares = total[0] / np.maximum(total[1], 1)
    return np.concatenate([shares, ((shares[0] + shares[1]) / 2 - shares[2])[None]])


def _without_people(
    votes: Floats, per_question: Floats, total: Floats, said: Said, of_group: Codes
) -> Floats:
    """(4, people) the same with each person left out in turn."""
    left: list[Floats] = []
    order = np.argsort(said.person, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(said.person[order])) + 1):
        q = said.asked[rows]
        fewer = votes[:, :, q]
        fewer[of_group[rows], said.option[rows], np.arange(len(rows))] -= 1.0
        left.append(_four(total - per_question[..., q].sum(axis=2) + _agreeing(fewer).sum(axis=2)))
    return np.stack(left, axis=1)


def _jackknife(left: Floats) -> Floats:
    """Variance of each row's statistic from its values with one unit or person left out."""
    count = left.shape[1]
    if count < 2:
        return np.full(len(left), np.nan)
    return np.asarray((count - 1) / count * np.sum((left - left.mean(axis=1, keepdims=True)) ** 2, axis=1))


def _estimate(value: float, error: float, people: int, least: float) -> Estimate:
    from scipy.stats import t

    if not np.isfinite(error) or people < 3:
        return Estimate(float(value))
    width = float(t.ppf(0.975, max(people - 1, 1))) * error
    return Estimate(float(value), max(least, value - width), min(1.0, value + width))
