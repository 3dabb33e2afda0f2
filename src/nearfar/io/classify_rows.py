"""Every row is an answer, set aside, rejected with a reason, or blank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from nearfar.io.dialects import Aside, Grammar, Refusal
from nearfar.io.naming import Naming

__all__ = ["Classified", "classify_rows"]

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

    @property
    def n_blank(self) -> int:
        """How many rows hold nothing."""
        return 0 if self.fate is None else int((self.fate == -1).sum())


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
