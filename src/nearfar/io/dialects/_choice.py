"""One object in the centre, one left, one right, and the answer among the two: tripletTools and NEXT."""

from __future__ import annotations

import polars as pl

from nearfar.io.dialects._grammar import Refusal, Three
from nearfar.io.header import Header

__all__ = ["ROLES", "SIDE", "TRIPLET", "WRONG_ANSWER", "find_choice"]

ROLES = ("center", "left", "right", "answer")
_CENTER, _LEFT, _RIGHT, _ANSWER = map(pl.col, ROLES)
_TOOK_LEFT = _ANSWER == _LEFT

TRIPLET: Three = (_CENTER, _ANSWER, pl.when(_TOOK_LEFT).then(_RIGHT).otherwise(_LEFT))
SIDE = pl.when(_TOOK_LEFT).then(0).otherwise(1)
WRONG_ANSWER = Refusal(
    (_ANSWER != _LEFT) & (_ANSWER != _RIGHT), "the answer was not shown", "the answer to be left or right"
)


def find_choice(header: Header) -> dict[str, int] | None:
    """Where the four columns are, under any of the names seen in the wild."""
    return header.find_all(
        center=["center", "target"],
        left=["left", "option1"],
        right=["right", "option2"],
        answer=["answer", "winner", "primary"],
    )
