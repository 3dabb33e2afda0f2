"""From a study file to an open database that fits it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from nearfar.ask.objects import StudyObjects, find_objects
from nearfar.ask.passwords import hash_password, new_password
from nearfar.ask.pool import make_pool, no_questions
from nearfar.ask.store import Store, open_store, researcher
from nearfar.ask.store.drawing import BookletPlan
from nearfar.ask.store.schema import VERSION
from nearfar.ask.study import Study
from nearfar.errors import FileError

__all__ = ["OpenStudy", "default_database", "open_study"]


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
    row = store.read_now(researcher.study_row)
    password = None
    if row is None:
        password = new_password()
        pool = make_pool(study, objects.names)
        pictures = list(objects.pictures())
        made = store.write_now(researcher.create, study, objects, pool, hash_password(password), time.time())
        if made:
            for start in range(0, len(pictures), 16):
                store.write_now(researcher.add_pictures, pictures[start : start + 16])
            return password
        row, password = store.read_now(researcher.study_row), None
    _check_same(study, objects, row or {})
    if row and row["toml"] != study.text:
        store.write_now(researcher.update_texts, study, objects.display_names)
    shown = {name: hash for name, _, hash in store.read_now(researcher.object_rows)}
    if any(
        file is not None and not shown[name] for name, file in zip(objects.names, objects.files, strict=True)
    ):
        store.write_now(researcher.add_pictures, list(objects.pictures()))  # the first start was interrupted
    return password


def _check_same(study: Study, objects: StudyObjects, row: dict[str, object]) -> None:
    if row.get("version") != VERSION:
        raise FileError(
            f"{study.path}: the database was made by another version of nearfar "
            f"(its tables have version {row.get('version')}, expected {VERSION}); export it with that version"
        )
    if row.get("fingerprint") != study.fingerprint(objects.names):
        raise FileError(
            f"{study.path}: objects, kind or [questions] differ from those in the database, whose questions are "
            "already drawn; put them back, or name another database with --database"
        )
