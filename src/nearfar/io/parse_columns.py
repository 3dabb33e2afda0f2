"""Cells -> columns: objects and participants become small codes, times and response times become numbers."""

from __future__ import annotations

from typing import Any

import polars as pl

from nearfar.io.dialects import Grammar
from nearfar.io.naming import Naming, Vocabulary

__all__ = ["parse_columns"]

SMALL_INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)  # that Int64 holds
DECIMAL_COMMA = r"^(-?\d*),(\d+)$"
UNKNOWN = ("NA", "nan", "NaN", "null", "None", "")
DATES = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d")


def parse_columns(
    frame: pl.DataFrame, grammar: Grammar, naming: Naming, people: Vocabulary, *, decimal_comma: bool = False
) -> pl.DataFrame:
    """The columns of a grammar, one row per row of ``frame``.

    Objects are ids, null where blank, negative where refused; participants are coded text of ``people``; ``seconds``,
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
            words = people if role == "participant" else naming.vocabulary
            if dtype == words.dtype:
                coded[role] = cell
            elif dtype in SMALL_INTEGERS:
                numbers = cell.cast(pl.Int64)
                coded[role] = numbers.map_batches(words.of_numbers, return_dtype=words.dtype)
            else:
                chosen[role] = _text(_without_nan(cell, dtype, role), dtype).cast(words.dtype)
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
            chosen |= _times(cell, dtype)
        else:
            chosen[role] = _text(cell, dtype)
    columns = {**frame.select_seq(**coded).to_dict(), **frame.select(**chosen).to_dict()}
    return pl.DataFrame(columns | {role: naming.ids(columns[role].to_physical()) for role in grammar.objects})


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


def _times(cell: pl.Expr, dtype: Any) -> dict[str, pl.Expr]:
    """(seconds since 1970 UTC, which cells cannot be read); dates without a zone are taken as UTC.

    Each cell is judged alone, so that the result does not depend on how a file is cut. A time that cannot be read
    does not make an answer less of one: the time is unknown, and the reader warns.
    """
    if dtype == pl.Date:
        cell = cell.cast(pl.Datetime("us"))
    if dtype.is_temporal():
        return {"answered_at": cell.dt.epoch("us") / 1e6, "bad_answered_at": pl.lit(False)}
    if dtype.is_numeric():
        return {"answered_at": cell.cast(pl.Float64), "bad_answered_at": pl.lit(False)}
    text = cell.cast(pl.String)
    known = pl.when(~text.is_in(UNKNOWN)).then(text)
    times = pl.coalesce(known.cast(pl.Float64, strict=False), _date(known))
    return {"answered_at": times, "bad_answered_at": known.is_not_null() & times.is_null()}


def _date(text: pl.Expr) -> pl.Expr:
    """Seconds of a date; null where it is none."""
    text = text.str.strip_chars().str.replace(r"(\d)T(\d)", "$1 $2")
    text = text.str.replace(r" ?(Z|UTC|GMT)$", "+00:00")
    zone = text.str.extract_groups(r"(?<sign>[+-])(?<hours>\d\d):?(?<minutes>\d\d)$")
    minutes = zone.struct["hours"].cast(pl.Int64) * 60 + zone.struct["minutes"].cast(pl.Int64)
    shift = pl.when(zone.struct["sign"] == "-").then(-minutes).otherwise(minutes).fill_null(0) * 60
    local = text.str.replace(r" ?[+-]\d\d:?\d\d$", "")
    dates = [local.str.to_datetime(form, strict=False, time_unit="us") for form in DATES]
    return pl.coalesce(dates).dt.epoch("us") / 1e6 - shift
