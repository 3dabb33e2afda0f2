"""The dialects: each knows its header, makes triplets of its rows, and writes them back."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nearfar._tools.text import listed
from nearfar.errors import ColumnsError, FileError, InputError
from nearfar.io.dialects import mapped, rows
from nearfar.io.dialects._grammar import Aside, Dialect, Grammar, Refusal
from nearfar.io.dialects.choices import HEADINGS, QUALTRICS
from nearfar.io.dialects.mapped import MAPPED, PLANNED, is_overlay, selecting, with_optional
from nearfar.io.dialects.orders import MATRICES, ORDERS
from nearfar.io.dialects.sides import NEXT, SALMON, TRIPLETTOOLS
from nearfar.io.naming import NUMBER
from nearfar.io.table import Table, plain

__all__ = [
    "DIALECTS", "HEADINGS", "QUADRUPLETS", "QUALTRICS",
    "Aside", "Dialect", "Grammar", "Refusal", "choose", "named", "selecting",
]  # fmt: skip

ColumnRoles = Mapping[str, Any] | None
DIALECTS = (
    *(rows.CANONICAL, rows.ODD_ONE_OUT, rows.MOST_CENTRAL, SALMON, TRIPLETTOOLS, NEXT, rows.THINGS, PLANNED),
    *(*ORDERS, *MATRICES, rows.LIST_ORDER, rows.LIST_BOOLEAN, rows.LIST_COUNT),
)
QUADRUPLETS = ("a", "b", "c", "d")
BARE_NAMES = (("i", "j", "k"), ("a", "b", "odd"))  # of bare rows, in formats that cannot do without names


def named(name: str) -> Dialect:
    """The dialect of a name, written in any case, with or without hyphens."""
    wanted = plain(name)
    for dialect in DIALECTS:
        if plain(dialect.name) == wanted:
            return dialect
    if wanted == "quadruplets":
        raise InputError("dialect: quadruplets have no anchor; they go with  nearfar map --model soe-2")
    known = ", ".join(dialect.name for dialect in DIALECTS)
    raise InputError(f"dialect: {name!r} is not known; expected one of {known}")


def choose(table: Table, name: str | None, columns: ColumnRoles = None) -> tuple[Dialect, Grammar]:
    """The dialect that the caller names, or the source itself, or that its header shows; never its values."""
    if columns and not is_overlay(columns):
        if name is not None:
            raise InputError("dialect and columns exclude each other; give one of them")
        listed = mapped.planned(table.header, columns)
        if listed is not None:
            return PLANNED, listed
        bare = mapped.bare_grammar(table, columns) if table.may_be_bare else None
        return MAPPED, bare or mapped.mapped_grammar(table.header, columns)
    wanted = name or table.dialect
    if name is None and wanted == rows.LIST_ORDER.name and table.header.find(*rows.RESPONSE) is not None:
        ways = "list-boolean (nearer to the second, or not), list-count (votes), or list-order without it"
        raise FileError(f"{table.name}: there is a response to every row; name its dialect: {ways}")
    dialect, grammar = _by_header(table) if wanted is None else _by_name(table, named(wanted))
    if table.first_index is not None and grammar.first_index is None:
        grammar = replace(grammar, first_index=table.first_index)
    named_at = {role: at[0] for role, at in mapped.positions(table.header, columns or {}).items()}
    return dialect, with_optional(grammar, named_at)


def _by_header(table: Table) -> tuple[Dialect, Grammar]:
    grammars = [(dialect, dialect.grammar(table.header)) for dialect in DIALECTS if dialect not in MATRICES]
    fitting = [(dialect, grammar) for dialect, grammar in grammars if grammar is not None]
    if len(fitting) == 1:
        return fitting[0]
    columns = listed(list(map(repr, table.header.cells)), 8)
    if fitting:
        names = " or ".join(dialect.name for dialect, _ in fitting)
        raise FileError(f"{table.name}: the columns {columns} may be {names}; say which with dialect=")
    if table.header.cells == QUADRUPLETS:
        command = f"nearfar map {shlex.quote(table.source.path or table.name)} --dialect quadruplets --model soe-2 -o map.png"
        kind = "are those of quadruplets, for embeddings alone"
        raise FileError(f"{table.name}: the columns {columns} {kind}; try  {command}")
    ways = "expected anchor, near, far or another layout of docs/files.md (odd one out, rankings, ratings, surveys)"
    way = "say what yours mean with --column ROLE=NAME (see nearfar help columns)"
    if len(table.header) == 3 and all(map(str.isdecimal, table.header.cells)):
        way = "where there is no header, add --dialect most-central (the central one first), things (the odd one last) or list-order"
    elif all(NUMBER.fullmatch(cell.replace(",", ".")) for cell in table.header.cells):
        way = "a matrix without names has a row and a column per object: --dialect distance-matrix or similarity-matrix"
    raise ColumnsError(f"{table.name}: the columns {columns} are not known; {ways}; {way}")


def _by_name(table: Table, dialect: Dialect) -> tuple[Dialect, Grammar]:
    grammar = dialect.grammar(table.header)
    if grammar is not None:
        return dialect, grammar
    has_rows = table.dialect is not None  # an array of rows of three, with or without more columns
    is_bare = len(table.header) == 3 if table.may_be_bare else table.header.cells in BARE_NAMES
    if dialect.bare is not None and (has_rows or is_bare):
        return dialect, dialect.bare(table.header)
    columns = ", ".join(map(repr, table.header.cells))
    bare = " or three columns without a header" if dialect.bare is not None else ""
    raise FileError(f"{table.name}: the columns are {columns}; {dialect.name} expects {dialect.needs}{bare}")
