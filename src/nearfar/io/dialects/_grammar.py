"""What a dialect makes of a file with a certain header: which cells, and how triplets follow from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from nearfar.io.table import Header
from nearfar.triplets import Triplets

Three = tuple[pl.Expr, pl.Expr, pl.Expr]


@dataclass(frozen=True)
class Refusal:
    """Rows that are not answers: ``when`` holds, ``expected`` says what should have been there.

    ``shows`` are the roles whose cells a message shows; all objects where none are given.
    """

    when: pl.Expr
    reason: str
    expected: str
    shows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Aside:
    """Rows that the dialect knows not to be answers; ``correct`` grades them where that makes sense."""

    when: pl.Expr
    kind: str
    correct: pl.Expr | None = None


@dataclass(frozen=True)
class Grammar:
    """How to read one file.

    Parameters
    ----------
    columns : role -> position in the file.
    objects : the roles whose cells hold objects. In expressions they are object indices, null where blank;
        all other roles are text. ``next_choice`` is the text of ``choice_1``, or of ``value``, in the next row.
    triplets : what a row says, as (anchor, near, far): one triplet, or several of one statement.
    picked : whether each option was chosen, where a check question may name the right one.
    derived : columns that are made of the others, step by step, for the expressions to use.
    undecided : rows whose choice is 0, and rows where it is a number and no name; where there are both, they may count from 0 or 1.
    partial : whether a row says only those of them whose ``near`` is not null.
    answer : the role that holds the choice, where it is one of ``objects``; the word "skip" in it is a skip.
    refuse, aside : rows that are not answers.
    near_side : side of ``near`` (0 left, 1 right) where the roles tell; else the column ``near_side`` is read.
    times : how often a row was answered, where one row stands for several answers.
    milliseconds : whether ``seconds`` are given in thousandths.
    first_index : the number of the first object where cells are indices; None where they are names.
    blanks : texts that stand for a blank cell.
    has_header : whether the first row holds names of columns.
    may_be_blank : the roles among ``objects`` that need not be there.
    gather : (rows that are answers, name of the source) -> triplets, where rows say something only beside each other.
    """

    columns: Mapping[str, int]
    objects: tuple[str, ...]
    triplets: tuple[Three, ...]
    answer: str | None = None
    refuse: tuple[Refusal, ...] = ()
    aside: tuple[Aside, ...] = ()
    near_side: pl.Expr | None = None
    times: pl.Expr | None = None
    milliseconds: bool = False
    first_index: int | None = None
    blanks: Collection[str] = ()
    has_header: bool = True
    partial: bool = False
    picked: tuple[pl.Expr, ...] = ()
    undecided: tuple[pl.Expr, ...] = ()
    derived: tuple[Mapping[str, pl.Expr], ...] = ()
    may_be_blank: tuple[str, ...] = ()
    gather: Callable[[pl.DataFrame, str], pl.DataFrame] | None = None

    def derive(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The parsed columns with those that are made of them."""
        for made in self.derived:
            rows = rows.with_columns(**made)
        return rows


@dataclass(frozen=True)
class Dialect:
    """A way to write answers down.

    Parameters
    ----------
    name : how a caller names it.
    needs : the columns by which it is recognised, in words.
    grammar : header -> Grammar, or None where the header is not of this dialect; no header is, if not given.
    bare : header -> Grammar for rows of three cells without a header; only where the caller names the dialect.
    write : answers -> a table in this dialect; None where it cannot be written.
    writes_header : whether that table is written with the names of its columns.
    """

    name: str
    needs: str
    grammar: Callable[[Header], Grammar | None] = lambda header: None
    bare: Callable[[Header], Grammar] | None = None
    write: Callable[[Triplets], pl.DataFrame] | None = None
    writes_header: bool = True


def distinct(objects: Sequence[str], expected: str) -> Refusal:
    """Rows that name an object twice."""
    equal = pl.any_horizontal([pl.col(a) == pl.col(b) for a, b in combinations(objects, 2)])
    return Refusal(equal, "the same object twice", expected)


def trio_triplets(kind: str, chosen: pl.Expr, first: pl.Expr, second: pl.Expr) -> tuple[Three, Three]:
    """The two others are nearer to each other than to the odd one, and nearer to the central one than to each other."""
    if kind == "odd":
        return (first, second, chosen), (second, first, chosen)
    return (first, chosen, second), (second, chosen, first)
