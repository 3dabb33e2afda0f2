"""One triplet a row: our own ``anchor, near, far``, and cblearn's arrays (i, j, k), alone or with a response."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from nearfar.errors import FileError
from nearfar.io.dialects._grammar import Aside, Dialect, Grammar, Refusal
from nearfar.io.table import Header
from nearfar.triplets import Triplets

ROLES = ("i", "j", "k")
RESPONSE = ("response", "responses", "y")
I, J, K = map(pl.col, ROLES)  # noqa: E741 - cblearn's own letters


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


def write(triplets: Triplets) -> pl.DataFrame:
    """Bare rows of indices; there is no room for anything else."""
    return pl.DataFrame({"i": triplets.anchor, "j": triplets.near, "k": triplets.far})


CANONICAL = Dialect("canonical", "anchor, near, far", canonical, write=Triplets.to_frame)
LIST_ORDER = Dialect("list-order", "rows (i, j, k)", bare=list_order, write=write, writes_header=False)
LIST_BOOLEAN = Dialect("list-boolean", "rows (i, j, k) and a response", bare=list_boolean)
LIST_COUNT = Dialect("list-count", "rows (i, j, k) and a count", bare=list_count)
