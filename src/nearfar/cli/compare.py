"""``nearfar compare``: which model predicts answers it has not seen."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from nearfar.cli._common import (
    AnswersArgument,
    ColumnOption,
    DialectOption,
    ExcludeOption,
    ObjectsOption,
    OnBad,
    OnBadOption,
    OutputOption,
    QuietOption,
    SeedOption,
    load,
    session,
    tell,
    text_output,
)
from nearfar.cli._groups import DesignOption, GroupsOption, read_groups, with_group_column
from nearfar.errors import InputError

if TYPE_CHECKING:
    from nearfar.evaluate import Analysis

__all__ = ["compare"]


class Form(StrEnum):
    """How the result is written."""

    table = "table"
    json = "json"
    csv = "csv"


def compare(
    answers: AnswersArgument,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAMES",
            help="Models to judge, with commas between them, or given several times: kernels (k1, k2, k1+k2, score), "
            "their PCA (score-5), embeddings (ste-2, tste-5, ckl-8, soe-8, gnmds-2), auto for those that it chooses "
            "from, which is the default.",
            show_default=False,
        ),
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(
            "--cv",
            min=2,
            help="Folds; each is held out once.  Default: 5 up to 5,000 answers, 4 up to 20,000, else 3.",
            show_default=False,
        ),
    ] = None,
    groups: GroupsOption = None,
    design: DesignOption = None,
    seed: SeedOption = 0,
    json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="The table as CSV.")] = False,
    output: OutputOption = "-",
    dialect: DialectOption = None,
    column: ColumnOption = None,
    objects: ObjectsOption = None,
    on_bad: OnBadOption = OnBad.error,
    exclude: ExcludeOption = None,
    quiet: QuietOption = False,
) -> None:
    """Judge kernels, maps and embeddings by how many answers they predict that they were not fitted on.

    Trios (or screens of answers) are held out as a whole, so that nothing leaks; the best possible accuracy is
    bracketed from questions that were asked more than once, and "unknown" where none was.

    With --groups, groups of people are compared instead: agreement within and between them, a permutation test, each
    group's model on the other's held-out answers, the objects that move. An output ending in .svg, .pdf or .png is the
    figure of the two maps.

    Example:  nearfar compare answers.csv --model "k1, score, score-5, ste-2"
    """
    if json and csv:
        raise InputError(
            "--json and --csv: got both; choose one",
        )
    form = Form.json if json else Form.csv if csv else Form.table
    with session(quiet):
        from nearfar.evaluate import Analysis

        columns = with_group_column(column, groups)
        loaded = load(
            answers, dialect=dialect, column=columns, objects=objects, on_bad=on_bad, exclude=exclude
        )
        names = None if model is None else _names(model)
        if groups is not None:
            who = read_groups(groups, loaded.result.groups) or {}
            _compare_groups(
                Analysis(loaded.triplets, models=names, cv=cv, design=design, seed=seed),
                who,
                form,
                output,
                quiet,
            )
            return
        # opened first, so that a path that cannot be written to is reported before the work
        with text_output(output) as stream:
            analysis = Analysis(loaded.triplets, models=names, cv=cv, design=design, seed=seed)
            stream.write(_written(analysis, form))
        if output != "-":
            tell(f"{analysis.headline}; in {output}", quiet=quiet)


def _compare_groups(analysis: Analysis, groups: dict[str, str], form: Form, output: str, quiet: bool) -> None:
    """Compare groups of people, as text, as JSON or as a figure."""
    drawn = output.lower().endswith((".svg", ".pdf", ".png"))
    if form is Form.csv or (drawn and form is not Form.table):
        raise InputError("--groups: is written as text, as JSON, or as a figure (.svg, .pdf, .png)")
    if drawn:
        _draw_groups(analysis, groups, output, quiet)
        return
    found = analysis.groups(groups)
    text = str(found)
    if form is Form.json:
        import json

        from nearfar.report.facts import plain
        from nearfar.report.groups_section import groups_facts

        text = json.dumps(plain(groups_facts(found, {})), indent=2, ensure_ascii=False)
    with text_output(output) as stream:
        stream.write(f"{text}\n")


def _draw_groups(analysis: Analysis, groups: dict[str, str], output: str, quiet: bool) -> None:
    """The maps of two groups, side by side."""
    from nearfar.report.figures import groups_figure, need_matplotlib, save_figure
    from nearfar.report.groups_section import groups_facts

    need_matplotlib()
    pairs = groups_facts(analysis.groups(groups), {}).pairs
    if len(pairs) > 1:
        raise InputError(
            f"--groups: a figure shows two groups, got {len(pairs)} pairs; nearfar report --bundle draws them all"
        )
    save_figure(groups_figure(pairs[0]), output)
    tell(f"{pairs[0].verdict} Wrote {output}", quiet=quiet)


def _names(given: list[str]) -> list[str]:
    """Names between commas, each once."""
    return list(dict.fromkeys(name.strip() for text in given for name in text.split(",") if name.strip()))


def _written(analysis: Analysis, form: Form) -> str:
    if form is Form.json:
        import json

        best = analysis.best
        found = {**analysis.scores.to_dict(), "auto": best.to_dict()}
        return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    if form is Form.csv:
        table: str = analysis.scores.to_frame().write_csv()
        return table
    return f"{analysis.scores}\n\n{analysis.headline}\n"
