"""``nearfar convert``: answers from one format or dialect to another."""

from __future__ import annotations

from typing import Annotated

import typer

from nearfar.cli._common import (
    ColumnOption,
    ExcludeOption,
    ObjectsOption,
    OnBad,
    OnBadOption,
    QuietOption,
    load,
    many,
    session,
    tell,
)

__all__ = ["convert"]


def convert(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="IN... OUT",
            help="Files of answers, or - for standard input; last the file to write, or - for standard output.",
            show_default=False,
        ),
    ],
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="DIALECT", help="Dialect of IN. Default: by its header.", show_default=False
        ),
    ] = None,
    column: ColumnOption = None,
    to: Annotated[str, typer.Option("--to", metavar="DIALECT", help="Dialect of OUT.")] = "canonical",
    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="Format of OUT. Default: by its extension.", show_default=False
        ),
    ] = None,
    objects: ObjectsOption = None,
    on_bad: OnBadOption = OnBad.error,
    exclude: ExcludeOption = None,
    quiet: QuietOption = False,
) -> None:
    """Read answers and write them in another format or dialect; several files are joined, statements kept apart.

    Formats go by extension: .csv .tsv .jsonl (each also .gz or .zst) .parquet .npz .npy .xlsx. Dialects to write:
    canonical, odd-one-out, most-central, salmon, tripletTools, next, things, list-order (cblearn's).

    Example:  nearfar convert responses.csv answers.parquet --from salmon
    """
    from nearfar.errors import InputError
    from nearfar.io import write_triplets

    *source, target = files
    if not source:
        raise InputError(
            f"OUT is missing; expected the file to write, e.g. nearfar convert {target} answers.parquet"
        )
    with session(quiet):
        loaded = load(
            source,
            dialect=from_,
            column=column,
            objects=objects,
            on_bad=on_bad,
            exclude=exclude,
            announce=False,
        )
        write_triplets(loaded.triplets, target, dialect=to, format=format)
    answers, result = loaded.triplets, loaded.result
    remarks = [f"{many(len(answers), 'answer')} about {many(answers.n_objects, 'object')}"]
    remarks += [f"{many(len(result.checks), 'row')} set aside"] if len(result.checks) else []
    remarks += [f"{many(len(result.rejected), 'row')} rejected"] if len(result.rejected) else []
    remarks += [f"{many(sum(loaded.excluded.values()), 'answer')} left out"] if loaded.excluded else []
    tell(f"{target}: {', '.join(remarks)}", quiet=quiet)
