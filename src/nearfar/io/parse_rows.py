"""Cells -> columns -> triplets: every row is an answer, set aside, rejected with a reason, or blank."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from nearfar.errors import RowsError
from nearfar.io.column_words import SIDES
from nearfar.io.dialects import Aside, Grammar, Refusal
from nearfar.io.dialects.choices import SKIPS
from nearfar.io.naming import Naming, Vocabulary
from nearfar.io.table import FAULTS, Cells, Table, as_text, is_nothing, with_point

SMALL_INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)  # that Int64 holds
DATES = [f"%Y-%m-%d{time}{zone}" for time in (" %H:%M:%S%.f", " %H:%M", "") for zone in ("", "%#z")]


def parse_columns(
    frame: pl.DataFrame, grammar: Grammar, naming: Naming, people: Vocabulary, *, decimal_comma: bool = False
) -> pl.DataFrame:
    """The columns of a grammar, one row per row of ``frame``.

    Objects are ids, null where blank, negative where refused; participants are coded text of ``people``, or whole numbers; ``seconds``,
    ``near_side`` and ``answered_at`` are numbers, with a column ``bad_...`` that marks cells which are none; all else
    is text, or whole numbers where the table has such. With ``decimal_comma``, response times may be written as 1,5.
    """
    chosen: dict[str, pl.Expr] = {}
    coded: dict[str, pl.Expr] = {}  # by the parser already, so that there is no work to divide
    for role, position in grammar.columns.items():
        dtype = frame.schema[f"c{position}"]
        cell = pl.col(f"c{position}")
        if grammar.blanks and dtype == pl.String:
            blanks = [word for word in grammar.blanks if naming.index.get(word) is None]
            cell = pl.when(~cell.is_in(blanks)).then(cell)
        is_id = role in ("participant", "statement")
        words = people if role == "participant" else naming.vocabulary
        if is_id and dtype in SMALL_INTEGERS:
            chosen[role] = cell.cast(pl.Int64)
        elif role == "statement":
            chosen[role] = as_text(cell.fill_nan(None) if dtype.is_float() else cell, dtype)
        elif dtype == words.dtype:
            coded[role] = cell
        elif role in grammar.objects and dtype in SMALL_INTEGERS:
            coded[role] = cell.cast(pl.Int64).map_batches(words.of_numbers, return_dtype=words.dtype)
        elif role in grammar.objects or is_id:  # of participants NaN is a blank, as an object it is refused
            text = cell.fill_nan(None) if dtype.is_float() and is_id else cell
            chosen[role] = as_text(text, dtype).cast(words.dtype)
        elif role == "seconds":
            number = (with_point(cell) if decimal_comma else cell).cast(pl.Float64, strict=False)
            nothing = is_nothing(cell) if dtype == pl.String else cell.is_null()
            chosen |= {role: number, f"bad_{role}": number.is_null() & ~nothing}
        elif role == "near_side":
            word = as_text(cell, dtype).str.to_lowercase()
            left, right = (word.is_in([*words, str(number)]) for number, words in enumerate(SIDES))
            chosen[role] = pl.when(left).then(0).when(right).then(1).cast(pl.Int8)
            chosen[f"bad_{role}"] = ~(left | right | (word == "-1")).fill_null(True)
        elif role == "answered_at":
            chosen |= _times(cell, dtype)
        else:
            text = as_text(cell, dtype)
            joined = naming.joined is not None and role.startswith(("choice_", "option_"))
            chosen[role] = text.str.to_lowercase().str.replace_all(r"\s+", " ") if joined else text
    columns = {**frame.select_seq(**coded).to_dict(), **frame.select(**chosen).to_dict()}
    ids = {role: naming.ids(columns[role].to_physical()) for role in grammar.objects}
    return grammar.derive(pl.DataFrame(columns | ids))


def _times(cell: pl.Expr, dtype: Any) -> dict[str, pl.Expr]:
    """(seconds since 1970 UTC, which cells cannot be read); dates without a zone are taken as UTC.

    Each cell is judged alone, so that the result does not depend on how a file is cut. A time that cannot be read
    does not make an answer less of one: the time is unknown, and the reader warns.
    """
    if dtype == pl.Date:
        cell = cell.cast(pl.Datetime("us"))
    if dtype.is_temporal():
        return {"answered_at": cell.dt.epoch("us") / 1e6, "bad_answered_at": pl.lit(False)}
    if dtype.is_numeric():
        return {"answered_at": cell.cast(pl.Float64), "bad_answered_at": pl.lit(False)}
    text = cell.cast(pl.String)
    known = pl.when(~is_nothing(text)).then(text)
    text = known.str.strip_chars().str.replace(r"(\d)T(\d)", "$1 $2")
    text = text.str.replace(r" ?(Z|UTC|GMT)$", "+00:00")
    dates = [text.str.to_datetime(form, strict=False, time_unit="us").dt.epoch("us") / 1e6 for form in DATES]
    times = pl.coalesce(known.cast(pl.Float64, strict=False), *dates)
    return {"answered_at": times, "bad_answered_at": known.is_not_null() & times.is_null()}


ROLES = ("anchor", "near", "far")


@dataclass(frozen=True)
class Classified:
    """Rows, and what became of each: ``fate`` is 0 for an answer, -1 for a blank row, and i > 0 where ``reasons[i - 1]`` holds.

    ``fate`` is None where every row is an answer.
    """

    rows: pl.DataFrame
    fate: pl.Series | None
    reasons: tuple[Refusal | Aside, ...]

    @property
    def kept(self) -> pl.DataFrame:
        """The rows that are answers."""
        return self.rows if self.fate is None else self.rows.filter(self.fate == 0)

    def with_fate(self, number: int) -> pl.Series:
        """The numbers of some rows."""
        return pl.Series(dtype=pl.UInt32) if self.fate is None else (self.fate == number).arg_true()


def classify_rows(
    frame: pl.DataFrame, rows: pl.DataFrame, grammar: Grammar, naming: Naming, *, may_be_blank: bool
) -> Classified:
    """Judge every row of parsed columns; ``frame`` holds their cells.

    In text and spreadsheets a row without any cell is a blank line (``may_be_blank``); elsewhere it is a bad row.
    """
    reasons: list[Refusal | Aside] = [*grammar.aside, *_refusals(rows, grammar, naming)]
    if grammar.answer is not None:
        word = frame[f"c{grammar.columns[grammar.answer]}"]
        if naming.listed is not None or any(name.lower() in SKIPS for name in naming.index):
            said = word.cast(pl.String).str.to_lowercase().is_in(SKIPS).fill_null(False)
            shown = [role for role in grammar.objects if role != grammar.answer]
            others = [pl.col(role).ne_missing(pl.col(grammar.answer)) for role in shown]
            rows = rows.with_columns(skip=said)
            reasons.insert(0, Aside(pl.col("skip") & pl.all_horizontal(others), "skip"))
    fates = {number: reason.when for number, reason in enumerate(reasons, 1)}
    if may_be_blank and all(rows[role].null_count() for role in grammar.objects):
        rows = rows.with_columns(frame.select(blank=pl.all_horizontal(pl.all().is_null())))
        fates = {-1: pl.col("blank")} | fates
    occurs = rows.select(when.any().alias(str(number)) for number, when in fates.items()).row(0)
    fate: Any = None
    for (number, when), any_row in zip(fates.items(), occurs, strict=True):
        if any_row:
            fate = (pl if fate is None else fate).when(when).then(pl.lit(number, pl.Int16))
    judged = None if fate is None else rows.select(fate=fate.otherwise(pl.lit(0, pl.Int16)))["fate"]
    return Classified(rows, judged, tuple(reasons))


def _refusals(rows: pl.DataFrame, grammar: Grammar, naming: Naming) -> list[Refusal]:
    """Why a row is not an answer: by its names, by the dialect, by all that it holds."""
    what = "the name of an object" if naming.first is None else f"a whole number from {naming.first}"
    needed = (role for role in grammar.objects if role not in grammar.may_be_blank)
    blank = [role for role in needed if rows[role].null_count()]
    refused = product(enumerate(naming.refusals), grammar.objects)
    same = ((x == y) | (y == z) | (x == z) for x, y, z in grammar.triplets[:1])
    wrong = {
        "seconds": ("not a number", "a number of seconds, or nothing"),
        "near_side": ("not a side", "left, right or nothing"),
    }
    return [
        *(Refusal(pl.col(role).is_null(), "blank cell", what, (role,)) for role in blank),
        *(Refusal(pl.col(role) == -1 - number, *told, (role,)) for (number, told), role in refused),
        *grammar.refuse,
        *(Refusal(when, "the same object twice", "three distinct objects") for when in same),
        *(Refusal(pl.col(f"bad_{x}"), *wrong[x], (x,)) for x in wrong if f"bad_{x}" in rows.columns),
    ]


def triplet_rows(kept: pl.DataFrame, grammar: Grammar, first_row: int) -> pl.DataFrame:
    """One row per triplet: anchor, near and far as ids, and the optional columns that the grammar has.

    Without a column for it, a statement is the number of the row where a row gives several triplets; rows are counted
    from ``first_row``.
    """
    if grammar.times is not None:
        kept = kept[np.repeat(np.arange(len(kept)), kept.select(grammar.times).to_series().to_numpy())]
    as_they_are = ("statement", "participant", "group", "rule", "near_side", "answered_at")
    columns = {role: pl.col(role) for role in as_they_are if role in grammar.columns}
    several = len(grammar.triplets)
    if several > 1 and "statement" not in columns:
        columns["statement"] = pl.int_range(first_row, first_row + len(kept), dtype=pl.Int64)
    if "seconds" in grammar.columns:
        columns["seconds"] = pl.col("seconds")
        if grammar.milliseconds:  # by numpy: polars would make 1.6620000000000001 of 1662
            columns["seconds"] = columns["seconds"].map_batches(
                lambda cells: pl.Series(cells.to_numpy() / 1000, nan_to_null=True), return_dtype=pl.Float64
            )
    if grammar.near_side is not None:
        columns.setdefault("near_side", grammar.near_side.cast(pl.Int8))
    named = [dict(zip(ROLES, (x.cast(pl.Int32) for x in three), strict=True)) for three in grammar.triplets]
    # one after the other: to wait for threads that parse the next rows would take longer
    frames = [kept.select_seq(**three, **columns) for three in named]
    if several == 1:
        return frames[0]
    order = np.arange(several * len(kept)).reshape(several, -1).T.ravel()
    triplets = pl.concat(frames)[order]
    return triplets.filter(pl.col("near").is_not_null()) if grammar.partial else triplets


# -------------------------------------------------------------------- rows that are not answers

REJECTED = pl.Schema({"file": pl.String, **FAULTS})
CHECKS = pl.Schema(dict.fromkeys(("file", "line", "kind", "participant", "correct", "content"), pl.String))
CHECKS.update(line=pl.Int64(), correct=pl.Boolean())
NONE_REJECTED, NONE_ASIDE = pl.DataFrame(schema=REJECTED), pl.DataFrame(schema=CHECKS)


def rows_left_out(
    judged: Classified, cells: Cells, grammar: Grammar, table: Table
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One row per rejected row, and per row set aside (``correct`` is null where there is nothing to grade); in the order of the file."""
    if judged.fate is None and not cells.faults:
        return NONE_REJECTED, NONE_ASIDE
    faults = [(table.name, *fault) for fault in cells.faults]
    rejected, aside = [pl.DataFrame(faults, schema=REJECTED, orient="row")], [NONE_ASIDE]
    at = grammar.columns.get("participant")
    person = pl.lit(None, pl.String) if at is None else pl.col(f"c{at}").cast(pl.String).fill_null("")
    for number, why in enumerate(judged.reasons, start=1):
        if not len(rows := judged.with_fate(number)):
            continue
        shows = (why.shows if isinstance(why, Refusal) else ()) or grammar.objects
        place: dict[str, Any] = {"file": pl.lit(table.name), "line": cells.lines_of(rows)}
        given = cells.frame[rows].select(**place, content=_content(grammar, table, shows), participant=person)
        if isinstance(why, Refusal):
            told = given.with_columns(reason=pl.lit(why.reason), expected=pl.lit(why.expected))
            rejected.append(told.select(REJECTED.names()))
        else:
            graded = pl.lit(None, pl.Boolean) if why.correct is None else why.correct
            correct = judged.rows[rows].with_columns(correct=graded)["correct"]
            aside.append(given.with_columns(correct, kind=pl.lit(why.kind)).select(CHECKS.names()))
    refused, passed_over = (pl.concat(each).sort("line", maintain_order=True) for each in (rejected, aside))
    return refused, passed_over


