"""The lists of ``nearfar plan`` with a column for what was chosen: ``choice``, by name, number or side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from nearfar.io.dialects._grammar import Dialect, Grammar, Refusal
from nearfar.io.dialects.choices import How
from nearfar.io.dialects.grids import grid_grammar
from nearfar.io.dialects.mapped import (
    CHOICES,
    is_overlay,
    nearer_grammar,
    one_of_three_grammar,
    positions,
    with_optional,
)
from nearfar.io.header import Header

__all__ = ["PLANNED", "planned_with"]

MOST_OPTIONS = 200
THREE = ("a", "b", "c")


class ChoiceColumn(NamedTuple):
    """Where the choices are, and how they are written."""

    at: int
    how: How = None


def planned(header: Header) -> Grammar | None:
    """A list of questions of any kind, with the choice in it."""
    return _near(header, None) or _three(header, None) or _grid(header, None)


def planned_with(header: Header, columns: Mapping[str, Any]) -> Grammar | None:
    """The same where the caller names the column of the choice, and no other but optional ones."""
    chosen = [role for role in columns if role in CHOICES]
    if len(chosen) != 1 or not is_overlay({role: at for role, at in columns.items() if role not in chosen}):
        return None
    found = positions(header, columns)
    answer = ChoiceColumn(found.pop(chosen[0])[0], CHOICES[chosen[0]][1])
    grammar = _near(header, answer) or _three(header, answer) or _grid(header, answer)
    return None if grammar is None else with_optional(grammar, {role: at[0] for role, at in found.items()})


def _near(header: Header, answer: ChoiceColumn | None) -> Grammar | None:
    """Nearer to one or to other: by name, left or right, 1 or 2."""
    found = header.find_all(anchor=["anchor"], one=["one"], other=["other"])
    answer = answer or _own(header, "choice")
    if found is None or answer is None:
        return None
    grammar = nearer_grammar(found["anchor"], (found["one"], found["other"]), answer.at, answer.how)
    grammar = replace(grammar, near_side=pl.when(grammar.chosen == pl.col("option_1")).then(0).otherwise(1))
    return with_optional(grammar, _optional(header))


def _three(header: Header, answer: ChoiceColumn | None) -> Grammar | None:
    """The odd or the most central one of three, as the column ``kind`` says."""
    found = header.find_all(kind=["kind"], a=["a"], b=["b"], c=["c"])
    answer = answer or _own(header, "choice", "odd", "odd_one_out", "central")
    if found is None or answer is None:
        return None
    columns = [found[name] for name in THREE]
    odd, central = (one_of_three_grammar(role, columns, *answer) for role in ("odd", "central"))
    kind = pl.col("kind").str.strip_chars().str.to_lowercase()
    by_kind = pl.when(kind == "odd")
    triplets = tuple(
        (by_kind.then(x).otherwise(u), by_kind.then(y).otherwise(v), by_kind.then(z).otherwise(w))
        for (x, y, z), (u, v, w) in zip(odd.triplets, central.triplets, strict=True)
    )
    unknown = Refusal(
        ~kind.is_in(["odd", "central"]).fill_null(False), "not a kind", "odd or central", ("kind",)
    )
    grammar = replace(
        odd,
        columns={**odd.columns, "kind": found["kind"]},
        triplets=triplets,
        refuse=(unknown, *odd.refuse),
    )
    return with_optional(grammar, _optional(header))


def _grid(header: Header, answer: ChoiceColumn | None) -> Grammar | None:
    """Picks from a grid: in ``choice``, or in ``choice_1``, ``choice_2`` and so on."""
    anchor = header.find("anchor")
    options = _numbered(header, "option")
    answer = answer or _own(header, "choice")
    choices = _numbered(header, "choice") if answer is None else [answer.at]
    how = None if answer is None else answer.how
    if anchor is None or len(options) < 2 or not choices:
        return None
    optional = _optional(header)
    check = optional.pop("check", None) if header.find("check") is not None else None
    return with_optional(grid_grammar(anchor, options, choices, check, how=how), optional)


def _own(header: Header, *names: str) -> ChoiceColumn | None:
    """The choices under our own names."""
    at = header.find(*names)
    return None if at is None else ChoiceColumn(at)


def _numbered(header: Header, name: str) -> list[int]:
    found = []
    for number in range(1, MOST_OPTIONS):
        at = header.find(f"{name}_{number}")
        if at is None:
            break
        found.append(at)
    return found


def _optional(header: Header) -> dict[str, int]:
    """Where the optional columns are; check questions have their answer in ``check``, else ``role`` marks them."""
    optional = header.optional()
    check = header.find("check", "role")
    return optional if check is None else optional | {"check": check}


PLANNED = Dialect("plan", "a list of nearfar plan with a column choice", planned)
