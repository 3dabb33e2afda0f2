"""Our own dialect: columns ``anchor, near, far`` with names, and optional ones."""

from __future__ import annotations

import polars as pl

from nearfar.io.dialects._plan import Dialect, Plan
from nearfar.io.dialects._table import names, optional_columns
from nearfar.io.header import Header
from nearfar.triplets import Triplets

__all__ = ["CANONICAL"]

ROLES = ("anchor", "near", "far")


def plan(header: Header) -> Plan | None:
    """A row is one triplet."""
    found = header.find_all(anchor=["anchor"], near=["near"], far=["far"])
    if found is None:
        return None
    anchor, near, far = map(pl.col, ROLES)
    return Plan(found | header.optional(), ROLES, ((anchor, near, far),))


def write(triplets: Triplets) -> pl.DataFrame:
    """Every column there is."""
    columns = {role: names(triplets, getattr(triplets, role)) for role in ROLES}
    return pl.DataFrame(columns | optional_columns(triplets))


CANONICAL = Dialect("canonical", "anchor, near, far", plan, write=write)
