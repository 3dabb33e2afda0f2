"""How much memory a Parquet file takes, told by the headers of its pages before any of them is unpacked.

The totals in the footer are what the writer claims. A reader makes room for what the page headers say, so these are added
up. A page of a few bytes may also stand for any number of equal values, which take room once they are decoded.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO

__all__ = ["DAMAGED", "unpacked_size"]

DAMAGED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What ``unpacked_size`` raises where there is no footer that can be read."""
VALUE_BYTES = {
    0: 1,
    1: 4,
    2: 8,
    3: 12,
    4: 4,
    5: 8,
    6: 16,
}  # by the number of a type; of text the reference to it
FIXED_LENGTH = 7  # the type whose values have the length that the schema says
HEADER_BYTES = (1 << 10, 1 << 16, 1 << 24)  # a header holds statistics, which may be long
# The numbers of the fields in parquet.thrift
SCHEMA, ROW_GROUPS = 2, 4
LEAF_LENGTH, CHILDREN = 2, 5
COLUMNS, META = 1, 3
TYPE, VALUES, UNPACKED, PACKED, DATA_AT, DICTIONARY_AT = 1, 5, 6, 7, 9, 11
PAGE_UNPACKED, PAGE_PACKED, DATA_PAGE, DATA_PAGE_2, PAGE_VALUES = 2, 3, 5, 8, 1


def unpacked_size(stream: BinaryIO) -> int:
    """Bytes of all pages once unpacked, and of all values once decoded."""
    size = stream.seek(-8, os.SEEK_END)
    length = int.from_bytes(stream.read(4), "little")
    stream.seek(size - length)
    footer = _Thrift(stream.read(length)).structure()
    leaves = [element for element in footer[SCHEMA][1:] if not element.get(CHILDREN)]
    return sum(
        _column_size(stream, column[META], leaf)
        for group in footer.get(ROW_GROUPS, [])
        for column, leaf in zip(group[COLUMNS], leaves, strict=True)
    )


def _column_size(stream: BinaryIO, meta: dict[int, Any], leaf: dict[int, Any]) -> int:
    """Of one column of one row group; from a page that cannot be read on, what the footer claims."""
    start = meta[DATA_AT]
    if 0 < meta.get(DICTIONARY_AT, 0) < start:
        start = meta[DICTIONARY_AT]
    at, end, unpacked, values = start, start + meta[PACKED], 0, 0
    try:
        while at < end:
            header, length = _page_header(stream, at)
            if min(header[PAGE_UNPACKED], header[PAGE_PACKED]) < 0:
                raise ValueError("a page of less than no bytes")
            unpacked += header[PAGE_UNPACKED]
            values += header.get(DATA_PAGE, header.get(DATA_PAGE_2, {})).get(PAGE_VALUES, 0)
            at += length + header[PAGE_PACKED]
    except DAMAGED:
        unpacked = max(unpacked, meta[UNPACKED])
    width: int = leaf.get(LEAF_LENGTH, 0) if meta[TYPE] == FIXED_LENGTH else VALUE_BYTES[meta[TYPE]]
    decoded: int = width * max(values, meta[VALUES])
    return unpacked + decoded


def _page_header(stream: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """A header and its length."""
    for size in HEADER_BYTES:
        stream.seek(at)
        data = stream.read(size)
        thrift = _Thrift(data)
        try:
            return thrift.structure(), thrift.at
        except IndexError:
            if len(data) < size:
                raise
    raise ValueError("a page header is too long")


class _Thrift:
    """Thrift's compact protocol: structures as dictionaries by the numbers of their fields, text left out."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def structure(self) -> dict[int, Any]:
        """Field after field: the type and how much its number is above the last one's; 0 ends it."""
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            found[number] = self._value(head & 15)
        return found

    def _value(self, kind: int) -> Any:
        match kind:
            case 1 | 2:  # the type of a field is its value
                return kind == 1
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._integer()
            case 7:
                return self._skip(8)
            case 8:
                return self._skip(self._natural())
            case 9 | 10:
                return self._sequence()
            case 11:
                return self._mapping()
            case 12:
                return self.structure()
        raise ValueError(f"there is no type {kind}")

    def _sequence(self) -> list[Any]:
        head = self._byte()
        length = self._natural() if head >> 4 == 15 else head >> 4
        kind = 3 if head & 15 in (1, 2) else head & 15  # truth values have a byte each here
        return [self._value(kind) for _ in range(length)]

    def _mapping(self) -> None:
        if length := self._natural():
            kinds = self._byte()
            for _ in range(length):
                self._value(kinds >> 4)
                self._value(kinds & 15)

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _skip(self, length: int) -> None:
        self.at += length
        if self.at > len(self.data):
            raise IndexError("text ends beyond the data")

    def _natural(self) -> int:
        """Seven bits per byte, the lowest first, as long as the eighth is set."""
        found = shift = 0
        while (byte := self._byte()) & 128:
            found |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits")
        return found | byte << shift

    def _integer(self) -> int:
        """Zigzag: 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ..."""
        found = self._natural()
        return (found >> 1) ^ -(found & 1)
