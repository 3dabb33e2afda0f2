"""One label per answer (who gave it, in which statement), stored as small codes into a list of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.errors import TripletError

__all__ = ["Labels", "order_names"]

TEXT = np.dtypes.StringDType()


def order_names(names: Sequence[str]) -> list[str]:
    """Sort distinct names: by number where all are whole numbers, else by name.

    >>> order_names(["10", "9"]), order_names(["b", "a", "10"])
    (['9', '10'], ['10', 'a', 'b'])
    """
    distinct = set(names)
    if distinct and all(name.isdecimal() and name.isascii() for name in distinct):
        return sorted(distinct, key=lambda name: (int(name), name))
    return sorted(distinct)


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """Label ``names[codes[t]]`` for answer t; names are distinct, whole numbers or text.

    Compare with a name to get a mask, index with a mask or slice to select, ``np.asarray`` to see the names.

    >>> who = Labels.encode(["ann", "bob", "ann"])
    >>> who == "ann"
    array([ True, False,  True])
    >>> who.codes, who[1:]
    (array([0, 1, 0], dtype=int32), Labels(2 answers, 2 names))
    """

    codes: NDArray[np.int32]
    names: NDArray[Any]

    @classmethod
    def encode(cls, values: ArrayLike | Labels) -> Labels:
        """Labels from one value per answer: whole numbers, or anything with a text form."""
        if isinstance(values, Labels):
            return values
        array = np.asarray(values)
        if array.ndim != 1:
            raise TripletError(
                f"labels: expected one value per answer, got an array of shape {array.shape}",
                where="labels",
                came=array.shape,
                expected="one value per answer",
            )
        if array.dtype.kind in "iu":
            array = array.astype(np.int64, copy=False)
        else:
            array = np.array([str(v) for v in array.tolist()], dtype=TEXT)
        names, codes = np.unique(array, return_inverse=True)
        return cls._freeze(codes, names)

    @classmethod
    def from_codes(cls, codes: ArrayLike, names: ArrayLike) -> Labels:
        """Labels from codes into distinct ``names`` (whole numbers or text)."""
        name_array = np.asarray(names)
        if name_array.dtype.kind in "iu":
            name_array = name_array.astype(np.int64)
        else:
            name_array = np.array(name_array.tolist(), dtype=TEXT)
        return cls._freeze(np.asarray(codes), name_array)

    @classmethod
    def _freeze(cls, codes: NDArray[Any], names: NDArray[Any]) -> Labels:
        frozen = np.ascontiguousarray(codes, dtype=np.int32).view()
        frozen.flags.writeable = False
        return cls(frozen, names)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Labels:
        return Labels._freeze(self.codes[rows], self.names)

    def __eq__(self, name: object) -> Any:
        if isinstance(name, Labels):
            return NotImplemented
        hit = np.flatnonzero(self.names == (name if self.is_numeric else str(name)))
        return self.codes == (hit[0] if len(hit) else -1)

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = self.names[self.codes]
        return values if dtype is None else values.astype(dtype)

    def __repr__(self) -> str:
        return f"Labels({len(self)} answers, {len(self.names)} names)"

    @property
    def is_numeric(self) -> bool:
        """Whether the names are whole numbers."""
        return bool(self.names.dtype.kind in "iu")

    @property
    def present(self) -> NDArray[np.intp]:
        """Codes that occur, in order."""
        return np.flatnonzero(np.bincount(self.codes, minlength=len(self.names)))
