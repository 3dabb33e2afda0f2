"""Which option a cell means: by its name, by its number from 0 or from 1, or by the side at which it was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import polars as pl

from nearfar.io.dialects._grammar import Aside, Refusal

__all__ = [
    "SIDES",
    "How",
    "choice_refusals",
    "counts_from_0",
    "rows_without_answer",
    "side_of_choice",
    "taken",
]

How = Literal["name", "side", 0, 1] | None  # None: whichever of them it is
SIDES = (("left", "l", "arrowleft"), ("right", "r", "arrowright"))
SKIPS = ("skip", "skipped")
NOTHING = ("none", "null", "na", "nan")
QUALTRICS = '{"ImportId":'  # begins the cells of the third of its header rows
_plain = pl.col("choice").str.strip_chars().str.to_lowercase().str.replace(r"\.0+$", "")


def _names(count: int) -> list[pl.Expr]:
    """For each option, whether the choice is its name."""
    return [pl.col("choice") == pl.col(f"option_{i}_text") for i in range(1, count + 1)]


def _any_name(count: int) -> pl.Expr:
    return pl.any_horizontal(_names(count)).fill_null(False)


def taken(count: int, how: How, words: Sequence[Sequence[str]]) -> list[pl.Expr]:
    """For each option, whether it was chosen: by its name, else by a word for its side, else by its number."""
    names, any_name = _names(count), _any_name(count)
    first = 1 if how is None else how
    found = []
    for i in range(count):
        said = pl.lit(False)
        if how in (None, "side") and words:
            said |= _plain.is_in(words[i])
        if isinstance(first, int):
            said |= _plain == str(i + first)
        if how in (None, "name"):
            said = names[i] | (~any_name & said)
        found.append(said.fill_null(False))
    return found


def side_of_choice() -> pl.Expr:
    """0 where the choice is a word for the left, 1 for the right."""
    return pl.when(_plain.is_in(SIDES[0])).then(0).when(_plain.is_in(SIDES[1])).then(1)


def counts_from_0(count: int) -> pl.Expr:
    """Rows whose choice is 0 and not a name: the numbers of the whole column may then count from 0."""
    asked = pl.all_horizontal([pl.col(f"option_{i}_text").is_not_null() for i in range(1, count + 1)])
    return (_plain == "0") & ~_any_name(count) & asked


def choice_refusals(count: int, how: How, words: Sequence[Sequence[str]]) -> tuple[Refusal, ...]:
    """Choices that are none of the options, or that could be two of them."""
    shows = (*(f"option_{i}" for i in range(1, count + 1)), "choice")
    ways = ["the name of an option"] if how in (None, "name") else []
    ways += [" or ".join(word[0] for word in words)] if how in (None, "side") and words else []
    first = 1 if how is None else how
    ways += [f"its number from {first}"] if isinstance(first, int) else []
    refusals = [Refusal(~pl.any_horizontal(taken(count, how, words)), "not a choice", ", ".join(ways), shows)]
    if how is None:
        by_name, by_number = taken(count, "name", ()), taken(count, 1, ())
        differ = pl.any_horizontal(
            [by_name[i] & by_number[j] for i in range(count) for j in range(count) if i != j]
        )
        ways_out = "choice_name, choice_from_0 or choice_from_1 as the role of this column"
        refusals.insert(0, Refusal(differ, "a choice that is both a name and a number", ways_out, shows))
    return tuple(refusals)


def rows_without_answer(
    objects: Sequence[str], choice: pl.Expr, is_answer: pl.Expr
) -> tuple[Aside, Aside, Aside, Aside]:
    """Rows of survey tools that hold no answer: more header rows, other screens, nothing chosen, skips.

    ``choice`` is the text that was chosen; words such as "skip" and "None" count where they are no option
    (``is_answer``).
    """
    third = choice.str.starts_with(QUALTRICS).fill_null(False)
    blank = pl.all_horizontal([pl.col(role).is_null() for role in objects])
    word = pl.when(~is_answer.fill_null(False)).then(choice.str.strip_chars().str.to_lowercase())
    return (
        Aside(third | third.shift(-1, fill_value=False), "header row"),
        Aside(blank, "no question"),
        Aside(choice.is_null() | word.is_in(NOTHING).fill_null(False), "no answer"),
        Aside(word.is_in(SKIPS).fill_null(False), "skip"),
    )
