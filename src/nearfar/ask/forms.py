"""Questions besides triplets: what a ``[[form]]`` table may hold, and whether a value that was sent fits it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nearfar.ask import keys

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}\Z")  # a column of people.csv
PAGES = ("before", "practice", "after")  # practice: asked after it, of who has understood
MOST_TRIES = 3  # at a page with right answers; then the study goes on
MOST_LETTERS = 15_000  # that a page may take: with four bytes each they fit into a request
LETTERS = 500  # of a text, where the study does not say
Value = str | float | list[str]


def _right(value: Any) -> str:
    return "" if isinstance(value, (str, int, float)) else "expected text or a number"


@dataclass(frozen=True)
class FormField:
    """One question of a form; ``least`` and ``most`` bound a number, letters of a text, or how many are chosen."""

    name: str = keys.key(keys.text)
    ask: str = keys.key(keys.text)
    kind: str = keys.key(keys.one_of("text", "number", "choice", "choices", "scale"))
    when: str = keys.key(keys.one_of(*PAGES), "before")
    required: bool = keys.key(keys.yes_or_no, True)
    options: tuple[str, ...] = keys.key(keys.texts(2), ())
    least: float | None = keys.key(keys.within(-1e9, 1e9), None)
    most: float | None = keys.key(keys.within(-1e9, 1e9), None)
    labels: tuple[str, ...] = keys.key(keys.texts(2, 2), ())
    right: str | float | None = keys.key(_right, None)

    def shown(self) -> dict[str, Any]:
        """What browsers are told: everything but the right answer."""
        return {key: value for key, value in vars(self).items() if key not in ("right", "when")}

    def wrong(self, value: Any) -> str:
        """What is wrong with a value that was sent, or nothing; None is a question left open."""
        if value is None:
            return "needs an answer" if self.required else ""
        if self.kind in ("number", "scale"):
            types = (int,) if self.kind == "scale" else (int, float)
            right = isinstance(value, types) and not isinstance(value, bool) and math.isfinite(value)
            return "" if right and self._is_within(value) else f"expected a number {self._range()}"
        if self.kind == "choices":
            right = isinstance(value, list) and all(isinstance(one, str) for one in value)
            right = right and set(value) <= set(self.options) and len(set(value)) == len(value)
            right = right and self._is_within(len(value))
            return "" if right else f"expected options, {self._range()} of them"
        if self.kind == "choice":
            return "" if isinstance(value, str) and value in self.options else "expected one of the options"
        right = isinstance(value, str) and self._is_within(len(value))
        return "" if right else f"expected text, {self._range()} letters"

    def _is_within(self, number: float) -> bool:
        return (self.least is None or number >= self.least) and (self.most is None or number <= self.most)

    def _range(self) -> str:
        words = [("from", self.least), ("to", self.most)]
        return " ".join(f"{word} {bound:g}" for word, bound in words if bound is not None)

    def conflict(self) -> tuple[str, str] | None:
        """(key, what is wrong) where the keys of the table do not go together."""
        bounded = self.least is not None and self.most is not None
        ends = (self.least or 0.0, self.most or 0.0)
        if not NAME.match(self.name):
            return "name", "expected letters, digits and _, a letter first, at most 40"
        if (self.kind in ("choice", "choices")) != bool(self.options):
            return "options", "are for choice and choices, which need two or more different ones"
        if bounded and ends[0] > ends[1]:
            return "most", f"expected at least {self.least:g}, got {self.most:g}"
        is_scale = bounded and 1 <= ends[1] - ends[0] <= 20 and ends == (*map(round, ends),)
        if self.kind == "scale" and not is_scale:
            return "most", "a scale needs whole numbers least and most, at most 20 apart"
        if self.labels and self.kind != "scale":
            return "labels", "are for the ends of a scale"
        if self.right is not None and (self.when != "practice" or self.wrong(self.right)):
            return "right", 'is for when = "practice", and must be an answer that can be given'
        return None


def read_form(values: dict[str, Any]) -> FormField:
    """A field from its table, whose keys are known to have the right types."""
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    given: dict[str, Any] = values | lists
    least, most = int(given.get("required", True)), len(given.get("options", ()))
    bounds: dict[str, dict[str, Any]] = {"text": {"most": LETTERS}, "choices": {"least": least, "most": most}}
    return FormField(**bounds.get(given["kind"], {}) | given)


def form_conflicts(fields: Sequence[FormField], taken: set[str]) -> Iterator[tuple[int, str, str]]:
    """(number from 1, key, what is wrong) of fields that do not fit together; ``taken`` are names of other columns."""
    known = set(taken)
    for number, field in enumerate(fields, start=1):
        if wrong := field.conflict():
            yield number, *wrong
        if field.name in known:
            yield number, "name", f"{field.name!r} is the name of another column of people.csv"
        known.add(field.name)
        page = [one for one in fields[:number] if one.when == field.when and one.kind == "text"]
        if sum(one.most or 0 for one in page) > MOST_LETTERS:
            yield number, "most", f"the texts of a page may have {MOST_LETTERS:,} letters in all"


def check_values(fields: Sequence[FormField], sent: Any) -> tuple[dict[str, Value], str]:
    """(values by name, "") of a page that was sent, or ({}, what is wrong); blank texts and empty lists are left out."""
    if not isinstance(sent, dict) or not sent.keys() <= {field.name for field in fields}:
        return {}, "expected the fields of the form"
    given = {name: value.strip() if isinstance(value, str) else value for name, value in sent.items()}
    given = {name: value for name, value in given.items() if value is not None and value not in ("", [])}
    for field in fields:
        if wrong := field.wrong(given.get(field.name)):
            return {}, f"{field.name}: {wrong}"
    return given, ""


def is_right(fields: Sequence[FormField], given: dict[str, Value]) -> bool:
    """Whether every field that has a right answer got it."""
    return all(field.right is None or given.get(field.name) == field.right for field in fields)
