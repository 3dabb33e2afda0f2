"""The columns of Phi: which kernel each belongs to and which objects it is about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns"]


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
