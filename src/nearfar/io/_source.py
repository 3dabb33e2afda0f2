"""What a caller may give to a reader, told apart by kind and extension; contents are not looked at here."""

from __future__ import annotations

import glob
import gzip
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from nearfar.errors import FileError

__all__ = [
    "PACKED",
    "Source",
    "find_sources",
    "first_lines",
    "format_of",
    "open_binary",
    "refuse_directory",
    "text_lines",
]

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".txt": "txt",
    ".parquet": "parquet",
    ".npz": "npz",
    ".npy": "npy",
}
PACKED = {".gz": "gzip", ".zst": "zstd"}
MAGIC = {
    "gzip": b"\x1f\x8b",
    "zstd": b"\x28\xb5\x2f\xfd",
    "parquet": b"PAR1",
    "npz": b"PK",
    "npy": b"\x93NUMPY",
}
NOT_IN_TEXT = "\x02"
SEPARATORS = "\x01\x03\x04\x05\x06\x07\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17"
KNOWN = ".csv .tsv .txt .jsonl .json (each also .gz or .zst) .parquet .npz .npy"


@dataclass(frozen=True)
class Source:
    """One thing to read: a file, the bytes of standard input, a data frame or an array.

    ``name`` is how messages call it; ``packed`` is ``gzip``, ``zstd`` or None.
    """

    name: str
    format: str
    data: Any
    packed: str | None = None


def find_sources(given: Any) -> list[Source]:
    """The sources behind a path, ``-``, a glob pattern, a list of these, a data frame or arrays."""
    import numpy as np

    if isinstance(given, Source):
        return [given]
    if isinstance(given, (str, os.PathLike)):
        return _from_path(os.fspath(given))
    if isinstance(given, np.ndarray):
        return [Source("array", "array", (given,))]
    if isinstance(given, tuple) and given and all(isinstance(part, np.ndarray) for part in given):
        return [Source("arrays", "array", given)]
    if isinstance(given, (list, tuple)):
        return [source for part in given for source in find_sources(part)]
    return [Source("data frame", "frame", given)]


def _from_path(path: str) -> list[Source]:
    if path == "-":
        return [_from_bytes("standard input", sys.stdin.buffer.read())]
    if glob.has_magic(path) and not os.path.exists(path):
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise FileError(
                f"{path}: no file matches this pattern",
            )
        return [_from_file(Path(name)) for name in found]
    return [_from_file(Path(path))]


def _from_file(path: Path) -> Source:
    name = str(path)
    refuse_directory(name)
    if path.exists() and not path.is_file():  # a pipe, as the shell's <(...) makes it
        return _from_bytes(name, path.read_bytes())
    format_, packed = format_of(name)
    try:
        with open(path, "rb") as stream:
            start = stream.read(8)
    except OSError as error:
        reason = (
            "there is no such file" if isinstance(error, FileNotFoundError) else str(error.strerror).lower()
        )
        raise FileError(
            f"{name}: cannot be read, {reason}",
        ) from error
    if not start:
        raise FileError(
            f"{name}: is empty; expected answers",
        )
    _check_archive(name, packed or format_, start)
    actual = next((kind for kind in PACKED.values() if start.startswith(MAGIC[kind])), None)
    return Source(name, format_, path, actual)


def refuse_directory(name: str) -> None:
    """An error where a directory was given in place of a file."""
    if os.path.isdir(name):
        raise FileError(
            f"{name}: is a directory; give the files in it, for example {os.path.join(name, '*.csv')!r}",
        )


def format_of(name: str) -> tuple[str, str | None]:
    """(format, compression) by the extension of a file name.

    >>> format_of("answers.csv.gz"), format_of("answers.parquet")
    (('csv', 'gzip'), ('parquet', None))
    """
    stem, end = os.path.splitext(name)
    packed = PACKED.get(end.lower())
    extension = (os.path.splitext(stem)[1] if packed else end).lower()
    format_ = FORMATS.get(extension)
    if format_ is None or (packed and format_ in ("parquet", "npz", "npy")):
        came = extension + end if packed else end
        raise FileError(
            f"{name}: {f'unknown extension {came!r}' if came else 'no extension'}; expected {KNOWN}",
        )
    return format_, packed


