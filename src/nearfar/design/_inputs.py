"""What the functions of this room accept: objects, budgets, and the warning about objects that nobody is asked about."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.checks import check_count
from nearfar.errors import InputError, UninformedWarning
from nearfar.triplets.columns import sound_names

__all__ = ["Objects", "check_budget", "object_names", "warn_uninformed"]

Objects = Sequence[str] | int


def object_names(objects: Objects) -> tuple[str, ...]:
    """Names of the objects; a number n stands for "0", "1", ..., n - 1."""
    if isinstance(objects, (int, np.integer)):
        return tuple(map(str, range(check_count(objects, "objects", least=0, most=2**31 - 1))))
    if isinstance(objects, str):
        raise InputError(
            f"objects: expected a list of names or their number, got the text {objects!r}; "
            "to read a file use nearfar.read_objects"
        )
    return sound_names(objects)


def check_budget(budget: int, total: int) -> None:
    """Refuse a budget below 0 or above the number of questions there are."""
    check_count(budget, "budget", least=0)
    if budget > total:
        raise InputError(
            f"budget: {budget:,} questions were asked for, but there are {total:,} in all; "
            "ask for at most that many"
        )


def warn_uninformed(names: tuple[str, ...], asked: NDArray[Any], budget: int, remedy: str) -> None:
    """Say which objects are not among those ``asked`` about; the budget stays what it is."""
    missed = np.setdiff1d(np.arange(len(names)), asked)
    count = len(missed)
    if not count or not budget:
        return
    first = ", ".join(names[i] for i in missed[:3]) + (", ..." if count > 3 else "")
    warnings.warn(
        f"budget: {budget:,} leaves {count:,} of {len(names):,} objects without a question ({first}); {remedy}",
        UninformedWarning,
        stacklevel=3,
    )
