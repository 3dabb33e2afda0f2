"""Which object a cell means: by its name, or by its number where the dialect counts objects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from nearfar.errors import FileError
from nearfar.labels import order_names

__all__ = ["Naming", "name_by_index", "name_by_name"]

NAN = ("NaN", "nan")
WHOLE = re.compile(r"(\d+)(\.0*)?")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
MOST_OBJECTS = 20_000_000  # without an object list; a larger index is a slip, and would fill the memory


@dataclass(frozen=True)
class Naming:
    """What each code of a vocabulary means; code 0, the empty name, means nothing.

    ``index`` is the object a code means, -1 where it means none; ``why`` then says why not, as a position in
    ``reasons`` (reason, what was expected).
    """

    objects: tuple[str, ...]
    index: pl.Series
    why: pl.Series
    reasons: tuple[tuple[str, str], ...]


def name_by_name(names: Sequence[str], listed: Sequence[str] | None, *, numeric: bool = False) -> Naming:
    """Cells are names: of ``listed`` objects, or of whatever occurs. ``numeric`` cells must be whole numbers."""
    known = None if listed is None else {name: i for i, name in enumerate(listed)}
    verdicts = [_judge_name(name, known, numeric) for name in names]
    if known is None:
        sound = [name for name, verdict in zip(names, verdicts, strict=True) if verdict is None]
        listed = order_names(sound)
        known = {name: i for i, name in enumerate(listed)}
    index = [known[name] if verdict is None else -1 for name, verdict in zip(names, verdicts, strict=True)]
    return _naming(listed or (), index, verdicts)


def _judge_name(name: str, known: dict[str, int] | None, numeric: bool) -> tuple[str, str] | None:
    if not name.strip():
        return "blank cell", "the name of an object"
    if known is not None:
        listed = f"one of the {len(known)} listed objects"
        return None if name in known else ("not in the object list", listed)
    if name in NAN:
        return "NaN", "the name of an object (if one is called so, give the object list)"
    return _judge_number(name) if numeric else None


def name_by_index(
    names: Sequence[str], first: int, own: Sequence[str] | None, listed: Sequence[str] | None, *, source: str
) -> Naming:
    """Cells are numbers, counted from ``first``, into the source's ``own`` object list or the ``listed`` one."""
    table = own if own is not None else listed
    count = None if table is None else len(table)
    verdicts = [_judge_index(name, first, count) for name in names]
    index = [
        int(name.split(".")[0]) - first if v is None else -1 for name, v in zip(names, verdicts, strict=True)
    ]
    if table is None:
        count = max(index, default=-1) + 1
        if count > MOST_OBJECTS:
            raise FileError(
                f"{source}: the largest index is {count - 1 + first:,}; expected fewer than {MOST_OBJECTS:,} objects, "
                "give the object list if there are more",
            )
        return _naming([str(i + first) for i in range(count)], index, verdicts)
    if own is None or listed is None or own == listed:
        return _naming(table, index, verdicts)
    moved = name_by_name([own[i] if i >= 0 else own[0] for i in index], listed)
    verdicts = [
        verdict or (None if i >= 0 else moved.reasons[why])
        for verdict, i, why in zip(verdicts, moved.index[1:], moved.why[1:], strict=True)
    ]
    places = [i if v is None else -1 for i, v in zip(moved.index[1:], verdicts, strict=True)]
    return _naming(listed, places, verdicts)


def _judge_index(name: str, first: int, count: int | None) -> tuple[str, str] | None:
    expected = f"a whole number from {first}" + ("" if count is None else f" to {count - 1 + first}")
    if not name.strip():
        return "blank cell", expected
    if name in NAN:
        return "NaN", expected
    wrong = _judge_number(name)
    if wrong is not None:
        return wrong[0], expected
    value = int(name.split(".")[0]) - first
    if value < 0 or (count is not None and value >= count):
        return "index beyond the object list", expected
    return None


def _judge_number(name: str) -> tuple[str, str] | None:
    if WHOLE.fullmatch(name):
        return None
    if not NUMBER.fullmatch(name):
        return "no index", "a whole number"
    return "negative index" if name.startswith("-") else "fractional index", "a whole number from 0"


def _naming(
    objects: Sequence[str], index: Sequence[int], verdicts: Sequence[tuple[str, str] | None]
) -> Naming:
    reasons = tuple(dict.fromkeys(verdict for verdict in verdicts if verdict is not None))
    position = {reason: i for i, reason in enumerate(reasons)}
    why = [-1 if verdict is None else position[verdict] for verdict in verdicts]
    return Naming(
        tuple(objects),
        pl.Series([None, *index], dtype=pl.Int32),
        pl.Series([-1, *why], dtype=pl.Int32),
        reasons,
    )
