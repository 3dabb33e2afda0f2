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
        footer, _ = _structure(stream.read(length), 0)
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
            return _structure(data, 0)
        except IndexError:
            if len(data) < size:
                raise
    raise ValueError("a page header is too long")


# -------------------------------------------------------------------- Thrift's compact protocol


def _structure(data: bytes, at: int) -> tuple[dict[int, Any], int]:
    """A structure by the numbers of its fields, and where it ends: type and step to the next number; 0 ends it."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(data, at)
        fields[number], at = _value(data, at, head & 15)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2):  # the type of a field is its truth value
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, 5, 6):
        return _integer(data, at)
    if kind in (7, 8):  # floats and text are passed over
        length, at = (8, at) if kind == 7 else _natural(data, at)
        if at + length > len(data):
            raise IndexError("text ends beyond the data")
        return None, at + length
    if kind in (9, 10):
        head, at = data[at], at + 1
        length, at = _natural(data, at) if head >> 4 == 15 else (head >> 4, at)
        items = []
        for _ in range(length):  # truth values have a byte each here
            item, at = _value(data, at, 3 if head & 15 in (1, 2) else head & 15)
            items.append(item)
        return items, at
    if kind == 12:
        return _structure(data, at)
    raise ValueError(f"there is no type {kind}")


def _natural(data: bytes, at: int) -> tuple[int, int]:
    """Seven bits per byte, the lowest first, as long as the eighth is set."""
    number = shift = 0
    while data[at] & 128:
        number |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
    return number | data[at] << shift, at + 1


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """Zigzag: 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ..."""
    number, at = _natural(data, at)
    return (number >> 1) ^ -(number & 1), at