def _content(grammar: Grammar, table: Table, roles: tuple[str, ...], longest: int = 200) -> pl.Expr:
    """The cells of some roles in words: near 'apple', far 'apple'."""
    shown = []
    for at in dict.fromkeys(grammar.columns[role] for role in roles):
        # a bare row of three has no names
        has_name = grammar.has_header or (at > 2 and not table.may_be_bare)
        column = table.header.describe(at) if has_name else f"column {at + 1}"
        text = pl.col(f"c{at}").cast(pl.String).fill_null("")
        cut = text.str.slice(0, longest) + pl.lit("…")
        cell = pl.when(text.str.len_chars() > longest).then(cut).otherwise(text)
        shown.append(pl.format("{} '{}'", pl.lit(column), cell))
    return pl.concat_str(shown, separator=", ")


def rows_error(table: Table, rejected: pl.DataFrame, rows: int, *, droppable: bool = True) -> RowsError:
    """The error for rejected rows: the first five, and how many there are."""
    shown = 5
    drop = ", or leave such rows out with on_bad='drop' (--on-bad drop)" if droppable else ""
    sentences = [
        f"{table.row_word} {line}: {reason}: {content}; expected {expected}"
        for _, line, reason, content, expected in rejected.head(shown).rows()
    ]
    remedy = f"correct the file{drop}"
    if len(rejected) == 1:
        return RowsError(f"{table.name}, {sentences[0]} ({remedy})", rejected=rejected)
    more = [f"and {len(rejected) - shown:,} more"] if len(rejected) > shown else []
    what = "rows are not answers" if droppable else "rows cannot be read"
    head = f"{table.name}: {len(rejected):,} of {rows:,} {what}; {remedy}"
    return RowsError("\n  ".join([head, *sentences, *more]), rejected=rejected)
