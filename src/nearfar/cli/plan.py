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
from nearfar.cli._options import Given, OutputOption, own, takes, tell
from nearfar.cli._reading import load, load_features
from nearfar.errors import InputError, NearfarWarning

if TYPE_CHECKING:
    import polars as pl

    from nearfar.design import Questions, Scheme
    from nearfar.triplets import Triplets

NUMBER = re.compile("[0-9]{1,18}")
PERSON = "{participant}"  # in the name of an output
WHO = "Who is asked"
ADVICE = "How many questions to ask"


@takes("dialect", "column", "where", "features", "on_bad", "seed", "quiet")
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
    kernel: Literal["k1", "k2"] = own(
        "k1", "With --landmarks: the object is the anchor (k1), or a landmark is (k2)."
    ),
    size: int = own(8, "Options of a grid."),
    pick: int = own(2, "How many options of a grid to pick."),
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
    dimension: int = own(3, "Assumed dimensions of the objects.", panel=ADVICE),
    agreement: float = own(0.75, "Assumed agreement of two people.", panel=ADVICE),
    seconds: float | None = own(
        None, "For one question. Default: near 3, odd 4, central 5, grid 12.", panel=ADVICE
    ),
    minutes: float = own(15.0, "That one person answers.", panel=ADVICE),
    pay: float = own(12.0, "For one hour.", panel=ADVICE),
    adaptive: bool = own(False, "Simulate what adaptive questions would save.", "--adaptive", panel=ADVICE),
) -> None:
    """Say how many questions to ask, or draw the questions.

    Without a budget: a table of budgets with the accuracy to expect, hours and cost, from simulated studies.

    With a budget: the questions in random order with even sides, as .csv, .tsv, .json, .jsonl or .xlsx, for any survey
    tool. Lists for people start with participant, place, question and role (new, again, check). "{participant}" in the
    name of the output makes one file for each person.

    Example:  nearfar plan photos/ --budget 3000 --people 50 --each 2 --again 0.1 -o lists.xlsx
    """
    scheme = _scheme(kind, landmarks, kernel, size, pick)
    assumed = (dimension, agreement, seconds, minutes, pay)
    if adaptive:
        if people is None or budget is not None:
            raise InputError(
                "--adaptive: needs --people, with --per-person or --minutes and without --budget"
            )
        _say_saving(given, objects, scheme, assumed[:4], people, per_person)
        return
    if people is None and (per_person is not None or each is not None):
        option = "--per-person" if per_person is not None else "--each"
        raise InputError(f"{option}: needs --people, the number of lists to make")
    if people is not None and budget is None and per_person is None and pilot is None:
        _forecast(given, objects, output, scheme, assumed, (people, each, again, checks))
        return
    again, checks = again or 0.0, checks or 0
    names, images = _objects(objects)
    if len(names) < 3:
        raise InputError(f"{objects}: has {len(names)} objects; a question needs three")
    scheme.check(names)
    wanted = None if budget is None else _budget(budget, scheme.total(names))
    if wanted is not None and per_person is not None and each is not None:
        raise InputError("--budget, --per-person and --each: give two of them, the third follows")
    if wanted is None and people is not None and per_person is not None:
        from nearfar.design import new_places

        places = people * new_places(per_person, again, checks)
        wanted = max(1, min(places // (each or 1), scheme.total(names)))
    if advise or wanted is None:
        _advise(given, names, scheme, assumed, wanted, pilot, output)
        return
    if pilot is not None:
        raise InputError("--pilot: questions are drawn without it; add --advise to use it")
    if given.features:
        raise InputError("--features: questions are drawn without them; add --advise and --pilot to use them")
    shares = {"per_person": per_person, "each": None if per_person is not None else each}
    lists = {**shares, "again": again, "checks": checks, "seed": given.seed}
    remark = _write(scheme.questions(names, wanted, given.seed), people, images, output, lists)
    marks = scheme.marks(names, given.seed)
    given.tell(remark + (f"; landmarks: {', '.join(marks)}" if marks else ""))


def _write(drawn: Questions, people: int | None, images: list[str], output: str, chosen: Any) -> str:
    """Write questions, or lists of them for people, and say what was written."""
    remark = f"{count(len(drawn), 'question')} about {count(len(drawn.objects), 'object')}"
    if people is None and not chosen["again"] and not chosen["checks"]:
        table = _question_table(drawn.shuffled(chosen["seed"]), images)
    else:
        table, places_for = _lists(drawn, people or 1, images, chosen)
        remark += f" in {count(people or 1, 'list')}: {places_for}"
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
    given: Given,
    names: Sequence[str],
    scheme: Scheme,
    assumed: Any,
    wanted: int | None,
    pilot: str | None,
    output: str,
) -> None:
    """Print the advice, or write its table where the output is a file."""
    from nearfar import words
    from nearfar.evaluate.advice import Assumptions, advise
    from nearfar.io.table_writing import check_table_path, write_table

    check_table_path(output)
    asked = None if pilot is None else load(replace(given, answers=[pilot])).triplets
    worth, assumptions = _worth(given, asked), Assumptions(*assumed)
    advice = advise(names, scheme, budget=wanted, assumptions=assumptions, pilot=asked, seed=given.seed)
    if output == "-":
        write_out(f"{advice}\n")
    else:
        write_table(advice.to_frame(), output)
        tell(words.advice(advice))
    given.tell(worth)


def _worth(given: Given, pilot: Triplets | None) -> str:
    """What vectors were worth in the pilot; "" without them."""
    features = load_features(given)
    if features is None:
        return ""
    if pilot is None:
        raise InputError("--features: how many answers they save is measured in a pilot; give --pilot, too")
    from nearfar import words
    from nearfar.evaluate import Analysis

    worth = Analysis(pilot, features=features, seed=given.seed).worth
    return "" if worth is None else f"In the pilot: {words.worth(worth).text}".replace("\xa0", " ")


def _forecast(given: Given, objects: str, output: str, scheme: Scheme, assumed: Any, lists: Any) -> None:
    """Say what some people can answer in their minutes, and print the command that writes their lists."""
    from nearfar.evaluate.advice import Assumptions
    from nearfar.evaluate.forecast import forecast

    if output != "-":
        raise InputError("--output: is for lists, which need --per-person or --budget; leave it out")
    people, *rest = lists
    each, again, checks = (x if own is None else own for own, x in zip(rest, (2, 0.1, 3), strict=True))
    chosen: dict[str, Any] = {"each": each, "again": again, "checks": checks, "seed": given.seed}
    told = forecast(len(_objects(objects)[0]), people, scheme, Assumptions(*assumed), **chosen)
    made = f"--people {people} --per-person {told.per_person} --budget {told.questions} --again {again:g}"
    made += f" --checks {checks}" + ("" if scheme.kind == "near" else f" --kind {scheme.kind}")
    if scheme.kind == "grid":
        made += f" --size {scheme.size} --pick {scheme.pick}"
    if scheme.draw != "random":
        marks = scheme.landmarks
        listed = str(marks) if isinstance(marks, int) else ",".join(map(str, marks))
        made += f" --landmarks {shlex.quote(listed)} --kernel {scheme.draw}"
    made += f" --seed {given.seed}" if given.seed else ""
    write_out(f"{told}\nTo write the lists:  nearfar plan {shlex.quote(objects)} {made} -o lists.csv\n")


def _say_saving(
    given: Given, objects: str, scheme: Scheme, assumed: Any, people: int, per_person: int | None
) -> None:
    """Say what adaptive questions would save in a study of so many people."""
    from nearfar.evaluate.advice import Assumptions
    from nearfar.evaluate.forecast import expected_saving

    n, assumptions = len(_objects(objects)[0]), Assumptions(*assumed)
    write_out(f"{expected_saving(n, people, scheme, assumptions, per_person=per_person, seed=given.seed)}\n")


def _objects(given: str) -> tuple[Sequence[str], list[str]]:
    """Names of the objects to ask about, and the file of each one's picture as its list or folder names it."""
    if given == "-":
        return _not_blank(sys.stdin.read().splitlines()), []
    from nearfar.ask.objects import SUFFIXES, list_objects

    path = Path(given)
    listed = list_objects(path, {*SUFFIXES, ".svg"})
    if not any(listed.files):
        return listed.names, []
    folder = path if path.is_dir() else path.parent
    return listed.names, [str(file or "").removeprefix(f"{folder}{os.sep}") for file in listed.files]


def _not_blank(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


def _scheme(kind: Any, landmarks: str | None, kernel: Any, size: int, pick: int) -> Scheme:
    from nearfar.design import Scheme

    if landmarks is None:
        return Scheme(kind, "random", size=size, pick=pick)
    marks: int | list[str] = _not_blank(landmarks.split(","))
    if NUMBER.fullmatch(landmarks.strip()):
        marks = int(landmarks)
    elif len(landmarks) < 1000 and Path(landmarks).is_file():
        marks = read_lines(Path(landmarks), "name")
    return Scheme(kind, kernel, marks, size, pick)


def _budget(given: str, total: int) -> int:
    if given.strip().lower() == "all":
        return total
    if not NUMBER.fullmatch(given.strip()) or int(given) < 1:
        raise InputError(f"--budget: expected a number of questions or 'all', got {given[:40]!r}")
    return int(given)
