"""Excel workbooks: one sheet, every cell as text, read in a child process that may die of a hostile file."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import subprocess
import sys
import zipfile
from xml.sax.saxutils import escape

import polars as pl

from nearfar.errors import FileError, MissingExtra
from nearfar.io.sources import ZIP_FAULTS, Source, check_unpacked, most_unpacked
from nearfar.io.table import Header, warn
from nearfar.io.typed_tables import TypedTable

# The reader makes room for all cells from the first to the last row and column, or aborts: so it works under a limit
CHILD = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)
except (ImportError, ValueError, OSError):
    pass
import fastexcel, polars
book = fastexcel.read_excel(sys.stdin.buffer.read())
sys.stdout.buffer.write("\\0".join(book.sheet_names).encode() + b"\\n")
sheet = sys.argv[2] or book.sheet_names[0]
if sheet not in book.sheet_names:
    sys.exit()
cells = polars.DataFrame(book.load_sheet(sheet, header_row=None, skip_rows=0, dtypes="string"))
head = next((number for number, row in enumerate(cells.iter_rows()) if any(row)), 0) + 1
# as text numbers are rounded, so those of the columns that hold nothing else are taken as they are
if head < len(cells):
    exact = polars.DataFrame(book.load_sheet(sheet, header_row=None, skip_rows=head, schema_sample_rows=None))
    numbers = {name: polars.lit(exact[name]) for name, kind in exact.schema.items() if kind.is_float()}
    parts = {name: polars.when(n % 1 != 0).then(n.cast(polars.String)) for name, n in numbers.items()}
    body = cells[head:].with_columns(part.otherwise(polars.col(name)).alias(name) for name, part in parts.items())
    cells = polars.concat([cells[:head], body])
cells.write_ipc(sys.stdout.buffer)
"""


def excel_table(source: Source) -> TypedTable:
    """One sheet of an Excel workbook; its first row that is not blank holds the names of the columns."""
    if importlib.util.find_spec("fastexcel") is None:
        raise MissingExtra("fastexcel", "excel")
    return SheetTable(source, _load(source), 0)


class SheetTable(TypedTable):
    """The cells of a sheet below those of row ``start``, counted from 0."""

    typed = False
    guarded = True

    def __init__(self, source: Source, cells: pl.DataFrame, start: int) -> None:
        rows = enumerate(cells[start:].iter_rows(), start)
        at = next((number for number, row in rows if any(row)), None)
        if at is None:
            which = f"the {'first ' * (source.sheet is None)}sheet"
            raise FileError(f"{source.name}: {which} is empty; expected answers")
        super().__init__(source, cells[at + 1 :].lazy(), len(cells) - at - 1)
        self.header = Header(source.name, [cell or "" for cell in cells.row(at)])
        self.first_row = at + 2  # as the spreadsheet counts
        self._sheet, self.header_row = cells, at + 1

    def below(self) -> SheetTable:
        """The same with the header in the next row that is not blank."""
        return SheetTable(self.source, self._sheet, self.header_row)


def _load(source: Source) -> pl.DataFrame:
    """The cells of the sheet that is wanted."""
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            size = file.seek(0, io.SEEK_END)
            check_unpacked(source.name, size, sum(member.file_size for member in archive.infolist()))
            file.seek(0)
            names, cells = _by_child(source, file.read(), size)
            if source.sheet is None and len(names) > 1:
                others = ", ".join(map(repr, names[1:]))
                first = f"only the first sheet is read, {names[0]!r}"
                warn(f"{source.name}: {first}; to read another ({others}), name it with --sheet (sheet=)")
            elif source.sheet is not None and source.sheet not in names:
                has = ", ".join(map(repr, names))
                raise FileError(f"{source.name}: has no sheet {source.sheet!r}; its sheets are {has}")
            _refuse_merged(source, archive, source.sheet or names[0])
    except ZIP_FAULTS as error:
        raise FileError(f"{source.name}: is not a readable Excel workbook ({error})") from error
    return cells


def _by_child(source: Source, data: bytes, size: int) -> tuple[list[str], pl.DataFrame]:
    """The names of the sheets, and the cells of the one that is wanted."""
    most = (1 << 30) + most_unpacked(size)
    command, alone = [sys.executable, "-c", CHILD, str(most), source.sheet or ""], {"POLARS_MAX_THREADS": "1"}
    child = subprocess.run(command, input=data, capture_output=True, env=os.environ | alone, check=False)
    if child.returncode:
        said = child.stderr.decode("utf-8", "replace").strip().splitlines() or ["it ended without a word"]
        memory = "memory" in said[-1] or child.returncode < 0
        why = f"it would take more than {most:,} bytes of memory" if memory else said[-1][:200]
        raise FileError(f"{source.name}: is not a readable Excel workbook ({why})")
    listed, _, table = child.stdout.partition(b"\n")
    return listed.decode().split("\0"), pl.read_ipc(table) if table else pl.DataFrame()


def _refuse_merged(source: Source, archive: zipfile.ZipFile, wanted: str) -> None:
    """Refuse a sheet with merged cells that span rows: only the first of them has the value."""
    book, links = (archive.read(f"xl/{name}") for name in ("workbook.xml", "_rels/workbook.xml.rels"))
    tag = rb"<%s\b(?=[^>]*\b%s\s*=\s*[\"']%s[\"'])[^>]*?\b%s\s*=\s*[\"']([^\"']+)"
    sheet_id = re.search(tag % (b"sheet", b"name", re.escape(escape(wanted).encode()), b"r:id"), book)
    link = sheet_id and re.search(tag % (b"Relationship", b"Id", re.escape(sheet_id[1]), b"Target"), links)
    name = f"xl/{link[1].decode().removeprefix('/').removeprefix('xl/')}" if link else ""
    sheet = archive.read(name) if name in archive.namelist() else b""
    cells = rb"<mergeCell\b[^>]*?\bref\s*=\s*[\"'](([A-Z]+)([0-9]+):([A-Z]+)([0-9]+))"
    for where, left, top, right, bottom in re.findall(cells, sheet):
        is_title = top == b"1" and left != right
        if top != bottom and not is_title:
            merged = f"the cells {where.decode()} are merged, so only the first row has their value"
            raise FileError(f"{source.name}: {merged}; unmerge them and fill them down")
