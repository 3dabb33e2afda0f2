"""Tables for the world outside, and taking a person out of everything."""

from __future__ import annotations

import io
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl

from nearfar.ask.answers import collect
from nearfar.ask.prepare import default_database
from nearfar.ask.store import Store, is_postgres, open_store, read_store, researcher
from nearfar.ask.store.transaction import Transaction
from nearfar.ask.study import Study
from nearfar.errors import FileError, UnreachableError
from nearfar.io import write_triplets
from nearfar.io.table_writing import guard_formulas

ANY_PATH = "surrogateescape"  # the names of folders need not be UTF-8
FILES = ("answers.csv", "checks.csv", "people.csv", "objects.csv", "study.toml")


PEOPLE = {
    "participant": pl.String,
    "outside": pl.String,
    "state": pl.String,
    "answers": pl.Int64,
    "places": pl.Int64,
    "code": pl.String,
    "consent": pl.Float64,
    "seen": pl.Float64,
    "details": pl.String,
    "claimed_seconds": pl.Float64,
    "elapsed_seconds": pl.Float64,
}


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
    yes_or_no = pl.when("correct").then(pl.lit("yes")).otherwise(pl.lit("no"))
    people = pl.DataFrame(researcher.people_rows(tx), schema=PEOPLE, orient="row")
    objects = pl.DataFrame(
        {"object": collected.triplets.objects, "display_name": collected.display_names},
        schema={"object": pl.String, "display_name": pl.String},
    )
    return {
        "answers.csv": answers,
        "checks.csv": _csv(collected.checks.with_columns(yes_or_no.alias("correct"))),
        "people.csv": _csv(people),
        "objects.csv": _csv(objects),
        "study.toml": str(study["toml"]).encode(),
    }


def _csv(table: pl.DataFrame) -> bytes:
    """A table as text; what a recruiter's link says of a person is anybody's, so formulas are guarded."""
    return guard_formulas(table).write_csv(float_precision=3).encode()


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
            temporary.touch(0o600 if name == "people.csv" else 0o666)  # it has the recruiter's ids
            temporary.write_bytes(data)
        written.append(folder / name)
    return written


def erase_person(store: Store, name: str) -> list[str] | None:
    """Take a person out of the database, its logs and every export that is still where it was written.

    Returns the folders of exports that could not be written again, or None where there is no such person. What fails
    half-way is finished by the next call, whoever's name it has.
    """
    is_known = store.write_now(researcher.erase, name, np.random.default_rng())
    if not is_known and not store.read_now(researcher.is_erasing):
        return None
    try:
        store.forget()
    except UnreachableError as error:
        raise UnreachableError(
            f"deleted, but traces are left in the files: {error}; erase again to finish it"
        ) from error
    lost = []
    for path in store.read_now(researcher.exports) if is_postgres(store.url) else _listed(store.url):
        try:
            if any((Path(path) / file).exists() for file in FILES):
                store.read_now(export_folder, Path(path))
        except (FileError, OSError):
            lost.append(path)
    if not lost:
        store.write_now(researcher.erased)
    return lost


def export_study(study: Study, url: str | None, folder: Path) -> list[Path]:
    """Export a study, also while it is being served; the folder is remembered, so that erasing reaches it."""
    database, here = url or str(default_database(study)), str(folder.resolve())
    if is_postgres(database):
        with closing(open_store(database)) as store:
            store.write_now(researcher.add_export, here)
            return store.read_now(export_folder, folder)
    written = read_store(database, export_folder, folder)
    known = _listed(database)
    if here not in known:  # beside the database: only the server may write into it
        lines = "\n".join([*known, here, ""])
        Path(f"{database}-exports").write_text(lines, encoding="utf-8", errors=ANY_PATH)
    return written


def _listed(database: str) -> list[str]:
    """Folders that a file's answers were exported to."""
    path = Path(f"{database}-exports")
    return path.read_text(encoding="utf-8", errors=ANY_PATH).splitlines() if path.exists() else []
