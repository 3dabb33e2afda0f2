"""How often people give the same answer to the same question: every two of them, and within and between groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Codes, Floats, dense_codes
from nearfar._tools.records import Record
from nearfar.errors import InputError
from nearfar.evaluate.ceiling import choices_of_three
from nearfar.evaluate.splits import respondents
from nearfar.triplets import Triplets, as_triplets


class _FirstResponses(NamedTuple):
    """One answer per person and question: who, which question, which of its options; its row; how many options and questions there are.

    Statements "odd one out" and "most central" are one answer with three options; anything else is one with two.
    """

    person: Codes
    asked: Codes
    option: Codes
    row: NDArray[np.intp]
    options: int
    n_questions: int


def _first_responses(answers: Triplets) -> _FirstResponses:
    """The first answer of every person to every question, in terms of what was chosen."""
    person = respondents(answers)
    rows, chosen, options = _choices(answers)
    asked = dense_codes(answers.trio_ids[rows] if options == 3 else answers.question_ids[rows])
    n = int(asked.max(initial=-1)) + 1
    firsts = np.unique(person[rows] * n + asked, return_index=True)[1]
    rows = rows[firsts]
    return _FirstResponses(dense_codes(person[rows]), asked[firsts], chosen[firsts], rows, options, n)


def _choices(answers: Triplets) -> tuple[NDArray[np.intp], Codes, int]:
    """Rows that stand for an answer, the number of the option chosen in each, and how many options there are."""
    for role in ("far", "near"):
        rows = choices_of_three(answers, role)
        if len(rows) and 2 * len(rows) == len(answers):
            option = np.argmax(np.sort(answers.array[rows]) == getattr(answers, role)[rows, None], axis=1)
            return rows, option.astype(np.int64), 3
    return np.arange(len(answers)), (answers.near < answers.far).astype(np.int64), 2


@dataclass(frozen=True, eq=False)
class PersonAgreement(Record):
    """How often every two people gave the same answer to the same question.

    ``share`` : (P, P) share of shared questions answered alike; NaN below 10 of them, and on the diagonal; ``shared`` : (P, P) how
    many questions both answered; ``options`` : answers that are possible; ``n_participants`` : of whom ``people`` are all, or a sample.
    """

    people: tuple[str, ...]
    share: Floats
    shared: NDArray[np.int64]
    options: int
    n_participants: int

    @property
    def known(self) -> float:
        """Share of all pairs of people whose agreement is told."""
        pairs = len(self.people) * (len(self.people) - 1)
        return float(np.isfinite(self.share).sum() / pairs) if pairs else 0.0


def person_agreement(answers: Triplets | ArrayLike, *, max_people: int = 300) -> PersonAgreement:
    """Agreement of every two people on the questions that both answered; of more than ``max_people`` so many are drawn.

    >>> rows = [[0, i, i + 1] for i in range(1, 13)]
    >>> answers = Triplets.from_array(rows + rows, participant=["ann"] * 12 + ["bob"] * 12)
    >>> alike = person_agreement(answers)
    >>> alike.people, float(alike.share[0, 1]), int(alike.shared[0, 1])
    (('ann', 'bob'), 1.0, 12)
    """
    from scipy.sparse import coo_array

    answers = as_triplets(answers)
    if answers.participant is None:
        raise InputError("people: the answers do not say who gave them; add a column participant")
    everybody = answers.participant.known
    chosen = np.sort(np.random.default_rng(0).permutation(everybody)[:max_people])
    said = _first_responses(answers[np.isin(answers.participant.codes, chosen)])

    def both(columns: Codes, count: int) -> Floats:
        """(P, P) in how many columns two people have an entry."""
        entries = np.ones(len(columns)), (said.person, columns)
        matrix: Any = coo_array(entries, shape=(len(chosen), count)).tocsr()
        return np.asarray((matrix @ matrix.T).todense())

    shared = both(said.asked, said.n_questions)
    alike = both(said.asked * said.options + said.option, said.n_questions * said.options)
    np.fill_diagonal(shared, 0)
    share = np.where(shared >= 10, alike, np.nan) / np.maximum(shared, 1)
    names = tuple(map(str, answers.participant.names[chosen].tolist()))
    return PersonAgreement(names, share, shared.astype(np.int64), said.options, len(everybody))


def group_agreement(answers: Triplets, group: NDArray[np.int64]) -> tuple[float, float, float] | None:
    """Share of pairs of people that agree: within the first group, within the second, between the two.

    Every question that two of them answered counts once, by each person's first answer; None where there is none for some of the three.
    """
    said = _first_responses(answers)
    shape = (2, said.options, said.n_questions)
    cell = (group[said.row] * said.options + said.option) * said.n_questions + said.asked
    votes = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
    n = votes.sum(axis=1)
    pairs = np.stack([*n * (n - 1) / 2, n[0] * n[1]])
    agree = np.stack([*(votes * (votes - 1) / 2).sum(axis=1), (votes[0] * votes[1]).sum(axis=0)])
    counts = (pairs > 0).sum(axis=1)
    if (counts == 0).any():
        return None
    first, second, between = ((agree / np.maximum(pairs, 1)).sum(axis=1) / counts).tolist()
    return first, second, between
