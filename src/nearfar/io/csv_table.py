"""Comma- or tab-separated text: parsed fast by polars, and record by record where a chunk is not plain.

The fast parser is used only on chunks whose quotation marks and line ends are where they belong, and its result must
have as many records and cells as are counted in the bytes. Everything else goes to Python's csv module, which finds
the line of what is wrong. Which of the two is used never changes what is read.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar._tools import threads
from nearfar.errors import FileError
from nearfar.io import sources
from nearfar.io.sources import UTF8, Source, Window, decode, escaped, open_window
from nearfar.io.table import Cells, Coded, Fault, Header, Table, check_width

CHUNK = 1 << 23  # bytes that are parsed at a time
SLOW = 1 << 16  # bytes that are read record by record before the fast parser is tried again
FIRST_BYTES = 1 << 20  # so that there is soon something to work on
CELL_BYTES = 1 << 24  # of one cell, at most
NEWLINE, RETURN, QUOTE = 10, 13, 34


class RecordCount(NamedTuple):
    """What bytes hold by counting: where the last whole record ends, records, and separators between cells."""

    end: int
    records: int
    separators: int
    quoted: bool


class CsvTable(Table):
    """A CSV or TSV file, plain or packed."""

    row_word = "line"
    typed = False
    may_be_bare = True
    guarded = True

    def __init__(self, source: Source, above: int = 0) -> None:
        with open_window(source) as window:
            self._mark_bytes = window.position
            self._before = _skip_blank_lines(window, above)
            size = window.line_end(0)
            line = window.peek(0, size)
            self.separator = _separator(source, line)
            self.decimal_comma = self.separator == ";"
            check_width(source.name, line.count(self.separator.encode()) + 1)
            record = _read_record(window, 0, self.separator)
            if record.wrong:
                where = f"{source.name}, line {window.line}"
                raise FileError(f"{where}: the header cannot be read, {record.wrong}")
            row = _read_record(window, record.size, self.separator).cells
        self._header, self.header_row = record, self._before[1] + 1
        # the rows of R's write.table are numbered, in a column that the header leaves out
        is_numbered = len(row) == len(record.cells) + 1 and row[0].isdigit() and row[-1] != ""
        super().__init__(source, Header(source.name, [*[""] * is_numbered, *record.cells]))

    def below(self) -> CsvTable:
        """The same with the header in the next line that is not blank."""
        return CsvTable(self.source, self._before[1] + self._header.lines)

    @property
    def body_start(self) -> int:
        """The position after the header, where there is one."""
        return self._mark_bytes + self._before[0] + self._header.size

    def cells(self, has_header: bool, rows: int, coded: Coded | None = None) -> Iterator[Cells]:
        """All cells as text, chunk by chunk; while one is worked on, the next are read."""
        yield from threads.ahead(self._chunks(has_header, self.schema | dict(coded or {})), 2)

    def _chunks(self, has_header: bool, types: dict[str, Any]) -> Iterator[Cells]:
        with open_window(self.source) as window:
            window.advance(*self._before)
            if has_header:
                window.advance(self._header.size, self._header.lines)
            size = min(FIRST_BYTES, CHUNK)
            while window.fill(size):
                cells = self._parse_fast(window, size, types)
                size = min(CHUNK, 2 * size)
                if cells is None:
                    cells, size = self._parse_slowly(window), SLOW
                yield cells

    def _parse_fast(self, window: Window, size: int, types: dict[str, Any]) -> Cells | None:
        """The whole records of the next bytes; None where the slow parser must look at them.

        ``types`` has the types of cells where none is quoted.
        """
        data = window.chunk(size)
        ended = b'"' in data and window.reaches_end(len(data))
        shape = plain_shape(data, self.separator, ended=ended)
        if shape is None or shape.separators != shape.records * (len(self.header) - 1):
            return None
        data = data[: shape.end]
        try:
            marks: Any = {"quote_char": '"', "null_values": ""} if shape.quoted else {"quote_char": None}
            schema = self.schema if shape.quoted else types
            frame = pl.read_csv(data, has_header=False, schema=schema, separator=self.separator, **marks)
        except pl.exceptions.PolarsError:  # more cells than columns, or bytes that are not UTF-8
            return None
        if len(frame) != shape.records:
            return None
        lines = _count_lines(data) if shape.quoted else shape.records
        cells = Cells(frame, shape.records, window.line, _lines(frame, window.line) if shape.quoted else None)
        window.advance(shape.end, lines)
        return cells

    def _parse_slowly(self, window: Window) -> Cells:
        """At least ``SLOW`` bytes of records, one by one; those that are ragged or not UTF-8 are faults."""
        rows: list[list[str | None]] = []
        lines: list[int] = []
        faults: list[Fault] = []
        at, line = 0, window.line
        while at < SLOW and not window.reaches_end(at):
            record = _read_record(window, at, self.separator)
            fault = self._fault(window, at, line, record)
            if fault is not None:
                faults.append(fault)
            elif not _is_blank(record.cells):
                rows.append([cell or None for cell in record.cells])
                lines.append(line)
            at, line = at + record.size, line + record.lines
        counted = _count_lines(window.peek(0, at))  # which records cannot have gone over
        records = len(rows) + len(faults) + counted - (line - window.line)
        frame = pl.DataFrame(rows, schema=self.schema, orient="row")
        numbers = pl.Series(lines, dtype=pl.Int64)
        cells = Cells(frame, records, window.line, numbers, tuple(faults))
        window.advance(at, counted)
        return cells

    def _fault(self, window: Window, at: int, line: int, record: _Record) -> Fault | None:
        """What is wrong with a record, None where it is sound or blank."""
        if record.wrong:
            content = escaped(window.peek(at, at + record.size))
            reason = "carriage return" if record.wrong == _RETURN else "broken quotes"
            return Fault(line, reason, f"{record.wrong} ({content})", _PLAIN_CELLS)
        if not record.is_text:
            return Fault(line, sources.UNDECODABLE, escaped(window.peek(at, at + record.size)), UTF8)
        if len(record.cells) == len(self.header) or _is_blank(record.cells):
            return None
        shown = self.separator.join(record.cells)[:80]
        cells = f"{len(record.cells)} {'cell' if len(record.cells) == 1 else 'cells'} ('{shown}')"
        return Fault(line, "wrong number of cells", cells, f"{len(self.header)} cells")


# -------------------------------------------------------------------- counting in bytes


def _lines(frame: pl.DataFrame, first: int) -> pl.Series:
    """The line of every record, where cells may hold line ends."""
    breaks = frame.select(pl.sum_horizontal(pl.all().str.count_matches("\n", literal=True)))
    within = breaks.to_series().fill_null(0).cast(pl.Int64)
    return pl.int_range(len(frame), eager=True) + within.cum_sum() - within + first


def plain_shape(data: bytes, mark: str, *, ended: bool) -> RecordCount | None:
    """Count records in bytes; None where quotation marks or carriage returns are not where they belong.

    ``ended`` says whether the text ends with these bytes, or else that they are whole lines of it.

    >>> plain_shape(b'a,"b,\\nb"\\nc,d\\ne,"f\\n', ",", ended=False)
    RecordCount(end=13, records=2, separators=2, quoted=True)
    >>> plain_shape(b'a,5" disc\\n', ",", ended=True)
    """
    if data.startswith(sources.BYTE_ORDER_MARK):  # which polars takes away
        return None
    array = np.frombuffer(data, np.uint8)
    if QUOTE not in data:
        if RETURN in data and data.count(b"\r") != data.count(b"\r\n"):
            return None
        separators = int(np.count_nonzero(array == ord(mark)))
        return RecordCount(len(data), _count_lines(data), separators, False)
    outside = ~np.bitwise_xor.accumulate(array == QUOTE)
    breaks = (array == NEWLINE) & outside
    alone = (array[:-1] == RETURN) & (array[1:] != NEWLINE) & outside[:-1]
    end = len(data)
    if not outside[-1]:  # a cell that goes on after these bytes
        end -= int(np.argmax(breaks[::-1])) if breaks.any() else end
    if end == 0 or alone[:end].any() or (ended and end < len(data)):
        return None
    if not _quotes_belong(array[:end], outside[:end], ord(mark)):
        return None
    records = int(np.count_nonzero(breaks[:end])) + int(not breaks[end - 1])
    separators = int(np.count_nonzero((array[:end] == ord(mark)) & outside[:end]))
    return RecordCount(end, records, separators, True)


def _count_lines(data: bytes) -> int:
    """The lines of some bytes, of which the last may have no end; numpy counts faster than ``data.count``."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == NEWLINE)) + (not data.endswith(b"\n"))


