"""``nearfar check``: what a file of answers holds, and what in it is not an answer."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nearfar._tools.terminal import printable, write_out
from nearfar._tools.text import count, listed
from nearfar.cli._options import READING, Given, own, takes, tell
from nearfar.cli._reading import load
from nearfar.cli._writing import as_json
from nearfar.errors import ColumnsError, InputError

MAX_NAMES = 8  # shown before the rest is counted


@takes(*(name for name in READING if name != "on_bad"))
def check(
    given: Given,
    rejected: str | None = own(None, "Write all rejected rows there, as a table.", metavar="FILE"),
    guess: bool = own(False, "Read an unknown table as it looks, and say how.", "--guess"),
    json: bool = own(False, "The same facts as JSON, with all rejected rows.", "--json"),
) -> None:
    """Count what was read: objects, answers, participants, repeats, rejected rows.

    Rejected rows do not stop the command. A file that cannot be read, or holds no answer, does (exit code 2).

    Example:  nearfar check answers.csv --objects objects.csv
    """
    from nearfar._tools.progress import step
    from nearfar.evaluate.collection import summarise

    given = replace(given, on_bad="drop")
    try:
        loaded = load(given, announce=False)
    except ColumnsError as error:
        if not guess or not error.options:
            raise
        tell(f"nearfar: guess: {error.means}; read with  {shlex.join(error.options)}")
        loaded = load(_guessed(given, error.options), announce=False)
    with step("counting"):
        facts = summarise(replace(loaded.result, triplets=loaded.triplets)) | {"excluded": loaded.excluded}
    if rejected is not None:
        from nearfar.io.table_writing import write_table

        write_table(loaded.result.rejected, rejected)
    if json:
        write_out(as_json(facts | {"rejected_rows": loaded.result.rejected.to_dicts()}))
    else:
        _show(facts)
    if not len(loaded.triplets):
        raise InputError(f"{', '.join(given.answers)}: holds no answers; expected at least one")


def _guessed(given: Given, options: list[str]) -> Given:
    """The same with more options, which are in pairs of a name and a value."""
    more: dict[str, Any] = {"column": list(given.column or [])}
    for name, value in zip(options[::2], options[1::2], strict=True):
        more |= {"column": [*more["column"], value]} if name == "--column" else {name[2:]: value}
    return replace(given, **more)


def _show(facts: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)

    def show(text: str, style: str = "", name: str = "") -> None:
        line = Text.assemble((f"{name:<16}" if name else "", "dim"), (printable(text, keep=""), style))
        console.print(line, soft_wrap=True)

    for source in facts["sources"]:
        known = {"canonical": "anchor, near, far", "columns": "columns as named"}
        format_ = known.get(source["dialect"], source["dialect"])
        show(f"{source['name']}  (format: {format_}; {count(source['rows'], 'row')})", "bold")
    for name, value in _lines(facts):
        show(value, name=name)
    for rejection in facts["rejected"]:
        rows = count(rejection["count"], "row")
        show(f"  {rows}: {rejection['reason']}; expected {rejection['expected']}", "yellow")
        rest = rejection["count"] - len(rejection["examples"])
        for example in [*rejection["examples"], *([f"and {rest:,} more"] if rest else [])]:
            show(f"      {example}")
    rejected = sum(rejection["count"] for rejection in facts["rejected"])
    show(count(rejected, "row") if rejected else "nothing", name="rejected")


def _lines(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from nearfar.words import TASKS  # which loads numpy

    own, people = facts["repeated_within"], facts["participants"]
    asked = "question" if facts["task"] == "near" else "comparison"
    trials = "no trial ids; each row is one trial"
    unanswered = f", without answers: {listed(facts['unanswered'], MAX_NAMES)}" if facts["unanswered"] else ""
    yield "objects", f"{facts['objects']:,}{unanswered}"
    yield "answers", f"{facts['answers']:,} ({facts['unique']:,} unique)"
    yield "contradictions", f"{facts['contradicting_pairs']:,} ({asked}s that received both answers)"
    if facts["statements"] is not None:
        trials = f"{facts['statements']:,} ({TASKS[facts['task']][0]}s)".removesuffix(" (trials)")
    yield "trials", trials
    yield "participants", "not known" if people is None else f"{people:,}"
    within = "" if own is None else f", {count(own, 'time')} by the same participant"
    yield "repeats", f"{count(facts['repeated_questions'], asked)} answered more than once{within}"
    if facts["double_submits"]:
        yield "double submits", f"{facts['double_submits']:,}, kept"
    if facts["controls"]:
        yield "controls", facts["controls"]
    if facts["excluded"]:
        left_out = count(sum(facts["excluded"].values()), "answer")
        yield "excluded", f"{count(len(facts['excluded']), 'participant')} with {left_out}"
    for aside in facts["set_aside"]:
        graded = f", {aside['correct']:,} correct and {aside['wrong']:,} wrong"
        yield "set aside", f"{aside['count']:,} × {aside['kind']}{graded if aside['kind'] == 'check' else ''}"
    if unused := [name for source in facts["sources"] for name in source["unused"]]:
        yield "not used", f"columns {listed(unused, MAX_NAMES)}"
    for names in facts["similar_names"][:MAX_NAMES]:
        yield "similar names", ", ".join(map(ascii, names))
    if len(facts["similar_names"]) > MAX_NAMES:
        yield "similar names", f"and {len(facts['similar_names']) - MAX_NAMES:,} more groups"
