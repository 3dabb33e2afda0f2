"""Salmon's responses: ``head, left, right, winner`` are numbers of targets, names stand in ``*_filename``."""

from __future__ import annotations

import polars as pl

from nearfar.io.dialects._grammar import Aside, Dialect, Grammar, Refusal
from nearfar.io.dialects._table import left_and_right
from nearfar.io.header import Header
from nearfar.triplets import Triplets
from nearfar.triplets.frames import named_column, optional_columns

__all__ = ["SALMON"]

SHOWN = ("head", "left", "right")
NUMBERS = ("left_number", "right_number", "winner_number")


def grammar(header: Header) -> Grammar | None:
    """The loser is the one of left and right that is not the winner; older files do not have it.

    A row whose head is one of its own options is a catch trial, and right where that one was chosen.
    """
    found = header.find_all(head=["head"], left=["left"], right=["right"], winner=["winner"])
    if found is None or header.find("answer") is not None:  # tripletTools may have these four as well
        return None
    files = header.find_all(**{role: [f"{role}_filename"] for role in SHOWN})
    numbers = {name: found[name.removesuffix("_number")] for name in NUMBERS}
    objects = {role: found[role] for role in SHOWN} if files is None else files
    optional = header.optional(answered_at=["time_received", "datetime_received"], rule=["sampler", "rule"])
    shown_left, shown_right, chosen = (pl.col(name).str.replace(r"\.0+$", "") for name in NUMBERS)
    head, left, right = map(pl.col, SHOWN)
    took_left = chosen == shown_left
    refuse = (
        Refusal(
            pl.col("winner_number").is_null(), "blank cell", "the number of the winner", ("winner_number",)
        ),
        Refusal(
            (chosen != shown_left) & (chosen != shown_right),
            "the winner was not shown",
            "the number of left or right",
            NUMBERS,
        ),
    )
    near = pl.when(took_left).then(left).otherwise(right)
    far = pl.when(took_left).then(right).otherwise(left)
    return Grammar(
        objects | numbers | optional,
        SHOWN,
        ((head, near, far),),
        refuse=refuse,
        aside=(Aside(((head == left) | (head == right)) & (left != right), "check", near == head),),
        near_side=pl.when(took_left).then(0).otherwise(1),
        unknown_seconds=-1.0,
        first_index=0 if files is None else None,
    )


def write(triplets: Triplets) -> pl.DataFrame:
    """Numbers are indices into the object list, names go into the columns ``*_filename``."""
    left, right = left_and_right(triplets)
    shown = {
        "head": triplets.anchor,
        "left": left,
        "right": right,
        "winner": triplets.near,
        "loser": triplets.far,
    }
    numbers = {role: pl.Series(indices) for role, indices in shown.items()}
    files = {f"{role}_filename": named_column(triplets, indices) for role, indices in shown.items()}
    more = optional_columns(
        triplets, participant="puid", seconds="response_time", answered_at="time_received", rule="sampler"
    )
    return pl.DataFrame(numbers | files | more)


SALMON = Dialect("salmon", "head, left, right, winner", grammar, write=write)
