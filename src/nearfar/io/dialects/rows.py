"""Three objects a row: our own ``anchor, near, far``, cblearn's arrays (i, j, k), and one of three as odd or central.

Odd-one-out is ``a, b, c, odd``, most-central is ``a, b, c, central``; without a header (a, b, odd) and (central, a, b).
THINGS, VICE and SPoSE write bare rows of three indices, the odd one last, or the big table with ``choice`` 1 to 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from nearfar.errors import FileError, TripletError
from nearfar.io.dialects._grammar import Aside, Dialect, Grammar, Refusal, trio_triplets
from nearfar.io.dialects.choices import choice_grammar
from nearfar.io.table import Header
from nearfar.triplets import Triplets
from nearfar.triplets.columns import named_column, optional_columns

ROLES = ("i", "j", "k")
RESPONSE = ("response", "responses", "y")
I, J, K = map(pl.col, ROLES)  # noqa: E741 - cblearn's own letters
IMAGES = ("image1", "image2", "image3")
NAMES = {  # the car survey's names of columns are known too
    "odd": {"a": ["a"], "b": ["b"], "c": ["c"], "odd": ["odd", "odd_one_out"]},
    "central": {x: [x, f"triplet_object_{i}"] for i, x in enumerate("abc", start=1)}
    | {"central": ["central", "chosen_center"]},
}


def canonical(header: Header) -> Grammar | None:
    """Names under our own columns, and optional ones."""
    columns = header.find_all(anchor=["anchor"], near=["near"], far=["far"])
    triplet = (pl.col("anchor"), pl.col("near"), pl.col("far"))
    return None if columns is None else Grammar(columns | header.optional(), tuple(columns), (triplet,))


def list_order(header: Header) -> Grammar:
    """i is nearer to j than to k."""
    columns = {"i": 0, "j": 1, "k": 2} | header.optional()
    return Grammar(columns, ROLES, ((I, J, K),), first_index=0, has_header=False)


def list_votes(header: Header, *, counts: bool) -> Grammar:
    """True (or 1): i is nearer to j; False (or 0, -1): nearer to k. Of ``counts`` every vote is an answer, and 0 undecided."""
    grammar, at = list_order(header), header.find(*RESPONSE)
    if at is None:
        name = "list-count" if counts else "list-boolean"
        raise FileError(f"{header.source}: {name} needs an array 'response', or a pair (triplets, response)")
    said = pl.col("response").str.to_lowercase()
    votes = said.str.replace(r"\.0+$", "").cast(pl.Int64, strict=False)
    if not counts:
        votes = pl.when(said.is_in(["true", "1"])).then(1).when(said.is_in(["false", "0", "-1"])).then(-1)
    wrong = ("no count", "a whole number of votes") if counts else ("no response", "True or False")
    return replace(
        grammar,
        columns={**grammar.columns, "response": at},
        triplets=((I, pl.when(votes > 0).then(J).otherwise(K), pl.when(votes > 0).then(K).otherwise(J)),),
        refuse=(Refusal(votes.is_null(), *wrong, ("response",)),),
        aside=(Aside(votes == 0, "undecided"),),
        times=votes.abs() if counts else None,
    )


def write_bare(triplets: Triplets, names: Sequence[str] = ROLES) -> pl.DataFrame:
    """Bare rows of indices; there is no room for anything else."""
    return pl.DataFrame(dict(zip(names, triplets.array.T, strict=True)))


# -------------------------------------------------------------------- one of three


def grammar(header: Header, kind: str) -> Grammar | None:
    """A row is one statement, of two triplets."""
    columns = header.find_all(**NAMES[kind])
    if header.find("kind") is not None:  # a list of nearfar plan
        return None
    if columns is None:  # the two others and the chosen one
        two = header.find_all(**{role: NAMES[kind][role] for role in ("a", "b", kind)})
        known = None if two is None else two | header.optional()
        return None if known is None else replace(bare(header, kind), columns=known, has_header=True)
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


def _dialect(name: str, kind: str) -> Dialect:
    read, plain, back = partial(grammar, kind=kind), partial(bare, kind=kind), partial(write, kind=kind)
    return Dialect(name, f"a, b, c, {kind}", read, plain, back)


CANONICAL = Dialect("canonical", "anchor, near, far", canonical, write=Triplets.to_frame)
LIST_ORDER = Dialect("list-order", "rows (i, j, k)", bare=list_order, write=write_bare, writes_header=False)
LIST_BOOLEAN = Dialect(
    "list-boolean", "rows (i, j, k) and a response", bare=partial(list_votes, counts=False)
)
LIST_COUNT = Dialect("list-count", "rows (i, j, k) and a count", bare=partial(list_votes, counts=True))
ODD_ONE_OUT, MOST_CENTRAL = _dialect("odd-one-out", "odd"), _dialect("most-central", "central")
THINGS = Dialect(
    "things",
    "image1, image2, image3, choice",
    things,
    lambda header: replace(bare(header, "odd"), first_index=0),
    lambda triplets: write_bare(statements(triplets, "odd-one-out"), ("a", "b", "odd")),
    writes_header=False,
)
