"""The R package tripletTools: ``Center, Left, Right, Answer`` with names, ``rt`` in milliseconds, ``sampleAlg``.

Its check rows show the centre again as one of the options. They grade a participant and are set aside.
"""

from __future__ import annotations

import polars as pl

from nearfar.io.dialects._choice import ROLES, SIDE, TRIPLET, WRONG_ANSWER, find_choice
from nearfar.io.dialects._grammar import Aside, Dialect, Grammar
from nearfar.io.dialects._table import left_and_right
from nearfar.io.dialects.next import is_next
from nearfar.io.header import Header
from nearfar.triplets import Triplets
from nearfar.triplets.frames import named_column, optional_columns

__all__ = ["TRIPLETTOOLS"]

EVERYBODY = "all"  # written where participants are not known
ALGORITHM = ("sampleAlg", "AlgSample")
MISSING = ("NA",)  # what R writes into a blank cell


def grammar(header: Header) -> Grammar | None:
    """All four columns, or only the centre with winner and loser."""
    if is_next(header):
        return None
    optional = header.optional(seconds=["rt"], rule=[*ALGORITHM, "rule"])
    found = find_choice(header)
    if found is None:
        return _chosen_only(header, optional)
    algorithm = header.find(*ALGORITHM)
    center, left, right, answer = map(pl.col, ROLES)
    is_check = (center == left) | (center == right)
    if algorithm is not None:
        optional["algorithm"] = algorithm
        is_check = pl.col("algorithm").str.to_lowercase() == "check"
    aside = (
        Aside(answer.is_null(), "no answer"),
        Aside(is_check, "check", pl.when((center == left) | (center == right)).then(answer == center)),
    )
    return Grammar(
        found | optional,
        ROLES,
        (TRIPLET,),
        "answer",
        (WRONG_ANSWER,),
        aside,
        near_side=SIDE,
        milliseconds=True,
        blanks=MISSING,
    )


def _chosen_only(header: Header, optional: dict[str, int]) -> Grammar | None:
    found = header.find_all(
        center=["center", "target", "head"], winner=["winner", "primary"], loser=["loser", "alternate"]
    )
    if found is None or header.find("left") is not None:  # which would be Salmon's
        return None
    center, winner, loser = map(pl.col, ("center", "winner", "loser"))
    is_check = (center == winner) | (center == loser)
    return Grammar(
        found | optional,
        ("center", "winner", "loser"),
        ((center, winner, loser),),
        aside=(Aside(winner.is_null(), "no answer"), Aside(is_check, "check", center == winner)),
        milliseconds=True,
        blanks=MISSING,
    )


def write(triplets: Triplets) -> pl.DataFrame:
    """The columns tripletTools reads; the rest under our names."""
    left, right = left_and_right(triplets)
    shown = {"Center": triplets.anchor, "Left": left, "Right": right, "Answer": triplets.near}
    named = {role: named_column(triplets, indices) for role, indices in shown.items()}
    more = optional_columns(triplets, participant="worker_id", seconds="rt", rule=ALGORITHM[0])
    if (
        "worker_id" not in more
    ):  # its get.combined makes one data frame of each worker's rows, and none without
        more["worker_id"] = pl.Series([EVERYBODY] * len(triplets), dtype=pl.String)
    if "rt" in more:
        more["rt"] = _milliseconds(more["rt"])
    more.setdefault(ALGORITHM[0], pl.Series(["random"] * len(triplets), dtype=pl.String))
    return pl.DataFrame(more | named).with_columns(sampleSet=pl.lit("train"))  # its functions select by both


def _milliseconds(seconds: pl.Series) -> pl.Series:
    """1.001 s are 1001 ms, not 1000.9999999999999; numbers that would not be read back as they were stay as they are."""
    plain = seconds * 1000
    neat = plain.round(6)
    same = neat.to_numpy() / 1000 == seconds.to_numpy()  # polars would multiply by .001
    return neat.zip_with(pl.Series(same), plain)


TRIPLETTOOLS = Dialect(
    "tripletTools", "Center, Left, Right, Answer (with sampleAlg or rt)", grammar, write=write
)
