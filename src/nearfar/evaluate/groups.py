"""Do two groups of people see the objects differently? Agreement, a test, each other's models, two maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Floats, dense_codes
from nearfar._tools.checks import Seed, seed_number
from nearfar._tools.progress import step
from nearfar.errors import InputError
from nearfar.evaluate.auto import parse_or_choose
from nearfar.evaluate.bootstrap import Estimate, make_draws
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.group_agreement import GroupAgreement, group_agreement
from nearfar.evaluate.group_test import (
    PERMUTATIONS,
    PermutationTest,
    deals,
    permutation_test,
    sum_by_pairs,
    without_common,
)
from nearfar.evaluate.moves import Move, moves_between
from nearfar.evaluate.residuals import people_left
from nearfar.evaluate.splits import kfold
from nearfar.space.models import Model, parse_model
from nearfar.triplets import Triplets, as_triplets

__all__ = [
    "GroupComparison",
    "GroupPair",
    "compare_groups",
    "some_statements",
]

FOLDS = 5
RESAMPLES = 40
FAR_OFF = 5.0  # standard deviations at which the questions of two groups are called different
LEAST_PEOPLE = 3  # in a group; fewer say nothing about a group


@dataclass(frozen=True, eq=False)
class GroupPair:
    """Two groups side by side.

    Attributes
    ----------
    names : of the two groups.
    people, answers : how many each has.
    agreement : how often two people of one group, and of both, give the same answer; None where no question was
        answered by two of them.
    test : whether they see the objects differently, by permutation of the people.
    accuracy : (model of, answers of) held-out accuracy, each model fitted to as many answers of its group.
    lead : for the answers of each group: accuracy of its own model less that of the other's.
    maps : (2, n, 2) a map of each, both turned onto the common map; NaN for objects a group says nothing about.
    moves : how far every object lies apart on the two maps, the surest first; none where the groups were asked
        different questions.
    """

    names: tuple[str, str]
    people: tuple[int, int]
    answers: tuple[int, int]
    agreement: GroupAgreement | None
    test: PermutationTest
    accuracy: tuple[tuple[Estimate, Estimate], tuple[Estimate, Estimate]]
    lead: tuple[Estimate, Estimate]
    maps: Floats
    moves: tuple[Move, ...]

    @property
    def each_leads(self) -> bool:
        """Whether the answers of each group are predicted better by its own model than by the other's.

        Of groups that see alike and differ in care alone, the model of the careful one predicts both better.
        """
        return all(lead.value > 0 for lead in self.lead)

    def __str__(self) -> str:
        one, other = self.names
        verdict = "see the objects differently" if self.test.differ else "do not differ recognisably"
        if self.test.differ and not self.each_leads:
            verdict += ", or one of them answers with more noise"
        if self.test.questions_differ:
            verdict = (
                "were asked different questions, so whether they see the objects differently is not known"
            )
        lines = [
            f"{one} ({self.people[0]} people) and {other} ({self.people[1]} people) {verdict}: p = {self.test.p:.3f}"
        ]
        lines.append(f"  ({self.test.permutations} permutations of the people, level 5 %)")
        if self.agreement is not None:
            shares = [
                f"{what} {_share(value)}"
                for what, value in zip(
                    (f"within {one}", f"within {other}", "between them"), self.agreement.shares, strict=True
                )
            ]
            lines.append(f"agreement on the same question: {', '.join(shares)}")
        for j, group in enumerate(self.names):
            lines.append(
                f"answers of {group}: predicted by their own model {_share(self.accuracy[j][j])}, "
                f"by the other's {_share(self.accuracy[1 - j][j])}; lead {_points(self.lead[j])}"
            )
        sure = [move for move in self.moves if move.sure]
        shown = sure[:5] if sure else self.moves[:3]
        told = "objects that move" if sure else "no object clearly moves; those that move most"
        if shown:
            lines.append(
                f"{told}: "
                + ", ".join(f"{m.name} {m.distance:.2f} ({m.low:.2f} to {m.high:.2f})" for m in shown)
            )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """Every two of the groups side by side.

    Attributes
    ----------
    model : by which they were compared.
    objects : names of the objects.
    pairs : one for every two groups.
    left_out : people who were in no group.
    """

    model: str
    objects: tuple[str, ...]
    pairs: tuple[GroupPair, ...]
    left_out: int

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.pairs))


def compare_groups(
    answers: Triplets | ArrayLike,
    groups: Mapping[Any, str],
    *,
    model: Any = "auto",
    n_permutations: int = PERMUTATIONS,
    n_resamples: int = RESAMPLES,
    seed: Seed = 0,
) -> GroupComparison:
    """Compare how groups of people see the same objects.

    Parameters
    ----------
    answers : with participants.
    groups : participant -> group. Participants that are not in it are left out and counted.
    model : by which answers are predicted, "auto" for the one that ``nf.analyse`` chooses; its map, or "soe-2" where it
        has more than two dimensions, is the one shown.
    n_permutations : people dealt to groups at random for the test.
    n_resamples : people drawn again for the intervals of moves.
    seed : None, an integer or a numpy Generator.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([rng.permutation(12)[:3] for _ in range(1200)])
    >>> who = rng.integers(12, size=1200)
    >>> rank = np.where(who[:, None] < 6, rows, (rows * 5) % 12)  # six people see another order
    >>> far = np.abs(rank[:, 0] - rank[:, 1]) > np.abs(rank[:, 0] - rank[:, 2])
    >>> rows[far] = rows[far][:, [0, 2, 1]]
    >>> answers = Triplets.from_array(rows, participant=who)
    >>> groups = {p: "six" if p < 6 else "others" for p in range(12)}
    >>> found = compare_groups(answers, groups, model="soe-2", n_resamples=4)
    >>> found.pairs[0].test.differ
    True
    """
    answers, seed = as_triplets(answers), seed_number(seed)
    who, names, left_out = _groups(answers, groups)
    judged = parse_or_choose(answers, model, seed)
    flat = judged if judged.n_components == 2 else parse_model("soe-2")
    pairs = []
    for i, j in combinations(range(len(names)), 2):
        rows = np.flatnonzero((who == i) | (who == j))
        own = answers[rows]
        group = (who[rows] == j).astype(np.int64)
        pairs.append(
            _pair(own, group, (names[i], names[j]), judged, flat, (n_permutations, n_resamples, seed))
        )
    return GroupComparison(judged.name, answers.objects, tuple(pairs), left_out)


def _pair(
    answers: Triplets,
    group: NDArray[np.int64],
    names: tuple[str, str],
    model: Model,
    flat: Model,
    settings: tuple[int, int, int],
) -> GroupPair:
    assert answers.participant is not None
    n_permutations, n_resamples, seed = settings
    person = answers.participant.codes.astype(np.int64)
    people = tuple(len(np.unique(person[group == g])) for g in (0, 1))
    with step(f"comparing {names[0]} and {names[1]}", total=3) as advance:
        common = fit_timed(model, answers).space
        left = people_left(answers, common)
        member = np.array([group[np.argmax(person == p)] for p in left.people])
        test = permutation_test(left.gram, member, n_permutations, seed)
        test = test._replace(questions_differ=_questions_differ(answers, member, n_permutations, seed))
        advance(1)
        accuracy, lead = _each_others(answers, group, model, seed)
        advance(1)
        maps, moves = moves_between(answers, group, flat, n_resamples, seed)
        advance(1)
    counts = (int((group == 0).sum()), int((group == 1).sum()))
    shares = group_agreement(answers, group)
    pair = GroupPair(names, (people[0], people[1]), counts, shares, test, accuracy, lead, maps, moves)
    return pair if test.differ and pair.each_leads else replace(pair, moves=_unsure(pair))


def _unsure(pair: GroupPair) -> tuple[Move, ...]:
    """The moves of groups that may not differ as a whole: no object is said to; none where they were asked other questions."""
    return tuple(move._replace(sure=False) for move in pair.moves if not pair.test.questions_differ)


def _questions_differ(answers: Triplets, member: NDArray[np.integer], n_permutations: int, seed: int) -> bool:
    """Whether the trios that the groups were asked about differ far more than chance would have it."""
    from scipy.sparse import coo_array

    assert answers.participant is not None
    person = np.unique(answers.participant.codes, return_inverse=True)[1]
    trio = dense_codes(answers.trio_ids)
    asked: Any = coo_array((np.ones(len(trio)), (person, trio))).tocsr()
    asked.data = np.minimum(asked.data, 1.0)
    gram = np.asarray((asked @ asked.T).todense(), dtype=np.float64)
    size = np.sqrt(np.diag(gram))
    gram /= np.outer(size, size)
    np.fill_diagonal(gram, 0.0)
    apart = sum_by_pairs(without_common(gram), deals(member, n_permutations, seed), 1)
    spread = float(apart[1:].std())
    return bool(apart[0] - apart[1:].mean() > FAR_OFF * spread) if spread > 1e-12 else False


def _each_others(
    answers: Triplets, group: NDArray[np.int64], model: Model, seed: int
) -> tuple[tuple[tuple[Estimate, Estimate], tuple[Estimate, Estimate]], tuple[Estimate, Estimate]]:
    """Held-out accuracy of each group's model on the answers of each group, from equally many answers."""
    credits = np.full((2, len(answers)), 0.5)
    rng = np.random.default_rng(seed)
    for train, test in kfold(answers, FOLDS, seed=seed):
        sides = [train[group[train] == g] for g in (0, 1)]
        size = min(map(len, sides))
        for g, rows in enumerate(sides):
            few = some_statements(answers, rows, size, rng)
            credits[g, test] = fit_timed(model, answers[few]).space.credits(answers[test])
    cells, leads = [], []
    for j in (0, 1):
        own = group == j
        draws = make_draws(answers[own])
        cells.append([draws.estimate(credits[g, own]) for g in (0, 1)])
        leads.append(draws.difference(credits[j, own], credits[1 - j, own]))
    table = ((cells[0][0], cells[1][0]), (cells[0][1], cells[1][1]))
    return table, (leads[0], leads[1])


