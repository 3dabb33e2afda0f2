"""``nearfar convert``: answers from one format or dialect to another."""

from __future__ import annotations

from dataclasses import replace

import typer

from nearfar._tools.text import count
from nearfar.cli._options import TABLE, Given, own, takes
from nearfar.cli._reading import load
from nearfar.errors import InputError


@takes(*(name for name in TABLE if name != "dialect"), "objects", "on_bad", "exclude", "key", "quiet")
def convert(
    given: Given,
    files: list[str] = typer.Argument(
        metavar="IN... OUT",
        help="Files of answers, or - for standard input; last the file to write, or - for standard output.",
    ),
    from_: str | None = own(None, "Of IN. Default: its header.", "--from", metavar="DIALECT"),
    to: str = own("canonical", "Dialect of OUT.", metavar="DIALECT"),
    format: str | None = own(None, "Of OUT. Default: by its extension.", metavar="FORMAT"),
) -> None:
    """Convert answers to another format or dialect; several files are joined.

    Statements of different files stay apart. Formats go by extension: .csv .tsv .txt .jsonl (each also .gz or .zst) .parquet .npz .npy .xlsx, and for IN
    .json .zip study.db. Dialects to write: canonical, odd-one-out, most-central, salmon, tripletTools, next, things, list-order (cblearn's).

    Example:  nearfar convert responses.csv answers.parquet --from salmon
    """
    from nearfar.io import write_triplets

    *source, target = files
    if not source:
        raise InputError(f"OUT is missing; expected, for example, nearfar convert {target} answers.parquet")
    loaded = load(replace(given, answers=source, dialect=from_), announce=False)
    write_triplets(loaded.triplets, target, dialect=to, format=format)
    answers, result = loaded.triplets, loaded.result
    remarks = [f"{count(len(answers), 'answer')} about {count(answers.n_objects, 'object')}"]
    remarks += [f"{count(len(result.checks), 'row')} set aside"] if len(result.checks) else []
    remarks += [f"{count(len(result.rejected), 'row')} rejected"] if len(result.rejected) else []
    remarks += [f"{count(sum(loaded.excluded.values()), 'answer')} left out"] if loaded.excluded else []
    given.tell(f"{target}: {', '.join(remarks)}")
