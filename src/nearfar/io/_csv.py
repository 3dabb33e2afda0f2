"""Comma- or tab-separated text: read fast by polars, and line by line where something is wrong with it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import polars as pl

from nearfar.errors import FileError
from nearfar.io._header import Header
from nearfar.io._sheet import FAULTS, Fault, Malformed, MendedSheet, Sheet, cell_names, collect
from nearfar.io._source import Source, first_lines, text_lines

__all__ = ["CsvSheet"]

CHUNK = 50_000


class CsvSheet(Sheet):
    """A CSV or TSV file, plain or packed."""

    unit = "line"
    typed = False
    may_be_bare = True

    def __init__(self, source: Source) -> None:
        lines = first_lines(source)
        self._blank_lines, first = _first_line(source, lines)
        self.separator = _separator(source, first)
        reader = csv.reader(chain([first], lines), delimiter=self.separator)
        try:
            cells = next(reader)
        except csv.Error as error:
            where = f"{source.name}, line {self._blank_lines + 1}"
            raise FileError(
                f"{where}: the header cannot be read ({error})",
            ) from error
        self._header_lines = reader.line_num
        self._ragged: bool | None = None  # not looked at yet
        super().__init__(source, Header(source.name, cells))

    def scan(self, has_header: bool) -> pl.LazyFrame:
        """All cells as text."""
        try:
            return pl.scan_csv(
                self.source.data,
                separator=self.separator,
                has_header=has_header,
                skip_lines=self._blank_lines,
                infer_schema=False,
                null_values="",
                with_column_names=cell_names,
                raise_if_empty=False,
                glob=False,
            )
        except (pl.exceptions.PolarsError, OSError) as error:
            raise Malformed from error

    def fetch(self, rows: pl.Series, has_header: bool) -> pl.DataFrame:
        """A row's line: the rows before it, and the line breaks inside their cells."""
        breaks = pl.sum_horizontal(pl.all().str.count_matches("\n", literal=True).fill_null(0)).cast(pl.Int64)
        first = self._blank_lines + (self._header_lines if has_header else 0) + 1
        table = self.scan(has_header).with_columns(breaks=breaks.cum_sum() - breaks).with_row_index("row")
        table = table.with_columns(line=pl.col("row").cast(pl.Int64) + pl.col("breaks") + first).drop(
            "breaks"
        )
        return collect(table.filter(pl.col("row").is_in(rows.implode())))

    def looks_ragged(self, frame: pl.DataFrame, has_header: bool) -> bool:
        """Polars fills up short rows, and one that ends inside a quotation, with blanks: so where a row ends in a
        blank cell, marks are counted, once for the whole file.
        """
        if not frame["short"].any():
            return False
        if self._ragged is None:
            self._ragged = self._has_odd_marks(has_header)
        return self._ragged

    def _has_odd_marks(self, has_header: bool) -> bool:
        """Separators outside of cells must be as many as full rows have, and quotation marks come in pairs."""
        mark, line = self.separator, pl.col("line")
        inside = pl.sum_horizontal(pl.all().str.count_matches(mark, literal=True)).sum()
        rows = pl.any_horizontal(pl.all().is_not_null()).sum()
        in_cells, full = collect(self.scan(has_header).select(inside, rows.alias("rows"))).row(0)
        skip = self._blank_lines + (self._header_lines if has_header else 0)
        lines = pl.scan_lines(self.source.data, name="line", glob=False).slice(skip)
        lines = lines.filter(line.str.strip_chars(mark) != "").select(
            line.str.count_matches(mark, literal=True).sum().alias("marks"),
            line.str.count_matches('"', literal=True).sum().alias("quotes"),
        )
        marks, quotes = collect(lines).row(0)
        return bool(marks - in_cells != full * (len(self.header) - 1) or quotes % 2)

    def mend(self, has_header: bool) -> tuple[Sheet, pl.DataFrame]:
        """Cut the text into records; those that are ragged or not UTF-8 are faults."""
        cells, lines, faults = self._cut_plain_text(has_header) or self._cut_with_care(has_header)
        return MendedSheet(self, cells, lines), faults

    def _cut_plain_text(self, has_header: bool) -> tuple[pl.DataFrame, pl.Series, pl.DataFrame] | None:
        """(cells, their lines, faults) of text without any quotation mark, where a line is a record; else None."""
        skip = self._blank_lines + (self._header_lines if has_header else 0)
        text, width = pl.col("text"), len(self.header)
        try:
            table = pl.scan_lines(self.source.data, name="text", row_index_name="line", glob=False).slice(
                skip
            )
            start = pl.when(pl.col("line") == 0).then(text.str.strip_prefix("\ufeff")).otherwise(text)
            table = table.with_columns(start.alias("text"))
            table = table.with_columns(marks=text.str.count_matches(self.separator, literal=True))
            empty = (text.str.strip_chars() == "") | (text.str.strip_chars(self.separator) == "")
            lines = collect(table.filter(~empty))
        except (pl.exceptions.PolarsError, OSError):
            return None
        if lines["text"].str.contains('"', literal=True).any():
            return None
        lines = lines.with_columns(pl.col("line").cast(pl.Int64) + 1)
        full = pl.col("marks") == width - 1
        sound, ragged = lines.filter(full), lines.filter(~full)
        cut = sound.select(text.str.split_exact(self.separator, width - 1).alias("cut")).unnest("cut")
        cut.columns = cell_names(self.header.cells)
        faults = [
            (line, *self._ragged_fault(cells.split(self.separator)))
            for line, cells in ragged["line", "text"].rows()
        ]
        return (
            cut.with_columns(pl.when(pl.all() != "").then(pl.all())),
            sound["line"],
            pl.DataFrame(faults, schema=FAULTS, orient="row"),
        )

    def _cut_with_care(self, has_header: bool) -> tuple[pl.DataFrame, pl.Series, pl.DataFrame]:
        """The same for any text, record by record."""
        names = cell_names(self.header.cells)
        width = len(names)
        lines: list[int] = []
        faults: list[tuple[int, str, str, str]] = []
        chunks = [pl.DataFrame(schema=dict.fromkeys(names, pl.String))]
        records = self._records(has_header)
        while chunk := list(islice(records, CHUNK)):
            rows = []
            for line, cells in chunk:
                plainly_sound = len(cells) == width and all(map(str.isascii, cells))
                fault = None if plainly_sound else self._fault(cells)
                if fault is None:
                    rows.append(cells)
                    lines.append(line)
                else:
                    faults.append((line, *fault))
            columns = zip(*rows, strict=True) if rows else [()] * width
            text = {
                name: pl.Series(list(cells), dtype=pl.String)
                for name, cells in zip(names, columns, strict=True)
            }
            chunks.append(pl.DataFrame(text).with_columns(pl.when(pl.all() != "").then(pl.all())))
        return (
            pl.concat(chunks),
            pl.Series(lines, dtype=pl.Int64),
            pl.DataFrame(faults, schema=FAULTS, orient="row"),
        )

    def _ragged_fault(self, cells: list[str]) -> Fault:
        text = self.separator.join(cells)[:80]
        came = f"{len(cells)} {'cell' if len(cells) == 1 else 'cells'} ('{text}')"
        return Fault("ragged row", came, f"{len(self.header)} cells")

    def _fault(self, cells: list[str]) -> Fault | None:
        """What is wrong with a record, None where it is sound."""
        if not cells:
            return Fault("broken quotes", "text beside a quoted cell", "quotation marks around whole cells")
        text = self.separator.join(cells)
        if not _is_unicode(text, packed=self.source.packed):
            came = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            return Fault("undecodable bytes", f"'{came[:80]}'", "text in UTF-8")
        if len(cells) != len(self.header):
            return self._ragged_fault(cells)
        return None

    def _records(self, has_header: bool) -> Iterator[tuple[int, list[str]]]:
        """(line, cells) of every record that has anything in it; no cells where the quotes make no sense."""
        skip = self._blank_lines + (self._header_lines if has_header else 0)
        reader = csv.reader(
            islice(text_lines(self.source), skip, None), delimiter=self.separator, strict=True
        )
        while True:
            line = skip + reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if "end of data" in str(error) or "field limit" in str(error):
                    raise FileError(
                        f"{self.name}, line {line}: a quotation mark opens here and is never closed; "
                        'write a quotation mark inside a cell twice ("")',
                    ) from error
                yield line, []
                continue
            if any(cells) and (len(cells) > 1 or cells[0].strip()):
                yield line, cells


