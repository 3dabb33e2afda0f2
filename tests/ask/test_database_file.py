"""The file of a study's database: whose it is, copied, deleted, and what erasing leaves."""

import os
import shutil
import sqlite3
import time
from contextlib import closing

import pytest
from ask_tools import PROLIFIC, SMALL, answer, arrive, everything_in, places, study_file
from PIL import Image

from nearfar.ask.export import erase_person, export_study
from nearfar.ask.prepare import open_study
from nearfar.ask.store import researcher
from nearfar.ask.store.transaction import Transaction
from nearfar.ask.study import read_study
from nearfar.errors import UnreachableError


@pytest.mark.skipif(
    os.name == "nt", reason="Windows has no such permissions, and lets nobody delete open files"
)
def test_the_database_is_its_owners(ready, tmp_path):
    arrive(ready, "a")
    export_study(ready.store.url, tmp_path)
    for name in ("study.db", "study.db-wal", "study.db-lock", "people.csv"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0


def test_a_copy_of_the_file_alone_has_the_answers(ready, tmp_path):
    arrive(ready, "a")
    answer(ready, "a", places(ready, "a"))
    end = time.monotonic() + 20
    count = 0
    while count < 12 and time.monotonic() < end:
        time.sleep(0.2)
        shutil.copy(tmp_path / "study.db", tmp_path / "copy.db")
        with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
            names = [name for (name,) in copy.execute("SELECT name FROM sqlite_master")]
            count = copy.execute("SELECT count(*) FROM answer").fetchone()[0] if "answer" in names else 0
    assert count == 12


@pytest.mark.skipif(
    os.name == "nt", reason="Windows has no such permissions, and lets nobody delete open files"
)
def test_nothing_is_confirmed_into_a_deleted_file(ready, tmp_path):
    arrive(ready, "a")
    (tmp_path / "study.db").unlink()
    with pytest.raises(UnreachableError, match="deleted"):
        answer(ready, "a", places(ready, "a"))


def test_erasing_beside_a_reader_says_what_is_left_and_a_retry_finishes_it(make, tmp_path, monkeypatch):
    ready = make(**PROLIFIC)
    monkeypatch.setattr("nearfar.ask.store.sqlite.PATIENCE", 0.2)
    arrive(ready, "a", outside="recruiters-id")
    answer(ready, "a", places(ready, "a"))
    ready.store._writer.execute("PRAGMA busy_timeout = 200")
    with closing(sqlite3.connect(tmp_path / "study.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM answer").fetchone()
        with pytest.raises(UnreachableError, match="traces"):
            erase_person(ready.store, "recruiters-id")
        arrive(ready, "b")  # others go on meanwhile
        reader.execute("ROLLBACK")
    assert erase_person(ready.store, "recruiters-id") == []
    assert b"recruiters-id" not in everything_in(tmp_path)
    assert erase_person(ready.store, "recruiters-id") is None


def test_erasing_on_a_full_disk_is_finished_by_a_retry(make, tmp_path, monkeypatch):
    ready = make(**PROLIFIC)
    arrive(ready, "a", outside="recruiters-id")
    export_study(ready.store.url, tmp_path / "out")
    forget = ready.store.forget

    def full():
        raise UnreachableError("database or disk is full")

    monkeypatch.setattr(ready.store, "forget", full)
    with pytest.raises(UnreachableError, match="traces"):
        erase_person(ready.store, "recruiters-id")
    monkeypatch.setattr(ready.store, "forget", forget)
    assert b"recruiters-id" in (tmp_path / "out" / "people.csv").read_bytes()
    assert erase_person(ready.store, "recruiters-id") == []
    assert b"recruiters-id" not in everything_in(tmp_path)


def test_postgresql_waits_for_no_lock_for_ever(new_database, make):
    import psycopg

    url = new_database()
    ready = make(url, **SMALL)
    arrive(ready, "a", outside="recruiters-id")
    limits = ready.store.read_now(
        lambda tx: [tx.rows(f"SHOW {name}_timeout")[0][0] for name in ("lock", "statement")]
    )
    assert "0" not in limits
    with psycopg.connect(url) as other:
        other.execute("SELECT count(*) FROM answer")
        with pytest.raises(UnreachableError, match="traces"):
            erase_person(ready.store, "recruiters-id")
    assert erase_person(ready.store, "recruiters-id") == []


def test_a_first_start_that_is_interrupted_leaves_nothing(tmp_path, monkeypatch):
    """Else the pictures would be missing, and nobody would know the password."""
    (tmp_path / "photos").mkdir()
    for shade in range(4):
        Image.new("RGB", (4, 4), (shade, 0, 0)).save(tmp_path / "photos" / f"{shade}.png")
    study = read_study(
        study_file(tmp_path, objects="photos", questions="per_person = 3\nagain = 0\nchecks = 0")
    )
    insert = Transaction.insert

    def interrupted(self, table, **values):
        if table == "picture":
            raise OSError("killed")
        return insert(self, table, **values)

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "insert", interrupted)
        with pytest.raises(OSError, match="killed"):
            open_study(study)
    with closing(open_study(study)) as ready:
        assert ready.password is not None
        assert all(row[2] for row in ready.store.read_now(researcher.object_rows))
