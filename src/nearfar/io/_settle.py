"""Columns -> triplets: every row is an answer, set aside, or refused with a reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from nearfar.io._cells import parse_times, person_labels, statement_labels
from nearfar.io._names import Naming
from nearfar.io._sheet import Sheet
from nearfar.io._take import Vocabulary
from nearfar.io.dialects import Aside, Plan, Refusal
from nearfar.labels import order_names
from nearfar.triplets import Triplets

__all__ = ["Settled", "build", "settle", "trim"]

SKIPS = ("skip", "skipped")


@dataclass(frozen=True)
class Settled:
    """The rows of a table, told apart.

    ``rows`` are the columns of all rows, objects as indices; ``fate`` says what became of each: 0 an answer,
    -1 a blank line, i > 0 refused by ``refusals[i - 1]``, i < -1 set aside by ``asides[-2 - i]``.
    """

    rows: pl.DataFrame
    fate: pl.Series | None
    refusals: tuple[Refusal, ...]
    asides: tuple[Aside, ...]

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
    skip = [code for code, name in enumerate(names) if name.lower() in SKIPS]
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
    return Settled(rows, judged, tuple(refusals), tuple(asides))


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


def build(
    settled: Settled, plan: Plan, sheet: Sheet, objects: tuple[str, ...], people: Vocabulary
) -> Triplets:
    """The triplets of the rows that were kept."""
    kept = settled.kept
    if plan.times is not None:
        repeats = np.repeat(np.arange(len(kept)), kept.select(plan.times).to_series().to_numpy())
        kept = kept[repeats]
    several = len(plan.triplets)
    columns: dict[str, Any] = {}
    for place, role in enumerate(("anchor", "near", "far")):
        parts = kept.select(
            three[place].cast(pl.Int32).alias(str(i)) for i, three in enumerate(plan.triplets)
        )
        columns[role] = _interleave([part.to_numpy() for part in parts])
    columns |= _optional(kept, plan, sheet, people)
    if several > 1:
        columns.setdefault("statement", statement_labels(pl.int_range(len(kept), eager=True), typed=True))
        again = np.repeat(np.arange(len(kept)), several)
        roles = [role for role in columns if role not in ("anchor", "near", "far")]
        columns |= {role: columns[role][again] for role in roles}
    for column in columns.values():
        if isinstance(column, np.ndarray):
            column.flags.writeable = False  # ours alone, so Triplets need not copy it
    return Triplets(objects=objects, **columns)


def _interleave(parts: list[np.ndarray]) -> np.ndarray:
    if len(parts) == 1:
        return parts[0]
    return np.stack(parts, axis=1).reshape(-1)


def _optional(kept: pl.DataFrame, plan: Plan, sheet: Sheet, people: Vocabulary) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if "statement" in plan.columns:
        columns["statement"] = statement_labels(kept["statement"], typed=sheet.typed)
    if "participant" in plan.columns:
        columns["participant"] = person_labels(kept["participant"], people, typed=sheet.typed)
    if "seconds" in plan.columns:
        seconds = kept["seconds"]
        if plan.unknown_seconds is not None:
            seconds = seconds.set(seconds == plan.unknown_seconds, None)
        columns["seconds"] = _floats(seconds / 1000 if plan.milliseconds else seconds)
    if "near_side" in plan.columns:
        columns["near_side"] = kept["near_side"].fill_null(-1).to_numpy()
    elif plan.near_side is not None:
        columns["near_side"] = kept.select(plan.near_side.cast(pl.Int8)).to_series().to_numpy()
    if "answered_at" in plan.columns:
        columns["answered_at"] = _floats(kept["answered_at"])
    return columns


def _floats(numbers: pl.Series) -> np.ndarray:
    return numbers.fill_null(float("nan")).to_numpy()


def trim(triplets: Triplets) -> Triplets:
    """Without the objects that only occur in rows that are no answers."""
    used = np.zeros(triplets.n_objects, dtype=bool)
    for role in (triplets.anchor, triplets.near, triplets.far):
        used[role] = True
    if used.all():
        return triplets
    names = order_names([name for name, keep in zip(triplets.objects, used.tolist(), strict=True) if keep])
    position = {name: i for i, name in enumerate(names)}
    move = np.array([position.get(name, -1) for name in triplets.objects], dtype=np.int32)
    return replace(
        triplets,
        objects=tuple(names),
        anchor=move[triplets.anchor],
        near=move[triplets.near],
        far=move[triplets.far],
    )
