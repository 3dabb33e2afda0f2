"""Pieces of files: some row groups of a Parquet file, some lines of a CSV file, read by a worker through fsspec.

A file is an ``fsspec.core.OpenFile``: where it lies, how to get there and how it is packed, ready to travel.
What a cell means is settled by ``nearfar.io``, which reads a piece as it reads a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nearfar.errors import FileError, MissingExtra, NearfarError
from nearfar.io._indices import ROLES, Doubt, sound_indices
from nearfar.io._open import open_sheet
from nearfar.io._source import Source
from nearfar.io._tables import enumerated
from nearfar.io.dialects import Plan, choose
from nearfar.io.objects import as_names
from nearfar.io.reading import read_triplets
from nearfar.scale._answers import Batch
from nearfar.triplets import Triplets

__all__ = [
    "CsvPiece",
    "Format",
    "ParquetPiece",
    "damage",
    "open_file",
    "open_parquet",
    "shown",
    "text_header",
]

ROWS = 1_000_000  # of a piece that are in memory at a time
HEADER_BYTES = 1 << 16


@dataclass(frozen=True)
class Format:
    """How files are read, the same for all of them.

    dialect, on_bad : as for ``nearfar.read_triplets``.
    n_objects : how many there are where they are called by their index; None where they have names.
    """

    dialect: str | None = None
    on_bad: str = "error"
    n_objects: int | None = None

    def triplets(self, source: Source, names: Any) -> Triplets:
        """The answers of a source; ``names`` of all objects, or None to take those that occur."""
        if names is None and self.n_objects is not None:
            names = _numbered(self.n_objects)
        return read_triplets(source, dialect=self.dialect, objects=names, on_bad=self.on_bad)  # type: ignore[arg-type]


@dataclass(frozen=True)
class ParquetPiece:
    """Row groups ``groups`` of a Parquet file, the first of which begins with row ``first_row``."""

    file: Any
    groups: tuple[int, ...]
    first_row: int
    format: Format

    def read(self, names: Any) -> Iterator[Batch]:
        """The answers as indices, in batches."""
        for triplets in self.tables(names):
            yield Batch(triplets.anchor, triplets.near, triplets.far)

    def tables(self, names: Any) -> Iterator[Triplets | Batch]:
        """The answers, in batches; with names None as they name their objects themselves."""
        import polars as pl

        row = self.first_row
        with open_file(self.file) as stream, damage(self.file):
            parquet = open_parquet(stream)
            plan = _plan(self.file, parquet.schema_arrow, self.format)
            columns = parquet.schema_arrow.names
            used = [columns[at] for at in sorted(set(plan.columns.values()))]
            quick = self.format.n_objects is not None and plan.objects == ROLES and not plan.first_index
            for table in parquet.iter_batches(ROWS, row_groups=list(self.groups), columns=used):
                frame: Any = pl.from_arrow(table)
                indices = _indices(frame, columns, plan, self.format) if quick else None
                name = shown(self.file) + (f" (rows from {row:,} on)" if row else "")
                listed = enumerated(frame.schema) if names is None else names
                yield indices or self.format.triplets(Source(name, "frame", frame), listed)
                row += len(frame)


@dataclass(frozen=True)
class CsvPiece:
    """The lines of a text file that begin in bytes ``start`` to ``stop``, after ``header``; stop None: to the end."""

    file: Any
    kind: str
    header: bytes
    start: int
    stop: int | None
    format: Format

    def read(self, names: Any) -> Iterator[Batch]:
        """The answers as indices, in one batch."""
        for triplets in self.tables(names):
            yield Batch(triplets.anchor, triplets.near, triplets.far)

    def tables(self, names: Any) -> Iterator[Triplets]:
        """The answers, in one batch; with names None as they name their objects themselves."""
        with open_file(self.file) as stream, damage(self.file):
            text = stream.read() if self.stop is None else _lines(stream, self.start, self.stop)
        whole = self.stop is None
        name = shown(self.file) + (f" (from byte {self.start:,} on)" if self.start > len(self.header) else "")
        if not text.strip():
            return
        if not whole and text.count(b'"') % 2:
            raise FileError(
                f"{name}: a quoted cell holds a line break, so the file cannot be cut into pieces; "
                "write it as Parquet, or as several files, gzipped",
            )
        yield self.format.triplets(Source(name, self.kind, text if whole else self.header + text), names)


def text_header(stream: Any, kind: str, name: str, format: Format) -> bytes:
    """The bytes up to the end of the header line; none where the file has no header."""
    start: bytes = stream.read(HEADER_BYTES)
    first = start[: start.rfind(b"\n") + 1] or start
    if not first.strip():
        raise FileError(
            f"{name}: is empty; expected answers",
        )
    _, plan = choose(open_sheet(Source(name, kind, first)), format.dialect)
    if not plan.has_header:
        return b""
    blank = len(first) - len(first.lstrip(b"\r\n"))
    return first[: first.index(b"\n", blank) + 1] if b"\n" in first[blank:] else first + b"\n"


def shown(file: Any) -> str:
    """How messages call a file: a local one by its path."""
    return str(file.full_name).removeprefix("file://")


@contextmanager
def open_file(file: Any) -> Iterator[Any]:
    """The bytes of a file, unpacked where it is gzipped."""
    try:
        with copy(file) as stream:  # leaving it closes all that it opened, also for another thread
            yield stream
    except FileNotFoundError as error:
        raise FileError(
            f"{shown(file)}: there is no such file for a worker; give a path that all machines share, or an address "
            "such as s3://...",
        ) from error
    except (NearfarError, MemoryError):
        raise
    except Exception as error:  # of whatever keeps it: no permission, no network, no key
        reason = _first_line(error)
        raise FileError(
            f"{shown(file)}: a worker cannot open it ({reason}); check the address, and that workers may read it",
        ) from error


@contextmanager
def damage(file: Any) -> Iterator[None]:
    """Whatever goes wrong while a file is decoded is said in one sentence with its name."""
    try:
        yield
    except (NearfarError, MemoryError, FileNotFoundError):
        raise
    except Exception as error:
        reason = _first_line(error)
        raise FileError(
            f"{shown(file)}: is damaged ({reason}); fetch it again or leave it out",
        ) from error


def open_parquet(stream: Any) -> Any:
    """A ``pyarrow.parquet.ParquetFile``."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtra("pyarrow", "dask") from error
    return pq.ParquetFile(stream)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error).strip() else type(error).__name__


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


def _plan(file: Any, schema: Any, format: Format) -> Plan:
    """What the columns of a Parquet file mean."""
    import polars as pl

    empty: Any = pl.from_arrow(schema.empty_table())
    return choose(open_sheet(Source(shown(file), "frame", empty)), format.dialect)[1]


def _indices(frame: Any, names: list[str], plan: Plan, format: Format) -> Batch | None:
    """The columns as they are, where they are indices of all sound rows; None where a careful look is needed."""
    columns = [frame[names[plan.columns[role]]] for role in ROLES]
    if not all(column.dtype.is_integer() and not column.has_nulls() for column in columns):
        return None
    try:
        return Batch(*sound_indices([column.to_numpy() for column in columns], format.n_objects or 0))
    except Doubt:
        return None


@lru_cache(maxsize=1)
def _numbered(n_objects: int) -> Any:
    return as_names(n_objects)
