"""What somebody who means harm, a full disk or a careless copy may do to a study, and what must hold nevertheless."""

import contextlib
import json
import logging
import os
import shutil
import socket
import sqlite3
import time
from contextlib import closing

import pytest
from ask_tools import answer, arrive, call, opened, places, request, serving, study_file
from cli_tools import run

from nearfar.ask import guard, serve
from nearfar.ask.export import erase_person, export_study
from nearfar.ask.guard import RateLimit, RateLimits
from nearfar.ask.passwords import new_secret
from nearfar.ask.store import is_postgres, open_store, people
from nearfar.ask.store.people import Answer
from nearfar.ask.study import read_study
from nearfar.errors import FileError, InputError, NearfarWarning, UnreachableError

SMALL = {"questions": "per_person = 12\nagain = 0\nchecks = 1\neach = 3", "people": "aim = 9"}
PROLIFIC = {"questions": SMALL["questions"], "people": 'aim = 9\nrecruit = "prolific"\ncode = "X"'}


@pytest.fixture
def ready(tmp_path):
    made = opened(tmp_path, **SMALL)
    yield made
    made.close()


def is_closed(connection):
    """Whether the server ended a connection."""
    connection.settimeout(5)
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


# ---------------------------------------------------------------- requests that do not come, or come too often


def test_a_connection_without_a_request_is_ended(ready, monkeypatch):
    monkeypatch.setattr(serve, "HEADERS_WITHIN", 0.3)
    with serving(ready) as port, closing(socket.create_connection(("127.0.0.1", port))) as stalled:
        stalled.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        assert is_closed(stalled)


def test_the_oldest_waiting_connections_make_room(ready, monkeypatch):
    monkeypatch.setattr(serve, "MOST_CONNECTIONS", 5)
    with serving(ready) as port:
        stalled = [socket.create_connection(("127.0.0.1", port)) for _ in range(12)]
        try:
            assert request(port, "/")[0] == 200
            assert is_closed(stalled[0])
        finally:
            for each in stalled:
                each.close()


def test_a_body_that_does_not_come_is_given_up(ready, monkeypatch):
    monkeypatch.setattr(guard, "BODY_WITHIN", 0.3)
    head = "POST /start HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-Nearfar-Token: {}\r\nContent-Type: application/json\r\n"
    with serving(ready) as port, closing(socket.create_connection(("127.0.0.1", port))) as stalled:
        stalled.sendall((head.format(port, new_secret()) + "Content-Length: 50\r\n\r\n{").encode())
        stalled.settimeout(5)
        assert b" 400 " in stalled.recv(1000)


def test_made_up_tokens_are_counted_by_address(ready):
    limits = RateLimits(strangers=RateLimit(0.001, 5))
    with serving(ready, limits=limits) as port:
        token = new_secret()
        assert call(port, "/start", {"consent": True, "outside": {}}, token=token)[0] == 200
        codes = [call(port, "/finish", {}, token=new_secret())[0] for _ in range(8)]
        assert codes == [401] * 5 + [429] * 3
        assert call(port, "/finish", {}, token=token)[0] == 200  # who takes part is not held up


@pytest.mark.parametrize("name", ["Host", "X-Nearfar-Token"])
def test_a_header_that_comes_twice_is_refused(ready, name):
    with serving(ready) as port, closing(socket.create_connection(("127.0.0.1", port))) as twice:
        value = f"127.0.0.1:{port}" if name == "Host" else new_secret()
        own = "" if name == "Host" else f"Host: 127.0.0.1:{port}\r\n"
        twice.sendall(f"GET / HTTP/1.1\r\n{own}{name}: {value}\r\n{name}: {value}\r\n\r\n".encode())
        twice.settimeout(5)
        assert b" 400 " in twice.recv(1000)


def test_long_headers_are_refused(ready):
    with serving(ready) as port:
        assert request(port, "/", headers={"X-Long": "x" * 30_000})[0] == 431
        with closing(socket.create_connection(("127.0.0.1", port))) as endless:
            for number in range(30):
                with contextlib.suppress(OSError):  # it is ended meanwhile
                    endless.sendall(
                        b"GET / HTTP/1.1\r\n" if not number else b"X-More: " + b"x" * 1000 + b"\r\n"
                    )
                time.sleep(0.01)
            assert is_closed(endless)


def test_browsers_are_told_to_stay_with_https(ready):
    with serving(ready, public_url="https://study.example.org") as port:
        headers = request(port, "/", headers={"Host": "study.example.org"})[1]
        assert "max-age" in headers["strict-transport-security"]
    with serving(ready) as port:
        assert "strict-transport-security" not in request(port, "/")[1]


def test_the_file_for_caddy_has_timeouts():
    assert "read_header" in serve.caddyfile("https://study.example.org", 8000)


def test_lines_of_the_log_are_bounded(monkeypatch):
    from collections import deque

    from nearfar.cli import ask

    monkeypatch.setattr(ask, "_logged", deque(maxlen=100))
    record = logging.makeLogRecord({"msg": "Invalid HTTP request received."})
    assert sum(ask._harmless(record) for _ in range(5000)) == 100


@pytest.mark.parametrize(
    "body",
    [
        b'{"consent": true, "outside": {"PROLIFIC_PID": "\xed\xa0\x80"}}',
        b'{"consent": true, "outside": {"PROLIFIC_PID": "x;=cmd|\' /C calc\'!A0;"}}',
        '{"consent": true, "outside": {"PROLIFIC_PID": "＝1+1"}}'.encode(),
    ],
    ids=["half a surrogate", "a formula behind a semicolon", "a full-width sign"],
)
def test_ids_that_no_recruiter_gives_are_refused(tmp_path, body):
    ready = opened(tmp_path, **PROLIFIC)
    try:
        with serving(ready) as port:
            assert request(port, "/start", raw=body, token=new_secret())[0] == 400
    finally:
        ready.close()


