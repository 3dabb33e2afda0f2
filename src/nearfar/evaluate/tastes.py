"""Is there more than one way of seeing the objects? One, two or three groups of people, by held-out accuracy.

The cost is bounded: of very many answers some people, and some answers of each, are drawn at random, and the result says
so. Everybody else is put into the group they are most like afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Floats
from nearfar._tools.checks import Seed, seed_number
from nearfar._tools.progress import step
from nearfar.errors import InputError
from nearfar.evaluate.auto import parse_or_choose
from nearfar.evaluate.bootstrap import Estimate, make_draws
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.groups import some_statements
from nearfar.evaluate.residuals import PeopleLeft, people_left, people_vectors
from nearfar.evaluate.splits import kfold
from nearfar.space.models import Model
from nearfar.triplets import Triplets, as_triplets

__all__ = ["Tastes", "cluster_people", "find_tastes"]

FOLDS = 5
MOST = 3  # groups that are tried
LEAST_PEOPLE, LEAST_ANSWERS = 6, 10  # people with so many answers, below which nothing is said about tastes
ENOUGH_OF_EACH = 200  # answers of a person; before fewer are taken, people are left out
ROUNDS = 20  # of moving people to the group they are most like


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
    answers_used, answers_given : of how many answers the number of groups was found, and of how many all people gave.
    people_used : of how many people.
    """

    count: int
    people: tuple[str, ...]
    group: NDArray[np.int64]
    accuracy: tuple[Estimate, ...]
    gains: tuple[Estimate, ...]
    model: str
    answers_used: int
    answers_given: int
    people_used: int

    @property
    def sampled(self) -> str:
        """What the judgement rests on where not all answers were used; else nothing.

        >>> one = Estimate(0.8, 0.78, 0.82)
        >>> Tastes(1, ("ann", "bob"), np.zeros(2, dtype=np.int64), (one,), (), "soe-2", 200, 5000, 1).sampled
        'judged by 200 of the 5,000 answers, drawn at random, of 1 of the 2 people'
        """
        if self.answers_used == self.answers_given:
            return ""
        people = f", of {self.people_used:,} of the {len(self.people):,} people"
        return (
            f"judged by {self.answers_used:,} of the {self.answers_given:,} answers, drawn at random"
            f"{people if self.people_used < len(self.people) else ''}"
        )

    def __str__(self) -> str:
        shares = ", ".join(f"{k + 1}: {100 * found.value:.1f} %" for k, found in enumerate(self.accuracy))
        if self.count == 1:
            verdict = "No second way of seeing the objects was found: maps of groups found among the people do not predict better"
        else:
            sizes = " and ".join(map(str, np.bincount(self.group).tolist()))
            verdict = f"There are {self.count} ways of seeing the objects, of {sizes} people"
        sampled = f"; {self.sampled}" if self.sampled else ""
        return f"{verdict} (held-out accuracy by number of maps {shares}; {self.model}{sampled})."

    def as_groups(self) -> dict[str, str]:
        """Participant -> group, as ``compare_groups`` takes it (which then tests a difference that was searched for)."""
        return {
            name: f"group {code + 1}" for name, code in zip(self.people, self.group.tolist(), strict=True)
        }


