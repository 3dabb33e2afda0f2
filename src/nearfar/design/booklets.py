"""Booklets: the questions that each person gets, in order, with planned repeats and check questions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Indices, Ints
from nearfar._tools.checks import Seed, check_count, generator
from nearfar.design._deal import deal
from nearfar.design.draws import check_questions
from nearfar.design.questions import Questions, as_shown
from nearfar.errors import InputError, NearfarWarning
from nearfar.triplets import Triplets

NEW, AGAIN, CHECK = 0, 1, 2
ROLES = ("new", "again", "check")
GAP = 10  # places between a question and its repeat

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False, repr=False)
class Booklets:
    """What each person is asked, ordered by person and place.

    Parameters
    ----------
    questions : one row per place, the options in the order on the screen (of "near": left, right).
    participant : (m,) number of the person, from 1.
    place : (m,) place in the person's list, from 1.
    role : (m,) 0 new, 1 again (a planned repeat of the same person's question), 2 check (the answer is known).
    question : (m,) number of the question among those given to ``booklets``, -1 for a check.

    >>> from nearfar.design import random_questions
    >>> booklets(random_questions(20, 60), people=4, each=2, checks=1)
    Booklets(4 people, 124 questions: 120 new, 0 again, 4 checks)
    """

    questions: Questions
    participant: Ints
    place: Ints
    role: NDArray[np.int8]
    question: Ints

    def __len__(self) -> int:
        return len(self.questions)

    def __repr__(self) -> str:
        new, again, check = np.bincount(self.role, minlength=3).tolist()
        people = len(np.unique(self.participant))
        who = "1 person" if people == 1 else f"{people:,} people"
        return f"Booklets({who}, {len(self):,} questions: {new:,} new, {again:,} again, {check:,} checks)"

    def __getitem__(self, rows: Any) -> Booklets:
        """The places chosen by a mask, a slice or row numbers."""
        return Booklets(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def expected(self) -> Indices:
        """(m,) the object that is the right choice of a check question, -1 elsewhere."""
        questions = self.questions
        if questions.anchored:
            right = questions.anchor
        elif questions.kind == "central":  # the one that stands there twice
            right = np.sort(questions.array, axis=1)[:, 1]
        else:  # the two alike cancel out
            right = np.bitwise_xor.reduce(questions.array, axis=1)
        return np.where(self.role == CHECK, right, -1).astype(np.int32)

    def answered(self, choice: ArrayLike, **columns: Any) -> Triplets:
        """Triplets from the position chosen at each place (see ``Questions.answered``); checks give none.

        ``participant`` is set, and for "near" questions the side at which the nearer object was shown.

        >>> from nearfar.design import random_questions
        >>> two = booklets(random_questions(20, 60), people=2)
        >>> two.answered(np.zeros(60, dtype=int))
        Triplets(60 answers, 20 objects, 2 participants)
        """
        asked = np.flatnonzero(self.role != CHECK)
        given = np.asarray(choice)
        if len(given) != len(self):
            raise InputError(f"choice: expected one for each of {len(self):,} places, got {len(given):,}")
        more: dict[str, Any] = {"participant": self.participant} | columns
        if self.questions.kind == "near":
            more = {"near_side": given.reshape(len(self))} | more
        kept = {name: np.asarray(values)[asked] for name, values in more.items() if values is not None}
        return self.questions[asked].answered(given[asked], **kept)

    def passed(self, choice: ArrayLike) -> NDArray[np.bool_]:
        """(m,) whether the right object is among those chosen at each check question; False elsewhere."""
        given = np.asarray(choice).reshape(len(self), self.questions.pick)
        options = np.take_along_axis(self.questions.options, np.maximum(given, 0), axis=1)
        right: NDArray[np.bool_] = ((options == self.expected[:, None]) & (given >= 0)).any(axis=1)
        return right


def booklets(
    questions: Questions,
    people: int,
    *,
    per_person: int | None = None,
    each: int | None = None,
    again: float = 0.0,
    checks: int = 0,
    gap: int = GAP,
    seed: Seed = 0,
) -> Booklets:
    """Deal questions out to people.

    Everybody gets equally many, and every question is asked equally often, give or take one. Nobody gets the same trio
    twice except as a planned repeat. Sides of "near" questions are even for every question and object, and within a
    person give or take one (two or three where a question is asked of several people); options of other kinds take
    turns. Anchors, and then objects, come to every person as evenly as random exchanges achieve.

    Parameters
    ----------
    questions : what to ask, of any kind.
    people : how many lists.
    per_person : places in each list, repeats and checks included. Or give
    each : how many different people are asked each question; 1 unless ``per_person`` is given.
    again : planned repeats within each person, as a share of the person's new questions.
    checks : check questions in each list, spread over it.
    gap : the least number of places between a question and its repeat; sides are exchanged.
    seed : whole number or numpy Generator.

    Returns
    -------
    Booklets. What cannot be done is an ``InputError``: too few places for all questions, too few people, no room for
    the repeats. Grids show dozens of trios each; where they cannot be kept apart a warning counts those that remain.

    >>> from nearfar.design import trio_questions
    >>> booklets(trio_questions(12, 40), people=10, each=3, again=0.25)
    Booklets(10 people, 150 questions: 120 new, 30 again, 0 checks)
    """
    check_count(people, "people")
    check_count(checks, "checks", least=0, most=1000)
    check_count(gap, "gap")
    if not 0 <= again <= 1:
        raise InputError(f"again must be a share from 0 to 1, got {again}")
    total = _slots(len(questions), people, per_person, each, again, checks)
    if people > max(total, 10_000):  # so many lists may be empty
        remedy = "take fewer people, or more questions or answers per question"
        raise InputError(f"people: {total:,} questions cannot be dealt out to {people:,} people; {remedy}")
    rng = generator(seed)
    question, person, clashes = deal(questions, total, people, rng)
    if clashes:
        again_shown = f"trios that come again on another grid of the same person: {clashes:,}"
        remedy = "take smaller grids or shorter lists to avoid them"
        warnings.warn(f"booklets: {again_shown}; {remedy}", NearfarWarning, stacklevel=2)
    shown = as_shown(questions, question, person, rng)
    graded = _checks(questions, people * checks, rng)
    lists = []
    for p in range(people):
        own = rng.permutation(np.flatnonzero(person == p)).tolist()
        wanted = round(again * len(own))
        made = arrange(own, wanted, range(p * checks, (p + 1) * checks), gap, rng)
        done = len(made) - len(own) - checks
        if done < wanted:
            raise InputError(
                f"again: a list of {len(own):,} questions has room for fewer repeats at least {gap} places later "
                f"({done:,}) than were asked for ({wanted:,}); take fewer, or longer lists"
            )
        lists.append(made)
    return _bound(lists, shown, question, graded)


def one_booklet(
    new: Questions, n_again: int, n_checks: int, *, earlier: Questions, gap: int = GAP, seed: Seed = 0
) -> Booklets:
    """One person's list of new questions in their order, with repeats of them or of ``earlier`` ones, and checks.

    ``earlier`` : what the person answered before this list and may be asked again, as shown. There are fewer repeats than
    asked for where the gap leaves no room. ``question`` of the result counts the earlier ones first.
    """
    rng = generator(seed)
    row, before = np.arange(len(new)), len(earlier)
    shown = as_shown(new, row, np.zeros_like(row), rng)
    shown = shown.replaced(np.concatenate([earlier.array, shown.array]))
    graded = _checks(new, n_checks, rng)
    back = {slot: before - slot for slot in range(before)}
    made = arrange(range(before, len(shown)), n_again, range(n_checks), gap, rng, back)
    return _bound([made], shown, np.arange(len(shown)), graded)


def arrange(
    new: Sequence[Item],
    n_again: int,
    checks: Sequence[Item],
    gap: int,
    rng: Generator,
    earlier: Mapping[Item, int] | None = None,
) -> list[tuple[int, Item]]:
    """One person's list in order: (role, item) at each place, roles as in ``ROLES``.

    Parameters
    ----------
    new : what is asked for the first time; it keeps its order.
    n_again : how many of these are asked again, at least ``gap`` places later; fewer where there is no room.
    checks : check questions, spread over the list.
    earlier : what the person was asked before this list and may be asked again, and how many places before its start.

    >>> arrange(["a", "b", "c"], 1, ["check"], 3, np.random.default_rng(0))
    [(0, 'a'), (2, 'check'), (0, 'b'), (0, 'c'), (1, 'a')]
    """
    made = [(NEW, item) for item in new]
    earliest = {item: max(0, gap - back) for item, back in (earlier or {}).items()}
    candidates = [*earliest, *new]
    for number in rng.permutation(len(candidates)).tolist():
        if not n_again:
            break
        item = candidates[number]
        first = earliest[item] if item in earliest else made.index((NEW, item)) + gap
        if first <= len(made):  # later insertions only move a question and its repeat further apart
            made.insert(int(rng.integers(first, len(made) + 1)), (AGAIN, item))
            n_again -= 1
    for number, check in enumerate(checks):
        low, high = (len(made) * k // len(checks) for k in (number, number + 1))
        made.insert(int(rng.integers(low, high + 1)), (CHECK, check))
    return made


def _slots(m: int, people: int, per_person: int | None, each: int | None, again: float, checks: int) -> int:
    """How many new questions are asked in all, of everybody together."""
    if m == 0:
        raise InputError("questions: expected at least one question")
    if per_person is not None and each is not None:
        raise InputError("give per_person or each, not both: one follows from the other")
    if per_person is None:
        wanted = check_count(1 if each is None else each, "each")
        if wanted > people:
            raise InputError(f"each: {wanted:,} answers per question need as many people, got {people:,}")
        return m * wanted
    new = new_places(check_count(per_person, "per_person"), again, checks)
    if people * new < m:
        raise InputError(
            f"per_person: {people:,} people with {new:,} new questions each answer {people * new:,}, but there are "
            f"{m:,} questions; take fewer questions, more people or longer lists"
        )
    return people * new


def new_places(per_person: int, again: float = 0.0, checks: int = 0) -> int:
    """How many places of a list are left for new questions.

    >>> new_places(60, again=0.1, checks=3)
    52
    """
    new = per_person - checks - n_repeats(per_person, again, checks)
    if new < 1:
        places = f"{per_person:,} places leave no room for questions"
        raise InputError(f"per_person: {places} besides {checks:,} checks")
    return new


def n_repeats(per_person: int, again: float, checks: int) -> int:
    """How many places of a list are for repeats, a share ``again`` of the new questions."""
    return round(max(0, per_person - checks) * again / (1 + again))


def _checks(like: Questions, count: int, rng: Generator) -> Questions:
    width = like.options.shape[1]
    return check_questions(like.objects, count, like.kind, size=width, pick=like.pick, seed=rng)


def _bound(
    lists: list[list[tuple[int, int]]], shown: Questions, question: Ints, graded: Questions
) -> Booklets:
    role, slot = np.array([entry for made in lists for entry in made], dtype=np.int64).reshape(-1, 2).T
    lengths = np.array([len(made) for made in lists])
    sources = np.concatenate([shown.array, shown.turned().array, graded.array]).astype(np.int32)
    rows = sources[role * len(shown) + slot]
    return Booklets(
        shown.replaced(rows),
        participant=np.repeat(np.arange(1, len(lists) + 1), lengths),
        place=np.arange(1, len(slot) + 1) - np.repeat(np.cumsum(lengths) - lengths, lengths),
        role=role.astype(np.int8),
        question=np.append(question, -1)[np.where(role == CHECK, -1, slot)],
    )
