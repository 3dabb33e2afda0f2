"""Writing any table: a data frame -> CSV, TSV, JSON, JSON lines or an Excel sheet, by extension."""

from __future__ import annotations

import importlib.util
import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from nearfar._tools.atomic import atomic_path
from nearfar._tools.terminal import write_out
from nearfar.errors import FileError, MissingExtra

__all__ = [
    "TABLE_FORMATS",
    "check_table_path",
    "guard_formulas",
    "write_format",
    "write_table",
    "write_whole",
]

TABLE_FORMATS = (".csv", ".tsv", ".json", ".jsonl", ".xlsx")
FORMULA = r"^'*[=+\-@\t\r]"
NUMBER = r"^'*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def check_table_path(path: str | os.PathLike[str]) -> str:
    """The format of a table by its extension; standard output ("-") is CSV."""
    suffix = ".csv" if os.fspath(path) == "-" else Path(path).suffix.lower()
    if suffix not in TABLE_FORMATS:
        raise FileError(f"{path}: is not a table; expected a name ending in {', '.join(TABLE_FORMATS)}")
    return suffix


def write_table(table: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table to a file, which appears whole or not at all; "-" is standard output, as CSV.

    >>> write_table(pl.DataFrame({"anchor": ["red"], "place": [1]}), "-")
    anchor,place
    red,1
    """
    suffix = check_table_path(path)
    write_whole(path, lambda file: write_format(table, file, suffix[1:]))


def write_whole(path: str | os.PathLike[str], write: Callable[[BinaryIO], None]) -> None:
    """Write to a file, which appears whole or not at all, or to standard output ("-")."""
    if os.fspath(path) == "-":
        stream = io.BytesIO()
        write(stream)
        write_out(stream.getvalue())
        return
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        write(file)


def write_format(
    table: pl.DataFrame, file: BinaryIO, format_: str, packed: str | None = None, *, header: bool = True
) -> None:
    """Write a table in one of the formats of tables; text is plain, gzipped or packed by zstd."""
    compression: Any = packed or "uncompressed"
    if format_ == "json":
        file.write(table.write_json().encode())
    elif format_ == "jsonl":
        table.write_ndjson(file, compression=compression, check_extension=False)
    elif format_ == "xlsx":
        _write_excel(guard_formulas(table), file)
    else:
        guard_formulas(table).write_csv(
            file,
            separator="," if format_ == "csv" else "\t",
            include_header=header,
            compression=compression,
            check_extension=False,
        )


def guard_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before text, also of the header, that a spreadsheet would run; our reader takes it away again.

    >>> guard_formulas(pl.DataFrame({"name": ["=1+1", "-1", "'@x", "plain"]}))["name"].to_list()
    ["'=1+1", '-1', "''@x", 'plain']
    """
    text = pl.selectors.string()
    runs = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
    guarded = table.with_columns(pl.when(runs).then(pl.lit("'") + text).otherwise(text).name.keep())
    return guarded.rename(
        lambda name: f"'{name}" if re.match(FORMULA, name) and not re.match(NUMBER, name) else name
    )


def _write_excel(
    table: pl.DataFrame, file: BinaryIO, most_rows: int = 1_048_575, longest_cell: int = 32_767
) -> None:
    """Write a table as the one sheet of a workbook, within the limits of Excel."""
    if importlib.util.find_spec("xlsxwriter") is None:
        raise MissingExtra("xlsxwriter", "excel")
    if len(table) > most_rows:
        raise FileError(f"{len(table):,} rows are more than the {most_rows:,} of an Excel sheet; write .csv")
    text = table.select(pl.selectors.string())
    longest: Any = max((column.str.len_chars().max() or 0 for column in text), default=0)
    if longest > longest_cell:
        raise FileError(
            f"a cell of {longest:,} characters is more than the {longest_cell:,} of an Excel cell; write .csv"
        )
    from xlsxwriter import Workbook

    stream = (
        io.BytesIO()
    )  # an archive that cannot be written whole would print a traceback when it is given up
    plain = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}
    with Workbook(stream, plain) as book:
        table.write_excel(book, autofit=True)
    file.write(stream.getvalue())
