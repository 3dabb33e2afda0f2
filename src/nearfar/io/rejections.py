"""Rows that gave no answer, as tables a person can act on, and the error that names the first of them."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl

from nearfar.errors import RowsError
from nearfar.io.dialects import Grammar
from nearfar.io.parse_rows import Classified
from nearfar.io.sources import UNDECODABLE, UTF8
from nearfar.io.table import FAULTS, Cells, Table

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


def rejected_rows(found: Classified, cells: Cells, grammar: Grammar, table: Table) -> pl.DataFrame:
    """One row per rejected row: file, line, reason, content, expected; in the order of the file."""
    frames = [pl.DataFrame([(table.name, *fault) for fault in cells.faults], schema=REJECTED, orient="row")]
    for number, refusal in enumerate(found.refusals, start=1):
        rows = found.with_fate(number)
        if len(rows):
            own = cells.frame[rows].select(
                file=pl.lit(table.name),
                line=cells.lines_of(rows),
                reason=pl.lit(refusal.reason),
                content=_content(grammar, table, refusal.shows or grammar.objects),
                expected=pl.lit(refusal.expected),
            )
            frames.append(own)
    return pl.concat(frames).sort("line", maintain_order=True)


def rows_set_aside(found: Classified, cells: Cells, grammar: Grammar, table: Table) -> pl.DataFrame:
    """One row per row set aside: file, line, kind, participant, correct (null where not graded), content."""
    at = grammar.columns.get("participant")
    person = pl.lit(None, pl.String) if at is None else pl.col(f"c{at}").cast(pl.String).fill_null("")
    frames = [NONE_ASIDE]
    for number, aside in enumerate(found.asides):
        rows = found.with_fate(-2 - number)
        if len(rows):
            correct = pl.lit(None, pl.Boolean) if aside.correct is None else aside.correct
            own = cells.frame[rows].select(
                file=pl.lit(table.name),
                line=cells.lines_of(rows),
                kind=pl.lit(aside.kind),
                participant=person,
                correct=found.rows[rows].with_columns(correct=correct)["correct"],
                content=_content(grammar, table, grammar.objects),
            )
            frames.append(own)
    return pl.concat(frames).sort("line", maintain_order=True)


def _content(grammar: Grammar, table: Table, roles: tuple[str, ...], longest: int = 200) -> pl.Expr:
    """The cells of some roles in words: near 'apple', far 'apple'."""
    shown = []
    for at in dict.fromkeys(grammar.columns[role] for role in roles):
        has_name = grammar.has_header or (
            at > 2 and not table.may_be_bare
        )  # a bare row of three has no names
        column = table.header.describe(at) if has_name else f"column {at + 1}"
        text = pl.col(f"c{at}").cast(pl.String).fill_null("")
        cut = text.str.slice(0, longest) + pl.lit("…")
        cell = pl.when(text.str.len_chars() > longest).then(cut).otherwise(text)
        shown.append(pl.format("{} '{}'", pl.lit(column), cell))
    return pl.concat_str(shown, separator=", ")


def rows_error(
    table: Table, rejected: pl.DataFrame, rows: int, *, droppable: bool = True, shown: int = 5
) -> RowsError:
    """The error for rejected rows: the first ones, and how many there are; one sentence where they are not UTF-8."""
    drop = ", or leave such rows out with on_bad='drop' (--on-bad drop)" if droppable else ""
    wrong = encoding_error(rejected, table.row_word, drop)
    if wrong is not None:
        return wrong
    sentences = [
        f"{table.row_word} {line}: {reason}: {content}; expected {expected}"
        for _, line, reason, content, expected in rejected.head(shown).rows()
    ]
    remedy = f"correct the file{drop}"
    if len(rejected) == 1:
        return RowsError(f"{table.name}, {sentences[0]} ({remedy})", rejected=rejected)
    if len(rejected) > shown:
        sentences.append(f"and {len(rejected) - shown:,} more")
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
