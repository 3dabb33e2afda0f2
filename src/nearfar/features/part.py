"""What a kernel is made of: how one answer adds to cells, and what its columns are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ColumnCodes = NDArray[np.int64]
"""Columns as numbers: first mark << 32 | second mark, ascending."""


@dataclass(frozen=True)
class Part:
    """One kernel, as the counting and the rows need it.

    A *mark* numbers the objects that columns are made of: all objects, or the landmarks. ``mark[o]`` is
    the mark of object o, or -1 where no column is made of it.

    Parameters
    ----------
    name : "k1", "k2" or "score".
    cells_per_answer : how many cells an answer adds to.
    n_columns : how many marks there are -> how many columns there could be.
    codes : (columns, marks) -> codes of columns by their numbers below ``n_columns``, in the same order.
    fill_keys : compiled (anchor, near, far, mark, marks, row_bits, out) -> number of keys written, one for each cell.
    of_pairs : whether columns are about pairs of objects (k1, k2). Then a cell's value is net / total, a mean answer, and
        columns nobody answered about are left out. Else they are about one object (score): a value is net, a sum; all
        columns stay; and an object's own column gets the length of the rest of its row.
    """

    name: str
    cells_per_answer: int
    n_columns: Callable[[int], int]
    codes: Callable[[NDArray[np.int64], int], ColumnCodes]
    fill_keys: Callable[..., int]
    of_pairs: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        return _part_called, (self.name,)  # compiled loops and all stay where they are

    def all_codes(self, marks: int) -> ColumnCodes:
        """The codes of all columns."""
        return self.codes(np.arange(self.n_columns(marks)), marks)


def _part_called(name: str) -> Part:
    from nearfar.features.mapping import PARTS

    return PARTS[name]


@dataclass(frozen=True, repr=False)
class Columns:
    """Column c belongs to kernel ``kernel[c]`` and is about objects ``first[c]`` and ``second[c]``.

    ``first`` and ``second`` are indices into ``objects``; ``second`` is -1 for the score kernel, whose columns
    are about one object. In k2 the first object is the anchor.

    >>> Columns(("red", "blue"), np.array(["k1"]), np.array([0]), np.array([1])).describe()
    ['k1: red | blue']
    """

    objects: tuple[str, ...]
    kernel: NDArray[np.str_]
    first: NDArray[np.int32]
    second: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        return f"Columns({len(self)} of {'+'.join(dict.fromkeys(self.kernel.tolist())) or 'none'})"

    def describe(self) -> list[str]:
        """Every column in words."""
        names = self.objects
        return [
            f"{kernel}: {names[first]}" + (f" | {names[second]}" if second >= 0 else "")
            for kernel, first, second in zip(self.kernel.tolist(), self.first, self.second, strict=True)
        ]


def columns_of(
    parts: list[Part], codes: list[ColumnCodes], mark_objects: NDArray[np.int32], objects: tuple[str, ...]
) -> Columns:
    """What the columns of all parts are about, from their codes."""
    kernels, first, second = [], [], []
    for part, own in zip(parts, codes, strict=True):
        kernels.append(np.full(len(own), part.name))
        first.append(mark_objects[own >> 32])
        second.append(mark_objects[own & 0xFFFFFFFF] if part.of_pairs else np.full(len(own), -1, np.int32))
    return Columns(objects, np.concatenate(kernels), np.concatenate(first), np.concatenate(second))
