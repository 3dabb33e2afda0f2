"""Odd-one-out: ``a, b, c, odd`` with odd one of the three, or rows (a, b, odd) without a header."""

from __future__ import annotations

import polars as pl

from nearfar.io.dialects._grammar import Dialect, Grammar, Refusal
from nearfar.io.dialects._table import statements
from nearfar.io.header import Header
from nearfar.triplets import Triplets
from nearfar.triplets.frames import named_column, optional_columns

__all__ = ["ODD_ONE_OUT", "odd_triplets"]


def odd_triplets(
    first: pl.Expr, second: pl.Expr, odd: pl.Expr
) -> tuple[tuple[pl.Expr, pl.Expr, pl.Expr], ...]:
    """The two that go together are each nearer to the other than to the odd one."""
    return (first, second, odd), (second, first, odd)


def grammar(header: Header) -> Grammar | None:
    """A row is one statement, of two triplets."""
    found = header.find_all(a=["a"], b=["b"], c=["c"], odd=["odd", "odd_one_out"])
    if found is None or header.find("kind") is not None:  # with a kind it is a list of nearfar plan
        return None
    a, b, c, odd = map(pl.col, ["a", "b", "c", "odd"])
    none_of_them = Refusal(
        (odd != a) & (odd != b) & (odd != c), "odd is none of the three", "odd to be one of a, b and c"
    )
    first = pl.when(odd == a).then(b).otherwise(a)
    second = pl.when(odd == c).then(b).otherwise(c)
    return Grammar(
        found | header.optional(),
        ("a", "b", "c", "odd"),
        odd_triplets(first, second, odd),
        "odd",
        (none_of_them,),
    )


def bare(header: Header) -> Grammar:
    """Three cells, the odd one last."""
    roles = ("a", "b", "odd")
    a, b, odd = map(pl.col, roles)
    columns = {"a": 0, "b": 1, "odd": 2} | header.optional()
    return Grammar(columns, roles, odd_triplets(a, b, odd), has_header=False)


def write(triplets: Triplets) -> pl.DataFrame:
    """One row per statement."""
    one, _ = statements(triplets, "odd-one-out")
    columns = {"a": one.anchor, "b": one.near, "c": one.far, "odd": one.far}
    named = {role: named_column(triplets, indices) for role, indices in columns.items()}
    return pl.DataFrame(named | optional_columns(one))


ODD_ONE_OUT = Dialect("odd-one-out", "a, b, c, odd", grammar, bare, write)
