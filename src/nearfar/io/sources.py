"""What a caller may give to a reader, recognised by kind and extension; its bytes, unpacked, and lines of them."""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from nearfar._tools.limits import LIMITS
from nearfar.errors import FileError

TEXT = ("csv", "tsv", "txt", "jsonl", "json")
FORMATS = (*TEXT, "parquet", "npz", "npy", "xlsx")
PACKED = {".gz": "gzip", ".zst": "zstd"}
MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "parquet": b"PAR1", "npy": b"\x93NUMPY"}
MAGIC |= {"npz": b"PK", "xlsx": b"PK"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")  # how such a text begins
KNOWN = ".csv .tsv .txt .jsonl .json (each also .gz or .zst) .parquet .npz .npy .xlsx .zip or study.db"
ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, KeyError)


@dataclass(frozen=True)
class Source:
    """One thing to read: a file, the bytes of standard input, a data frame or an array.

    ``name`` is how messages call it; ``data`` may also open a stream when it is called; ``packed`` is ``gzip``,
    ``zstd`` or None; ``sheet`` is the one of a workbook that is read, the first where it is not named; ``path`` is how it was
    given, where ``name`` is not that.
    """

    name: str
    format: str
    data: Any
    packed: str | None = None
    sheet: str | None = None
    path: str = ""

    def open(self) -> BinaryIO:
        """The bytes as they are stored."""
        if isinstance(self.data, bytes):
            return io.BytesIO(self.data)
        return self.data() if callable(self.data) else Path(self.data).open("rb")


def find_sources(given: Any) -> list[Source]:
    """The sources behind a path, ``-``, a glob pattern, a list of these, a data frame or arrays."""
    import numpy as np

    if isinstance(given, Source):
        return [given]
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        if path == "-":
            return [replace(_from_bytes("standard input", sys.stdin.buffer.read()), path=path)]
        is_pattern = glob.has_magic(path) and not os.path.exists(path)
        names = sorted(glob.glob(path, recursive=True)) if is_pattern else [path]
        if not names:
            raise FileError(f"{path}: no file matches this pattern")
        return [_from_file(Path(name)) for name in names]
    if isinstance(given, np.ndarray):
        return [Source("array", "array", (given,))]
    if isinstance(given, tuple) and given and all(isinstance(one, np.ndarray) for one in given):
        return [Source("arrays", "array", given)]
    if isinstance(given, (list, tuple)):
        return [source for one in given for source in find_sources(one)]
    return [Source("data frame", "frame", given)]


def _from_file(path: Path) -> Source:
    name = shown_path(path)
    refuse_directory(str(path))
    try:
        if path.exists() and not path.is_file():  # a pipe, as the shell's <(...) makes it
            return _from_bytes(name, path.read_bytes())
        is_zip = path.suffix.lower() == ".zip"
        format_, packed = ("zip", None) if is_zip else format_of(name)
        with open(path, "rb") as stream:
            start = stream.read(8)
    except OSError as error:
        is_lost, told = isinstance(error, FileNotFoundError), (error.strerror or str(error)).lower()
        raise FileError(f"{name}: cannot be read, {'there is no such file' if is_lost else told}") from error
    except FileError:
        raise
    except ValueError as error:  # a NUL in the name
        raise FileError(f"{name!r}: cannot be read, {error}") from error
    if is_zip:
        return _from_zip(name, path)
    if not start:
        raise FileError(f"{name}: is empty; expected data")
    kind = packed or format_
    if not start.startswith(MAGIC.get(kind, b"")):
        raise FileError(f"{name}: is called a {kind} file, but its contents are not {kind}")
    return Source(name, format_, path, _kind(start, PACKED.values()))


def _from_zip(name: str, path: Path) -> Source:
    """The one table in a ZIP archive; what a Mac adds to it, pictures and texts beside it are passed over."""
    added = re.compile(r"__MACOSX/|(.*/)?\.[^/]*$|.*/$")
    beside = re.compile(r"(.*/)?(readme|licen[cs]e)[^/]*$|.*\.(png|jpe?g|gif|svg|pdf|md|html?|docx?)$", re.I)
    try:
        with zipfile.ZipFile(path) as archive:
            files = [each for each in archive.namelist() if not added.match(each)]
            names = [each for each in files if not beside.match(each)] or files
            if len(names) != 1:
                inside = ", ".join(names[:5]) or "none"
                wrong = f"{name}: holds {len(names)} files ({inside}); expected one table, so unpack it first"
                raise FileError(wrong)
            format_, packed = format_of(names[0])
            check_unpacked(name, path.stat().st_size, archive.getinfo(names[0]).file_size)
            return Source(f"{name}/{names[0]}", format_, archive.read(names[0]), packed, path=name)
    except ZIP_FAULTS as error:
        raise FileError(f"{name}: is not a readable ZIP archive ({error})") from error


