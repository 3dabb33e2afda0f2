"""Reading answers, whole or in batches: a file, several, standard input, a data frame or arrays -> Triplets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from nearfar._tools.checks import check_count
from nearfar._tools.progress import track
from nearfar.errors import InputError, NearfarError
from nearfar.io.batches import ColumnRoles, GivenObjects, Opened, Reader
from nearfar.io.column_words import PERSON, words
from nearfar.io.naming import text_ids, unguarded
from nearfar.io.parse_rows import NONE_ASIDE, NONE_REJECTED, ROLES, rows_error
from nearfar.io.sources import UNDECODABLE, Source, as_utf8
from nearfar.io.suspicions import warn_of_suspicions
from nearfar.io.table import Table, warn
from nearfar.triplets import Triplets
from nearfar.triplets.columns import sound_names
from nearfar.triplets.joining import IdOffsets, common_objects

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
    wide: str | None = None,
    sheet: str | None = None,
    where: str | Sequence[str] = (),
    join_names: bool = False,
) -> Triplets:
    """Read answers.

    Parameters
    ----------
    source : a path (.csv .tsv .txt .jsonl .json, each also .gz or .zst, .parquet .npz .npy .xlsx, or a .zip with one of
        these in it), ``"-"`` for standard input, a list of paths, a data frame of any library, an (m, 3) array, or
        (array, response).
    dialect : what the columns mean; default: recognised by the header. Never guessed from values.
    columns : role -> column (its name, or its position from 0), or a list of two or three columns for the role
        ``option``, for tables that no dialect knows; see docs/files.md.
    objects : object list (names, an ``ObjectList`` or its file, or n for the names 0 to n - 1): fixes the order;
        other names are errors.
    on_bad : a row that is not an answer: ``"error"``, or ``"drop"`` it; ``read_answers`` returns such rows.
    wide : for a table with a row per person and a column per question: the text of the questions, such as ``"Which is more like
        a {anchor}: {option} or {option}?"``, or a key file with the columns question, anchor, option_1, option_2.
    sheet : the sheet of a workbook; default: the first.
    where : conditions such as ``"block = main"`` or ``"block != training"``; all other rows are set aside.
    join_names : whether objects whose names differ only by case, blanks or Unicode form are one, under the first spelling.

    Examples
    --------
    >>> import polars as pl
    >>> read_triplets(pl.DataFrame({"a": ["red"], "b": ["pink"], "c": ["blue"], "odd": ["blue"]})).array.tolist()
    [[2, 1, 0], [1, 2, 0]]
    """
    return read_answers(**locals()).triplets


def read_answers(
    source: Any,
    *,
    dialect: str | None = None,
    columns: ColumnRoles | None = None,
    objects: GivenObjects | None = None,
    on_bad: Literal["error", "drop"] = "error",
    wide: str | None = None,
    sheet: str | None = None,
    where: str | Sequence[str] = (),
    join_names: bool = False,
) -> ReadResult:
    """Read answers and tell what became of every row; parameters as for ``read_triplets``.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"anchor": ["a", "a"], "near": ["b", "b"], "far": ["c", ""]})
    >>> read_answers(frame, on_bad="drop")
    ReadResult(Triplets(1 answers, 3 objects), 1 rejected, 0 set aside)
    """
    reader = Reader(**locals())
    results = [_read_text(reader, one) for one in track(reader.sources, "reading answers")]
    if len(results) == 1:
        return results[0]
    triplets, rejected, checks = (
        [getattr(x, name) for x in results] for name in ("triplets", "rejected", "checks")
    )
    groups = groups_of(pair for result in results for pair in result.groups.items())
    sources = tuple(read for result in results for read in result.sources)
    return ReadResult(Triplets.concatenate(triplets), pl.concat(rejected), pl.concat(checks), sources, groups)


def scan_triplets(
    paths: Any,
    *,
    dialect: str | None = None,
    columns: ColumnRoles | None = None,
    objects: GivenObjects | None = None,
    on_bad: Literal["error", "drop"] = "error",
    batch_rows: int = 1_000_000,
) -> Iterator[Triplets]:
    """Read answers in batches, in memory that does not grow with their number.

    All batches have the same ``objects``, and their concatenation is what ``read_triplets`` gives. Without an object
    list, or with statement or participant ids, the files are read twice, the first time for the names and the kinds of
    ids. A bad row or file is an error when its turn comes: batches before it have been yielded by then. To go on after
    it, scan the files that are left with ``objects=`` those of a batch.

    Parameters
    ----------
    paths : a path, a glob pattern or a list of these.
    dialect, columns : as for ``read_triplets``.
    objects : as for ``read_triplets``. With a number n, Parquet files of whole numbers are taken as they are, which
        is the fast way to read hundreds of millions of answers.
    on_bad : as for ``read_triplets``. A file that is damaged is an error in any case.
    batch_rows : rows per batch, at most.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"anchor": ["a", "b", "d"], "near": ["b", "c", "a"], "far": ["c", "a", "b"]})
    >>> [(len(batch), batch.objects) for batch in scan_triplets(frame, batch_rows=2)]
    [(2, ('a', 'b', 'c', 'd')), (1, ('a', 'b', 'c', 'd'))]
    """
    check_count(batch_rows, "batch_rows")
    reader = Reader(paths, dialect=dialect, columns=columns, objects=objects, on_bad=on_bad)
    return _scan(reader, batch_rows)


def _scan(reader: Reader, batch_rows: int) -> Iterator[Triplets]:
    """What a reader finds, in batches of at most ``batch_rows`` rows.

    A source that cannot be read is passed over at first, so that whoever goes on after it has the objects of all others.
    """
    surveyed = [_survey(reader, source, batch_rows) for source in track(reader.sources, "looking for names")]
    seen = [opened for opened in surveyed if opened is not None]
    listed = reader.listed
    objects = sound_names(common_objects([one.objects() for one in seen]) if listed is None else listed)
    if reader.index is None:
        reader.index = {name: i for i, name in enumerate(objects)}
    has_statements = any(opened.has_statements for opened in seen)
    has_people = ["participant" in opened.grammar.columns for opened in seen]
    numeric_people = all(has_people) and all(opened.numeric_people for opened in seen)
    numeric = all(opened.statements.are_numbers for opened in seen), numeric_people
    numbers = IdOffsets()
    for at, (source, before) in enumerate(zip(track(reader.sources, "reading"), surveyed, strict=True)):
        opened = reader.open(source)
        before = before or opened
        shift, prefix = numbers.shift(before.statements.span[0]), f"{at + 1}:" if len(surveyed) > 1 else ""
        first = 0
        for batch in reader.batches(opened, batch_rows):
            if len(batch.rejected) and not reader.drop:
                raise rows_error(opened.table, batch.rejected, batch.rows)
            rows = batch.triplets
            if has_statements and "statement" not in rows.columns:
                rows = rows.with_columns(statement=pl.int_range(first, first + len(rows), dtype=pl.Int64))
            if any(has_people) and "participant" not in rows.columns:
                rows = rows.with_columns(participant=pl.lit(None, pl.String))
            first += len(rows)
            if len(rows):
                yield _triplets(rows, before, objects, numeric, shift=shift, prefix=prefix)
        if has_statements:
            numbers.add(opened.statements.span if opened.has_statements else (0, opened.n_answers - 1))


def _survey(reader: Reader, source: Source, batch_rows: int) -> Opened | None:
    """What must be known of a source before the first batch: its objects, and the kinds of ids; None where it is not readable."""
    opened = None
    with suppress(NearfarError):  # what was found before a damaged stretch is needed too
        opened = reader.open(source)
        if reader.index is None or {"statement", "participant"} & opened.grammar.columns.keys():
            for _ in reader.batches(opened, batch_rows):
                pass
    return opened


def _read_text(reader: Reader, source: Source) -> ReadResult:
    """What a source holds; text that is not UTF-8 is read again as UTF-16 or Latin-1 if it can be, with a warning."""
    try:
        result = _read_one(reader, reader.open(source))
        if not (result.rejected["reason"] == UNDECODABLE).any() or (other := as_utf8(source)) is None:
            return result
    except InputError:
        if (other := as_utf8(source)) is None:
            raise
    warn(f"{source.name}: is not UTF-8 and was read as {other[1]}")
    return _read_one(reader, reader.open(other[0]))


def _read_one(reader: Reader, opened: Opened) -> ReadResult:
    table, grammar = opened.table, opened.grammar
    parts, *not_answers, counts = zip(*reader.batches(opened, BATCH_ROWS), strict=True)
    (rejected, checks), n_rows = map(pl.concat, not_answers), sum(counts)
    if len(rejected) and not reader.drop:
        raise rows_error(table, rejected, n_rows)
    rows = pl.concat(parts)
    objects, numeric = opened.objects(), (opened.statements.are_numbers, opened.numeric_people)
    if reader.index is None:
        index = {name: i for i, name in enumerate(objects)}
        positions = pl.Series([index.get(name, -1) for name in opened.naming.index], dtype=pl.Int32)
        rows = rows.with_columns(positions.gather(rows[role]).alias(role) for role in ROLES)
    triplets = _triplets(rows, opened, objects, numeric)
    if table.may_be_bare:
        _warn_of_first_line(triplets, opened)
    warn_of_suspicions(table.name, triplets)
    groups = _groups(rows, table)
    width = len(table.header) if grammar.has_header else 0
    unused = tuple(table.header.describe(at) for at in range(width) if at not in grammar.columns.values())
    who = [name for name in unused if re.fullmatch(PERSON, words(name)) and words(name) != "id"]
    if "participant" in rows.columns:
        unnamed, way = rows["participant"].null_count(), "fill the column down, if cells were merged"
        if 0 < unnamed < len(rows):
            warn(f"{table.name}: {unnamed:,} of {len(rows):,} answers have no participant; {way}")
    elif who and opened.dialect.name != "columns":
        way = f"--column participant={shlex.quote(who[0])} (columns=)"
        warn(f"{table.name}: the column {who[0]!r} is not read; if it says who answered, add {way}")
    source = ReadSource(table.name, opened.dialect.name, table.row_word, n_rows, unused)
    return ReadResult(triplets, rejected, checks, (source,), groups)


def _groups(rows: pl.DataFrame, table: Table) -> dict[str, str]:
    """participant -> group, where a column was named as such."""
    if "group" not in rows.columns:
        return {}
    if "participant" not in rows.columns:
        raise InputError(f"{table.name}: a column is named as group, but none as participant; name both")
    pairs = rows.select("participant", "group").drop_nulls("group").unique(maintain_order=True)
    people = pairs["participant"].cast(pl.String).fill_null("").to_list()
    people = list(map(unguarded, people)) if table.guarded else people
    return groups_of(zip(people, pairs["group"], strict=True), table.name)


def groups_of(pairs: Iterable[tuple[Any, Any]], where: str = "groups") -> dict[str, str]:
    """Participant -> group; somebody in two groups is refused.

    >>> groups_of([("ann", "expert"), ("bob", " novice"), ("ann", "expert"), ("cy", None)])
    {'ann': 'expert', 'bob': 'novice'}
    """
    groups: dict[str, str] = {}
    for person, group in pairs:
        name = "" if group is None else str(group).strip()
        if name and (other := groups.setdefault(str(person), name)) != name:
            raise InputError(f"{where}: {str(person)!r} is in two groups, {other!r} and {name!r}")
    return groups


def _warn_of_first_line(triplets: Triplets, opened: Opened) -> None:
    """A header whose cells are names of objects is probably an answer; a first answer whose names occur nowhere else a header."""
    header, grammar = opened.table.header, opened.grammar
    if grammar.has_header:
        names = [header.cells[grammar.columns[role]] for role in grammar.objects]
        wrong = set(names) <= set(triplets.objects)
        said = "names of columns, but {} are objects; if the file has no header, add one"
    else:
        names = [triplets.objects[i] for i in triplets.array[:1].ravel()]
        others = triplets.array[triplets.statement_ids != triplets.statement_ids[:1]]
        wrong = len(triplets) >= 10 and not np.isin(others, triplets.array[:1]).any()
        said = "an answer, but {} occur nowhere else; if it is a header, take it out"
    if wrong:
        shown = said.format(", ".join(map(repr, names)))
        warn(f"{opened.table.name}: the first line was read as {shown}")


def _triplets(
    rows: pl.DataFrame,
    opened: Opened,
    objects: Sequence[str],
    numeric: tuple[bool, bool],
    *,
    shift: int = 0,
    prefix: str = "",
) -> Triplets:
    """Triplets of triplet rows, whose objects are indices.

    ``numeric`` : whether ids of statements, and of participants, are numbers. Statements move by ``shift`` or get a ``prefix``.
    """
    columns: dict[str, Any] = {role: rows[role].to_numpy() for role in ROLES}
    for role, unknown in (("seconds", np.nan), ("near_side", -1), ("answered_at", np.nan)):
        if role in rows.columns:
            columns[role] = rows[role].fill_null(unknown).to_numpy()
    for column in columns.values():
        column.flags.writeable = False  # ours alone, so Triplets need not copy it
    if "statement" in rows.columns:
        columns["statement"] = opened.statements.as_ids(
            rows["statement"], numeric[0], shift=shift, prefix=prefix
        )
    for role, are_numbers in (("participant", numeric[1]), ("rule", False)):
        if role in rows.columns:
            columns[role] = text_ids(rows[role], guarded=opened.table.guarded, as_numbers=are_numbers)
    return Triplets(objects=objects, **columns)
