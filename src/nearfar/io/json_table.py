"""JSON: one object per line (JSONL), or one array of objects in the whole file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from nearfar._tools import threads
from nearfar._tools.limits import LIMITS
from nearfar.errors import FileError
from nearfar.io.header import Header
from nearfar.io.sources import Source, open_binary
from nearfar.io.table import Cells, Coded, Fault, Table, cell_names
from nearfar.io.text import UNDECODABLE, UTF8, Window, decode, escaped, open_window

__all__ = ["JsonLinesTable", "JsonTable"]

BATCH_BYTES = 1 << 22
KEPT_BYTES = 1 << 28  # of cells that are kept from the first look at the keys, so as not to parse them again
PLAIN = (pl.String, pl.Int64, pl.Float64, pl.Boolean, pl.Null)
NOT_OBJECT = ("not a JSON object", "an object with named values")


class JsonLinesTable(Table):
    """One object per line; a key that is missing in a line is a blank cell."""

    row_word = "line"
    typed = False

    def __init__(self, source: Source) -> None:
        keys: dict[str, None] = {}
        self._kept: list[tuple[Cells, list[str]]] | None = []
        size = 0.0
        first_fault: Fault | None = None
        with open_window(source) as window:
            for cells, own in _batches(window):
                first_fault = first_fault or next(iter(cells.faults), None)
                keys |= dict.fromkeys(own)
                _check_columns(source, keys)
                size += cells.frame.estimated_size()
                if self._kept is not None:
                    self._kept.append((cells, own))
                if size > KEPT_BYTES:
                    self._kept = None
        _need_keys(source, keys, first_fault, self.row_word)
        super().__init__(source, Header(source.name, list(keys)))

    def cells(self, has_header: bool, rows: int, coded: Coded | None = None) -> Iterator[Cells]:
        """All values as text."""
        if self._kept is not None:
            yield from (self._aligned(cells, keys) for cells, keys in self._kept)
            return
        with open_window(self.source) as window:
            yield from (self._aligned(cells, keys) for cells, keys in threads.ahead(_batches(window)))

    def _aligned(self, cells: Cells, keys: list[str]) -> Cells:
        """Columns in the order of the header, whichever keys this batch has."""
        at = {key: f"c{position}" for position, key in enumerate(keys)}
        columns = {
            name: pl.col(at[key]) if key in at else pl.lit(None, pl.String)
            for name, key in zip(self.schema, self.header.cells, strict=True)
        }
        frame = cells.frame.select(**columns) if len(cells.frame) else pl.DataFrame(schema=self.schema)
        return replace(cells, frame=frame)


class JsonTable(Table):
    """One array of objects; they are counted as records, from 1."""

    row_word = "record"
    typed = False

    def __init__(self, source: Source) -> None:
        with open_binary(source) as stream:
            text = decode(stream.read().removeprefix(b"\xef\xbb\xbf"))
        if text is None:
            raise FileError(f"{source.name}: bytes that are not UTF-8; expected {UTF8}")
        records = _parse(text)
        if isinstance(records, str):
            raise FileError(
                f"{source.name}: is not JSON ({records}); expected one array of objects, "
                "or call it .jsonl where every line is an object"
            )
        if not isinstance(records, list):
            raise FileError(f"{source.name}: holds one JSON value; expected an array of objects")
        rows, lines, faults = [], [], []
        for number, record in enumerate(records, start=1):
            if isinstance(record, dict) and _is_text(record):
                rows.append(record)
                lines.append(number)
            else:
                faults.append(Fault(number, NOT_OBJECT[0], f"'{(_text(record) or '')[:80]}'", NOT_OBJECT[1]))
        frame, keys = _frame(rows)
        self._cells = Cells(frame, len(records), 1, pl.Series(lines, dtype=pl.Int64), tuple(faults))
        _check_columns(source, dict.fromkeys(keys))
        _need_keys(source, dict.fromkeys(keys), next(iter(faults), None), self.row_word)
        super().__init__(source, Header(source.name, keys))

    def cells(self, has_header: bool, rows: int, coded: Coded | None = None) -> Iterator[Cells]:
        """All values as text."""
        yield self._cells


def _batches(window: Window) -> Iterator[tuple[Cells, list[str]]]:
    """Batches of lines, each with its keys."""
    while window.fill(1):
        data = window.chunk(BATCH_BYTES)
        cells, keys = _plain_lines(data, window.line) or _any_lines(data, window.line)
        yield cells, keys
        window.advance(len(data), data.count(b"\n"))


def _plain_lines(data: bytes, first: int) -> tuple[Cells, list[str]] | None:
    """The cells of lines that polars reads as Python's json module would; None where it might not.

    Every line has all keys once, text stands in quotation marks and without a backslash: by counting.
    """
    if b"\\" in data:  # escapes, of which polars lets half a surrogate pair pass
        return None
    try:
        frame = pl.read_ndjson(data, infer_schema_length=100)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    records = data.count(b"\n") + int(not data.endswith(b"\n"))
    nulls = {name: column.null_count() for name, column in frame.to_dict().items()}
    texts = [records - nulls[name] for name, dtype in frame.schema.items() if dtype == pl.String]
    if (
        not all(isinstance(dtype, PLAIN) for dtype in frame.dtypes)
        or len(frame) != records
        or data.count(b'"') != 2 * (records * frame.width + sum(texts))
        or data.count(b"null") != sum(nulls.values())
    ):
        return None
    keys = frame.columns
    frame.columns = cell_names(len(keys))
    cells = frame.with_columns(pl.exclude(pl.Float64).cast(pl.String))
    return Cells(
        cells.with_columns(pl.when(pl.col(pl.String) != "").then(pl.col(pl.String))), records, first
    ), keys


def _any_lines(data: bytes, first: int) -> tuple[Cells, list[str]]:
    """The cells of lines one by one; those that are no objects are faults."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    faults: list[Fault] = []
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), start=first):
        if not line.strip():
            continue
        record = _judge(line, number)
        if isinstance(record, Fault):
            faults.append(record)
        else:
            rows.append(record)
            lines.append(number)
    frame, keys = _frame(rows)
    count = len(rows) + len(faults)
    return Cells(frame, count, first, pl.Series(lines, dtype=pl.Int64), tuple(faults)), keys


