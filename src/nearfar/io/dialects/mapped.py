"""Tables that no dialect knows: the caller says which column has which role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from nearfar.errors import FileError, InputError
from nearfar.io.dialects._grammar import Aside, Dialect, Grammar
from nearfar.io.dialects.choices import (
    SIDES,
    How,
    choice_refusals,
    counts_from_0,
    rows_without_answer,
    side_of_choice,
    taken,
)
from nearfar.io.dialects.grids import grid_grammar
from nearfar.io.dialects.trios import trio_triplets
from nearfar.io.header import Header

__all__ = [
    "CHOICES",
    "MAPPED",
    "ROLES",
    "bare_grammar",
    "is_overlay",
    "mapped_grammar",
    "nearer_grammar",
    "one_of_three_grammar",
    "positions",
    "with_columns",
    "with_optional",
]

WAYS: dict[str, How] = {"": None, "_name": "name", "_from_0": 0, "_from_1": 1}
CHOICES: dict[str, tuple[str, How]] = {
    f"{role}{way}": (role, how) for role in ("choice", "odd", "central") for way, how in WAYS.items()
} | {"choice_side": ("choice", "side")}
OPTIONAL = (
    "participant",
    "statement",
    "seconds",
    "milliseconds",
    "near_side",
    "answered_at",
    "rule",
    "check",
    "group",
)
ROLES = ("anchor", "near", "far", "option", *CHOICES, *OPTIONAL)
NOT_MARKED = ("", "0", "false", "f", "no", "n", "new", "again", "none", "na", "nan")


def with_columns(grammar: Grammar, header: Header, columns: Mapping[str, Any]) -> Grammar:
    """A dialect's grammar with some of its optional columns named by the caller."""
    found = positions(header, columns)
    return with_optional(grammar, {role: found_at[0] for role, found_at in found.items()})


def is_overlay(columns: Mapping[str, Any]) -> bool:
    """Whether only optional columns are named, so that a dialect must know the others."""
    return all(role in OPTIONAL for role in columns)


def mapped_grammar(header: Header, columns: Mapping[str, Any]) -> Grammar:
    """The grammar for the roles that a caller gives; an error where they do not make an answer."""
    found = positions(header, columns)
    options = found.pop("option", [])
    single = {role: found_at[0] for role, found_at in found.items()}
    chosen = [role for role in single if role in CHOICES]
    kind, how = CHOICES[chosen[0]] if len(chosen) == 1 else ("", None)
    objects = {"anchor", "near", "far"} & single.keys()
    if len(objects) == 3 and not options and not chosen:
        roles = ("anchor", "near", "far")
        anchor, near, far = map(pl.col, roles)
        grammar = Grammar({role: single[role] for role in roles}, roles, ((anchor, near, far),))
    elif objects == {"anchor"} and len(options) == 2 and kind == "choice":
        grammar = nearer_grammar(single["anchor"], options, single[chosen[0]], how)
    elif objects == {"anchor"} and len(options) > 2 and kind == "choice" and how != "side":
        grammar = grid_grammar(
            single["anchor"], options, [single[chosen[0]]], single.pop("check", None), how=how
        )
    elif not objects and len(options) == 3 and kind in ("odd", "central"):
        grammar = one_of_three_grammar(kind, options, single[chosen[0]], how)
    else:
        raise InputError(
            f"columns: got the roles {', '.join(columns) or 'none'}; expected anchor, near, far; or anchor, two or "
            "more options and choice; or option, option, option and odd or central"
        )
    return with_optional(grammar, single)


def bare_grammar(header: Header, columns: Mapping[str, Any]) -> Grammar | None:
    """The grammar of a file without names of columns: all are given by number, and the first line is an answer."""
    given = [one for at in columns.values() for one in (at if isinstance(at, (list, tuple)) else [at])]
    if not all(isinstance(one, int) or _is_number(one) for one in given):
        return None
    grammar = mapped_grammar(Header(header.source, [""] * len(header)), columns)
    first = {role: header.cells[at] or None for role, at in grammar.columns.items()}
    row = pl.DataFrame(first, schema=dict.fromkeys(first, pl.String), orient="row")
    if not grammar.refuse or row.select(pl.any_horizontal(r.when for r in grammar.refuse)).item():
        return None
    return replace(grammar, has_header=False)


def positions(header: Header, columns: Mapping[str, Any]) -> dict[str, list[int]]:
    """role -> positions of its columns."""
    unknown = [role for role in columns if role not in ROLES]
    if unknown:
        raise InputError(f"columns: unknown role {unknown[0]!r}; expected one of {', '.join(ROLES)}")
    if "seconds" in columns and "milliseconds" in columns:
        raise InputError("columns: got both seconds and milliseconds; give one of them")
    found = {}
    for role, given in columns.items():
        several = list(given) if isinstance(given, (list, tuple)) else [given]
        if len(several) > 1 and role != "option":
            raise InputError(f"columns: {role} must be one column, got {len(several)}")
        found[role] = [_position(header, one) for one in several]
    return found


