"""How alike do people see the objects, and is there more than one way of seeing them?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.errors import InputError
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.group_agreement import first_answers
from nearfar.evaluate.groups import difference_estimate
from nearfar.evaluate.residuals import people_left
from nearfar.evaluate.splits import kfold
from nearfar.evaluate.uncertainty import Estimate, error_groups, mean_estimate
from nearfar.progress import step
from nearfar.space.models import Model, parse_model
from nearfar.triplets import Triplets, as_triplets

__all__ = ["PersonAgreement", "Tastes", "cluster_people", "find_tastes", "person_agreement"]

Floats = NDArray[np.float64]
PARTS = 5
MOST = 3  # groups that are tried
LEAST_SHARED = 10  # questions that two people must share for their agreement to be told
LEAST_PEOPLE, LEAST_ANSWERS = 6, 10  # people with so many answers, below which nothing is said about tastes
ROUNDS = 20  # of moving people to the group they are most like


@dataclass(frozen=True, eq=False)
class PersonAgreement:
    """How often every two people gave the same answer to the same question.

    Attributes
    ----------
    people : names, in order.
    share : (P, P) share of shared questions answered alike; NaN below 10 shared questions, and on the diagonal.
    low, high : (P, P) 95 % interval of it (Wilson).
    shared : (P, P) how many questions both answered.
    options : answers that are possible; chance is one over that.
    """

    people: tuple[str, ...]
    share: Floats
    low: Floats
    high: Floats
    shared: NDArray[np.int64]
    options: int

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
    enough = shared >= LEAST_SHARED
    n = np.where(enough, shared, np.nan)
    share = alike / n
    low, high = _wilson(share, n)
    names = tuple(str(name) for name in known.participant.names[known.participant.present].tolist())
    return PersonAgreement(names, share, low, high, shared.astype(np.int64), said.options)


def _wilson(share: Floats, n: Floats) -> tuple[Floats, Floats]:
    z = 1.959964
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    width = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return middle - width, middle + width


# ---------------------------------------------------------------- one, two or three groups


@dataclass(frozen=True, eq=False)
class Tastes:
    """Whether one map serves everybody, or two or three serve better.

    Attributes
    ----------
    count : of groups: 1, or 2 or 3 where their own maps predict held-out answers better, at the 5 % level.
    people : names, in order.
    group : (P,) group of each person from 0; all 0 where there is one.
    accuracy : held-out accuracy with one, two and three groups, each person's answers by the map of their group.
    gains : what the second group adds, and the third, with 95 % intervals.
    model : by which answers were predicted.
    """

    count: int
    people: tuple[str, ...]
    group: NDArray[np.int64]
    accuracy: tuple[Estimate, ...]
    gains: tuple[Estimate, ...]
    model: str

    def __str__(self) -> str:
        shares = ", ".join(f"{k + 1}: {100 * found.value:.1f} %" for k, found in enumerate(self.accuracy))
        if self.count == 1:
            verdict = "One map serves everybody: maps of groups found among the people do not predict better"
        else:
            sizes = " and ".join(map(str, np.bincount(self.group).tolist()))
            verdict = f"There are {self.count} ways of seeing the objects, of {sizes} people"
        return f"{verdict} (held-out accuracy by number of maps {shares}; {self.model})."

    def as_groups(self) -> dict[str, str]:
        """Participant -> group, as ``compare_groups`` takes it (which then tests a difference that was searched for)."""
        return {
            name: f"group {code + 1}" for name, code in zip(self.people, self.group.tolist(), strict=True)
        }


def find_tastes(
    answers: Triplets | ArrayLike, *, model: Any = "soe-2", most: int = MOST, seed: int = 0
) -> Tastes | None:
    """Ask whether there is more than one way of seeing the objects: one, two or three groups by held-out accuracy.

    In each of five honest parts people are grouped by what the common map leaves of their training answers; each
    group gets a map of its own, which predicts its people's held-out answers. Two groups are found where that is better
    than the map of everybody, with the whole 95 % interval of the difference above 0; three likewise against two.

    Parameters
    ----------
    answers : with participants.
    model : which map.
    most : groups to try, 2 or 3.
    seed : a number.

    Returns
    -------
    Tastes; None with fewer than six people of ten answers each, which say nothing about it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([rng.permutation(12)[:3] for _ in range(2400)])
    >>> who = rng.integers(12, size=2400)
    >>> place = np.where(who[:, None] < 6, rows, (rows * 5) % 12)  # six people see another order
    >>> far = np.abs(place[:, 0] - place[:, 1]) > np.abs(place[:, 0] - place[:, 2])
    >>> rows[far] = rows[far][:, [0, 2, 1]]
    >>> find_tastes(Triplets.from_array(rows, participant=who), most=2).count
    2
    """
    answers = as_triplets(answers)
    if answers.participant is None:
        raise InputError("people: the answers do not say who gave them; add a column participant")
    if most not in (2, 3):
        raise InputError(f"most must be 2 or 3, got {most}")
    sizes = np.bincount(answers.participant.codes)[answers.participant.present]
    if (sizes >= LEAST_ANSWERS).sum() < LEAST_PEOPLE:
        return None
    judged = parse_model(model)
    credits = _held_out(answers, judged, most, seed)
    clusters = error_groups(answers)
    accuracy = tuple(mean_estimate(row, clusters, parts=PARTS) for row in credits)
    gains = tuple(difference_estimate(after - before, clusters) for before, after in pairwise(credits))
    count = 1
    for k, gain in enumerate(gains, start=2):
        if count == k - 1 and gain.low > 0:
            count = k
    group = np.zeros(len(sizes), dtype=np.int64)
    if count > 1:
        group = cluster_people(
            people_left(answers, fit_timed(judged, answers).space).gram, sizes, count, seed
        )
    names = tuple(str(name) for name in answers.participant.names[answers.participant.present].tolist())
    return Tastes(count, names, group, accuracy, gains, judged.name)


def _held_out(answers: Triplets, model: Model, most: int, seed: int) -> Floats:
    """(most, m) credits of held-out answers with one group, two, and three."""
    assert answers.participant is not None
    credits = np.full((most, len(answers)), 0.5)
    codes = answers.participant.codes
    with step("looking for groups of people", total=PARTS) as advance:
        for train, test in kfold(answers, PARTS, seed=seed):
            known = answers[train]
            common = fit_timed(model, known).space
            credits[:, test] = common.credits(answers[test])
            left = people_left(known, common)
            for k in range(2, most + 1):
                group = np.full(len(answers.participant.names), -1, dtype=np.int64)
                group[left.people] = cluster_people(left.gram, left.counts, k, seed)
                for g in range(k):
                    mine, theirs = group[codes[train]] == g, group[codes[test]] == g
                    if mine.any() and theirs.any() and not mine.all():
                        space = fit_timed(model, known[mine]).space
                        credits[k - 1, test[theirs]] = space.credits(answers[test[theirs]])
            advance(1)
    return credits


def cluster_people(
    gram: Floats, counts: Sequence[int] | NDArray[Any], k: int, seed: int = 0
) -> NDArray[np.int64]:
    """(P,) groups of people by inner products with themselves left out: a spectral start, then each to the likest.

    >>> gram = np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8)
    >>> group = cluster_people(gram, np.ones(8), 2)
    >>> bool((group[:4] == group[0]).all() and (group[4:] == 1 - group[0]).all())
    True
    """
    from sklearn.cluster import KMeans

    size = np.sqrt(np.maximum(np.asarray(counts, dtype=np.float64), 1.0))
    alike = gram / np.outer(size, size)
    values, vectors = np.linalg.eigh(alike)
    top = vectors[:, -(k - 1) :] * np.sqrt(np.maximum(values[-(k - 1) :], 1e-12))
    group: NDArray[np.int64] = KMeans(k, n_init=10, random_state=seed).fit_predict(top).astype(np.int64)
    for _ in range(ROUNDS):
        member = (group[:, None] == np.arange(k)).astype(np.float64)
        others = member.sum(axis=0) - member  # without the person themselves
        likeness = (alike @ member) / np.maximum(others, 1)
        moved = np.argmax(likeness, axis=1)
        if (moved == group).all() or len(np.unique(moved)) < k:
            break
        group = moved
    return group
