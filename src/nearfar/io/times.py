"""Points in time: seconds since 1970, or dates in the ways that programs write them."""

from __future__ import annotations

from typing import Any

import polars as pl

__all__ = ["parse_times"]

UNKNOWN = ("NA", "nan", "NaN", "null", "None")
DATES = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d")


def parse_times(cell: pl.Expr, dtype: Any) -> dict[str, pl.Expr]:
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
