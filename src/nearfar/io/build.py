"""Rows that are answers -> triplet rows, the same for every dialect -> Triplets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from nearfar.io.dialects import Grammar
from nearfar.io.ids import text_ids
from nearfar.triplets import Triplets
from nearfar.triplets.ids import Ids

__all__ = ["make_triplets", "triplet_rows"]

ROLES = ("anchor", "near", "far")


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


def make_triplets(
    rows: pl.DataFrame,
    index_of_id: pl.Series | None,
    objects: Sequence[str],
    *,
    statement: Ids | None,
    participant: Ids | None,
    guarded: bool,
) -> Triplets:
    """Triplets of triplet rows; ``index_of_id`` is the index of every id, None where ids are indices."""
    columns: dict[str, Any] = {
        role: (rows[role] if index_of_id is None else index_of_id.gather(rows[role])).to_numpy()
        for role in ROLES
    }
    for role, unknown in (("seconds", np.nan), ("near_side", -1), ("answered_at", np.nan)):
        if role in rows.columns:
            columns[role] = rows[role].fill_null(unknown).to_numpy()
    for column in columns.values():
        column.flags.writeable = False  # ours alone, so Triplets need not copy it
    rule = text_ids(rows["rule"], guarded=guarded) if "rule" in rows.columns else None
    return Triplets(objects=objects, statement=statement, participant=participant, rule=rule, **columns)
