"""A sheet: a source seen as rows of cells, whatever its format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple

import polars as pl

from nearfar.errors import FileError
from nearfar.io._header import Header
from nearfar.io._source import Source

__all__ = [
    "FAULTS",
    "Fault",
    "Malformed",
    "MendedSheet",
    "Sheet",
    "cell_names",
    "collect",
    "collect_batches",
    "mark_blanks",
    "read_with_care",
]

FAULTS: dict[str, type[pl.DataType]] = {
    "line": pl.Int64,
    "reason": pl.String,
    "came": pl.String,
    "expected": pl.String,
}


class Fault(NamedTuple):
    """What is wrong with a row as a row, before a dialect looks at it."""

    reason: str
    came: str
    expected: str


class Malformed(Exception):
    """The fast reader cannot make rows of this file: it must be read with care, line by line."""


class Sheet(ABC):
    """Rows of cells.

    Attributes
    ----------
    header : the names of the columns, or the first row where there is no header; only a dialect can tell.
    unit : what a row is called in messages.
    typed : whether cells have types of their own; if not, a column of whole numbers is taken as numbers.
    may_be_bare : whether the format allows a file without a header.
    dialect : the dialect that the source itself names, if any.
    objects : the object list that the source itself holds, if any.
    first_index : the number of the first object where cells are indices, None where they are names.
    n_rows : how many rows the source says it has, None where it does not say.
    """

    unit: ClassVar[str] = "row"
    typed: ClassVar[bool] = True
    may_be_bare: ClassVar[bool] = False

    def __init__(self, source: Source, header: Header) -> None:
        self.source = source
        self.header = header
        self.dialect: str | None = None
        self.objects: tuple[str, ...] | None = None
        self.first_index: int | None = None
        self.n_rows: int | None = None

    @property
    def name(self) -> str:
        """How messages call the source."""
        return self.source.name

    @abstractmethod
    def scan(self, has_header: bool) -> pl.LazyFrame:
        """Columns ``c0, c1, ...``, null where a cell is blank."""

    def fetch(self, rows: pl.Series, has_header: bool) -> pl.DataFrame:
        """Chosen rows in full, with their ``row`` and the ``line`` a person finds them at."""
        table = self.scan(has_header).with_row_index("row").with_columns(line=pl.col("row").cast(pl.Int64))
        return collect(table.filter(pl.col("row").is_in(rows.implode())))

    def looks_ragged(self, frame: pl.DataFrame, has_header: bool) -> bool:
        """Whether a row may have had too few cells; ``frame`` marks the rows that end in a blank cell."""
        return False

    def mend(self, has_header: bool) -> tuple[Sheet, pl.DataFrame]:
        """The rows that can be read, and the ``FAULTS`` of those that cannot; called where reading failed."""
        raise FileError(
            f"{self.name}: cannot be read to its end, it is damaged; fetch or write it again",
        )


class MendedSheet(Sheet):
    """The readable rows of a malformed text file, with their lines."""

    unit = "line"
    typed = False

    def __init__(self, sheet: Sheet, cells: pl.DataFrame, lines: pl.Series) -> None:
        super().__init__(sheet.source, sheet.header)
        self._cells = cells
        self._lines = lines

    def scan(self, has_header: bool) -> pl.LazyFrame:
        """The rows found."""
        return self._cells.lazy()

    def fetch(self, rows: pl.Series, has_header: bool) -> pl.DataFrame:
        """Chosen rows, with the lines at which they were found."""
        return self._cells[rows].with_columns(row=rows, line=self._lines[rows])


def cell_names(names: list[str] | tuple[str, ...]) -> list[str]:
    """Columns are known by position, so that two may carry the same name."""
    return [f"c{position}" for position in range(len(names))]


def read_with_care(
    sheet: Sheet, has_header: bool, query: Callable[[Sheet], pl.LazyFrame]
) -> tuple[Sheet, pl.DataFrame, pl.DataFrame | None]:
    """(sheet, its rows, faults): the fast way, and the careful one only where something is wrong."""
    try:
        frame = collect(query(sheet))
        if not sheet.looks_ragged(frame, has_header):
            return sheet, frame, None
    except (Malformed, pl.exceptions.PolarsError, OSError):
        pass
    mended, faults = sheet.mend(has_header)
    return mended, collect(query(mended)), faults


def mark_blanks(width: int) -> dict[str, pl.Expr]:
    """Columns ``blank`` (no cell has anything in it) and ``short`` (the last cell has not)."""
    return {"blank": pl.all_horizontal(pl.all().is_null()), "short": pl.col(f"c{width - 1}").is_null()}


def collect(table: pl.LazyFrame) -> pl.DataFrame:
    """Run a query batch by batch, every cell of every row looked at (else extra cells would go unseen)."""
    try:
        return table.collect(engine="streaming", optimizations=pl.QueryOptFlags(projection_pushdown=False))
    except pl.exceptions.PanicException as error:  # what polars does on data it cannot decode
        raise pl.exceptions.ComputeError(str(error)) from error


def collect_batches(table: pl.LazyFrame, rows: int, *, expected: int | None) -> Iterator[pl.DataFrame]:
    """As ``collect``, at most ``rows`` rows at a time; an error where fewer come than were ``expected``.

    Polars ends a stream of batches at data it cannot decode as if that were the end.
    """
    whole = pl.QueryOptFlags(projection_pushdown=False)
    found = 0
    try:
        for frame in table.collect_batches(chunk_size=rows, optimizations=whole):
            found += len(frame)
            yield frame
    except pl.exceptions.PanicException as error:
        raise pl.exceptions.ComputeError(str(error)) from error
    if expected is not None and found < expected:
        raise pl.exceptions.ComputeError(f"{found} of {expected} rows can be read")
