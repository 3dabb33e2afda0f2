"""``nearfar compare``: which model predicts answers it has not seen."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from nearfar.cli._common import (
    Answers,
    Dialect,
    Exclude,
    Objects,
    OnBad,
    OnBadOption,
    Output,
    Quiet,
    Seed,
    load,
    session,
    tell,
    text_output,
)
from nearfar.errors import InputError

if TYPE_CHECKING:
    from nearfar.evaluate.comparison import Comparison

__all__ = ["compare"]


class Form(StrEnum):
    """How the result is written."""

    table = "table"
    json = "json"
    csv = "csv"


def compare(
    answers: Answers,
    models: Annotated[
        str | None,
        typer.Option(
            "--models",
            "-m",
            metavar="NAMES",
            help="With commas between them: kernels (k1, k2, k1+k2, score), kernel PCA (score-5), embeddings "
            "(ste-2, tste-5, ckl-2, soe-2, gnmds-2). Default: all of these at a few dimensions.",
            show_default=False,
        ),
    ] = None,
    cv: Annotated[int, typer.Option("--cv", min=2, help="Parts; each is held out once.")] = 5,
    seed: Seed = 0,
    json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="The table as CSV.")] = False,
    output: Output = "-",
    dialect: Dialect = None,
    objects: Objects = None,
    on_bad: OnBadOption = OnBad.error,
    exclude: Exclude = None,
    quiet: Quiet = False,
) -> None:
    """Judge kernels, maps and embeddings by how many answers they predict that they were not fitted on.

    Trios (or screens of answers) are held out as a whole, so that nothing leaks; the best possible accuracy is
    bracketed from questions that were asked more than once, and "unknown" where none was.

    Example:  nearfar compare answers.csv --models "k1, score, score-5, ste-2"
    """
    if json and csv:
        raise InputError(
            "--json and --csv: both came; choose one",
        )
    form = Form.json if json else Form.csv if csv else Form.table
    with session(quiet):
        from nearfar.evaluate import compare as run

        loaded = load(answers, dialect=dialect, objects=objects, on_bad=on_bad, exclude=exclude)
        names = None if models is None else _names(models)
        # opened first, so that a place that cannot be written to is said before the work
        with text_output(output) as stream:
            result = run(loaded.triplets, names, cv=cv, seed=seed)
            stream.write(_written(result, form))
        if output != "-":
            best = result.best
            tell(
                f"best: {best.name}, {best.accuracy:.3f} ± {best.standard_error:.3f}; in {output}",
                quiet=quiet,
            )


def _names(models: str) -> list[str]:
    """Names between commas, each once."""
    return list(dict.fromkeys(name.strip() for name in models.split(",") if name.strip()))


def _written(result: Comparison, form: Form) -> str:
    if form is Form.json:
        import json

        return json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n"
    if form is Form.csv:
        table: str = result.to_frame().write_csv()
        return table
    return f"{result}\n"
