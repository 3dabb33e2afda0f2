"""Do two groups of people see the objects differently? Agreement, a permutation test, each other's models, two maps."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array

from nearfar import words
from nearfar._tools.arrays import Codes, Floats, dense_codes
from nearfar._tools.checks import Seed, seed_number
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar._tools.text import count
from nearfar.errors import InputError
from nearfar.evaluate.bootstrap import Estimate, make_draws
from nearfar.evaluate.ceiling import group_agreement
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.judging import parse_or_choose
from nearfar.evaluate.map_stability import align, along_axes, bootstrap_sample, coordinates
from nearfar.evaluate.splits import kfold, respondents
from nearfar.evaluate.subgroups import residual_vectors, some_statements
from nearfar.space.models import Model, parse_model
from nearfar.space.space import Space
from nearfar.triplets import Triplets, as_triplets

MAX_TESTED = 2_000  # participants of the permutation test


class Move(NamedTuple):
    """How far an object lies apart on two maps, as a share of the common map's radius.

    distance : with what noise alone would add taken off.
    sure : whether it moves, at the 5 % level with all objects looked at together: it moves farther, in its own standard
        errors, than the largest error of any object in 95 of 100 resamples.
    """

    name: str
    distance: float
    sure: bool


@dataclass(frozen=True, eq=False)
class GroupPair(Record):
    """Two groups side by side.

    Attributes
    ----------
    names : of the two groups.
    people, answers : how many each has.
    agreement : how often two people of the first group, of the second, and one of each give the same answer; None where
        no question was answered by two of them.
    test : whether their answers differ in anything, noise included, by permutation of the people.
    accuracy : (model of, answers of) held-out accuracy, each model fitted to as many answers of its group.
    lead : for the answers of each group: accuracy of its own model less that of the other's. Below 10 people in a group
        its intervals are not known.
    maps : (2, n, 2) a map of each, both turned onto the common map; NaN for objects a group says nothing about.
    moves : how far every object lies apart on the two maps, the surest first; none where the groups were asked
        different questions.
    """

    names: tuple[str, str]
    people: tuple[int, int]
    answers: tuple[int, int]
    agreement: tuple[float, float, float] | None
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

    @property
    def differ(self) -> bool:
        """Whether they see the objects differently: the test says that something differs, and it is not the noise alone."""
        return self.test.differ and self.each_leads

    def __str__(self) -> str:
        return words.group_pair_text(self)


@dataclass(frozen=True, eq=False)
class GroupComparison(Record):
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
    n_permutations: int = 999,
    n_resamples: int = 40,
    seed: Seed = 0,
) -> GroupComparison:
    """Compare how groups of people see the same objects.

    Parameters
    ----------
    answers : with participants.
    groups : participant -> group. Participants that are not in it are left out and counted.
    model : by which answers are predicted, "auto" for the one that ``nf.analyse`` chooses; its map, or "soe-2" where it
        has more than two dimensions, is the one shown.
    n_permutations : how often people are dealt to groups at random for the test; as often again for every ten pairs of groups.
    n_resamples : bootstrap resamples of people, to tell which objects move.
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
    >>> comparison = compare_groups(answers, groups, model="soe-2", n_resamples=4)
    >>> comparison.pairs[0].differ
    True
    """
    answers, seed = as_triplets(answers), seed_number(seed)
    who, names, left_out = _groups(answers, groups)
    judged = parse_or_choose(answers, model, seed)
    flat = judged if judged.n_components == 2 else parse_model("soe-2")
    pairs, compared = [], list(combinations(range(len(names)), 2))
    # else no p could be below .05 after its correction for many pairs
    n_permutations *= int(np.ceil(len(compared) / 10))
    for i, j in compared:
        rows = np.flatnonzero((who == i) | (who == j))
        both, group = answers[rows], (who[rows] == j).astype(np.int64)
        with step(f"comparing {names[i]} and {names[j]}", total=3) as advance:
            common = fit_timed(judged, both).space
            test = _test(both, group, common, n_permutations, seed)
            test = test._replace(p=min(1.0, len(compared) * test.p), pairs=len(compared))
            advance(1)
            accuracy, lead = _each_others(both, group, judged, seed)
            advance(1)
            plane = common if flat.name == judged.name else fit_timed(flat, both).space
            maps, moves = _moves(both, group, flat, along_axes(coordinates(plane)), n_resamples, seed)
            advance(1)
        people: Any = tuple(len(np.unique(respondents(both)[group == g])) for g in (0, 1))
        sizes: Any = tuple(np.bincount(group).tolist())
        found = group_agreement(both, group), test, accuracy, lead, maps, moves
        pair = GroupPair((names[i], names[j]), people, sizes, *found)
        if not pair.differ:
            # groups that may not differ as a whole: no object is said to; none where they were asked other questions
            unsure = () if test.questions_differ else tuple(move._replace(sure=False) for move in moves)
            pair = replace(pair, moves=unsure)
        pairs.append(pair)
    return GroupComparison(judged.name, answers.objects, tuple(pairs), left_out)


def _test(answers: Triplets, group: Codes, common: Space, n_permutations: int, seed: int) -> PermutationTest:
    """The permutation test; of very many people some are drawn, because it grows with the square of their number."""
    who = respondents(answers)
    drawn = np.random.default_rng(seed).permutation(int(who.max()) + 1)[:MAX_TESTED]
    rows = np.flatnonzero(np.isin(who, drawn))
    tested = answers[rows]
    people, _, vectors = residual_vectors(tested, common)
    assert tested.participant is not None
    group_of = dict(zip(tested.participant.codes.tolist(), group[rows].tolist(), strict=True))
    member = np.array([group_of[person] for person in people.tolist()])
    test = permutation_test(inner_products(vectors), member, n_permutations, seed)
    return test._replace(questions_differ=questions_differ(tested, member, n_permutations, seed))


def _each_others(
    answers: Triplets, group: Codes, model: Model, seed: int
) -> tuple[tuple[tuple[Estimate, Estimate], tuple[Estimate, Estimate]], tuple[Estimate, Estimate]]:
    """Held-out accuracy of each group's model on the answers of each group, from equally many answers."""
    credits = np.full((2, len(answers)), 0.5)
    rng = np.random.default_rng(seed)
    for train, test in kfold(answers, 5, seed=seed):
        sides = [train[group[train] == g] for g in (0, 1)]
        size = min(map(len, sides))
        for g, rows in enumerate(sides):
            some = some_statements(answers, rows, size, rng)
            credits[g, test] = fit_timed(model, answers[some]).space.credits(answers[test])
    columns = []
    for j in (0, 1):
        own = group == j
        draws = make_draws(answers[own])
        column = [draws.estimate(credits[g, own]) for g in (0, 1)]
        column.append(draws.difference(credits[j, own], credits[1 - j, own]))
        known = draws.scope.participants == "new"
        columns.append(column if known else [Estimate(each.value) for each in column])
    first, second, leads = zip(*columns, strict=True)
    return (first, second), leads


