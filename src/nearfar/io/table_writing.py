"""Writing tables: of answers in any dialect and format, or any data frame by extension."""

from __future__ import annotations

import importlib.util
import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl

from nearfar._tools.atomic import atomic_path
from nearfar._tools.terminal import write_out
from nearfar.errors import FileError, MissingExtra, TripletError
from nearfar.io.dialects import DIALECTS, Dialect, named
from nearfar.io.sources import KNOWN, format_of
from nearfar.io.table import COLUMN_NAMES, warn
from nearfar.triplets import Triplets
from nearfar.triplets.ids import Ids

TABLE_FORMATS = (".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".parquet")
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


def write_whole(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
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
    if format_ == "parquet":
        table.write_parquet(file)
        return
    table = table.with_columns(pl.selectors.enum().cast(pl.String))
    if format_ == "json":
        file.write(table.write_json().encode())
    elif format_ == "jsonl":
        table.write_ndjson(file, compression=compression, check_extension=False)
    elif format_ == "xlsx":
        _write_excel(guard_formulas(table), file)
    else:
        options: Any = {"separator": "," if format_ == "csv" else "\t", "include_header": header}
        guard_formulas(table).write_csv(file, **options, compression=compression, check_extension=False)


def guard_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before text, also of the header, that a spreadsheet would run; our reader takes it away again.

    >>> guard_formulas(pl.DataFrame({"name": ["=1+1", "-1", "'@x", "plain"]}))["name"].to_list()
    ["'=1+1", '-1', "''@x", 'plain']
    """
    text = pl.selectors.string()
    runs = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
    guarded = table.with_columns(pl.when(runs).then(pl.lit("'") + text).otherwise(text).name.keep())
    columns = [name for name in table.columns if re.match(FORMULA, name) and not re.match(NUMBER, name)]
    return guarded.rename({name: f"'{name}" for name in columns})


def _write_excel(table: pl.DataFrame, file: BinaryIO) -> None:
    """Write a table as the one sheet of a workbook, within the limits of Excel."""
    most_rows, longest_cell = 1_048_575, 32_767
    if importlib.util.find_spec("xlsxwriter") is None:
        raise MissingExtra("xlsxwriter", "excel")
    if len(table) > most_rows:
        raise FileError(f"the table has {len(table):,} rows, Excel takes {most_rows:,}; write .csv")
    text = table.select(pl.selectors.string())
    longest: Any = max((column.str.len_chars().max() or 0 for column in text), default=0)
    if longest > longest_cell:
        raise FileError(f"a cell has {longest:,} characters, Excel takes {longest_cell:,}; write .csv")
    from xlsxwriter import Workbook

    stream = io.BytesIO()  # a file that cannot be written whole would print a traceback when it is given up
    plain = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}
    with Workbook(stream, plain) as book:
        table.write_excel(book, autofit=True)
    file.write(stream.getvalue())


def write_triplets(
    triplets: Triplets, path: str | os.PathLike[str], *, dialect: str = "canonical", format: str | None = None
) -> None:
    """Write answers to a file, which appears whole or not at all.

    Parameters
    ----------
    triplets : the answers.
    path : where to; the extension says the format (as for ``read_triplets``). ``"-"`` is standard output.
    dialect : what the columns mean: canonical, odd-one-out, most-central, salmon, tripletTools, next, things,
        list-order (cblearn's). What a dialect has no column for is written under our own names; only the bare rows of things
        and list-order have no room for it, and then a warning names what was left out.
    format : the format where the extension does not say it, e.g. ``"csv"`` or ``"jsonl.gz"``; for standard output
        csv is the default.

    Examples
    --------
    >>> answers = Triplets([0], [1], [2], ["red", "pink", "blue"], participant=["ann"])
    >>> write_triplets(answers, "-")
    anchor,near,far,participant
    red,pink,blue,ann
    """
    chosen = named(dialect)
    if chosen.write is None:
        known = ", ".join(one.name for one in DIALECTS if one.write is not None)
        raise TripletError(f"dialect: {chosen.name} cannot be written; expected one of {known}")
    target = os.fspath(path)
    named_so = f"answers.{(format or 'csv').lstrip('.')}" if format or target == "-" else target
    try:
        format_, packed = format_of(named_so)
    except FileError as error:
        if format is None:
            raise
        expected = f"expected {KNOWN} (a dialect: --to)"
        raise FileError(f"format: {format!r} is not a file format; {expected}") from error
    if format_ == "json":
        raise FileError("json: can only be read; write jsonl, one object per line")
    table = chosen.write(triplets)
    _warn_of_loss(triplets, chosen, format_)

    def write(file: BinaryIO) -> None:
        if format_ in ("npz", "npy"):
            _write_arrays(triplets, chosen, file, format_)
        else:
            write_format(table, file, format_, packed, header=chosen.writes_header)

    write_whole(target, write)


def _write_arrays(triplets: Triplets, dialect: Dialect, file: BinaryIO, format_: str) -> None:
    if dialect.name not in ("canonical", "list-order") or (format_ == "npy" and dialect.name != "list-order"):
        allowed = "list-order" if format_ == "npy" else "canonical or list-order"
        raise FileError(f"{format_}: holds arrays, not {dialect.name} rows; expected the dialect {allowed}")
    if format_ == "npy":
        np.save(file, triplets.array)
        return
    arrays: dict[str, Any] = {"objects": _text(list(triplets.objects), "objects")}
    if dialect.name == "list-order":
        arrays["triplets"] = triplets.array
    else:
        arrays |= {"anchor": triplets.anchor, "near": triplets.near, "far": triplets.far}
    for role in COLUMN_NAMES:
        values = getattr(triplets, role)
        if isinstance(values, Ids):
            names = np.asarray(values)
            values = names if values.is_numeric else _text(names.tolist(), role)
        if values is not None:
            arrays[role] = values
    np.savez_compressed(file, **arrays)


def _text(names: list[str], role: str) -> np.ndarray:
    """Text of fixed width, which needs no pickle; numpy would drop NUL characters at its end."""
    if any(name.endswith("\0") for name in names):
        raise TripletError(f"{role}: npz cannot keep a name that ends in NUL; write another format")
    return np.array(names, dtype=np.str_)


def _warn_of_loss(triplets: Triplets, dialect: Dialect, format_: str) -> None:
    """Bare rows of numbers have no room for anything else."""
    if dialect.writes_header or format_ == "npz":
        return
    lost = [role for role in COLUMN_NAMES if getattr(triplets, role) is not None]
    numbered = triplets.statement is not None and triplets.statement.is_numeric
    pairs = np.arange(len(triplets)) // 2  # which the reader makes of rows that give two triplets each
    if dialect.name != "list-order" and numbered and np.array_equal(np.asarray(triplets.statement), pairs):
        lost.remove("statement")
    if triplets.objects != tuple(map(str, range(triplets.n_objects))):
        lost.insert(0, "the names of objects")
    if lost:
        warn(f"{dialect.name}: bare rows of indices have no room for {', '.join(lost)}; left out")
