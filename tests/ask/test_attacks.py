"""What somebody who means harm, a full disk or a careless copy may do to a study, and what must hold nevertheless."""

import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from ask_tools import (
    PROLIFIC,
    SMALL,
    answer,
    arrive,
    call,
    free_port,
    opened,
    places,
    request,
    serving,
    study_file,
)
from cli_tools import run

from nearfar.ask import guard, serve
from nearfar.ask.guard import RateLimit, RateLimits
from nearfar.ask.passwords import new_secret
from nearfar.ask.store import is_postgres, open_store, people
from nearfar.ask.store.people import Answer
from nearfar.ask.study import read_study
from nearfar.ask.texts import STATIC
from nearfar.errors import FileError, InputError, NearfarWarning

HOSTILE_SQL = {
    "views": """ALTER TABLE answer RENAME TO kept; CREATE VIEW answer AS WITH RECURSIVE n(x) AS
        (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS participant FROM n""",
    "computed": "ALTER TABLE object ADD COLUMN more AS (hex(zeroblob(8000000)))",
    "too big": "UPDATE study SET toml = zeroblob(17000000)",
    "version 7": "UPDATE study SET version = 7",
}


@pytest.mark.parametrize("word", HOSTILE_SQL)
def test_a_hostile_database_is_one_sentence(ready, tmp_path, word, monkeypatch, capsys):
    arrive(ready, "a")
    answer(ready, "a", places(ready, "a"))
    ready.close()
    path = next(tmp_path.glob("*.db"))
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(HOSTILE_SQL[word])
    code, _, err = run(monkeypatch, capsys, "check", path)
    assert code == 2 and word in err and err.count("\n") == 1


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
        stalled = [socket.create_connection(("127.0.0.1", port)) for _ in range(150)]  # at once
        try:
            assert [request(port, "/")[0] for _ in range(5)] == [200] * 5
            assert is_closed(stalled[0])
        finally:
            for each in stalled:
                each.close()


def test_requests_whose_body_does_not_come_make_room_too(ready, monkeypatch):
    monkeypatch.setattr(serve, "MOST_CONNECTIONS", 5)
    head = "POST /admin/login HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nOrigin: http://127.0.0.1:{0}\r\n"
    with serving(ready) as port, contextlib.ExitStack() as open_ones:
        for _ in range(20):
            stalled = open_ones.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
            body = "Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
            stalled.sendall((head.format(port) + body).encode())
        time.sleep(0.2)
        assert [request(port, "/")[0] for _ in range(5)] == [200] * 5


def test_a_body_that_does_not_come_is_given_up(ready, monkeypatch):
    monkeypatch.setattr(guard, "BODY_WITHIN", 0.3)
    head = "POST /start HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-Nearfar-Token: {}\r\nContent-Type: application/json\r\n"
    with serving(ready) as port, closing(socket.create_connection(("127.0.0.1", port))) as stalled:
        stalled.sendall((head.format(port, new_secret()) + "Content-Length: 50\r\n\r\n{").encode())
        stalled.settimeout(5)
        assert b" 400 " in stalled.recv(1000)


