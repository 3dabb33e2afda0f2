"""Small studies for tests, and people who answer them straight in the database."""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from nearfar.ask.prepare import open_study
from nearfar.ask.store import people, researcher
from nearfar.ask.store.people import Answer, Arrival
from nearfar.ask.study import read_study

NAMES = [f"thing {i}" for i in range(12)]

SMALL = {"questions": "per_person = 12\nagain = 0\nchecks = 1\neach = 3", "people": "aim = 9"}
PROLIFIC = {"questions": SMALL["questions"], "people": 'aim = 9\nrecruit = "prolific"\ncode = "X"'}


def free_port():
    """A port that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def study_file(folder, *, objects=None, top="", questions="", people="", pages=""):
    """A study file about words."""
    listed = NAMES if objects is None else objects
    names = listed if isinstance(listed, str) else "[" + ", ".join(f'"{name}"' for name in listed) + "]"
    names = f'"{names}"' if isinstance(listed, str) else names
    path = folder / "study.toml"
    path.write_text(
        f'title = "Which is more similar?"\nobjects = {names}\n{top}\n[questions]\n{questions}\n[people]\n{people}\n'
        + (f"[pages]\n{pages}\n" if pages else ""),
        encoding="utf-8",
    )
    return path


def opened(folder, url=None, **parts):
    """A study that is open, to be closed by the caller."""
    return open_study(read_study(study_file(folder, **parts)), url)


def arrive(ready, token, *, outside=None, now=None, rng=None):
    """Start or come back."""
    who = Arrival(token, f"p{token}", outside, {}, time.time() if now is None else now)
    return ready.store.write_now(people.start, who, ready.plan, rng or np.random.default_rng())


def places(ready, token, unanswered=True):
    """The places of a booklet that are still open, or all."""
    booklet = ready.store.read_now(people.booklet, token)["places"]
    return [place for place in booklet if not (unanswered and place["answered"])]


def answer(ready, token, chosen, *, now=None, choice=(0,)):
    """Answer the given places."""
    sent = [Answer(str(uuid.uuid4()), place["place"], choice, 900.0, 0.0, None) for place in chosen]
    told = ready.store.write_now(
        people.save_answers, token, sent, ready.plan, time.time() if now is None else now
    )
    assert told["refused"] == [] and len(told["saved"]) == len(chosen)
    return sent


def spread(ready, what="answers"):
    """Largest minus smallest number of answers (or load) of a question."""
    column = np.array(ready.store.read_now(researcher.balance))[:, 0 if what == "load" else 1]
    return int(column.max() - column.min())


def check_invariants(ready, late=False):
    """The load of a question is the number of places that hold it; no one gets a trio twice as new.

    ``late`` : answers to places that had been given away may have brought some trio back.
    """

    def look(tx):
        held = dict(
            tx.rows(
                "SELECT question, count(*) FROM slot WHERE role IN ('new', 'open') AND released IS NULL GROUP BY question"
            )
        )
        load = dict(tx.rows("SELECT id, load FROM question"))
        assert {question: held.get(question, 0) for question in load} == load
        done = dict(
            tx.rows(
                "SELECT s.question, count(*) FROM answer a JOIN slot s ON s.participant = a.participant "
                "AND s.place = a.place WHERE s.role = 'new' GROUP BY s.question"
            )
        )
        assert {question: done.get(question, 0) for question in load} == dict(
            tx.rows("SELECT id, done FROM question")
        )
        twice = tx.rows(
            "SELECT s.participant, q.trio FROM slot s JOIN question q ON q.id = s.question WHERE s.role = 'new' "
            "AND s.released IS NULL GROUP BY s.participant, q.trio HAVING count(*) > 1"
        )
        assert late or twice == []
        orphans = tx.rows(
            "SELECT count(*) FROM answer a LEFT JOIN slot s ON s.participant = a.participant AND s.place = a.place "
            "WHERE s.place IS NULL OR s.released IS NOT NULL"
        )
        assert orphans[0][0] == 0

    ready.store.read_now(look)


def everything_in(folder):
    """All bytes of the files in a folder, read by a process of its own.

    A process that closes a database which it serves loses its locks on it; the next one to come would cut the index of the log under it.
    """
    code = "import pathlib, sys; [sys.stdout.buffer.write(p.read_bytes()) for p in sorted(pathlib.Path(sys.argv[1]).rglob('*')) if p.is_file()]"
    return subprocess.run(
        [sys.executable, "-S", "-c", code, str(folder)], capture_output=True, check=True
    ).stdout


def run_all(jobs):
    """All at once, each in a thread; the first that fails is raised."""
    with ThreadPoolExecutor(len(jobs)) as threads:
        list(threads.map(lambda job: job(), jobs))


# ---------------------------------------------------------------- over the network


@contextlib.contextmanager
def serving(ready, *, port=None, limits=None, public_url=None):
    """A server in a thread of this process."""
    import uvicorn

    from nearfar.ask import people_routes
    from nearfar.ask.app import make_app
    from nearfar.ask.serve import server_config

    people_routes._said.clear()
    port = port or free_port()
    app = make_app(ready, port=port, limits=limits, public_url=public_url)
    server = uvicorn.Server(server_config(app, port, public_url))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + 20
    while not server.started:
        assert thread.is_alive() and time.monotonic() < end, "the server did not start"
        time.sleep(0.01)
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join(20)


def request(port, path, body=None, *, token=None, headers=(), method=None, raw=None):
    """(status, headers, bytes) of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    sent = dict(headers)
    data = raw if raw is not None else None if body is None else json.dumps(body).encode()
    if token:
        sent.setdefault("X-Nearfar-Token", token)
    if data is not None:
        sent.setdefault("Content-Type", "application/json")
    try:
        connection.request(method or ("GET" if data is None else "POST"), path, data, sent)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def call(port, path, body=None, **more):
    """(status, reply) of one request."""
    status, _, data = request(port, path, body, **more)
    return status, json.loads(data) if data else None
