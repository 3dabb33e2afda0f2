"""Joining collections of answers: one list of objects, one of participants, statements kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearfar.labels import TEXT, Labels, order_names

if TYPE_CHECKING:
    from nearfar.triplets import Triplets

__all__ = ["join_columns"]


def join_columns(parts: Sequence[Triplets]) -> dict[str, Any]:
    """The columns of the joined collection, as keyword arguments of ``Triplets``."""
    objects = _union([part.objects for part in parts])
    columns: dict[str, Any] = {"objects": objects}
    position = {name: i for i, name in enumerate(objects)}
    moves = [
        None if part.objects == objects else np.array([position[name] for name in part.objects], np.int32)
        for part in parts
    ]
    for role in ("anchor", "near", "far"):
        columns[role] = np.concatenate(
            [
                getattr(part, role) if move is None else move[getattr(part, role)]
                for part, move in zip(parts, moves, strict=True)
            ]
            or [np.zeros(0, np.int32)]
        )
    columns["statement"] = _statements(parts)
    columns["participant"] = _participants(parts)
    for name, unknown in (("seconds", np.nan), ("near_side", -1), ("answered_at", np.nan)):
        columns[name] = _optional(parts, name, unknown)
    return columns


def _union(lists: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The common list where all agree, else all names in their natural order."""
    if not lists:
        return ()
    if all(names == lists[0] for names in lists):
        return lists[0]
    return tuple(order_names([name for names in lists for name in names]))


def _statements(parts: Sequence[Triplets]) -> Labels | None:
    """Ids made distinct: numbers move up, text gets the part's number as a prefix where it would clash."""
    if all(part.statement is None for part in parts):
        return None
    known = [part.statement or Labels.encode(np.arange(len(part))) for part in parts]
    codes, names, base = [], [], 0
    numeric = all(labels.is_numeric for labels in known)
    seen: set[Any] = set()
    offset = 0
    for number, labels in enumerate(known):
        own = labels.names
        if numeric:
            low = int(own.min()) if len(own) else 0
            own = own + (max(0, offset - low) if number else 0)
            offset = max([offset, *([int(own.max()) + 1] if len(own) else [])])
        else:
            text = [str(v) for v in own.tolist()]
            if seen.intersection(text):
                text = [f"{number + 1}:{v}" for v in text]
            seen.update(text)
            own = np.array(text, dtype=TEXT)
        codes.append(labels.codes.astype(np.int64) + base)
        names.append(own)
        base += len(own)
    return Labels.from_codes(np.concatenate(codes), np.concatenate(names))


def _participants(parts: Sequence[Triplets]) -> Labels | None:
    """The same name is the same person; a part without participants has the person ''."""
    if all(part.participant is None for part in parts):
        return None
    position: dict[str, int] = {}
    codes: list[NDArray[Any]] = []
    for part in parts:
        own = [""] if part.participant is None else [str(v) for v in part.participant.names.tolist()]
        moved = np.array([position.setdefault(name, len(position)) for name in own], dtype=np.int64)
        codes.append(
            moved[np.zeros(len(part), np.int64) if part.participant is None else part.participant.codes]
        )
    return Labels.from_codes(np.concatenate(codes), list(position))


def _optional(parts: Sequence[Triplets], name: str, unknown: float) -> NDArray[Any] | None:
    if all(getattr(part, name) is None for part in parts):
        return None
    return np.concatenate(
        [
            np.full(len(part), unknown) if getattr(part, name) is None else getattr(part, name)
            for part in parts
        ]
    )
