"""``nearfar compare``: which model predicts answers it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from nearfar.cli._options import READING, Given, OutputOption, takes
from nearfar.cli._reading import load, read_groups
from nearfar.cli._writing import check_file, is_picture, write_bytes
from nearfar.errors import InputError

if TYPE_CHECKING:
    from nearfar.evaluate import Analysis

__all__ = ["compare"]


@takes(*READING, "groups", "design", "seed")
def compare(
    given: Given,
    model: list[str] | None = typer.Option(
        None,
        "--model",
        "-m",
        metavar="NAMES",
        help="Models to judge, with commas between them, or given several times: kernels (k1, k2, k1+k2, score), "
        "their PCA (score-5), embeddings (ste-2, tste-5, ckl-8, soe-8, gnmds-2), auto for those that it chooses "
        "from, which is the default.",
    ),
    cv: int | None = typer.Option(
        None,
        min=2,
        help="Folds; each is held out once.  Default: 5 up to 5,000 answers, 4 up to 20,000, else 3.",
    ),
    json: bool = typer.Option(False, "--json", help="Everything as JSON."),
    csv: bool = typer.Option(False, "--csv", help="The table as CSV."),
    output: OutputOption = "-",
) -> None:
    """Compare models by how many held-out answers they predict.

    All answers to a trio (or of a statement) are in the same fold, so that nothing leaks. Questions answered more than
    once tell how accurate the best possible model would be.

    With --groups, groups of participants are compared instead: agreement within and between them, a permutation test, each
    group's model on the other's held-out answers, the objects that differ. An output ending in .svg, .pdf or .png is the
    figure of the two maps.

    Example:  nearfar compare answers.csv --model "k1, score, score-5, ste-2"
    """
    if json and csv:
        raise InputError("--json and --csv: got both; choose one")
    form = "json" if json else "csv" if csv else "table"
    check_file(output)
    from nearfar.evaluate import Analysis
    from nearfar.evaluate.controls import controls_text

    loaded = load(given)
    given.tell(controls_text(loaded.triplets))
    names = None if model is None else _names(model)
    analysis = Analysis(loaded.triplets, models=names, cv=cv, design=given.design, seed=given.seed)
    if given.groups is not None:
        _compare_groups(given, analysis, read_groups(given, loaded) or {}, form, output)
        return
    write_bytes(output, _written(analysis, form).encode())
    if output != "-":
        given.tell(f"{analysis.headline}; in {output}")


def _compare_groups(given: Given, analysis: Analysis, groups: dict[str, str], form: str, output: str) -> None:
    """Compare groups of people, as text, as JSON or as a figure."""
    drawn = is_picture(output)
    if form == "csv" or (drawn and form != "table"):
        raise InputError("--groups: is written as text, as JSON, or as a figure (.svg, .pdf, .png)")
    if drawn:
        _draw_groups(given, analysis, groups, output)
        return
    found = analysis.groups(groups)
    text = str(found)
    if form == "json":
        import json

        from nearfar._tools.records import plain
        from nearfar.report.groups import group_comparison

        text = json.dumps(plain(group_comparison(found, {})), indent=2, ensure_ascii=False)
    write_bytes(output, f"{text}\n".encode())


def _draw_groups(given: Given, analysis: Analysis, groups: dict[str, str], output: str) -> None:
    """The maps of two groups, side by side."""
    from nearfar.report.figures import groups_figure, need_matplotlib, save_figure
    from nearfar.report.groups import group_comparison

    need_matplotlib()
    pairs = group_comparison(analysis.groups(groups), {})["pairs"]
    if len(pairs) > 1:
        raise InputError(
            f"--groups: a figure shows two groups, got {len(pairs)} pairs; nearfar report --bundle draws them all"
        )
    save_figure(groups_figure(pairs[0]), output)
    given.tell(f"{pairs[0]['finding']['text']} Wrote {output}")


def _names(given: list[str]) -> list[str]:
    """Names between commas, each once."""
    return list(dict.fromkeys(name.strip() for text in given for name in text.split(",") if name.strip()))


def _written(analysis: Analysis, form: str) -> str:
    if form == "json":
        import json

        best = analysis.best
        found = {**analysis.scores.to_dict(), "auto": best.to_dict()}
        return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    if form == "csv":
        table: str = analysis.scores.to_frame().write_csv()
        return table
    return f"{analysis.scores}\n\n{analysis.headline}\n"
