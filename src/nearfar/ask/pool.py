"""The pool of a study: the questions of its design, which booklets are drawn from."""

from __future__ import annotations

import csv
import warnings
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import cast

import numpy as np

from nearfar import design
from nearfar.ask._toml import Toml, read_toml
from nearfar.ask.study import Study, inside
from nearfar.design import Questions
from nearfar.design.questions import QuestionKind
from nearfar.errors import FileError, NearfarWarning

__all__ = ["Pool", "make_pool", "same_trio"]

COLUMNS = {
    "near": ("anchor", "one", "other"),
    "odd": ("a", "b", "c"),
    "central": ("a", "b", "c"),
}


@dataclass(frozen=True)
class Pool:
    """Questions to draw from, and where each comes from: "landmarks", "random" or "file"."""

    questions: Questions
    origin: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.questions)


def same_trio(items: tuple[int, ...]) -> str:
    """A key that is equal for questions about the same objects; nobody gets two of them as new questions.

    >>> same_trio((7, 3, 5)) == same_trio((3, 5, 7))
    True
    """
    return " ".join(map(str, sorted(items)))


def make_pool(study: Study, names: tuple[str, ...]) -> Pool:
    """Make the questions of a study: as many as ``aim`` people answer ``each`` times, or all there are."""
    toml = read_toml(study.path)
    plan = study.questions
    if len(names) < 3:
        raise toml.error("", "objects", f"a question needs three objects, got {len(names)}")
    budget = max(plan.n_new, study.people.aim * plan.n_new // plan.each)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", NearfarWarning
        )  # `nearfar ask check` lists objects that are never asked about
        pool = _drawn(study, toml, names, budget)
    different = len({same_trio(tuple(row)) for row in pool.questions.array.tolist()})
    if different < plan.n_new:
        raise toml.error(
            "questions",
            "per_person",
            f"{plan.per_person} questions need {plan.n_new} about different objects, but the design has only "
            f"{different}; lower per_person or add objects",
        )
    return pool


def _drawn(study: Study, toml: Toml, names: tuple[str, ...], budget: int) -> Pool:
    plan, n = study.questions, len(names)
    if plan.design == "random":
        if study.kind == "near":
            return _near(names, budget, 0, 0, plan.seed)
        if study.kind == "grid":
            if n <= plan.options:
                raise toml.error(
                    "questions",
                    "options",
                    f"{plan.options} options and an anchor need {plan.options + 1} objects, got {n}",
                )
            most = n * comb(n - 1, plan.options)
            made = design.grid_questions(
                names, min(budget, most), size=plan.options, pick=plan.pick, seed=plan.seed
            )
        else:
            made = design.trio_questions(names, min(budget, comb(n, 3)), study.kind, seed=plan.seed)  # type: ignore[arg-type]
        return Pool(made, ("random",) * len(made))
    if plan.design.startswith("landmarks:"):
        number = plan.design.removeprefix("landmarks:").strip()
        if not number.isdecimal() or not 2 <= int(number) <= n:
            raise toml.error(
                "questions", "design", f"expected landmarks: and a number from 2 to {n}, got {plan.design!r}"
            )
        return _near(names, budget, int(number), round(plan.random * budget), plan.seed)
    if plan.design == "landmarks":
        raise toml.error("questions", "design", 'expected the number of landmarks, as in "landmarks:12"')
    return _from_file(study, inside(toml, "questions", "design", plan.design), names)


def _near(names: tuple[str, ...], budget: int, landmarks: int, n_random: int, seed: int) -> Pool:
    """Landmark questions and random ones; the random ones about other trios as far as there are any."""
    rng = np.random.default_rng(seed)
    chosen = Questions(np.empty((0, 3), dtype=np.int32), names)
    if landmarks:
        marks = design.random_landmarks(names, landmarks, rng)
        chosen = design.landmark_questions(names, marks, "k1", seed=rng)
        if len(chosen) > budget - n_random:
            chosen = design.landmark_questions(
                names, marks, "k1", budget=budget - n_random, even=True, seed=rng
            )
    n, marked = len(names), len(chosen)
    n_random = min(budget - marked, n * (n - 1) * (n - 2) // 2 - marked)  # those that landmarks lack, too
    drawn = design.near_questions(names, n_random, besides=chosen, seed=rng)
    rows = np.concatenate([chosen.array, drawn.array])
    return Pool(Questions(rows, names), ("landmarks",) * marked + ("random",) * n_random)


def _from_file(study: Study, path: Path, names: tuple[str, ...]) -> Pool:
    """Questions of a file that ``nearfar plan`` wrote: one a line, objects by name."""
    columns = COLUMNS.get(study.kind) or (
        "anchor",
        *(f"option_{i}" for i in range(1, study.questions.options + 1)),
    )
    index_of = {name: i for i, name in enumerate(names)}
    rows: dict[tuple[int, ...], None] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            table = csv.DictReader(stream)
            missing = [name for name in columns if name not in (table.fieldnames or ())]
            if missing:
                raise FileError(
                    f"{path}: column {missing[0]!r} is missing; expected {', '.join(columns)} for kind {study.kind!r}"
                )
            for row in table:
                rows[_row(path, table.line_num, [row[name] for name in columns], index_of)] = None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path}: cannot be read as a table of questions ({error})") from error
    if not rows:
        raise FileError(f"{path}: has no questions")
    kind = cast("QuestionKind", study.kind)
    made = Questions(
        np.array(list(rows), dtype=np.int32), names, kind, study.questions.pick if study.kind == "grid" else 1
    )
    return Pool(made, ("file",) * len(made))


def _row(path: Path, line: int, cells: list[str | None], index_of: dict[str, int]) -> tuple[int, ...]:
    for cell in cells:
        if cell not in index_of:
            raise FileError(f"{path}, line {line}: {cell!r} is not one of the study's objects")
    found = tuple(index_of[cell] for cell in cells if cell is not None)
    if len(set(found)) != len(found):
        raise FileError(f"{path}, line {line}: an object stands twice in one question")
    return found
