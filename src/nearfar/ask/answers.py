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

COLUMNS: dict[str, Any] = {
    "participant": pl.String, "place": pl.Int64, "role": pl.String, "shown": pl.String, "chosen": pl.String, "correct": pl.Boolean,
    "seconds": pl.Float64, "answered_at": pl.Float64, "statement": pl.String, "position": pl.String, "condition": pl.String,
    "replays": pl.Int64, "early": pl.Int64, "score": pl.Float64, "probability": pl.Float64, "model": pl.Int64, "seed": pl.Int64,
}  # fmt: skip
OF_CHECKS = ("participant", "place", "shown", "chosen", "correct", "seconds", "answered_at")
OF_UNDECIDED = ("participant", "place", "role", "shown", "seconds", "answered_at")
OF_SCREENS = (
    "statement", "role", "position", "shown", "condition", "replays", "early", "score", "probability", "model", "seed",
)  # fmt: skip


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
    plan = QuestionPlan(**tomllib.loads(study["toml"]).get("questions", {}))
    everybody = tx.rows("SELECT id, name FROM participant ORDER BY id")
    control = tuple(name for id, name in everybody if is_control(id, plan)) if plan.is_adaptive else None
    rows, pick = answer_rows(tx), study["pick"]
    shown = [json.loads(row[3]) for row in rows] or np.empty((0, 2 + pick))
    booklets = Booklets(
        Questions(np.array(shown, dtype=np.int32), names, study["kind"], pick),
        participant=np.unique([row[0] for row in rows], return_inverse=True)[1].astype(np.int64),
        place=np.array([row[1] for row in rows], dtype=np.int64),
        role=np.array([ROLES.index(row[2]) for row in rows], dtype=np.int8),
        question=np.full(len(rows), -1, dtype=np.int64),
    )
    chosen = np.array([json.loads(row[4]) or [-1] * pick for row in rows], dtype=np.int64).reshape(-1, pick)
    screens = _screens(rows, booklets, chosen)
    given = {
        name: screens[name].to_numpy() for name in ("participant", "statement", "seconds", "answered_at")
    }
    rules = ["" if row[12] in (None, "file") else row[12] for row in rows]
    triplets = booklets.answered(
        chosen if pick > 1 else chosen[:, 0], **given, rule=rules if any(rules) else None
    )
    screens = screens.with_columns(pl.col("seconds").fill_nan(None))
    is_check, is_told = pl.col("role") == "check", pl.col("position") != ""
    return Collected(
        triplets,
        display_names,
        pictures,
        checks=screens.filter(is_check & is_told).select(OF_CHECKS),
        screens=screens.filter(~is_check & is_told).select(OF_SCREENS),
        cannot_tell=screens.filter(~is_told).select(OF_UNDECIDED),
        control=control,
    )


def _screens(rows: list[Row], booklets: Booklets, chosen: NDArray[np.int64]) -> pl.DataFrame:
    """What was on the screen at every answer, and what was chosen there."""
    asked, passed = booklets.questions, booklets.passed(chosen).tolist()
    picked = np.take_along_axis(asked.options, np.maximum(chosen, 0), axis=1).tolist()
    made = []
    for row, *seen, right, seconds, when in zip(
        rows, asked.array.tolist(), picked, passed, *_times(rows), strict=True
    ):
        name, place, role, _, choice = row[:5]
        shown, taken = (" | ".join(asked.objects[i] for i in objects) for objects in seen)
        position = ";".join(str(at + 1) for at in json.loads(choice))
        known = (f"{name}-{place}", position, row[11] or None, *row[9:11], *row[13:])
        made.append((name, place, role, shown, taken, right, seconds, when, *known))
    return pl.DataFrame(made, schema=COLUMNS, orient="row")


def _times(rows: list[Row]) -> tuple[Floats, Floats]:
    """Seconds of each answer, without those the page was hidden, and when it was given.

    That is by the browser's clock where it can be, as answers may wait for the network for a week.
    """
    times = np.array([row[5:9] for row in rows], dtype=np.float64)
    milliseconds, away, shown_at, received = times.reshape(-1, 4).T
    seconds = np.maximum(milliseconds - np.nan_to_num(away), 0) / 1000
    when = shown_at + milliseconds / 1000
    return seconds, np.where((received - 7 * 86_400 < when) & (when <= received), when, received)


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
