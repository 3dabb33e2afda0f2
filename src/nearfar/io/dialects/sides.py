"""One object in the centre, one left, one right, and the answer among the two: Salmon, tripletTools and NEXT.

Salmon's ``head, left, right, winner`` are numbers of targets, names stand in ``*_filename``. The R package tripletTools
has ``Center, Left, Right, Answer`` with names, ``rt`` in milliseconds and ``sampleAlg``; NEXT's participant CSV has the
same four columns with ``Response.Time..s.`` or ``Alg.Label``, or ``target_center``, ``target_winner`` and so on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar.io.dialects._grammar import Aside, Dialect, Grammar, Refusal, Three
from nearfar.io.table import COLUMN_NAMES, Header
from nearfar.triplets import Triplets
from nearfar.triplets.columns import RIGHT as AT_RIGHT
from nearfar.triplets.columns import named_column, optional_columns

ROLES = ("center", "left", "right", "answer")
SHOWN = ("head", "left", "right")
NUMBERS = ("left_number", "right_number", "winner_number")
NEXT_SECONDS = "Response.Time..s."
EVERYBODY = "all"  # written for tripletTools where participants are not known
ALGORITHM = ("sampleAlg", "AlgSample")
MISSING = ("NA",)  # what R writes into a blank cell
CENTER, LEFT, RIGHT, ANSWER = map(pl.col, ROLES)
CHOSEN: Three = (CENTER, ANSWER, pl.when(ANSWER == LEFT).then(RIGHT).otherwise(LEFT))
NEITHER = (ANSWER != LEFT) & (ANSWER != RIGHT)
WRONG_ANSWER = Refusal(NEITHER, "the answer was not shown", "the answer to be left or right")
NO_ANSWER = Aside(ANSWER.is_null(), "no answer")


def left_and_right(triplets: Triplets) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What was shown at either side; where that is not known, ``near`` stands on the left."""
    swap = np.zeros(len(triplets), bool) if triplets.near_side is None else triplets.near_side == AT_RIGHT
    return np.where(swap, triplets.far, triplets.near), np.where(swap, triplets.near, triplets.far)


def find_choice(header: Header) -> dict[str, int] | None:
    """Where the four columns are, under any of the names seen in the wild."""
    shown = {"center": ["center", "target"], "left": ["left", "option1"], "right": ["right", "option2"]}
    return header.find_all(**shown, answer=["answer", "winner", "primary"])


def salmon(header: Header) -> Grammar | None:
    """The loser is the one of left and right that is not the winner; older files do not have it.

    A row whose head is one of its own options is a catch trial, and right where that one was chosen.
    """
    columns = header.find_all(head=["head"], left=["left"], right=["right"], winner=["winner"])
    if columns is None or header.find("answer") is not None:  # tripletTools may have these four as well
        return None
    files = header.find_all(**{role: [f"{role}_filename"] for role in SHOWN})
    numbers = {name: columns[name.removesuffix("_number")] for name in NUMBERS}
    objects = {role: columns[role] for role in SHOWN} if files is None else files
    optional = header.optional(answered_at=["time_received", "datetime_received"], rule=["sampler", "rule"])
    shown_left, shown_right, chosen = (pl.col(name).str.replace(r"\.0+$", "") for name in NUMBERS)
    head, left, right = map(pl.col, SHOWN)
    took_left = chosen == shown_left
    blank = Refusal(chosen.is_null(), "blank cell", "the number of the winner", ("winner_number",))
    neither = (chosen != shown_left) & (chosen != shown_right)
    not_shown = Refusal(neither, "the winner was not shown", "the number of left or right", NUMBERS)
    near = pl.when(took_left).then(left).otherwise(right)
    far = pl.when(took_left).then(right).otherwise(left)
    return Grammar(
        objects | numbers | optional,
        SHOWN,
        ((head, near, far),),
        refuse=(blank, not_shown),
        aside=(Aside(((head == left) | (head == right)) & (left != right), "check", near == head),),
        near_side=pl.when(took_left).then(0).otherwise(1),
        unknown_seconds=-1.0,
        first_index=0 if files is None else None,
    )


def write_salmon(triplets: Triplets) -> pl.DataFrame:
    """Numbers are indices into the object list, names go into the columns ``*_filename``."""
    left, right = left_and_right(triplets)
    indices = (triplets.anchor, left, right, triplets.near, triplets.far)
    shown = dict(zip((*SHOWN, "winner", "loser"), indices, strict=True))
    numbers = {role: pl.Series(indices) for role, indices in shown.items()}
    files = {f"{role}_filename": named_column(triplets, indices) for role, indices in shown.items()}
    names = {"participant": "puid", "seconds": "response_time", "answered_at": "time_received"}
    return pl.DataFrame(numbers | files | optional_columns(triplets, **names, rule="sampler"))


