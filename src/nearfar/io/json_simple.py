r"""JSON lines of one simple shape, many at a time: what Python's json module would say of them, without it.

Simple lines are flat objects with the same keys in the same order, written alike, without a backslash. Cut at their
quotation marks they make a table: keys and punctuation stand in columns of their own, where every line must have what
the first one has, and numbers between punctuation. Whatever is not so is left to the careful parser.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import numpy as np
import polars as pl

from nearfar.io.table import Cells, cell_names, cell_schema

__all__ = ["SimpleLines", "parse_simple_lines"]

LITERAL = r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|null|true|false)"
BETWEEN = re.compile(f"( ?: ?)(?:{LITERAL})?( ?, ?| ?\\}})?")  # after a key
MOST_KEYS = 64
SPACE = 0x20  # bytes below it are control characters


class SimpleLines(NamedTuple):
    """Cells of so many bytes, with the keys of the columns."""

    cells: Cells
    keys: list[str]
    size: int


class LineShape(NamedTuple):
    """What stands between quotation marks: the same ``text`` in every line, or a ``literal`` between two texts.

    keys : key -> number of the piece that holds its value. literals : number of such a piece -> what stands before
    and behind the literal.
    """

    texts: dict[int, str]
    keys: dict[str, int]
    literals: dict[int, tuple[str, str]]
    width: int


def parse_simple_lines(data: bytes, first_line: int) -> SimpleLines | None:
    r"""The cells of whole lines; None where they are not all simple.

    >>> found = parse_simple_lines(b'{"a": "x", "n": 3.0}\n{"a": "", "n": null}\n', 1)
    >>> found.keys, found.cells.frame.rows()
    (['a', 'n'], [('x', '3'), (None, None)])
    >>> parse_simple_lines(b'{"a": "x", "a": "y"}\n', 1)
    """
    size = len(data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    shape = _shape(data)
    breaks = data.count(b"\n")
    if shape is None or int(np.count_nonzero(np.frombuffer(data, np.uint8) < SPACE)) != breaks:
        return None
    try:
        frame = pl.read_csv(
            data, has_header=False, separator='"', quote_char=None, schema=cell_schema(shape.width)
        )
    except pl.exceptions.PolarsError:  # more values than in the first line, or bytes that are not UTF-8
        return None
    count = breaks + int(not data.endswith(b"\n"))
    names = cell_names(shape.width)
    fits = [pl.col(names[at]) == text for at, text in shape.texts.items()]
    for at, (before, behind) in shape.literals.items():
        fits.append(pl.col(names[at]).str.contains(f"^{re.escape(before)}{LITERAL}{re.escape(behind)}$"))
    if len(frame) != count or not frame.select(pl.all_horizontal(fits).fill_null(False).all()).item():
        return None
    columns = zip(cell_names(len(shape.keys)), shape.keys.values(), strict=True)
    values = frame.select(**{name: _value(names[at], shape.literals.get(at)) for name, at in columns})
    return SimpleLines(Cells(values, count, first_line), list(shape.keys), size)


def _shape(data: bytes) -> LineShape | None:
    """That of the first line, where it is simple."""
    line = data[: data.find(b"\n") % (len(data) + 1)]
    if not line.startswith(b'{"') or b"\\" in data:
        return None
    try:
        pieces = line.decode().split('"')
    except UnicodeDecodeError:
        return None
    shape = LineShape({0: "{"}, {}, {}, len(pieces))
    at = 1
    while at + 1 < len(pieces):
        key, found = pieces[at], BETWEEN.fullmatch(pieces[at + 1])
        if found is None or key in shape.keys or len(shape.keys) == MOST_KEYS:
            return None
        shape.texts[at] = key
        colon, literal, behind = found.groups(default="")
        if literal:
            shape.keys[key] = at + 1
            shape.literals[at + 1] = (colon, behind)
            at += 2
        elif behind or at + 3 >= len(pieces):
            return None
        else:
            shape.texts[at + 1] = colon
            shape.keys[key] = at + 2
            behind = shape.texts[at + 3] = pieces[at + 3]
            at += 4
        if behind.strip(" ") != ("}" if at >= len(pieces) else ","):
            return None
    return shape if at == len(pieces) and _says(line, shape) else None


def _says(line: bytes, shape: LineShape) -> bool:
    """Whether the first line is JSON with these keys."""
    try:
        return list(json.loads(line)) == list(shape.keys)
    except ValueError:
        return False


def _value(name: str, around: tuple[str, str] | None) -> pl.Expr:
    """A cell as the careful parser writes it: a number as it stands, but 3 for 3.0."""
    if around is None:
        return pl.col(name)
    literal = pl.col(name).str.strip_prefix(around[0]).str.strip_suffix(around[1])
    return pl.when(literal != "null").then(literal.str.replace(r"^(-?[0-9]+)\.0+$", "$1"))
