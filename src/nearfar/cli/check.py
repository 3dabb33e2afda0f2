"""``nearfar check``: what a file of answers holds, and what in it is not an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from nearfar._tools.terminal import printable, write_out
from nearfar.cli._options import READING, Given, many, takes
from nearfar.cli._reading import Loaded, load
from nearfar.errors import InputError

if TYPE_CHECKING:
    from nearfar.errors import RowsError

__all__ = ["check"]

MANY = 8  # names shown before the rest is counted


@takes(*(name for name in READING if name != "on_bad"))
def check(
    given: Given,
    rejected: str | None = typer.Option(
        None,
        metavar="FILE",
        help="Write all rejected rows there, with file, line, reason, content and what was expected "
        "(.csv, .tsv, .json, .jsonl or .xlsx).",
    ),
    json: bool = typer.Option(False, "--json", help="The same facts as JSON, with all rejected rows."),
) -> None:
    """Tell what was read: objects, answers, contradictions, participants, repeats, and what was not an answer.

    Rows that are not answers are counted by reason, which is not a failure; a file that cannot be read, that is not
    UTF-8, or that holds no answer at all, is (exit 2).

    Example:  nearfar check answers.csv --objects objects.csv
    """
    loaded = load(replace(given, on_bad="drop"), announce=False)
    facts = _facts(loaded)
    if rejected is not None:
        from nearfar.io.table_writing import write_table

        write_table(loaded.result.rejected, rejected)
    wrong = _encoding_error(loaded)
    if json:
        import json as json_module

        facts["rejected_rows"] = loaded.result.rejected.to_dicts()
        write_out(json_module.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    elif wrong is None:
        _show(facts)
    if wrong is not None:
        raise wrong
    if not len(loaded.triplets):
        raise InputError(
            f"{', '.join(given.answers)}: holds no answers; expected at least one row that is an answer"
        )


def _encoding_error(loaded: Loaded) -> RowsError | None:
    """What is wrong with a file that is not UTF-8; None where the text that was read shows that it is."""
    from nearfar.io.parse_rows import encoding_error

    is_utf8 = not all(name.isascii() for name in loaded.triplets.objects)
    return None if is_utf8 else encoding_error(loaded.result.rejected)


def _facts(loaded: Loaded) -> dict[str, Any]:
    from nearfar._tools.progress import step
    from nearfar.evaluate.collection import summarise

    with step("counting"):
        facts = summarise(replace(loaded.result, triplets=loaded.triplets))
    return facts | {"excluded": loaded.excluded}


def _show(facts: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)

    def show(text: str, style: str = "", name: str = "") -> None:
        line = Text.assemble((f"{name:<16}" if name else "", "dim"), (printable(text, keep=""), style))
        console.print(line, soft_wrap=True)

    for source in facts["sources"]:
        show(f"{source['name']}  ({source['dialect']}, {many(source['rows'], 'row')})", "bold")
    for name, value in _lines(facts):
        show(value, name=name)
    for rejection in facts["rejected"]:
        show(f"  {rejection['count']:,} × {rejection['reason']}; expected {rejection['expected']}", "yellow")
        rest = rejection["count"] - len(rejection["examples"])
        for example in [*rejection["examples"], *([f"and {rest:,} more"] if rest else [])]:
            show(f"      {example}")
    rejected = sum(rejection["count"] for rejection in facts["rejected"])
    show(many(rejected, "row") if rejected else "nothing", name="rejected")


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    own = facts["repeated_within"]
    within = "" if own is None else f", {many(own, 'time')} by the same participant"
    lines = [
        ("objects", f"{facts['objects']:,}{_some(facts['unanswered'], ', without answers: ')}"),
        ("answers", f"{facts['answers']:,}, {facts['unique']:,} of them unique"),
        (
            "contradictions",
            f"{many(facts['contradicting_pairs'], 'question')} answered both ways, "
            f"by {many(facts['contradicting_answers'], 'answer')}",
        ),
        (
            "statements",
            "every answer is its own" if facts["statements"] is None else f"{facts['statements']:,}",
        ),
        ("participants", "not known" if facts["participants"] is None else f"{facts['participants']:,}"),
        ("repeats", f"{many(facts['repeated_questions'], 'question')} answered more than once{within}"),
    ]
    if facts["double_submits"]:
        lines.append(("double submits", f"{facts['double_submits']:,}, kept"))
    if facts["controls"]:
        lines.append(("controls", facts["controls"]))
    if facts["excluded"]:
        left_out = sum(facts["excluded"].values())
        lines.append(
            ("excluded", f"{many(len(facts['excluded']), 'participant')} with {many(left_out, 'answer')}")
        )
    for aside in facts["set_aside"]:
        graded = (
            f", {aside['correct']:,} correct and {aside['wrong']:,} wrong" if aside["kind"] == "check" else ""
        )
        lines.append(("set aside", f"{aside['count']:,} × {aside['kind']}{graded}"))
    unused = [name for source in facts["sources"] for name in source["unused"]]
    if unused:
        lines.append(("not used", f"columns {_some(unused)}"))
    for group in facts["similar_names"][:MANY]:
        lines.append(("similar names", ", ".join(map(ascii, group))))
    if len(facts["similar_names"]) > MANY:
        lines.append(("similar names", f"and {len(facts['similar_names']) - MANY:,} more groups"))
    return lines


def _some(names: list[str] | tuple[str, ...], before: str = "") -> str:
    if not names:
        return ""
    more = f" and {len(names) - MANY:,} more" if len(names) > MANY else ""
    return f"{before}{', '.join(names[:MANY])}{more}"
