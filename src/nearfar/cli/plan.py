"""``nearfar plan``: how many questions to ask, and which, as a table for any survey tool."""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from nearfar._tools.terminal import write_out
from nearfar._tools.text import count, read_lines
from nearfar.cli._options import TABLE, Given, OutputOption, own, takes, tell
from nearfar.cli._reading import load, load_features
from nearfar.errors import InputError, NearfarWarning

if TYPE_CHECKING:
    import polars as pl

    from nearfar.design import Questions, Scheme
    from nearfar.evaluate.advice import Advice, Lists

NUMBER = re.compile("[0-9]{1,18}")
PERSON = "{participant}"  # in the name of an output
WHO = "Who is asked"
ADVICE = "How many questions to ask"


@takes(*TABLE, "features", "on_bad", "seed", "quiet")
def plan(
    given: Given,
    objects: str = typer.Argument(
        metavar="OBJECTS",
        help="An object list (.csv), a text file with one name a line, - for standard input, or a folder of pictures.",
    ),
    kind: Literal["near", "odd", "central", "grid"] = own(
        "near", "The nearer of two, the odd one or the most central of three, or the nearest of a grid."
    ),
    budget: str | None = own(
        None, "How many questions to draw. Without it: advice.", "--budget", "-b", metavar="N|all"
    ),
    output: OutputOption = "-",
    landmarks: str | None = own(
        None,
        "Ask about landmarks only: how many, or which (or a file).",
        "--landmarks",
        "-l",
        metavar="N|NAMES",
    ),
    kernel: Literal["k1", "k2"] | None = own(
        None, "With --landmarks: the object is the anchor (k1), or a landmark is (k2). Default: k1."
    ),
    size: int | None = own(None, "Options of a grid. Default: 8."),
    pick: int | None = own(None, "How many options of a grid to pick. Default: 2."),
    people: int | None = own(
        None,
        "Make a list for each of so many people. With --minutes alone: what they can answer, and what that tells.",
        panel=WHO,
    ),
    per_person: int | None = own(None, "Places in each list.", panel=WHO),
    each: int | None = own(None, "People per question. Default: 1, or as --per-person implies.", panel=WHO),
    again: float | None = own(
        None, "Share of questions repeated later. Default: none, or as advised.", panel=WHO
    ),
    checks: int | None = own(None, "Check questions in each list. Default: none, or as advised.", panel=WHO),
    advise: bool = own(False, "Also with a budget.", "--advise", panel=ADVICE),
    pilot: str | None = own(None, "A pilot study, for these assumptions.", panel=ADVICE, metavar="ANSWERS"),
    dimension: int | None = own(None, "Assumed dimensions of the objects. Default: 3.", panel=ADVICE),
    agreement: float | None = own(None, "Assumed agreement of two people. Default: 0.75.", panel=ADVICE),
    seconds: float | None = own(
        None, "For one question. Default: near 3, odd 4, central 5, grid 12.", panel=ADVICE
    ),
    minutes: float | None = own(None, "That one person answers. Default: 15.", panel=ADVICE),
    pay: float | None = own(None, "For one hour. Default: 12.", panel=ADVICE),
    adaptive: bool = own(False, "Simulate what adaptive questions would save.", "--adaptive", panel=ADVICE),
) -> None:
    """Say how many questions to ask, or draw the questions.

    Without a budget: a table of budgets with the accuracy to expect, hours and cost, from simulated studies.

    With a budget: the questions in random order with even sides, as .csv, .tsv, .json, .jsonl or .xlsx, for any survey
    tool. Lists for people start with participant, place, question and role (new, again, check). "{participant}" in the
    name of the output makes one file for each person.

    Example:  nearfar plan photos/ --budget 3000 --people 50 --each 2 --again 0.1 -o lists.xlsx
    """
    scheme = _scheme(kind, landmarks, kernel or "k1", _given(size=size, pick=pick))
    assumed = _given(dimension=dimension, agreement=agreement, seconds=seconds, minutes=minutes, pay=pay)
    shares = _given(each=each, again=again, checks=checks)
    if landmarks is None:
        _refuse("needs --landmarks", kernel=kernel)
    if kind != "grid":
        _refuse("needs --kind grid", size=size, pick=pick)
    if people is None and budget is None:
        _refuse("needs --people or --budget", again=again, checks=checks)
    if advise and budget is not None:
        _refuse("is for lists, and --advise makes none", people=people, per_person=per_person, **shares)
    names, images = _objects(objects)
    if len(names) < 3:
        raise InputError(f"{objects}: has {len(names)} objects; a question needs three")
    scheme.check(names)
    if pilot is None:
        reading = {"dialect": given.dialect, "column": given.column, "where": given.where}
        _refuse("is about a pilot; give --pilot, too", **reading, on_bad=given.on_bad != "error")
    if people is None:
        _refuse("needs --people, the number of lists to make", per_person=per_person, each=each)
    if adaptive:
        to_file = output != "-"
        _refuse("goes without --adaptive", budget=budget, output=to_file, pilot=pilot, pay=pay, **shares)
        _say_saving(given, len(names), scheme, assumed, people, per_person)
        return
    if people is not None and budget is None and per_person is None:
        _refuse("is for lists, which need --per-person or --budget; leave it out", output=output != "-")
        lists = _advise(given, names, scheme, assumed, pilot, output, people=people, **shares).lists
        _say_command(objects, scheme, lists, again, given.seed)
        return
    again, checks = again or 0.0, checks or 0
    wanted = None if budget is None else _budget(budget, scheme.total(names))
    if wanted is not None and per_person is not None and each is not None:
        raise InputError("--budget, --per-person and --each: give two of them, the third follows")
    if wanted is None and people is not None and per_person is not None:
        from nearfar.design import new_places

        places = people * new_places(per_person, again, checks)
        wanted = max(1, min(places // (each or 1), scheme.total(names)))
    if advise or wanted is None:
        _advise(given, names, scheme, assumed, pilot, output, budget=wanted)
        return
    _refuse("questions are drawn without it; add --advise to use it", pilot=pilot, **assumed)
    if given.features:
        raise InputError("--features: questions are drawn without them; add --advise and --pilot to use them")
    chosen = {
        "per_person": per_person, "each": None if per_person is not None else each, "again": again, "checks": checks,
        "seed": given.seed,
    }  # fmt: skip
    remark = _write(scheme.questions(names, wanted, given.seed), people, images, output, chosen)
    marks = scheme.marks(names, given.seed)
    given.tell(remark + (f"; landmarks: {', '.join(marks)}" if marks else ""))


def _refuse(why: str, **options: Any) -> None:
    """An error about the first of some options that was given, as it would be ignored."""
    for name, value in options.items():
        if value not in (None, [], ()) and value is not False:
            raise InputError(f"--{name.replace('_', '-')}: {why}")


def _write(drawn: Questions, people: int | None, images: list[str], output: str, chosen: Any) -> str:
    """Write questions, or lists of them for people, and say what was written."""
    remark = f"{count(len(drawn), 'question')} about {count(len(drawn.objects), 'object')}"
    if people is None and not chosen["again"] and not chosen["checks"]:
        table = _question_table(drawn.shuffled(chosen["seed"]), images)
    else:
        people = 1 if people is None else people
        table, places_for = _lists(drawn, people, images, chosen)
        remark += f" in {count(people, 'list')}: {places_for}"
    files = _write_plan(table, output)
    return remark if output == "-" else f"{remark}, written to {output if files == 1 else f'{files:,} files'}"


def _lists(drawn: Questions, people: int, images: list[str], chosen: Any) -> tuple[pl.DataFrame, str]:
    """The lists of some people as a table, with the right answers of check questions; and what their places are for."""
    import polars as pl

    from nearfar.design import booklets
    from nearfar.design.booklets import ROLES

    lists = booklets(drawn, people, **chosen)
    new, again, checks = (int((lists.role == role).sum()) for role in range(3))
    if not chosen["again"] and len(drawn) >= new + again:
        alone = "nothing is asked twice, so agreement and the noise ceiling will be unknown; add --again 0.1 or --each 2"
        warnings.warn(alone, NearfarWarning, stacklevel=2)
    front: dict[str, Any] = {"participant": lists.participant, "place": lists.place}
    front["question"] = [None if q < 0 else q + 1 for q in lists.question.tolist()]
    front["role"] = [ROLES[role] for role in lists.role.tolist()]
    table = pl.concat([pl.DataFrame(front), _question_table(lists.questions, images)], how="horizontal")
    if checks:
        right = [None if x < 0 else drawn.objects[x] for x in lists.expected.tolist()]
        table = table.with_columns(pl.Series("check", right, dtype=pl.String))
    more = [f"{places:,} for {what}" for places, what in ((again, "repeats"), (checks, "checks")) if places]
    return table, ", ".join([f"{count(new, 'place')} for new questions", *more])


def _question_table(questions: Questions, images: Sequence[str]) -> pl.DataFrame:
    """One row per question: anchor, one, other; a, b, c; or anchor and option_1, option_2 and so on.

    A file of another kind than "near" says so in a column of its own. Pictures follow, where there are any.
    """
    import numpy as np
    import polars as pl

    roles = ["a", "b", "c"] if questions.kind in ("odd", "central") else ["anchor", "one", "other"]
    if questions.kind == "grid":
        roles = ["anchor", *(f"option_{i}" for i in range(1, questions.array.shape[1]))]
    shown = list(zip(roles, questions.array.T, strict=True))
    columns: dict[str, Any] = {} if questions.kind == "near" else {"kind": [questions.kind] * len(questions)}
    columns |= {role: np.array(questions.objects, dtype=object)[rows] for role, rows in shown}
    if images:
        columns |= {f"{role}_image": np.array(images, dtype=object)[rows] for role, rows in shown}
    return pl.DataFrame({name: list(values) for name, values in columns.items()})


def _write_plan(table: pl.DataFrame, output: str) -> int:
    """Write a plan to one file, or to one for each person where the name has {participant}; says how many."""
    from nearfar.io.table_writing import check_table_path, write_table

    check_table_path(output)
    if PERSON not in output:
        write_table(table, output)
        return 1
    if "participant" not in table.columns:
        wrong = f"{output!r} is one file for each person, but there are no lists for people"
        raise InputError(f"--output: {wrong}; add --people, or leave {PERSON} out")
    people = table["participant"].unique(maintain_order=True).to_list()
    width = len(str(len(people)))
    for person in people:
        target = Path(output.replace(PERSON, f"{person:0{width}d}"))
        target.parent.mkdir(parents=True, exist_ok=True)
        write_table(table.filter(table["participant"] == person), target)
    return len(people)


def _advise(
    given: Given, names: Sequence[str], scheme: Scheme, assumed: dict[str, Any], pilot: str | None, output: str, **asked: Any
) -> Advice:  # fmt: skip
    """Print the advice, or write its table where the output is a file."""
    from nearfar import words
    from nearfar.evaluate.advice import advise
    from nearfar.evaluate.simulated import Assumptions
    from nearfar.io.table_writing import check_table_path, write_table

    check_table_path(output)
    answers = None if pilot is None else load(replace(given, answers=[pilot])).triplets
    worth = None
    if (features := load_features(given)) is not None:
        from nearfar.evaluate import Analysis

        if answers is None:
            why = "how many answers they save is measured in a pilot; give --pilot, too"
            raise InputError(f"--features: {why}")
        worth = Analysis(answers, features=features, seed=given.seed).worth
    advice = advise(
        names, scheme, assumptions=Assumptions(**assumed), pilot=answers, seed=given.seed, **asked
    )
    if output == "-":
        write_out(f"{advice}\n")
    else:
        write_table(advice.to_frame(), output)
        tell(words.advice(advice))
    if worth is not None:
        given.tell(f"In the pilot: {words.worth(worth)}".replace("\xa0", " "))
    return advice


def _given(**options: Any) -> dict[str, Any]:
    """Options that were given; the others have their defaults elsewhere."""
    return {name: value for name, value in options.items() if value is not None}


def _say_command(objects: str, scheme: Scheme, lists: Lists | None, again: float | None, seed: int) -> None:
    """Print the command that writes the lists."""
    assert lists is not None
    made = f"--people {lists.people} --per-person {lists.per_person} --budget {lists.questions}"
    made += f" --again {0.1 if again is None else again:g} --checks {lists.checks}"
    made += "" if scheme.kind == "near" else f" --kind {scheme.kind}"
    if scheme.kind == "grid":
        made += f" --size {scheme.size} --pick {scheme.pick}"
    if scheme.draw != "random":
        marks = scheme.landmarks
        listed = str(marks) if isinstance(marks, int) else ",".join(map(str, marks))
        made += f" --landmarks {shlex.quote(listed)} --kernel {scheme.draw}"
    made += f" --seed {seed}" if seed else ""
    write_out(f"To write the lists:  nearfar plan {shlex.quote(objects)} {made} -o lists.csv\n")


def _say_saving(
    given: Given, n: int, scheme: Scheme, assumed: dict[str, Any], people: int | None, per_person: int | None
) -> None:
    """Say what adaptive questions would save in a study of so many people."""
    from nearfar.evaluate.planned_saving import expected_saving
    from nearfar.evaluate.simulated import Assumptions

    if people is None:
        raise InputError("--adaptive: needs --people, with --per-person or --minutes")
    told = expected_saving(n, people, scheme, Assumptions(**assumed), per_person=per_person, seed=given.seed)
    write_out(f"{told}\n")


def _objects(given: str) -> tuple[Sequence[str], list[str]]:
    """Names of the objects to ask about, and the file of each one's picture as its list or folder names it."""
    if given == "-":
        return _not_blank(sys.stdin.read().splitlines()), []
    from nearfar.ask.objects import list_objects

    path = Path(given)
    listed = list_objects(path)
    if not any(listed.files):
        return listed.names, []
    folder = path if path.is_dir() else path.parent
    return listed.names, [str(file or "").removeprefix(f"{folder}{os.sep}") for file in listed.files]


def _not_blank(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


def _scheme(kind: Any, landmarks: str | None, kernel: Any, grid: dict[str, int]) -> Scheme:
    from nearfar.design import Scheme

    if landmarks is None:
        return Scheme(kind, "random", **grid)
    marks: int | list[str] = _not_blank(landmarks.split(","))
    if NUMBER.fullmatch(landmarks.strip()):
        marks = int(landmarks)
    elif len(landmarks) < 1000 and Path(landmarks).is_file():
        marks = read_lines(Path(landmarks), "name")
    return Scheme(kind, kernel, marks, **grid)


def _budget(given: str, total: int) -> int:
    if given.strip().lower() == "all":
        return total
    if not NUMBER.fullmatch(given.strip()) or int(given) < 1:
        raise InputError(f"--budget: expected a number of questions or 'all', got {given[:40]!r}")
    return int(given)
