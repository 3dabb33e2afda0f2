"""The lists of ``nearfar plan`` with a column for what was chosen: ``choice``, by name, number or side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count, takewhile
from typing import Any

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
from nearfar.io.table import Header

__all__ = ["PLANNED", "planned_with"]


def planned(header: Header, answer: tuple[int, How] | None = None) -> Grammar | None:
    """A list of questions of any kind; ``answer`` says where the choice is and how it is written, else ``choice`` is it.

    Check questions have their answer in ``check``, else ``role`` marks them.
    """
    two = header.find_all(anchor=["anchor"], one=["one"], other=["other"])
    three = header.find_all(kind=["kind"], a=["a"], b=["b"], c=["c"])
    names = ("choice", "odd", "odd_one_out", "central") if three else ("choice",)
    at, how = answer or (header.find(*names), None)
    anchor, options = header.find("anchor"), _numbered(header, "option")
    picks = _numbered(header, "choice") if at is None else [at]
    if two is not None and at is not None:
        grammar = nearer_grammar(two["anchor"], (two["one"], two["other"]), at, how)
        grammar = replace(grammar, near_side=pl.when(grammar.picked[0]).then(0).otherwise(1))
    elif three is not None and at is not None:
        grammar = _of_kind(three, at, how)
    elif anchor is not None and len(options) > 1 and picks:
        grammar = grid_grammar(anchor, options, picks, how=how)
    else:
        return None
    return with_optional(grammar, header.optional(check=["check", "role"]))


def planned_with(header: Header, columns: Mapping[str, Any]) -> Grammar | None:
    """The same where the caller names the column of the choice, and no other but optional ones."""
    chosen = [role for role in columns if role in CHOICES]
    if len(chosen) != 1 or not is_overlay({role: at for role, at in columns.items() if role not in chosen}):
        return None
    found = positions(header, columns)
    grammar = planned(header, (found.pop(chosen[0])[0], CHOICES[chosen[0]][1]))
    return None if grammar is None else with_optional(grammar, {role: at[0] for role, at in found.items()})


def _of_kind(three: Mapping[str, int], at: int, how: How) -> Grammar:
    """The odd or the most central one of three, as the column ``kind`` says."""
    columns = [three[name] for name in ("a", "b", "c")]
    odd, central = (one_of_three_grammar(role, columns, at, how) for role in ("odd", "central"))
    kind = pl.col("kind").str.strip_chars().str.to_lowercase()
    by_kind = pl.when(kind == "odd")
    triplets = tuple(
        (by_kind.then(x).otherwise(u), by_kind.then(y).otherwise(v), by_kind.then(z).otherwise(w))
        for (x, y, z), (u, v, w) in zip(odd.triplets, central.triplets, strict=True)
    )
    known = kind.is_in(["odd", "central"]).fill_null(False)
    return replace(
        odd,
        columns={**odd.columns, "kind": three["kind"]},
        triplets=triplets,
        refuse=(Refusal(~known, "not a kind", "odd or central", ("kind",)), *odd.refuse),
    )


def _numbered(header: Header, name: str) -> list[int]:
    """Where the columns name_1, name_2 and so on are."""
    found = (header.find(f"{name}_{number}") for number in count(1))
    return [at for at in takewhile(lambda at: at is not None, found) if at is not None]


PLANNED = Dialect("plan", "a list of nearfar plan with a column choice", planned)
