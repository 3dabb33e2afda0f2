"""Keys of a study file: a key is a field of the record that its table becomes, with its default and what it may hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, field
from typing import Any

Check = Callable[[Any], str]  # "" where the value is right, else what was expected


def key(check: Check, default: Any = MISSING) -> Any:
    """A field of a record that is a key of its table; one without a default must be given."""
    return field(default=default, metadata={"check": check})


def text(value: Any) -> str:
    """Text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        return "expected text that is not blank"
    return "expected text without a NUL" if "\0" in value else ""  # which PostgreSQL cannot hold


def yes_or_no(value: Any) -> str:
    """True or false."""
    return "" if isinstance(value, bool) else "expected true or false"


def within(least: float, most: float, types: Any = (int, float)) -> Check:
    """A number, or a whole number (``types`` is int), from ``least`` to ``most``."""
    expected = f"expected a {'whole number' if types is int else 'number'} from {least:,} to {most:,}"

    def check(value: Any) -> str:
        right = isinstance(value, types) and not isinstance(value, bool) and least <= value <= most
        return "" if right else expected

    return check


def one_of(*choices: str) -> Check:
    """One of some words."""
    return like(f"({'|'.join(choices)})\\Z", f"one of {', '.join(choices)}")


def like(pattern: str, expected: str) -> Check:
    """Text that matches a pattern."""
    return lambda value: "" if isinstance(value, str) and re.match(pattern, value) else f"expected {expected}"


def texts(least: int, most: int = 100, pattern: str = r"(?s).{1,500}\Z") -> Check:
    """A list of different texts that match a pattern, none of them blank."""
    many = f"{least} to {most}" if least < most else least

    def check(value: Any) -> str:
        right = isinstance(value, list) and all(not text(one) and re.match(pattern, one) for one in value)
        right = right and least <= len(set(value)) == len(value) <= most
        return "" if right else f"expected a list of {many} different short texts"

    return check
