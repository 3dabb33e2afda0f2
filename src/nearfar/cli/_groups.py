"""The option ``--groups``: who belongs to which group, from a column of the answers or a file of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from nearfar.errors import FileError

__all__ = ["GroupsOption", "read_groups", "with_group_column"]

GroupsOption = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN|FILE",
        help="Compare groups of people: a column of the answers that names each participant's group, or a table with the "
        "columns participant and group.",
        show_default=False,
    ),
]


def with_group_column(columns: Sequence[str] | None, given: str | None) -> list[str]:
    """What to ask the reader for: the columns, with that of the groups where no file is meant.

    >>> with_group_column(["anchor=Q"], "cohort"), with_group_column(["group=cohort"], "cohort")
    (['anchor=Q', 'group=cohort'], ['group=cohort'])
    """
    named = list(columns or [])
    if given is None or Path(given).is_file() or f"group={given}" in named:
        return named
    return [*named, f"group={given}"]


def read_groups(given: str, found: Mapping[str, str]) -> dict[str, str]:
    """Participant -> group: from the file, or as the reader ``found`` it in the column."""
    if not Path(given).is_file():
        return dict(found)
    import polars as pl

    from nearfar.evaluate.groups import groups_of

    path = Path(given)
    try:
        if path.suffix.lower() == ".xlsx":
            table = pl.read_excel(path, infer_schema_length=0)
        else:
            table = pl.read_csv(
                path, infer_schema=False, separator="\t" if path.suffix.lower() == ".tsv" else ","
            )
    except (OSError, pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise FileError(
            f"{given}: cannot be read as a table with the columns participant and group"
        ) from error
    columns = {name.strip().lower(): name for name in table.columns}
    if not {"participant", "group"} <= columns.keys():
        raise FileError(
            f"{given}: expected the columns participant and group, got {', '.join(map(repr, table.columns))}"
        )
    people, groups = (table[columns[role]].cast(pl.String).to_list() for role in ("participant", "group"))
    return groups_of([person or "" for person in people], groups)
