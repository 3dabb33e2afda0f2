"""The columns of a data frame of any library, as keyword arguments of ``Triplets``."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from nearfar.errors import TripletError
from nearfar.labels import order_names

__all__ = ["frame_columns"]

ROLES = ("anchor", "near", "far")
OPTIONAL = ("participant", "seconds", "near_side", "answered_at")


def frame_columns(frame: Any) -> dict[str, Any]:
    """Names become indices, in their natural order; optional columns are taken where present."""
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    missing = [role for role in ROLES if role not in table.columns]
    if missing:
        raise TripletError(
            f"data frame: column {missing[0]!r} is missing (it has {', '.join(map(str, table.columns))}); "
            "expected anchor, near and far",
        )
    roles = {role: _names(table[role].to_list(), role) for role in ROLES}
    objects = order_names([name for names in roles.values() for name in names])
    index = {name: i for i, name in enumerate(objects)}
    columns: dict[str, Any] = {role: [index[name] for name in names] for role, names in roles.items()}
    columns["objects"] = objects
    columns |= {name: table[name].to_list() for name in OPTIONAL if name in table.columns}
    if "statement" in table.columns:
        columns["statement"] = _statement_ids(table["statement"].to_list())
    return columns


def _names(values: list[Any], role: str) -> list[str]:
    for row, value in enumerate(values):
        if _is_blank(value):
            raise TripletError(
                f"data frame, row {row}: {role} is {value!r}; expected the name of an object",
            )
    return [str(int(value)) if _is_whole(value) else str(value) for value in values]


def _statement_ids(values: list[Any]) -> list[Any]:
    """The ids of a column; a blank cell is a statement of its own."""
    known = {value for value in values if not _is_blank(value)}
    if all(map(_is_whole, known)):
        numbers = count(int(max(known, default=-1)) + 1)
        return [next(numbers) if _is_blank(value) else int(value) for value in values]
    taken = set(map(str, known))
    names = (name for name in map("row {}".format, count()) if name not in taken)
    return [next(names) if _is_blank(value) else str(value) for value in values]


def _is_blank(value: object) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _is_whole(value: object) -> bool:
    """Whether it is a whole number, perhaps written 3.0 because another cell of the column is empty."""
    if isinstance(value, (float, np.floating)):
        return float(value).is_integer()
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
