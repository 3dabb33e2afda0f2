"""Ids of statements and participants: what must be known of all rows of a source, and ``Ids`` for some of them.

Numbers are numbers only where all are; a blank statement is a statement of its own; a blank participant is ''.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar.io.naming import Vocabulary, look_up, mark_used, unguarded
from nearfar.triplets.ids import Ids

__all__ = ["ParticipantIds", "Statements"]

WHOLE_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"  # as Python writes it: 007 is a name
OWN_NAME = r"^row ([0-9]{1,17})$"


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
    def span(self) -> tuple[int, int] | None:
        """Lowest and highest number, those of blank cells included; None where there is none."""
        low = self._high + 1 if self._low is None else self._low
        high = self._high + self._blank
        return None if self._low is None and not self._blank else (low, high)

    def see(self, ids: pl.Series) -> None:
        """Take note of some ids."""
        self._blank += ids.null_count()
        numbers = self._as_numbers(ids)
        if numbers is not None:
            found = numbers.drop_nulls()
            if len(found):
                low, high = int(found.min()), int(found.max())  # type: ignore[arg-type]
                self._low = low if self._low is None else min(low, self._low)
                self._high = max(high, self._high)
        else:
            self.are_numbers = False
            named = ids.str.extract(OWN_NAME).cast(pl.Int64).max()
            self._named = max(self._named, int(named or 0))  # type: ignore[arg-type]

    def as_ids(self, ids: pl.Series, *, as_numbers: bool, shift: int = 0, prefix: str = "") -> Ids:
        """Some of them as ``Ids``: numbers moved up by ``shift``, or text that begins with ``prefix``."""
        blank = ids.is_null().arg_true()
        first = self._filled + 1
        self._filled += len(blank)
        own = pl.int_range(first, first + len(blank), eager=True)
        if as_numbers:
            numbers = self._as_numbers(ids)
            numbers = ids if numbers is None else numbers
            return Ids.encode((numbers.scatter(blank, own + self._high) + shift).to_numpy())
        text = ids.cast(pl.String)
        if len(blank):
            text = text.scatter(blank, pl.select(pl.format("row {}", own + self._named)).to_series())
        words = Vocabulary()
        codes = text.cast(words.dtype).to_physical()
        rename: Callable[[str], str] = unguarded if self._guarded else str
        names = words.names(0, int(codes.max() or 0) + 1)  # type: ignore[arg-type]
        return _as_ids(codes, [f"{prefix}{rename(name)}" for name in names])

    def _as_numbers(self, ids: pl.Series) -> pl.Series | None:
        if ids.dtype.is_integer():
            return ids
        return None if self._typed else _whole_numbers(ids)


class ParticipantIds:
    """The participants of a reading, all sources together."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self._used = np.ones(1, bool)  # code 0 is nobody
        self._are_numbers = True
        self._names = [""]

    def see(self, codes: pl.Series, *, may_be_numbers: bool, guarded: bool, all_kept: bool = False) -> None:
        """Take note of some participants; text of a typed source stays text. ``all_kept``: all new codes are among them."""
        more = int(codes.max() or 0) + 1 - len(self._used)  # type: ignore[arg-type]
        if more > 0:
            start = len(self._used)
            rename: Callable[[str], str] = unguarded if guarded else str
            self._names += map(rename, self.vocabulary.names(start, start + more))
            self._used = np.concatenate([self._used, np.full(more, all_kept)])
        mark_used(self._used, codes.drop_nulls())
        self._are_numbers &= may_be_numbers and not codes.null_count()

    @property
    def are_numbers(self) -> bool:
        """Whether all participants seen are whole numbers."""
        if not self._are_numbers:
            return False
        names = [self._names[code] for code in (1 + np.flatnonzero(self._used[1:])).tolist()]
        return _whole_numbers(pl.Series(names, dtype=pl.String)) is not None

    def name(self, code: int) -> str:
        """The participant of a code."""
        return self._names[code]

    def as_ids(self, codes: pl.Series, *, as_numbers: bool, all_seen: bool = False) -> Ids:
        """Some participants as ``Ids``, '' where they are not known; ``all_seen``: they are all that were seen."""
        used = None
        if all_seen:
            used = self._used.copy()
            used[0] = codes.null_count() > 0
        return _as_ids(codes.fill_null(0), self._names, used, as_numbers=as_numbers)


def _as_ids(
    codes: pl.Series,
    names: Sequence[str],
    occurs: NDArray[np.bool_] | None = None,
    *,
    as_numbers: bool = False,
) -> Ids:
    """``Ids`` with the names that occur, in order; codes of the same name are one."""
    if occurs is None:
        occurs = np.bincount(codes.to_numpy(), minlength=len(names)) > 0
    used = np.flatnonzero(occurs)
    present = [names[code] for code in used.tolist()]
    values: list[Any] = sorted({int(name) for name in present} if as_numbers else set(present))
    order = {str(value): i for i, value in enumerate(values)}
    rank = np.zeros(len(names), dtype=np.int32)
    rank[used] = [order[name] for name in present]
    ranks = look_up(rank, codes)
    ranks.flags.writeable = False  # ours alone, so Ids need not copy it
    return Ids.from_codes(ranks, values)


def _whole_numbers(text: pl.Series) -> pl.Series | None:
    """The numbers if every text is one as Python writes it, blanks apart; else None."""
    numbers = text.cast(pl.Int64, strict=False)
    if numbers.null_count() != text.null_count() or not text.str.contains(WHOLE_NUMBER).all():
        return None
    return numbers
