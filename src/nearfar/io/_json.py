"""JSON: one object per line (JSONL), or one array of objects in the whole file."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from nearfar.errors import FileError
from nearfar.io._header import Header
from nearfar.io._sheet import FAULTS, Fault, Malformed, MendedSheet, Sheet, cell_names, collect
from nearfar.io._source import Source, open_binary, text_lines

__all__ = ["JsonLinesSheet", "json_sheet"]

Record = tuple[int, dict[str, Any], Fault | None]


class JsonLinesSheet(Sheet):
    """One object per line; a key that is missing in a line is a blank cell."""

    unit = "line"
    typed = False

    def __init__(self, source: Source) -> None:
        data = source.data
        if not isinstance(data, bytes) and glob.has_magic(os.fspath(data)):
            data = data.read_bytes()  # polars would take the name for a pattern
        self._data = data
        self._sound = True
        try:
            keys = list(pl.scan_ndjson(data, infer_schema_length=None).collect_schema())
        except (pl.exceptions.PolarsError, OSError):
            self._sound = False
            keys = list(dict.fromkeys(key for _, record, _ in _records(source) for key in record))
        super().__init__(source, Header(source.name, keys))

    def scan(self, has_header: bool) -> pl.LazyFrame:
        """All values as text."""
        if not self._sound:
            raise Malformed
        try:
            table = pl.scan_ndjson(self._data, schema=dict.fromkeys(self.header.cells, pl.String))
        except (pl.exceptions.PolarsError, OSError) as error:
            raise Malformed from error
        names = cell_names(self.header.cells)
        return table.select(
            pl.when(pl.col(key) != "").then(pl.col(key)).alias(name)
            for key, name in zip(self.header.cells, names, strict=True)
        )

    def fetch(self, rows: pl.Series, has_header: bool) -> pl.DataFrame:
        """Lines are counted by hand, because blank ones are no rows."""
        table = self.scan(has_header).with_row_index("row")
        chosen = collect(table.filter(pl.col("row").is_in(rows.implode())))
        lines = [number for number, line in enumerate(text_lines(self.source), start=1) if line.strip()]
        return chosen.with_columns(line=pl.Series(lines, dtype=pl.Int64)[chosen["row"]])

    def mend(self, has_header: bool) -> tuple[Sheet, pl.DataFrame]:
        """Read line by line; a line that is no JSON object is a fault."""
        return _mended(self, _records(self.source))


def json_sheet(source: Source) -> Sheet:
    """The sheet of one array of objects; its lines are counted as records, from 1."""
    with open_binary(source) as stream:
        text = stream.read()
    try:
        records = json.loads(text.decode("utf-8-sig"))
    except ValueError as error:
        raise FileError(
            f"{source.name}: is not JSON ({error})",
        ) from error
    if not isinstance(records, list):
        raise FileError(
            f"{source.name}: holds one JSON {type(records).__name__}; expected an array of objects",
        )
    judged = [(i, *_judge(record, str(record)[:80])) for i, record in enumerate(records, start=1)]
    keys = dict.fromkeys(key for _, record, _ in judged for key in record)
    return _JsonSheet(source, Header(source.name, list(keys)), judged)


class _JsonSheet(Sheet):
    unit = "record"
    typed = False

    def __init__(self, source: Source, header: Header, records: list[Record]):
        super().__init__(source, header)
        self._records = records

    def scan(self, has_header: bool) -> pl.LazyFrame:
        raise Malformed  # there is no faster way than the records at hand

    def mend(self, has_header: bool) -> tuple[Sheet, pl.DataFrame]:
        return _mended(self, self._records)


def _records(source: Source) -> Iterator[Record]:
    """(line, object, fault) of every line that is not blank."""
    for number, line in enumerate(text_lines(source), start=1):
        if not line.strip():
            continue
        came = line.strip()[:80].encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        try:
            line.encode()
            yield number, *_judge(json.loads(line), came)
        except UnicodeEncodeError:
            yield number, {}, Fault("undecodable bytes", f"'{came}'", "text in UTF-8")
        except ValueError:
            yield number, {}, Fault("no JSON", f"'{came}'", "one JSON object per line")


def _judge(record: object, came: str) -> tuple[dict[str, Any], Fault | None]:
    if isinstance(record, dict):
        return record, None
    return {}, Fault("no JSON object", f"'{came}'", "an object with named values")


def _mended(sheet: Sheet, records: Iterable[Record]) -> tuple[Sheet, pl.DataFrame]:
    keys = sheet.header.cells
    schema = dict.fromkeys(cell_names(keys), pl.String)
    rows, lines, faults = [], [], []
    for line, record, fault in records:
        if fault is None:
            rows.append([_text(record.get(key)) for key in keys])
            lines.append(line)
        else:
            faults.append((line, *fault))
    cells = pl.DataFrame(rows, schema=schema, orient="row")
    mended = MendedSheet(sheet, cells, pl.Series(lines, dtype=pl.Int64))
    mended.unit = sheet.unit  # type: ignore[misc]
    return mended, pl.DataFrame(faults, schema=FAULTS, orient="row")


def _text(value: object) -> str | None:
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)
