"""Cells -> columns: objects and participants become small codes while the file streams by."""

from __future__ import annotations

from typing import Any

import polars as pl

from nearfar.io._sheet import Sheet, mark_blanks
from nearfar.io.dialects import Plan

__all__ = ["UNKNOWN", "Vocabulary", "take"]

LABELS = ("statement", "participant")
UNKNOWN = ("NA", "nan", "NaN", "null", "None")


class Vocabulary:
    """Names seen so far; the code of a name never changes. Code 0 is the empty name."""

    def __init__(self) -> None:
        self._categories = pl.Categories.random()
        self.dtype = pl.Categorical(self._categories)
        self._anchor = pl.Series([""], dtype=self.dtype)  # polars forgets the names that no series uses

    def __len__(self) -> int:
        return len(self._categories.to_series())

    def names(self) -> list[str]:
        """All names, in the order of their codes."""
        listed: list[str] = self._categories.to_series().to_list()
        return listed


def take(sheet: Sheet, plan: Plan, objects: Vocabulary, people: Vocabulary) -> pl.LazyFrame:
    """The columns of a plan, for all rows of a sheet.

    Objects and text participants are codes; ``seconds`` and ``near_side`` are numbers, with a column
    ``bad_...`` that marks cells which are none; ``blank`` marks rows without any cell, ``short`` rows
    whose last cell is blank; all else is text or as typed.
    """
    table = sheet.scan(plan.has_header)
    schema = table.collect_schema()
    chosen: dict[str, pl.Expr] = {}
    for role, position in plan.columns.items():
        dtype = schema[f"c{position}"]
        cell = _without(pl.col(f"c{position}"), dtype, plan.blanks)
        if role in plan.objects:
            chosen[role] = _name(cell, dtype).cast(objects.dtype).to_physical()
        elif role in LABELS and dtype.is_integer():
            chosen[role] = cell.cast(pl.Int64)
        elif role == "participant":
            chosen[role] = _name(cell, dtype).cast(people.dtype).to_physical()
        elif role == "seconds":
            chosen |= _number(role, cell, dtype)
        elif role == "near_side":
            chosen |= _side(cell)
        elif role == "answered_at" and (dtype.is_temporal() or dtype.is_numeric()):
            chosen[role] = _epoch(cell, dtype)
        else:
            chosen[role] = _name(cell, dtype)
    return table.select(**chosen, **mark_blanks(len(sheet.header)))


def _without(cell: pl.Expr, dtype: Any, blanks: tuple[str, ...]) -> pl.Expr:
    if not blanks or dtype != pl.String:
        return cell
    return pl.when(~cell.is_in(blanks)).then(cell)


def _name(cell: pl.Expr, dtype: Any) -> pl.Expr:
    """As text; 3.0, which a missing value elsewhere makes of 3, is '3'."""
    if dtype == pl.String:
        return cell
    if dtype.is_float():
        whole = cell.cast(pl.Int64, strict=False).cast(pl.String)
        return pl.when(cell.is_finite() & (cell == cell.round(0))).then(whole).otherwise(cell.cast(pl.String))
    return cell.cast(pl.String)


def _number(role: str, cell: pl.Expr, dtype: Any) -> dict[str, pl.Expr]:
    number = cell.cast(pl.Float64, strict=False)
    bad = cell.is_not_null() & number.is_null()
    if dtype == pl.String:
        bad &= ~cell.is_in(UNKNOWN)
    return {role: number, f"bad_{role}": bad}


def _side(cell: pl.Expr) -> dict[str, pl.Expr]:
    word = cell.cast(pl.String).str.to_lowercase()
    side = pl.when(word.is_in(["left", "0"])).then(0).when(word.is_in(["right", "1"])).then(1)
    unknown = word.is_null() | (word == "-1")
    return {"near_side": side.cast(pl.Int8), "bad_near_side": side.is_null() & ~unknown}


def _epoch(cell: pl.Expr, dtype: Any) -> pl.Expr:
    if dtype == pl.Date:
        cell = cell.cast(pl.Datetime("us"))
    return cell.dt.epoch("us") / 1e6 if dtype.is_temporal() else cell.cast(pl.Float64)
