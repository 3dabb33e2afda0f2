"""Tables that no dialect knows: the caller says which column has which role; and the lists of ``nearfar plan``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from nearfar.errors import ColumnsError, InputError
from nearfar.io.dialects._grammar import Aside, Dialect, Grammar, Refusal
from nearfar.io.dialects.choices import How, choice_grammar
from nearfar.io.dialects.orders import ORDERED, SEVERAL, numbered, order_grammar
from nearfar.io.table import COLUMN_NAMES, Header, Table, plain

WAYS: dict[str, How] = {"": None, "_name": "name", "_from_0": 0, "_from_1": 1}
CHOICES: dict[str, tuple[str, How]] = {
    f"{role}{way}": (role, how) for role in ("choice", "odd", "central") for way, how in WAYS.items()
} | {"choice_side": ("choice", "side")}
OPTIONAL = (*COLUMN_NAMES, "milliseconds", "check", "group")
ROLES = ("near", "far", "option", *CHOICES, *ORDERED, *OPTIONAL)
NAMES = {plain(name) for names in COLUMN_NAMES.values() for name in names} | set(map(plain, ROLES))
NOT_MARKED = ("", "0", "false", "f", "no", "n", "new", "again", "none", "na", "nan")


def is_overlay(columns: Collection[str]) -> bool:
    """Whether only optional columns are named, so that a dialect must know the others."""
    return all(role in OPTIONAL for role in columns)


def mapped_grammar(header: Header, columns: Mapping[str, Any]) -> Grammar:
    """The grammar for the roles that a caller gives; an error where they do not make an answer."""
    several = positions(header, columns)
    if not {"near", "far"} & several.keys() and (ordered := order_grammar(several)) is not None:
        return with_optional(ordered, {role: at[0] for role, at in several.items()})
    options = several.pop("option", [])
    single = {role: at[0] for role, at in several.items()}
    chosen = [role for role in single if role in CHOICES]
    kind, how = CHOICES[chosen[0]] if len(chosen) == 1 else ("", None)
    picks = several[chosen[0]] if kind else []
    objects = {"anchor", "near", "far"} & single.keys()
    called = [header.cells[at] for at in options] if all(header.cells) else []
    if len(objects) == 3 and not options and not chosen:
        three = ("anchor", "near", "far")
        at = {role: single[role] for role in three}
        grammar = Grammar(at, three, ((pl.col("anchor"), pl.col("near"), pl.col("far")),))
    elif objects == {"anchor"} and len(options) == 2 and kind == "choice" and len(picks) == 1:
        grammar = choice_grammar("near", options, picks, how, single["anchor"], called)
    elif objects == {"anchor", "far"} and len(options) == 2 and not chosen:  # the choice is the farther one
        grammar = choice_grammar("near", options, [single.pop("far")], None, single["anchor"], called)
        side = None if grammar.near_side is None else 1 - grammar.near_side
        triplets = tuple((a, far, near) for a, near, far in grammar.triplets)
        grammar = replace(grammar, triplets=triplets, near_side=side)
    elif objects == {"anchor"} and len(options) > 2 and kind == "choice" and how != "side":
        grammar = choice_grammar("grid", options, picks, how, single["anchor"])
    elif not objects and len(options) == 3 and kind in ("odd", "central") and len(picks) == 1:
        grammar = choice_grammar(kind, options, picks, how, called=called)
    else:
        ways = "anchor, two or more options and choice; anchor, two options and far; or option, option, option and odd or central"
        got = f"got the roles {', '.join(columns) or 'none'}; expected anchor, near, far; or {ways}"
        raise InputError(f"columns: {got}; nearfar help columns lists others")
    return with_optional(grammar, single)


def bare_grammar(table: Table, columns: Mapping[str, Any]) -> Grammar | None:
    """The grammar of a file without names of columns: all are given by number, and the first line is an answer.

    With a choice it is one if that is an option, or blank. Without, it is one if a name of it occurs further down, or if names there
    hardly occur twice either, unless a cell of it is the name of a role or stands where a time is expected.
    """
    header = table.header
    if not by_number(columns):
        return None
    grammar = mapped_grammar(Header(header.source, [""] * len(header)), columns)
    first = {role: header.cells[at] or None for role, at in grammar.columns.items()}
    row = grammar.derive(pl.DataFrame(first, schema=dict.fromkeys(first, pl.String), orient="row"))
    if grammar.refuse and not grammar.may_be_blank:  # of a ranking only, where any names will do
        wrong = row.select(pl.any_horizontal(r.when for r in grammar.refuse)).item()
        is_header = wrong and bool((first.get("choice_1", "x") or "").strip())
    else:
        below = table.first_texts(1 << 16)
        objects = [grammar.columns[role] for role in grammar.objects]
        names = pl.concat([below[f"c{at}"] for at in objects]).drop_nulls()
        time = re.sub(r"[.,]", "", first.get("seconds") or "0")
        named = not NAMES.isdisjoint(map(plain, header.cells)) or not _is_number(time)
        again = 2 * int(names.is_duplicated().sum()) > len(names)
        is_header = (named or again) and set(names).isdisjoint(header.cells[at] for at in objects)
    return None if is_header else replace(grammar, has_header=False)


def by_number(columns: Mapping[str, Any]) -> bool:
    """Whether all columns are given by number."""
    given = [one for at in columns.values() for one in (at if isinstance(at, (list, tuple)) else [at])]
    return all(isinstance(one, int) or _is_number(one) for one in given)


def positions(header: Header, columns: Mapping[str, Any]) -> dict[str, list[int]]:
    """role -> positions of its columns."""
    unknown = [role for role in columns if role not in ROLES]
    if unknown:
        raise InputError(f"columns: unknown role {unknown[0]!r}; expected one of {', '.join(ROLES)}")
    if "seconds" in columns and "milliseconds" in columns:
        raise InputError("columns: got both seconds and milliseconds; give one of them")
    columns_at = {}
    for role, given in columns.items():
        several = list(given) if isinstance(given, (list, tuple)) else [given]
        if len(several) != 1 and (role not in (*SEVERAL, *CHOICES) or not several):
            raise InputError(f"columns: {role} must be one column, got {len(several)}")
        columns_at[role] = [_position(header, one) for one in several]
    return columns_at


def _position(header: Header, given: Any) -> int:
    if isinstance(given, str):
        exact = [at for at, name in enumerate(header.cells) if name == given]
        at = exact[0] if len(exact) == 1 else header.find(given)
        at = header.also.get(given) if at is None else at
        if at is None and _is_number(given):
            at = int(given) - 1 if len(given) < 9 else -1
    else:
        at = given
    if isinstance(at, int) and not isinstance(at, bool) and 0 <= at < len(header):
        return at
    listed = ", ".join(map(repr, header.cells[:50])) + (", ..." if len(header) > 50 else "")
    if not any(header.cells):
        listed = f"numbered from 1 to {len(header)}"
    raise ColumnsError(f"{header.source}: has no column {given!r}; its columns are {listed}")


def _is_number(given: str) -> bool:
    return given.isascii() and given.isdecimal()


def with_optional(grammar: Grammar, positions: Mapping[str, int]) -> Grammar:
    """The grammar with the optional columns that were found."""
    named = {role: positions[role] for role in OPTIONAL if role in positions}
    if "milliseconds" in named or "seconds" in named:
        grammar = replace(grammar, milliseconds="milliseconds" in named)
    columns = {**grammar.columns, **named}
    if "milliseconds" in columns:
        columns["seconds"] = columns.pop("milliseconds")
    has_checks = "check" in positions and grammar.gather is None
    aside = (*grammar.aside, _check(grammar)) if has_checks else grammar.aside
    return replace(grammar, columns=columns, aside=aside)


def _check(grammar: Grammar) -> Aside:
    """Rows that the column ``check`` marks; graded where it names the right option, or the anchor is one of them."""
    mark = pl.col("check").str.strip_chars()
    marked = mark.is_not_null() & ~mark.str.to_lowercase().is_in(NOT_MARKED)
    anchor, near, far = grammar.triplets[0]
    correct: pl.Expr = pl.when((anchor == near) | (anchor == far)).then(anchor == near)
    if grammar.picked:
        named = [mark == pl.col(f"option_{i}_text") for i in range(1, 1 + len(grammar.picked))]
        right = [is_named & took for is_named, took in zip(named, grammar.picked, strict=True)]
        any_named = pl.any_horizontal(named).fill_null(False)
        correct = pl.when(any_named).then(pl.any_horizontal(right)).otherwise(correct)
    return Aside(marked, "check", correct)


def selecting(grammar: Grammar, header: Header, where: Sequence[str]) -> Grammar:
    """The grammar with rows set aside that are not wanted; ``where`` has conditions such as ``block = main``."""
    columns, selected = dict(grammar.columns), pl.lit(True)
    for number, condition in enumerate(where):
        parts = re.fullmatch(r"\s*(.+?)\s*(!?=)=?\s*(.*?)\s*", condition)
        if parts is None:
            raise InputError(f"where: {condition!r} is not a condition; expected 'column = value' or !=")
        columns[f"where_{number}"] = _position(header, parts[1])
        cell, wanted = pl.col(f"where_{number}").str.strip_chars().fill_null(""), parts[3]
        truth = wanted.lower() in ("true", "false")  # which Excel shows as TRUE
        same = cell.str.to_lowercase() == wanted.lower() if truth else cell == wanted
        selected &= same if parts[2] == "=" else ~same
    undecided = tuple(rows & selected for rows in grammar.undecided)
    aside = (Aside(~selected, "not selected"), *grammar.aside)
    return replace(grammar, columns=columns, aside=aside, undecided=undecided)


MAPPED = Dialect("columns", "the columns that you name")


def planned(header: Header, columns: Mapping[str, Any] | None = None) -> Grammar | None:
    """A list of questions of any kind, where the caller names the column of the choice, if any, and no other but optional ones.

    Check questions have their answer in ``check``, else ``role`` marks them.
    """
    chosen = [role for role in columns or () if role in CHOICES]
    if columns and (len(chosen) != 1 or not is_overlay(columns.keys() - set(chosen))):
        return None
    given = positions(header, columns or {})
    three = header.find_all(a=["a"], b=["b"], c=["c"])
    kind = header.find("kind") if three else None
    names = ("choice",) if kind is None else ("choice", "odd", "odd_one_out", "central")
    at = given.pop(chosen[0])[0] if chosen else header.find(*names)
    how = CHOICES[chosen[0]][1] if chosen else None
    picks = numbered(header, "choice") if at is None else [at]
    anchor, options = header.find("anchor"), numbered(header, "option")
    two = header.find_all(one=["one"], other=["other"])
    if anchor is not None and two is not None and at is not None:
        grammar = choice_grammar("near", [*two.values()], picks, how, anchor, ("left", "right"))
    elif three is not None and kind is not None and at is not None:
        grammar = _of_kind([*three.values()], kind, at, how)
    elif anchor is not None and len(options) > 1 and picks:
        grammar = choice_grammar("grid", options, picks, how, anchor)
    else:
        return None
    found = header.optional(check=["check", "role"])
    return with_optional(grammar, found | {role: at[0] for role, at in given.items()})


def _of_kind(three: Sequence[int], kind_at: int, at: int, how: How) -> Grammar:
    """The odd or the most central one of three, as the column ``kind`` says."""
    odd, central = (choice_grammar(role, three, [at], how) for role in ("odd", "central"))
    kind = pl.col("kind").str.strip_chars().str.to_lowercase()
    by_kind = pl.when(kind == "odd")
    triplets = tuple(
        (by_kind.then(x).otherwise(u), by_kind.then(y).otherwise(v), by_kind.then(z).otherwise(w))
        for (x, y, z), (u, v, w) in zip(odd.triplets, central.triplets, strict=True)
    )
    known = kind.is_in(["odd", "central"]).fill_null(False)
    refuse = (Refusal(~known, "not a kind", "odd or central", ("kind",)), *odd.refuse)
    return replace(odd, columns={**odd.columns, "kind": kind_at}, triplets=triplets, refuse=refuse)


PLANNED = Dialect("plan", "a list of nearfar plan with a column choice", planned)