def test_replies_that_nobody_takes_are_given_up(ready, monkeypatch):
    monkeypatch.setattr(serve, "HEADERS_WITHIN", 0.3)
    size = 20_000_000  # more than the system keeps for a connection
    monkeypatch.setitem(STATIC, "ask.js", ("text/javascript", bytes(size)))
    with serving(ready) as port, closing(socket.create_connection(("127.0.0.1", port))) as stalled:
        stalled.sendall(f"GET /static/ask.js HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        time.sleep(2)
        stalled.settimeout(5)
        taken = 0
        with contextlib.suppress(ConnectionResetError):
            while data := stalled.recv(1 << 20):
                taken += len(data)
        assert 0 < taken < size


def test_requests_that_do_not_wait_for_replies_are_bounded(ready):
    """Each takes memory until it is its turn, which never comes where replies are not read."""
    with serving(ready) as port, closing(socket.create_connection(("127.0.0.1", port))) as many:
        with contextlib.suppress(OSError):  # it is ended while we send
            many.sendall(1000 * f"GET /static/ask.js HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        replies = 0
        with contextlib.suppress(ConnectionResetError):
            while data := many.recv(1 << 20):
                replies += data.count(b" 200 OK")
        assert replies < 100 and request(port, "/")[0] == 200


def test_made_up_tokens_are_counted_by_address(ready):
    limits = RateLimits(strangers=RateLimit(0.001, 5))
    with serving(ready, limits=limits) as port:
        token = new_secret()
        assert call(port, "/start", {"consent": True, "outside": {}}, token=token)[0] == 200
        codes = [call(port, "/finish", {}, token=new_secret())[0] for _ in range(3)]
        codes += [call(port, "/booklet", token=new_secret())[0] for _ in range(5)]
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


def test_lines_of_the_log_are_bounded(tmp_path):
    """Also those of the server that we build on."""
    port, path = free_port(), study_file(tmp_path, **SMALL)
    command = [sys.executable, "-m", "nearfar", "ask", path, "--port", str(port)]
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            end = time.monotonic() + 60
            while b"password" not in (tmp_path / "log").read_bytes():
                assert time.monotonic() < end and server.poll() is None
                time.sleep(0.1)
            for _ in range(300):
                with closing(socket.create_connection(("127.0.0.1", port))) as garbled:
                    garbled.sendall(b"\x16\x03\x01\r\n\r\n")
                    garbled.recv(1000)
        finally:
            server.terminate()
    lines = (tmp_path / "log").read_text().splitlines()
    assert 50 < len(lines) < 120 and any("Invalid HTTP" in line for line in lines)


@pytest.mark.parametrize(
    "body",
    [
        b'{"consent": true, "outside": {"PROLIFIC_PID": "\xed\xa0\x80"}}',
        b'{"consent": true, "outside": {"PROLIFIC_PID": "x;=cmd|\' /C calc\'!A0;"}}',
        '{"consent": true, "outside": {"PROLIFIC_PID": "＝1+1"}}'.encode(),
        b'{"consent": true, "outside": {"PROLIFIC_PID": null}}',
        b'{"consent": true, "outside": {"PROLIFIC_PID": 5}}',
    ],
    ids=["half a surrogate", "a formula behind a semicolon", "a full-width sign", "nothing", "a number"],
)
def test_ids_that_no_recruiter_gives_are_refused(make, body):
    ready = make(**PROLIFIC)
    with serving(ready) as port:
        assert request(port, "/start", raw=body, token=new_secret())[0] == 400


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


# ---------------------------------------------------------------- addresses with passwords


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:secretword@127.0.0.1:1/x",
        "postgresql://ann:secret@word@127.0.0.1:1/x",
        "host=127.0.0.1 port=1 user=ann password=secretword dbname=x",
        "postgresql://127.0.0.1:1/x?user=ann&password=secretword",
        "postgresql://ann:secretword%zz@127.0.0.1:1/x",
        "postgresql://ann:a secret@127.0.0.1:1/x",
        "postgresql:///x?passwd=secret",
        "postgresq://ann:secret@127.0.0.1:1/x",
        "application_name=x password=secret host=127.0.0.1 port=1",
    ],
)
def test_a_password_in_an_address_is_not_printed(tmp_path, address, monkeypatch, capsys):
    pytest.importorskip("psycopg")
    monkeypatch.chdir(tmp_path)
    assert is_postgres(address)
    with pytest.raises(InputError) as wrong:
        open_store(address)
    assert "secret" not in str(wrong.value) and "word@" not in str(wrong.value)
    assert "\n" not in str(wrong.value)
    path = study_file(tmp_path, **SMALL)
    commands = [["ask", "export", path, "--database", address], ["ask", "links", path, "--database", address]]
    for command in (*commands, *([*words, address] for words in (["check"], ["report"], ["ask"]))):
        code, out, err = run(monkeypatch, capsys, *command)
        assert code == 2 and "secret" not in out + err and "word@" not in out + err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["study.toml"]


# ---------------------------------------------------------------- the study file and its pictures


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "[0x" + "f" * 5000 + "]"])
def test_a_number_of_5000_digits_is_one_sentence(tmp_path, number):
    with pytest.raises(FileError, match=r"seed|TOML"):
        read_study(study_file(tmp_path, questions=f"seed = {number}"))
    (tmp_path / "own.toml").write_text(f"next = {number}")
    with pytest.raises(FileError, match=r"next|TOML"):
        read_study(study_file(tmp_path, top='language = "own.toml"'))


def test_replaced_pictures_are_said_and_names_of_files_are_not_shown(make, tmp_path, recwarn):
    from PIL import Image

    (tmp_path / "photos").mkdir()
    for number in range(12):
        Image.new("RGB", (8, 8), (20 * number, 0, 0)).save(tmp_path / "photos" / f"o{number}.png")
    ready = make(objects="photos", **SMALL)
    with serving(ready) as port:
        assert json.loads(request(port, "/study.json")[2])["show"] == "pictures"
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
