"""Grids: an anchor, three or more options, and those that were picked as nearest to it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from nearfar.io.dialects._grammar import Grammar, Refusal
from nearfar.io.dialects.choices import How, rows_without_answer

__all__ = ["grid_grammar"]

BETWEEN = "\x1f"
_WAYS: dict[How, str] = {
    None: "names of options, or their numbers from 1",
    "name": "names of options",
    0: "numbers of options from 0",
    1: "numbers of options from 1",
}


def grid_grammar(anchor: int, options: Sequence[int], choices: Sequence[int], *, how: How = None) -> Grammar:
    """Each picked option is nearer to the anchor than each of the others.

    The picks stand in one column, with ; or | or commas between them, or in a column each: by name, or by number.
    """
    count = len(options)
    names = [f"option_{i}" for i in range(1, count + 1)]
    picked = [f"choice_{i}" for i in range(1, len(choices) + 1)]
    picks = _picks(names, picked)
    by_name, by_number = _named(names, picks), _numbered(count, picks, 0 if how == 0 else 1)
    any_name = pl.any_horizontal(by_name)
    taken = [named | (~any_name & numbered) for named, numbered in zip(by_name, by_number, strict=True)]
    taken = {"name": by_name, 0: by_number, 1: by_number}.get(how, taken)
    columns = {"anchor": anchor, **dict(zip(names, options, strict=True))}
    columns |= {f"{name}_text": at for name, at in zip(names, options, strict=True)}
    columns |= dict(zip(picked, choices, strict=True))
    triplets = tuple(
        (pl.col("anchor"), pl.when(taken[i] & ~taken[j]).then(pl.col(names[i])), pl.col(names[j]))
        for i in range(count)
        for j in range(count)
        if i != j
    )
    some, n_taken = pl.any_horizontal(taken), pl.sum_horizontal(taken)
    n_picks, shows = picks.list.n_unique(), (*names, *picked)
    refusals = [
        Refusal(_repeated(["anchor", *names]), "two equal objects", "an anchor and distinct options"),
        Refusal(
            ~some | (n_taken != n_picks).fill_null(True),
            "not a choice",
            f"{_WAYS[how]}, with ; between them",
            shows,
        ),
        Refusal(n_taken == count, "all options chosen", "some of the options", shows),
    ]
    if how is None:
        both = (pl.sum_horizontal(by_name) == n_picks) & (pl.sum_horizontal(by_number) == n_picks)
        differ = [named != numbered for named, numbered in zip(by_name, by_number, strict=True)]
        ways_out = "choice_name, choice_from_0 or choice_from_1 as the role of this column"
        ambiguous = (both & pl.any_horizontal(differ)).fill_null(False)
        refusals.insert(0, Refusal(ambiguous, "a choice that is both a name and a number", ways_out, shows))
    nothing = [pl.col(name).is_not_null() for name in picked]
    first = pl.when(pl.any_horizontal(nothing)).then(pl.col(picked[0]).fill_null(""))
    return Grammar(
        columns,
        ("anchor", *names),
        triplets,
        refuse=tuple(refusals),
        aside=rows_without_answer(("anchor", *names), first, some),
        partial=True,
        picked=tuple(taken),
        undecided=picks.list.contains("0") & ~any_name if how is None else None,
    )


def _picks(names: Sequence[str], picked: Sequence[str]) -> pl.Expr:
    """The picks of a row, as a list of texts."""
    if len(picked) > 1:
        cells = [pl.col(name).str.strip_chars() for name in picked]
        return pl.concat_str(cells, separator=BETWEEN, ignore_nulls=True).str.split(BETWEEN)
    text = pl.col(picked[0]).str.strip_chars()
    alone = pl.any_horizontal([text == pl.col(f"{name}_text").str.strip_chars() for name in names])
    listed = text.str.strip_chars("[]").str.replace_all('"', "", literal=True)  # a list in JSON
    text = pl.when(text.str.starts_with("[") & ~alone).then(listed).otherwise(text)
    between = pl.when(text.str.contains(r"[;|]")).then(text.str.replace_all(r"\s*[;|]\s*", BETWEEN))
    picks = between.otherwise(text.str.replace_all(r"\s*,\s*", BETWEEN))
    return pl.when(alone.fill_null(False)).then(text).otherwise(picks).str.split(BETWEEN)


def _named(names: Sequence[str], picks: pl.Expr) -> list[pl.Expr]:
    """For each option, whether it was picked by its name."""
    texts = [pl.col(f"{name}_text").str.strip_chars() for name in names]
    return [picks.list.contains(text).fill_null(False) for text in texts]


def _numbered(count: int, picks: pl.Expr, first: int) -> list[pl.Expr]:
    """For each option, whether it was picked by its number."""
    return [picks.list.contains(str(i + first)).fill_null(False) for i in range(count)]


def _repeated(names: Sequence[str]) -> pl.Expr:
    pairs = [pl.col(a) == pl.col(b) for k, a in enumerate(names) for b in names[:k]]
    return pl.any_horizontal(pairs)
