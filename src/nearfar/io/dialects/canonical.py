"""Our own dialect: columns ``anchor, near, far`` with names, and optional ones."""

from __future__ import annotations

import polars as pl

from nearfar.io.dialects._grammar import Dialect, Grammar
from nearfar.io.header import Header
from nearfar.triplets import Triplets

__all__ = ["CANONICAL"]

ROLES = ("anchor", "near", "far")


def grammar(header: Header) -> Grammar | None:
    """A row is one triplet."""
    found = header.find_all(anchor=["anchor"], near=["near"], far=["far"])
    if found is None:
        return None
    anchor, near, far = map(pl.col, ROLES)
    return Grammar(found | header.optional(), ROLES, ((anchor, near, far),))


CANONICAL = Dialect("canonical", "anchor, near, far", grammar, write=Triplets.to_frame)
