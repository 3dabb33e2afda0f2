"""From a study file to an open database that fits it."""

from __future__ import annotations

import tomllib
import warnings
from dataclasses import dataclass

from nearfar._tools.progress import track
from nearfar._tools.text import count, listed
from nearfar.ask.objects import StudyObjects, encode_picture, find_objects
from nearfar.ask.passwords import hash_password, new_password
from nearfar.ask.pool import make_pool, no_questions
from nearfar.ask.store import Store, open_store, researcher
from nearfar.ask.store.drawing import BookletPlan
from nearfar.ask.store.transaction import Row
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


def open_study(study: Study, url: str | None = None, *, fresh_password: bool = False) -> OpenStudy:
    """Open the database of a study, making and filling it the first time.

    Once the questions are drawn, objects, kind and [questions] of the file may not change; everything else may.
    """
    objects = find_objects(study)
    store = open_store(url or str(study.path.with_suffix(".db")))
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
        if store.write_now(researcher.create, study, objects, pool, pictures, hash_password(password)):
            return password
    row = store.read_now(researcher.study_row) or {}
    if row.get("fingerprint") != study.fingerprint(objects.names):
        differs = _difference(study, objects, row["toml"], store.read_now(researcher.object_rows))
        remedy = "whose questions are already drawn; put it back, or name another database with --database"
        raise FileError(f"{study.path}: differs from the database, {remedy}: {differs}")
    if row["toml"] != study.toml.text:
        store.write_now(researcher.update_texts, study, objects.display_names)
    shown = {name: hash for name, _, hash, _ in store.read_now(researcher.object_rows)}
    _warn_of_replaced(objects, shown, float(row["created"]))
    return None


def _difference(study: Study, objects: StudyObjects, text: str, rows: list[Row]) -> str:
    """What differs from the study file and the objects that a database was made of."""
    before, now = tuple(row[0] for row in rows), objects.names
    there, here = dict.fromkeys(before), dict.fromkeys(now)
    changes = ("without", there.keys() - here.keys()), ("with", here.keys() - there.keys())
    found = [f"{word} {listed(sorted(names), 5)}" for word, names in changes if names]
    if not found and before != now:
        found = ["the objects are in another order"]
    old, own = (
        {"kind": values.get("kind"), "[[condition]]": values.get("condition"), **values.get("questions", {})}
        for values in (tomllib.loads(text), study.toml.values)
    )
    return "; ".join([*found, *(key for key in old | own if old.get(key) != own.get(key))])


def _warn_of_replaced(objects: StudyObjects, shown: dict[str, str], created: float) -> None:
    """Say where a file is newer than the study and another picture than people see."""
    files = zip(objects.names, objects.files, strict=True)
    newer = [(name, file) for name, file in files if file is not None and file.stat().st_mtime > created]
    other = [name for name, file in track(newer, "pictures") if encode_picture(file).hash != shown[name]]
    if other:
        warnings.warn(
            f"{count(len(other), 'file')} replaced, the first that of {other[0]!r}; people see those of the first start, "
            "which answers are about; name another database with --database to ask about the new ones",
            NearfarWarning,
            stacklevel=2,
        )