def _groups(answers: Triplets, groups: Mapping[Any, str]) -> tuple[Codes, list[str], int]:
    """(m,) number of the group of each answer, -1 for none; names of the groups; people in none."""
    if answers.participant is None:
        raise InputError("groups: the answers do not say who gave them; add a column participant")
    given = {str(person): str(group) for person, group in groups.items()}
    known = answers.participant.known
    listed = [str(name) for name in answers.participant.names[known].tolist()]
    of_each = [given.get(name, "") for name in listed]
    names = sorted({group for group in of_each if group})
    if len(names) < 2:
        raise InputError(
            f"groups: expected at least two groups among the {len(listed)} people who answered, got "
            f"{', '.join(names) or 'none'}; participants are called {', '.join(listed[:3])} and so on"
        )
    small = min(names, key=of_each.count)
    if of_each.count(small) < 3:  # fewer say nothing about a group
        people = count(of_each.count(small), "person", "people")
        raise InputError(f"groups: {small!r} has {people}; expected at least 3 in each group")
    code = np.full(len(answers.participant.names), -1, dtype=np.int64)
    code[known] = [names.index(group) if group else -1 for group in of_each]
    return code[answers.participant.codes], names, of_each.count("")


def _moves(
    answers: Triplets, group: Codes, model: Model, common: Floats, n_resamples: int, seed: int
) -> tuple[Floats, tuple[Move, ...]]:
    """(2, n, 2) maps of the groups, turned onto the common map; and the moves, the surest first.

    People are drawn with replacement within each group, for the variance of each move and for the largest error among all.
    """

    def maps_of(sides: list[Triplets]) -> Floats:
        spaces = [fit_timed(model, side).space for side in sides]
        return np.stack([align(coordinates(space), common) for space in spaces])

    own = [answers[group == g] for g in (0, 1)]
    people = [respondents(side) for side in own]
    maps = maps_of(own)
    apart = maps[1] - maps[0]
    rng = np.random.default_rng(seed)
    resampled = np.empty((n_resamples, *common.shape))
    for again in resampled:
        first, second = maps_of(
            [bootstrap_sample(side, who, rng) for side, who in zip(own, people, strict=True)]
        )
        again[:] = second - first
    # NaN for objects that fewer than two resamples know
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        variance = np.nanvar(resampled, axis=0, ddof=1).mean(axis=1)
    variance[variance <= 0] = np.nan
    length = np.sqrt(np.sum(apart**2, axis=1))
    distance = np.sqrt(np.maximum(length**2 - 2 * variance, 0.0))
    size = length / np.sqrt(variance)
    # the largest of all errors, in standard errors of its object, stays below this in 95 of 100 resamples
    errors = np.nan_to_num(np.sqrt(np.sum((resampled - apart) ** 2, axis=2) / variance))
    largest = np.sort(np.append(errors.max(axis=1, initial=0.0), np.inf))
    sure = size > largest[int(np.ceil(0.95 * len(largest))) - 1]
    order = [int(i) for i in np.argsort(-size, kind="stable") if np.isfinite(size[i])]
    return maps, tuple(Move(answers.objects[i], float(distance[i]), bool(sure[i])) for i in order)


