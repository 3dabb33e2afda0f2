"""Runs of cells that are added up as they come, as log-structured merge trees do: little memory, and little work.

Every piece of answers gives a block of rows a run of cells. Kept until the end, runs would take the memory of all
answers; added up one by one, the sum would be gone through for every piece. So enough runs of a size make one of the
next. A run holds a cell once, so sizes end where a run holds about all cells that can differ: runs of the last size
are added up to a single one. That keeps about three times the cells that differ, whatever the number of answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, TypeVar

from nearfar.scale._engine import FAN_IN

__all__ = ["Runs", "enough_runs"]

AnyRun = TypeVar("AnyRun")


def enough_runs(in_run: float, most: float, *, fan_in: int = FAN_IN) -> list[int]:
    """How many runs of each size make one of the next, from runs of so many cells to one of the most there can be.

    No more than ``fan_in`` runs are joined at once.

    >>> enough_runs(4e6, 1e9)
    [16, 16]
    >>> enough_runs(4e6, 5e8)
    [16, 16]
    >>> enough_runs(4e6, 1e8)
    [16, 4]
    >>> enough_runs(2e9, 1e9)
    []
    """
    enough = []
    size = max(1.0, in_run)
    while size < most:
        enough.append(min(fan_in, math.ceil(2 * most / size)))
        size *= enough[-1]
    return enough


class Runs(Generic[AnyRun]):
    """The runs of one block of rows; ``join`` adds several up to one."""

    def __init__(self, enough: list[int], join: Callable[[list[AnyRun]], AnyRun]) -> None:
        self._enough = enough
        self._join = join
        self._growing: list[list[AnyRun]] = [[] for _ in enough]
        self._last: list[AnyRun] = []

    def add(self, run: AnyRun) -> None:
        """Take one more run, of the smallest size."""
        for runs, enough in zip(self._growing, self._enough, strict=True):
            runs.append(run)
            if len(runs) < enough:
                return
            run = self._join(list(runs))
            runs.clear()
        self._last = [self._join([*self._last, run])] if self._last else [run]

    def left(self) -> list[AnyRun]:
        """Those that are still to be added up."""
        return [run for runs in self._growing for run in runs] + self._last
