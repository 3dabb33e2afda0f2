"""Questions besides triplets: what a ``[[form]]`` table may hold, and whether a value that was sent fits it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nearfar.ask import keys

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}\Z")  # a column of people.csv
PAGES = ("before", "practice", "after")  # practice: asked after it, of who has understood
MOST_TRIES = 3  # at a page with right answers; then the study goes on
MOST_LETTERS = 15_000  # that a page may take: with four bytes each they fit into a request
LETTERS = 500  # of a text, where the study does not say
LARGEST = 1e9  # number, up or down: exports hold it exactly
Value = str | float | list[str]


@dataclass(frozen=True)
class FormField:
    """One question of a form; ``least`` and ``most`` bound a number, letters of a text, or how many are chosen."""

    name: str = keys.key(keys.text)
    ask: str = keys.key(keys.text)
    kind: str = keys.key(keys.one_of("text", "number", "choice", "choices", "scale"))
    when: str = keys.key(keys.one_of(*PAGES), "before")
    required: bool = keys.key(keys.yes_or_no, True)
    options: tuple[str, ...] = keys.key(keys.texts(2), ())
    least: float | None = keys.key(keys.within(-LARGEST, LARGEST), None)
    most: float | None = keys.key(keys.within(-LARGEST, LARGEST), None)
    labels: tuple[str, ...] = keys.key(keys.texts(2, 2), ())
    right: str | float | None = keys.key(
        lambda value: "" if isinstance(value, (str, int, float)) else "expected text or a number", None
    )

    def shown(self) -> dict[str, Any]:
        """What browsers are told: everything but the right answer."""
        return {key: value for key, value in vars(self).items() if key not in ("right", "when")}

    def wrong(self, value: Any) -> str:
        """What is wrong with a value that was sent, or nothing; None is a question left open."""
        if value is None:
            return "needs an answer" if self.required else ""
        least = -LARGEST if self.least is None else self.least
        most = LARGEST if self.most is None else self.most
        if self.kind in ("number", "scale"):
            return keys.within(least, most, (int, float) if self.kind == "number" else int)(value)
        if self.kind == "choice":
            return "" if value in self.options else "expected one of the options"
        if self.kind == "choices":
            wrong = keys.texts(int(least), int(most))(value)
            return wrong or ("" if {*value} <= {*self.options} else "expected some of the options")
        right = isinstance(value, str) and least <= len(value) <= most
        return "" if right else f"expected text of {least:g} to {most:g} letters"

    def conflict(self) -> tuple[str, str] | None:
        """(key, what is wrong) where the keys of the table do not go together."""
        bounded = self.least is not None and self.most is not None
        ends = (self.least or 0.0, self.most or 0.0)
        is_whole, is_scale = ends == (*map(round, ends),), self.kind == "scale"
        is_list = self.kind in ("choice", "choices")
        limited = "most" if self.least is None else "least"
        can_be_given = self.when == "practice" and not self.wrong(self.right)
        conflicts = [
            ("name", "expected letters, digits and _, a letter first, at most 40", not NAME.match(self.name)),
            ("options", "are for choice and choices, which need two or more different ones", is_list != bool(self.options)),
            ("options", "of choices are separated by ; in people.csv, so none may have one", self.kind == "choices" and ";" in "".join(self.options)),
            (limited, "is for number, text, choices and scale", self.kind == "choice" and (self.least, self.most) != (None, None)),
            ("most", f"expected at least {ends[0]:g}, got {ends[1]:g}", bounded and ends[0] > ends[1]),
            ("most", "expected whole numbers: least from 0, most from 1", self.kind in ("text", "choices") and not (is_whole and ends[0] >= 0 and ends[1] >= 1)),
            ("most", "a scale needs whole numbers least and most, at most 20 apart", is_scale and not (bounded and is_whole and 1 <= ends[1] - ends[0] <= 20)),
            ("labels", "are for the ends of a scale", bool(self.labels) and not is_scale),
            ("right", 'is for when = "practice", and must be an answer that can be given', self.right is not None and not can_be_given),
        ]  # fmt: skip
        return next(((key, wrong) for key, wrong, holds in conflicts if holds), None)


def read_form(values: dict[str, Any]) -> FormField:
    """A field from its table, whose keys are known to have the right types."""
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    given: dict[str, Any] = values | lists
    least, most = int(given.get("required", True)), len(given.get("options", ()))
    bounds: dict[str, dict[str, Any]] = {
        "text": {"most": LETTERS}, "choices": {"least": least, "most": most}, "number": {"least": -LARGEST, "most": LARGEST},
    }  # fmt: skip
    return FormField(**bounds.get(given["kind"], {}) | given)


def check_values(fields: Sequence[FormField], sent: Any) -> tuple[dict[str, Value], str]:
    """(values by name, "") of a page that was sent, or ({}, what is wrong); blank texts and empty lists are left out."""
    if not isinstance(sent, dict) or not sent.keys() <= {field.name for field in fields}:
        return {}, "expected the fields of the form"
    texts = {field.name for field in fields if field.kind == "text"}
    given = {
        name: str(value).strip() if name in texts and isinstance(value, str) else value
        for name, value in sent.items()
    }
    given = {name: value for name, value in given.items() if value is not None and value not in ("", [])}
    for field in fields:
        if wrong := field.wrong(given.get(field.name)):
            return {}, f"{field.name}: {wrong}"
    return given, ""


def is_right(fields: Sequence[FormField], given: dict[str, Value]) -> bool:
    """Whether every field that has a right answer got it."""
    return all(field.right is None or given.get(field.name) == field.right for field in fields)