def _judge(line: bytes, number: int) -> dict[str, Any] | Fault:
    text = decode(line)
    if text is None:
        return Fault(number, UNDECODABLE, escaped(line), UTF8)
    record = _parse(text)
    if isinstance(record, str):
        return Fault(number, "not JSON", escaped(line), "one JSON object per line")
    if not isinstance(record, dict):
        return Fault(number, NOT_OBJECT[0], escaped(line), NOT_OBJECT[1])
    return (
        record if _is_text(record) else Fault(number, "half a surrogate pair", escaped(line), "text in UTF-8")
    )


class _Literal(str):
    """A number as the file writes it."""

    __slots__ = ()


def _parse(text: str) -> Any:
    """The value of JSON text, numbers as they are written; a str that says what is wrong where it is none."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        return "it is nested too deeply"
    except ValueError as error:
        return str(error)
    return [value] if isinstance(value, str) else value


def _constant(name: str) -> str | None:
    return None if name == "NaN" else _Literal(name)


_DECODER = json.JSONDecoder(parse_float=_Literal, parse_int=_Literal, parse_constant=_constant)


def _is_text(record: dict[str, Any]) -> bool:
    """Whether all of it can be written as UTF-8: JSON allows half of a surrogate pair."""
    try:
        for key, value in record.items():
            key.encode()
            if isinstance(value, str):
                value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _frame(rows: list[dict[str, Any]]) -> tuple[pl.DataFrame, list[str]]:
    """(columns ``c0, c1, ...`` of text, their keys)."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns = {
        name: pl.Series([_text(row.get(key)) for row in rows], dtype=pl.String)
        for name, key in zip(cell_names(len(keys)), keys, strict=True)
    }
    return pl.DataFrame(columns), keys


def _text(value: object) -> str | None:
    """A value as a cell: 3.0, which a missing value elsewhere makes of 3, is '3'."""
    if isinstance(value, _Literal):
        whole, mark, rest = value.partition(".")
        return whole if mark and not rest.strip("0") else value
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=True)
    except RecursionError:
        return "(nested too deeply)"


def _need_keys(source: Source, keys: dict[str, None], fault: Fault | None, row_word: str) -> None:
    """Raise an error where there is not a single object to take the columns from."""
    if keys:
        return
    first = ""
    if fault is not None:
        first = f" ({row_word} {fault.line}: {fault.reason}: {fault.content}; expected {fault.expected})"
    raise FileError(f"{source.name}: holds no JSON object with named values{first}")


def _check_columns(source: Source, keys: dict[str, None]) -> None:
    if len(keys) > LIMITS.columns:
        raise FileError(
            f"{source.name}: has more than {LIMITS.columns:,} different keys; if that is meant, raise "
            "NEARFAR_MAX_COLUMNS"
        )
