"""Answers that put many objects in order: rankings, best and worst of some, pile sorts, ratings of pairs.

A ranking, or best and worst, is a row and one statement. Rows of ratings and of piles are compared with the others of the same
participant, and all that follows from them is one statement: each rating, or pile, stands in many comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar._tools.text import count
from nearfar.errors import FileError
from nearfar.io.dialects._grammar import Aside, Dialect, Grammar, Refusal, distinct
from nearfar.io.dialects.choices import header_row
from nearfar.io.naming import NAN
from nearfar.io.table import Header, is_nothing, warn, with_point

MOST_COMPARISONS = 200_000  # of a file: models are judged on whole statements, of 260,000 answers together
VALUES = {"similarity": -1.0, "distance": 1.0, "rank": 1.0}  # times the sign, less is nearer
Ints = NDArray[np.int64]


def order_grammar(several: Mapping[str, Sequence[int]]) -> Grammar | None:
    """The grammar for the columns of some roles; None where they are of another kind."""
    at = {role: columns[0] for role, columns in several.items()}
    objects, ranks, options = (several.get(role, []) for role in ("object", "rank", "option"))
    value = next((role for role in VALUES if role in at), None)
    if "anchor" in at and len(ranks) > 1 and not objects:
        return _ranking(at["anchor"], ranks)
    if "anchor" in at and len(options) > 1 and {"best", "worst"} <= at.keys():
        return _best_worst(at, options)
    if "pile" in at and len(objects) == 1 and "anchor" not in at:
        columns = {"object": objects[0], "pile": at["pile"]}
        aside = (Aside(is_nothing(pl.col("pile")), "no answer"),)
        return Grammar(
            columns, ("object",), (), aside=aside, gather=partial(_gather, kind="pile"), blanks=NAN
        )
    if value is not None and "anchor" in at and len(objects) == 1 and len(several[value]) == 1:
        return _ratings([at["anchor"], objects[0]], at[value], value, anchored=True)
    if value not in (None, "rank") and "anchor" not in at and len(objects) == 2:
        return _ratings(objects, at[str(value)], str(value))
    return None


def _ranking(anchor: int, ranks: Sequence[int]) -> Grammar:
    """From the nearest to the farthest; blank from where nobody was ranked any more."""
    names = [f"rank_{i}" for i in range(1, len(ranks) + 1)]
    objects = ("anchor", *names)
    ranked, pairs = [pl.col(name) for name in names], combinations(map(pl.col, names), 2)
    triplets = ((pl.col("anchor"), pl.when(far.is_not_null()).then(near), far) for near, far in pairs)
    alone = pl.sum_horizontal([one.is_not_null() for one in ranked]) < 2
    refuse, aside = (distinct(objects, "an anchor and distinct objects"),), (Aside(alone, "no answer"),)
    columns = dict(zip(objects, (anchor, *ranks), strict=True))
    grammar = Grammar(columns, objects, tuple(triplets), refuse=refuse, aside=aside)
    return replace(grammar, partial=True, may_be_blank=tuple(names), blanks=NAN)


def _best_worst(at: Mapping[str, int], options: Sequence[int]) -> Grammar:
    """The best is nearer to the anchor than all others, and all others are nearer than the worst."""
    names = [f"option_{i}" for i in range(1, len(options) + 1)]
    columns = {role: at[role] for role in ("anchor", "best", "worst")}
    anchor, best, worst = map(pl.col, columns)
    shown = [pl.col(name) for name in names]
    known = pl.all_horizontal(pl.any_horizontal(one == each for each in shown) for one in (best, worst))
    return Grammar(
        columns | dict(zip(names, options, strict=True)),
        ("anchor", *names, "best", "worst"),
        (
            *((anchor, pl.when(one != best).then(best), one) for one in shown),
            *((anchor, pl.when((one != best) & (one != worst)).then(one), worst) for one in shown),
        ),
        refuse=(
            distinct(("anchor", *names), "an anchor and distinct options"),
            Refusal(~known | (best == worst), "not a choice", "best and worst to be two of the options"),
        ),
        aside=(Aside(best.is_null() & worst.is_null(), "no answer"),),
        partial=True,
        blanks=NAN,
    )


def _ratings(objects: Sequence[int], value: int, role: str, *, anchored: bool = False) -> Grammar:
    one, other, cell = pl.col("object_1"), pl.col("object_2"), pl.col("value")
    number = with_point(cell).cast(pl.Float64, strict=False)
    wrong = ~pl.col("number").is_finite().fill_null(False)
    columns = {"object_1": objects[0], "object_2": objects[1], "value": value}
    refuse = (Refusal(wrong, "not a number", f"a {role}", ("value",)),)
    aside = (
        header_row("value", pl.lit(False)),
        Aside(is_nothing(cell), "no answer"),
        Aside(one == other, "an object with itself"),
    )
    gather = partial(_gather, kind="ranked" if role == "rank" else "anchored" if anchored else "pair")
    grammar = Grammar(columns, ("object_1", "object_2"), (), refuse=refuse, aside=aside, gather=gather)
    return replace(grammar, derived=({"number": VALUES[role] * number},), blanks=NAN)


# -------------------------------------------------------------------- comparisons between rows


def _gather(rows: pl.DataFrame, name: str, *, kind: str) -> pl.DataFrame:
    """The triplets of all rows: of two objects in one list, the one with the lower value is nearer to the anchor of the list."""
    keys: list[str] = [role for role in ("participant", "statement") if role in rows.columns]
    if blank := sum(rows[role].null_count() for role in keys):
        where = f"{count(blank, 'row')} without a {' or '.join(keys)}"
        raise FileError(f"{name}: {where}; what one person said is compared, so fill them in")
    keys = [*keys, "object_1"] if kind in ("anchored", "ranked") else keys
    texts = [pl.lit(""), *(pl.col(role).cast(pl.String) for role in keys)]
    numbered = rows.with_columns(said=pl.concat_str(texts, separator="\x1f").rank("dense"))
    said = numbered["said"].to_numpy().astype(np.int64) - 1
    # ids depend on which thread met a name first, so objects are numbered by their first row: draws are always the same
    columns = [role for role in ("object", "object_1", "object_2") if role in rows.columns]
    ids = pl.concat([rows[role] for role in columns]).unique(maintain_order=True)
    rows = rows.with_columns(pl.col(columns).replace_strict(ids, pl.int_range(len(ids), eager=True)))
    statement, *three, ties, possible = _compare(*_lists(rows, said, kind, name))
    first = np.unique(said, return_index=True)[1]
    silent = len(first) - len(np.unique(statement))
    told = {
        f"{count(ties, 'comparison')} of equal values left out": ties and kind != "pile",
        f"{len(statement):,} of {possible:,} comparisons drawn at random": possible > MOST_COMPARISONS,
        f"{count(silent, 'statement')} without any comparison": silent,
    }
    if any(told.values()):
        warn(f"{name}: {', '.join(text for text, holds in told.items() if holds)}")
    names = (ids.cast(pl.Int32).gather(one) for one in three)
    made = dict(zip(("anchor", "near", "far"), names, strict=True)) | {"statement": pl.Series(statement)}
    kept = (role for role in ("participant", "group", "rule") if role in rows.columns)
    return pl.DataFrame(made | {role: rows[role].gather(first).gather(statement) for role in kept})


def _lists(rows: pl.DataFrame, said: Ints, kind: str, name: str) -> list[NDArray[Any]]:
    """(statement, anchor, object, value): 0 or 1 for the same or another pile; the mean of ratings of the same two objects."""
    rows = rows.with_columns(said=said)
    if kind == "pile":
        if rows.select("said", "object").is_duplicated().any():
            raise FileError(f"{name}: somebody sorted an object twice; a column statement tells sorts apart")
        sorts = rows.select("said", object_1="object", pile=pl.col("pile").str.strip_chars())
        pairs = sorts.join(sorts.rename({"object_1": "object_2"}), on="said")
        apart = (pl.col("pile") != pl.col("pile_right")).cast(pl.Float64)
        pairs = pairs.filter(pl.col("object_1") != pl.col("object_2")).with_columns(number=apart)
    else:
        pairs = rows.select("said", "object_1", "object_2", "number")
        if kind == "ranked" and pairs.select("said", "object_2").is_duplicated().any():
            what = "an object has several ranks for the same participant and anchor, and their mean was taken"
            warn(f"{name}: {what}; if they are of different rankings, a column statement tells these apart")
        mirrored = pairs.rename({"object_1": "object_2", "object_2": "object_1"}).select(pairs.columns)
        both = pl.concat([pairs, mirrored]) if kind == "pair" else pairs
        pairs = both.group_by("said", "object_1", "object_2").agg(pl.col("number").mean())
    return [pairs[role].to_numpy() for role in ("said", "object_1", "object_2", "number")]


def _compare(
    statement: Ints, anchor: Ints, item: Ints, value: Any
) -> tuple[Ints, Ints, Ints, Ints, int, int]:
    """(statement, anchor, near, far) of every two objects of a list with different values; how many are equal, and how many not.

    Where more are different than ``MOST_COMPARISONS``, so many of them are drawn at random, always the same.
    """
    order = np.lexsort((item, value, anchor, statement))
    statement, anchor, item, value = statement[order], anchor[order], item[order], value[order]
    new_list = (np.diff(statement, prepend=-1) != 0) | (np.diff(anchor, prepend=-1) != 0)
    new_value = new_list | (np.diff(value, prepend=0) != 0)
    starts, size = np.flatnonzero(new_list), np.diff(np.append(np.flatnonzero(new_list), len(order)))
    alike = np.diff(np.append(np.flatnonzero(new_value), len(order)))
    ties = int((alike * (alike - 1) // 2).sum())
    possible = int((size * (size - 1) // 2).sum()) - ties
    share, rng = min(1.0, MOST_COMPARISONS / max(possible, 1)), np.random.default_rng(0)
    near, far = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for start, k in zip(starts.tolist(), size.tolist(), strict=True):
        if share == 1:
            i, j = np.triu_indices(k, 1)
        else:
            drawn = rng.integers(k, size=(round(share * k * (k - 1) / 2), 2))
            code = np.unique(drawn.min(axis=1) * k + drawn.max(axis=1))
            i, j = code // k, code % k
        differ = value[start + i] < value[start + j]
        near.append(start + i[differ])
        far.append(start + j[differ])
    one, other = np.concatenate(near), np.concatenate(far)
    return statement[one], anchor[one], item[one], item[other], ties, possible


# -------------------------------------------------------------------- by header


def numbered(header: Header, name: str) -> list[int]:
    """Where the columns name_1, name_2 and so on are."""
    columns: list[int] = []
    while (at := header.find(f"{name}_{len(columns) + 1}")) is not None:
        columns.append(at)
    return columns


def by_header(header: Header, marks: Sequence[str]) -> Grammar | None:
    """A table whose columns have the names of the roles, those of several numbered from 1; one of ``marks`` is among them."""
    if header.find("choice", "odd", "central", "near", "odd_one_out") is not None:
        return None
    columns = {role: [at] for role in ORDERED if (at := header.find(role)) is not None}
    columns |= {role: several for role in SEVERAL if (several := numbered(header, role))}
    grammar = order_grammar(columns) if columns.keys() & marks else None
    return grammar and replace(grammar, columns={**header.optional(), **grammar.columns})


SEVERAL = ("option", "object", "rank")
ORDERED = ("anchor", "object", "rank", "best", "worst", "pile", "similarity", "distance")
ORDERS = tuple(
    Dialect(name, needs, partial(by_header, marks=marks))
    for name, marks, needs in (
        ("ranking", ("rank",), "anchor, rank_1, rank_2, ... or anchor, object, rank"),
        ("best-worst", ("best",), "anchor, option_1, option_2, ..., best, worst"),
        ("pile-sort", ("pile",), "participant, object, pile"),
        ("ratings", ("similarity", "distance"), "participant, object_1, object_2, similarity (or distance)"),
    )
)
MATRICES = tuple(
    Dialect(f"{value}-matrix", "a row and a column per object", partial(by_header, marks=(value,)))
    for value in ("similarity", "distance")
)
