"""One id per answer (who gave it, in which statement), stored as small codes into a list of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Indices
from nearfar.errors import TripletError

TEXT = np.dtypes.StringDType()


def order_names(names: Sequence[str]) -> list[str]:
    """Sort distinct names: by number where all are whole numbers, else by name."""
    distinct = set(names)
    if distinct and all(name.isdecimal() and name.isascii() for name in distinct):
        return sorted(distinct, key=_as_number)
    return sorted(distinct)


def positions(names: Sequence[str], objects: Sequence[str]) -> Indices:
    """Index of each name among the objects; -1 where it is not there.

    >>> positions(["plum", "kiwi"], ["fig", "plum"])
    array([ 1, -1], dtype=int32)
    """
    index = {name: i for i, name in enumerate(objects)}
    return np.array([index.get(name, -1) for name in names], dtype=np.int32)


def _as_number(name: str) -> tuple[int, str, str]:
    """Orders digits by the number that they write, however many they are: int() refuses more than 4,300."""
    digits = name.lstrip("0")
    return len(digits), digits, name


@dataclass(frozen=True, eq=False, repr=False)
class Ids:
    """Id ``names[codes[t]]`` for answer t; names are distinct, whole numbers or text ("" where not known).

    Compare with a name (7 or "7" alike) to get a mask, index with a mask or slice to select, ``np.asarray`` to see the names.

    >>> who = Ids.encode(["ann", "bob", "ann"])
    >>> who == "ann"
    array([ True, False,  True])
    >>> who.codes, who[1:]
    (array([0, 1, 0], dtype=int32), Ids(2 answers, 2 names))
    """

    codes: NDArray[np.int32]
    names: NDArray[Any]

    @classmethod
    def encode(cls, values: ArrayLike | Ids) -> Ids:
        """Ids from one value per answer: whole numbers, or anything with a text form."""
        if isinstance(values, Ids):
            return values
        array = _values(values)
        if array.ndim != 1:
            raise TripletError(f"ids: expected one value per answer, got an array of shape {array.shape}")
        if _fits_int64(array):
            return cls._own(*_encode_numbers(array.astype(np.int64, copy=False)))
        # NaN is the one thing that differs from itself
        text = np.array(["" if v is None or v != v else str(v) for v in array.tolist()], dtype=TEXT)
        names, codes = np.unique(text, return_inverse=True)
        return cls._own(codes, names)

    @classmethod
    def from_codes(cls, codes: ArrayLike, names: ArrayLike) -> Ids:
        """Ids from codes into distinct ``names`` (whole numbers or text)."""
        listed, array = _values(names), np.asarray(codes)
        is_text = not _fits_int64(listed)
        listed = (
            np.array([*map(str, listed.tolist())], dtype=TEXT) if is_text else read_only(listed, np.int64)
        )
        if array.size and (array.min() < 0 or array.max() >= len(listed)):
            run, expected = f"run from {array.min()} to {array.max()}", f"expected 0 to {len(listed) - 1}"
            raise TripletError(f"ids: codes {run}, but there are {len(listed)} names; {expected}")
        return cls._own(read_only(array, np.int32), listed)

    @classmethod
    def _own(cls, codes: NDArray[Any], names: NDArray[Any]) -> Ids:
        """Ids from arrays that nobody else holds."""
        codes = codes.astype(np.int32, copy=False)
        codes.flags.writeable = False
        names.flags.writeable = False
        return cls(codes, names)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Ids:
        return Ids._own(self.codes[rows], self.names)

    def __eq__(self, name: object) -> Any:
        if isinstance(name, Ids):
            return NotImplemented
        wanted: Any = str(name)
        if self.is_numeric:
            wanted = int(wanted) if wanted.removeprefix("-").isdecimal() else None
        hit = [] if wanted is None else np.flatnonzero(self.names == wanted).tolist()
        return self.codes == (hit[0] if hit else -1)

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = self.names[self.codes]
        return values if dtype is None else values.astype(dtype)

    def __repr__(self) -> str:
        return f"Ids({len(self)} answers, {len(self.names)} names)"

    @property
    def is_numeric(self) -> bool:
        """Whether the names are whole numbers."""
        return bool(self.names.dtype.kind in "iu")

    @property
    def present(self) -> NDArray[np.intp]:
        """Codes that occur, in order."""
        return np.flatnonzero(np.bincount(self.codes, minlength=len(self.names)))

    @property
    def known(self) -> NDArray[np.intp]:
        """Codes that occur and are not blank, in order: a blank says that it is not known who answered."""
        present = self.present
        return present if self.is_numeric else present[self.names[present] != ""]


def codes_within(ids: Ids, owners: Ids) -> NDArray[np.int64]:
    """(m,) a number for every id; where an id occurs with several owners, for every pair of both, whatever owners are called.

    >>> codes_within(Ids.encode([1, 2, 1, 2, 2]), Ids.encode(["ann", "ann", "bob", "bob", "bob"]))
    array([0, 1, 2, 3, 3])
    """
    some_owner = np.zeros(len(ids.names), np.int32)
    some_owner[ids.codes] = owners.codes
    codes = ids.codes.astype(np.int64)
    if (some_owner[ids.codes] == owners.codes).all():
        return codes
    pair, pairs = _encode_numbers(codes * len(owners.names) + owners.codes)
    first = np.empty(len(pairs), dtype=np.int64)
    first[pair[::-1]] = np.arange(len(pair))[::-1]  # the first row of each is written last
    return np.asarray(first.argsort().argsort()[pair])


def read_only(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """``array`` as contiguous, read-only ``dtype``; copied where the caller could still write to it."""
    made = np.ascontiguousarray(array, dtype=dtype)
    if np.may_share_memory(made, array) and array.flags.writeable:
        made = made.copy()
    made = made.view()
    made.flags.writeable = False
    return made


def _values(values: ArrayLike) -> NDArray[Any]:
    """An array, where numpy would change a value on the way (None among numbers, a NUL at the end) of objects."""
    if isinstance(values, (list, tuple)) and any(v is None or isinstance(v, str) for v in values):
        return np.array(values, dtype=object)
    return np.asarray(values)


def _fits_int64(array: NDArray[Any]) -> bool:
    if array.dtype.kind not in "iu":
        return False
    return array.dtype != np.uint64 or not array.size or int(array.max()) <= np.iinfo(np.int64).max


def _encode_numbers(values: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """(codes, names) as ``np.unique`` gives them, without a sort where the numbers lie close together."""
    if not len(values):
        return np.zeros(0, np.int32), values
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * len(values):
        names, codes = np.unique(values, return_inverse=True)
        return codes, names
    moved = values - low if low else values
    present = np.bincount(moved) > 0
    rank = np.cumsum(present, dtype=np.int32) - 1
    return rank.take(moved, mode="clip"), np.flatnonzero(present) + low  # "raise" would copy
