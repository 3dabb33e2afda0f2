"""Triplets as the columns of a table: what the writers of the dialects share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import TripletError
from nearfar.triplets import Triplets
from nearfar.triplets.columns import RIGHT

__all__ = ["left_and_right", "statements"]


def left_and_right(triplets: Triplets) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What was shown at either side; where that is not known, ``near`` stands on the left."""
    swap = np.zeros(len(triplets), bool) if triplets.near_side is None else triplets.near_side == RIGHT
    return np.where(swap, triplets.far, triplets.near), np.where(swap, triplets.near, triplets.far)


def statements(triplets: Triplets, kind: str) -> Triplets:
    """The first triplet of every statement; an error where the statements are of another kind.

    An ``odd-one-out`` statement is (a, b, odd) and (b, a, odd); ``most-central`` is (a, central, b) and
    (b, central, a).
    """
    ids = triplets.statement_ids
    order = np.argsort(ids, kind="stable")
    first, second = order[0::2], order[1::2]
    if len(order) % 2 == 0 and (ids[first] == ids[second]).all() and len(np.unique(ids[first])) == len(first):
        by_appearance = np.argsort(first)
        one, two = triplets[first[by_appearance]], triplets[second[by_appearance]]
        mirrored = (
            (two.near, two.anchor, two.far) if kind == "odd-one-out" else (two.far, two.near, two.anchor)
        )
        if np.array_equal(one.array, np.stack(mirrored, axis=1)):
            return one
    raise TripletError(
        f"the answers are not all {kind} statements, which are two triplets each; "
        "write them in the dialect canonical",
    )