def _quotes_belong(array: NDArray[np.uint8], outside: NDArray[np.bool_], mark: int) -> bool:
    """Whether quotation marks open at the start of a cell, close at its end, and are doubled inside."""
    at = np.flatnonzero(array == QUOTE)
    opens, closes = at[~outside[at]], at[outside[at]]
    before = array[opens - 1]
    starts = (before == mark) | (before == NEWLINE) | (before == QUOTE) | (opens == 0)
    after = array[np.minimum(closes + 1, len(array) - 1)]
    ends = (after == mark) | (after == NEWLINE) | (after == QUOTE) | (after == RETURN)
    return bool(starts.all() and (ends | (closes == len(array) - 1)).all())


# -------------------------------------------------------------------- one record


class _Record(NamedTuple):
    """One record, the bytes and lines that it takes, and whether it is UTF-8; or what is ``wrong`` with a line."""

    cells: list[str]
    size: int
    lines: int
    is_text: bool = True
    wrong: str = ""


_PLAIN_CELLS = "quotation marks around whole cells, and doubled inside them"
_RETURN = "a carriage return inside a line"
_OPEN = "a quotation mark opens here and is never closed"
_BESIDE = "text beside a quoted cell"


def _read_record(window: Window, at: int, mark: str) -> _Record:
    """The record that begins at a position, or what is wrong with the line there."""
    ends = [at]

    def lines() -> Iterator[str]:
        while not window.reaches_end(ends[-1]):
            ends.append(window.line_end(ends[-1]))
            yield window.peek(ends[-2], ends[-1]).decode("utf-8", "surrogateescape")

    before = csv.field_size_limit(CELL_BYTES)  # cells as long as the fast parser takes
    try:
        cells = next(csv.reader(lines(), delimiter=mark, strict=True), [])
    except csv.Error as error:
        causes = (("new-line", _RETURN), ("end of data", _OPEN), ("field limit", _OPEN), ("", _BESIDE))
        wrong = next(cause for words, cause in causes if words in str(error))
        return _Record([], window.line_end(at) - at, 1, wrong=wrong)
    finally:
        csv.field_size_limit(before)
    data = window.peek(at, ends[-1])
    return _Record(cells, ends[-1] - at, len(ends) - 1, decode(data) is not None)