def most_unpacked(size: int) -> int:
    """How many bytes a file of ``size`` bytes may take once it is unpacked."""
    return max(LIMITS.unpacked_bytes, LIMITS.unpacked_ratio * size)


def check_unpacked(name: str, size: int, unpacked: int) -> None:
    """Refuse a file of ``size`` bytes whose contents would take far more."""
    if unpacked > most_unpacked(size):
        most = f"{size:,} bytes unpack to {unpacked:,}, more than {LIMITS.unpacked_ratio} times as many"
        raise FileError(f"{name}: {most}; if that is meant, raise NEARFAR_MAX_UNPACKED_RATIO")


def shown_path(path: str | os.PathLike[str]) -> str:
    """A path as pages and messages show it, also where it is not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def refuse_directory(name: str) -> None:
    """Raise an error where a directory was given in place of a file."""
    if os.path.isdir(name):
        pattern = os.path.join(name, "*.csv")
        raise FileError(f"{name}: is a directory; give the files in it, for example {pattern!r}")


def format_of(name: str) -> tuple[str, str | None]:
    """(format, compression) by the extension of a file name.

    >>> format_of("answers.csv.gz"), format_of("answers.parquet")
    (('csv', 'gzip'), ('parquet', None))
    """
    stem, end = os.path.splitext(name)
    packed = PACKED.get(end.lower())
    extension = (os.path.splitext(stem)[1] if packed else end).lower()
    format_ = "jsonl" if extension == ".ndjson" else extension[1:]
    if format_ not in (TEXT if packed else FORMATS):
        whole = extension + end if packed else end
        what = f"unknown extension {whole!r}" if whole else "no extension"
        raise FileError(f"{name}: {what}; expected {KNOWN}")
    return format_, packed


def _kind(start: bytes, kinds: Iterable[str]) -> str | None:
    return next((kind for kind in kinds if start.startswith(MAGIC[kind])), None)


def _from_bytes(name: str, data: bytes) -> Source:
    """Standard input has no extension, so the format is taken from its first bytes."""
    packed = _kind(data, PACKED.values())
    with open_binary(Source(name, "", data, packed)) as stream:
        start = stream.read(1 << 16)
        if (kind := _kind(start, ("parquet", "npy", "npz"))) is not None:
            is_book = kind == "npz" and b"[Content_Types].xml" in start
            return Source(name, "xlsx" if is_book else kind, start + stream.read())
    first = start.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")[0]
    if not first:
        raise FileError(f"{name}: is empty; expected data")
    text = "tsv" if b"\t" in first and b"," not in first else "csv"
    return Source(name, {b"{": "jsonl", b"[": "json"}.get(first[:1], text), data, packed)


@contextmanager
def open_binary(source: Source) -> Iterator[BinaryIO]:
    """The bytes of a source, unpacked; a damaged archive, or one that grows beyond the limit, is a ``FileError``."""
    try:
        with source.open() as raw:
            if source.packed is None:
                yield raw
                return
            size = raw.seek(0, io.SEEK_END)
            raw.seek(0)
            with _unpacked(source, raw) as stream:
                yield _CountedStream(stream, source.name, size)  # type: ignore[misc]
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{source.name}: damaged or cut short ({error}); fetch it again") from error


def _unpacked(source: Source, raw: Any) -> Any:
    if source.packed == "gzip":
        return gzip.open(raw, "rb")
    try:
        zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError as error:
        wrong = "cannot be unpacked, this Python was built without zstd"
        raise FileError(f"{source.name}: {wrong}; pack it with gzip") from error
    return zstd.open(raw, "rb")


class _CountedStream:
    """A stream that refuses to unpack far more than the file holds."""

    def __init__(self, stream: Any, name: str, packed_bytes: int) -> None:
        self._stream, self._name, self._packed, self._read = stream, name, packed_bytes, 0

    def read(self, size: int = -1) -> bytes:
        try:
            data: bytes = self._stream.read(most_unpacked(self._packed) + 1 if size < 0 else size)
        except Exception as error:
            if type(error).__name__ != "ZstdError":  # of whichever library there is
                raise
            raise EOFError(str(error)) from error
        self._read += len(data)
        check_unpacked(self._name, self._packed, self._read)
        return data


UNDECODABLE = "undecodable bytes"
UTF8 = "text in UTF-8 (if it is Latin-1 or Windows-1252, save it again as UTF-8, in Excel 'CSV UTF-8')"


class Window:
    """The bytes that are not read yet. Positions count from the first of them; ``line`` is its line."""

    def __init__(self, name: str, stream: BinaryIO, line: int = 1) -> None:
        self.name, self.line, self.position = name, line, 0  # the position in the whole stream
        self._stream, self._data, self._at, self._ended = stream, b"", 0, False

    def __len__(self) -> int:
        return len(self._data) - self._at

    def fill(self, size: int) -> bool:
        """Have at least ``size`` bytes at hand, or all that are left; False where none are."""
        while len(self) < size and not self._ended:
            more = self._stream.read(max(size - len(self), 1 << 16))
            self._ended = not more
            self._data, self._at = self._data[self._at :] + more if len(self) else more, 0
        return len(self) > 0

    def peek(self, start: int, stop: int) -> bytes:
        """Some bytes that are at hand."""
        return self._data[self._at + start : self._at + stop]

    def chunk(self, size: int) -> bytes:
        """Whole lines of about ``size`` bytes, or one line."""
        self.fill(size)
        end = self._data.rfind(b"\n", self._at) + 1 - self._at
        return self.peek(0, end if end > 0 else self.line_end(0))

    def reaches_end(self, stop: int) -> bool:
        """Whether nothing comes after position ``stop``."""
        self.fill(stop + 1)
        return len(self) <= stop

    def line_end(self, start: int) -> int:
        """Where the line that holds position ``start`` ends, its newline included."""
        self.fill(start + 1)
        seen, ended = start, False
        while (end := self._data.find(b"\n", self._at + seen)) < 0 and not ended:
            if len(self) - start > LIMITS.line_bytes:
                most = f"a line is longer than {LIMITS.line_bytes:,} bytes"
                raise FileError(f"{self.name}: {most}; if that is meant, raise NEARFAR_MAX_LINE_BYTES")
            seen = len(self)
            ended = self.reaches_end(2 * seen)  # twice as much at a time
        return len(self) if end < 0 else end + 1 - self._at

    def advance(self, size: int, lines: int) -> None:
        """Leave ``size`` bytes behind, which are ``lines`` lines."""
        self.fill(size)
        self._at += size
        self.position += size
        self.line += lines


@contextmanager
def open_window(source: Source) -> Iterator[Window]:
    """The text of a source, without a byte order mark."""
    with open_binary(source) as stream:
        window = Window(source.name, stream)
        window.fill(3)
        if window.peek(0, 3) == BYTE_ORDER_MARK:
            window.advance(3, 0)
        yield window


def decode(line: bytes, code: str = "utf-8") -> str | None:
    """The text of bytes; None where they are not in that code."""
    try:
        return line.decode(code)
    except UnicodeDecodeError:
        return None


def as_utf8(source: Source) -> tuple[Source, str] | None:
    """A text as UTF-8 whose bytes are UTF-16 or Windows-1252 (Latin-1 and more), and which; None where they are UTF-8, or damaged.

    Text in UTF-8 has other bytes than 1252 has letters for, or pairs of them; a stray byte among them is a damage.
    """
    if source.format not in TEXT:
        return None
    with open_binary(source) as stream:
        data = stream.read()
    is_sound = decode(data) is not None or b"\xff" in data or not data.decode("utf-8", "ignore").isascii()
    code, called = "cp1252", "Latin-1 (Windows-1252); check names with accents"
    if data.startswith(UTF16):
        code, called = "utf-16", "UTF-16"
    elif is_sound:
        return None
    text = decode(data, code)
    return None if text is None else (replace(source, data=text.encode(), packed=None), called)


def escaped(line: bytes) -> str:
    """The beginning of a line, in quotes, with bytes that are not UTF-8 written as ``\\xff``."""
    return f"'{line.strip().decode('utf-8', 'backslashreplace')[:80]}'"
