"""Rows that are answers -> Triplets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import polars as pl

from nearfar.io._cells import person_labels, statement_labels
from nearfar.io._take import Vocabulary
from nearfar.io.dialects import Plan
from nearfar.labels import Labels, order_names
from nearfar.triplets import Triplets

__all__ = ["Ids", "OwnIds", "build", "trim"]


class Ids(Protocol):
    """Makes labels of cells."""

    def statements(self, rows: pl.DataFrame, plan: Plan) -> Labels | None:
        """The statement of every row; None where every triplet is its own."""

    def people(self, rows: pl.DataFrame, plan: Plan) -> Labels | None:
        """The participant of every row; None where not known."""


@dataclass(frozen=True)
class OwnIds:
    """Ids as they stand in one source."""

    vocabulary: Vocabulary
    typed: bool

    def statements(self, rows: pl.DataFrame, plan: Plan) -> Labels | None:
        """From the column, else by row where a row gives several triplets."""
        if "statement" in plan.columns:
            return statement_labels(rows["statement"], typed=self.typed)
        return Labels.encode(np.arange(len(rows))) if len(plan.triplets) > 1 else None

    def people(self, rows: pl.DataFrame, plan: Plan) -> Labels | None:
        """From the column."""
        if "participant" not in plan.columns:
            return None
        cells = rows["participant"]
        return person_labels(cells, self.vocabulary, numbers=not self.typed or cells.dtype == pl.Int64)


def build(rows: pl.DataFrame, plan: Plan, objects: tuple[str, ...], ids: Ids) -> Triplets:
    """The triplets that these rows say."""
    if plan.times is not None:
        rows = rows[np.repeat(np.arange(len(rows)), rows.select(plan.times).to_series().to_numpy())]
    columns: dict[str, Any] = {}
    for place, role in enumerate(("anchor", "near", "far")):
        parts = rows.select(
            three[place].cast(pl.Int32).alias(str(i)) for i, three in enumerate(plan.triplets)
        )
        columns[role] = _interleave([part.to_numpy() for part in parts])
    more = _numbers(rows, plan)
    more |= {"statement": ids.statements(rows, plan), "participant": ids.people(rows, plan)}
    several = len(plan.triplets)
    again = np.repeat(np.arange(len(rows)), several) if several > 1 else slice(None)
    columns |= {role: values[again] for role, values in more.items() if values is not None}
    for column in columns.values():
        if isinstance(column, np.ndarray):
            column.flags.writeable = False  # ours alone, so Triplets need not copy it
    return Triplets(objects=objects, **columns)


def _interleave(parts: list[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.stack(parts, axis=1).reshape(-1)


def _numbers(rows: pl.DataFrame, plan: Plan) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if "seconds" in plan.columns:
        seconds = rows["seconds"]
        if plan.unknown_seconds is not None:
            seconds = seconds.set(seconds == plan.unknown_seconds, None)
        columns["seconds"] = _floats(seconds / 1000 if plan.milliseconds else seconds)
    if "near_side" in plan.columns:
        columns["near_side"] = rows["near_side"].fill_null(-1).to_numpy()
    elif plan.near_side is not None:
        columns["near_side"] = rows.select(plan.near_side.cast(pl.Int8)).to_series().to_numpy()
    if "answered_at" in plan.columns:
        columns["answered_at"] = _floats(rows["answered_at"])
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
