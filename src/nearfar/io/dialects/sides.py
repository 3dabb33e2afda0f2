"""One object in the centre, one left, one right, and the answer among the two: Salmon, tripletTools and NEXT.

Salmon's ``head, left, right, winner`` are numbers of targets, names stand in ``*_filename``. The R package tripletTools
has ``Center, Left, Right, Answer`` with names, ``rt`` in milliseconds and ``sampleAlg``; NEXT's participant CSV has the
same four columns with ``Response.Time..s.`` or ``Alg.Label``, or ``target_center``, ``target_winner`` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar.io.dialects._grammar import Aside, Dialect, Grammar
from nearfar.io.dialects.choices import choice_grammar
from nearfar.io.naming import NAN
from nearfar.io.table import COLUMN_NAMES, Header
from nearfar.triplets import Triplets
from nearfar.triplets.columns import RIGHT as AT_RIGHT
from nearfar.triplets.columns import named_column, optional_columns

ROLES = ("center", "left", "right", "answer")
SHOWN, SHOWN_AS = ("head", "left", "right"), ("anchor", "option_1", "option_2")
NUMBERS = ("choice_1", "option_1_text", "option_2_text")
NEXT_SECONDS = "Response.Time..s."
ALGORITHM = ("sampleAlg", "AlgSample")


def left_and_right(triplets: Triplets) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What was shown at either side; where that is not known, it follows the order of the objects."""
    known = np.full(len(triplets), -1) if triplets.near_side is None else triplets.near_side
    swap = np.where(known < 0, triplets.near > triplets.far, known == AT_RIGHT)
    return np.where(swap, triplets.far, triplets.near), np.where(swap, triplets.near, triplets.far)


def find_choice(header: Header) -> dict[str, int] | None:
    """Where the four columns are, under any of the names seen in the wild."""
    shown = {"center": ["center", "target"], "left": ["left", "option1"], "right": ["right", "option2"]}
    return header.find_all(**shown, answer=["answer", "winner", "primary"])


def salmon(header: Header) -> Grammar | None:
    """The loser is the one of left and right that is not the winner; older files do not have it."""
    columns = header.find_all(head=["head"], left=["left"], right=["right"], winner=["winner"])
    if columns is None or header.find("answer") is not None:  # tripletTools may have these four as well
        return None
    files = header.find_all(**{role: [f"{role}_filename"] for role in SHOWN})
    optional = header.optional(answered_at=["time_received", "datetime_received"])
    grammar = _named(dict(zip(ROLES, columns.values(), strict=True)), optional)
    # the texts stay those of the numbers
    shown = dict(zip(SHOWN_AS, (files or columns).values(), strict=False))
    whole = {text: pl.col(text).str.replace(r"\.0+$", "") for text in NUMBERS}
    if "seconds" in optional:  # -1 where they are not known
        whole["seconds"] = pl.when(pl.col("seconds") != -1).then("seconds")
    return replace(
        grammar,
        columns={**grammar.columns, **shown},
        derived=(whole, *grammar.derived),
        refuse=(replace(grammar.refuse[0], expected="the number of left or right"),),
        aside=(*grammar.aside, _check(grammar)),
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
    optional, columns = header.optional(seconds=["rt"]), find_choice(header)
    if header.find("Alg.Label", NEXT_SECONDS) is not None:
        return None
    if columns is None:
        return _chosen_only(header, optional)
    grammar = _named(columns, optional)
    check = _check(grammar)
    if (algorithm := header.find(*ALGORITHM)) is not None:
        grammar = replace(grammar, columns={**grammar.columns, "algorithm": algorithm})
        is_check = pl.col("algorithm").str.to_lowercase() == "check"
        check = Aside(is_check, "check", pl.when(check.when).then(check.correct))
    return replace(grammar, aside=(*grammar.aside, check), milliseconds=True)


def _named(columns: Mapping[str, int], optional: Mapping[str, int]) -> Grammar:
    """Left or right, by the name of what stood there."""
    center, left, right, answer = (columns[role] for role in ROLES)
    grammar = choice_grammar("near", [left, right], [answer], "name", center, ("left", "right"))
    return replace(grammar, columns={**grammar.columns, **optional})


def _check(grammar: Grammar) -> Aside:
    """Rows whose head is one of its own options, which is right where that one was chosen."""
    center, near, far = grammar.triplets[0]
    return Aside((center == near) | (center == far), "check", near == center)


def _chosen_only(header: Header, optional: dict[str, int]) -> Grammar | None:
    chosen = {"winner": ["winner", "primary"], "loser": ["loser", "alternate"]}
    columns = header.find_all(center=["center", "target", "head"], **chosen)
    if columns is None or header.find("left") is not None:  # which would be Salmon's
        return None
    three = (pl.col("center"), pl.col("winner"), pl.col("loser"))
    grammar = Grammar(columns | optional, tuple(columns), (three,), milliseconds=True, blanks=NAN)
    return replace(grammar, aside=(Aside(three[1].is_null(), "no answer"), _check(grammar)))


def write_triplettools(triplets: Triplets) -> pl.DataFrame:
    """The columns tripletTools reads; the rest under our names."""
    more = optional_columns(triplets, participant="worker_id", seconds="rt", rule=ALGORITHM[0])
    if "rt" in more:
        # 1.001 s are 1001 ms, not 1000.9999999999999, unless that would not be read back as it was
        exact = more["rt"] * 1000
        neat = exact.round(6)
        same = neat.to_numpy() / 1000 == more["rt"].to_numpy()  # polars would multiply by .001
        more["rt"] = neat.zip_with(pl.Series(same), exact)
    # its get.combined makes one data frame of each worker's rows, and none without; it selects by algorithm and set
    for name, text in (("worker_id", "all"), (ALGORITHM[0], "random")):
        more.setdefault(name, pl.Series([text] * len(triplets), dtype=pl.String))
    return pl.DataFrame(more | _shown(triplets)).with_columns(sampleSet=pl.lit("train"))


def _shown(triplets: Triplets) -> dict[str, pl.Series]:
    """What stood where, by name."""
    left, right = left_and_right(triplets)
    shown = {"Center": triplets.anchor, "Left": left, "Right": right, "Answer": triplets.near}
    return {role: named_column(triplets, indices) for role, indices in shown.items()}


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
    return replace(_named(columns, header.optional(**names)), near_side=None)


def write_next(triplets: Triplets) -> pl.DataFrame:
    """The columns NEXT writes, the rest under our names."""
    names = {"participant": "Participant.ID", "seconds": NEXT_SECONDS, "answered_at": "Timestamp"}
    more = optional_columns(triplets, **names, rule="Alg.Label")
    more.setdefault(NEXT_SECONDS, pl.Series([None] * len(triplets), dtype=pl.Float64))
    return pl.DataFrame(_shown(triplets) | more)


SALMON = Dialect("salmon", "head, left, right, winner", salmon, write=write_salmon)
FOUR = "Center, Left, Right, Answer"
TRIPLETTOOLS = Dialect("tripletTools", f"{FOUR} (sampleAlg or rt)", triplettools, write=write_triplettools)
NEXT = Dialect("next", f"{FOUR}, {NEXT_SECONDS}", next_export, write=write_next)
