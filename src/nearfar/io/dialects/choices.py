"""Rows with options and a choice among them: one of two or three, or several of a grid; by name, number or side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Literal

import polars as pl

from nearfar.io.column_words import SIDES, sides
from nearfar.io.dialects._grammar import Aside, Grammar, Refusal, Three, distinct, trio_triplets
from nearfar.io.naming import NAN
from nearfar.io.table import is_nothing, plain, split_list

How = Literal["name", "side", 0, 1] | None  # None: whichever of them it is
SKIPS = ("skip", "skipped")
HEADINGS = ("response", "open-ended response")  # of SurveyMonkey
QUALTRICS = '{"ImportId":'  # begins the cells of the third of its header rows


def choice_grammar(
    kind: str,
    options: Sequence[int],
    choices: Sequence[int],
    how: How,
    anchor: int | None = None,
    called: Sequence[str] = (),
) -> Grammar:
    """Which option was chosen, and what that says.

    Parameters
    ----------
    kind : ``near`` (one of two is nearer to the anchor), ``grid`` (each picked option is nearer to the anchor than each of
        the others), ``odd`` or ``central`` (one of three).
    options, anchor : their columns.
    choices : the column of the choice; of a grid with ; or | or commas between the picks, or a column each.
    how : how a choice is written.
    called : the names of the columns of the options, by which a choice may call them too; they may tell the sides.
    """
    count = len(options)
    names = [f"option_{i}" for i in range(1, count + 1)]
    texts = [pl.col(f"{name}_text").str.strip_chars() for name in names]
    given = [f"choice_{i}" for i in range(1, len(choices) + 1)]
    known = kind == "near" and {*sides(called)} == {0, 1}
    order = sides(called) if known else [0, 1]
    derived, by_name, by_code = _ways(kind, texts, given, how, order, called)
    n_picks, any_name = pl.col("n_picks"), pl.any_horizontal(by_name)
    ways = by_name if how == "name" else by_code
    if how is None:
        ways = [name | (~any_name & code) for name, code in zip(by_name, by_code, strict=True)]
    taken = [pl.col(f"took_{i}") for i in range(1, count + 1)]
    some, n_taken = pl.any_horizontal(taken), pl.sum_horizontal(taken)
    objects = (*["anchor"] * (anchor is not None), *names)
    shows = (*objects, *given)
    wrong = ~some | (n_taken != n_picks).fill_null(True)
    refusals = [Refusal(wrong, "not a choice", _expected(kind, how), shows)]
    if kind == "grid":
        refusals.insert(0, distinct(objects, "an anchor and distinct options"))
        refusals.append(Refusal(n_taken == count, "all options chosen", "some of the options", shows))
    if how is None:
        both = (pl.sum_horizontal(by_name) >= n_picks) & (pl.sum_horizontal(by_code) >= n_picks)
        differ = pl.any_horizontal([by_name[i] != by_code[i] for i in range(count)])
        role = kind if kind in ("odd", "central") else "choice"
        side, or_side = ("choice_side, ", " or a side") if kind == "near" else ("", "")
        roles = f"{side}{role}_name, {role}_from_0 or {role}_from_1 as the role of this column"
        fault = f"a choice that is both a name and a number{or_side}"
        refusals.insert(0, Refusal((both & differ).fill_null(False), fault, roles, shows))
    asked = pl.all_horizontal([text.is_not_null() for text in texts])
    numbers = [  # that are chosen
        pl.col("picks").list.contains(str(i)) if kind == "grid" else _plain(given[0]) == str(i)
        for i in range(count + 1)
    ]
    return Grammar(
        ({} if anchor is None else {"anchor": anchor})
        | dict(zip((*names, *given), (*options, *choices), strict=True))
        | {f"{name}_text": at for name, at in zip(names, options, strict=True)},
        objects,
        _triplets(kind, [pl.col(name) for name in names], taken),
        refuse=tuple(refusals),
        aside=_rows_without_answer(objects, given, some),
        near_side=pl.when(taken[0]).then(order[0]).otherwise(order[1]) if known or how == "side" else None,
        partial=kind == "grid",
        picked=tuple(taken),
        undecided=(numbers[0] & asked, pl.any_horizontal(numbers) & ~any_name & asked) if how is None else (),
        blanks=NAN,
        derived=(*derived, dict(zip((took.meta.output_name() for took in taken), ways, strict=True))),
    )


def _ways(
    kind: str,
    texts: Sequence[pl.Expr],
    given: Sequence[str],
    how: How,
    order: Sequence[int],
    called: Sequence[str],
) -> tuple[tuple[dict[str, pl.Expr], ...], list[pl.Expr], list[pl.Expr]]:
    """The columns that follow from the cells, and for each option whether it was chosen by its name, or by a code.

    A code is a number, a side (``order`` has those of the options) or the name of the option's column.
    """
    first = how if isinstance(how, int) else 1
    numbers = [str(i + first) for i in range(len(texts))]
    if kind == "grid":
        picks = pl.col("picks").list
        derived = {"picks": _picks(texts, given)}, {"n_picks": picks.n_unique()}
        by_name, by_code = ([picks.contains(x).fill_null(False) for x in each] for each in (texts, numbers))
        return derived, by_name, by_code
    codes = [[number] if how != "side" else [] for number in numbers]
    if kind == "near" and how in (None, "side"):
        columns_called = {plain(name) for name in called}  # "left" is the column left, wherever it stands
        for own, side in zip(codes, order, strict=True):
            own += [word for word in SIDES[side] if word not in columns_called]
    by_name = [(pl.col(given[0]).str.strip_chars() == text).fill_null(False) for text in texts]
    by_code = [_plain(given[0]).is_in(own).fill_null(False) for own in codes]
    if called and how in (None, "side"):
        cell = pl.col(given[0]).str.replace_all(r"[\W_]+", "").str.to_lowercase()
        columns = [(cell == plain(name)).fill_null(False) for name in called]
        by_code = [code | column for code, column in zip(by_code, columns, strict=True)]
    return ({"n_picks": pl.lit(1)},), by_name, by_code


def _plain(role: str) -> pl.Expr:
    text = pl.col(role).str.strip_chars().str.to_lowercase().str.replace(r"\.0+$", "")
    return text.str.strip_chars("{}[]'\"")  # of E-Prime's {LEFTARROW} and PsychoPy's ['left']


def _picks(texts: Sequence[pl.Expr], given: Sequence[str]) -> pl.Expr:
    """The picks of a row, as a list of texts."""
    if len(given) > 1:
        return pl.concat_list(pl.col(given).str.strip_chars()).list.drop_nulls()
    text = pl.col(given[0]).str.strip_chars()
    alone = pl.any_horizontal([text == option for option in texts]).fill_null(False)
    return pl.when(alone).then(pl.concat_list(text)).otherwise(split_list(text))


def _triplets(kind: str, options: Sequence[pl.Expr], taken: Sequence[pl.Expr]) -> tuple[Three, ...]:
    anchor = pl.col("anchor")
    if kind == "grid":
        return tuple(
            (anchor, pl.when(taken[i] & ~taken[j]).then(options[i]), options[j])
            for i, j in permutations(range(len(options)), 2)
        )
    chosen = pl.coalesce([pl.when(took).then(option) for took, option in zip(taken, options, strict=True)])
    first = pl.when(taken[0]).then(options[1]).otherwise(options[0])
    if kind == "near":
        return ((anchor, chosen, first),)
    return trio_triplets(kind, chosen, first, pl.when(taken[2]).then(options[1]).otherwise(options[2]))


def _expected(kind: str, how: How) -> str:
    """How a choice may be written, in words."""
    name, side, number = "the name of an option", "left or right", f"its number from {0 if how == 0 else 1}"
    any_way = [name, *[side] * (kind == "near"), number]
    ways = {"name": [name], "side": [side], 0: [number], 1: [number]}.get(how, any_way)
    return ", ".join(ways) + (", with ; between several" if kind == "grid" else "")


def header_row(role: str, other: pl.Expr) -> Aside:
    """The second and the third header row of Qualtrics, by the cell of a role in a row and in the next, or an ``other`` one."""
    cells = (pl.col(name).str.starts_with(QUALTRICS) for name in (role, "next_choice"))
    return Aside((pl.any_horizontal(cells) | other).fill_null(False), "header row")


def _rows_without_answer(objects: Sequence[str], given: Sequence[str], some: pl.Expr) -> tuple[Aside, ...]:
    """Rows of survey tools that hold no answer: more header rows, other screens, nothing chosen, skips.

    Words such as "skip" and "None" count where they are no option (``some``).
    """
    anything = pl.any_horizontal([pl.col(name).is_not_null() for name in given])
    choice = pl.when(anything).then(pl.col(given[0]).fill_null(""))
    blank = pl.all_horizontal([pl.col(role).is_null() for role in objects])
    word = pl.when(~some).then(choice.str.strip_chars().str.to_lowercase())
    return (
        header_row(given[0], word.is_in(HEADINGS)),
        Aside(blank, "no question"),
        Aside(is_nothing(choice) & ~some, "no answer"),
        Aside(word.is_in(SKIPS).fill_null(False), "skip"),
    )
