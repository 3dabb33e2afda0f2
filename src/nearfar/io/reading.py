"""Reading answers: a file, several, standard input, a data frame or arrays -> Triplets."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar.errors import InputError, NearfarWarning
from nearfar.io._build import OwnIds, build, trim
from nearfar.io._names import Naming, name_by_index, name_by_name
from nearfar.io._open import open_sheet
from nearfar.io._report import checks, rejected, rows_error
from nearfar.io._settle import settle
from nearfar.io._sheet import Sheet, read_with_care
from nearfar.io._source import Source, find_sources
from nearfar.io._take import Vocabulary, take
from nearfar.io.dialects import Plan, choose
from nearfar.io.objects import ObjectList, as_names
from nearfar.progress import track
from nearfar.triplets import Triplets

__all__ = ["Part", "ReadResult", "check_on_bad", "read_answers", "read_triplets"]

DOUBLE_SUBMIT = 0.5  # seconds within which nobody answers the same question a second time on purpose
Objects = ObjectList | Sequence[str] | str | os.PathLike[str] | int


@dataclass(frozen=True)
class Part:
    """What was found in one source: rows of data (each a line, a row or a record) and columns not used."""

    name: str
    dialect: str
    unit: str
    rows: int
    unused: tuple[str, ...]


@dataclass(frozen=True)
class ReadResult:
    """Answers, and everything that was not one.

    Attributes
    ----------
    triplets : the answers.
    rejected : data frame of rows that are no answers: file, line, reason, came, expected.
    checks : data frame of rows that the dialect knows to be no answers (check questions, blank answers, skips),
        set aside: file, line, kind, participant, correct (null where there is nothing to grade), came.
    parts : one entry per source.
    """

    triplets: Triplets
    rejected: pl.DataFrame
    checks: pl.DataFrame
    parts: tuple[Part, ...]

    @cached_property
    def double_submits(self) -> NDArray[np.bool_]:
        """(m,) True where a participant sent the same question again within half a second; they are kept."""
        return double_submits(self.triplets)

    def __repr__(self) -> str:
        return f"ReadResult({self.triplets!r}, {len(self.rejected)} rejected, {len(self.checks)} set aside)"


def read_triplets(
    source: Any,
    *,
    dialect: str | None = None,
    objects: Objects | None = None,
    on_bad: Literal["error", "drop"] = "error",
) -> Triplets:
    """Read answers.

    Parameters
    ----------
    source : a path (.csv .tsv .txt .jsonl .json, each also .gz or .zst, .parquet .npz .npy), ``"-"`` for standard
        input, a list of paths, a data frame of any library, an (m, 3) array, or (array, response).
    dialect : what the columns mean; default: recognised by the header. Never guessed from values.
    objects : object list (names, an ``ObjectList`` or its file, or n for the names 0 to n - 1): fixes the order;
        other names are errors.
    on_bad : a row that is no answer: ``"error"``, or ``"drop"`` it; ``read_answers`` returns such rows.

    Examples
    --------
    >>> import polars as pl
    >>> read_triplets(pl.DataFrame({"a": ["red"], "b": ["pink"], "c": ["blue"], "odd": ["blue"]})).array.tolist()
    [[2, 1, 0], [1, 2, 0]]
    """
    return read_answers(source, dialect=dialect, objects=objects, on_bad=on_bad).triplets


def read_answers(
    source: Any,
    *,
    dialect: str | None = None,
    objects: Objects | None = None,
    on_bad: Literal["error", "drop"] = "error",
) -> ReadResult:
    """Read answers and tell what became of every row; parameters as for ``read_triplets``.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"anchor": ["a", "a"], "near": ["b", "b"], "far": ["c", ""]})
    >>> read_answers(frame, on_bad="drop")
    ReadResult(Triplets(1 answers, 3 objects), 1 rejected, 0 set aside)
    """
    check_on_bad(on_bad)
    listed = as_names(objects)
    sources = find_sources(source)
    if not sources:
        raise InputError(
            "answers: the list of files is empty; expected at least one",
        )
    results = [_read_one(one, dialect, listed, on_bad) for one in track(sources, "reading answers")]
    if len(results) == 1:
        return results[0]
    return ReadResult(
        Triplets.concatenate([result.triplets for result in results]),
        pl.concat([result.rejected for result in results]),
        pl.concat([result.checks for result in results]),
        tuple(part for result in results for part in result.parts),
    )


def check_on_bad(on_bad: str) -> None:
    """An error for what cannot be done with a bad row."""
    if on_bad not in ("error", "drop"):
        raise InputError(
            f"on_bad: {on_bad!r} is not known; expected 'error' or 'drop'",
        )


def _read_one(source: Source, dialect: str | None, listed: tuple[str, ...] | None, on_bad: str) -> ReadResult:
    sheet = open_sheet(source)
    chosen, plan = choose(sheet, dialect)
    objects, people = Vocabulary(), Vocabulary()
    sheet, frame, faults = read_with_care(sheet, plan.has_header, lambda s: take(s, plan, objects, people))
    names = objects.names()
    naming = name_objects(names, plan, sheet, listed)
    settled = settle(frame, plan, naming, names, source=sheet.name)
    refused = rejected(settled, plan, sheet, faults)
    rows = len(frame) - int(frame["blank"].sum()) + (0 if faults is None else len(faults))
    if len(refused) and on_bad == "error":
        raise rows_error(sheet, refused, rows)
    if not plan.has_header and sheet.may_be_bare:
        _warn_of_header(frame, plan, names, source=sheet.name)
    triplets = build(settled.kept, plan, naming.objects, OwnIds(people, sheet.typed))
    all_rows = settled.fate is None and faults is None
    if listed is None and sheet.objects is None and plan.first_index is None and not all_rows:
        triplets = trim(triplets)
    used = set(plan.columns.values())
    unused = (
        tuple(name for at, name in enumerate(sheet.header.cells) if at not in used) if plan.has_header else ()
    )
    part = Part(sheet.name, chosen.name, sheet.unit, rows, unused)
    return ReadResult(triplets, refused, checks(settled, plan, sheet), (part,))


def name_objects(names: list[str], plan: Plan, sheet: Sheet, listed: tuple[str, ...] | None) -> Naming:
    """What the names of a vocabulary stand for in a sheet; the first is the empty one."""
    names = names[1:]
    if plan.first_index is not None:
        return name_by_index(names, plan.first_index, sheet.objects, listed, source=sheet.name)
    schema = sheet.scan(plan.has_header).collect_schema()
    numeric = all(schema[f"c{plan.columns[role]}"].is_numeric() for role in plan.objects)
    return name_by_name(names, listed if listed is not None else sheet.objects, numeric=numeric)


def _warn_of_header(frame: pl.DataFrame, plan: Plan, names: list[str], *, source: str) -> None:
    """A file read without a header whose first row stands alone probably has one."""
    codes = frame.select(plan.objects)
    if len(codes) < 10 or None in codes.row(0):
        return
    if all(sum(int((codes[role] == code).sum()) for role in plan.objects) == 1 for code in codes.row(0)):
        first = ", ".join(repr(names[code]) for code in codes.row(0))
        warnings.warn(
            f"{source}: the first line ({first}) was read as an answer, but its names occur nowhere else; "
            "if it is a header, take it out",
            NearfarWarning,
            stacklevel=4,
        )


def double_submits(triplets: Triplets) -> NDArray[np.bool_]:
    """(m,) True where the same participant gave an answer to the same question less than half a second before."""
    flags = np.zeros(len(triplets), dtype=bool)
    if triplets.participant is None or triplets.answered_at is None:
        return flags
    questions, who, when = triplets.question_ids, triplets.participant.codes, triplets.answered_at
    order = np.lexsort((when, questions, who))
    before, after = order[:-1], order[1:]
    again = (who[before] == who[after]) & (questions[before] == questions[after])
    flags[after] = again & (when[after] - when[before] <= DOUBLE_SUBMIT)
    return flags
