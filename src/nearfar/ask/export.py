"""Tables for the world outside, and taking a person out of everything."""

from __future__ import annotations

import io
import json
import tomllib
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nearfar._tools.atomic import atomic_path, make_folder
from nearfar.ask.answers import Collected, collect
from nearfar.ask.store import Store, adaptive, is_postgres, open_store, read_store, researcher
from nearfar.ask.store.sqlite import copy_database, kept_copy, read_only_connection
from nearfar.ask.store.transaction import Transaction
from nearfar.ask.study import PEOPLE
from nearfar.errors import FileError, InputError, NearfarError, UnreachableError
from nearfar.io.table_writing import guard_formulas

ANY_PATH = "surrogateescape"  # the names of folders need not be UTF-8
FILES = ("answers.csv", "checks.csv", "cannot_tell.csv", "people.csv", "objects.csv", "study.toml")


def export_tables(tx: Transaction) -> dict[str, bytes]:
    """File name -> contents: answers in nearfar's own columns, checks, people, objects, and the study file.

    Answers and checks call people by random names; only people.csv knows the recruiter's ids.
    """
    collected = collect(tx)
    study = researcher.study_row(tx) or {}
    yes_or_no = pl.when("correct").then(pl.lit("yes")).otherwise(pl.lit("no"))
    objects = pl.DataFrame(
        {"object": collected.triplets.objects, "display_name": collected.display_names},
        schema={"object": pl.String, "display_name": pl.String},
    )
    tables = {
        "answers.csv": _answers(collected),
        "checks.csv": collected.checks.with_columns(yes_or_no.alias("correct")),
        "cannot_tell.csv": collected.cannot_tell,
        "people.csv": _people(tx, tomllib.loads(study["toml"]), collected.control),
        "objects.csv": objects,
    }
    return {name: _csv(table) for name, table in tables.items()} | {"study.toml": study["toml"].encode()}


def _answers(collected: Collected) -> pl.DataFrame:
    """Answers in the columns of docs/files.md, then what was on the screen."""
    triplets, names = collected.triplets, np.array(collected.triplets.objects, dtype=object)
    columns = {role: list(names[getattr(triplets, role)]) for role in ("anchor", "near", "far")}
    for role in ("statement", "participant", "seconds", "near_side", "answered_at", "rule"):
        if (values := getattr(triplets, role)) is not None:
            columns[role] = np.asarray(values).tolist()
    text = dict.fromkeys(("anchor", "near", "far", "statement", "participant", "rule"), pl.String)
    times = dict.fromkeys(("seconds", "answered_at"), pl.Float64)
    answers = pl.DataFrame(columns, schema_overrides={**text, **times})
    screens = collected.screens.select(s for s in collected.screens if s.null_count() < len(s) or not len(s))
    return answers.join(screens, on="statement", how="left", maintain_order="left")


def _people(tx: Transaction, study: dict[str, Any], control: tuple[str, ...] | None) -> pl.DataFrame:
    """Everybody, with a column for each parameter that the study keeps and for each field of its forms.

    control : who got random questions only, in an adaptive study. A field that the study file no longer has keeps its column, and so do what was tried and measured.
    """
    given, keep = researcher.form_values(tx), study.get("people", {}).get("keep", ())
    rows: list[dict[str, Any]] = []
    for values in researcher.people_rows(tx):
        person = dict(zip(PEOPLE, values, strict=True))
        name, details = person["participant"], json.loads(person["details"])
        told = {} if control is None else {"control": "yes" if name in control else "no"}
        kept = {key: details.get(key) for key in keep}
        rows.append(person | {"condition": person["condition"] or None} | told | kept | given.get(name, {}))
    fields = [*PEOPLE, *keep, *(one["name"] for one in study.get("form", ()))]
    names = dict.fromkeys([*fields, *(name for row in rows for name in row)])
    return pl.DataFrame([_column(name, [row.get(name) for row in rows]) for name in names])


