"""What cells name: objects, by name or by number, and the ids of statements, participants and rules.

Every distinct cell is judged once. Its code in a vocabulary leads to the id of an object, or to the reason why it is
none. Ids are numbers only where all are; a blank statement is a statement of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar.triplets.ids import Ids

NAN = {"NA": "NA", "NaN": "NaN", "nan": "NaN"}  # in the place of a name -> how messages call it
WHOLE = re.compile(r"(\d{1,18})(\.0*)?", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
GUARDED = re.compile(r"'+[=+\-@\t\r]")
EMPTY = 0  # the code of the empty text in every vocabulary
Refused = tuple[str, str]  # reason, what was expected


class Vocabulary:
    """Texts seen so far; the code of a text never changes. ``EMPTY`` is the empty one."""

    def __init__(self) -> None:
        self.dtype = pl.Categorical(pl.Categories.random())
        self._anchor = pl.Series([""], dtype=self.dtype)  # polars forgets the texts that no series uses

    def names(self, codes: pl.Series) -> list[str]:
        """The texts of some codes."""
        listed: list[str] = codes.cast(pl.UInt32).cat.to(self.dtype).cast(pl.String).to_list()
        return listed

    def of_numbers(self, numbers: pl.Series) -> pl.Series:
        """Whole numbers as they are written; where they lie close together, each distinct one is written once."""
        low, high = numbers.min(), numbers.max()
        if not isinstance(low, int) or not isinstance(high, int) or high - low > 4 * len(numbers) + 1000:
            return numbers.cast(pl.String).cast(self.dtype)
        met = np.zeros(high - low + 1, bool)
        met[numbers.drop_nulls().to_numpy() - low] = True
        codes = np.zeros(len(met), np.uint32)
        distinct = pl.Series(np.flatnonzero(met) + low)
        codes[met] = distinct.cast(pl.String).cast(self.dtype).to_physical().to_numpy()
        return pl.Series(codes).gather(numbers - low).cat.to(self.dtype)


def unguarded(name: str) -> str:
    """A text as it was before it was written to CSV: formulas get an apostrophe so that no spreadsheet runs them.

    >>> unguarded("'=1+1"), unguarded("''@x"), unguarded("'-1"), unguarded("'tis")
    ('=1+1', "'@x", "'-1", "'tis")
    """
    is_guarded = GUARDED.match(name) and not NUMBER.fullmatch(name.lstrip("'"))
    return name[1:] if is_guarded else name


# of no width: spaces, joiners, directions
INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def plain_name(name: str, *, case: bool = True) -> str:
    """A name without what the eye overlooks: blanks at its ends, Unicode forms, and ``case``.

    >>> plain_name(" Fig\u200b  tree")
    'fig tree'
    """
    if not name.isascii():
        name = INVISIBLE.sub("", unicodedata.normalize("NFKC", name))
    name = " ".join(name.split())
    return name.casefold() if case else name


class Numbers(Sequence[str]):
    """The names of objects that are called by their index, without a billion strings.

    >>> Numbers(3)[1], list(Numbers(3)), Numbers(3).get("2"), Numbers(3).get("3")
    ('1', ['0', '1', '2'], 2, None)
    """

    def __init__(self, count: int) -> None:
        self._range = range(count)

    def __len__(self) -> int:
        return len(self._range)

    def __getitem__(self, at: int | slice) -> str | list[str]:  # type: ignore[override]
        return list(map(str, self._range[at])) if isinstance(at, slice) else str(self._range[at])

    def get(self, name: str) -> int | None:
        """The index of a name; None where there is none such."""
        number = int(name) if WHOLE.fullmatch(name) and "." not in name else -1
        return number if str(number) == name and number in self._range else None


@dataclass
class Naming:
    """What the cells of one source mean.

    Parameters
    ----------
    listed : the given object list, whose positions are the ids; None where objects are numbered as they appear.
    index : the id of every name known so far; ``Numbers`` are called by their index. Without a given list it begins with
        the empty text, as vocabularies do, so that an id is the code of a name as long as every cell is one.
    own : the object list that the source itself holds, if any.
    first : the number of the first object where cells are indices; None where they are names.
    numeric : cells are numbers that name objects, so they must be whole.
    guarded : the source is text that a spreadsheet may open, so that names may carry an apostrophe.
    joined : ``plain_name`` -> the first spelling of it, where names that differ by case or blanks are one; else None.

    ``refusals`` are the reasons for which a cell means no object; cell i of ``ids`` is then -1 - its position.
    """

    listed: Sequence[str] | None
    index: dict[str, int] | Numbers
    own: Sequence[str] | None
    first: int | None
    numeric: bool = False
    guarded: bool = False
    joined: dict[str, str] | None = None
    refusals: list[Refused] = field(default_factory=list)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    _meaning: NDArray[np.int32] = field(default_factory=lambda: np.zeros(1, np.int32))  # by code
    _is_code: bool = True  # the meaning of every code is itself

    @cached_property
    def _own_names(self) -> set[str] | None:
        return None if self.own is None or self.first is not None else set(self.own)

    def ids(self, codes: pl.Series) -> pl.Series:
        """Ids of codes; null where a cell is blank, negative where it is refused."""
        known, stop = len(self._meaning), int(codes.max() or 0) + 1  # type: ignore[arg-type]
        if stop > known:
            fresh = self.vocabulary.names(pl.int_range(known, stop, eager=True))
            judged = np.array([self._judge(name) for name in fresh], np.int32)
            self._meaning = np.append(self._meaning, judged)
            self._is_code = np.array_equal(self._meaning, np.arange(stop))
        return codes.reinterpret(signed=True) if self._is_code else pl.Series(self._meaning).gather(codes)

    def _judge(self, cell: str) -> int:
        """The id of an object, or -1 - the position of the reason why it is none."""
        refused, name = self._index_name(cell) if self.first is not None else self._plain_name(cell)
        if refused is None:
            if self.joined is not None:
                name = self.joined.setdefault(plain_name(name), name)
            known = self.index.get(name)
            if known is None and self.listed is None and isinstance(self.index, dict):
                known = self.index[name] = len(self.index)
            if known is not None:
                return known
        refused = refused or _unlisted(len(self.listed or ()))
        if refused not in self.refusals:
            self.refusals.append(refused)
        return -1 - self.refusals.index(refused)

    def _plain_name(self, cell: str) -> tuple[Refused | None, str]:
        name = unguarded(cell) if self.guarded else cell
        if not name.strip():
            return ("blank cell", "the name of an object"), name
        if self.listed is not None:
            return None, name
        if self._own_names is not None:
            return (None if name in self._own_names else _unlisted(len(self._own_names))), name
        if name in NAN:
            return (NAN[name], "the name of an object (if one is called so, give the object list)"), name
        return (_judge_number(name) if self.numeric else None), name

    def _index_name(self, cell: str) -> tuple[Refused | None, str]:
        """The name of a numbered object: in the source's own list, else in the given one, else the number."""
        first = self.first or 0
        listed = self.listed if self.own is None else self.own
        last = "" if listed is None else f" to {len(listed) - 1 + first}"
        expected = f"a whole number from {first}{last}"
        if not cell.strip():
            return ("blank cell", expected), cell
        if cell in NAN:
            return (NAN[cell], expected), cell
        refused = _judge_number(cell)
        if refused is not None:
            return (refused[0], expected), cell
        number = int(cell.split(".")[0])
        if number < first or (listed is not None and number - first >= len(listed)):
            return ("index beyond the object list", expected), cell
        return None, str(number) if listed is None else listed[number - first]


