"""Joining collections of answers: one list of objects, one of participants, statements kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearfar.triplets.ids import TEXT, Ids, order_names

if TYPE_CHECKING:
    from nearfar.triplets import Triplets

__all__ = ["Apart", "common_objects", "join_columns"]


def join_columns(collections: Sequence[Triplets]) -> dict[str, Any]:
    """The columns of the joined collection, as keyword arguments of ``Triplets``."""
    objects = common_objects([collection.objects for collection in collections])
    columns: dict[str, Any] = {"objects": objects}
    position = {name: i for i, name in enumerate(objects)}
    moves = [
        None
        if collection.objects == objects
        else np.array([position[name] for name in collection.objects], np.int32)
        for collection in collections
    ]
    for role in ("anchor", "near", "far"):
        columns[role] = np.concatenate(
            [
                getattr(collection, role) if move is None else move[getattr(collection, role)]
                for collection, move in zip(collections, moves, strict=True)
            ]
            or [np.zeros(0, np.int32)]
        )
    columns["statement"] = _statements(collections)
    for name in ("participant", "rule"):
        columns[name] = _matched(collections, name)
    for name, unknown in (("seconds", np.nan), ("near_side", -1), ("answered_at", np.nan)):
        columns[name] = _optional(collections, name, unknown)
    return columns


def common_objects(lists: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The common list where all agree, else all names in their natural order."""
    if not lists:
        return ()
    if all(names == lists[0] for names in lists):
        return lists[0]
    return tuple(order_names([name for names in lists for name in names]))


def _statements(collections: Sequence[Triplets]) -> Ids | None:
    """Ids made distinct: numbers move up, text gets the number of its collection as a prefix."""
    if all(collection.statement is None for collection in collections):
        return None
    known = [
        Ids.encode(np.arange(len(collection))) if collection.statement is None else collection.statement
        for collection in collections
    ]
    names = _numbers_apart(known) if all(ids.is_numeric for ids in known) else None
    if names is None:
        names = [
            np.array([f"{number}:{name}" for name in ids.names.tolist()], dtype=TEXT)
            for number, ids in enumerate(known, start=1)
        ]
    starts = np.cumsum([0, *(len(ids.names) for ids in known)])
    codes = [ids.codes + start for ids, start in zip(known, starts.tolist(), strict=False)]
    return Ids.from_codes(np.concatenate(codes), np.concatenate(names))


class Apart:
    """Moves the numbers of one collection after the other above those before it.

    >>> numbers = Apart()
    >>> numbers.add((3, 5))
    >>> numbers.shift(4)
    2
    """

    def __init__(self) -> None:
        self._free: int | None = None

    def shift(self, low: int) -> int:
        """How far the next collection moves, whose lowest number is ``low``."""
        return 0 if self._free is None else max(0, self._free - low)

    def add(self, span: tuple[int, int]) -> None:
        """Take note of the lowest and the highest number of the next collection, before it moves."""
        low, high = span
        if high >= low:
            self._free = max(high + self.shift(low) + 1, self._free or 0)


def _numbers_apart(known: Sequence[Ids]) -> list[NDArray[Any]] | None:
    """Each collection's ids moved above those before it; None where they would leave 64 bits."""
    moved, numbers = [], Apart()
    for ids in known:
        names = ids.names
        if len(names):
            low, high = int(names.min()), int(names.max())
            shift = numbers.shift(low)
            if high + shift >= np.iinfo(np.int64).max:
                return None
            numbers.add((low, high))
            names = names + shift
        moved.append(names)
    return moved


def _matched(collections: Sequence[Triplets], role: str) -> Ids | None:
    """The same name is the same person or rule; a collection without such a column has ''."""
    given: list[Ids | None] = [getattr(collection, role) for collection in collections]
    if all(ids is None for ids in given):
        return None
    stranger = Ids.from_codes([], [""])
    known = [stranger if ids is None else ids for ids in given]
    numeric = all(ids.is_numeric for ids in known)
    position: dict[Any, int] = {}
    codes: list[NDArray[Any]] = []
    for collection, ids in zip(collections, known, strict=True):
        own = ids.names.tolist() if numeric else [str(name) for name in ids.names.tolist()]
        moved = np.array([position.setdefault(name, len(position)) for name in own], dtype=np.int64)
        codes.append(moved[np.zeros(len(collection), np.int64) if ids is stranger else ids.codes])
    return Ids.from_codes(np.concatenate(codes), list(position))


def _optional(collections: Sequence[Triplets], name: str, unknown: float) -> NDArray[Any] | None:
    if all(getattr(collection, name) is None for collection in collections):
        return None
    return np.concatenate(
        [
            np.full(len(collection), unknown)
            if getattr(collection, name) is None
            else getattr(collection, name)
            for collection in collections
        ]
    )
