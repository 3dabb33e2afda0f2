"""Cells -> columns: objects and participants become small codes, times and response times become numbers."""

from __future__ import annotations

from typing import Any

import polars as pl

from nearfar.io.dialects import Grammar
from nearfar.io.naming import Naming, Vocabulary
from nearfar.io.times import parse_times

__all__ = ["parse_columns"]

SMALL_INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)  # that Int64 holds
DECIMAL_COMMA = r"^(-?\d*),(\d+)$"
UNKNOWN = ("NA", "nan", "NaN", "null", "None", "")


def parse_columns(
    frame: pl.DataFrame, grammar: Grammar, naming: Naming, people: Vocabulary, *, decimal_comma: bool = False
) -> pl.DataFrame:
    """The columns of a grammar, one row per row of ``frame``.

    Objects are ids, null where blank, negative where refused; participants are codes of ``people``; ``seconds``,
    ``near_side`` and ``answered_at`` are numbers, with a column ``bad_...`` that marks cells which are none; all else
    is text, or whole numbers where the table has such. With ``decimal_comma``, response times may be written as 1,5.
    """
    chosen: dict[str, pl.Expr] = {}
    coded: dict[str, pl.Expr] = {}  # by the parser already, so that there is no work to divide
    for role, position in grammar.columns.items():
        dtype = frame.schema[f"c{position}"]
        cell = pl.col(f"c{position}")
        if grammar.blanks and dtype == pl.String:
            cell = pl.when(~cell.is_in(grammar.blanks)).then(cell)
        if role in grammar.objects or role == "participant":
            words = people.dtype if role == "participant" else naming.dtype
            if dtype == words:
                coded[role] = cell.to_physical()
            elif dtype in SMALL_INTEGERS:
                chosen[role] = cell.cast(pl.Int64)
            else:
                chosen[role] = _text(_without_nan(cell, dtype, role), dtype).cast(words).to_physical()
        elif role == "statement" and dtype in SMALL_INTEGERS:
            chosen[role] = cell.cast(pl.Int64)
        elif role == "statement":
            chosen[role] = _text(_without_nan(cell, dtype, role), dtype)
        elif role == "seconds":
            point = cell.str.replace(DECIMAL_COMMA, "$1.$2") if decimal_comma else cell
            chosen |= _number(role, point, dtype)
        elif role == "near_side":
            chosen |= _side(_text(cell, dtype))
        elif role == "answered_at":
            chosen |= parse_times(cell, dtype)
        else:
            chosen[role] = _text(cell, dtype)
    columns = {**frame.select_seq(**coded).to_dict(), **frame.select(**chosen).to_dict()}
    if "participant" in columns and columns["participant"].dtype == pl.Int64:
        columns["participant"] = people.codes_of_numbers(columns["participant"])
    return pl.DataFrame(columns | {role: naming.ids(columns[role]) for role in grammar.objects})


def _without_nan(cell: pl.Expr, dtype: Any, role: str) -> pl.Expr:
    """Of ids that are numbers, NaN is a blank; as an object it is refused."""
    return cell.fill_nan(None) if dtype.is_float() and role in ("participant", "statement") else cell


def _text(cell: pl.Expr, dtype: Any) -> pl.Expr:
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
    word = cell.str.to_lowercase()
    side = pl.when(word.is_in(["left", "0"])).then(0).when(word.is_in(["right", "1"])).then(1)
    unknown = word.is_null() | (word == "-1")
    return {"near_side": side.cast(pl.Int8), "bad_near_side": side.is_null() & ~unknown}
