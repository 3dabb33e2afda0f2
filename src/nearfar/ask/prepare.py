"""From a study file to an open database that fits it."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from nearfar.ask.objects import StudyObjects, encode_picture, find_objects
from nearfar.ask.passwords import hash_password, new_password
from nearfar.ask.pool import make_pool, no_questions
from nearfar.ask.store import Store, open_store, researcher
from nearfar.ask.store.drawing import BookletPlan
from nearfar.ask.study import Study
from nearfar.errors import FileError, NearfarWarning


@dataclass(frozen=True)
class OpenStudy:
    """A study with its database; ``password`` is set where one was just made, to be shown once."""

    study: Study
    objects: StudyObjects
    store: Store
    plan: BookletPlan
    password: str | None

    def close(self) -> None:
        """Let go of the database."""
        self.store.close()


def default_database(study: Study) -> Path:
    """The database beside a study file: study.toml has study.db."""
    return study.path.with_suffix(".db")


def open_study(study: Study, url: str | None = None, *, fresh_password: bool = False) -> OpenStudy:
    """Open the database of a study, making and filling it the first time.

    Once the questions are drawn, objects, kind and [questions] of the file may not change; everything else may.
    """
    objects = find_objects(study)
    store = open_store(url or str(default_database(study)))
    try:
        password = _fill(study, objects, store)
        if fresh_password and password is None:
            password = new_password()
            store.write_now(researcher.set_password, hash_password(password))
        crowded = store.read_now(researcher.is_crowded)
    except BaseException:
        store.close()
        raise
    blank = no_questions(study, objects.names)
    return OpenStudy(study, objects, store, BookletPlan(study, blank, crowded), password)


def _fill(study: Study, objects: StudyObjects, store: Store) -> str | None:
    """Create what is missing; the new password where the study is new."""
    if store.read_now(researcher.study_row) is None:
        password, pool, pictures = new_password(), make_pool(study, objects.names), list(objects.pictures())
        if store.write_now(researcher.create, study, objects, pool, hash_password(password), time.time()):
            for start in range(0, len(pictures), 16):
                store.write_now(researcher.add_pictures, pictures[start : start + 16])
            return password
    row = store.read_now(researcher.study_row) or {}
    if row.get("fingerprint") != study.fingerprint(objects.names):
        raise FileError(
            f"{study.path}: objects, kind or [questions] differ from those in the database, whose questions are "
            "already drawn; put them back, or name another database with --database"
        )
    if row["toml"] != study.toml.text:
        store.write_now(researcher.update_texts, study, objects.display_names)
    shown = {name: hash for name, _, hash, _ in store.read_now(researcher.object_rows)}
    if any(file and not shown[name] for name, file in zip(objects.names, objects.files, strict=True)):
        store.write_now(researcher.add_pictures, list(objects.pictures()))  # the first start was interrupted
    _warn_of_replaced(objects, shown, float(row["created"]))
    return None


def _warn_of_replaced(objects: StudyObjects, shown: dict[str, str], created: float) -> None:
    """Say where a file is newer than the study and another picture than people see."""
    files = zip(objects.names, objects.files, strict=True)
    newer = [(name, file) for name, file in files if file is not None and file.stat().st_mtime > created]
    other = [name for name, file in newer if encode_picture(file).hash != shown[name]]
    if other:
        warnings.warn(
            f"{len(other)} pictures were replaced, the first that of {other[0]!r}; people see those of the first start, "
            "which answers are about; name another database with --database to ask about the new ones",
            NearfarWarning,
            stacklevel=2,
        )
