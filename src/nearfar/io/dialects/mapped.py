"""Tables that no dialect knows: the caller says which column has which role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from nearfar.errors import FileError, InputError
from nearfar.io.dialects._grammar import Aside, Dialect, Grammar, Refusal
from nearfar.io.dialects.grids import grid_grammar
from nearfar.io.dialects.most_central import central_triplets
from nearfar.io.dialects.odd_one_out import odd_triplets
from nearfar.io.header import Header

__all__ = [
    "MAPPED",
    "ROLES",
    "SIDES",
    "is_overlay",
    "mapped_grammar",
    "nearer_grammar",
    "one_of_three_grammar",
    "taken",
    "with_columns",
    "with_optional",
]

CHOICES = {
    "choice": None,
    "choice_name": "name",
    "choice_side": "side",
    "choice_from_0": 0,
    "choice_from_1": 1,
}
OPTIONAL = (
    "participant",
    "statement",
    "seconds",
    "milliseconds",
    "near_side",
    "answered_at",
    "check",
    "group",
)
ROLES = ("anchor", "near", "far", "option", *CHOICES, "odd", "central", *OPTIONAL)
SIDES = ("left", "right")
NOT_MARKED = ("", "0", "false", "f", "no", "n", "new", "again", "none", "na", "nan")
SKIPS = ("skip", "skipped")


def with_columns(grammar: Grammar, header: Header, columns: Mapping[str, Any]) -> Grammar:
    """A dialect's grammar with some of its optional columns named by the caller."""
    found = _positions(header, columns)
    return with_optional(grammar, {role: found_at[0] for role, found_at in found.items()})


def is_overlay(columns: Mapping[str, Any]) -> bool:
    """Whether only optional columns are named, so that a dialect must know the others."""
    return all(role in OPTIONAL for role in columns)


def mapped_grammar(header: Header, columns: Mapping[str, Any]) -> Grammar:
    """The grammar for the roles that a caller gives; an error where they do not make an answer."""
    found = _positions(header, columns)
    options = found.pop("option", [])
    single = {role: found_at[0] for role, found_at in found.items()}
    choice = [role for role in single if role in CHOICES]
    if {"anchor", "near", "far"} <= single.keys() and not options and not choice:
        roles = ("anchor", "near", "far")
        anchor, near, far = map(pl.col, roles)
        grammar = Grammar({role: single[role] for role in roles}, roles, ((anchor, near, far),))
        return with_optional(grammar, single)
    if "anchor" in single and len(options) == 2 and len(choice) == 1:
        grammar = nearer_grammar(single["anchor"], options, single[choice[0]], CHOICES[choice[0]])
    elif "anchor" in single and len(options) > 2 and choice == ["choice"]:
        grammar = grid_grammar(single["anchor"], options, [single["choice"]], single.pop("check", None))
    elif len(options) == 3 and len(single.keys() & {"odd", "central"}) == 1:
        role = "odd" if "odd" in single else "central"
        grammar = one_of_three_grammar(role, options, single[role])
    else:
        raise InputError(
            f"columns: got the roles {', '.join(columns) or 'none'}; expected anchor, near, far; or anchor, two or "
            "more options and choice; or option, option, option and odd or central"
        )
    return with_optional(grammar, single)


def _positions(header: Header, columns: Mapping[str, Any]) -> dict[str, list[int]]:
    """role -> positions of its columns."""
    unknown = [role for role in columns if role not in ROLES]
    if unknown:
        raise InputError(f"columns: unknown role {unknown[0]!r}; expected one of {', '.join(ROLES)}")
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
        if at is None and given.isascii() and given.isdecimal():
            at = int(given) - 1 if len(given) < 9 else -1
    else:
        at = given
    if isinstance(at, int) and 0 <= at < len(header):
        return at
    listed = ", ".join(map(repr, header.cells[:50])) + (", ..." if len(header) > 50 else "")
    raise FileError(f"{header.source}: has no column {given!r}; its columns are {listed}")


def nearer_grammar(
    anchor: int, options: Sequence[int], choice: int, how: Any, words: Sequence[str] = SIDES
) -> Grammar:
    """An anchor, two options and the choice among them."""
    one, other = pl.col("option_1"), pl.col("option_2")
    took_one, took_other = taken(2, how, words)
    near = pl.when(took_one).then(one).when(took_other).then(other)
    far = pl.when(took_one).then(other).when(took_other).then(one)
    columns = {"anchor": anchor, **_option_columns(options), "choice": choice}
    return Grammar(
        columns,
        ("anchor", "option_1", "option_2"),
        ((pl.col("anchor"), near, far),),
        refuse=_choice_refusals(2, how, words),
        aside=_choice_asides(2),
    )


