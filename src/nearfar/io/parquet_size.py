"""How much memory a Parquet file takes, told by the headers of its pages before any of them is unpacked.

The totals in the footer are what the writer claims. A reader makes room for what the page headers say, so these are added
up. A page of a few bytes may also stand for any number of equal values, which take room once they are decoded.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO

DAMAGED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
VALUE_BYTES = (1, 4, 8, 12, 4, 8, 16)  # by the number of a type; of text the reference to it
# The numbers of the fields in parquet.thrift
SCHEMA, ROW_GROUPS, LEAF_LENGTH, CHILDREN, COLUMNS, META = 2, 4, 2, 5, 1, 3
TYPE, VALUES, UNPACKED, PACKED, DATA_AT, DICTIONARY_AT = 1, 5, 6, 7, 9, 11
PAGE_UNPACKED, PAGE_PACKED, DATA_PAGES, PAGE_VALUES = 2, 3, (5, 8), 1


def unpacked_size(stream: BinaryIO) -> int:
    """Bytes of all pages once unpacked, and of all values once decoded; a ValueError where that cannot be told."""
    try:
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
    except DAMAGED as error:
        raise ValueError(f"the footer or a page is damaged ({error})") from error


def _column_size(stream: BinaryIO, meta: dict[int, Any], leaf: dict[int, Any]) -> int:
    """Of one column of one row group; from a page that cannot be read on, what the footer claims."""
    at = meta[DATA_AT]
    if 0 < meta.get(DICTIONARY_AT, 0) < at:
        at = meta[DICTIONARY_AT]
    end, unpacked, values = at + meta[PACKED], 0, 0
    while at < end:
        try:
            page, length = _page_header(stream, at)
            sizes = page[PAGE_UNPACKED], page[PAGE_PACKED]
            count = next((page[kind].get(PAGE_VALUES, 0) for kind in DATA_PAGES if kind in page), 0)
        except DAMAGED:
            unpacked = max(unpacked, meta[UNPACKED])
            break
        if min(*sizes, count) < 0:
            raise ValueError("a page of less than nothing")
        unpacked, values, at = unpacked + sizes[0], values + count, at + length + sizes[1]
    width: int = VALUE_BYTES[meta[TYPE]] if meta[TYPE] < len(VALUE_BYTES) else leaf.get(LEAF_LENGTH, 0)
    return int(unpacked + width * max(values, meta[VALUES]))


def _page_header(stream: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """A header and its length; it holds statistics, which may be long."""
    for size in (1 << 10, 1 << 24):
        stream.seek(at)
        data = stream.read(size)
        try:
            thrift = _Thrift(data)
            return thrift.structure(), thrift.at
        except IndexError:
            if len(data) < size:
                raise
    raise ValueError("a page header is too long")


class _Thrift:
    """Bytes in Thrift's compact protocol, read from position ``at`` on."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def structure(self) -> dict[int, Any]:
        """A structure by the numbers of its fields; each has a type and the step to its number, and 0 ends it."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 15)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):  # the type of a field is its truth value
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind in (7, 8):  # floats and text are passed over
            length = 8 if kind == 7 else self._natural()
            self.at += length
            if self.at > len(self._data):
                raise IndexError("text ends beyond the data")
            return None
        if kind in (9, 10):
            head = self._byte()
            length = self._natural() if head >> 4 == 15 else head >> 4
            item = 3 if head & 15 in (1, 2) else head & 15  # truth values have a byte each here
            return [self._value(item) for _ in range(length)]
        if kind == 12:
            return self.structure()
        raise ValueError(f"there is no type {kind}")

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _natural(self) -> int:
        """Seven bits per byte, the lowest first, as long as the eighth is set."""
        number = shift = 0
        while (byte := self._byte()) & 128:
            number, shift = number | (byte & 127) << shift, shift + 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits")
        return number | byte << shift

    def _integer(self) -> int:
        """Zigzag: 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ..."""
        number = self._natural()
        return (number >> 1) ^ -(number & 1)
