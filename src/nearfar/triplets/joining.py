"""Joining collections of answers: one list of objects, one of participants, statements kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearfar.triplets.ids import TEXT, Ids, order_names, positions

if TYPE_CHECKING:
    from nearfar.triplets import Triplets


def join_columns(collections: Sequence[Triplets]) -> dict[str, Any]:
    """The columns of the joined collection, as keyword arguments of ``Triplets``."""
    objects = common_objects([collection.objects for collection in collections])
    columns: dict[str, Any] = {role: [np.zeros(0, np.int32)] for role in ("anchor", "near", "far")}
    for collection in collections:
        same = collection.objects == objects
        index = None if same else positions(collection.objects, objects)
        for role, parts in columns.items():
            column = getattr(collection, role)
            parts.append(column if index is None else index[column])
    columns = {role: np.concatenate(parts) for role, parts in columns.items()}
    for role, unknown in (("seconds", np.nan), ("near_side", -1), ("answered_at", np.nan)):
        if any(getattr(collection, role) is not None for collection in collections):
            own = [(len(collection), getattr(collection, role)) for collection in collections]
            columns[role] = np.concatenate([np.full(m, unknown) if o is None else o for m, o in own])
    matched = {role: _matched(collections, role) for role in ("participant", "rule")}
    return {"objects": objects, "statement": _statements(collections), **matched, **columns}


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
    return Ids.from_codes(_codes_in_a_row(known), np.concatenate(names))


def _codes_in_a_row(known: Sequence[Ids]) -> NDArray[Any]:
    """Codes into the lists of names written one after the other."""
    starts = np.cumsum([0, *(len(ids.names) for ids in known)]).tolist()
    return np.concatenate([ids.codes + start for ids, start in zip(known, starts, strict=False)])


class IdOffsets:
    """Moves the numbers of one collection after the other above those before it.

    >>> numbers = IdOffsets()
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
    moved, numbers = [], IdOffsets()
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
    known = [
        Ids.from_codes(np.zeros(len(collection), np.int32), [""]) if ids is None else ids
        for collection, ids in zip(collections, given, strict=True)
    ]
    numeric = all(ids.is_numeric for ids in known)
    listed = Ids.encode(np.concatenate([ids.names if numeric else ids.names.astype(TEXT) for ids in known]))
    return Ids.from_codes(listed.codes[_codes_in_a_row(known)], listed.names)
