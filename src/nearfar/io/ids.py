"""Ids of statements, participants and rules: what must be known of all rows of a source, and ``Ids`` for some of them.

Numbers are numbers only where all are; a blank statement is a statement of its own; any other blank is ''.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from nearfar.io.naming import EMPTY, Vocabulary, unguarded
from nearfar.triplets.ids import Ids

__all__ = ["Statements", "text_ids", "whole_numbers"]


class Statements:
    """The statement ids of one source, seen batch by batch, then encoded batch by batch.

    Parameters
    ----------
    typed : whether the source has types, so that text stays text.
    guarded : whether text that looks like a formula has an apostrophe before it.
    """

    def __init__(self, *, typed: bool, guarded: bool) -> None:
        self._typed = typed
        self._guarded = guarded
        self.are_numbers = True
        self._low: int | None = None
        self._high = -1
        self._blank = 0
        self._named = 0  # highest N of an id "row N"
        self._filled = 0

    @property
    def span(self) -> tuple[int, int]:
        """Lowest and highest number, those of blank cells included; (0, -1) where there is none."""
        low = self._high + 1 if self._low is None else self._low
        return low, self._high + self._blank

    def see(self, ids: pl.Series) -> None:
        """Take note of some ids."""
        self._blank += ids.null_count()
        numbers = self._as_numbers(ids)
        if numbers is None:
            self.are_numbers = False
            named = ids.str.extract(r"^row ([0-9]{1,17})$").cast(pl.Int64).max()
            self._named = max(self._named, int(named or 0))  # type: ignore[arg-type]
        elif numbers.null_count() < len(numbers):
            low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
            self._low = low if self._low is None else min(low, self._low)
            self._high = max(high, self._high)

    def as_ids(self, ids: pl.Series, *, as_numbers: bool, shift: int = 0, prefix: str = "") -> Ids:
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
        return text_ids(text, guarded=self._guarded, prefix=prefix)

    def _as_numbers(self, ids: pl.Series) -> pl.Series | None:
        if ids.dtype.is_integer():
            return ids
        return None if self._typed else whole_numbers(ids)


def text_ids(column: pl.Series, *, guarded: bool, as_numbers: bool = False, prefix: str = "") -> Ids:
    """``Ids`` of text, which may be coded: the names that occur, in order, '' where it is blank.

    >>> np.asarray(text_ids(pl.Series(["b", None, "a"]), guarded=False)).tolist()
    ['b', '', 'a']
    """
    words = Vocabulary()
    if column.dtype == pl.String:
        column = column.cast(words.dtype)
    codes = column.to_physical().fill_null(EMPTY)
    used = codes.unique()
    names = used.cat.to(column.dtype).cast(pl.String).to_list()
    names = [f"{prefix}{unguarded(name) if guarded else name}" for name in names]
    values = sorted({int(name) if as_numbers else name for name in names})
    order = {str(value): i for i, value in enumerate(values)}
    rank = np.zeros(int(used.max() or 0) + 1, np.int32)  # type: ignore[arg-type]
    rank[used.to_numpy()] = [order[name] for name in names]
    ranks = pl.Series(rank).gather(codes).to_numpy()
    ranks.flags.writeable = False  # ours alone, so Ids need not copy it
    return Ids.from_codes(ranks, values)


def whole_numbers(text: pl.Series) -> pl.Series | None:
    """The numbers if every text is one as Python writes it (007 is a name), blanks apart; else None."""
    numbers = text.cast(pl.Int64, strict=False)
    written = text.str.contains(r"^(0|-?[1-9][0-9]{0,17})$").all()
    return numbers if written and numbers.null_count() == text.null_count() else None
