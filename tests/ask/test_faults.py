"""Servers are killed, disks are full: nothing confirmed is lost, nothing doubled. The long runs are in benchmarks."""

import asyncio
import contextlib
import gc
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import numpy as np
import pytest
from ask_tools import (
    answer,
    arrive,
    call,
    check_invariants,
    free_port,
    opened,
    places,
    run_all,
    serving,
    spread,
)
from benchmarks.ask_faults import run_kills

from nearfar.ask import app
from nearfar.ask.guard import RateLimit, RateLimits
from nearfar.ask.passwords import new_secret
from nearfar.ask.prepare import open_study
from nearfar.ask.rehearse import demo_study
from nearfar.ask.serve import serve
from nearfar.ask.store import drawing, open_store, people, researcher
from nearfar.ask.store.people import Answer
from nearfar.ask.study import read_study
from nearfar.errors import FileError

PARTS = {
    "questions": "per_person = 24\nagain = 0.25\nchecks = 2\neach = 3",
    "people": "aim = 12\nidle_minutes = 10",
}


def test_killing_the_server_loses_and_doubles_nothing():
    outcome = run_kills(6, people=6)
    assert (outcome.lost, outcome.changed, outcome.doubled, outcome.wrong_loads) == (0, 0, 0, 0)
    assert outcome.stored == outcome.confirmed >= 360 and outcome.spread <= 1
    assert outcome.forms == 2 * outcome.people >= 12


def test_killing_one_of_two_processes_on_postgresql(new_database):
    outcome = run_kills(4, new_database(), processes=2, people=6)
    assert (outcome.lost, outcome.changed, outcome.doubled, outcome.wrong_loads) == (0, 0, 0, 0)
    assert outcome.stored == outcome.confirmed >= 360 and outcome.spread <= 1


def test_a_second_process_starts_beside_somebody_who_answers(new_database):
    """It waits for nobody, so that the two can never wait for each other."""
    import psycopg

    url = new_database()
    open_store(url).close()
    with psycopg.connect(url) as other:
        other.execute("UPDATE participant SET seen = 0")  # held until the end of the transaction
        second = open_store(f"{url}&options=-c%20lock_timeout%3D2s")
        assert second.write_now(researcher.study_row) is None  # it works, and no study is in it yet
        second.close()


STARTING = """
import os, signal, sys
from pathlib import Path
from nearfar.ask.prepare import open_study
from nearfar.ask.serve import serve
from nearfar.ask.study import read_study

def started():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except SystemExit:  # as an import does that falls back to another package
        pass

signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))
ready = open_study(read_study(Path(sys.argv[1])))
try:
    serve(ready, port=int(sys.argv[2]), started=started)
finally:
    ready.close()
"""


def test_a_server_that_is_told_to_stop_while_it_starts_stops(tmp_path):
    study = demo_study(tmp_path)[0]
    done = subprocess.run(
        [sys.executable, "-c", STARTING, study.path, str(free_port())],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (143, "")


def test_ctrl_c_is_for_the_server_and_not_for_what_computes_beside_it(ready):
    async def group():
        computer = app._Computer()
        try:
            await computer.ask(database=ready.store.url, features=[])
            return os.getpgid(computer.process.pid)
        finally:
            await computer.end()

    assert asyncio.run(group()) != os.getpgid(0)


# ---------------------------------------------------------------- a disk that is full, or may not be written


def test_the_garbage_collector_leaves_libraries_alone_while_people_wait(ready, monkeypatch):
    seen = []
    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: seen.append(gc.get_freeze_count()))
    gc.unfreeze()
    serve(ready, port=free_port())
    gc.unfreeze()
    assert seen[0] > 10_000


@pytest.fixture
def small_disk(tmp_path):
    """A file system of four megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", place], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"NO TESTS OF A FULL DISK: only root may mount one ({done.stderr.strip()})")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def fill(path):
    """Until nothing more fits."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass


def one(place):
    return {"id": str(uuid.uuid4()), "place": place, "choice": [0], "milliseconds": 900, "away": 0}


