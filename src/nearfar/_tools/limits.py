"""Limits that keep a hostile or damaged input from taking all memory; each can be raised.

Set an attribute of ``nearfar.LIMITS``, or the environment variable ``NEARFAR_MAX_...`` before the start.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from nearfar.errors import InputError


def _limit(name: str, default: int) -> int:
    variable = f"NEARFAR_MAX_{name.upper()}"

    def read() -> int:
        given = os.environ.get(variable, "").strip()
        if given and not (given.isascii() and given.isdecimal()):
            raise InputError(f"{variable} must be an integer >= 0, got {given!r}")
        return int(given or default)

    made: int = field(default_factory=read)
    return made


@dataclass
class Limits:
    """What is refused before memory is taken.

    Attributes
    ----------
    columns : columns of a table.
    line_bytes : bytes of one line of text.
    unpacked_ratio : how many times larger than the file its unpacked contents may be.
    unpacked_bytes : unpacked bytes that are never refused, whatever the ratio.
    index : index that is never refused; a larger one must be below ``index_ratio`` times the number of answers.
    index_ratio : see ``index``. An object list, or ``n_objects``, lifts both.
    memory_bytes : what matrices may take, also where more is free, as on a machine that others use too.
    """

    columns: int = _limit("columns", 16_384)
    line_bytes: int = _limit("line_bytes", 1 << 26)
    unpacked_ratio: int = _limit("unpacked_ratio", 100)
    unpacked_bytes: int = _limit("unpacked_bytes", 1 << 25)
    index: int = _limit("index", 1_000_000)
    index_ratio: int = _limit("index_ratio", 100)
    memory_bytes: int = _limit("memory_bytes", 1 << 62)


LIMITS = Limits()


def check_largest_index(largest: int, n_answers: int) -> str | None:
    """The sentence for an index that names far more objects than there are answers; None where it is plausible.

    >>> check_largest_index(2**31, 1)
    'the largest index is 2,147,483,648, but there is only 1 answer; give the object list if there are so many'
    """
    if largest < max(LIMITS.index, LIMITS.index_ratio * n_answers):
        return None
    answers = "is only 1 answer" if n_answers == 1 else f"are only {n_answers:,} answers"
    return f"the largest index is {largest:,}, but there {answers}; give the object list if there are so many"
