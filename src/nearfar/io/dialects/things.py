"""THINGS, VICE, SPoSE: bare rows of three indices, the odd one last; or the big table with ``choice`` 1 to 3."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from nearfar.io.dialects import odd_one_out
from nearfar.io.dialects._grammar import Dialect, Grammar, Refusal
from nearfar.io.dialects._table import statements
from nearfar.io.header import Header
from nearfar.triplets import Triplets

__all__ = ["THINGS"]

IMAGES = ("image1", "image2", "image3")


def grammar(header: Header) -> Grammar | None:
    """The big table counts images and choices from 1; ``choice`` is the odd one, ``RT`` is in milliseconds."""
    found = header.find_all(choice=["choice"], **{image: [image] for image in IMAGES})
    if found is None:
        return None
    one, two, three = map(pl.col, IMAGES)
    choice = pl.col("choice").str.replace(r"\.0+$", "")
    odd = pl.when(choice == "1").then(one).when(choice == "2").then(two).otherwise(three)
    first = pl.when(choice == "1").then(two).otherwise(one)
    second = pl.when(choice == "3").then(two).otherwise(three)
    no_choice = Refusal(
        ~choice.is_in(["1", "2", "3"]).fill_null(False), "no choice", "choice to be 1, 2 or 3", ("choice",)
    )
    return Grammar(
        found | header.optional(seconds=["rt"]),
        IMAGES,
        odd_one_out.odd_triplets(first, second, odd),
        refuse=(no_choice,),
        milliseconds=True,
        first_index=1,
    )


def bare(header: Header) -> Grammar:
    """Indices from 0, the odd one last."""
    return replace(odd_one_out.bare(header), first_index=0)


def write(triplets: Triplets) -> pl.DataFrame:
    """Bare rows of indices; there is no room for anything else."""
    one, _ = statements(triplets, "odd-one-out")
    return pl.DataFrame({"a": one.anchor, "b": one.near, "odd": one.far})


THINGS = Dialect("things", "image1, image2, image3, choice", grammar, bare, write, writes_header=False)
