"""The lists of ``nearfar plan`` with a column for what was chosen: ``choice``, by name, number or side."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from nearfar.io.dialects._grammar import Dialect, Grammar, Refusal
from nearfar.io.dialects.grids import grid_grammar
from nearfar.io.dialects.mapped import SIDES, nearer_grammar, one_of_three_grammar, taken, with_optional
from nearfar.io.header import Header

__all__ = ["PLANNED"]

MOST_OPTIONS = 200
THREE = ("a", "b", "c")


def planned(header: Header) -> Grammar | None:
    """A list of questions of any kind, with the choice in it."""
    return _near(header) or _three(header) or _grid(header)


def _near(header: Header) -> Grammar | None:
    """Nearer to one or to other: by name, left or right, 1 or 2."""
    found = header.find_all(anchor=["anchor"], one=["one"], other=["other"], choice=["choice"])
    if found is None:
        return None
    grammar = nearer_grammar(found["anchor"], (found["one"], found["other"]), found["choice"], None, SIDES)
    grammar = replace(grammar, near_side=pl.when(taken(2, None, SIDES)[0]).then(0).otherwise(1))
    return with_optional(grammar, _optional(header))


def _three(header: Header) -> Grammar | None:
    """The odd or the most central one of three, as the column ``kind`` says."""
    found = header.find_all(
        kind=["kind"], a=["a"], b=["b"], c=["c"], choice=["choice", "odd", "odd_one_out", "central"]
    )
    if found is None:
        return None
    columns = [found[name] for name in THREE]
    odd, central = (one_of_three_grammar(role, columns, found["choice"]) for role in ("odd", "central"))
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


def _grid(header: Header) -> Grammar | None:
    """Picks from a grid: in ``choice``, or in ``choice_1``, ``choice_2`` and so on."""
    anchor = header.find("anchor")
    options, choices = _numbered(header, "option"), _numbered(header, "choice")
    alone = header.find("choice")
    choices = choices if alone is None else [alone]
    if anchor is None or len(options) < 2 or not choices:
        return None
    optional = _optional(header)
    check = optional.pop("check", None) if header.find("check") is not None else None
    return with_optional(grid_grammar(anchor, options, choices, check), optional)


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
