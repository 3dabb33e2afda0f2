"""The pool of a study: the questions of its design, which booklets are drawn from."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import starmap
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nearfar import design
from nearfar._tools.text import count, listed
from nearfar.ask.objects import StudyObjects, find_objects, shown_as
from nearfar.ask.study import Condition, Study
from nearfar.design import Questions
from nearfar.design.questions import SECONDS
from nearfar.errors import FileError, NearfarWarning
from nearfar.io.objects import read_columns

FILE_WORDS = {"image": "picture", "audio": "sound", "video": "film"}


class Pool(NamedTuple):
    """Questions to draw from, where each comes from ("landmarks", "random" or "file"), and of which condition it is."""

    questions: Questions
    origin: tuple[str, ...]
    condition: tuple[str, ...]


def same_trio(items: Sequence[int]) -> str:
    """A key that is equal for questions about the same objects; nobody gets two of them as new questions.

    >>> same_trio((7, 3, 5)) == same_trio((3, 5, 7))
    True
    """
    return " ".join(map(str, sorted(items)))


def no_questions(study: Study, names: tuple[str, ...]) -> Questions:
    """No question, but of the study's kind and about its objects."""
    is_grid = study.kind == "grid"
    width = study.questions.options + 1 if is_grid else 3
    none = np.empty((0, width), dtype=np.int32)
    return Questions(none, names, study.kind, study.questions.pick if is_grid else 1)


def make_pool(study: Study, names: tuple[str, ...]) -> Pool:
    """Make the questions of a study: as many as ``aim`` people answer ``each`` times, or all there are.

    Every condition has its own, so that each is answered equally often.
    """
    parts, members = [], []
    for number, condition in enumerate(study.conditions or (Condition(""),), start=1):
        if unknown := sorted(set(condition.objects or ()) - set(names)):
            wrong = f"{unknown[0]!r} is not one of the study's objects"
            raise study.toml.error(f"condition {number}", "objects", wrong)
        members.append(np.array(condition.members(names), dtype=np.int32))
        part = _one_pool(study, tuple(names[i] for i in members[-1]))
        parts.append(part._replace(condition=(condition.name,) * len(part.questions)))
    rows = np.concatenate([at[part.questions.array] for at, part in zip(members, parts, strict=True)])
    return Pool(
        no_questions(study, names).replaced(rows.astype(np.int32)),
        tuple(origin for part in parts for origin in part.origin),
        tuple(name for part in parts for name in part.condition),
    )


