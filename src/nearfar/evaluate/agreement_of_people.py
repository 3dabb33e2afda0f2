"""How often every two people gave the same answer to the same question, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Floats, dense_codes
from nearfar.errors import InputError
from nearfar.evaluate.group_agreement import Said, first_answers
from nearfar.triplets import Triplets, as_triplets

__all__ = ["PersonAgreement", "person_agreement"]

LEAST_SHARED = (
    10  # questions, counted as independent ones, that two people must share for their agreement to be told
)
PAIRS_LOOKED_AT = 300  # by which it is judged how far answers of one screen or trio hang together


@dataclass(frozen=True, eq=False)
class PersonAgreement:
    """How often every two people gave the same answer to the same question.

    Attributes
    ----------
    people : names, in order.
    share : (P, P) share of shared questions answered alike; NaN below 10 independent ones, and on the diagonal.
    low, high : (P, P) 95 % interval of it (Wilson), for as many independent questions as the shared ones are worth.
    shared : (P, P) how many questions both answered.
    options : answers that are possible; chance is one over that.
    together : how many answers are worth one independent answer: 1 for single questions, more where answers of one screen
        or trio hang together. Two people must share 10 times as many questions.
    """

    people: tuple[str, ...]
    share: Floats
    low: Floats
    high: Floats
    shared: NDArray[np.int64]
    options: int
    together: float = 1.0

    @property
    def known(self) -> float:
        """Share of all pairs of people whose agreement is told."""
        pairs = len(self.people) * (len(self.people) - 1)
        return float(np.isfinite(self.share).sum() / pairs) if pairs else 0.0


def person_agreement(answers: Triplets | ArrayLike) -> PersonAgreement:
    """Agreement of every two people on the questions that both answered.

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
    known = answers[~(answers.participant == "")] if (answers.participant == "").any() else answers
    assert known.participant is not None
    said = first_answers(known)
    count = int(said.person.max(initial=-1)) + 1
    questions = int(said.asked.max(initial=-1)) + 1
    ones = np.ones(len(said.person))
    asked: Any = coo_array((ones, (said.person, said.asked)), shape=(count, questions)).tocsr()
    cell = said.asked * said.options + said.option
    chose: Any = coo_array((ones, (said.person, cell)), shape=(count, questions * said.options)).tocsr()
    shared = np.asarray((asked @ asked.T).todense())
    alike = np.asarray((chose @ chose.T).todense())
    np.fill_diagonal(shared, 0)
    together = _design_effect(said, shared, alike)
    enough = shared >= LEAST_SHARED * together
    share = np.where(enough, alike, np.nan) / np.maximum(shared, 1)
    low, high = _wilson(share, np.where(enough, shared / together, np.nan))
    names = tuple(str(name) for name in known.participant.names[known.participant.present].tolist())
    return PersonAgreement(names, share, low, high, shared.astype(np.int64), said.options, together)


def _wilson(share: Floats, n: Floats) -> tuple[Floats, Floats]:
    z = 1.959964
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    width = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return middle - width, middle + width


def _design_effect(said: Said, shared: Floats, alike: Floats) -> float:
    """Variance of the agreement of two people over that of independent questions, pooled over pairs; at least 1.

    Answers of one person in one unit (a screen, or a trio) may hang together, and a shared question lies in a unit of
    either person. With e the agreement on a question less that of the pair, the variance is the sum of squares of sums
    of e by the units of the one, plus that by the units of the other, less that by both.
    """
    one, other = np.nonzero(np.triu(shared >= LEAST_SHARED, 1))
    few = np.random.default_rng(0).permutation(len(one))[:PAIRS_LOOKED_AT]
    order = np.argsort(said.person, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(said.person))[:-1])
    clustered = independent = 0.0
    for p, q in zip(one[few].tolist(), other[few].tolist(), strict=True):
        _, mine, theirs = np.intersect1d(
            said.asked[rows[p]], said.asked[rows[q]], assume_unique=True, return_indices=True
        )
        mine, theirs = rows[p][mine], rows[q][theirs]
        off = (said.option[mine] == said.option[theirs]) - alike[p, q] / shared[p, q]
        units = (said.unit[mine], said.unit[theirs])
        both = units[0] * (int(said.unit.max()) + 1) + units[1]
        by_one, by_other, by_both = (_squares(unit, off) for unit in (*units, both))
        clustered += max(by_one + by_other - by_both, by_one, by_other)
        independent += float(np.sum(off**2)) * len(off) / (len(off) - 1)
    return max(1.0, clustered / independent) if independent > 0 else 1.0


def _squares(unit: NDArray[np.int64], off: Floats) -> float:
    """Sum of squares of sums by unit, were other units drawn; 0 for one unit, which says nothing."""
    codes = dense_codes(unit)
    count = int(codes.max()) + 1
    return count / (count - 1) * float(np.sum(np.bincount(codes, weights=off) ** 2)) if count > 1 else 0.0
