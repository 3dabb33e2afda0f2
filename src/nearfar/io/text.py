"""Text as a window of bytes that moves over a stream, line by line or many lines at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from typing import BinaryIO

from nearfar._tools.limits import LIMITS
from nearfar.errors import FileError
from nearfar.io.sources import Source, open_binary

__all__ = ["BYTE_ORDER_MARK", "UNDECODABLE", "UTF8", "Window", "decode", "escaped", "open_window"]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UNDECODABLE = "undecodable bytes"
UTF8 = "text in UTF-8 (if it is Latin-1 or Windows-1252, save it again as UTF-8, in Excel 'CSV UTF-8')"


class Window:
    """The bytes that are not read yet. Positions count from the first of them; ``line`` is its line."""

    def __init__(self, name: str, stream: BinaryIO, line: int = 1) -> None:
        self.name = name
        self.line = line
        self.position = 0  # in the whole stream
        self._stream = stream
        self._seekable = isinstance(stream, BufferedReader | BytesIO) and stream.seekable()
        self._data = b""
        self._at = 0
        self._ended = False

    def __len__(self) -> int:
        return len(self._data) - self._at

    def fill(self, size: int) -> bool:
        """Have ``size`` bytes at hand and the rest of their last line, or all that are left; False where none are."""
        while len(self) < size and not self._ended:
            wanted = max(size - len(self), 1 << 16)
            more = self._read_lines(wanted)
            self._ended = len(more) < wanted
            self._data, self._at = self._data[self._at :] + more if len(self) else more, 0
        return len(self) > 0

    def _read_lines(self, size: int) -> bytes:
        """The next ``size`` bytes and the rest of their last line; fewer at the end."""
        stream = self._stream
        if self._seekable:  # in one piece, for to put two together copies both
            start = stream.tell()
            stream.seek(start + size)
            size += len(stream.readline(LIMITS.line_bytes))
            stream.seek(start)
            return stream.read(size)
        more = stream.read(size)
        return more if len(more) < size or more.endswith(b"\n") else more + stream.readline(LIMITS.line_bytes)

    def peek(self, start: int, stop: int) -> bytes:
        """Some bytes that are at hand."""
        return self._data[self._at + start : self._at + stop]

    def chunk(self, size: int) -> bytes:
        """About ``size`` bytes, whole lines."""
        self.fill(size)
        return self.peek(0, len(self) if len(self) <= size else self.line_end(size - 1))

    def reaches_end(self, stop: int) -> bool:
        """Whether nothing comes after position ``stop``."""
        self.fill(stop + 1)
        return len(self) <= stop

    def line_end(self, start: int) -> int:
        """Where the line that holds position ``start`` ends, its newline included."""
        seen = start
        while True:
            found = self._data.find(b"\n", self._at + seen)
            if found >= 0:
                return found + 1 - self._at
            seen = len(self)
            if seen - start > LIMITS.line_bytes:
                raise FileError(
                    f"{self.name}: a line is longer than {LIMITS.line_bytes:,} bytes, so it is not a table of "
                    "answers; if that is meant, raise NEARFAR_MAX_LINE_BYTES"
                )
            self.fill(seen + 1)
            if len(self) == seen:
                return seen

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


def decode(line: bytes) -> str | None:
    """The text of UTF-8 bytes; None where they are not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def escaped(line: bytes) -> str:
    """The beginning of a line, in quotes, with bytes that are not UTF-8 written as ``\\xff``."""
    return f"'{line.strip().decode('utf-8', 'backslashreplace')[:80]}'"