def test_a_disk_that_is_full_or_read_only_is_waited_for(small_disk, caplog):
    ready = opened(small_disk, **PARTS)
    try:
        with serving(ready, limits=RateLimits(requests=RateLimit(1e9, 1e9))) as port:
            token = new_secret()
            call(port, "/start", {"consent": True, "outside": {}}, token=token)
            first = one(0)
            assert call(port, "/answers", {"answers": [first]}, token=token)[1]["saved"] == [first["id"]]
            ballast = small_disk / "ballast"
            fill(ballast)
            refused, saved = [], [first["id"]]
            for place in range(1, 24):
                sent = one(place)
                status, told = call(port, "/answers", {"answers": [sent]}, token=token)
                if status == 503:
                    refused.append(sent)
                    assert told["error"].startswith("Your answers cannot be saved at the moment")
                else:
                    saved += told["saved"]
            assert refused
            assert (
                caplog.text.count("an answer could not be saved and will be sent again") == 1
            )  # not once per answer
            assert "Traceback" not in caplog.text
            ballast.unlink()
            for sent in refused:
                saved += call(port, "/answers", {"answers": [sent]}, token=token)[1]["saved"]
            stored = ready.store.read_now(lambda tx: [row[0] for row in tx.rows("SELECT id FROM answer")])
            assert sorted(stored) == sorted(saved) and len(saved) == 24
            check_invariants(ready)
    finally:
        ready.close()


def test_a_study_on_a_read_only_disk_is_one_sentence(small_disk):
    opened(small_disk, **PARTS).close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    try:
        with pytest.raises(FileError, match=r"study\.db: cannot be written, read-only file system"):
            open_study(read_study(small_disk / "study.toml"))
    finally:
        subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)


# ---------------------------------------------------------------- PostgreSQL, several at once


def test_two_stores_on_one_server_draw_evenly_and_save_once(tmp_path, new_database):
    """Two processes' worth of connections: everybody starts at once, every answer is sent to both at the same time."""
    url = new_database()
    stores = [opened(tmp_path, url, **PARTS) for _ in range(2)]
    assert stores[0].password and stores[1].password is None
    rng = np.random.default_rng(0)
    try:
        run_all([lambda i=i: arrive(stores[i % 2], f"t{i}", outside=f"o{i}", now=0.0) for i in range(24)])
        assert spread(stores[0], "load") <= 1
        check_invariants(stores[0])

        def send(number):
            token = f"t{number}"
            held = places(stores[0], token)[: 24 - number % 3]
            sent = [Answer(str(uuid.uuid4()), p["place"], (0,), 1.0, 0.0, None) for p in held]
            for ready in stores:
                told = ready.store.write_now(
                    people.save_answers, token, sent, ready.plan, 100.0 * (number % 2)
                )
                assert told["refused"] == []

        release = [lambda: stores[0].store.write_now(drawing.release_idle, 50.0, rng)] * 4
        run_all([lambda i=i: send(i) for i in range(24)] + release)
        check_invariants(stores[1], late=True)
        run_all([lambda i=i: arrive(stores[i % 2], f"t{i}", now=500.0) for i in range(24)])
        check_invariants(stores[1], late=True)
        for number in range(24):
            answer(stores[1], f"t{number}", places(stores[1], f"t{number}"), now=600.0)
        check_invariants(stores[1], late=True)
        assert spread(stores[1]) <= 2
        assert [ready.store.lead() for ready in stores] == [True, False]
        stores[0].close()
        end = time.monotonic() + 20
        while not stores[1].store.lead():  # the server notices in a moment that the other is gone
            assert time.monotonic() < end
            time.sleep(0.05)
        assert stores[1].store.write_now(researcher.erase, "o3", rng)
        stores[1].store.forget()
        assert not stores[1].store.write_now(researcher.erase, "o3", rng)
        check_invariants(stores[1], late=True)
    finally:
        for ready in stores:
            ready.close()


def test_more_at_once_than_postgresql_has_threads_for(make, new_database):
    ready = make(new_database(), **PARTS)

    async def at_once():
        store = ready.store
        return await asyncio.gather(*(f(researcher.study_row) for f in 15 * [store.read, store.write]))

    assert len(asyncio.run(asyncio.wait_for(at_once(), 30))) == 30


def test_what_is_erased_is_not_in_the_tables_files(make, new_database):
    """In the files of the tables; the server's own log is its administrator's (docs/ask.md)."""
    import psycopg

    url = new_database()
    ready = make(url, **PARTS)
    arrive(ready, "SECRETTOKEN", outside="SECRETOUTSIDE")
    sent = answer(ready, "SECRETTOKEN", places(ready, "SECRETTOKEN"))

    def traces():
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CHECKPOINT")
            folder = connection.execute("SHOW data_directory").fetchone()[0]
            own = connection.execute(
                "SELECT oid FROM pg_database WHERE datname = current_database()"
            ).fetchone()[0]
        held = b"".join(
            path.read_bytes() for path in Path(f"{folder}/base/{own}").iterdir() if path.is_file()
        )
        return [word for word in (b"SECRETOUTSIDE", sent[0].id.encode()) if word in held]

    assert len(traces()) == 2
    assert ready.store.write_now(researcher.erase, "SECRETOUTSIDE", np.random.default_rng(0))
    ready.store.forget()
    assert traces() == []
