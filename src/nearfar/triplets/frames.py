"""Answers as the columns of a polars table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

    from nearfar.triplets import Triplets
    from nearfar.triplets.ids import Ids

SIDES = ("left", "right")


def named_column(triplets: Triplets, indices: NDArray[Any]) -> pl.Series:
    """The names of objects, as an enumeration that holds the whole object list."""
    import polars as pl

    listed = pl.Series(triplets.objects, dtype=pl.String)
    return listed.gather(pl.Series(indices)).cast(pl.Enum(listed))


def optional_columns(triplets: Triplets, **renamed: str) -> dict[str, pl.Series]:
    """What is known beyond the triplets, under our own names unless ``renamed``; null where not known."""
    import polars as pl

    columns: dict[str, pl.Series] = {}
    for role in ("statement", "participant"):
        if getattr(triplets, role) is not None:
            columns[role] = _named_ids(getattr(triplets, role))
    for role in ("seconds", "answered_at"):
        numbers = getattr(triplets, role)
        if numbers is not None:
            columns[role] = pl.Series(numbers, nan_to_null=True)
    if triplets.near_side is not None:
        side = pl.Series(triplets.near_side)
        columns["near_side"] = pl.Series(SIDES).gather(side.set(side < 0, None))
    if triplets.rule is not None:
        rule = _named_ids(triplets.rule).cast(pl.String)
        columns["rule"] = rule.set(rule == "", None)
    return {renamed.get(role, role): column for role, column in columns.items()}


def _named_ids(ids: Ids) -> pl.Series:
    import polars as pl

    listed = pl.Series(ids.names.tolist(), dtype=pl.Int64 if ids.is_numeric else pl.String)
    return listed.gather(pl.Series(ids.codes))
