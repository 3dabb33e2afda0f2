"""Triplets as the columns of a table: what the writers of the dialects share."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar.errors import TripletError
from nearfar.labels import Labels
from nearfar.triplets import LEFT, RIGHT, UNKNOWN_SIDE, Triplets

__all__ = ["left_and_right", "names", "optional_columns", "statements"]

SIDE_WORDS = pl.Series(["left", "right"])


def names(triplets: Triplets, indices: NDArray[Any]) -> pl.Series:
    """The names of objects, as an enumeration that holds the whole object list."""
    listed = pl.Series(triplets.objects, dtype=pl.String)
    return listed.gather(pl.Series(indices)).cast(pl.Enum(listed))


def optional_columns(triplets: Triplets, **renamed: str) -> dict[str, pl.Series]:
    """What is known beyond the triplets, under our own names unless ``renamed``; null where not known."""
    columns: dict[str, pl.Series] = {}
    for role in ("statement", "participant"):
        labels: Labels | None = getattr(triplets, role)
        if labels is not None:
            listed = pl.Series(labels.names.tolist(), dtype=pl.Int64 if labels.is_numeric else pl.String)
            columns[role] = listed.gather(pl.Series(labels.codes))
    for role in ("seconds", "answered_at"):
        numbers = getattr(triplets, role)
        if numbers is not None:
            columns[role] = pl.Series(numbers, nan_to_null=True)
    if triplets.near_side is not None:
        side = pl.Series(triplets.near_side)
        columns["near_side"] = SIDE_WORDS.gather(side.set(side == UNKNOWN_SIDE, None))
    return {renamed.get(role, role): column for role, column in columns.items()}


def left_and_right(triplets: Triplets) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What was shown at either side; where that is not known, ``near`` stands on the left."""
    side = np.full(len(triplets), LEFT) if triplets.near_side is None else triplets.near_side
    swap = side == RIGHT
    return np.where(swap, triplets.far, triplets.near), np.where(swap, triplets.near, triplets.far)


def statements(triplets: Triplets, kind: str) -> tuple[Triplets, Triplets]:
    """The two triplets of every statement, side by side; an error where the statements are of another kind.

    An ``odd-one-out`` statement is (a, b, odd) and (b, a, odd); ``most-central`` is (a, central, b) and
    (b, central, a).
    """
    ids = triplets.statement_ids
    order = np.argsort(ids, kind="stable")
    first, second = order[0::2], order[1::2]
    if len(order) % 2 == 0 and (ids[first] == ids[second]).all() and len(np.unique(ids[first])) == len(first):
        by_appearance = np.argsort(first)
        one, two = triplets[first[by_appearance]], triplets[second[by_appearance]]
        if kind == "odd-one-out":
            fits = (one.anchor == two.near) & (one.near == two.anchor) & (one.far == two.far)
        else:
            fits = (one.anchor == two.far) & (one.near == two.near) & (one.far == two.anchor)
        if fits.all():
            return one, two
    raise TripletError(
        f"the answers are not all {kind} statements, which are two triplets each; "
        "write them in the dialect canonical",
    )
