"""Which object a cell means: by its name, or by its number where the dialect counts objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from nearfar.triplets.ids import order_names

__all__ = [
    "GUARDED",
    "NameTable",
    "Naming",
    "Refused",
    "Vocabulary",
    "by_distinct",
    "look_up",
    "mark_used",
    "unguarded",
]

NAN = ("NaN", "nan")
WHOLE = re.compile(r"(\d{1,18})(\.0*)?", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
GUARDED = re.compile(r"'+[=+\-@\t\r]")
BLOCK = 1 << 15  # codes that are looked up at a time
EMPTY = 0  # the code of the empty text in every vocabulary
Refused = tuple[str, str]  # reason, what was expected


class Vocabulary:
    """Texts seen so far; the code of a text never changes. ``EMPTY`` is the empty one."""

    def __init__(self) -> None:
        self._categories = pl.Categories.random()
        self.dtype = pl.Categorical(self._categories)
        self._anchor = pl.Series([""], dtype=self.dtype)  # polars forgets the texts that no series uses

    def names(self, start: int, stop: int) -> list[str]:
        """The texts of codes ``start`` to ``stop - 1``."""
        codes = pl.int_range(start, stop, dtype=pl.UInt32, eager=True)
        listed: list[str] = codes.cat.to(self.dtype).cast(pl.String).to_list()
        return listed

    def codes_of_numbers(self, numbers: pl.Series) -> pl.Series:
        """Codes of whole numbers as they are written; each distinct one is written once."""
        codes = by_distinct(
            numbers.drop_nulls().to_numpy(),
            lambda seen: pl.Series(seen).cast(pl.String).cast(self.dtype).to_physical().to_numpy(),
        )
        if not numbers.null_count():
            return pl.Series(codes.view(np.uint32))
        known = numbers.is_not_null()
        found = np.zeros(len(numbers), np.uint32)
        found[known.to_numpy()] = codes
        return pl.Series(found).set(~known, None)


def unguarded(name: str) -> str:
    """A text as it was before it was written to CSV: formulas get an apostrophe so that no spreadsheet runs them.

    >>> unguarded("'=1+1"), unguarded("''@x"), unguarded("'-1"), unguarded("'tis")
    ('=1+1', "'@x", "'-1", "'tis")
    """
    if GUARDED.match(name) and not NUMBER.fullmatch(name.lstrip("'")):
        return name[1:]
    return name


def by_distinct(
    values: NDArray[np.int64], meaning: Callable[[NDArray[np.int64]], ArrayLike]
) -> NDArray[np.int32]:
    """What each of some whole numbers means, where ``meaning`` says it of ascending distinct ones.

    >>> by_distinct(np.array([7, 5, 7]), lambda seen: 10 * seen)
    array([70, 50, 70], dtype=int32)
    """
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low > 4 * len(values) + 1000:
        seen, where = np.unique(values, return_inverse=True)
        return np.asarray(meaning(seen), np.int32)[where]
    if low > 0 and high <= 4 * len(values) + 1000:
        low = 0
    moved = values - low if low else values
    met = np.flatnonzero(np.bincount(moved, minlength=1))
    table = np.zeros(high - low + 1, np.int32)
    table[met] = meaning(met + low)
    found: NDArray[np.int32] = table.take(moved)
    return found


def look_up(
    table: NDArray[np.int32], codes: pl.Series, out: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """``table[code]`` of every code, none of which is null; a column in several pieces is not put together first.

    >>> look_up(np.array([5, 7], np.int32), pl.Series([1, 0, 1]))
    array([7, 5, 7], dtype=int32)
    """
    found = np.empty(len(codes), np.int32) if out is None else out
    start = 0
    for block in _blocks(codes):
        stop = start + len(block)
        table.take(block, out=found[start:stop], mode="clip")  # "raise" would copy; no code is too large
        start = stop
    return found


def mark_used(used: NDArray[np.bool_], codes: pl.Series) -> None:
    """Set ``used[code]`` of every code, none of which is null; code 0 is no name.

    >>> used = np.zeros(4, bool)
    >>> mark_used(used, pl.Series([3, 1, 3]))
    >>> used
    array([False,  True, False,  True])
    """
    for block in _blocks(codes):
        if used[1:].all():
            return
        used[block] = True


def _blocks(codes: pl.Series) -> Iterator[NDArray[Any]]:
    """Codes a few at a time: numpy makes them 64 bits long, and these stay in the cache."""
    for piece in codes.get_chunks():
        numbers = piece.to_numpy()
        yield from (numbers[start : start + BLOCK] for start in range(0, len(numbers), BLOCK))


class NameTable:
    """The objects of one reading; ids are positions in the given list, else count from 1 in order of appearance."""

    def __init__(self, listed: Sequence[str] | None, *, numbered: bool = False) -> None:
        self.fixed = listed is not None
        self.numbered = numbered  # the given list is 0, 1, 2, ...
        self.listed = listed or ()
        self._met = [""]  # nobody's id is 0, so that ids in order of appearance are the codes of a vocabulary

    @property
    def names(self) -> Sequence[str]:
        """All names, by id."""
        return self.listed if self.fixed else self._met

    @cached_property
    def ids(self) -> dict[str, int]:
        """The ids of all names; not made where files hold nothing but indices."""
        return {name: i for i, name in enumerate(self.listed)}

    def add(self, name: str) -> int:
        """The id of a name, new where it was not met before."""
        found = self.ids.get(name)
        if found is None:
            found = self.ids[name] = len(self._met)
            self._met.append(name)
        return found

    def indices_in(self, objects: Sequence[str]) -> NDArray[np.int32] | None:
        """The index in ``objects`` of every id; None where ids are indices."""
        if self.fixed:
            return None
        index = {name: i for i, name in enumerate(objects)}
        return np.array([index.get(name, -1) for name in self.names], np.int32)


class Naming:
    """What the cells of one source mean.

    Parameters
    ----------
    table : the objects of the reading.
    own : the object list that the source itself holds, if any.
    first_index : the number of the first object where cells are indices; None where they are names.
    numeric : cells are numbers that name objects, so they must be whole.
    guarded : the source is text that a spreadsheet may open, so that names may carry an apostrophe.

    ``refusals`` are the reasons for which a cell means no object; cell i of ``ids`` is then -1 - its position.
    """

    def __init__(
        self,
        table: NameTable,
        own: Sequence[str] | None,
        first_index: int | None,
        *,
        numeric: bool = False,
        guarded: bool = False,
    ) -> None:
        self.table = table
        self.own = own
        self.first = first_index
        self.refusals: list[Refused] = []
        self._own_names = None if own is None or first_index is not None else set(own)
        self._numeric = numeric
        self._guarded = guarded
        self._vocabulary = Vocabulary()
        # by code; code 0 is the blank cell, which is null before it comes here
        self._meaning = np.zeros(1, np.int32)
        self._in_order = True  # the id of every name is its code

    @property
    def dtype(self) -> pl.Categorical:
        """Cast text to it to have codes for ``ids``."""
        return self._vocabulary.dtype

    def ids(self, cells: pl.Series) -> pl.Series:
        """Ids of codes or of whole numbers; null where a cell is blank, negative where it is refused."""
        if cells.dtype == pl.UInt32:
            known, stop = len(self._meaning), int(cells.max() or 0) + 1  # type: ignore[arg-type]
            if stop > known:
                fresh = [self._judge(name) for name in self._vocabulary.names(known, stop)]
                self._meaning = np.concatenate([self._meaning, np.array(fresh, np.int32)])
                self._in_order = self._in_order and fresh == list(range(known, stop))
            if self._in_order:
                return cells.reinterpret(signed=True)
        blank = cells.is_null() if cells.null_count() else None
        known_cells = cells if blank is None else cells.fill_null(0)
        if cells.dtype == pl.UInt32:
            ids = pl.Series(look_up(self._meaning, known_cells))
        else:
            ids = pl.Series(self._number_ids(known_cells.to_numpy()))
        return ids if blank is None else ids.set(blank, None)

    def _number_ids(self, values: NDArray[np.int64]) -> NDArray[np.int32]:
        """Ids of whole numbers, without a dictionary where the objects are 0, 1, 2, ..."""
        if not len(values):
            return np.zeros(0, np.int32)
        low, high = int(values.min()), int(values.max())
        count = len(self.table.names)
        if self.table.numbered and self.own is None and not self.first:
            if low >= 0 and high < count:
                return values.astype(np.int32)
            found = values.copy()
            for value in np.unique(values[(values < 0) | (values >= count)]).tolist():
                found[values == value] = self._judge(str(value))
            return found.astype(np.int32)
        return by_distinct(values, lambda seen: [self._judge(str(value)) for value in seen.tolist()])

    def _judge(self, cell: str) -> int:
        """The id of an object, or -1 - the position of the reason why it is none."""
        refused, name = self._index_name(cell) if self.first is not None else self._plain_name(cell)
        if refused is None and self.table.fixed and name not in self.table.ids:
            refused = "not in the object list", f"one of the {len(self.table.names)} listed objects"
        if refused is None:
            return self.table.add(name)
        if refused not in self.refusals:
            self.refusals.append(refused)
        return -1 - self.refusals.index(refused)

    def _plain_name(self, cell: str) -> tuple[Refused | None, str]:
        name = unguarded(cell) if self._guarded else cell
        if not name.strip():
            return ("blank cell", "the name of an object"), name
        if self._own_names is not None and not self.table.fixed and name not in self._own_names:
            return ("not in the object list", f"one of the {len(self._own_names)} listed objects"), name
        if not self.table.fixed and self._own_names is None:
            if name in NAN:
                return ("NaN", "the name of an object (if one is called so, give the object list)"), name
            if self._numeric:
                return _judge_number(name), name
        return None, name

    def _index_name(self, cell: str) -> tuple[Refused | None, str]:
        """The name of a numbered object: in the source's own list, else in the given one, else the number."""
        first = self.first or 0
        listed = self.own if self.own is not None else self.table.names if self.table.fixed else None
        last = "" if listed is None else f" to {len(listed) - 1 + first}"
        expected = f"a whole number from {first}{last}"
        if not cell.strip():
            return ("blank cell", expected), cell
        if cell in NAN:
            return ("NaN", expected), cell
        refused = _judge_number(cell)
        if refused is not None:
            return (refused[0], expected), cell
        number = int(cell.split(".")[0])
        if number < first or (listed is not None and number - first >= len(listed)):
            return ("index beyond the object list", expected), cell
        return None, str(number) if listed is None else listed[number - first]

    def list_of(self, used: Iterable[str]) -> tuple[str, ...]:
        """The objects of the source, given the names that its answers use."""
        if self.own is not None:
            return tuple(self.own)
        if self.first is not None:
            last = max(map(int, used), default=self.first - 1)
            return tuple(map(str, range(self.first, last + 1)))
        return tuple(order_names(list(used)))


def _judge_number(name: str) -> Refused | None:
    if WHOLE.fullmatch(name):
        return None
    if not NUMBER.fullmatch(name):
        return "not an index", "a whole number"
    if name.startswith("-"):
        return "negative index", "a whole number from 0"
    whole = "." not in name and "e" not in name.lower()
    return "index too large" if whole else "fractional index", "a whole number from 0"
