"""JSON: one object per line (JSONL), or one array of objects in the whole file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from nearfar._tools import threads
from nearfar.errors import FileError
from nearfar.io import sources
from nearfar.io.sources import UNDECODABLE, UTF8, Source, decode, open_binary
from nearfar.io.table import Cells, Coded, Fault, Header, Table, as_text, cell_names, check_width

BATCH_BYTES = 1 << 22
NEXT_KEY = "participant_responses"  # of NEXT's JSON, which holds responses by participant
KEPT_BYTES = 1 << 28  # of cells that are kept from the first look at the keys, so as not to parse them again
PLAIN = (pl.String, pl.Int64, pl.Float64, pl.Boolean, pl.Null)


class JsonTable(Table):
    """Objects, one per line or in one array; a key that is missing in one of them is a blank cell."""

    typed = False

    def __init__(self, source: Source) -> None:
        self.row_word = "line" if source.format == "jsonl" else "record"
        self._kept: list[tuple[Cells, list[str]]] | None = []
        keys: dict[str, None] = {}
        size, fault = 0.0, None
        for cells, own in self._batches(source):
            fault = fault or next(iter(cells.faults), None)
            keys |= dict.fromkeys(own)
            check_width(source.name, len(keys))
            size += cells.frame.estimated_size()
            self._kept = None if size > KEPT_BYTES or self._kept is None else [*self._kept, (cells, own)]
        if not keys:
            where = f" ({self.row_word} {fault.line}: {fault.reason}: {fault.content})" if fault else ""
            raise FileError(f"{source.name}: holds no JSON object with named values{where}")
        super().__init__(source, Header(source.name, list(keys)))

    def cells(self, has_header: bool, rows: int, coded: Coded | None = None) -> Iterator[Cells]:
        """All values as text."""
        batches = iter(self._kept) if self._kept is not None else threads.ahead(self._batches(self.source))
        for cells, keys in batches:  # columns in the order of the header, whichever keys this batch has
            at = {key: f"c{position}" for position, key in enumerate(keys)}
            columns = {
                name: pl.col(at[key]) if key in at else pl.lit(None, pl.String)
                for name, key in zip(self.schema, self.header.cells, strict=True)
            }
            frame = cells.frame.select(**columns) if len(cells.frame) else pl.DataFrame(schema=self.schema)
            yield replace(cells, frame=frame)

    def _batches(self, source: Source) -> Iterator[tuple[Cells, list[str]]]:
        """Cells with their keys."""
        if source.format == "json":
            yield _array(source)
            return
        with sources.open_window(source) as window:
            while window.fill(1):
                data = window.chunk(BATCH_BYTES)
                yield _plain_lines(data, window.line) or _any_lines(data, window.line)
                window.advance(len(data), data.count(b"\n"))


def _array(source: Source) -> tuple[Cells, list[str]]:
    """The cells of one array of objects, which are counted as records, from 1."""
    with open_binary(source) as stream:
        text = decode(stream.read().removeprefix(sources.BYTE_ORDER_MARK))
    if text is None:
        raise FileError(f"{source.name}: bytes that are not UTF-8; expected {UTF8}")
    try:
        records = _parse(text)
    except ValueError as error:
        expected = "expected an array of objects (a file of one object per line is .jsonl)"
        raise FileError(f"{source.name}: is not JSON ({error}); {expected}") from error
    if isinstance(records, dict) and isinstance(people := records.get(NEXT_KEY), dict):
        said = [(who, own if isinstance(own, list) else [own]) for who, own in people.items()]
        records = [_next_row(who, one) for who, own in said for one in own]
    if not isinstance(records, list):
        raise FileError(f"{source.name}: holds one JSON value; expected an array of objects")
    return _frame((at, _record(record, at, _text(record) or "")) for at, record in enumerate(records, 1))


def _next_row(participant: str, said: Any) -> Any:
    """A response in the JSON of NEXT under the names of its CSV: who is ``study_person``.

    NEXT-psych has targets by ``index``, within it their names as ``target_id``; NEXT has a ``target_id`` and a description.
    """
    if not isinstance(said, dict):
        return said
    names, sides = {}, {}
    targets = said.get("target_indices")
    for one in targets if isinstance(targets, list) else ():
        if isinstance(one, dict):
            about = one["target"] if isinstance(one.get("target"), dict) else one
            number = str(one.get("index", about.get("target_id")))
            keys = ("target_id", "primary_description")[:: -1 if about is one else 1]
            names[number] = next((text for key in keys if (text := _text(about.get(key)))), number)
            sides[str(one.get("label")).capitalize()] = names[number]
    winner = said.get("index_winner", said.get("target_winner"))
    return {
        "Participant.ID": participant.rpartition("_")[2],
        "Timestamp": said.get("timestamp_query_generated"),
        **{side: sides.get(side) for side in ("Center", "Left", "Right")},
        "Answer": None if winner is None else names.get(str(winner), _text(winner)),
        "Response.Time..s.": said.get("response_time"),
        "Alg.Label": said.get("alg_label"),
    }


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
    cells = frame.select(as_text(pl.col(name), dtype).alias(name) for name, dtype in frame.schema.items())
    cells = cells.with_columns(pl.when(pl.col(pl.String) != "").then(pl.col(pl.String)))
    return Cells(cells, records, first), keys


def _any_lines(data: bytes, first: int) -> tuple[Cells, list[str]]:
    """The cells of lines one by one; those that are no objects are faults."""
    lines = enumerate(data.removesuffix(b"\n").split(b"\n"), start=first)
    return _frame((number, _judge(line, number)) for number, line in lines if line.strip())


def _judge(line: bytes, number: int) -> dict[str, Any] | Fault:
    text = decode(line)
    if text is None:
        return Fault(number, UNDECODABLE, sources.escaped(line), UTF8)
    try:
        return _record(_parse(text), number, text.strip())
    except ValueError:
        return Fault(number, "not JSON", sources.escaped(line), "one JSON object per line")


def _record(value: Any, number: int, text: str) -> dict[str, Any] | Fault:
    """An object whose keys and values can be written as UTF-8 (JSON allows half of a surrogate pair), or a fault."""
    if not isinstance(value, dict):
        return Fault(number, "not a JSON object", f"'{text[:80]}'", "an object with named values")
    try:
        for part in (*value, *value.values()):
            if isinstance(part, str):
                part.encode()
    except UnicodeEncodeError:
        return Fault(number, "half a surrogate pair", ascii(text[:80]), "text in UTF-8")
    return value


def _frame(records: Iterable[tuple[int, dict[str, Any] | Fault]]) -> tuple[Cells, list[str]]:
    """(columns of text and the faults among them, the keys of the columns)."""
    judged = dict(records)
    rows = {number: record for number, record in judged.items() if not isinstance(record, Fault)}
    faults = tuple(record for record in judged.values() if isinstance(record, Fault))
    keys = list(dict.fromkeys(key for row in rows.values() for key in row))
    columns = [pl.Series([_text(row.get(key)) for row in rows.values()], dtype=pl.String) for key in keys]
    frame = pl.DataFrame(dict(zip(cell_names(len(keys)), columns, strict=True)))
    lines = pl.Series(list(rows), dtype=pl.Int64)
    return Cells(frame, len(rows) + len(faults), 1, lines, faults), keys


class _Literal(str):
    """A number as the file writes it."""

    __slots__ = ()


def _parse(text: str) -> Any:
    """The value of JSON text, numbers as they are written; a ValueError where it is none."""
    try:
        return _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


_DECODER = json.JSONDecoder(
    parse_float=_Literal,
    parse_int=_Literal,
    parse_constant=lambda name: None if name == "NaN" else _Literal(name),
)


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