def triplettools(header: Header) -> Grammar | None:
    """All four columns, or only the centre with winner and loser.

    Check rows show the centre again as one of the options. They grade a participant and are set aside.
    """
    if header.find("Alg.Label", NEXT_SECONDS) is not None:
        return None
    optional = header.optional(seconds=["rt"], rule=[*ALGORITHM, "rule"])
    columns = find_choice(header)
    if columns is None:
        return _chosen_only(header, optional)
    shows_center = is_check = (CENTER == LEFT) | (CENTER == RIGHT)
    if (algorithm := header.find(*ALGORITHM)) is not None:
        optional["algorithm"] = algorithm
        is_check = pl.col("algorithm").str.to_lowercase() == "check"
    check = Aside(is_check, "check", pl.when(shows_center).then(ANSWER == CENTER))
    side, asides = pl.when(ANSWER == LEFT).then(0).otherwise(1), (NO_ANSWER, check)
    grammar = Grammar(columns | optional, ROLES, (CHOSEN,), "answer", (WRONG_ANSWER,), asides, side)
    return replace(grammar, milliseconds=True, blanks=MISSING)


def _chosen_only(header: Header, optional: dict[str, int]) -> Grammar | None:
    chosen = {"winner": ["winner", "primary"], "loser": ["loser", "alternate"]}
    columns = header.find_all(center=["center", "target", "head"], **chosen)
    if columns is None or header.find("left") is not None:  # which would be Salmon's
        return None
    center, winner, loser = map(pl.col, ("center", "winner", "loser"))
    check = Aside((center == winner) | (center == loser), "check", center == winner)
    asides, objects = (Aside(winner.is_null(), "no answer"), check), ("center", "winner", "loser")
    grammar = Grammar(columns | optional, objects, ((center, winner, loser),), aside=asides)
    return replace(grammar, milliseconds=True, blanks=MISSING)


def write_triplettools(triplets: Triplets) -> pl.DataFrame:
    """The columns tripletTools reads; the rest under our names."""
    more = optional_columns(triplets, participant="worker_id", seconds="rt", rule=ALGORITHM[0])
    if "rt" in more:
        more["rt"] = _milliseconds(more["rt"])
    # its get.combined makes one data frame of each worker's rows, and none without; it selects by algorithm and set
    for name, text in (("worker_id", EVERYBODY), (ALGORITHM[0], "random")):
        more.setdefault(name, pl.Series([text] * len(triplets), dtype=pl.String))
    return pl.DataFrame(more | _shown(triplets)).with_columns(sampleSet=pl.lit("train"))


def _shown(triplets: Triplets) -> dict[str, pl.Series]:
    """What stood where, by name."""
    left, right = left_and_right(triplets)
    shown = {"Center": triplets.anchor, "Left": left, "Right": right, "Answer": triplets.near}
    return {role: named_column(triplets, indices) for role, indices in shown.items()}


def _milliseconds(seconds: pl.Series) -> pl.Series:
    """1.001 s are 1001 ms, not 1000.9999999999999; numbers that would not be read back as they were stay as they are."""
    plain = seconds * 1000
    neat = plain.round(6)
    same = neat.to_numpy() / 1000 == seconds.to_numpy()  # polars would multiply by .001
    return neat.zip_with(pl.Series(same), plain)


def next_export(header: Header) -> Grammar | None:
    """Rows without an answer are known, and set aside.

    In its exports Left is the winner of every row, so that Left and Right are not sides of the screen.
    """
    columns = header.find_all(answer=["target_winner"], **{role: [f"target_{role}"] for role in ROLES[:3]})
    if columns is None and header.find("Alg.Label", NEXT_SECONDS) is not None:
        columns = find_choice(header)
    if columns is None:
        return None
    times = ["Timestamp", "timestamp_query_generated", "answered_at"]
    seconds, people = [NEXT_SECONDS, "response_time"], ["participant_uid", *COLUMN_NAMES["participant"]]
    names = {"seconds": seconds, "answered_at": times, "participant": people}
    optional = header.optional(**names, rule=["Alg.Label", "rule"])
    return Grammar(columns | optional, ROLES, (CHOSEN,), "answer", (WRONG_ANSWER,), (NO_ANSWER,))


def write_next(triplets: Triplets) -> pl.DataFrame:
    """The columns NEXT writes, the rest under our names; where sides are not known, they are by the order of objects."""
    names = {"participant": "Participant.ID", "seconds": NEXT_SECONDS, "answered_at": "Timestamp"}
    more = optional_columns(triplets, **names, rule="Alg.Label")
    more.setdefault(NEXT_SECONDS, pl.Series([None] * len(triplets), dtype=pl.Float64))
    known = np.full(len(triplets), -1) if triplets.near_side is None else triplets.near_side
    side = np.where(known < 0, triplets.near > triplets.far, known).astype(np.int8)
    return pl.DataFrame(_shown(triplets.replace(near_side=side)) | more)


SALMON = Dialect("salmon", "head, left, right, winner", salmon, write=write_salmon)
FOUR = "Center, Left, Right, Answer"
TRIPLETTOOLS = Dialect("tripletTools", f"{FOUR} (sampleAlg or rt)", triplettools, write=write_triplettools)
NEXT = Dialect("next", f"{FOUR}, {NEXT_SECONDS}", next_export, write=write_next)
