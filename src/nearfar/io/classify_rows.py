"""Every row is an answer, set aside, rejected with a reason, or blank; and the triplets of the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from nearfar.io.dialects import Aside, Grammar, Refusal
from nearfar.io.naming import Naming

__all__ = ["ROLES", "Classified", "classify_rows", "triplet_rows"]

ROLES = ("anchor", "near", "far")
SKIPS = ("skip", "skipped")
WRONG_CELLS = (
    ("seconds", "not a number", "a number of seconds, or nothing"),
    ("near_side", "not a side", "left, right or nothing"),
)


@dataclass(frozen=True)
class Classified:
    """Rows, and what became of each.

    ``fate`` is 0 for an answer, -1 for a blank row, i > 0 if rejected by ``refusals[i - 1]``, i < -1 if set aside by
    ``asides[-2 - i]``; it is None where every row is an answer.
    """

    rows: pl.DataFrame
    fate: pl.Series | None
    refusals: tuple[Refusal, ...]
    asides: tuple[Aside, ...]

    @property
    def kept(self) -> pl.DataFrame:
        """The rows that are answers."""
        return self.rows if self.fate is None else self.rows.filter(self.fate == 0)

    def with_fate(self, number: int) -> pl.Series:
        """The numbers of some rows."""
        return pl.Series(dtype=pl.UInt32) if self.fate is None else (self.fate == number).arg_true()


def classify_rows(
    frame: pl.DataFrame, rows: pl.DataFrame, grammar: Grammar, naming: Naming, *, may_be_blank: bool
) -> Classified:
    """Judge every row of parsed columns; ``frame`` holds their cells.

    In text and spreadsheets a row without any cell is a blank line (``may_be_blank``); elsewhere it is a bad row.
    """
    asides = list(grammar.aside)
    if grammar.answer is not None:
        skips = [] if naming.table.fixed else [name for name in naming.table.names if name.lower() in SKIPS]
        word = frame[f"c{grammar.columns[grammar.answer]}"]
        if skips or naming.table.fixed:
            said = word.cast(pl.String).str.to_lowercase().is_in(SKIPS).fill_null(False)
            others = [
                pl.col(role).ne_missing(pl.col(grammar.answer))
                for role in grammar.objects
                if role != grammar.answer
            ]
            rows = rows.with_columns(skip=said)
            asides.insert(0, Aside(pl.col("skip") & pl.all_horizontal(others), "skip"))
    refusals = [
        *_name_refusals(rows, grammar, naming),
        *grammar.refuse,
        *_row_refusals(grammar, rows.columns),
    ]
    conditions = [*(a.when for a in asides), *(r.when for r in refusals)]
    fates = [*range(-2, -2 - len(asides), -1), *range(1, 1 + len(refusals))]
    if may_be_blank and all(rows[role].null_count() for role in grammar.objects):
        blank = frame.select(blank=pl.all_horizontal(pl.all().is_null()))
        rows = rows.with_columns(blank)
        conditions.insert(0, pl.col("blank"))
        fates.insert(0, -1)
    found = rows.select(c.any().alias(str(i)) for i, c in enumerate(conditions)).row(0)
    fate: Any = None
    for condition, number, any_row in zip(conditions, fates, found, strict=True):
        if any_row:
            fate = (pl if fate is None else fate).when(condition).then(pl.lit(number, pl.Int16))
    judged = None if fate is None else rows.select(fate=fate.otherwise(pl.lit(0, pl.Int16)))["fate"]
    return Classified(rows, judged, tuple(refusals), tuple(asides))


def _name_refusals(rows: pl.DataFrame, grammar: Grammar, naming: Naming) -> list[Refusal]:
    what = "the name of an object" if naming.first is None else f"a whole number from {naming.first}"
    blank = [role for role in grammar.objects if rows[role].null_count()]
    found = [Refusal(pl.col(role).is_null(), "blank cell", what, (role,)) for role in blank]
    for number, (reason, expected) in enumerate(naming.refusals):
        found += [Refusal(pl.col(role) == -1 - number, reason, expected, (role,)) for role in grammar.objects]
    return found


def _row_refusals(grammar: Grammar, columns: list[str]) -> list[Refusal]:
    x, y, z = grammar.triplets[0]
    found = [Refusal((x == y) | (y == z) | (x == z), "two equal objects", "three distinct objects")]
    for role, reason, expected in WRONG_CELLS:
        if f"bad_{role}" in columns:
            found.append(Refusal(pl.col(f"bad_{role}"), reason, expected, (role,)))
    return found


def triplet_rows(kept: pl.DataFrame, grammar: Grammar, first_row: int) -> pl.DataFrame:
    """One row per triplet: anchor, near and far as ids, and the optional columns that the grammar has.

    Without a column for it, a statement is the number of the row where a row gives several triplets; rows are counted
    from ``first_row``.
    """
    if grammar.times is not None:
        kept = kept[np.repeat(np.arange(len(kept)), kept.select(grammar.times).to_series().to_numpy())]
    columns = {
        role: pl.col(role)
        for role in ("statement", "participant", "group", "rule")
        if role in grammar.columns
    }
    several = len(grammar.triplets)
    if several > 1 and "statement" not in columns:
        columns["statement"] = pl.int_range(first_row, first_row + len(kept), dtype=pl.Int64)
    columns |= _numbers(grammar)
    frames = [  # one after the other: to wait for threads that parse the next rows would take longer
        kept.select_seq(
            **{role: one.cast(pl.Int32) for role, one in zip(ROLES, three, strict=True)}, **columns
        )
        for three in grammar.triplets
    ]
    if several == 1:
        return frames[0]
    order = np.arange(several * len(kept)).reshape(several, -1).T.ravel()
    found = pl.concat(frames)[order]
    return found.filter(pl.col("near").is_not_null()) if grammar.partial else found


def _numbers(grammar: Grammar) -> dict[str, pl.Expr]:
    columns: dict[str, pl.Expr] = {}
    if "seconds" in grammar.columns:
        seconds = pl.col("seconds")
        if grammar.unknown_seconds is not None:
            seconds = pl.when(seconds != grammar.unknown_seconds).then(seconds)
        columns["seconds"] = _thousandths(seconds) if grammar.milliseconds else seconds
    if "near_side" in grammar.columns:
        columns["near_side"] = pl.col("near_side")
    elif grammar.near_side is not None:
        columns["near_side"] = grammar.near_side.cast(pl.Int8)
    if "answered_at" in grammar.columns:
        columns["answered_at"] = pl.col("answered_at")
    return columns


def _thousandths(cell: pl.Expr) -> pl.Expr:
    """Divided by numpy: polars multiplies by .001, which makes 1.6620000000000001 of 1662."""
    return cell.map_batches(
        lambda column: pl.Series(column.to_numpy() / 1000, nan_to_null=True), return_dtype=pl.Float64
    )
