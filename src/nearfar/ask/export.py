"""Tables for the world outside, and taking a person out of everything."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nearfar.ask.answers import collect
from nearfar.ask.prepare import default_database
from nearfar.ask.store import Store, is_postgres, researcher
from nearfar.ask.store.transaction import Transaction
from nearfar.ask.study import Study
from nearfar.errors import FileError
from nearfar.io import write_triplets
from nearfar.io.table_writing import guard_formulas

__all__ = ["erase_person", "export_archive", "export_folder", "export_study", "export_tables"]

ANY_PATH = "surrogateescape"  # the names of folders need not be UTF-8
FILES = ("answers.csv", "checks.csv", "people.csv", "objects.csv", "study.toml")


def export_tables(tx: Transaction) -> dict[str, bytes]:
    """File name -> contents: answers in nearfar's own columns, checks, people, objects, and the study file.

    Answers and checks call people by random names; only people.csv knows the recruiter's ids.
    """
    collected = collect(tx)
    study = researcher.study_row(tx) or {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.csv"
        write_triplets(collected.triplets, file)
        answers = file.read_bytes()
    names = collected.triplets.objects
    checks = [
        [
            check.participant,
            check.place,
            " | ".join(check.shown),
            " | ".join(check.chosen),
            "yes" if check.correct else "no",
            "" if check.seconds is None else f"{check.seconds:.3f}",
            f"{check.answered_at:.3f}",
        ]
        for check in collected.checks
    ]
    people = [
        [name, outside or "", state, answers, places, code or "", f"{consent:.3f}", f"{seen:.3f}", details]
        for name, outside, details, consent, seen, state, code, _, answers, places in researcher.people_rows(
            tx
        )
    ]
    return {
        "answers.csv": answers,
        "checks.csv": _csv(
            ["participant", "place", "shown", "chosen", "correct", "seconds", "answered_at"], checks
        ),
        "people.csv": _csv(
            ["participant", "outside", "state", "answers", "places", "code", "consent", "seen", "details"],
            people,
        ),
        "objects.csv": _csv(
            ["object", "display_name"],
            [list(pair) for pair in zip(names, collected.display_names, strict=True)],
        ),
        "study.toml": str(study["toml"]).encode(),
    }


def _csv(header: list[str], rows: list[list[Any]]) -> bytes:
    """A table of text; what a recruiter's link says of a person is anybody's, so formulas are guarded."""
    cells = [[None if cell == "" else str(cell) for cell in row] for row in rows]
    table = pl.DataFrame(cells, schema=dict.fromkeys(header, pl.String), orient="row")
    return guard_formulas(table).write_csv().encode()


def export_archive(tx: Transaction) -> bytes:
    """The tables as one zip file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in export_tables(tx).items():
            archive.writestr(name, data)
    return stream.getvalue()


def export_folder(tx: Transaction, folder: Path) -> list[Path]:
    """Write the tables into a folder, each file whole or not at all."""
    from nearfar._tools.atomic import atomic_path, make_folder

    make_folder(folder)
    written = []
    for name, data in export_tables(tx).items():
        with atomic_path(folder / name) as temporary:
            Path(temporary).write_bytes(data)
        written.append(folder / name)
    return written


def erase_person(store: Store, name: str) -> list[str] | None:
    """Take a person out of the database, its logs and every export that is still where it was written.

    Returns the folders of exports that could not be written again, or None where there is no such person.
    """
    if not store.write_now(researcher.erase, name, np.random.default_rng()):
        return None
    store.forget()
    lost = []
    for path in {
        *store.read_now(researcher.exports),
        *([] if is_postgres(store.url) else _listed(store.url)),
    }:
        folder = Path(path)
        if not any((folder / file).exists() for file in FILES):
            continue
        try:
            store.read_now(export_folder, folder)
        except (FileError, OSError):
            lost.append(path)
    return lost


def export_study(study: Study, url: str | None, folder: Path) -> list[Path]:
    """Export a study, also while it is being served; the folder is remembered, so that erasing reaches it."""
    database = url or str(default_database(study))
    if is_postgres(database):
        from nearfar.ask.store.postgres import PostgresStore

        store = PostgresStore(database)
        try:
            store.write_now(researcher.add_export, str(folder.resolve()))
            return store.read_now(export_folder, folder)
        finally:
            store.close()
    from nearfar.ask.store.sqlite import read_file

    written = read_file(Path(database), export_folder, folder)
    known = _listed(database)
    if str(folder.resolve()) not in known:  # beside the database: only the server may write into it
        _list_of(database).write_text(
            "\n".join([*known, str(folder.resolve()), ""]), encoding="utf-8", errors=ANY_PATH
        )
    return written


def _list_of(database: str) -> Path:
    return Path(f"{database}-exports")


def _listed(database: str) -> list[str]:
    """Folders that a file's answers were exported to."""
    path = _list_of(database)
    return path.read_text(encoding="utf-8", errors=ANY_PATH).splitlines() if path.exists() else []