def _check_archive(name: str, kind: str, start: bytes) -> None:
    if kind in MAGIC and not start.startswith(MAGIC[kind]):
        raise FileError(
            f"{name}: is called a {kind} file, but its contents are not {kind}",
        )


def _from_bytes(name: str, data: bytes) -> Source:
    """Standard input has no extension, so the format is taken from its first bytes."""
    if data.startswith(MAGIC["gzip"]):
        with open_binary(Source(name, "", data, "gzip")) as stream:
            data = stream.read()
    packed = "zstd" if data.startswith(MAGIC["zstd"]) else None
    for kind in ("parquet", "npz", "npy"):
        if data.startswith(MAGIC[kind]):
            return Source(name, kind, data)
    first = next((line for line in first_lines(Source(name, "", data, packed)) if line.strip()), "")
    if not first:
        raise FileError(
            f"{name}: is empty; expected answers",
        )
    if first.lstrip().startswith(("{", "[")):
        return Source(name, "jsonl" if first.lstrip().startswith("{") else "json", data, packed)
    return Source(name, "tsv" if "\t" in first and "," not in first else "csv", data, packed)


@contextmanager
def open_binary(source: Source) -> Iterator[BinaryIO]:
    """The bytes of a source that is plain or gzip; a damaged archive is a ``FileError``."""
    import io
    import zlib

    try:
        with io.BytesIO(source.data) if isinstance(source.data, bytes) else open(source.data, "rb") as raw:
            if source.packed == "gzip":
                with gzip.open(raw, "rb") as stream:
                    yield stream  # type: ignore[misc]
            else:
                yield raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise damaged(source, error) from error


def damaged(source: Source, error: object) -> FileError:
    """The error for an archive that cannot be unpacked to its end."""
    return FileError(
        f"{source.name}: the archive is damaged or cut short ({error}); fetch it again",
    )


def first_lines(source: Source) -> Iterator[str]:
    """The beginning of a text source, enough to know it by."""
    return _zstd_text(source, "\n", n_rows=1000) if source.packed == "zstd" else text_lines(source)


def text_lines(source: Source) -> Iterator[str]:
    """The lines of a text source, one by one; bytes that are no UTF-8 come as lone surrogates.

    zstd is unpacked by polars, as a whole, and such bytes come as U+FFFD.
    """
    if source.packed == "zstd":
        text = "".join(_zstd_text(source, NOT_IN_TEXT)).removesuffix(NOT_IN_TEXT)
        yield from (f"{line}\n" for line in text.removesuffix("\n").split("\n"))
        return
    with open_binary(source) as stream:
        for number, line in enumerate(stream):
            if number == 0:
                line = line.removeprefix(b"\xef\xbb\xbf")
            yield line.decode("utf-8", "surrogateescape")


def _zstd_text(source: Source, end: str, n_rows: int | None = None) -> Iterator[str]:
    """Pieces of unpacked text, each with its ``end``.

    Python has no zstd of its own before 3.14, so polars reads the file as a table of one column, with a separator
    that does not occur in it.
    """
    import polars as pl

    failure: Exception | None = None
    for separator in SEPARATORS:
        try:
            table = pl.scan_csv(
                source.data,
                has_header=False,
                separator=separator,
                eol_char=end,
                quote_char=None,
                encoding="utf8-lossy",
                infer_schema=False,
                with_column_names=lambda names: [str(i) for i in range(len(names))],
                n_rows=n_rows,
                glob=False,
            )
            rows = table.collect(engine="streaming").rows()
        except (pl.exceptions.PolarsError, OSError) as error:
            failure = error
            if "more fields" in str(error):
                continue
            break
        if rows and len(rows[0]) > 1:
            continue
        yield from (f"{line or ''}{end}" for (line,) in rows)
        return
    raise damaged(source, failure) from failure
