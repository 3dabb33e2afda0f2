"""What was answered, as nearfar's own nouns: Triplets, graded checks, and tables for export."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar.ask.store import read_store
from nearfar.ask.store.adaptive import is_control
from nearfar.ask.store.researcher import answer_rows, object_rows, study_row
from nearfar.ask.store.transaction import Row, Transaction
from nearfar.ask.study import QuestionPlan
from nearfar.design import Booklets, Questions
from nearfar.design.booklets import ROLES
from nearfar.errors import FileError
from nearfar.io.parse_rows import CHECKS
from nearfar.io.reading import ReadResult, ReadSource
from nearfar.triplets import Triplets

CHECK_COLUMNS: dict[str, Any] = {
    "participant": pl.String, "place": pl.Int64, "shown": pl.String, "chosen": pl.String, "correct": pl.Boolean,
    "seconds": pl.Float64, "answered_at": pl.Float64,
}  # fmt: skip
UNDECIDED_COLUMNS: dict[str, Any] = {
    "participant": pl.String, "place": pl.Int64, "role": pl.String, "shown": pl.String, "seconds": pl.Float64,
    "answered_at": pl.Float64,
}  # fmt: skip
SCREEN_COLUMNS: dict[str, Any] = {
    "statement": pl.String, "role": pl.String, "position": pl.String, "shown": pl.String, "condition": pl.String,
    "replays": pl.Int64, "early": pl.Int64, "score": pl.Float64, "probability": pl.Float64, "model": pl.Int64, "seed": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Collected:
    """Everything that was answered in a study so far; ``checks`` has a row per check question.

    screens : a row per statement: what was shown where, the position chosen (from 1), whether it was a repeat.
    Of adaptive questions also their score, their probability, the model that chose them and its seed.
    cannot_tell : a row per question that somebody could not tell; these give no triplet and grade nobody.
    control : participants of an adaptive study who get random questions only.
    """

    triplets: Triplets
    display_names: tuple[str, ...]
    pictures: tuple[str | None, ...]
    checks: pl.DataFrame
    screens: pl.DataFrame
    cannot_tell: pl.DataFrame
    control: tuple[str, ...] | None = None


def collect(tx: Transaction) -> Collected:
    """Read all answers of a study. An odd one out, a most central one or a grid is one statement each."""
    study = study_row(tx)
    if study is None:
        raise FileError("the database holds no study")
    names, display_names, files, media = zip(*object_rows(tx), strict=True)
    kinds = zip(files, media, strict=True)
    pictures = tuple(file if str(kind).startswith("image/") else None for file, kind in kinds)
    everything, pick = answer_rows(tx), study["pick"]
    plan = QuestionPlan(**tomllib.loads(study["toml"]).get("questions", {}))
    rows = [row for row in everything if row[4] != "[]"]
    cannot_tell = _cannot_tell(names, [row for row in everything if row[4] == "[]"])
    everybody = tx.rows("SELECT id, name FROM participant ORDER BY id")
    control = tuple(name for id, name in everybody if is_control(id, plan)) if plan.is_adaptive else None
    screens = _screens(names, [row for row in rows if row[2] != "check"])
    if not rows:
        none = Triplets([], [], [], names, participant=[], statement=[], seconds=[], answered_at=[])
        checks = pl.DataFrame(schema=CHECK_COLUMNS)
        return Collected(none, display_names, pictures, checks, screens, cannot_tell, control)
    shown = np.array([json.loads(row[3]) for row in rows], dtype=np.int32)
    booklets = Booklets(
        Questions(shown, names, study["kind"], pick),
        participant=np.unique([row[0] for row in rows], return_inverse=True)[1].astype(np.int64),
        place=np.array([row[1] for row in rows], dtype=np.int64),
        role=np.array([ROLES.index(row[2]) for row in rows], dtype=np.int8),
        question=np.full(len(rows), -1, dtype=np.int64),
    )
    chosen = np.array([json.loads(row[4]) for row in rows], dtype=np.int64).reshape(-1, pick)
    seconds, answered_at = _times(rows)
    people, statements = [row[0] for row in rows], [f"{row[0]}-{row[1]}" for row in rows]
    given = {"participant": people, "statement": statements, "seconds": seconds, "answered_at": answered_at}
    rules = ["" if row[12] in (None, "file") else row[12] for row in rows]
    triplets = booklets.answered(
        chosen if pick > 1 else chosen[:, 0], **given, rule=rules if any(rules) else None
    )
    checks = _checks(rows, booklets, chosen)
    return Collected(triplets, display_names, pictures, checks, screens, cannot_tell, control)


def _screens(names: Sequence[str], rows: list[Row]) -> pl.DataFrame:
    made = []
    for name, place, role, shown, choice, *more in rows:
        replays, early, condition, _, *reason = more[4:]
        position = ";".join(str(at + 1) for at in json.loads(choice))
        seen = _joined(names, shown), condition or None, replays, early
        made.append((f"{name}-{place}", role, position, *seen, *reason))
    return pl.DataFrame(made, schema=SCREEN_COLUMNS, orient="row")


def _cannot_tell(names: Sequence[str], rows: list[Row]) -> pl.DataFrame:
    times = zip(*_times(rows), strict=True)
    made = [(*row[:3], _joined(names, row[3]), *when) for row, when in zip(rows, times, strict=True)]
    return pl.DataFrame(made, schema=UNDECIDED_COLUMNS, orient="row")


def _times(rows: list[Row]) -> tuple[Floats, Floats]:
    """Seconds of each answer, without those the page was hidden, and when it was given.

    That is by the browser's clock where it can be, as answers may wait for the network for a week.
    """
    times = np.array([row[5:9] for row in rows], dtype=np.float64)
    milliseconds, away, shown_at, received = times.reshape(-1, 4).T
    seconds = np.maximum(milliseconds - np.nan_to_num(away), 0) / 1000
    when = shown_at + milliseconds / 1000
    return seconds, np.where((received - 7 * 86_400 < when) & (when <= received), when, received)


def _checks(rows: list[Row], booklets: Booklets, chosen: NDArray[np.int64]) -> pl.DataFrame:
    names, passed = booklets.questions.objects, booklets.passed(chosen)
    picked = np.take_along_axis(booklets.questions.options, chosen, axis=1)
    answered = zip(rows, picked.tolist(), passed.tolist(), *_times(rows), strict=True)
    graded = [
        (row[0], row[1], _joined(names, row[3]), _joined(names, str(objects)), correct, *times)
        for row, objects, correct, *times in answered
        if row[2] == "check"
    ]
    made = pl.DataFrame(graded, schema=CHECK_COLUMNS, orient="row")
    return made.with_columns(pl.col("seconds").fill_nan(None))


def _joined(names: Sequence[str], objects: str) -> str:
    """Names of objects, from their indices in JSON."""
    return " | ".join(names[i] for i in json.loads(objects))


def read_databases(paths: Sequence[str]) -> ReadResult:
    """Read the databases of studies, also while they are served; nothing is written to them."""
    if other := [path for path in paths if not path.endswith(".db")]:
        raise FileError(f"{other[0]}: cannot be joined with a database of answers; export that first")
    studies = [(path, read_store(path, collect)) for path in paths]
    checks = [
        (path, place, "check", participant, correct, shown)
        for path, collected in studies
        for participant, place, shown, _, correct, *_ in collected.checks.iter_rows()
    ]
    return ReadResult(
        Triplets.concatenate([collected.triplets for _, collected in studies]),
        checks=pl.DataFrame(checks, schema=CHECKS, orient="row"),
        sources=tuple(
            ReadSource(path, "study", "answer", len(np.unique(c.triplets.statement_ids)) + len(c.checks), ())
            for path, c in studies
        ),
    )
