"""The names of columns, found without regard to case and punctuation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nearfar.errors import FileError

__all__ = ["Header", "plain"]

PARTICIPANT = (
    "participant",
    "participant_id",
    "session_id",
    "puid",
    "worker_id",
    "sub_id",
    "subject_id",
    "pid",
)
OPTIONAL = {
    "statement": ("statement",),
    "participant": PARTICIPANT,
    "seconds": ("seconds", "response_time"),
    "near_side": ("near_side",),
    "answered_at": ("answered_at",),
    "rule": ("rule",),
}


def plain(name: str) -> str:
    """A column's name as it is compared.

    >>> plain("Response.Time..s."), plain("session_ID")
    ('responsetimes', 'sessionid')
    """
    return re.sub(r"[\W_]+", "", name).lower()


class Header:
    """The columns of one source.

    >>> header = Header("answers.csv", ["Anchor", "near", "far", "worker_id"])
    >>> header.find("anchor"), header.find("odd"), header.optional()
    (0, None, {'participant': 3})
    """

    def __init__(self, source: str, cells: Sequence[str]) -> None:
        self.source = source
        self.cells = tuple(cells)
        self._at: dict[str, list[int]] = {}
        for position, cell in enumerate(cells):
            self._at.setdefault(plain(cell), []).append(position)

    def __len__(self) -> int:
        return len(self.cells)

    def find(self, *names: str) -> int | None:
        """The position of the first of ``names`` that is there."""
        for name in names:
            found = self._at.get(plain(name), [])
            if len(found) > 1:
                raise FileError(
                    f"{self.source}: column {self.cells[found[0]]!r} is there {len(found)} times (columns "
                    f"{', '.join(str(at + 1) for at in found)}); expected it once: rename the others, or name columns by number",
                )
            if found:
                return found[0]
        return None

    def find_all(self, **names: Sequence[str]) -> dict[str, int] | None:
        """role -> position, or None where a role is missing."""
        found = {role: self.find(*aliases) for role, aliases in names.items()}
        return None if None in found.values() else {role: at for role, at in found.items() if at is not None}

    def optional(self, **names: Sequence[str]) -> dict[str, int]:
        """role -> position of the optional columns that are there; ``names`` adds to or replaces ``OPTIONAL``."""
        found = {role: self.find(*aliases) for role, aliases in (OPTIONAL | names).items()}
        return {role: at for role, at in found.items() if at is not None}

    def describe(self, position: int) -> str:
        """How a message calls a column."""
        name = self.cells[position] if position < len(self.cells) else ""
        return name or f"column {position + 1}"