def one_of_three_grammar(role: str, options: Sequence[int], choice: int) -> Grammar:
    """Three options, one of which is odd or central, by name or by number from 1; ``role`` says which it is."""
    a, b, c = (pl.col(f"option_{i}") for i in (1, 2, 3))
    is_a, is_b, is_c = taken(3, None, ())
    chosen = pl.when(is_a).then(a).when(is_b).then(b).when(is_c).then(c)
    first, second = pl.when(is_a).then(b).otherwise(a), pl.when(is_c).then(b).otherwise(c)
    triplets = (
        odd_triplets(first, second, chosen) if role == "odd" else central_triplets(chosen, first, second)
    )
    return Grammar(
        {**_option_columns(options), "choice": choice},
        ("option_1", "option_2", "option_3"),
        triplets,
        refuse=_choice_refusals(3, None, ()),
        aside=_choice_asides(3),
    )


def _option_columns(options: Sequence[int]) -> dict[str, int]:
    """Every option twice: as an object, and as the text that a choice may repeat."""
    objects = {f"option_{i}": at for i, at in enumerate(options, start=1)}
    return objects | {f"option_{i}_text": at for i, at in enumerate(options, start=1)}


def taken(count: int, how: Any, words: Sequence[str]) -> list[pl.Expr]:
    """For each option, whether it was chosen: by its name, else by a word for its side, else by its number."""
    choice = pl.col("choice")
    plain = choice.str.strip_chars().str.to_lowercase().str.replace(r"\.0+$", "")
    names = [choice == pl.col(f"option_{i}_text") for i in range(1, count + 1)]
    any_name = pl.any_horizontal(names).fill_null(False)
    first = 1 if how is None else how
    found = []
    for i in range(count):
        said = pl.lit(False)
        if how in (None, "side") and words:
            said |= plain == words[i]
        if how is None or how in (0, 1):
            said |= plain == str(i + first)
        if how in (None, "name"):
            said = names[i] | (~any_name & said)
        found.append(said.fill_null(False))
    return found


def _choice_refusals(count: int, how: Any, words: Sequence[str]) -> tuple[Refusal, ...]:
    shows = (*(f"option_{i}" for i in range(1, count + 1)), "choice")
    first = 1 if how is None else how
    ways = ["the name of an option"] if how in (None, "name") else []
    ways += [f"{' or '.join(words)}"] if how in (None, "side") and words else []
    ways += [f"its number from {first}"] if how in (None, 0, 1) else []
    expected = ", ".join(ways) + (
        " (if it counts from 0, name the column as choice_from_0)" if how is None else ""
    )
    refusals = [Refusal(~pl.any_horizontal(taken(count, how, words)), "not a choice", expected, shows)]
    if how is None:
        by_name, by_number = taken(count, "name", ()), taken(count, 1, ())
        differ = pl.any_horizontal(
            [by_name[i] & by_number[j] for i in range(count) for j in range(count) if i != j]
        )
        ways_out = "choice_name, choice_from_0 or choice_from_1 as the role of this column"
        refusals.insert(0, Refusal(differ, "a choice that is both a name and a number", ways_out, shows))
    return tuple(refusals)


def _choice_asides(count: int) -> tuple[Aside, ...]:
    choice = pl.col("choice")
    names = [choice == pl.col(f"option_{i}_text") for i in range(1, count + 1)]
    skip = choice.str.strip_chars().str.to_lowercase().is_in(SKIPS) & ~pl.any_horizontal(names)
    return Aside(choice.is_null(), "no answer"), Aside(skip.fill_null(False), "skip")


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
    if "choice" in grammar.columns:
        texts = [name for name in grammar.columns if name.endswith("_text")]
        named = pl.any_horizontal([mark == pl.col(text) for text in texts]).fill_null(False)
        right = [
            (mark == pl.col(text)) & took
            for text, took in zip(
                texts, taken(len(texts), None, SIDES if len(texts) == 2 else ()), strict=True
            )
        ]
        correct = pl.when(named).then(pl.any_horizontal(right)).otherwise(correct)
    return Aside(marked, "check", correct)


def _nothing(header: Header) -> Grammar | None:
    """The caller says what the columns mean; no header does."""
    return None


MAPPED = Dialect("columns", "the columns that you name", _nothing)
