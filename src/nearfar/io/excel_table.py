"""Excel workbooks: the first sheet, every cell as text."""

from __future__ import annotations

import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import polars as pl

from nearfar.errors import FileError, MissingExtra
from nearfar.io.sources import Source
from nearfar.io.typed_tables import READABLE, TypedTable, check_unpacked, first_line

__all__ = ["excel_table"]

SHEET = re.compile(r"xl/worksheets/[^/]*\.xml")
PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]*)([0-9]*)["']""")  # of a cell (XFD7) or of a row (7)
CELL_BYTES = 32  # what the reader takes for every cell of the rectangle that holds all cells
ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
CHUNK, OVERLAP = 1 << 20, 64


class _ExcelTable(TypedTable):
    typed = False
    guarded = True
    first_row = 2  # as the spreadsheet counts them, below its header


def excel_table(source: Source) -> TypedTable:
    """The first sheet of an Excel workbook; its first row holds the names of the columns."""
    try:
        import fastexcel
    except ImportError as error:
        raise MissingExtra("fastexcel", "excel") from error
    data = source.data if isinstance(source.data, bytes) else str(source.data)
    try:
        _check_rectangle(source)
        sheet = fastexcel.read_excel(data).load_sheet(0, dtypes="string")
        table: Any = pl.DataFrame(sheet)
    except (fastexcel.FastExcelError, *ZIP_FAULTS, *READABLE) as error:
        raise FileError(f"{source.name}: is not a readable Excel workbook ({first_line(error)})") from error
    return _ExcelTable(source, table.lazy(), len(table))


def _check_rectangle(source: Source) -> None:
    """Refuse a workbook that would take far more memory than its file.

    The reader makes room for all cells from the first to the last row and column: one cell in the last corner would
    end the process. All parts are unpacked here, which fails where one is longer than the archive says.
    """
    file = io.BytesIO(source.data) if isinstance(source.data, bytes) else source.data
    size = len(source.data) if isinstance(source.data, bytes) else os.path.getsize(source.data)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        check_unpacked(source, size, sum(member.file_size for member in members))
        for member in members:
            rows = columns = 0
            with archive.open(member) as stream:
                for text in _chunks(stream):
                    if SHEET.fullmatch(member.filename):
                        for letters, digits in PLACE.findall(text):
                            rows, columns = (
                                max(rows, int(digits[:9] or 0)),
                                max(columns, _number(letters[:6])),
                            )
            check_unpacked(source, size, CELL_BYTES * rows * columns)


def _chunks(stream: Any) -> Iterator[bytes]:
    """The contents in pieces that overlap, so that no place is cut in two."""
    before = b""
    while found := stream.read(CHUNK):
        yield before + found
        before = found[-OVERLAP:]


def _number(letters: bytes) -> int:
    """The number of a column, from 1: A, B, ..., Z, AA."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
