"""Rows that gave no answer, as tables a person can act on, and the error that names the first of them."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl

from nearfar.errors import RowsError
from nearfar.io.classify_rows import Classified
from nearfar.io.dialects import Grammar
from nearfar.io.table import FAULTS, Cells, Table
from nearfar.io.text import UNDECODABLE, UTF8

__all__ = [
    "CHECKS",
    "NONE_ASIDE",
    "NONE_REJECTED",
    "encoding_error",
    "rejected_rows",
    "rows_error",
    "rows_set_aside",
]

REJECTED = pl.Schema({"file": pl.String, **FAULTS})
CHECKS = pl.Schema(
    {
        "file": pl.String,
        "line": pl.Int64,
        "kind": pl.String,
        "participant": pl.String,
        "correct": pl.Boolean,
        "content": pl.String,
    }
)
NONE_REJECTED, NONE_ASIDE = pl.DataFrame(schema=REJECTED), pl.DataFrame(schema=CHECKS)
SHOWN = 5
LONGEST = 200  # characters of a cell that are shown


def rejected_rows(found: Classified, cells: Cells, grammar: Grammar, table: Table) -> pl.DataFrame:
    """One row per rejected row: file, line, reason, content, expected; in the order of the file."""
    if found.fate is None and not cells.faults:
        return NONE_REJECTED
    frames = [pl.DataFrame(cells.faults, schema=FAULTS, orient="row")]
    if found.fate is not None:
        for number, refusal in enumerate(found.refusals, start=1):
            rows = (found.fate == number).arg_true()
            if len(rows):
                shown = _content(cells.frame[rows], grammar, table, refusal.shows or grammar.objects)
                words = {"reason": pl.lit(refusal.reason), "expected": pl.lit(refusal.expected)}
                lines = cells.lines_of(rows).alias("line")
                frames.append(pl.DataFrame([lines, shown]).with_columns(**words).select(*FAULTS))
    listed = pl.concat(frames).sort("line", maintain_order=True)
    return listed.select(pl.lit(table.name).alias("file"), *FAULTS)


def rows_set_aside(found: Classified, cells: Cells, grammar: Grammar, table: Table) -> pl.DataFrame:
    """One row per row set aside: file, line, kind, participant, correct (null where not graded), content."""
    if found.fate is None:
        return NONE_ASIDE
    frames = [NONE_ASIDE]
    for number, aside in enumerate(found.asides):
        rows = (found.fate == -2 - number).arg_true()
        if not len(rows):
            continue
        own = cells.frame[rows]
        at = grammar.columns.get("participant")
        people = [None] * len(rows) if at is None else own[f"c{at}"].cast(pl.String).fill_null("").to_list()
        graded = [None] * len(rows)
        if aside.correct is not None:
            graded = found.rows[rows].with_columns(correct=aside.correct)["correct"].to_list()
        columns = {
            "file": [table.name] * len(rows),
            "line": cells.lines_of(rows),
            "kind": [aside.kind] * len(rows),
            "participant": people,
            "correct": graded,
            "content": _content(own, grammar, table, grammar.objects),
        }
        frames.append(pl.DataFrame(columns, schema=CHECKS))
    return pl.concat(frames).sort("line", maintain_order=True)


def _content(cells: pl.DataFrame, grammar: Grammar, table: Table, roles: tuple[str, ...]) -> pl.Series:
    """The cells of some roles in words: near 'apple', far 'apple'."""
    shown = []
    for at in dict.fromkeys(grammar.columns[role] for role in roles):
        has_name = grammar.has_header or (
            at > 2 and not table.may_be_bare
        )  # a bare row of three has no names
        column = table.header.describe(at) if has_name else f"column {at + 1}"
        text = pl.col(f"c{at}").cast(pl.String).fill_null("")
        long = text.str.len_chars() > LONGEST
        cell = pl.when(long).then(text.str.slice(0, LONGEST) + pl.lit("…")).otherwise(text)
        shown.append(pl.format("{} '{}'", pl.lit(column), cell))
    return cells.select(content=pl.concat_str(shown, separator=", "))["content"]


def rows_error(table: Table, rejected: pl.DataFrame, rows: int, *, droppable: bool = True) -> RowsError:
    """The error for rejected rows: the first five, and how many there are; one sentence where they are not UTF-8."""
    drop = ", or leave such rows out with on_bad='drop' (--on-bad drop)" if droppable else ""
    wrong = encoding_error(rejected, table.row_word, drop)
    if wrong is not None:
        return wrong
    sentences = [
        f"{table.row_word} {line}: {reason}: {content}; expected {expected}"
        for _, line, reason, content, expected in rejected.head(SHOWN).rows()
    ]
    remedy = f"correct the file{drop}"
    if len(rejected) == 1:
        return RowsError(f"{table.name}, {sentences[0]} ({remedy})", rejected=rejected)
    if len(rejected) > SHOWN:
        sentences.append(f"and {len(rejected) - SHOWN:,} more")
    what = "rows are not answers" if droppable else "rows cannot be read"
    head = f"{table.name}: {len(rejected):,} of {rows:,} {what}; {remedy}"
    return RowsError("\n  ".join([head, *sentences]), rejected=rejected)


def encoding_error(rejected: pl.DataFrame, row_word: str = "line", drop: str = "") -> RowsError | None:
    """One sentence on the first file with rows that are not UTF-8, and how to save it again; None where there is none."""
    undecodable = rejected.filter(pl.col("reason") == UNDECODABLE)
    if not len(undecodable):
        return None
    file, line, content = undecodable.select("file", "line", "content").row(0)
    others = int(undecodable["file"].eq(file).sum()) - 1
    more = f" (and {others:,} more such {row_word}{'' if others == 1 else 's'})" if others else ""
    command = f"iconv -f WINDOWS-1252 -t UTF-8 {shlex.quote(file)} > {shlex.quote('utf8-' + Path(file).name)}"
    return RowsError(
        f"{file}, {row_word} {line}: undecodable bytes: {content}{more}; expected {UTF8[:-1]}, or run {command}){drop}",
        rejected=rejected,
    )