def _unlisted(count: int) -> Refused:
    return "not in the object list", f"one of the {count} listed objects"


def _judge_number(name: str) -> Refused | None:
    if WHOLE.fullmatch(name):
        return None
    if not NUMBER.fullmatch(name):
        return "not an index", "a whole number"
    if name.startswith("-"):
        return "negative index", "a whole number from 0"
    whole = "." not in name and "e" not in name.lower()
    return "index too large" if whole else "fractional index", "a whole number from 0"


@dataclass
class Statements:
    """The statement ids of one source, seen batch by batch, then encoded batch by batch; where it is ``typed``, text stays text."""

    typed: bool
    guarded: bool
    are_numbers: bool = True
    _low: int | None = None
    _high: int = -1
    _blank: int = 0
    _named: int = 0  # highest N of an id "row N"
    _filled: int = 0

    @property
    def span(self) -> tuple[int, int]:
        """Lowest and highest number, those of blank cells included; (0, -1) where there is none."""
        low = self._high + 1 if self._low is None else self._low
        return low, self._high + self._blank

    def see(self, ids: pl.Series) -> None:
        """Take note of some ids."""
        self._blank += ids.null_count()
        numbers = ids if ids.dtype.is_integer() else None if self.typed else whole_numbers(ids)
        if numbers is None:
            self.are_numbers = False
            named = ids.str.extract(r"^row ([0-9]{1,17})$").cast(pl.Int64).max()
            self._named = max(self._named, int(named or 0))  # type: ignore[arg-type]
        elif numbers.null_count() < len(numbers):
            low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
            self._low = low if self._low is None else min(low, self._low)
            self._high = max(high, self._high)

    def as_ids(self, ids: pl.Series, as_numbers: bool, *, shift: int = 0, prefix: str = "") -> Ids:
        """Some of them as ``Ids``: numbers moved up by ``shift``, or text that begins with ``prefix``."""
        blank = ids.is_null().arg_true()
        own = pl.int_range(self._filled + 1, self._filled + 1 + len(blank), eager=True)
        self._filled += len(blank)
        if as_numbers:
            numbers = ids.cast(pl.Int64).scatter(blank, own + self._high)
            return Ids.encode((numbers + shift).to_numpy())
        text = ids.cast(pl.String)
        if len(blank):
            text = text.scatter(blank, pl.select(pl.format("row {}", own + self._named)).to_series())
        return text_ids(text, guarded=self.guarded, prefix=prefix)


