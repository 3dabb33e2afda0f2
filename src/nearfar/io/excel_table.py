"""Excel workbooks: the first sheet, every cell as text."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import polars as pl

from nearfar.errors import FileError, MissingExtra, NearfarWarning
from nearfar.io.sources import Source
from nearfar.io.table import Header
from nearfar.io.typed_tables import READABLE, TypedTable, check_unpacked, first_line

__all__ = ["excel_table"]

SHEET = re.compile(r"xl/worksheets/[^/]*\.xml")
PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]*)([0-9]*)["']""")  # of a cell (XFD7) or of a row (7)
ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class _ExcelTable(TypedTable):
    """The rows below row ``at`` of a sheet, which holds the names of the columns; rows count as the spreadsheet does."""

    typed = False
    guarded = True

    def __init__(self, source: Source, cells: pl.DataFrame, at: int) -> None:
        super().__init__(source, cells[at + 1 :].lazy(), len(cells) - at - 1)
        self.header = Header(source.name, [cell or "" for cell in cells.row(at)])
        self.first_row = at + 2


def excel_table(source: Source) -> TypedTable:
    """The first sheet of an Excel workbook; its first row that is not blank holds the names of the columns."""
    try:
        import fastexcel
    except ImportError as error:
        raise MissingExtra("fastexcel", "excel") from error
    data = source.data if isinstance(source.data, bytes) else str(source.data)
    try:
        _check_rectangle(source)
        book = fastexcel.read_excel(data)
        cells = pl.DataFrame(book.load_sheet(0, header_row=None, skip_rows=0, dtypes="string"))
    except (fastexcel.FastExcelError, *ZIP_FAULTS, *READABLE) as error:
        raise FileError(f"{source.name}: is not a readable Excel workbook ({first_line(error)})") from error
    if len(book.sheet_names) > 1:
        warnings.warn(
            f"{source.name}: only the first sheet is read, {book.sheet_names[0]!r}; to read another ("
            f"{', '.join(map(repr, book.sheet_names[1:]))}), put it first or save it as a file of its own",
            NearfarWarning,
            stacklevel=2,
        )
    at = next((row for row, found in enumerate(cells.iter_rows()) if any(found)), None)
    if at is None:
        raise FileError(f"{source.name}: the first sheet is empty; expected answers")
    return _ExcelTable(source, cells, at)


def _check_rectangle(source: Source) -> None:
    """Refuse a workbook that would take far more memory than its file.

    The reader makes room for all cells from the first to the last row and column: one cell in the last corner would
    end the process. All parts are unpacked here, which fails where one is longer than the archive says.
    """
    with source.open() as file, zipfile.ZipFile(file) as archive:
        size = file.seek(0, io.SEEK_END)
        check_unpacked(source, size, sum(member.file_size for member in archive.infolist()))
        for member in archive.infolist():
            rows = columns = 0
            with archive.open(member) as stream:
                for text in _chunks(stream):
                    for letters, digits in PLACE.findall(text) if SHEET.fullmatch(member.filename) else ():
                        rows, columns = max(rows, int(digits[:9] or 0)), max(columns, _number(letters[:6]))
            check_unpacked(source, size, 32 * rows * columns)  # bytes that the reader takes for every cell


def _chunks(stream: Any, size: int = 1 << 20, overlap: int = 64) -> Iterator[bytes]:
    """The contents in pieces that overlap, so that no place is cut in two."""
    before = b""
    while found := stream.read(size):
        yield before + found
        before = found[-overlap:]


def _number(letters: bytes) -> int:
    """The number of a column, from 1: A, B, ..., Z, AA."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
