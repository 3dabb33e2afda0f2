"""Reading answers: a file, several, standard input, a data frame or arrays -> Triplets."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from nearfar._tools.progress import track
from nearfar.errors import InputError, NearfarWarning
from nearfar.io.batches import ColumnRoles, GivenObjects, Opened, Reader
from nearfar.io.build import make_triplets
from nearfar.io.ids import text_ids
from nearfar.io.naming import unguarded
from nearfar.io.rejections import NONE_ASIDE, NONE_REJECTED, rows_error
from nearfar.io.suspicions import warn_of_suspicions
from nearfar.io.table import Table
from nearfar.triplets import Triplets

__all__ = ["ReadResult", "ReadSource", "read_answers", "read_triplets"]

BATCH_ROWS = 4_000_000


@dataclass(frozen=True)
class ReadSource:
    """What was found in one source: rows of data (each a line, a row or a record) and columns not used."""

    name: str
    dialect: str
    row_word: str
    rows: int
    unused: tuple[str, ...]


@dataclass(frozen=True)
class ReadResult:
    """Answers, and everything that was not one.

    Attributes
    ----------
    triplets : the answers.
    rejected : data frame of rows that are not answers: file, line, reason, content, expected.
    checks : data frame of rows that the dialect knows not to be answers (check questions, blank answers, skips),
        set aside: file, line, kind, participant, correct (null where there is nothing to grade), content.
    sources : one entry per source.
    groups : participant -> group, where a column was named as ``group``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = path.write_text("anchor,near,far\\nfig,plum,lime\\nfig,fig,lime\\n")
    >>> result = read_answers(path, on_bad="drop")
    >>> result
    ReadResult(Triplets(1 answers, 3 objects), 1 rejected, 0 set aside)
    >>> result.rejected["line"].to_list()
    [3]
    """

    triplets: Triplets
    rejected: pl.DataFrame = field(default_factory=NONE_REJECTED.clone)
    checks: pl.DataFrame = field(default_factory=NONE_ASIDE.clone)
    sources: tuple[ReadSource, ...] = ()
    groups: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"ReadResult({self.triplets!r}, {len(self.rejected)} rejected, {len(self.checks)} set aside)"


def read_triplets(
    source: Any,
    *,
    dialect: str | None = None,
    columns: ColumnRoles | None = None,
    objects: GivenObjects | None = None,
    on_bad: Literal["error", "drop"] = "error",
) -> Triplets:
    """Read answers.

    Parameters
    ----------
    source : a path (.csv .tsv .txt .jsonl .json, each also .gz or .zst, .parquet .npz .npy .xlsx), ``"-"`` for
        standard input, a list of paths, a data frame of any library, an (m, 3) array, or (array, response).
    dialect : what the columns mean; default: recognised by the header. Never guessed from values.
    columns : role -> column (its name, or its position from 0), or a list of two or three columns for the role
        ``option``, for tables that no dialect knows; see docs/files.md.
    objects : object list (names, an ``ObjectList`` or its file, or n for the names 0 to n - 1): fixes the order;
        other names are errors.
    on_bad : a row that is not an answer: ``"error"``, or ``"drop"`` it; ``read_answers`` returns such rows.

    Examples
    --------
    >>> import polars as pl
    >>> read_triplets(pl.DataFrame({"a": ["red"], "b": ["pink"], "c": ["blue"], "odd": ["blue"]})).array.tolist()
    [[2, 1, 0], [1, 2, 0]]
    """
    return read_answers(source, dialect=dialect, columns=columns, objects=objects, on_bad=on_bad).triplets


def read_answers(
    source: Any,
    *,
    dialect: str | None = None,
    columns: ColumnRoles | None = None,
    objects: GivenObjects | None = None,
    on_bad: Literal["error", "drop"] = "error",
) -> ReadResult:
    """Read answers and tell what became of every row; parameters as for ``read_triplets``.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"anchor": ["a", "a"], "near": ["b", "b"], "far": ["c", ""]})
    >>> read_answers(frame, on_bad="drop")
    ReadResult(Triplets(1 answers, 3 objects), 1 rejected, 0 set aside)
    """
    reader = Reader(source, dialect=dialect, columns=columns, objects=objects, on_bad=on_bad)
    results = [_read_one(reader, reader.open(one)) for one in track(reader.sources, "reading answers")]
    if len(results) == 1:
        return results[0]
    return ReadResult(
        Triplets.concatenate([result.triplets for result in results]),
        pl.concat([result.rejected for result in results]),
        pl.concat([result.checks for result in results]),
        tuple(read for result in results for read in result.sources),
        _one_group(
            (person, group, result.sources[0].name)
            for result in results
            for person, group in result.groups.items()
        ),
    )


def _read_one(reader: Reader, opened: Opened) -> ReadResult:
    table, grammar = opened.table, opened.grammar
    batches = list(reader.batches(opened, BATCH_ROWS))
    rejected = pl.concat([NONE_REJECTED, *(batch.rejected for batch in batches)])
    n_rows = sum(batch.rows for batch in batches)
    if len(rejected) and not reader.drop:
        raise rows_error(table, rejected, n_rows)
    checks = pl.concat([NONE_ASIDE, *(batch.set_aside for batch in batches)])
    rows = pl.concat([batch.triplets for batch in batches])
    triplets = _whole(reader, opened, rows)
    if table.may_be_bare:
        (_warn_of_lost_row if grammar.has_header else _warn_of_header)(triplets, opened)
    warn_of_suspicions(table.name, triplets.objects, triplets.seconds)
    used = set(grammar.columns.values())
    width = len(table.header) if grammar.has_header else 0
    unused = tuple(table.header.describe(at) for at in range(width) if at not in used)
    found = ReadSource(table.name, opened.dialect.name, table.row_word, n_rows, unused)
    return ReadResult(triplets, rejected, checks, (found,), _groups(rows, table))


def _whole(reader: Reader, opened: Opened, rows: pl.DataFrame) -> Triplets:
    """The triplets of all batches of a source."""
    objects = opened.objects()
    guarded = opened.table.guarded
    statement = participant = None
    if "statement" in rows.columns:
        statement = opened.statements.as_ids(rows["statement"], as_numbers=opened.statements.are_numbers)
    if "participant" in rows.columns:
        participant = text_ids(rows["participant"], guarded=guarded, as_numbers=opened.numeric_people)
    index_of_id = reader.names.indices_in(objects)
    return make_triplets(
        rows, index_of_id, objects, statement=statement, participant=participant, guarded=guarded
    )


def _groups(rows: pl.DataFrame, table: Table) -> dict[str, str]:
    """participant -> group, where a column was named as such."""
    if "group" not in rows.columns:
        return {}
    if "participant" not in rows.columns:
        raise InputError(f"{table.name}: a column is named as group, but none as participant; name both")
    pairs = rows.select("participant", "group").drop_nulls("group").unique(maintain_order=True)
    people = [
        unguarded(name) if table.guarded else name
        for name in pairs["participant"].cast(pl.String).fill_null("")
    ]
    return _one_group(
        (person, group, table.name) for person, group in zip(people, pairs["group"], strict=True)
    )


def _one_group(pairs: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """participant -> group, from (participant, group, source); an error where a participant has two."""
    found: dict[str, str] = {}
    for person, group, source in pairs:
        if found.setdefault(person, group) != group:
            raise InputError(
                f"{source}: participant {person!r} is in the groups {found[person]!r} and {group!r}; expected one group"
            )
    return found


def _warn_of_header(triplets: Triplets, opened: Opened) -> None:
    """A file read without a header whose first row has names of its own probably has a header."""
    if len(triplets) < 10:
        return
    first = {int(i) for i in triplets.array[0]}
    rows = np.isin(triplets.array, list(first)).any(axis=1)
    same = triplets.statement_ids == triplets.statement_ids[0]
    if not (rows & ~same).any():
        names = ", ".join(repr(triplets.objects[i]) for i in triplets.array[0])
        warnings.warn(
            f"{opened.table.name}: the first line ({names}) was read as an answer, but its names occur nowhere else; "
            "if it is a header, take it out",
            NearfarWarning,
            stacklevel=4,
        )


def _warn_of_lost_row(triplets: Triplets, opened: Opened) -> None:
    """A file read with a header whose cells are names of objects probably has none."""
    header, grammar = opened.table.header, opened.grammar
    names = [header.cells[grammar.columns[role]] for role in grammar.objects]
    if set(names) <= set(triplets.objects):
        warnings.warn(
            f"{header.source}: the first line was read as names of columns, but {', '.join(map(repr, names))} are objects; "
            "if the file has no header, add one",
            NearfarWarning,
            stacklevel=4,
        )
