"""A table: a source seen as named columns and rows of cells, whatever its format, in batches."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import polars as pl

from nearfar._tools.limits import LIMITS
from nearfar.errors import FileError, NearfarWarning
from nearfar.io.sources import Source

PEOPLE = "participant subject participant_id session_id puid worker_id sub_id subject_id pid"
COLUMN_NAMES: dict[str, tuple[str, ...]] = {
    "statement": ("statement",),
    "participant": tuple(PEOPLE.split()),
    "seconds": ("seconds", "response_time"),
    "near_side": ("near_side",),
    "answered_at": ("answered_at",),
    "rule": ("sampler", "Alg.Label", "sampleAlg", "AlgSample", "rule"),
}
FAULTS: dict[str, Any] = {"line": pl.Int64, "reason": pl.String, "content": pl.String, "expected": pl.String}
NOTHING = ("", "na", "nan", "none", "null")  # in the place of any value, in lower case
Coded = Mapping[str, pl.Categorical]


def as_text(cell: pl.Expr, dtype: Any) -> pl.Expr:
    """As text; 3.0, which a missing value elsewhere makes of 3, is '3'."""
    if dtype == pl.String:
        return cell
    if dtype.is_float():
        whole = cell.cast(pl.Int64, strict=False).cast(pl.String)
        return pl.coalesce(pl.when(cell == cell.round(0)).then(whole), cell.cast(pl.String))
    return cell.cast(pl.String)


def is_nothing(cell: pl.Expr) -> pl.Expr:
    """Whether a text stands for no value, or is not there."""
    return cell.str.strip_chars().str.to_lowercase().is_in(NOTHING).fill_null(True)


def split_list(cell: pl.Expr, marks: Sequence[str] = ("[;|]", ",")) -> pl.Expr:
    """The texts in a cell such as ``fig; plum`` or ``["fig", "plum"]``: cut at the first of the marks that is there."""
    bare = cell.str.strip_chars("[]").str.replace_all('"', "", literal=True)
    cell = pl.when(cell.str.starts_with("[")).then(bare).otherwise(cell).str.strip_chars()
    cuts = [
        pl.when(cell.str.contains(mark)).then(cell.str.replace_all(rf"\s*{mark}\s*", "\x1f"))
        for mark in marks
    ]
    return pl.coalesce(*cuts, cell).str.split("\x1f")


def with_point(cell: pl.Expr) -> pl.Expr:
    """The text of a number such as 1,5 as 1.5."""
    return cell.str.strip_chars().str.replace(r"^(-?\d*),(\d+)$", "$1.$2")


def plain(name: str) -> str:
    """A column's name as it is compared.

    >>> plain("Response.Time..s."), plain("session_ID")
    ('responsetimes', 'sessionid')
    """
    return re.sub(r"[\W_]+", "", name).lower()


class Header:
    """The columns of one source; ``also`` has other names of theirs, which callers may use.

    >>> header = Header("answers.csv", ["Anchor", "near", "far", "worker_id"])
    >>> header.find("anchor"), header.find("odd"), header.optional()
    (0, None, {'participant': 3})
    """

    def __init__(self, source: str, cells: Sequence[str], also: Mapping[str, int] | None = None) -> None:
        self.source, self.cells, self.also = source, tuple(cells), also or {}
        self._at: dict[str, list[int]] = {}
        for position, cell in enumerate(cells):
            self._at.setdefault(plain(cell), []).append(position)

    def __len__(self) -> int:
        return len(self.cells)

    def find(self, *names: str) -> int | None:
        """The position of the first of ``names`` that is there."""
        for name in names:
            at = self._at.get(plain(name), [])
            if len(at) > 1:
                twice = f"{len(at)} columns are called {self.cells[at[0]]!r}"
                raise FileError(f"{self.source}: {twice}; rename all but one, or give columns by number")
            if at:
                return at[0]
        return None

    def find_all(self, **names: Sequence[str]) -> dict[str, int] | None:
        """role -> position, or None where a role is missing."""
        positions = self._those_of(names)
        return positions if len(positions) == len(names) else None

    def optional(self, **names: Sequence[str]) -> dict[str, int]:
        """role -> position of the optional columns that are there; ``names`` adds to or replaces ``COLUMN_NAMES``."""
        return self._those_of(COLUMN_NAMES | names)

    def _those_of(self, names: Mapping[str, Sequence[str]]) -> dict[str, int]:
        return {role: at for role, aliases in names.items() if (at := self.find(*aliases)) is not None}

    def describe(self, position: int) -> str:
        """How a message calls a column."""
        name = self.cells[position] if position < len(self.cells) else ""
        return name or f"column {position + 1}"


class Fault(NamedTuple):
    """A row that cannot be cut into cells: where it is, what is wrong, what it holds, what was expected."""

    line: int
    reason: str
    content: str
    expected: str


@dataclass(frozen=True)
class Cells:
    """Consecutive rows of a table.

    Attributes
    ----------
    frame : columns ``c0, c1, ...``; null where a cell is blank. Text may be coded, see ``Table.cells``.
    records : how many rows there are, counted in the source itself and not by the parser that made ``frame``.
    first : line (or number) of the first row; ``lines`` has one for every row where they do not follow each other.
    faults : the rows that could not be cut into cells, in order.
    """

    frame: pl.DataFrame
    records: int
    first: int
    lines: pl.Series | None = None
    faults: tuple[Fault, ...] = ()

    def lines_of(self, rows: pl.Series) -> pl.Series:
        """The lines (or numbers) of some rows."""
        return (rows.cast(pl.Int64) + self.first) if self.lines is None else self.lines.gather(rows)

    def cut(self, rows: int) -> Iterator[Cells]:
        """The same in parts of at most ``rows`` rows of ``frame`` each; faults go with the row before which they are."""
        if len(self.frame) <= rows:
            yield self
            return
        lines = self.lines_of(pl.int_range(len(self.frame), eager=True))
        for start in range(0, len(lines), rows):
            low, end = start and lines[start], (*lines[start + rows :][:1], inf)[0]
            own = tuple(fault for fault in self.faults if low <= fault.line < end)
            frame = self.frame[start : start + rows]
            yield Cells(frame, len(frame) + len(own), self.first + start, lines[start : start + rows], own)


class Table(ABC):
    """Rows of cells.

    Attributes
    ----------
    header : the names of the columns, or the first row where there is no header; only a dialect can tell.
    schema : the types of the columns ``c0, c1, ...``.
    row_word : what a row is called in messages.
    typed : whether cells have types of their own; if not, a column of whole numbers is taken as numbers.
    may_be_bare : whether the format allows a file without a header.
    decimal_comma : whether 1,5 is a number, as where a semicolon stands between cells.
    guarded : whether text that looks like a formula is written with an apostrophe, because a spreadsheet may open it.
    dialect : the dialect that the source itself names, if any.
    objects : the object list that the source itself holds, if any.
    first_index : the number of the first object where cells are indices, None where they are names.
    header_row : the line or row of the header, where there may be others above it.
    """

    row_word: str = "row"
    typed: bool = True
    may_be_bare: bool = False
    decimal_comma: bool = False
    guarded: bool = False
    header_row: int = 1

    def __init__(self, source: Source, header: Header) -> None:
        self.source, self.name, self.header = source, source.name, header
        self.schema: dict[str, Any] = dict.fromkeys(cell_names(len(header)), pl.String)
        self.dialect: str | None = None
        self.objects: tuple[str, ...] | None = None
        self.first_index: int | None = None

    def holds_values(self, position: int) -> bool:
        """Whether each cell of a column holds one value, not several or a thing of Python."""
        dtype = self.schema[f"c{position}"]
        return not (dtype.is_nested() or dtype == pl.Object or isinstance(dtype, pl.BaseExtension))

    def need_values(self, position: int) -> None:
        """Raise an error where each cell of a column holds several values, or a thing of Python."""
        if not self.holds_values(position):
            column, dtype = self.header.describe(position), self.schema[f"c{position}"]
            raise FileError(f"{self.name}: {column} holds {dtype}; expected numbers or text")

    def first_texts(self, rows: int, *, has_header: bool = True) -> pl.DataFrame:
        """The first rows as text without blanks around it; null where a cell holds several values."""
        part = next(self.cells(has_header, rows), None)
        frame = (pl.DataFrame(schema=self.schema) if part is None else part.frame)[:rows]
        texts = {
            name: as_text(pl.col(name), dtype).str.strip_chars() if self.holds_values(at) else None
            for at, (name, dtype) in enumerate(frame.schema.items())
        }
        return frame.with_columns(**texts).cast(pl.String)

    def below(self) -> Table | None:
        """The same with the header in the next row; None where the format says which row it is."""
        return None

    @abstractmethod
    def cells(self, has_header: bool, rows: int, coded: Coded | None = None) -> Iterator[Cells]:
        """All rows in their order; batches of about ``rows`` rows where that is for the reader to choose.

        Text in the columns of ``coded`` may come with their types instead of ``pl.String``: a parser that numbers the
        texts as it meets them need not make them first.
        """


def lower_headers(table: Table) -> Iterator[Table]:
    """The same table with the header in each of the next 20 rows, as where a title stands above it."""
    with suppress(FileError):  # the end
        for _ in range(20):
            if (lower := table.below()) is None:
                return
            yield (table := lower)


def check_width(name: str, columns: int) -> None:
    """Refuse a table of more columns than ``LIMITS`` allow."""
    if columns > LIMITS.columns:
        most = f"more than {LIMITS.columns:,} columns"
        raise FileError(f"{name}: has {most}; if that is meant, raise NEARFAR_MAX_COLUMNS")


def warn(message: str) -> None:
    """Tell the user what looks wrong with their file."""
    warnings.warn(message, NearfarWarning, stacklevel=5)


def cell_names(width: int) -> list[str]:
    """Columns are known by position, so that two may carry the same name."""
    return [f"c{position}" for position in range(width)]