def _column(name: str, values: list[Any]) -> pl.Series:
    """Numbers as they are, else text; several choices in one cell."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {int, float}:
        return pl.Series(name, values, dtype=pl.Int64 if kinds == {int} else pl.Float64, strict=False)
    texts = ["; ".join(value) if isinstance(value, list) else value for value in values]
    return pl.Series(name, [None if text is None else str(text) for text in texts], dtype=pl.String)


def _csv(table: pl.DataFrame) -> bytes:
    """A table as text: times to the millisecond; what somebody else typed is anybody's, so formulas are guarded."""
    instants = [name for name in ("answered_at", "consent", "seen") if name in table.columns]
    moments = [pl.from_epoch((pl.col(name) * 1000).round().cast(pl.Int64), "ms") for name in instants]
    as_dates = [moment.dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ") for moment in moments]
    seconds = pl.selectors.by_name("seconds", "claimed_seconds", "elapsed_seconds", require_all=False)
    return guard_formulas(table.with_columns(*as_dates, seconds.fill_nan(None).round(3))).write_csv().encode()


def export_archive(tx: Transaction) -> bytes:
    """The tables as one zip file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in export_tables(tx).items():
            archive.writestr(name, data)
    return stream.getvalue()


def export_folder(tx: Transaction, folder: Path) -> list[Path]:
    """Write the tables into a folder, each file whole or not at all."""
    make_folder(folder)
    written = []
    for name, data in export_tables(tx).items():
        with atomic_path(folder / name) as temporary:
            temporary.touch(0o600 if name == "people.csv" else 0o666)  # it has the recruiter's ids, and forms
            temporary.write_bytes(data)
        written.append(folder / name)
    return written


def erase_person(store: Store, name: str) -> list[str] | None:
    """Take a person out of the database, its logs, and every export and copy that is still where it was written.

    Returns the exports and copies that could not be written again, or None where there is no such person. What fails
    half-way is finished by the next call, whoever's name it has.
    """
    is_known = store.write_now(researcher.erase, name, np.random.default_rng())
    if not is_known and not store.read_now(adaptive.noted, researcher.ERASING):
        return None
    try:
        store.forget()
    except UnreachableError as error:
        what = f"deleted, but traces are left in the files: {error}"
        raise UnreachableError(f"{what}; erase again to finish it") from error
    lost = []
    for path in store.read_now(researcher.exports) if is_postgres(store.url) else _listed(store.url):
        try:
            if Path(path).suffix == ".db" and Path(path).exists():
                with closing(open_store(path)) as copy:
                    erase_person(copy, name)
            elif any((Path(path) / file).exists() for file in FILES):
                store.read_now(export_folder, Path(path))
        except (NearfarError, OSError):
            lost.append(path)
    if not is_postgres(store.url):
        kept_copy(Path(store.url)).unlink(missing_ok=True)  # of a version whose tables nobody erases from
    if not lost:
        store.write_now(researcher.erased)
    return lost


def export_study(database: str, folder: Path) -> list[Path]:
    """Export a study, also while it is being served; the folder is remembered, so that erasing reaches it."""
    here = str(folder.resolve())
    if is_postgres(database):
        with closing(open_store(database)) as store:
            store.write_now(researcher.add_export, here)
            return store.read_now(export_folder, folder)
    written = read_store(database, export_folder, folder)
    _list(database, here)
    return written


def backup_study(database: str, folder: Path) -> Path:
    """Copy the database of a study as it is at one moment, also while it is served; erasing reaches the copy."""
    if is_postgres(database):
        raise InputError("--database: a copy of a PostgreSQL database is made by its own pg_dump")
    target = folder / Path(database).with_suffix(".db").name
    if target.resolve() == Path(database).resolve():
        raise FileError(f"{folder}: is where the database itself is; name another folder")
    read_store(database, researcher.study_row)  # or it is said what is wrong with it
    make_folder(folder)
    with closing(read_only_connection(Path(database))) as connection:
        copy_database(connection, target)
    _list(database, str(target.resolve()))
    return target


def _list(database: str, path: str) -> None:
    """Remember an export or a copy, in a file beside the database: only the server may write into that."""
    known = _listed(database)
    if path not in known:
        lines = "\n".join([*known, path, ""])
        Path(f"{database}-exports").write_text(lines, encoding="utf-8", errors=ANY_PATH)


def _listed(database: str) -> list[str]:
    """Folders that a file's answers were exported to, and copies of it."""
    path = Path(f"{database}-exports")
    return path.read_text(encoding="utf-8", errors=ANY_PATH).splitlines() if path.exists() else []
