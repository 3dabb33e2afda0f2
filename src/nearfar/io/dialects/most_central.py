"""Most-central: ``a, b, c, central`` with central one of the three, or rows (central, a, b) without a header."""

from __future__ import annotations

import polars as pl

from nearfar.io.dialects._grammar import Dialect, Grammar, Refusal
from nearfar.io.dialects._table import statements
from nearfar.io.header import Header
from nearfar.triplets import Triplets
from nearfar.triplets.frames import named_column, optional_columns

__all__ = ["MOST_CENTRAL"]


def central_triplets(
    central: pl.Expr, first: pl.Expr, second: pl.Expr
) -> tuple[tuple[pl.Expr, pl.Expr, pl.Expr], ...]:
    """Each of the others is nearer to the central one than to the remaining one."""
    return (first, central, second), (second, central, first)


def grammar(header: Header) -> Grammar | None:
    """A row is one statement, of two triplets; the car survey's names of columns are known too."""
    found = header.find_all(
        a=["a", "triplet_object_1"],
        b=["b", "triplet_object_2"],
        c=["c", "triplet_object_3"],
        central=["central", "chosen_center"],
    )
    if found is None or header.find("kind") is not None:  # with a kind it is a list of nearfar plan
        return None
    a, b, c, central = map(pl.col, ["a", "b", "c", "central"])
    none_of_them = Refusal(
        (central != a) & (central != b) & (central != c),
        "central is none of the three",
        "central to be one of a, b and c",
    )
    first = pl.when(central == a).then(b).otherwise(a)
    second = pl.when(central == c).then(b).otherwise(c)
    return Grammar(
        found | header.optional(),
        ("a", "b", "c", "central"),
        central_triplets(central, first, second),
        "central",
        (none_of_them,),
    )


def bare(header: Header) -> Grammar:
    """Three cells, the central one first."""
    roles = ("central", "a", "b")
    central, a, b = map(pl.col, roles)
    columns = {"central": 0, "a": 1, "b": 2} | header.optional()
    return Grammar(columns, roles, central_triplets(central, a, b), has_header=False)


def write(triplets: Triplets) -> pl.DataFrame:
    """One row per statement."""
    one, _ = statements(triplets, "most-central")
    columns = {"a": one.anchor, "b": one.far, "c": one.near, "central": one.near}
    named = {role: named_column(triplets, indices) for role, indices in columns.items()}
    return pl.DataFrame(named | optional_columns(one))


MOST_CENTRAL = Dialect("most-central", "a, b, c, central", grammar, bare, write)
