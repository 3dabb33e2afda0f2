"""Grids: an anchor, three or more options, and those that were picked as nearest to it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from nearfar.io.dialects._grammar import Aside, Grammar, Refusal

__all__ = ["grid_grammar"]

BETWEEN = "\x1f"
SKIPS = ("skip", "skipped")


def grid_grammar(
    anchor: int, options: Sequence[int], choices: Sequence[int], check: int | None = None
) -> Grammar:
    """Each picked option is nearer to the anchor than each of the others.

    The picks stand in one column, with ; or | or commas between them, or in a column each: by name, or by number from
    1. ``check`` names the option that a check question has as its answer.
    """
    count = len(options)
    names = [f"option_{i}" for i in range(1, count + 1)]
    picked = [f"choice_{i}" for i in range(1, len(choices) + 1)]
    picks = _picks(names, picked)
    taken = _taken(names, picks)
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
    shows = (*names, *picked)
    refusals = (
        Refusal(_repeated(["anchor", *names]), "two equal objects", "an anchor and distinct options"),
        Refusal(
            ~some | (n_taken != picks.list.n_unique()).fill_null(True),
            "not a choice",
            "names of options, or their numbers from 1, with ; between them",
            shows,
        ),
        Refusal(n_taken == count, "all options chosen", "some of the options", shows),
    )
    first = pl.col(picked[0])
    nothing = pl.all_horizontal([pl.col(name).is_null() for name in picked])
    skip = first.str.strip_chars().str.to_lowercase().is_in(SKIPS) & ~some
    asides = [Aside(nothing, "no answer"), Aside(skip.fill_null(False), "skip")]
    if check is not None:
        columns["check"] = check
        right = [
            (pl.col("check") == pl.col(f"{name}_text")) & took
            for name, took in zip(names, taken, strict=True)
        ]
        asides.append(Aside(pl.col("check").is_not_null(), "check", pl.any_horizontal(right)))
    return Grammar(columns, ("anchor", *names), triplets, refuse=refusals, aside=tuple(asides), partial=True)


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


def _taken(names: Sequence[str], picks: pl.Expr) -> list[pl.Expr]:
    """For each option, whether it was picked: by its name, or by its number where no pick is a name."""
    texts = [pl.col(f"{name}_text").str.strip_chars() for name in names]
    by_name = [picks.list.contains(text).fill_null(False) for text in texts]
    any_name = pl.any_horizontal(by_name)
    by_number = [picks.list.contains(str(i + 1)).fill_null(False) for i in range(len(names))]
    return [named | (~any_name & numbered) for named, numbered in zip(by_name, by_number, strict=True)]


def _repeated(names: Sequence[str]) -> pl.Expr:
    pairs = [pl.col(a) == pl.col(b) for k, a in enumerate(names) for b in names[:k]]
    return pl.any_horizontal(pairs)
