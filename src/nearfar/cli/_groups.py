"""The option ``--groups``: who belongs to which group, from a column of the answers or a file of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from nearfar.errors import FileError

__all__ = ["DesignOption", "GroupsOption", "read_groups", "with_group_column"]

DesignOption = Annotated[
    str | None,
    typer.Option(
        "--design",
        metavar="NAME",
        help="How questions were chosen, where it is known: adaptive, or blocked (booklets). Accuracies then speak of such "
        "questions only.",
        show_default=False,
    ),
]
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
    if _is_file_name(given):
        raise FileError(
            f"{given}: cannot be read, there is no such file; expected a table with the columns participant and group, or "
            "the name of a column of the answers"
        )
    return [*named, f"group={given}"]


def _is_file_name(given: str) -> bool:
    """Whether a text ends as the name of a table does."""
    from nearfar.io.sources import format_of

    try:
        format_of(given)
    except FileError:
        return False
    return True


def read_groups(given: str | None, found: Mapping[str, str]) -> dict[str, str] | None:
    """Participant -> group: from the file, or as the reader ``found`` it in a column; None where there is neither."""
    if given is None or not Path(given).is_file():
        return dict(found) or None
    from nearfar.evaluate.groups import groups_of
    from nearfar.io.objects import read_columns

    columns = read_columns(given, ("participant", "group"))
    return groups_of([person or "" for person in columns["participant"]], columns["group"])
