"""Rows that gave no answer, as tables a person can act on, and the error that names the first of them."""

from __future__ import annotations

import polars as pl

from nearfar.errors import RowsError
from nearfar.io._settle import Settled
from nearfar.io._sheet import FAULTS, Sheet
from nearfar.io.dialects import Plan

__all__ = ["CHECKS", "REJECTED", "checks", "rejected", "rows_error"]

REJECTED = {"file": pl.String, **FAULTS}
CHECKS = {
    "file": pl.String,
    "line": pl.Int64,
    "kind": pl.String,
    "participant": pl.String,
    "correct": pl.Boolean,
    "came": pl.String,
}
SHOWN = 5


def rejected(
    settled: Settled, plan: Plan, sheet: Sheet, faults: pl.DataFrame | None = None, *, first_row: int = 0
) -> pl.DataFrame:
    """One row per rejected row: file, line, reason, came, expected; in the order of the file.

    ``first_row`` is the number of the first row that was settled.
    """
    parts = [pl.DataFrame(schema=FAULTS)] if faults is None else [faults]
    if settled.fate is not None and (settled.fate > 0).any():
        cells = _fetch(settled.fate > 0, settled.fate, plan, sheet, first_row)
        for (fate,), group in cells.group_by("fate"):
            refusal = settled.refusals[fate - 1]
            came = _came(plan, sheet, refusal.shows or plan.objects)
            reason, expected = pl.lit(refusal.reason), pl.lit(refusal.expected)
            parts.append(group.select("line", reason=reason, came=came, expected=expected))
    table = pl.concat(parts).sort("line", maintain_order=True)
    return table.select(pl.lit(sheet.name).alias("file"), *FAULTS)


def checks(settled: Settled, plan: Plan, sheet: Sheet) -> pl.DataFrame:
    """One row per row set aside: file, line, kind, participant, correct (null where not graded), came."""
    parts = [pl.DataFrame(schema=CHECKS)]
    if settled.fate is not None and (settled.fate < -1).any():
        cells = _fetch(settled.fate < -1, settled.fate, plan, sheet)
        people = plan.columns.get("participant")
        who = (
            pl.lit(None, pl.String) if people is None else pl.col(f"c{people}").cast(pl.String).fill_null("")
        )
        for (fate,), group in cells.group_by("fate"):
            aside = settled.asides[-2 - fate]
            grade = pl.lit(None, pl.Boolean) if aside.correct is None else aside.correct
            graded = settled.rows[group["row"]].select(correct=grade)
            came = _came(plan, sheet, plan.objects)
            told = group.select("line", kind=pl.lit(aside.kind), participant=who, came=came)
            told = told.with_columns(graded.to_series() if len(graded) == len(told) else graded.item())
            parts.append(told.select(pl.lit(sheet.name).alias("file"), *list(CHECKS)[1:]))
    return pl.concat(parts).sort("line", maintain_order=True)


def _fetch(mask: pl.Series, fate: pl.Series, plan: Plan, sheet: Sheet, first_row: int = 0) -> pl.DataFrame:
    rows = mask.arg_true()
    cells = sheet.fetch(rows + first_row, plan.has_header).sort("row")
    return cells.with_columns(fate=fate.gather(rows))


def _came(plan: Plan, sheet: Sheet, roles: tuple[str, ...]) -> pl.Expr:
    """The cells of some roles in words: near 'apple', far 'apple'."""
    places = [plan.columns[role] for role in roles]
    labels = [
        sheet.header.describe(at) if _has_name(at, plan, sheet) else f"column {at + 1}" for at in places
    ]
    cells = [pl.col(f"c{at}").cast(pl.String).fill_null("") for at in places]
    shown = [pl.format("{} '{}'", pl.lit(label), cell) for label, cell in zip(labels, cells, strict=True)]
    return pl.concat_str(shown, separator=", ")


def _has_name(position: int, plan: Plan, sheet: Sheet) -> bool:
    """A bare row of three has no names; further columns of an archive have."""
    return plan.has_header or (position > 2 and not sheet.may_be_bare)


def rows_error(sheet: Sheet, table: pl.DataFrame, rows: int) -> RowsError:
    """The error for rejected rows: the first five, and how many there are."""
    sentences = [
        f"{sheet.unit} {line}: {reason}: {came}; expected {expected}"
        for _, line, reason, came, expected in table.head(SHOWN).rows()
    ]
    remedy = "correct the file, or leave such rows out with on_bad='drop' (--on-bad drop)"
    if len(table) == 1:
        message = f"{sheet.name}, {sentences[0]} ({remedy})"
    else:
        if len(table) > SHOWN:
            sentences.append(f"and {len(table) - SHOWN:,} more")
        head = f"{sheet.name}: {len(table):,} of {rows:,} rows are no answers; {remedy}"
        message = "\n  ".join([head, *sentences])
    return RowsError(
        message,
        rejected=table,
    )