def text_ids(column: pl.Series, *, guarded: bool, as_numbers: bool = False, prefix: str = "") -> Ids:
    """``Ids`` of text, which may be coded, or of whole numbers: the names that occur, in order, '' where it is blank.

    >>> np.asarray(text_ids(pl.Series(["b", None, "a"]), guarded=False)).tolist()
    ['b', '', 'a']
    """
    if column.dtype.is_integer() and as_numbers:
        return Ids.encode(column.to_numpy())
    words = Vocabulary()
    if not isinstance(column.dtype, pl.Categorical):
        column = column.cast(pl.String).cast(words.dtype)
    codes = column.to_physical().fill_null(EMPTY)
    used = np.flatnonzero(np.bincount(codes.to_numpy(), minlength=1))
    names = pl.Series(used, dtype=pl.UInt32).cat.to(column.dtype).cast(pl.String).to_list()
    names = [f"{prefix}{unguarded(name) if guarded else name}" for name in names]
    values = sorted({int(name) if as_numbers else name for name in names})
    order = {str(value): i for i, value in enumerate(values)}
    rank = np.zeros(used.max(initial=0) + 1, np.int32)
    rank[used] = [order[name] for name in names]
    return Ids.from_codes(pl.Series(rank).gather(codes).to_numpy(), values)


def whole_numbers(text: pl.Series) -> pl.Series | None:
    """The numbers if every text is one as Python writes it (007 is a name), blanks apart; else None."""
    numbers = text.cast(pl.Int64, strict=False)
    written = text.str.contains(r"^(0|-?[1-9][0-9]{0,17})$").all()
    return numbers if written and numbers.null_count() == text.null_count() else None
