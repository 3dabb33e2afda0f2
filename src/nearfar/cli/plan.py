"""``nearfar plan``: how many questions to ask, and which, as a table for any survey tool."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nearfar._tools.terminal import write_out
from nearfar._tools.text import read_lines
from nearfar.cli._options import Given, OutputOption, many, takes, tell
from nearfar.cli._reading import load
from nearfar.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from nearfar.design import Questions, Scheme
    from nearfar.evaluate.advice import Assumptions
    from nearfar.triplets import Triplets

__all__ = ["plan"]

WHO = "Who is asked"
ADVICE = "How many questions to ask"


class KindChoice(StrEnum):
    """What is asked."""

    near = "near"
    odd = "odd"
    central = "central"
    grid = "grid"


class KernelChoice(StrEnum):
    """What the landmark questions are for."""

    k1 = "k1"
    k2 = "k2"


@takes("column", "seed", "quiet")
def plan(
    given: Given,
    objects: str = typer.Argument(
        metavar="OBJECTS",
        help="An object list (objects.csv), a text file with one name a line (or - for standard input), "
        "or a folder of pictures.",
    ),
    kind: KindChoice = typer.Option(
        KindChoice.near,
        help="near: is the anchor nearer to one or to other? odd: which of three is the odd one out? "
        "central: which of three is the most central? grid: which of a grid are nearest to the anchor?",
    ),
    budget: str | None = typer.Option(
        None,
        "--budget",
        "-b",
        metavar="N|all",
        help="How many different questions to draw, evenly over the objects. Without it: advice on how many.",
    ),
    landmarks: str | None = typer.Option(
        None,
        "--landmarks",
        "-l",
        metavar="N|NAMES",
        help="Ask about landmarks only: how many to draw, or which (names with commas between them, or a file with "
        "one a line). Default: any three objects.",
    ),
    kernel: KernelChoice = typer.Option(
        KernelChoice.k1,
        help="With --landmarks. k1: is the object nearer to this landmark or to that one? k2: is the landmark nearer "
        "to the object or to another landmark?",
    ),
    size: int = typer.Option(8, help="Options of a grid."),
    pick: int = typer.Option(2, help="How many options of a grid to pick."),
    people: int | None = typer.Option(
        None, help="Make a list for each of so many people.", rich_help_panel=WHO
    ),
    per_person: int | None = typer.Option(
        None, help="Places in each list, repeats and checks included.", rich_help_panel=WHO
    ),
    each: int | None = typer.Option(
        None,
        help="How many different people are asked each question. Default: 1, or what --per-person makes of it.",
        rich_help_panel=WHO,
    ),
    again: float = typer.Option(
        0.0,
        help="Share of a person's questions asked again of the same person, ten or more places later.",
        rich_help_panel=WHO,
    ),
    checks: int = typer.Option(
        0, "--checks", help="Check questions in each list, whose answer is known.", rich_help_panel=WHO
    ),
    advise: bool = typer.Option(
        False, "--advise", help="Advise, also where a budget is given.", rich_help_panel=ADVICE
    ),
    pilot: str | None = typer.Option(
        None,
        metavar="ANSWERS",
        help="Answers of a pilot study, with --column where its columns are not known; they replace the next two "
        "assumptions.",
        rich_help_panel=ADVICE,
    ),
    dimension: int = typer.Option(3, help="Assumed dimensions of the objects.", rich_help_panel=ADVICE),
    agreement: float = typer.Option(
        0.75,
        help="Assumed probability that two people give the same answer to a random question.",
        rich_help_panel=ADVICE,
    ),
    seconds: float | None = typer.Option(
        None, help="For one question. Default: near 3, odd 4, central 5, grid 12.", rich_help_panel=ADVICE
    ),
    minutes: float = typer.Option(15.0, help="That one person answers.", rich_help_panel=ADVICE),
    pay: float = typer.Option(12.0, help="For one hour.", rich_help_panel=ADVICE),
    output: OutputOption = "-",
) -> None:
    """Say how many questions to ask, or write the questions to ask.

    Without a budget: a table of budgets with the accuracy to expect, hours and cost, from simulated studies.

    With a budget: the questions, in random order with even sides, as .csv, .tsv, .json, .jsonl or .xlsx by the
    extension of the output. Columns are anchor, one, other (near); a, b, c (odd, central); anchor, option_1, ... (grid);
    pictures follow in anchor_image and so on. Lists for people start with participant, place, question and role (new,
    again, check); everybody gets equally many questions and every object about equally often, sides are even, and nobody
    gets the same trio twice but as a repeat. "{participant}" in the name of the output makes one file for each person.

    Example:  nearfar plan photos/ --budget 3000 --people 50 --each 2 --again 0.1 --checks 3 -o lists.xlsx
    """
    who = _Who(people, per_person, each, again, checks)
    names, images = _objects(objects)
    if len(names) < 3:
        raise InputError(f"{objects}: has {len(names)} objects; a question needs three")
    scheme = _scheme(kind, landmarks, kernel, size, pick)
    scheme.check(names)
    wanted = _budget(budget, scheme, names, who)
    if advise or wanted is None:
        from nearfar.evaluate.advice import Assumptions

        rests_on = Assumptions(dimension, agreement, seconds, minutes, pay)
        asked = None if pilot is None else load([pilot], column=given.column).triplets
        _advise(names, scheme, wanted, rests_on, asked, given.seed, output)
        return
    drawn = scheme.questions(names, wanted, given.seed)
    table, remark = _table(drawn, who, images, given.seed)
    _write(given, table, output, remark, scheme.marks(names, given.seed))


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
    files = [str(file or "").removeprefix(f"{folder}{os.sep}") for file in listed.files]
    return listed.names, files


def _not_blank(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


@dataclass(frozen=True)
class _Who:
    """How many people are asked how much."""

    people: int | None
    per_person: int | None
    each: int | None
    again: float
    checks: int

    def __post_init__(self) -> None:
        if self.people is None and (self.per_person is not None or self.each is not None):
            option = "--per-person" if self.per_person is not None else "--each"
            raise InputError(f"{option}: needs --people, the number of lists to make")

    @property
    def one_list(self) -> bool:
        """Whether the questions are wanted as they are."""
        return self.people is None and not self.again and not self.checks


def _scheme(kind: KindChoice, landmarks: str | None, kernel: KernelChoice, size: int, pick: int) -> Scheme:
    from nearfar.design import Scheme

    if landmarks is None:
        return Scheme(kind.value, "random", size=size, pick=pick)
    marks: int | list[str]
    if landmarks.strip().isdecimal():
        marks = int(landmarks)
    elif Path(landmarks).is_file():
        marks = read_lines(Path(landmarks), "name")
    else:
        marks = _not_blank(landmarks.split(","))
    return Scheme(kind.value, kernel.value, marks, size, pick)


def _budget(given: str | None, scheme: Scheme, names: Sequence[str], who: _Who) -> int | None:
    """How many different questions: as given, else what so many places of so many people can hold; None: not said."""
    if given is not None:
        if given.strip().lower() == "all":
            return scheme.total(names)
        if not given.strip().isdecimal() or int(given) < 1:
            raise InputError(f"--budget: expected a number of questions or 'all', got {given!r}")
        if who.per_person is not None and who.each is not None:
            raise InputError("--budget, --per-person and --each: give two of them, the third follows")
        return int(given)
    if who.people is None or who.per_person is None:
        return None
    from nearfar.design import new_places

    places = who.people * new_places(who.per_person, who.again, who.checks)
    return max(1, min(places // (who.each or 1), scheme.total(names)))


def _table(drawn: Questions, who: _Who, images: Sequence[str], seed: int) -> tuple[pl.DataFrame, str]:
    """What to write, and how much it is in words."""
    from nearfar.cli._booklets import booklet_table, question_table
    from nearfar.design import booklets

    about = f"{many(len(drawn), 'question')} about {many(len(drawn.objects), 'object')}"
    if who.one_list:
        return question_table(drawn.shuffled(seed), images), about
    made = booklets(
        drawn,
        1 if who.people is None else who.people,
        per_person=who.per_person,
        each=None if who.per_person is not None else who.each,
        again=who.again,
        checks=who.checks,
        seed=seed,
    )
    new, repeated, graded = (int((made.role == role).sum()) for role in range(3))
    clauses = [f"{many(new, 'place')} for new questions"]
    clauses += [f"{repeated:,} for repeats"] if repeated else []
    clauses += [f"{graded:,} for checks"] if graded else []
    lists = many(1 if who.people is None else who.people, "list")
    return booklet_table(made, images), f"{about} in {lists}: {', '.join(clauses)}"


def _write(given: Given, table: pl.DataFrame, output: str, remark: str, marks: Sequence[str]) -> None:
    from nearfar.cli._booklets import write_plan

    files = write_plan(table, output)
    where = (
        "" if output == "-" else f", written to {output}" if files == 1 else f", written to {files:,} files"
    )
    given.tell(remark + where + (f"; landmarks: {', '.join(marks)}" if marks else ""))


def _advise(
    names: Sequence[str],
    scheme: Scheme,
    budget: int | None,
    assumptions: Assumptions,
    pilot: Triplets | None,
    seed: int,
    output: str,
) -> None:
    """Print the advice, or write its table where the output is a file."""
    from nearfar import words
    from nearfar.evaluate.advice import advise
    from nearfar.io.table_writing import check_table_path, write_table

    check_table_path(output)
    advice = advise(names, scheme, budget=budget, assumptions=assumptions, pilot=pilot, seed=seed)
    if output == "-":
        write_out(f"{advice}\n")
    else:
        write_table(advice.to_frame(), output)
        tell(words.advice(advice))