def _position(header: Header, given: Any) -> int:
    if isinstance(given, str):
        exact = [at for at, name in enumerate(header.cells) if name == given]
        at = exact[0] if len(exact) == 1 else header.find(given)
        if at is None and _is_number(given):
            at = int(given) - 1 if len(given) < 9 else -1
    else:
        at = given
    if isinstance(at, int) and not isinstance(at, bool) and 0 <= at < len(header):
        return at
    listed = ", ".join(map(repr, header.cells[:50])) + (", ..." if len(header) > 50 else "")
    if not any(header.cells):
        listed = f"numbered from 1 to {len(header)}"
    raise FileError(f"{header.source}: has no column {given!r}; its columns are {listed}")


def _is_number(given: str) -> bool:
    return given.isascii() and given.isdecimal()


def nearer_grammar(anchor: int, options: Sequence[int], choice: int, how: How) -> Grammar:
    """An anchor, two options and the choice among them."""
    one, other = pl.col("option_1"), pl.col("option_2")
    took_one, took_other = taken(2, how, SIDES)
    near = pl.when(took_one).then(one).when(took_other).then(other)
    far = pl.when(took_one).then(other).when(took_other).then(one)
    roles = ("anchor", "option_1", "option_2")
    return Grammar(
        {"anchor": anchor, **_option_columns(options), "choice": choice},
        roles,
        ((pl.col("anchor"), near, far),),
        refuse=choice_refusals(2, how, SIDES),
        aside=rows_without_answer(roles, pl.col("choice"), took_one | took_other),
        near_side=side_of_choice() if how == "side" else None,
        chosen=near,
        undecided=counts_from_0(2) if how is None else None,
    )


def one_of_three_grammar(role: str, options: Sequence[int], choice: int, how: How) -> Grammar:
    """Three options, one of which is odd or central, by name or by number; ``role`` says which it is."""
    roles = ("option_1", "option_2", "option_3")
    a, b, c = map(pl.col, roles)
    is_a, is_b, is_c = taken(3, how, ())
    chosen = pl.when(is_a).then(a).when(is_b).then(b).when(is_c).then(c)
    first, second = pl.when(is_a).then(b).otherwise(a), pl.when(is_c).then(b).otherwise(c)
    return Grammar(
        {**_option_columns(options), "choice": choice},
        roles,
        trio_triplets(role, chosen, first, second),
        refuse=choice_refusals(3, how, ()),
        aside=rows_without_answer(roles, pl.col("choice"), is_a | is_b | is_c),
        chosen=chosen,
        undecided=counts_from_0(3) if how is None else None,
    )


def _option_columns(options: Sequence[int]) -> dict[str, int]:
    """Every option twice: as an object, and as the text that a choice may repeat."""
    objects = {f"option_{i}": at for i, at in enumerate(options, start=1)}
    return objects | {f"option_{i}_text": at for i, at in enumerate(options, start=1)}


def with_optional(grammar: Grammar, positions: Mapping[str, int]) -> Grammar:
    """The grammar with the optional columns that were found."""
    columns = dict(grammar.columns)
    for role in OPTIONAL:
        if role in positions:
            columns["seconds" if role == "milliseconds" else role] = positions[role]
    if "milliseconds" in positions or "seconds" in positions:
        grammar = replace(
            grammar, milliseconds="milliseconds" in positions, unknown_seconds=grammar.unknown_seconds
        )
    aside = grammar.aside
    if "check" in positions:
        aside = (*aside, _check(grammar))
    return replace(grammar, columns=columns, aside=aside)


def _check(grammar: Grammar) -> Aside:
    """Rows that the column ``check`` marks; graded where it names the right option, or the anchor is one of them."""
    mark = pl.col("check").str.strip_chars()
    marked = mark.is_not_null() & ~mark.str.to_lowercase().is_in(NOT_MARKED)
    anchor, near, far = grammar.triplets[0]
    correct: pl.Expr = pl.when((anchor == near) | (anchor == far)).then(anchor == near)
    if grammar.chosen is not None:
        named = {name: mark == pl.col(f"{name}_text") for name in grammar.objects if name != "anchor"}
        right = [is_named & (grammar.chosen == pl.col(name)) for name, is_named in named.items()]
        any_named = pl.any_horizontal(named.values()).fill_null(False)
        correct = pl.when(any_named).then(pl.any_horizontal(right)).otherwise(correct)
    return Aside(marked, "check", correct)


def _nothing(header: Header) -> Grammar | None:
    """The caller says what the columns mean; no header does."""
    return None


MAPPED = Dialect("columns", "the columns that you name", _nothing)