def _is_blank(cells: list[str]) -> bool:
    """Whether a record holds nothing: it is blank, or what Gorilla writes below its last row."""
    return not any(cells) or (len(cells) == 1 and cells[0].strip() in ("", "END OF FILE"))


# -------------------------------------------------------------------- the beginning


def _skip_blank_lines(window: Window, above: int) -> tuple[int, int]:
    """(bytes, lines) before the first line that is not blank, from line ``above`` on, counted from 0."""
    start, number, at = window.peek(0, 2), 0, 0
    while window.fill(at + 1) and not window.reaches_end(at):
        end = window.line_end(at)
        line = window.peek(at, end)
        where = f"{window.name}, line {number + 1}"
        if start in sources.UTF16 or 0 in line:
            raise FileError(f"{where}: UTF-16 or binary data; save it as UTF-8 (in Excel 'CSV UTF-8')")
        if decode(line) is None:
            raise FileError(f"{where}: bytes that are not UTF-8; expected {UTF8}")
        if RETURN in line.rstrip(b"\r\n"):
            raise FileError(f"{where}: a carriage return inside a line; save it with ordinary line ends")
        if line.strip() and number >= above:
            window.advance(at, number)
            return at, number
        at, number = end, number + 1
    raise FileError(f"{window.name}: holds only blank lines; expected answers")


def _separator(source: Source, line: bytes) -> str:
    """A tab in a TSV file; elsewhere what cuts the first line most often, or blanks in a text file without any of these."""
    if source.format == "tsv":
        return "\t"
    unquoted = b"".join(line.split(b'"')[::2])
    if b";" in unquoted:  # between whose cells 1,5 is a number
        unquoted = re.sub(rb"(?<=\d),(?=\d)", b"", unquoted)
    mark = max(",;\t", key=lambda mark: unquoted.count(mark.encode()))
    has_none = mark.encode() not in unquoted
    return " " if has_none and source.format == "txt" and b" " in unquoted else mark