class PermutationTest(NamedTuple):
    """How often people dealt to groups at random differ as much: p = pairs * 5/3 (1 + as much or more) / (1 + permutations).

    The factor 5/3 makes up for groups that differ in noise alone, which are not exchangeable; where they are, p is too large by
    it. ``pairs`` : how many pairs of groups were compared, for which p is corrected (Bonferroni).

    ``people`` : how many were dealt, all of them or a random sample.

    ``questions_differ`` : the groups were asked different questions, more so than chance would have it. Then a
    difference may lie in the questions, and nothing is said about the people.
    """

    p: float
    permutations: int
    people: int
    questions_differ: bool = False
    pairs: int = 1

    @property
    def differ(self) -> bool:
        """Whether the groups differ, at the 5 % level."""
        return self.p <= 0.05 and not self.questions_differ


def inner_products(vectors: Any) -> Floats:
    """(P, P) inner products of sparse rows, 0 on the diagonal (a person is always like themselves)."""
    gram = np.asarray((vectors @ vectors.T).todense(), dtype=np.float64)
    np.fill_diagonal(gram, 0.0)
    return gram


def questions_differ(answers: Triplets, member: NDArray[np.integer], n_permutations: int, seed: int) -> bool:
    """Whether the trios that the groups were asked about differ far more than chance: by five standard deviations."""
    person, trio = respondents(answers), dense_codes(answers.trio_ids)
    asked: Any = coo_array((np.ones(len(trio)), (person, trio))).tocsr()
    asked.data = np.minimum(asked.data, 1.0)
    gram = inner_products(asked / np.sqrt(asked.sum(axis=1))[:, None])
    apart = _sum_by_pairs(_without_common(gram), _deals(member, n_permutations, seed), 1)
    spread = float(apart[1:].std())
    return bool(apart[0] - apart[1:].mean() > 5 * spread) if spread > 1e-12 else False


def permutation_test(
    gram: Floats, member: NDArray[np.integer], n_permutations: int = 999, seed: int = 0
) -> PermutationTest:
    """Whether two groups of people differ, by what is left of their answers.

    The statistic is the squared distance between the means of the two groups without the terms of a person with
    themselves: mean of the inner products within one group, plus that within the other, less twice that between.
    It is divided by its standard error, for otherwise a small group of careless people would be called different too often,
    and compared with that of people dealt to groups of the same sizes at random.
    """
    left = _without_common(gram)
    dealt = _deals(member, n_permutations, seed)
    variance = np.maximum(_sum_by_pairs(left**2, dealt, 2), np.finfo(float).tiny)
    apart = _sum_by_pairs(left, dealt, 1) / np.sqrt(variance)
    tolerance = 1e-9 * np.abs(apart).max(initial=0.0)
    as_much = int((apart[1:] >= apart[0] - tolerance).sum())
    # People who answer with more noise are not exchangeable with others, and pull less at the common map: permutations called
    # groups that differ in noise alone different in up to .079 of simulated studies at a level of .05, and in .05 at .03.
    p = 5 / 3 * (1 + as_much) / (1 + n_permutations)
    return PermutationTest(min(1.0, p), n_permutations, len(gram))


def _without_common(gram: Floats) -> Floats:
    """Inner products of what is left of people when what all of them have in common is taken out.

    Where the map misses what everybody sees, everybody's vector points there, the further the more careful its person is. How
    far each goes, a_p, follows from the row sums: without the person's own terms they are a_p times the sum of the other a.
    """
    if len(gram) < 4 or not gram.any():
        return gram
    sums = gram.sum(axis=1)
    noise = np.sqrt(2 * (gram**2).sum())  # standard error of the sum of all, where nothing is in common
    total = max(float(sums.sum()), 2 * float(noise))
    far = sums / np.sqrt(total)
    for _ in range(20):
        far = sums / (np.sqrt(total + far @ far) - far)
    left = gram - np.outer(far, far)
    np.fill_diagonal(left, 0.0)
    return left


def _deals(member: NDArray[np.integer], n_permutations: int, seed: int) -> Floats:
    """(1 + permutations, P) who is in the second group: in truth, then dealt at random."""
    rng = np.random.default_rng(seed)
    return np.stack([member, *(rng.permutation(member) for _ in range(n_permutations))]).astype(float)


def _sum_by_pairs(values: Floats, dealt: Floats, power: int) -> Floats:
    """(1 + permutations,) sum over ordered pairs of people of their value times (their weight in the distance)^power.

    The weight is 1 / (k (k - 1)) within a group of k and -1 / (k l) between. With inner products and power 1 the sum is
    the squared distance of the means of the groups; with their squares and power 2 it is half its variance where the
    groups are alike (Chen and Qin 2010).
    """
    second = dealt.sum(axis=1)[0]
    first = dealt.shape[1] - second
    with_second = dealt @ values
    within_second = np.einsum("ij,ij->i", with_second, dealt)
    between = np.einsum("ij,ij->i", with_second, 1 - dealt)
    within_first = values.sum() - within_second - 2 * between
    within = within_first / (first * (first - 1)) ** power + within_second / (second * (second - 1)) ** power
    return np.asarray(within + 2 * between * (-1 / (first * second)) ** power)
