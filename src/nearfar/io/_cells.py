"""Cells -> labels (statements, participants) and points in time."""

from __future__ import annotations

import warnings
from itertools import count

import numpy as np
import polars as pl

from nearfar.errors import NearfarWarning
from nearfar.io._take import UNKNOWN, Vocabulary
from nearfar.labels import Labels

__all__ = ["as_numbers", "parse_times", "person_labels", "statement_labels"]

WHOLE_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"  # as Python writes it: 007 is a name
DATES = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%d")


def statement_labels(cells: pl.Series, *, typed: bool) -> Labels:
    """Ids of statements: whole numbers where all are, else text; a blank cell is a statement of its own."""
    if not typed:
        cells = as_numbers(cells)
    blank = np.flatnonzero(cells.is_null().to_numpy())
    if cells.dtype.is_integer():
        values = cells.fill_null(0).to_numpy()
        if len(blank):
            values = values.copy()
            values[blank] = np.arange(len(blank)) + int(values.max()) + 1
        return Labels.encode(values)
    words = Vocabulary()
    codes = cells.cast(words.dtype).to_physical().fill_null(0).to_numpy()
    names = words.names()
    if len(blank):
        taken = set(names)
        free = (name for name in map("row {}".format, count(1)) if name not in taken)
        codes = codes.copy()
        codes[blank] = np.arange(len(blank)) + len(names)
        names += [next(free) for _ in blank]
    return _labels(codes, pl.Series(names, dtype=pl.String))


def person_labels(cells: pl.Series, people: Vocabulary, *, numbers: bool) -> Labels:
    """Participants, '' where a cell is blank; as ``numbers`` if that is wanted and all are whole numbers."""
    if cells.dtype == pl.Int64:
        if numbers and not cells.has_nulls():
            return Labels.encode(cells.to_numpy())
        cells = cells.cast(pl.String).cast(people.dtype).to_physical()
    codes = cells.fill_null(0).to_numpy()
    names = pl.Series(people.names(), dtype=pl.String)
    return _labels(codes, names, numbers=numbers)


def _labels(codes: np.ndarray, names: pl.Series, *, numbers: bool = False) -> Labels:
    """Labels with the names that occur, in order."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    present = names.gather(used)
    if numbers:
        present = as_numbers(present)
    order = present.arg_sort()
    rank = np.zeros(len(names), dtype=np.int32)
    rank[used[order.to_numpy()]] = np.arange(len(used), dtype=np.int32)
    return Labels.from_codes(rank[codes], present.gather(order).to_list())


def as_numbers(text: pl.Series) -> pl.Series:
    """Whole numbers if every text is one, blanks apart."""
    if text.dtype != pl.String:
        return text
    numbers = text.cast(pl.Int64, strict=False)
    if numbers.null_count() != text.null_count() or not text.str.contains(WHOLE_NUMBER).all():
        return text
    return numbers


def parse_times(cells: pl.Series, *, source: str) -> tuple[pl.Series, pl.Series]:
    """(seconds since 1970 UTC, which cells are no time); ISO dates without a zone are taken as UTC.

    If not one cell can be understood the column is in a format of its own: a warning, and no times.
    """
    if cells.dtype == pl.Float64:
        return cells, pl.repeat(False, len(cells), eager=True)
    known = cells.set(cells.is_in(UNKNOWN), None)
    times = known.cast(pl.Float64, strict=False)
    rest = known.is_not_null() & times.is_null()
    if rest.any():
        times = times.scatter(rest.arg_true(), _parse_dates(known.filter(rest)))
        rest = known.is_not_null() & times.is_null()
        if rest.any() and times.null_count() == len(times):
            came = known.filter(rest)[0]
            warnings.warn(
                f"{source}: times such as {came!r} cannot be understood, so answered_at is not known; "
                "expected seconds since 1970 or a date like 2024-05-31 13:45:00",
                NearfarWarning,
                stacklevel=2,
            )
            rest = pl.repeat(False, len(cells), eager=True)
    return times, rest


def _parse_dates(text: pl.Series) -> pl.Series:
    frame = text.str.strip_chars().str.replace(r"(\d)T(\d)", "$1 $2").to_frame("text")
    frame = frame.with_columns(pl.col("text").str.replace(r" ?(Z|UTC|GMT)$", "+00:00"))
    zone = pl.col("text").str.extract_groups(r"(?<sign>[+-])(?<hours>\d\d):?(?<minutes>\d\d)$")
    minutes = zone.struct["hours"].cast(pl.Int64) * 60 + zone.struct["minutes"].cast(pl.Int64)
    shift = pl.when(zone.struct["sign"] == "-").then(-minutes).otherwise(minutes).fill_null(0) * 60
    local = pl.col("text").str.replace(r" ?[+-]\d\d:?\d\d$", "")
    dates = [local.str.to_datetime(form, strict=False, time_unit="us") for form in DATES]
    return frame.select(pl.coalesce(dates).dt.epoch("us") / 1e6 - shift).to_series()
