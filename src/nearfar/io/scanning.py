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
from nearfar.io.ids import Statements
from nearfar.io.rejections import rows_error
from nearfar.triplets import Triplets
from nearfar.triplets.columns import sound_names
from nearfar.triplets.ids import Ids
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
    """What a reader finds, in batches of at most ``batch_rows`` rows."""
    survey = _Survey(reader, batch_rows)
    index_of_id = reader.names.indices_in(survey.objects)
    numbers = Apart()
    for number, source in enumerate(track(reader.sources, "reading answers")):
        opened = reader.open(source)
        ids = _SourceIds(survey, number, numbers.shift(survey.lowest[number]))
        for batch in reader.batches(opened, batch_rows):
            if len(batch.rejected) and not reader.drop:
                raise rows_error(opened.table, batch.rejected, batch.rows)
            rows = batch.triplets
            if len(rows):
                yield make_triplets(
                    rows,
                    index_of_id,
                    survey.objects,
                    ids.statements(rows),
                    ids.participants(rows),
                    guarded=opened.table.guarded,
                )
        if survey.has_statements:
            span = opened.statements.span if opened.has_statements else (0, opened.n_answers - 1)
            numbers.add(span or (0, -1))


class _Survey:
    """What must be known before the first batch: the objects, and the kinds of ids.

    A source that cannot be read is passed over, so that whoever goes on after it has the objects of all others.
    """

    def __init__(self, reader: Reader, batch_rows: int) -> None:
        self.reader = reader
        self.statements: list[Statements] = []
        self.lowest: list[int] = []
        self.has_statements = self.has_people = False
        everybody = True
        lists: list[tuple[str, ...]] = []
        for source in track(reader.sources, "looking for names"):
            ids = Statements(typed=True, guarded=False)
            with suppress(NearfarError):
                opened = reader.open(source)
                ids = opened.statements
                self.has_statements |= opened.has_statements
                self.has_people |= "participant" in opened.grammar.columns
                everybody &= "participant" in opened.grammar.columns
                try:
                    self._read(opened, batch_rows)
                finally:  # what was found before a damaged stretch is needed too
                    lists.append(opened.objects())
            self.statements.append(ids)
            self.lowest.append(ids.span[0] if ids.span else 0)
        self.objects = sound_names(reader.listed if reader.listed is not None else common_objects(lists))
        self.numeric_statements = all(ids.are_numbers for ids in self.statements)
        self.numeric_people = everybody and reader.people.are_numbers

    def _read(self, opened: Opened, batch_rows: int) -> None:
        ids = {"statement", "participant"} & opened.grammar.columns.keys()
        if ids or not self.reader.names.fixed:
            for _ in self.reader.batches(opened, batch_rows):
                pass


class _SourceIds:
    """Ids of one source, batch after batch: numbers moved up by ``shift``, or text with the source's number."""

    def __init__(self, survey: _Survey, number: int, shift: int) -> None:
        self._survey = survey
        self._ids = survey.statements[number]
        self._shift = shift
        self._prefix = f"{number + 1}:" if len(survey.reader.sources) > 1 else ""
        self._rows = 0

    def statements(self, rows: pl.DataFrame) -> Ids | None:
        """The same id in another batch of the source is the same statement."""
        if not self._survey.has_statements:
            return None
        ids = pl.int_range(self._rows, self._rows + len(rows), eager=True)
        self._rows += len(rows)
        if "statement" in rows.columns:
            ids = rows["statement"]
        return self._ids.as_ids(
            ids, as_numbers=self._survey.numeric_statements, shift=self._shift, prefix=self._prefix
        )

    def participants(self, rows: pl.DataFrame) -> Ids | None:
        """Numbers only where all sources have numbers; '' where a source does not say."""
        if not self._survey.has_people:
            return None
        blank = pl.repeat(0, len(rows), dtype=pl.UInt32, eager=True)
        codes = rows["participant"] if "participant" in rows.columns else blank
        return self._survey.reader.people.as_ids(codes, as_numbers=self._survey.numeric_people)