def _first_line(source: Source, lines: Iterable[str]) -> tuple[int, str]:
    """(how many blank lines come before it, the first line that is not blank)."""
    for number, line in enumerate(lines):
        if line.encode("utf-8", "surrogateescape")[:2] in (b"\xff\xfe", b"\xfe\xff") or "\0" in line:
            raise _no_text(source, number, "UTF-16 or binary data")
        if not _is_unicode(line, packed=source.packed):
            raise _no_text(source, number, "bytes that are not UTF-8")
        if "\r" in line.rstrip("\r\n"):
            raise FileError(
                f"{source.name}: lines end in a carriage return alone; save it with ordinary line ends",
            )
        if line.strip():
            return number, line
    raise FileError(
        f"{source.name}: holds only blank lines; expected answers",
    )


def _no_text(source: Source, number: int, came: str) -> FileError:
    where = f"{source.name}, line {number + 1}"
    return FileError(
        f"{where}: {came}; expected text in UTF-8, save it as such",
    )


def _separator(source: Source, first: str) -> str:
    """A tab in a TSV file; elsewhere whatever cuts the first line, commas before all others."""
    if source.format == "tsv":
        return "\t"
    marks = ",;\t " if source.format == "txt" else ",;\t"
    return next((mark for mark in marks if mark in first), ",")


def _is_unicode(text: str, *, packed: str | None) -> bool:
    if text.isascii():
        return True
    if packed == "zstd":
        return "\ufffd" not in text
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