def _one_pool(study: Study, names: tuple[str, ...]) -> Pool:
    toml, plan, n = study.toml, study.questions, len(names)
    if n < (least := 3 + plan.is_adaptive):
        raise toml.error("", "objects", f"the questions need at least {least} objects, got {n}")
    if study.kind == "grid" and n <= plan.options:
        needed = f"{plan.options} options and an anchor need {plan.options + 1} objects, got {n}"
        raise toml.error("questions", "options", needed)
    people = -(-study.people.aim // max(1, len(study.conditions)))
    budget = max(plan.n_new, people * plan.n_new // plan.each)
    with warnings.catch_warnings():  # `nearfar ask check` lists objects that are never asked about
        warnings.simplefilter("ignore", NearfarWarning)
        pool = _drawn(study, names, budget)
    different = len({same_trio(row) for row in pool.questions.array.tolist()})
    if different < plan.n_new:
        needed = f"{plan.per_person} questions need {plan.n_new} about different objects"
        way_out = f"but the design has only {different}; lower per_person or add objects"
        raise toml.error("questions", "per_person", f"{needed}, {way_out}")
    return pool


def _drawn(study: Study, names: tuple[str, ...], budget: int) -> Pool:
    plan, n = study.questions, len(names)
    if plan.design == "random" or plan.is_adaptive:
        scheme = design.Scheme(study.kind, size=plan.options, pick=plan.pick)
        made = scheme.questions(names, min(budget, scheme.total(names)), plan.seed)
        return Pool(made, ("random",) * len(made), ())
    if plan.design.startswith("landmarks"):
        number = plan.design.removeprefix("landmarks").removeprefix(":").strip()
        if not number.isdecimal() or not 2 <= int(number) <= n:
            expected = f"expected landmarks: and a number from 2 to {n}, got {plan.design!r}"
            raise study.toml.error("questions", "design", expected)
        return _with_landmarks(names, budget, int(number), round(plan.random * budget), plan.seed)
    return _from_file(study, study.toml.file("questions", "design", plan.design), names)


def _with_landmarks(names: tuple[str, ...], budget: int, landmarks: int, n_random: int, seed: int) -> Pool:
    """Landmark questions and random ones; the random ones about other trios as far as there are any."""
    rng = np.random.default_rng(seed)
    marked = design.Scheme(draw="k1", landmarks=landmarks)
    chosen = marked.questions(names, min(budget - n_random, marked.total(names)), rng)
    every = design.Scheme().total(names)
    n_random = min(budget, every) - len(chosen)  # those that landmarks lack, too
    drawn = design.near_questions(names, n_random, besides=chosen, seed=rng)
    rows = np.concatenate([chosen.array, drawn.array])
    return Pool(chosen.replaced(rows), ("landmarks",) * len(chosen) + ("random",) * len(drawn), ())


def _from_file(study: Study, path: Path, names: tuple[str, ...]) -> Pool:
    """Questions of a table that ``nearfar plan`` wrote: one a row, objects by name; of lists for people each question once."""
    options = [f"option_{i}" for i in range(1, study.questions.options + 1)]
    columns = {"near": ("anchor", "one", "other"), "grid": ("anchor", *options)}
    cells = read_columns(path, columns.get(study.kind, ("a", "b", "c")), ["role"])
    roles, index_of = cells.pop("role"), {name: i for i, name in enumerate(names)}
    made = no_questions(study, names)
    rows: dict[tuple[int, ...], tuple[int, ...]] = {}
    whose = "every condition" if study.conditions else "the study"
    for line, (role, *row) in enumerate(zip(roles, *cells.values(), strict=True), start=2):
        if role not in (None, "new"):  # repeats and checks, which every booklet gets of its own
            continue
        if unknown := [cell for cell in row if cell not in index_of]:
            raise FileError(f"{path}, line {line}: {unknown[0]!r} is not an object of {whose}")
        if len(set(row)) != len(row):
            raise FileError(f"{path}, line {line}: an object stands twice in one question")
        items = tuple(index_of[cell or ""] for cell in row)
        fixed = items[: int(made.anchored)]
        rows.setdefault((*fixed, *sorted(items[len(fixed) :])), items)
    if not rows:
        raise FileError(f"{path}: has no questions")
    made = made.replaced(np.array(list(rows.values()), dtype=np.int32))
    return Pool(made, ("file",) * len(made), ())


def overview(study: Study, seconds: float | None = None, pay: float = 12.0) -> list[tuple[str, str]]:
    """What a study will ask, as (name, value) lines; objects that are never asked about are named.

    seconds : for one question; pay : for one hour. Both as in ``nearfar plan``.
    """
    objects = find_objects(study)
    questions, origin, condition = make_pool(study, objects.names)
    # what is damaged is said now
    media = Counter(one.media.partition("/")[0] for _, one in objects.pictures())
    plan, people = study.questions, study.people
    parts = (plan.n_new, "new question"), (plan.n_again, "repeat"), (plan.checks, "check")
    files = ", ".join(f"{number:,} with a {FILE_WORDS[kind]}" for kind, number in sorted(media.items()))
    origins = ", ".join(f"{number:,} from {name}" for name, number in Counter(origin).items())
    each = plan.wanted / plan.each * people.aim * plan.n_new / len(questions)
    pace = seconds or study.screen.expected_seconds or (0 if {*media} - {"image"} else SECONDS[study.kind])
    minutes, places = plan.per_person * pace / 60, count(plan.per_person, "question")
    pace_unknown = "unknown, as sounds and films take their time: give expected_seconds in [screen]"
    is_sized = study.show != "words" and {*media} - {"audio"}
    across = {"near": 2, "grid": 1}.get(study.kind, 3) * (study.screen.size or 0.0) if is_sized else 0.0
    some = f"{plan.n_random(plan.n_new)} of {plan.n_new} new questions are random; all of {plan.n_control} in 20 people"
    sizes = [f"{name} ({count(number, 'question')})" for name, number in Counter(condition).items()]
    asked = set(questions.array.ravel().tolist())
    lines = [
        ("title", study.title),
        ("objects", f"{len(objects.names):,}, {files or 'none with a picture'}"),
        ("people see", _seen(study, objects, listed([f"{FILE_WORDS[kind]}s" for kind in sorted(media)], 3))),
        ("screen", across and f"wider than {across:g} {study.screen.unit}; on smaller ones nobody can start"),
        ("questions", f"{len(questions):,} of kind {study.kind}: {origins}"),
        ("adaptive", plan.is_adaptive and some),
        ("form", ", ".join(f"{one.name} ({one.kind}, {one.when})" for one in study.form)),
        ("conditions", study.conditions and f"{', '.join(sizes)}; assigned: {people.assign}"),
        ("booklet", ", ".join(starmap(count, parts))),
        ("people", f"{people.aim:,} from {people.recruit}, which gives {each:.1f} answers per question"),
        ("minutes", f"{minutes:.1f} for {places} of one person" if pace else pace_unknown),
        ("cost", f"{people.aim * minutes / 60 * pay:,.0f} at {pay:g} an hour" if pace else "unknown"),
        ("not counted", "pages, forms, practice and breaks; fees of a recruiter"),
        ("never asked about", listed([x for i, x in enumerate(objects.names) if i not in asked], most=5)),
    ]
    return [(name, str(told)) for name, told in lines if told]


def _seen(study: Study, objects: StudyObjects, kinds: str) -> str:
    """What stands on the screen for an object; ``kinds`` : "pictures and sounds"."""
    shown, some = shown_as(study, objects), ", ".join(objects.display_names[:3])
    if shown == "pictures":
        return f"the {kinds} alone, without names"
    return f"{'names' if shown == 'words' or not kinds else f'{kinds} with names'}: {some}, ..."
