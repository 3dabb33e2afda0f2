"""One of three: odd-one-out and most-central rows by name, and THINGS' rows of indices.

Odd-one-out is ``a, b, c, odd``, most-central is ``a, b, c, central``; without a header (a, b, odd) and (central, a, b).
THINGS, VICE and SPoSE write bare rows of three indices, the odd one last, or the big table with ``choice`` 1 to 3.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from nearfar.errors import TripletError
from nearfar.io.dialects._grammar import Dialect, Grammar, Refusal, trio_triplets
from nearfar.io.dialects.choices import choice_grammar
from nearfar.io.table import Header
from nearfar.triplets import Triplets
from nearfar.triplets.frames import named_column, optional_columns

IMAGES = ("image1", "image2", "image3")
NAMES = {  # the car survey's names of columns are known too
    "odd": {"a": ["a"], "b": ["b"], "c": ["c"], "odd": ["odd", "odd_one_out"]},
    "central": {x: [x, f"triplet_object_{i}"] for i, x in enumerate("abc", start=1)}
    | {"central": ["central", "chosen_center"]},
}


def grammar(header: Header, kind: str) -> Grammar | None:
    """A row is one statement, of two triplets."""
    columns = header.find_all(**NAMES[kind])
    if columns is None or header.find("kind") is not None:  # with a kind it is a list of nearfar plan
        return None
    a, b, c, chosen = map(pl.col, ("a", "b", "c", kind))
    other = (chosen != a) & (chosen != b) & (chosen != c)
    none_of_them = Refusal(other, f"{kind} is none of the three", f"{kind} to be one of a, b and c")
    first = pl.when(chosen == a).then(b).otherwise(a)
    second = pl.when(chosen == c).then(b).otherwise(c)
    triplets = trio_triplets(kind, chosen, first, second)
    return Grammar(columns | header.optional(), tuple(columns), triplets, kind, (none_of_them,))


def bare(header: Header, kind: str) -> Grammar:
    """Three cells, the odd one last or the central one first."""
    roles = ("a", "b", "odd") if kind == "odd" else ("central", "a", "b")
    columns = {role: at for at, role in enumerate(roles)} | header.optional()
    triplets = trio_triplets(kind, pl.col(kind), pl.col("a"), pl.col("b"))
    return Grammar(columns, roles, triplets, has_header=False)


def statements(triplets: Triplets, kind: str) -> Triplets:
    """The first triplet of every statement; an error where the statements are of another kind.

    An ``odd-one-out`` statement is (a, b, odd) and (b, a, odd); ``most-central`` is (a, central, b) and
    (b, central, a).
    """
    ids = triplets.statement_ids
    order = np.argsort(ids, kind="stable")
    first, second = order[0::2], order[1::2]
    if len(order) % 2 == 0 and (ids[first] == ids[second]).all() and len(np.unique(ids[first])) == len(first):
        by_appearance = np.argsort(first)
        one, two = triplets[first[by_appearance]], triplets[second[by_appearance]]
        mirrored = [1, 0, 2] if kind == "odd-one-out" else [2, 1, 0]
        if np.array_equal(one.array, two.array[:, mirrored]):
            return one
    raise TripletError(f"not all answers are {kind} statements; write them in the dialect canonical")


def write(triplets: Triplets, kind: str) -> pl.DataFrame:
    """One row per statement."""
    one = statements(triplets, "odd-one-out" if kind == "odd" else "most-central")
    b, c = (one.near, one.far) if kind == "odd" else (one.far, one.near)
    columns = {"a": one.anchor, "b": b, "c": c, kind: c}
    named = {role: named_column(triplets, indices) for role, indices in columns.items()}
    return pl.DataFrame(named | optional_columns(one))


def things(header: Header) -> Grammar | None:
    """The big table counts images and choices from 1; ``choice`` is the odd one, ``RT`` is in milliseconds."""
    columns = header.find_all(choice=["choice"], **{image: [image] for image in IMAGES})
    if columns is None:
        return None
    grammar = choice_grammar("odd", [columns[image] for image in IMAGES], [columns["choice"]], 1)
    columns = {**grammar.columns, **header.optional(seconds=["rt"])}
    return replace(grammar, columns=columns, milliseconds=True, first_index=1)


def write_things(triplets: Triplets) -> pl.DataFrame:
    """Bare rows of indices; there is no room for anything else."""
    one = statements(triplets, "odd-one-out")
    return pl.DataFrame({"a": one.anchor, "b": one.near, "odd": one.far})


def _dialect(name: str, kind: str) -> Dialect:
    read, plain, back = partial(grammar, kind=kind), partial(bare, kind=kind), partial(write, kind=kind)
    return Dialect(name, f"a, b, c, {kind}", read, plain, back)


ODD_ONE_OUT, MOST_CENTRAL = _dialect("odd-one-out", "odd"), _dialect("most-central", "central")
THINGS = Dialect(
    "things",
    "image1, image2, image3, choice",
    things,
    lambda header: replace(bare(header, "odd"), first_index=0),
    write_things,
    writes_header=False,
)
