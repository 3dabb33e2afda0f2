"""``nearfar check``: what a file of answers holds, and what in it is not an answer."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfar._tools.terminal import printable, write_out
from nearfar.cli._options import READING, Given, OnBad, many, takes
from nearfar.cli._reading import Loaded, load_given
from nearfar.errors import InputError

if TYPE_CHECKING:
    from nearfar.errors import RowsError

__all__ = ["check"]

MANY = 8  # names shown before the rest is counted


@takes(*(name for name in READING if name != "on_bad"))
def check(
    given: Given,
    rejected: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write all rejected rows there, with file, line, reason, content and what was expected "
            "(.csv, .tsv, .json, .jsonl or .xlsx).",
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="The same facts as JSON, with all rejected rows.")
    ] = False,
) -> None:
    """Tell what was read: objects, answers, contradictions, participants, repeats, coverage, and what was no answer.

    Rows that are not answers are counted by reason, which is not a failure; a file that cannot be read, that is not
    UTF-8, or that holds no answer at all, is (exit 2).

    Example:  nearfar check answers.csv --objects objects.csv
    """
    loaded = load_given(replace(given, on_bad=OnBad.drop), announce=False)
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
    from nearfar.io.rejections import encoding_error

    is_utf8 = not all(name.isascii() for name in loaded.triplets.objects)
    return None if is_utf8 else encoding_error(loaded.result.rejected)


def _facts(loaded: Loaded) -> dict[str, Any]:
    from nearfar._tools.progress import step
    from nearfar.features import coverage
    from nearfar.io.summary import summarise

    with step("counting"):
        summary = summarise(replace(loaded.result, triplets=loaded.triplets))
    with step("coverage"):
        covered = {
            kernel: coverage(loaded.triplets, kernel) if summary.answers else 0.0 for kernel in ("k1", "k2")
        }
    return asdict(summary) | {"coverage": covered, "excluded": loaded.excluded}


def _show(facts: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for source in facts["sources"]:
        title = f"{source['name']}  ({source['dialect']}, {many(source['rows'], 'row')})"
        console.print(Text(printable(title, keep=""), style="bold"), soft_wrap=True)
    for name, value in _lines(facts):
        console.print(Text.assemble((f"{name:<16}", "dim"), printable(value, keep="")), soft_wrap=True)
    for rejection in facts["rejected"]:
        head = f"  {rejection['count']:,} × {rejection['reason']}; expected {rejection['expected']}"
        console.print(Text(printable(head, keep=""), style="yellow"), soft_wrap=True)
        rest = rejection["count"] - len(rejection["examples"])
        for example in [*rejection["examples"], *([f"and {rest:,} more"] if rest else [])]:
            console.print(Text("      " + printable(example, keep="")), soft_wrap=True)
    rejected = sum(rejection["count"] for rejection in facts["rejected"])
    last = Text.assemble((f"{'rejected':<16}", "dim"), many(rejected, "row") if rejected else "nothing")
    console.print(last, soft_wrap=True)


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [
        ("objects", f"{facts['objects']:,}{_some(facts['unanswered'], ', without answers: ')}"),
        ("answers", f"{facts['answers']:,}, {facts['unique']:,} of them unique"),
        (
            "contradictions",
            f"{many(facts['contradicting_pairs'], 'question')} answered both ways, "
            f"by {many(facts['contradicting_answers'], 'answer')}",
        ),
        ("statements", _count(facts["statements"], "every answer is its own")),
        ("participants", _count(facts["participants"], "not known")),
        ("repeats", _repeats(facts)),
    ]
    if facts["double_submits"]:
        lines.append(("double submits", f"{facts['double_submits']:,}, kept"))
    covered = ", ".join(f"{kernel} {_figure(value)}" for kernel, value in facts["coverage"].items())
    lines.append(("coverage", f"{covered} (columns that two objects share on average)"))
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


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _repeats(facts: dict[str, Any]) -> str:
    asked = f"{many(facts['repeated_questions'], 'question')} answered more than once"
    within = facts["repeated_within"]
    return asked if within is None else f"{asked}, {many(within, 'time')} by the same participant"


def _count(number: int | None, otherwise: str) -> str:
    return otherwise if number is None else f"{number:,}"


def _some(names: list[str] | tuple[str, ...], before: str = "") -> str:
    if not names:
        return ""
    more = f" and {len(names) - MANY:,} more" if len(names) > MANY else ""
    return f"{before}{', '.join(names[:MANY])}{more}"