def some_statements(
    answers: Triplets, rows: NDArray[np.intp], size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """At most ``size`` of the rows, whole statements at random, but one at least."""
    if len(rows) <= size:
        return rows
    statements = answers.statement_ids[rows]
    codes = dense_codes(statements)
    order = rng.permutation(int(codes.max()) + 1)
    total = np.cumsum(np.bincount(codes)[order])
    kept = order[: max(1, int((total <= size).sum()))]
    return rows[np.isin(codes, kept)]


def _groups(answers: Triplets, groups: Mapping[Any, str]) -> tuple[NDArray[np.int64], list[str], int]:
    """(m,) number of the group of each answer, -1 for none; names of the groups; people in none."""
    if answers.participant is None:
        raise InputError("groups: the answers do not say who gave them; add a column participant")
    given = {str(person): str(group) for person, group in groups.items()}
    known = answers.participant.known
    listed = [str(name) for name in answers.participant.names[known].tolist()]
    found = [given.get(name, "") for name in listed]
    names = sorted({group for group in found if group})
    if len(names) < 2:
        raise InputError(
            f"groups: expected at least two groups among the {len(listed)} people who answered, got "
            f"{', '.join(names) or 'none'}; participants are called {', '.join(listed[:3])} and so on"
        )
    sizes = {name: found.count(name) for name in names}
    small = [name for name in names if sizes[name] < LEAST_PEOPLE]
    if small:
        people = "1 person" if sizes[small[0]] == 1 else f"{sizes[small[0]]} people"
        raise InputError(f"groups: {small[0]!r} has {people}; expected at least {LEAST_PEOPLE} in each group")
    code = np.full(len(answers.participant.names), -1, dtype=np.int64)
    code[known] = [names.index(group) if group else -1 for group in found]
    return code[answers.participant.codes], names, found.count("")


def _share(value: Estimate) -> str:
    if np.isnan(value.low):
        return f"{100 * value.value:.1f} %"
    return f"{100 * value.value:.1f} % ({100 * value.low:.1f} to {100 * value.high:.1f})"


def _points(value: Estimate) -> str:
    interval = "" if np.isnan(value.low) else f" ({100 * value.low:+.1f} to {100 * value.high:+.1f})"
    return f"{100 * value.value:+.1f} points{interval}"


def groups_of(people: Sequence[Any], groups: Sequence[Any]) -> dict[str, str]:
    """Participant -> group from two columns; somebody in two groups is refused.

    >>> groups_of(["ann", "bob", "ann"], ["expert", "novice", "expert"])
    {'ann': 'expert', 'bob': 'novice'}
    """
    found: dict[str, str] = {}
    for person, group in zip(map(str, people), groups, strict=True):
        name = "" if group is None else str(group).strip()
        if name and found.setdefault(person, name) != name:
            raise InputError(f"groups: {person!r} is in two groups, {found[person]!r} and {name!r}")
    return found
