"""Three objects a row: our own ``anchor, near, far``, cblearn's arrays (i, j, k), and one of three as odd or central.

Odd-one-out is ``a, b, c, odd``, most-central is ``a, b, c, central``; without a header (a, b, odd) and (central, a, b).
THINGS, VICE and SPoSE write bare rows of three indices, the odd one last, or the big table with ``choice`` 1 to 3.
"""

from __future__ import annotations

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


def _with_response(header: Header, name: str) -> tuple[Grammar, pl.Expr]:
    grammar = list_order(header)
    at = header.find(*RESPONSE)
    if at is None:
        raise FileError(f"{header.source}: {name} needs an array 'response', or a pair (triplets, response)")
    grammar = replace(grammar, columns={**grammar.columns, "response": at})
    return grammar, pl.col("response").str.to_lowercase()


def list_boolean(header: Header) -> Grammar:
    """True (or 1): i is nearer to j; False (or 0, -1): nearer to k."""
    grammar, said = _with_response(header, "list-boolean")
    yes, no = said.is_in(["true", "1"]), said.is_in(["false", "0", "-1"])
    near, far = pl.when(yes).then(J).otherwise(K), pl.when(yes).then(K).otherwise(J)
    odd = Refusal(~(yes | no).fill_null(False), "no response", "True or False", ("response",))
    return replace(grammar, triplets=((I, near, far),), refuse=(odd,))


def list_count(header: Header) -> Grammar:
    """Votes: above 0 for j, below 0 for k; every vote is an answer, 0 is undecided and set aside."""
    grammar, said = _with_response(header, "list-count")
    votes = said.str.replace(r"\.0+$", "").cast(pl.Int64, strict=False)
    near, far = pl.when(votes > 0).then(J).otherwise(K), pl.when(votes > 0).then(K).otherwise(J)
    odd = Refusal(votes.is_null(), "no count", "a whole number of votes", ("response",))
    tie = Aside(votes == 0, "undecided")
    return replace(grammar, triplets=((I, near, far),), refuse=(odd,), aside=(tie,), times=votes.abs())


def write_bare(triplets: Triplets) -> pl.DataFrame:
    """Bare rows of indices; there is no room for anything else."""
    return pl.DataFrame({"i": triplets.anchor, "j": triplets.near, "k": triplets.far})


# -------------------------------------------------------------------- one of three


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


CANONICAL = Dialect("canonical", "anchor, near, far", canonical, write=Triplets.to_frame)
LIST_ORDER = Dialect("list-order", "rows (i, j, k)", bare=list_order, write=write_bare, writes_header=False)
LIST_BOOLEAN = Dialect("list-boolean", "rows (i, j, k) and a response", bare=list_boolean)
LIST_COUNT = Dialect("list-count", "rows (i, j, k) and a count", bare=list_count)
ODD_ONE_OUT, MOST_CENTRAL = _dialect("odd-one-out", "odd"), _dialect("most-central", "central")
THINGS = Dialect(
    "things",
    "image1, image2, image3, choice",
    things,
    lambda header: replace(bare(header, "odd"), first_index=0),
    write_things,
    writes_header=False,
)
