"""Reading more answers than fit in memory: batches of Triplets that share one object list."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar.errors import FileError, InputError, NearfarError
from nearfar.io._build import build
from nearfar.io._cells import as_numbers, person_labels, statement_labels
from nearfar.io._indices import Doubt, holds_indices, index_batches
from nearfar.io._open import open_sheet
from nearfar.io._report import rejected, rows_error
from nearfar.io._settle import Settled, settle
from nearfar.io._sheet import Malformed, Sheet, collect, collect_batches
from nearfar.io._source import Source, find_sources
from nearfar.io._take import Vocabulary, take
from nearfar.io.dialects import Plan, choose
from nearfar.io.objects import as_count, as_names
from nearfar.io.reading import Objects, check_on_bad, name_objects
from nearfar.labels import Labels, order_names
from nearfar.progress import track
from nearfar.triplets import Triplets, sound_names

__all__ = ["scan_triplets"]


def scan_triplets(
    paths: Any,
    *,
    dialect: str | None = None,
    objects: Objects | None = None,
    on_bad: Literal["error", "drop"] = "error",
    batch_rows: int = 1_000_000,
) -> Iterator[Triplets]:
    """Read answers in batches, in memory that does not grow with their number.

    All batches have the same ``objects``. Without an object list, or with statement or participant ids, the files are
    read twice, the first time for the names and the kinds of ids. Statement ids are the same over the batches of a
    file, and are made distinct between files. A bad row or file is an error when its turn comes: batches before it have
    been yielded by then. To go on after it, scan the files that are left with ``objects=`` those of a batch.

    Parameters
    ----------
    paths : a path, a glob pattern or a list of these.
    dialect : as for ``read_triplets``.
    objects : as for ``read_triplets``. With a number n, Parquet files of whole numbers are taken as they are, which
        is the fast way to read hundreds of millions of answers (unless bad rows are dropped).
    on_bad : as for ``read_triplets``. A file that is damaged is an error in any case.
    batch_rows : rows per batch, at most.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"anchor": ["a", "b", "d"], "near": ["b", "c", "a"], "far": ["c", "a", "b"]})
    >>> [(len(batch), batch.objects) for batch in scan_triplets(frame, batch_rows=2)]
    [(2, ('a', 'b', 'c', 'd')), (1, ('a', 'b', 'c', 'd'))]
    """
    if batch_rows < 1:
        raise InputError(
            f"batch_rows: {batch_rows} is too few; expected at least 1",
        )
    check_on_bad(on_bad)
    drop = on_bad == "drop"
    numbered = as_count(objects) is not None and not drop
    reader = _Reader(find_sources(paths), dialect, batch_rows, numbered=numbered, drop=drop)
    return _scan(reader, as_names(objects))


def _scan(reader: _Reader, listed: tuple[str, ...] | None) -> Iterator[Triplets]:
    survey = _Survey(reader, listed)
    objects = sound_names(survey.objects if listed is None else listed)
    free = 0
    for number, source in enumerate(track(reader.sources, "reading answers")):
        ids = _BatchIds(survey, number, free)
        indices = reader.indices(source, len(objects))
        if indices is not None:
            try:
                for anchor, near, far in indices:
                    yield Triplets(anchor, near, far, objects)
                continue
            except (Doubt, pl.exceptions.PolarsError, OSError):
                pass  # the careful reader finds what is wrong; what was yielded is not yielded again
        for sheet, plan, settled, first_row in reader.settled(source, objects):
            refused = rejected(settled, plan, sheet, first_row=first_row)
            if len(refused) and not reader.drop:
                raise rows_error(sheet, refused, len(settled.rows))
            if indices is None:
                yield build(settled.kept, plan, objects, ids)
        if indices is not None:
            raise FileError(
                f"{source.name}: changed while it was read; read it again",
            )
        free = ids.free


class _Reader:
    """Batches of settled rows, source by source, with one vocabulary for all."""

    def __init__(
        self, sources: list[Source], dialect: str | None, batch_rows: int, *, numbered: bool, drop: bool
    ) -> None:
        self.sources = sources
        self.numbered = numbered
        self.drop = drop
        self.dialect = dialect
        self.batch_rows = batch_rows
        self.objects, self.people = Vocabulary(), Vocabulary()

    def open(self, source: Source) -> tuple[Sheet, Plan]:
        """The sheet of a source and how to read it."""
        sheet = open_sheet(source)
        return sheet, choose(sheet, self.dialect)[1]

    def settled(
        self, source: Source, listed: tuple[str, ...] | None
    ) -> Iterator[tuple[Sheet, Plan, Settled, int]]:
        """(sheet, plan, rows, number of the first row) of every batch."""
        opened, plan = self.open(source)
        names: list[str] = []
        for sheet, frame, first_row in self._batches(opened, plan):
            if not names or len(self.objects) > len(names):  # else every name was met before
                names = self.objects.names()
                naming = name_objects(names, plan, sheet, listed)
            yield sheet, plan, settle(frame, plan, naming, names, source=sheet.name), first_row

    def indices(self, source: Source, n_objects: int) -> Iterator[list[NDArray[np.int32]]] | None:
        """(anchor, near, far) of every batch, where the source holds nothing but indices; else None."""
        if not self.numbered:
            return None
        sheet, plan = self.open(source)
        if not holds_indices(sheet, plan):
            return None
        return index_batches(sheet, plan, n_objects, self.batch_rows)

    def _batches(self, sheet: Sheet, plan: Plan) -> Iterator[tuple[Sheet, pl.DataFrame, int]]:
        first_row = done = 0  # of all rows, of those that are not blank
        try:
            query = take(sheet, plan, self.objects, self.people)
            for frame in collect_batches(query, self.batch_rows, expected=sheet.n_rows):
                if sheet.looks_ragged(frame, plan.has_header):
                    break
                yield sheet, frame, first_row
                first_row += len(frame)
                done += len(frame) - int(frame["blank"].sum())
            else:
                return
        except (Malformed, pl.exceptions.PolarsError, OSError):
            pass
        mended, faults = sheet.mend(plan.has_header)
        frame = collect(take(mended, plan, self.objects, self.people))
        if len(faults) and not self.drop:
            table = faults.select(pl.lit(sheet.name).alias("file"), pl.all())
            raise rows_error(mended, table, len(faults) + len(frame))
        for start in range(done, len(frame), self.batch_rows):
            yield mended, frame[start : start + self.batch_rows], start


class _Survey:
    """What must be known before the first batch: the objects, and whether ids are numbers.

    A source that cannot be read is passed over, so that whoever goes on after it has the objects of all others.
    """

    def __init__(self, reader: _Reader, listed: tuple[str, ...] | None) -> None:
        self.reader = reader
        self.spans: list[tuple[int, int]] = []  # lowest and highest statement id of every source
        self.lists: list[tuple[str, ...]] = []
        self.numeric_statements = self.numeric_people = True
        self.has_statements = False
        for source in track(reader.sources, "looking for names"):
            self.spans.append((0, -1))
            with suppress(NearfarError):
                self._visit(source, listed)

    @property
    def objects(self) -> tuple[str, ...]:
        """The list that all sources share, else all names in their natural order."""
        if len(set(self.lists)) == 1:
            return self.lists[0]
        return tuple(order_names([name for names in self.lists for name in names]))

    def _visit(self, source: Source, listed: tuple[str, ...] | None) -> None:
        sheet, plan = self.reader.open(source)
        self.has_statements |= "statement" in plan.columns or len(plan.triplets) > 1
        if listed is not None and plan.columns.keys().isdisjoint(("statement", "participant")):
            return
        by_use = sheet.objects is None and plan.first_index is None
        names: dict[str, None] = {}
        try:
            for _, _, settled, _ in self.reader.settled(source, listed):
                kept = settled.kept
                self._see_ids(kept, plan, typed=sheet.typed)
                if listed is None:
                    found = settled.naming.objects
                    if by_use:
                        indices = np.unique(np.concatenate([kept[role].to_numpy() for role in plan.objects]))
                        found = tuple(found[i] for i in indices.tolist())
                    names |= dict.fromkeys(found)
        finally:  # what was found before a damaged part is needed too
            self.lists.append(tuple(order_names(list(names)) if by_use else names))

    def _see_ids(self, rows: pl.DataFrame, plan: Plan, *, typed: bool) -> None:
        if "statement" in plan.columns:
            ids = rows["statement"] if typed else as_numbers(rows["statement"])
            if ids.dtype.is_integer():
                numbers = ids.drop_nulls().to_numpy()
                low, high = self.spans[-1]
                self.spans[-1] = (int(numbers.min(initial=low)), int(numbers.max(initial=high)))
            else:
                self.numeric_statements = False
        if "participant" in plan.columns:
            people = rows["participant"]
            if people.dtype != pl.Int64:
                listed = pl.Series(self.reader.people.names()[1:], dtype=pl.String)
                self.numeric_people &= not typed and as_numbers(listed).dtype == pl.Int64
            self.numeric_people &= not people.has_nulls()


class _BatchIds:
    """Ids of one source, batch after batch: numbers from ``free`` on, or text that begins with its number."""

    def __init__(self, survey: _Survey, number: int, free: int) -> None:
        low, high = survey.spans[number]
        self._survey = survey
        self._number = number
        self._shift = max(0, free - low) if number else 0
        self._fresh = high + 1
        self._rows = 0
        self.free = free

    def statements(self, rows: pl.DataFrame, plan: Plan) -> Labels | None:
        """The same id in another batch is the same statement."""
        survey = self._survey
        if not survey.has_statements:
            return None
        several = len(survey.reader.sources) > 1
        numbered = pl.int_range(self._rows, self._rows + len(rows), eager=True)
        self._rows += len(rows)
        cells = rows["statement"] if "statement" in plan.columns else numbered
        if survey.numeric_statements:
            ids = self._fill(as_numbers(cells)) + self._shift
            self.free = max(self.free, int(ids.to_numpy().max(initial=-1)) + 1)
        else:
            own = pl.coalesce(cells.cast(pl.String), pl.format("row {}", numbered + 1))
            ids = pl.select(pl.format(f"{self._number + 1}:{{}}", own) if several else own).to_series()
        return statement_labels(ids, typed=True)

    def _fill(self, ids: pl.Series) -> pl.Series:
        """A blank cell is a statement of its own, beyond the highest id of the source."""
        blank = ids.is_null().arg_true()
        if not len(blank):
            return ids
        self._fresh += len(blank)
        return ids.scatter(blank, pl.int_range(self._fresh - len(blank), self._fresh, eager=True))

    def people(self, rows: pl.DataFrame, plan: Plan) -> Labels | None:
        """Numbers only where all sources have numbers."""
        if "participant" not in plan.columns:
            return None
        return person_labels(
            rows["participant"], self._survey.reader.people, numbers=self._survey.numeric_people
        )
