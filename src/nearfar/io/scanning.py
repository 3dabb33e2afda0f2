"""Reading more answers than fit in memory: batches of Triplets that share one object list."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

import polars as pl

from nearfar._tools.checks import check_count
from nearfar._tools.progress import track
from nearfar.errors import NearfarError
from nearfar.io.batches import ColumnRoles, GivenObjects, Opened, Reader
from nearfar.io.build import make_triplets
from nearfar.io.ids import text_ids
from nearfar.io.rejections import rows_error
from nearfar.io.sources import Source
from nearfar.triplets import Triplets
from nearfar.triplets.columns import sound_names
from nearfar.triplets.joining import Apart, common_objects

__all__ = ["scan", "scan_triplets"]


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
    return scan(reader, batch_rows)


def scan(reader: Reader, batch_rows: int) -> Iterator[Triplets]:
    """What a reader finds, in batches of at most ``batch_rows`` rows.

    A source that cannot be read is passed over at first, so that whoever goes on after it has the objects of all others.
    """
    surveyed = [_survey(reader, source, batch_rows) for source in track(reader.sources, "looking for names")]
    seen = [opened for opened in surveyed if opened is not None]
    objects = sound_names(
        reader.listed if reader.listed is not None else common_objects([opened.objects() for opened in seen])
    )
    index_of_id = reader.names.indices_in(objects)
    has_statements = any(opened.has_statements for opened in seen)
    has_people = ["participant" in opened.grammar.columns for opened in seen]
    numeric = all(opened.statements.are_numbers for opened in seen)
    numeric_people = all(has_people) and all(opened.numeric_people for opened in seen)
    numbers = Apart()
    for at, (source, before) in enumerate(
        zip(track(reader.sources, "reading answers"), surveyed, strict=True)
    ):
        opened = reader.open(source)
        before = before or opened
        shift, prefix = numbers.shift(before.statements.span[0]), f"{at + 1}:" if len(surveyed) > 1 else ""
        guarded, first = opened.table.guarded, 0
        for batch in reader.batches(opened, batch_rows):
            if len(batch.rejected) and not reader.drop:
                raise rows_error(opened.table, batch.rejected, batch.rows)
            rows = batch.triplets
            if not len(rows):
                continue
            statement = participant = None
            if has_statements:
                every = pl.int_range(first, first + len(rows), eager=True)
                ids = rows["statement"] if "statement" in rows.columns else every
                statement = before.statements.as_ids(ids, as_numbers=numeric, shift=shift, prefix=prefix)
            if any(has_people):
                nobody = pl.repeat(None, len(rows), dtype=pl.String, eager=True)
                people = rows["participant"] if "participant" in rows.columns else nobody
                participant = text_ids(people, guarded=guarded, as_numbers=numeric_people)
            first += len(rows)
            yield make_triplets(
                rows, index_of_id, objects, statement=statement, participant=participant, guarded=guarded
            )
        if has_statements:
            numbers.add(opened.statements.span if opened.has_statements else (0, opened.n_answers - 1))


def _survey(reader: Reader, source: Source, batch_rows: int) -> Opened | None:
    """What must be known of a source before the first batch: its objects, and the kinds of ids; None where it is not readable."""
    opened = None
    with suppress(NearfarError):  # what was found before a damaged stretch is needed too
        opened = reader.open(source)
        if not reader.names.fixed or {"statement", "participant"} & opened.grammar.columns.keys():
            for _ in reader.batches(opened, batch_rows):
                pass
    return opened
