"""Every row is an answer, set aside, or refused with a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from nearfar.io._cells import parse_times
from nearfar.io._names import Naming
from nearfar.io.dialects import Aside, Plan, Refusal

__all__ = ["Settled", "settle"]

SKIPS = ("skip", "skipped")


@dataclass(frozen=True)
class Settled:
    """The rows of a table, told apart.

    ``rows`` are the columns of all rows, objects as indices; ``fate`` says what became of each: 0 an answer,
    -1 a blank line, i > 0 refused by ``refusals[i - 1]``, i < -1 set aside by ``asides[-2 - i]``.
    ``fate`` is None where every row is an answer.
    """

    rows: pl.DataFrame
    fate: pl.Series | None
    refusals: tuple[Refusal, ...]
    asides: tuple[Aside, ...]
    naming: Naming

    @property
    def kept(self) -> pl.DataFrame:
        """The rows that are answers."""
        return self.rows if self.fate is None else self.rows.filter(self.fate == 0)


def settle(frame: pl.DataFrame, plan: Plan, naming: Naming, names: list[str], *, source: str) -> Settled:
    """Judge every row; the reasons are worked out only where there is something to find."""
    rows = frame.with_columns(naming.index.gather(frame[role]).alias(role) for role in plan.objects)
    asides, refusals = list(plan.aside), []
    if naming.reasons:
        rows = rows.with_columns(naming.why.gather(frame[role]).alias(f"why_{role}") for role in plan.objects)
    skip = [code for code, name in enumerate(names) if name.lower() in SKIPS] if plan.answer else []
    if skip and plan.answer is not None:
        others = [pl.col(role) != pl.col(plan.answer) for role in plan.objects if role != plan.answer]
        rows = rows.with_columns(skip=frame[plan.answer].is_in(skip))
        asides.insert(0, Aside(pl.col("skip") & pl.all_horizontal(others), "skip"))
    if "answered_at" in frame.columns:
        times, bad = parse_times(frame["answered_at"], source=source)
        rows = rows.with_columns(answered_at=times, bad_answered_at=bad)
    refusals = [*_name_refusals(plan, naming), *plan.refuse, *_row_refusals(plan, rows.columns)]
    conditions = [pl.col("blank"), *(a.when for a in asides), *(r.when for r in refusals)]
    found = rows.select(c.any().alias(str(i)) for i, c in enumerate(conditions)).row(0)
    fates = [-1, *range(-2, -2 - len(asides), -1), *range(1, 1 + len(refusals))]
    fate: Any = None
    for condition, number, any_row in zip(conditions, fates, found, strict=True):
        if any_row:
            fate = (pl if fate is None else fate).when(condition).then(pl.lit(number, pl.Int16))
    judged = None if fate is None else rows.select(fate=fate.otherwise(pl.lit(0, pl.Int16)))["fate"]
    return Settled(rows, judged, tuple(refusals), tuple(asides), naming)


def _name_refusals(plan: Plan, naming: Naming) -> list[Refusal]:
    what = "the name of an object" if plan.first_index is None else "the number of an object"
    found = [Refusal(pl.col(role).is_null(), "blank cell", what, (role,)) for role in plan.objects]
    for number, (reason, expected) in enumerate(naming.reasons):
        found += [
            Refusal(pl.col(f"why_{role}") == number, reason, expected, (role,)) for role in plan.objects
        ]
    return found


def _row_refusals(plan: Plan, columns: list[str]) -> list[Refusal]:
    x, y, z = plan.triplets[0]
    found = [Refusal((x == y) | (y == z) | (x == z), "two equal objects", "three distinct objects")]
    for role, reason, expected in (
        ("seconds", "no number", "a number of seconds, or nothing"),
        ("near_side", "no side", "left, right or nothing"),
        ("answered_at", "no time", "seconds since 1970, or a date such as 2024-05-31 13:45:00, or nothing"),
    ):
        if f"bad_{role}" in columns:
            found.append(Refusal(pl.col(f"bad_{role}"), reason, expected, (role,)))
    return found
