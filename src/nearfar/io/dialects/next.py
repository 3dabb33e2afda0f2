"""NEXT's participant CSV: ``Center, Left, Right, Answer`` with ``Response.Time..s.`` or ``Alg.Label``."""

from __future__ import annotations

import polars as pl

from nearfar.io.dialects._choice import ROLES, TRIPLET, WRONG_ANSWER, find_choice
from nearfar.io.dialects._grammar import Aside, Dialect, Grammar
from nearfar.io.header import Header
from nearfar.triplets import Triplets
from nearfar.triplets.frames import named_column, optional_columns

__all__ = ["NEXT", "is_next"]

SECONDS = "Response.Time..s."


def is_next(header: Header) -> bool:
    """Whether a column is there that only NEXT writes."""
    return header.find("Alg.Label", SECONDS) is not None


def grammar(header: Header) -> Grammar | None:
    """Rows without an answer are known, and set aside.

    In its exports Left is the winner of every row, so that Left and Right are not sides of the screen.
    """
    found = find_choice(header) if is_next(header) else None
    if found is None:
        return None
    return Grammar(
        found
        | header.optional(
            seconds=[SECONDS], answered_at=["Timestamp", "answered_at"], rule=["Alg.Label", "rule"]
        ),
        ROLES,
        (TRIPLET,),
        "answer",
        (WRONG_ANSWER,),
        (Aside(pl.col("answer").is_null(), "no answer"),),
    )


def write(triplets: Triplets) -> pl.DataFrame:
    """The columns NEXT writes; the rest under our names."""
    shown = {"Center": triplets.anchor, "Left": triplets.near, "Right": triplets.far, "Answer": triplets.near}
    named = {role: named_column(triplets, indices) for role, indices in shown.items()}
    more = optional_columns(
        triplets, participant="Participant.ID", seconds=SECONDS, answered_at="Timestamp", rule="Alg.Label"
    )
    more.setdefault(SECONDS, pl.Series([None] * len(triplets), dtype=pl.Float64))
    return pl.DataFrame(named | more)


NEXT = Dialect("next", f"Center, Left, Right, Answer, {SECONDS}", grammar, write=write)
