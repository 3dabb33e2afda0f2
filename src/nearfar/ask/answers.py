"""What was answered, as nearfar's own nouns: Triplets, graded checks, and tables for export."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.ask.store.researcher import answer_rows, object_rows, study_row
from nearfar.ask.store.sqlite import read_file
from nearfar.ask.store.transaction import Row, Transaction
from nearfar.design import Booklets, Questions
from nearfar.design.booklets import ROLES
from nearfar.errors import FileError
from nearfar.io.reading import ReadResult, ReadSource
from nearfar.io.rejections import CHECKS
from nearfar.triplets import Triplets

__all__ = ["CheckAnswer", "Collected", "collect", "read_databases"]

WEEK = 7 * 86_400.0


@dataclass(frozen=True)
class CheckAnswer:
    """A check question that somebody answered."""

    participant: str
    place: int
    shown: tuple[str, ...]
    chosen: tuple[str, ...]
    correct: bool
    seconds: float | None
    answered_at: float


@dataclass(frozen=True, eq=False)
class Collected:
    """Everything that was answered in a study so far."""

    triplets: Triplets
    display_names: tuple[str, ...]
    pictures: tuple[str | None, ...]
    checks: tuple[CheckAnswer, ...]
    kind: str


def collect(tx: Transaction) -> Collected:
    """Read all answers of a study. An odd one out, a most central one or a grid is one statement each."""
    study = study_row(tx)
    if study is None:
        raise FileError("the database holds no study")
    objects = object_rows(tx)
    rows = answer_rows(tx)
    if not rows:
        names = tuple(row[0] for row in objects)
        return _nothing_yet(names, objects, study["kind"])
    booklets = _booklets(rows, tuple(row[0] for row in objects), study["kind"], study["pick"])
    chosen = np.array([json.loads(row[4]) for row in rows], dtype=np.int64).reshape(-1, study["pick"])
    return Collected(
        booklets.answered(
            chosen if study["pick"] > 1 else chosen[:, 0],
            participant=[row[0] for row in rows],
            seconds=[_seconds(row) for row in rows],
            answered_at=[_when(row) for row in rows],
            statement=[f"{row[0]}-{row[1]}" for row in rows],
        ),
        tuple(row[1] for row in objects),
        tuple(row[2] for row in objects),
        _checks(rows, booklets, chosen),
        study["kind"],
    )


def _nothing_yet(names: tuple[str, ...], objects: list[Row], kind: str) -> Collected:
    none = Triplets([], [], [], names, participant=[], statement=[], seconds=[], answered_at=[])
    return Collected(none, tuple(row[1] for row in objects), tuple(row[2] for row in objects), (), kind)


def _booklets(rows: list[Row], names: tuple[str, ...], kind: Any, pick: int) -> Booklets:
    """What was answered, place by place, as shown."""
    shown = np.array([json.loads(row[3]) for row in rows], dtype=np.int32)
    return Booklets(
        Questions(shown, names, kind, pick),
        participant=np.unique([row[0] for row in rows], return_inverse=True)[1].astype(np.int64),
        place=np.array([row[1] for row in rows], dtype=np.int64),
        role=np.array([ROLES.index(row[2]) for row in rows], dtype=np.int8),
        question=np.full(len(rows), -1, dtype=np.int64),
    )


def _checks(rows: list[Row], booklets: Booklets, chosen: NDArray[np.int64]) -> tuple[CheckAnswer, ...]:
    names, passed = booklets.questions.objects, booklets.passed(chosen)
    picked = np.take_along_axis(booklets.questions.options, chosen, axis=1)
    return tuple(
        CheckAnswer(
            row[0],
            int(row[1]),
            tuple(names[i] for i in json.loads(row[3])),
            tuple(names[i] for i in objects),
            bool(correct),
            None if np.isnan(_seconds(row)) else _seconds(row),
            _when(row),
        )
        for row, objects, correct in zip(rows, picked.tolist(), passed.tolist(), strict=True)
        if row[2] == "check"
    )


def _seconds(row: Row) -> float:
    """Time from the moment everything was shown, without the time the page was hidden."""
    milliseconds, away = row[5], row[6]
    return float("nan") if milliseconds is None else max(0.0, milliseconds - (away or 0.0)) / 1000


def _when(row: Row) -> float:
    """When it was answered: by the browser's clock where that can be, since answers may wait for the network."""
    milliseconds, _, shown_at, received = row[5:9]
    if shown_at is None or milliseconds is None:
        return float(received)
    when = shown_at + milliseconds / 1000
    return float(when if received - WEEK < when <= received else received)


def read_databases(paths: Sequence[str]) -> ReadResult:
    """Read the databases of studies, also while they are served; nothing is written to them."""
    import polars as pl

    found = []
    for path in paths:
        if not path.endswith(".db"):
            raise FileError(
                f"{path}: a database of answers cannot be joined with other files; export it first"
            )
        found.append((path, read_file(Path(path), collect)))
    checks = [
        (path, check.place, "check", check.participant, check.correct, " | ".join(check.shown))
        for path, collected in found
        for check in collected.checks
    ]
    return ReadResult(
        Triplets.concatenate([collected.triplets for _, collected in found]),
        checks=pl.DataFrame(checks, schema=CHECKS, orient="row"),
        sources=tuple(
            ReadSource(path, "study", "answer", len(np.unique(c.triplets.statement_ids)) + len(c.checks), ())
            for path, c in found
        ),
    )