def find_tastes(
    answers: Triplets | ArrayLike,
    *,
    model: Any = "soe-2",
    most: int = MOST,
    max_answers: int = 20_000,
    seed: Seed = 0,
) -> Tastes | None:
    """Ask whether there is more than one way of seeing the objects: one, two or three groups by held-out accuracy.

    In each of five honest folds people are grouped by what the common map leaves of their training answers; each
    group gets a map of its own, which predicts its people's held-out answers. Two groups are found where that is better
    than the map of everybody, with the whole 95 % interval of the difference above 0; three likewise against two. Of more than
    ``max_answers`` answers so many are drawn: at first fewer of each person, down to 200, then fewer people.

    Parameters
    ----------
    answers : with participants.
    model : which map; "auto" for the one that ``nf.analyse`` chooses. A plane by default, since every group's map is made of
        a share of the answers; docs/honesty.md says how often groups are found with it.
    most : groups to try, 2 or 3.
    max_answers : how many answers the groups are looked for in.
    seed : None, an integer or a numpy Generator.

    Returns
    -------
    Tastes; None with fewer than six people of ten answers each, which say nothing about it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([rng.permutation(12)[:3] for _ in range(2400)])
    >>> who = rng.integers(12, size=2400)
    >>> seen = np.where(who[:, None] < 6, rows, (rows * 5) % 12)  # six people see another order
    >>> far = np.abs(seen[:, 0] - seen[:, 1]) > np.abs(seen[:, 0] - seen[:, 2])
    >>> rows[far] = rows[far][:, [0, 2, 1]]
    >>> find_tastes(Triplets.from_array(rows, participant=who), most=2).count
    2
    """
    answers, seed = as_triplets(answers), seed_number(seed)
    if answers.participant is None:
        raise InputError("people: the answers do not say who gave them; add a column participant")
    if most not in (2, 3):
        raise InputError(f"most must be 2 or 3, got {most}")
    if (answers.participant == "").any():
        answers = answers[~(answers.participant == "")]
    assert answers.participant is not None
    sizes = np.bincount(answers.participant.codes)[answers.participant.present]
    if (sizes >= LEAST_ANSWERS).sum() < LEAST_PEOPLE:
        return None
    judged = parse_or_choose(answers, model, seed)
    rows = _drawn(answers, sizes, max_answers, seed)
    drawn = answers[rows]
    assert drawn.participant is not None
    credits = _held_out(drawn, judged, most, seed)
    draws = make_draws(drawn)
    accuracy = tuple(draws.estimate(row) for row in credits)
    gains = tuple(draws.difference(after, before) for before, after in pairwise(credits))
    count = 1
    for k, gain in enumerate(gains, start=2):
        if count == k - 1 and gain.low > 0:
            count = k
    group = np.zeros(len(sizes), dtype=np.int64)
    if count > 1:
        group = _group_everybody(answers, drawn, judged, count, seed)
    names = tuple(str(name) for name in answers.participant.names[answers.participant.present].tolist())
    used = len(np.unique(drawn.participant.codes))
    return Tastes(count, names, group, accuracy, gains, judged.name, len(drawn), len(answers), used)


def _drawn(answers: Triplets, sizes: NDArray[np.int64], wanted: int, seed: int) -> NDArray[np.intp]:
    """Rows that the groups are looked for in: all, or about ``wanted`` in whole statements of people drawn."""
    if len(answers) <= wanted:
        return np.arange(len(answers))
    assert answers.participant is not None
    rng = np.random.default_rng(seed)
    each = max(ENOUGH_OF_EACH, wanted // len(sizes))
    asked = rng.permutation(np.flatnonzero(sizes >= LEAST_ANSWERS))
    total = np.cumsum(np.minimum(sizes, each)[asked])
    asked = asked[: max(LEAST_PEOPLE, int((total <= wanted).sum()))]
    person = np.unique(answers.participant.codes, return_inverse=True)[1]
    order = np.argsort(person, kind="stable")
    ends = np.cumsum(sizes)
    folds = [some_statements(answers, order[ends[p] - sizes[p] : ends[p]], each, rng) for p in asked.tolist()]
    return np.sort(np.concatenate(folds))


def _group_everybody(
    answers: Triplets, drawn: Triplets, model: Model, count: int, seed: int
) -> NDArray[np.int64]:
    """(P,) groups of all people: those drawn by each other, by all of their answers, the others by those drawn."""
    assert drawn.participant is not None
    everybody = people_vectors(answers, fit_timed(model, drawn).space)
    inside = np.isin(everybody.people, drawn.participant.codes)
    left = PeopleLeft.of(everybody, inside)
    found = cluster_people(left.gram, left.counts, count, seed)
    group = np.zeros(len(inside), dtype=np.int64)
    group[inside] = found
    if not inside.all():
        member = (found[:, None] == np.arange(count)).astype(np.float64)
        member /= np.sqrt(left.counts)[:, None] * member.sum(axis=0)
        towards = everybody.vectors[inside].T @ member
        group[~inside] = np.argmax(everybody.vectors[~inside] @ towards, axis=1)
    return group


def _held_out(answers: Triplets, model: Model, most: int, seed: int) -> Floats:
    """(most, m) credits of held-out answers with one group, two, and three."""
    assert answers.participant is not None
    credits = np.full((most, len(answers)), 0.5)
    codes = answers.participant.codes
    with step("looking for groups of people", total=FOLDS) as advance:
        for train, test in kfold(answers, FOLDS, seed=seed):
            known = answers[train]
            common = fit_timed(model, known).space
            credits[:, test] = common.credits(answers[test])
            left = people_left(known, common)
            for k in range(
                2, min(most, len(left.people)) + 1
            ):  # where all saw the same screen, nobody is left to train on
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
    """(P,) groups of people by inner products with themselves left out: a spectral start, then each person to the most similar group.

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
        similarity = (alike @ member) / np.maximum(others, 1)
        moved = np.argmax(similarity, axis=1)
        if (moved == group).all() or len(np.unique(moved)) < k:
            break
        group = moved
    return group
