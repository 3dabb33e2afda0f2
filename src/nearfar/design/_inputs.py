"""What the functions of this room accept: objects, budgets, and the warning about objects that nobody is asked about."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.checks import check_count
from nearfar.errors import InputError, UninformedWarning

__all__ = ["Objects", "check_budget", "object_names", "warn_uninformed"]

Objects = Sequence[str] | int


def object_names(objects: Objects) -> tuple[str, ...]:
    """Names of the objects; a number n stands for "0", "1", ..., n - 1."""
    if isinstance(objects, (int, np.integer)):
        return tuple(map(str, range(int(objects))))
    if isinstance(objects, str):
        raise InputError(
            f"objects: expected a list of names or their number, got the text {objects!r}; "
            "to read a file use nearfar.read_objects"
        )
    names = tuple(map(str, objects))
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(f"objects: {twice!r} is listed twice; every object needs a name of its own")
    return names


def check_budget(budget: int, total: int) -> None:
    """Refuse a budget below 0 or above the number of questions there are."""
    check_count(budget, "budget", least=0)
    if budget > total:
        raise InputError(
            f"budget: {budget:,} questions were asked for, but there are {total:,} in all; "
            "ask for at most that many"
        )


def warn_uninformed(names: tuple[str, ...], missed: NDArray[np.bool_], budget: int, remedy: str) -> None:
    """Say which objects no question is about; the budget stays what it is."""
    count = int(missed.sum())
    if not count or not budget:
        return
    first = ", ".join(names[i] for i in np.flatnonzero(missed)[:3]) + (", ..." if count > 3 else "")
    warnings.warn(
        f"budget: {budget:,} leaves {count:,} of {len(names):,} objects without a question ({first}); {remedy}",
        UninformedWarning,
        stacklevel=3,
    )
