"""What looks like a slip in a file of answers: names that are nearly the same, times that are hardly seconds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import FileError
from nearfar.io.naming import NUMBER, plain_name
from nearfar.io.table import warn
from nearfar.triplets import Triplets
from nearfar.triplets.columns import median_of_times


def similar_names(names: Sequence[str], *, case: bool = True) -> list[tuple[str, ...]]:
    """Groups of names that differ only by spaces or Unicode form, or also by ``case``.

    >>> similar_names(["fig", "Fig", "fig ", "kiwi"])
    [('fig', 'Fig', 'fig ')]
    >>> similar_names(["fig", "f\\u200big", "fig\\u200f"])
    [('fig', 'f\\u200big', 'fig\\u200f')]
    """
    text = "".join(names)
    if text.isascii() and text.isdigit():  # numbers, of which there may be millions
        return []
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(plain_name(name, case=case), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def slow_seconds(seconds: NDArray[np.float64] | None) -> float | None:
    """The median response time where it is more plausible in milliseconds; else None.

    >>> slow_seconds(np.array([1800.0, 2100.0])), slow_seconds(np.array([1.8, 2.1]))
    (1950.0, None)
    """
    known = np.empty(0) if seconds is None else seconds[np.isfinite(seconds) & (seconds > 0)]
    median = median_of_times(known) if len(known) else 0.0
    return median if median > 3.0 * 1000**0.5 else None  # of which a thousandth is nearer to the usual 3 s


def warn_of_suspicions(source: str, triplets: Triplets, shown: int = 5) -> None:
    """Warn of names that look the same and of times that are hardly seconds; refuse ratings in place of names."""
    alike = similar_names(triplets.objects, case=False)
    if alike:
        pairs = "; ".join(" and ".join(map(ascii, group)) for group in alike[:shown])
        more = f"; and {len(alike) - shown:,} more" if len(alike) > shown else ""
        apart = "some names differ only by spaces or Unicode form, and count apart"
        warn(f"{source}: {apart}: {pairs}{more}; --join-names (join_names=True) joins them")
    rating = _role_of_numbers(triplets)
    if rating is not None:
        wrong = f"{rating} holds only numbers where the other columns have names"
        way = "if they are ratings, use --column object=NAME twice and --column similarity=NAME or distance=NAME"
        raise FileError(f"{source}: {wrong}; {way}")
    median = slow_seconds(triplets.seconds)
    if median is not None:
        looks = f"the median response time is {median:,.0f} s, which looks like milliseconds"
        warn(f"{source}: {looks}; if so, name the column with --column milliseconds=NAME (columns=)")


def _role_of_numbers(triplets: Triplets, enough: int = 10) -> str | None:
    """The one role of several names that are all numbers, where none in the two others is; None where answers are few."""
    roles = ("anchor", "near", "far")
    numbers = [NUMBER.fullmatch(name.replace(",", ".")) is not None for name in triplets.objects]
    if len(triplets) < enough or all(numbers) or not any(numbers):
        return None
    share = [np.array(numbers)[getattr(triplets, role)].mean() for role in roles]
    role = roles[share.index(1)] if sorted(share) == [0, 0, 1] else None
    return role if role and len(np.unique(getattr(triplets, role))) > 1 else None
