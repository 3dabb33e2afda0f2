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
    all_codes : how many marks there are -> codes of all columns, in the order of the grid's columns.
    add_to_grid : compiled (grid, anchor, near, far, mark, n_marks, first_row).
    fill_keys : compiled (anchor, near, far, mark, mark_bits, row_bits, out) -> number of keys written.
    of_pairs : whether columns are about pairs of objects (k1, k2). Then a cell's value is net / total, a mean answer, and
        columns nobody answered about are left out. Else they are about one object (score): a value is net, a sum; all
        columns stay; and an object's own column gets the length of the rest of its row.
    """

    name: str
    cells_per_answer: int
    all_codes: Callable[[int], ColumnCodes]
    n_columns: Callable[[int], int]
    add_to_grid: Callable[..., None]
    fill_keys: Callable[..., int]
    of_pairs: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        return _part_called, (self.name,)  # compiled loops and all stay where they are

    def codes_of_keys(self, key_columns: NDArray[np.int64], mark_bits: int) -> ColumnCodes:
        """Column numbers as they stand in sorting keys -> codes."""
        if not self.of_pairs:
            return key_columns << 32
        low = (np.int64(1) << mark_bits) - 1
        return ((key_columns >> mark_bits) << 32) | (key_columns & low)


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
