"""Chunks of files: some row groups of a Parquet file, some lines of a text file, read by a worker through fsspec.

A file is an ``fsspec.core.OpenFile``: where it lies, how to get there and how it is packed, ready to travel.
What a cell means is for ``nearfar.io`` to say, which reads a chunk as it reads a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

from nearfar._tools.checks import need
from nearfar.errors import FileError, NearfarError
from nearfar.io.batches import Opened, Reader
from nearfar.io.csv_table import CsvTable, plain_shape
from nearfar.io.dialects import choose
from nearfar.io.parse_rows import rows_error
from nearfar.io.sources import Source
from nearfar.io.typed_tables import first_line
from nearfar.scale._answers import Roles

ROWS = 1_000_000  # of a chunk that are in memory at a time
HEADER_BYTES = 1 << 20


Options = Mapping[str, Any]  # of ``nearfar.read_triplets``; objects only where they are called by their index


@dataclass(frozen=True)
class Chunk:
    """Some answers, as a reader with ``options`` finds them; a subclass says in which tables."""

    options: Options

    def read(self, names: Any) -> Iterator[Roles]:
        """The answers as indices, in batches."""
        for _, batch in self._batches(names):
            yield batch

    def objects(self) -> set[tuple[str, ...]]:
        """The lists of objects that the answers name."""
        sources = {id(opened): opened for opened, _ in self._batches(None)}
        return {opened.objects() for opened in sources.values()}

    def _sources(self) -> Iterator[Source]:
        raise NotImplementedError

    def _batches(self, names: Any) -> Iterator[tuple[Opened, Roles]]:
        for source in self._sources():
            reader = Reader(source, **{"objects": names, **self.options})
            opened = reader.open(source)
            if opened.grammar.gather is not None:
                kind = "ratings and sorts are compared within a whole file"
                raise FileError(f"{opened.table.name}: {kind}; write it with  nearfar convert  first")
            for batch in reader.batches(opened, ROWS):
                if len(batch.rejected) and not reader.drop:
                    raise rows_error(opened.table, batch.rejected, batch.rows)
                rows = batch.triplets
                yield opened, tuple(rows[role].to_numpy() for role in ("anchor", "near", "far"))


@dataclass(frozen=True)
class FrameChunk(Chunk):
    """A partition of a dask DataFrame: a pandas frame, or what computes it."""

    frame: Any

    def __len__(self) -> int:
        return len(self.frame)

    def _sources(self) -> Iterator[Source]:
        frame = self.frame.compute() if hasattr(self.frame, "compute") else self.frame
        if len(frame):
            yield Source("data frame", "frame", frame)


@dataclass(frozen=True)
class FileChunk(Chunk):
    """A stretch of a file: row groups of a Parquet file, or the lines that begin in bytes ``start`` to ``stop``.

    ``first`` is the number of the first row, or the ``header`` line goes before the text; ``stop`` None: to the end.
    """

    file: Any
    kind: str
    groups: tuple[int, ...] = ()
    first: int = 0
    header: bytes = b""
    start: int = 0
    stop: int | None = None

    def _sources(self) -> Iterator[Source]:
        if self.kind == "parquet":
            yield from self._tables()
        elif self.stop is None:
            yield Source(shown(self.file), self.kind, partial(open_file, self.file))
        else:
            text = self._text(self.stop)
            if text.strip():
                where = f" (from byte {self.start:,} on)" if self.start > len(self.header) else ""
                yield Source(f"{shown(self.file)}{where}", self.kind, self.header + text)

    def _tables(self) -> Iterator[Source]:
        import polars as pl

        row = self.first
        with open_file(self.file) as stream:
            parquet = open_parquet(stream)
            empty = Source(shown(self.file), "frame", pl.from_arrow(parquet.schema_arrow.empty_table()))
            grammar = Reader(empty, **self.options).open(empty).grammar
            columns = parquet.schema_arrow.names
            used = [columns[at] for at in sorted(set(grammar.columns.values()))]
            for table in parquet.iter_batches(ROWS, row_groups=list(self.groups), columns=used):
                name = shown(self.file) + (f" (rows from {row:,} on)" if row else "")
                yield Source(name, "frame", pl.from_arrow(table))
                row += len(table)

    def _text(self, stop: int) -> bytes:
        with open_file(self.file) as stream:
            text = _lines(stream, self.start, stop)
        if b'"' in text:
            table = CsvTable(Source(shown(self.file), self.kind, self.header or text))
            shape = plain_shape(text, table.separator, ended=True)
            if shape is None or shape.records != text.count(b"\n") + (not text.endswith(b"\n")):
                raise FileError(
                    f"{shown(self.file)} (from byte {self.start:,} on): a quoted cell holds a line break, or quotation "
                    "marks are not around whole cells, so the file cannot be cut into chunks; write it as Parquet, "
                    "or as several files, gzipped"
                )
        return text


def text_header(stream: Any, kind: str, name: str, options: Options) -> bytes:
    """The bytes up to the end of the header line; none where the file has no header."""
    start: bytes = stream.read(HEADER_BYTES)
    if not start.strip():
        raise FileError(f"{name}: is empty; expected answers")
    table = CsvTable(Source(name, kind, start))
    _, grammar = choose(table, options["dialect"], options["columns"])
    header = start[: table.body_start] if grammar.has_header else b""
    return header if not header or header.endswith(b"\n") else header + b"\n"


def shown(file: Any) -> str:
    """How messages call a file: a local one by its path."""
    return str(file.full_name).removeprefix("file://")


@contextmanager
def open_file(file: Any) -> Iterator[Any]:
    """The bytes of a file, unpacked where it is gzipped; one sentence for whatever goes wrong with them."""
    try:
        with copy(file) as stream:  # leaving it closes all that it opened, also for another thread
            yield stream
    except FileNotFoundError as error:
        remedy = "give a path that all machines share, or an address such as s3://..."
        raise FileError(f"{shown(file)}: there is no such file for a worker; {remedy}") from error
    except (NearfarError, MemoryError):
        raise
    except Exception as error:  # of whatever keeps or decodes it: no permission, no network, no key
        raise FileError(
            f"{shown(file)}: a worker cannot read it ({first_line(error)}); check the address, that workers may read it, and that "
            "it is not damaged"
        ) from error


def open_parquet(stream: Any) -> Any:
    """A ``pyarrow.parquet.ParquetFile``."""
    return need("pyarrow.parquet", "pyarrow", "dask").ParquetFile(stream)


def _lines(stream: Any, start: int, stop: int) -> bytes:
    """The lines that begin in bytes start..stop-1."""
    stream.seek(max(start - 1, 0))
    if start and stream.read(1) != b"\n":
        stream.readline()
    here = stream.tell()
    if here >= stop:
        return b""
    text: bytes = stream.read(stop - here)
    return text if text.endswith(b"\n") else text + stream.readline()
