"""Tables whose cells are already indices: whole numbers from 0 to n - 1 need no dictionary of names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar.io._sheet import Sheet, collect_batches
from nearfar.io.dialects import Plan

__all__ = ["Doubt", "holds_indices", "index_batches", "sound_indices"]

ROLES = ("anchor", "near", "far")


class Doubt(Exception):
    """Some row is no answer: it must be read with care, to say which."""


def holds_indices(sheet: Sheet, plan: Plan) -> bool:
    """Whether every row is a triplet of whole numbers and nothing else, in a table whose cells have types."""
    if not sheet.typed or set(plan.columns) != set(ROLES) or plan.objects != ROLES or plan.first_index:
        return False
    schema = sheet.scan(plan.has_header).collect_schema()
    return all(schema[f"c{plan.columns[role]}"].is_integer() for role in ROLES)


def index_batches(sheet: Sheet, plan: Plan, n_objects: int, rows: int) -> Iterator[list[NDArray[np.int32]]]:
    """(anchor, near, far) of every batch of at most ``rows`` rows; ``Doubt`` where one is no answer."""
    table = sheet.scan(plan.has_header).select(pl.col(f"c{plan.columns[role]}").alias(role) for role in ROLES)
    for frame in collect_batches(table, rows, expected=sheet.n_rows):
        if any(frame[role].has_nulls() for role in ROLES):
            raise Doubt
        yield sound_indices([frame[role].to_numpy() for role in ROLES], n_objects)


def sound_indices(columns: list[NDArray[Any]], n_objects: int) -> list[NDArray[np.int32]]:
    """The same as small integers that nobody else holds; ``Doubt`` where a row is no triplet of n objects."""
    if any(len(column) and (column.min() < 0 or column.max() >= n_objects) for column in columns):
        raise Doubt
    anchor, near, far = (column.astype(np.int32, copy=not column.flags.writeable) for column in columns)
    if ((anchor == near) | (near == far) | (anchor == far)).any():
        raise Doubt
    for column in (anchor, near, far):
        column.flags.writeable = False
    return [anchor, near, far]