def test_a_time_of_400_digits_costs_no_answer(ready):
    with serving(ready) as port:
        token = new_secret()
        call(port, "/start", {"consent": True, "outside": {}}, token=token)
        sent = {
            "id": "00000000-0000-0000-0000-000000000001",
            "place": 0,
            "choice": [0],
            "milliseconds": 10**400,
        }
        status, told = call(port, "/answers", {"answers": [sent]}, token=token)
        assert (status, told["refused"]) == (200, [])


def test_events_of_one_person_are_bounded(ready, monkeypatch):
    monkeypatch.setattr(people, "MOST_EVENTS", 3)
    arrive(ready, "a")
    for number in range(9):
        sent = Answer(f"00000000-0000-0000-0000-00000000000{number}", 0, (0,), None, None, None)
        ready.store.write_now(people.save_answers, "a", [sent], ready.plan, 0.0)
    assert ready.store.read_now(lambda tx: tx.rows("SELECT count(*) FROM event"))[0][0] == 3


# ---------------------------------------------------------------- the file of the database


@pytest.mark.skipif(
    os.name == "nt", reason="Windows has no such permissions, and lets nobody delete open files"
)
def test_the_database_is_its_owners(ready, tmp_path):
    arrive(ready, "a")
    for name in ("study.db", "study.db-wal", "study.db-lock"):
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


def everything_in(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_erasing_beside_a_reader_says_what_is_left_and_a_retry_finishes_it(tmp_path, monkeypatch):
    ready = opened(tmp_path, **PROLIFIC)
    monkeypatch.setattr("nearfar.ask.store.sqlite.PATIENCE", 0.2)
    try:
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
    finally:
        ready.close()


def test_erasing_on_a_full_disk_is_finished_by_a_retry(tmp_path, monkeypatch):
    ready = opened(tmp_path, **PROLIFIC)
    try:
        arrive(ready, "a", outside="recruiters-id")
        export_study(ready.study, None, tmp_path / "out")
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
    finally:
        ready.close()


def test_postgresql_waits_for_no_lock_for_ever(new_database, tmp_path):
    import psycopg

    url = new_database()
    ready = opened(tmp_path, url, **SMALL)
    try:
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
    finally:
        ready.close()


# ---------------------------------------------------------------- addresses with passwords


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:secretword@127.0.0.1:1/x",
        "postgresql://ann:secret@word@127.0.0.1:1/x",
        "host=127.0.0.1 port=1 user=ann password=secretword dbname=x",
        "postgresql://127.0.0.1:1/x?user=ann&password=secretword",
        "postgresql://ann:secretword%zz@127.0.0.1:1/x",
    ],
)
def test_a_password_in_an_address_is_not_printed(tmp_path, address, monkeypatch, capsys):
    pytest.importorskip("psycopg")
    monkeypatch.chdir(tmp_path)
    assert is_postgres(address)
    with pytest.raises(InputError) as wrong:
        open_store(address)
    assert "secret" not in str(wrong.value)
    path = study_file(tmp_path, **SMALL)
    code, out, err = run(monkeypatch, capsys, "ask", "export", path, "--database", address)
    assert code == 2 and "secret" not in out + err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["study.toml"]


# ---------------------------------------------------------------- the study file and its pictures


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "[0x" + "f" * 5000 + "]"])
def test_a_number_of_5000_digits_is_one_sentence(tmp_path, number):
    with pytest.raises(FileError, match=r"seed|TOML"):
        read_study(study_file(tmp_path, questions=f"seed = {number}"))
    (tmp_path / "own.toml").write_text(f"next = {number}")
    with pytest.raises(FileError, match=r"next|TOML"):
        read_study(study_file(tmp_path, top='language = "own.toml"'))


def test_replaced_pictures_are_said_and_names_of_files_are_not_shown(tmp_path, recwarn):
    from PIL import Image

    (tmp_path / "photos").mkdir()
    for number in range(12):
        Image.new("RGB", (8, 8), (20 * number, 0, 0)).save(tmp_path / "photos" / f"o{number}.png")
    ready = opened(tmp_path, objects="photos", **SMALL)
    try:
        with serving(ready) as port:
            assert json.loads(request(port, "/study.json")[2])["show"] == "pictures"
    finally:
        ready.close()
    opened(tmp_path, objects="photos", **SMALL).close()
    assert not [each for each in recwarn if issubclass(each.category, NearfarWarning)]
    Image.new("RGB", (8, 8), (0, 200, 0)).save(tmp_path / "photos" / "o3.png")
    os.utime(tmp_path / "photos" / "o3.png", (time.time() + 5, time.time() + 5))
    with pytest.warns(NearfarWarning, match="replaced"):
        opened(tmp_path, objects="photos", **SMALL).close()


def test_a_picture_is_opened_in_the_formats_we_name_only(tmp_path, monkeypatch):
    """PostScript would be run where Ghostscript is installed, whatever its file is called."""
    from PIL import EpsImagePlugin

    started = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *program: started.append(program))
    (tmp_path / "photos").mkdir()
    program = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
    for number in range(12):
        (tmp_path / "photos" / f"o{number}.png").write_bytes(program)
    with pytest.raises(FileError, match="not a picture"):
        opened(tmp_path, objects="photos", **SMALL)
    assert started == []
