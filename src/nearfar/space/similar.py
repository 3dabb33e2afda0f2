"""What people ask first: what is most similar to this one?"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from nearfar.errors import InputError

__all__ = ["Similar", "find_name"]


@dataclass(frozen=True)
class Similar:
    """What is most similar to one object; ``print`` shows a short table.

    Attributes
    ----------
    name : the object asked about.
    names : the most similar ones, nearest first.
    similarities : 1 - d^2 / 2 of each; for a kernel that is its value, agreement between -1 and 1.
    uninformed : names of the objects nothing is known about; they cannot be in the list.
    """

    name: str
    names: tuple[str, ...]
    similarities: tuple[float, ...]
    uninformed: tuple[str, ...]

    def __str__(self) -> str:
        width = max(map(len, self.names), default=0)
        lines = [
            f"  {name:<{width}}  {value:+.2f}"
            for name, value in zip(self.names, self.similarities, strict=True)
        ]
        return "\n".join([f"most similar to {self.name}:", *lines])


def find_name(names: Sequence[str], name: str) -> int:
    """The index of a name; an error that lists similar names where it is not among them.

    >>> find_name(["fig", "plum"], "plum")
    1
    """
    if name in names:
        return names.index(name)
    close = difflib.get_close_matches(name, names, n=3)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    raise InputError(f"{name!r} is not among the {len(names)} objects{hint}")
