"""What a caller may give to a reader, recognised by kind and extension; and its bytes, unpacked."""

from __future__ import annotations

import glob
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from nearfar._tools.limits import LIMITS
from nearfar.errors import FileError

__all__ = ["PACKED", "Source", "find_sources", "format_of", "open_binary", "refuse_directory"]

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
    ".xlsx": "xlsx",
}
PACKED = {".gz": "gzip", ".zst": "zstd"}
TEXT = ("csv", "tsv", "txt", "jsonl", "json")
MAGIC = {
    "gzip": b"\x1f\x8b",
    "zstd": b"\x28\xb5\x2f\xfd",
    "parquet": b"PAR1",
    "npz": b"PK",
    "xlsx": b"PK",
    "npy": b"\x93NUMPY",
}
KNOWN = ".csv .tsv .txt .jsonl .json (each also .gz or .zst) .parquet .npz .npy .xlsx"


@dataclass(frozen=True)
class Source:
    """One thing to read: a file, the bytes of standard input, a data frame or an array.

    ``name`` is how messages call it; ``data`` may also open a stream when it is called; ``packed`` is ``gzip``,
    ``zstd`` or None.
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
    if isinstance(given, tuple) and given and all(isinstance(one, np.ndarray) for one in given):
        return [Source("arrays", "array", given)]
    if isinstance(given, (list, tuple)):
        return [source for one in given for source in find_sources(one)]
    return [Source("data frame", "frame", given)]


def _from_path(path: str) -> list[Source]:
    if path == "-":
        return [_from_bytes("standard input", sys.stdin.buffer.read())]
    if glob.has_magic(path) and not os.path.exists(path):
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise FileError(f"{path}: no file matches this pattern")
        return [_from_file(Path(name)) for name in found]
    return [_from_file(Path(path))]


def _from_file(path: Path) -> Source:
    name = str(path)
    refuse_directory(name)
    try:
        if path.exists() and not path.is_file():  # a pipe, as the shell's <(...) makes it
            return _from_bytes(name, path.read_bytes())
        format_, packed = format_of(name)
        with open(path, "rb") as stream:
            start = stream.read(8)
    except FileNotFoundError as error:
        raise FileError(f"{name}: cannot be read, there is no such file") from error
    except OSError as error:
        raise FileError(f"{name}: cannot be read, {(error.strerror or str(error)).lower()}") from error
    except FileError:
        raise
    except ValueError as error:  # a NUL in the name
        raise FileError(f"{name!r}: cannot be read, {error}") from error
    if not start:
        raise FileError(f"{name}: is empty; expected answers")
    kind = packed or format_
    if kind in MAGIC and not start.startswith(MAGIC[kind]):
        raise FileError(f"{name}: is called a {kind} file, but its contents are not {kind}")
    actual = next((kind for kind in PACKED.values() if start.startswith(MAGIC[kind])), None)
    return Source(name, format_, path, actual)


def refuse_directory(name: str) -> None:
    """Raise an error where a directory was given in place of a file."""
    if os.path.isdir(name):
        raise FileError(
            f"{name}: is a directory; give the files in it, for example {os.path.join(name, '*.csv')!r}"
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
    if format_ is None or (packed and format_ not in TEXT):
        found = extension + end if packed else end
        raise FileError(
            f"{name}: {f'unknown extension {found!r}' if found else 'no extension'}; expected {KNOWN}"
        )
    return format_, packed


def _from_bytes(name: str, data: bytes) -> Source:
    """Standard input has no extension, so the format is taken from its first bytes."""
    packed = next((kind for kind in PACKED.values() if data.startswith(MAGIC[kind])), None)
    with open_binary(Source(name, "", data, packed)) as stream:
        start = stream.read(1 << 16)
        kind = next((kind for kind in ("parquet", "npy", "npz") if start.startswith(MAGIC[kind])), None)
        if kind is not None:
            kind = "xlsx" if kind == "npz" and b"[Content_Types].xml" in start else kind
            return Source(name, kind, start + stream.read())
    first = next((line for line in start.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip()), b"")
    if not first:
        raise FileError(f"{name}: is empty; expected answers")
    if first.lstrip()[:1] in (b"{", b"["):
        return Source(name, "jsonl" if first.lstrip().startswith(b"{") else "json", data, packed)
    return Source(name, "tsv" if b"\t" in first and b"," not in first else "csv", data, packed)


@contextmanager
def open_binary(source: Source) -> Iterator[BinaryIO]:
    """The bytes of a source, unpacked; a damaged archive, or one that grows beyond the limit, is a ``FileError``."""
    data = source.data
    try:
        with (
            io.BytesIO(data)
            if isinstance(data, bytes)
            else data()
            if callable(data)
            else open(data, "rb") as raw
        ):
            if source.packed is None:
                yield raw
                return
            size = len(data) if isinstance(data, bytes) else os.path.getsize(data)
            with _unpacked(source, raw) as stream:
                yield _CountedStream(stream, source.name, size)  # type: ignore[misc]
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(
            f"{source.name}: the archive is damaged or cut short ({error}); fetch it again"
        ) from error


def _unpacked(source: Source, raw: Any) -> Any:
    if source.packed == "gzip":
        return gzip.open(raw, "rb")
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise FileError(
            f"{source.name}: cannot be unpacked, this Python was built without zstd; pack it with gzip"
        ) from error
    return zstd.open(raw, "rb")


class _CountedStream:
    """A stream that refuses to unpack far more than the file holds."""

    def __init__(self, stream: Any, name: str, packed_bytes: int) -> None:
        self._stream, self._name, self._packed, self._read = stream, name, packed_bytes, 0

    def read(self, size: int = -1) -> bytes:
        most = max(LIMITS.unpacked_bytes, LIMITS.unpacked_ratio * self._packed)
        return self._counted(self._stream.read, most + 1 - self._read if size < 0 else size)

    def readline(self, size: int) -> bytes:
        return self._counted(self._stream.readline, size)

    def _counted(self, read: Any, size: int) -> bytes:
        most = max(LIMITS.unpacked_bytes, LIMITS.unpacked_ratio * self._packed)
        try:
            data: bytes = read(size)
        except Exception as error:
            if type(error).__name__ != "ZstdError":  # of whichever library there is
                raise
            raise EOFError(str(error)) from error
        self._read += len(data)
        if self._read > most:
            raise FileError(
                f"{self._name}: unpacks to more than {LIMITS.unpacked_ratio} times its size; if that is meant, "
                "raise NEARFAR_MAX_UNPACKED_RATIO"
            )
        return data
