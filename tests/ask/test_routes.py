"""What the server takes and refuses; everything over a real connection."""

import asyncio
import contextlib
import http.client
import io
import json
import logging
import re
import threading
import uuid
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ask_tools import NAMES, call, everything_in, opened, request, serving
from starlette.requests import Request

from nearfar.ask.export import FILES
from nearfar.ask.guard import RateLimit, RateLimits
from nearfar.ask.passwords import new_secret
from nearfar.ask.people_routes import PeopleRoutes
from nearfar.ask.store import people, researcher

PARTS = {"questions": "per_person = 14\nagain = 0\nchecks = 2\neach = 3\npractice = 1", "people": "aim = 9"}
EVERYTHING = RateLimits(RateLimit(1e9, 1e9), RateLimit(1e9, 1e9), RateLimit(1e9, 1e9))


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    with contextlib.closing(opened(tmp_path_factory.mktemp("routes"), **PARTS)) as made:
        yield made


@pytest.fixture(scope="module")
def port(ready):
    with serving(ready, limits=EVERYTHING) as number:
        yield number


def begin(port, token=None, outside=None):
    token = token or new_secret()
    status, told = call(port, "/start", {"consent": True, "outside": outside or {}}, token=token)
    assert (status, told) == (200, {"status": "ok"})
    return token


def one(place=0, choice=(0,), **more):
    return {
        "id": str(uuid.uuid4()),
        "place": place,
        "choice": list(choice),
        "milliseconds": 900.5,
        "away": 0,
    } | more


# ---------------------------------------------------------------- many people at once


def test_an_answer_waits_for_few_of_the_booklets_that_are_drawn(make, monkeypatch):
    ready = make(**PARTS)
    routes, gate, ran = PeopleRoutes(ready), threading.Event(), []

    def in_turn(name):
        operation = getattr(people, name)

        def run(tx, *arguments):
            assert gate.wait(60)
            ran.append(name)
            return operation(tx, *arguments)

        monkeypatch.setattr(people, name, run)

    def post(route, body):
        async def receive():
            return {"type": "http.request", "body": json.dumps(body).encode()}

        token = new_secret()
        scope = {"type": "http", "sender": token, "headers": [(b"x-nearfar-token", token.encode())]}
        return asyncio.create_task(route(Request(scope, receive)))

    async def meet():
        starts = [post(routes.start, {"consent": True, "outside": {}}) for _ in range(40)]
        await asyncio.sleep(0.2)
        answer = post(routes.answers, {"answers": [one()]})
        await asyncio.sleep(0.2)
        gate.set()
        await asyncio.gather(*starts, answer, return_exceptions=True)

    for name in ("start", "save_answers"):
        in_turn(name)
    asyncio.run(meet())
    assert ran.count("start") == 40 and ran.index("save_answers") < 20


# ---------------------------------------------------------------- taking part


def test_a_person_takes_part(ready, port):
    token = begin(port)
    places = call(port, "/booklet", token=token)[1]["places"]
    assert [place["place"] for place in places] == list(range(14))
    assert {frozenset(place) for place in places} == {frozenset({"place", "shown", "answered"})}
    status, told = call(port, "/finish", {}, token=token)
    assert (status, told) == (200, {"left": 14})
    sent = [one(place["place"]) for place in places]
    for answer in reversed(sent):  # out of order, and each three times
        for _ in range(3):
            told = call(port, "/answers", {"answers": [answer]}, token=token)[1]
            assert told == {"saved": [answer["id"]], "refused": []}
    for _ in range(3):
        told = call(port, "/finish", {}, token=token)[1]
        assert told["left"] == 0 and re.fullmatch("[A-Z2-9]{8}", told["code"])
    rows = ready.store.read_now(researcher.answer_rows)
    assert len([row for row in rows if row[5] == 900.5]) == 14


@pytest.mark.parametrize(
    ("people", "outside", "ends"),
    [
        ('recruit = "prolific"\ncode = "C&1"', {"PROLIFIC_PID": "a", "STUDY_ID": "s"},
         {"code": "C&1", "link": "https://app.prolific.com/submissions/complete?cc=C%261"}),
        ('recruit = "sona"\nreturn_link = "https://x.sona-systems.com/c?id=1&survey_code=XXXX"', {"survey_code": "9/9"},
         {"link": "https://x.sona-systems.com/c?id=1&survey_code=9%2F9"}),
        ('recruit = "mturk"\ncode = "M"', {"workerId": "w", "assignmentId": "as", "turkSubmitTo": "https://workersandbox.mturk.com"},
         {"code": "M", "submit_to": "https://workersandbox.mturk.com/mturk/externalSubmit", "assignment": "as"}),
        ('recruit = "mturk"\ncode = "M"', {"workerId": "w", "assignmentId": "as", "turkSubmitTo": "https://evil.example"},
         {"code": "M", "submit_to": "https://www.mturk.com/mturk/externalSubmit", "assignment": "as"}),
        ('recruit = "open"\ncode = "O"', {}, {"code": "O"}),
    ],
    ids=["prolific", "sona", "mturk", "mturk elsewhere", "open"],
)  # fmt: skip
def test_every_recruiter_gets_its_ending(make, people, outside, ends):
    ready = make(questions="per_person = 2\nagain = 0\nchecks = 0", people=people)
    with serving(ready) as port:
        token = begin(port, outside=outside)
        call(port, "/answers", {"answers": [one(0), one(1)]}, token=token)
        assert call(port, "/finish", {}, token=token)[1] == {"left": 0} | ends
        if outside:
            other = begin(port, outside=outside)  # another browser, the same person
            assert call(port, "/finish", {}, token=other)[1] == {"left": 0} | ends
            told = call(port, "/start", {"consent": True, "outside": {}}, token=new_secret())
            assert told == (400, {"error": "the link does not say who you are"})
        frames = request(port, "/")[1]["content-security-policy"].split("frame-ancestors ")[1]
        assert ("mturk.com" in frames) == ("mturk" in people)


# ---------------------------------------------------------------- refusals


def test_forged_and_missing_tokens(port):
    begin(port)
    for token in (None, "short", new_secret(), "x" * 43, "../" * 15, "é" * 43):
        headers = {} if token is None else {"X-Nearfar-Token": token.encode("utf-8")}
        for path, body in (("/booklet", None), ("/answers", {"answers": [one()]}), ("/finish", {})):
            status, _, _ = request(port, path, body, headers=headers)
            assert status == 401, (token, path)


def test_nobody_reaches_anothers_slot(ready, port):
    mine, yours = begin(port), begin(port)
    answer = one(3)
    assert call(port, "/answers", {"answers": [answer]}, token=yours)[0] == 200
    told = call(port, "/answers", {"answers": [answer | {"place": 4}]}, token=mine)[1]
    assert told["refused"][0]["reason"] == "this id belongs to another answer"
    assert not call(port, "/booklet", token=mine)[1]["places"][3]["answered"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'{"answers": 3}', b'{"answers": []}', b'{"answers": [3]}', b"\xff\xfe",
        json.dumps({"answers": [one(place="0")]}).encode(),
        json.dumps({"answers": [one(place=True)]}).encode(),
        json.dumps({"answers": [one(place=-1)]}).encode(),
        json.dumps({"answers": [one(place=10**30)]}).encode(),
        json.dumps({"answers": [one(choice=["0"])]}).encode(),
        json.dumps({"answers": [one(choice=[])]}).encode(),
        json.dumps({"answers": [one() | {"id": "1; DROP TABLE answer"}]}).encode(),
        json.dumps({"answers": [one()] * 51}).encode(),
        b"[" * 60000,
    ],
    ids=lambda body: f"{len(body)} bytes",  # the bodies themselves hold random ids, and workers must agree on names
)  # fmt: skip
def test_bodies_that_cannot_be_are_refused_in_one_sentence(port, body):
    token = begin(port)
    status, _, data = request(port, "/answers", raw=body, token=token)
    assert status == 400
    assert "\n" not in json.loads(data)["error"]


@pytest.mark.parametrize("text", ["\ud800", "a\0b"], ids=["surrogate", "nul"])
def test_text_that_no_database_holds_is_refused(make, text):
    """JSON may spell it, and neither SQLite nor PostgreSQL takes all of it."""
    ready = make(questions="per_person = 4", people='aim = 4\nrecruit = "prolific"\ncode = "X"')
    with serving(ready) as port:
        who = {"consent": True, "outside": {"PROLIFIC_PID": text}}
        assert call(port, "/start", who, token=new_secret())[0] == 400
        origin = {"Origin": f"http://127.0.0.1:{port}"}
        assert request(port, "/admin/login", {"password": text}, headers=origin)[0] == 400


def test_times_that_cannot_be_are_left_out_but_the_answer_stays(ready, port):
    """A clock that jumps, or a browser that lies, costs no answer."""
    token = begin(port)
    strange = [-5.0, 1e300, "1", None, True, float("inf")]
    for place, value in enumerate(strange):
        answer = one(place, milliseconds=value, away=value, shown_at=value)
        status, told = call(port, "/answers", {"answers": [answer]}, token=token)
        assert (status, told["saved"]) == (200, [answer["id"]])


def test_sizes_and_types_of_requests(port):
    token = begin(port)
    big = json.dumps({"answers": [one(note="x" * 70000)]}).encode()
    assert request(port, "/answers", raw=big, token=token)[0] == 413
    assert request(port, "/answers", {}, token=token, headers={"Content-Type": "text/plain"})[0] == 415
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest("POST", "/answers")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.putheader("Content-Type", "application/json")
    connection.endheaders()
    assert connection.getresponse().status == 411
    connection.close()
    assert request(port, "/start", {"consent": False, "outside": {}}, token=token)[0] == 400


@pytest.mark.parametrize(
    "path",
    ["/static/../study.db", "/static/..%2f..%2fapp.py", "/static/ask.html", "/picture/../../study.db",
     "/picture/%2e%2e%2fstudy.db", "/picture/' OR 1=1 --".replace(" ", "%20"), "/study.db", "/admin/../study.db",
     "/static/%00", "/picture/%00", "/picture/%ED%A0%80", "/.git/config"],
)  # fmt: skip
def test_paths_that_lead_elsewhere(port, path):
    status, _, data = request(port, path)
    assert status in (400, 404) and b"SQLite" not in data


def test_other_host_names_are_refused(port):
    assert request(port, "/", headers={"Host": "evil.example"})[0] == 400
    assert request(port, "/", headers={"Host": f"localhost:{port}"})[0] == 200


def test_every_reply_has_the_headers_that_protect(port):
    for path in ("/", "/study.json", "/static/ask.js", "/nothing", "/admin"):
        headers = request(port, path)[1]
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self'; style-src 'self'"
        )
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_too_many_requests(ready):
    with serving(ready, limits=RateLimits(requests=RateLimit(0.001, 5))) as port:
        token = begin(port)
        answers = [call(port, "/finish", {}, token=token)[0] for _ in range(6)]
        assert answers == [200] * 5 + [429]
        assert call(port, "/finish", {}, token=new_secret())[0] == 401  # others are not held up


def test_a_bucket_fills_again_and_is_forgotten():
    now = [0.0]
    rate = RateLimit(2, 4, clock=lambda: now[0])
    assert [rate.allows("a") for _ in range(5)] == [True] * 4 + [False]
    now[0] = 1.0
    assert [rate.allows("a") for _ in range(3)] == [True, True, False]
    for number in range(1000):
        now[0] += 1
        rate.allows(f"sender {number}")
    assert len(rate._buckets) < 300


def test_hostile_names_are_data(make):
    names = [
        "</script><script>alert(1)</script>",
        "{{ 7 * 7 }}",
        "'; DROP TABLE answer; --",
        "\u202etfel",
        "=1+1",
        "🍏",
    ]
    quoted = [name.replace("\\", "\\\\").replace('"', '\\"') for name in names]
    ready = make(
        objects=quoted,
        top='prompt = "<b>{{ 7 * 7 }}</b>"',
        questions="per_person = 3\nagain = 0\nchecks = 0",
    )
    with serving(ready) as port:
        told = json.loads(request(port, "/study.json")[2])
        assert sorted(thing["display_name"] for thing in told["objects"]) == sorted(2 * names)
        page = request(port, "/")[2].decode()
        assert "<script>alert" not in page and "49" not in page


# ---------------------------------------------------------------- the researcher


def log_in(port, password, **headers):
    origin = {"Origin": f"http://127.0.0.1:{port}"} | headers
    return request(port, "/admin/login", {"password": password}, headers=origin)


@pytest.fixture(scope="module")
def cookie(ready, port):
    status, headers, _ = log_in(port, ready.password)
    assert status == 200
    given = headers["set-cookie"]
    assert "HttpOnly" in given and "SameSite=strict" in given and "Path=/admin" in given
    return given.split(";")[0]


@pytest.mark.parametrize("path", ["/admin/live.json", "/admin/export.zip"])
def test_nothing_without_logging_in(port, path):
    assert request(port, path)[0] == 401
    assert request(port, path, headers={"Cookie": f"nearfar={new_secret()}"})[0] == 401
    assert b"live.json" not in request(port, "/admin")[2]


@pytest.mark.parametrize("path", ["/admin/state", "/admin/erase", "/admin/logout", "/admin/login"])
@pytest.mark.parametrize("origin", [None, "https://evil.example", "null", "http://127.0.0.1:1"])
def test_posts_from_other_sites_are_refused(port, cookie, path, origin):
    headers = {"Cookie": cookie} | ({"Origin": origin} if origin else {})
    assert request(port, path, {"state": "paused", "name": "x"}, headers=headers)[0] == 403


def test_posts_need_the_cookie_too(port):
    headers = {"Origin": f"http://127.0.0.1:{port}"}
    assert request(port, "/admin/state", {"state": "paused"}, headers=headers)[0] == 401
    assert request(port, "/admin/erase", {"name": "x"}, headers=headers)[0] == 401


def test_guessing_the_password_is_slow(ready):
    with serving(ready) as port:
        guesses = [log_in(port, f"guess {i}")[0] for i in range(7)]
        assert guesses == [403] * 5 + [429] * 2
        assert log_in(port, ready.password)[0] == 200  # nobody is locked out by another's guesses


def test_a_flood_of_guesses_from_one_address_is_not_computed(ready):
    """Checking a password takes a processor; three wait for it at most, and the right one comes in between."""
    with serving(ready) as port, ThreadPoolExecutor(12) as threads:
        guesses = list(threads.map(lambda i: log_in(port, f"guess {i}")[0], range(40)))
        assert guesses.count(403) == 5 and guesses.count(429) == 35
        flood = [threads.submit(log_in, port, f"guess {i}") for i in range(60)]
        while log_in(port, ready.password)[0] != 200:
            assert any(not guess.done() for guess in flood)


def test_the_password_is_nowhere_in_the_database(ready):
    held = everything_in(ready.study.path.parent)
    assert b"SQLite format 3" in held and ready.password.encode() not in held


def test_logging_out(ready, port):
    own = log_in(port, ready.password)[1]["set-cookie"].split(";")[0]
    headers = {"Cookie": own, "Origin": f"http://127.0.0.1:{port}"}
    assert request(port, "/admin/live.json", headers=headers)[0] == 200
    assert request(port, "/admin/logout", {}, headers=headers)[0] == 200
    assert request(port, "/admin/live.json", headers=headers)[0] == 401


def test_live_figures_pause_and_resume(ready, port, cookie):
    headers = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{port}"}
    token = begin(port)
    call(port, "/answers", {"answers": [one(0)]}, token=token)
    told = json.loads(request(port, "/admin/live.json", headers=headers)[2])
    assert told["answers"] == len(ready.store.read_now(researcher.answer_rows))
    assert sum(often for _, often in told["balance"]) == len(ready.store.read_now(researcher.balance))
    assert request(port, "/admin/state", {"state": "closed"}, headers=headers)[0] == 400
    assert request(port, "/admin/state", {"state": "paused"}, headers=headers)[0] == 200
    try:
        paused = call(port, "/start", {"consent": True, "outside": {}}, token=new_secret())
        assert paused == (200, {"status": "paused"})
    finally:
        assert request(port, "/admin/state", {"state": "open"}, headers=headers)[0] == 200


def test_the_archive_holds_the_tables(port, cookie):
    data = request(port, "/admin/export.zip", headers={"Cookie": cookie})[2]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == list(FILES)
        assert archive.read("objects.csv").decode().splitlines()[1] == f"{NAMES[0]},{NAMES[0]}"


def test_nothing_about_people_is_logged(make, caplog, capfd):
    ready = make(
        questions="per_person = 2\nagain = 0\nchecks = 0",
        people='recruit = "prolific"\ncode = "SECRETCODE"',
    )
    with caplog.at_level(logging.DEBUG), serving(ready) as port:
        token = begin(port, outside={"PROLIFIC_PID": "SECRETPID"})
        request(port, f"/?PROLIFIC_PID=SECRETPID&token={token}")
        call(port, "/answers", {"answers": [one(0), one(1)]}, token=token)
        call(port, "/finish", {}, token=token)
        log_in(port, ready.password)
    said = caplog.text + "".join(capfd.readouterr())
    for secret in ("SECRETPID", "SECRETCODE", token, ready.password):
        assert secret not in said


def test_a_database_that_cannot_be_written_is_one_sentence_and_nothing_is_lost(make, caplog):
    ready = make(**PARTS)
    with serving(ready) as port:
        token = begin(port)
        ready.store.write_now(
            lambda tx: tx.rows("PRAGMA query_only = ON")
        )  # as on a disk that became read-only
        answer = one(0)
        status, told = call(port, "/answers", {"answers": [answer]}, token=token)
        assert status == 503 and told["error"].startswith("Your answers cannot be saved at the moment")
        assert "an answer could not be saved and will be sent again" in caplog.text
        assert "Traceback" not in caplog.text
        ready.store._writer.execute("PRAGMA query_only = OFF")
        assert call(port, "/answers", {"answers": [answer]}, token=token)[1]["saved"] == [answer["id"]]


def test_the_live_view_comes_from_a_process_of_its_own(ready, port, cookie):
    """Its figures are the library's for the same answers."""
    import time

    from nearfar import analyse, words
    from nearfar.ask.answers import collect

    rng = np.random.default_rng(0)
    for _ in range(9):
        token = begin(port)
        places = call(port, "/booklet", token=token)[1]["places"]
        call(
            port,
            "/answers",
            {"answers": [one(p["place"], [int(rng.integers(2))]) for p in places]},
            token=token,
        )
    given = ready.store.read_now(collect).triplets
    expected = words.ceiling(analyse(given, "score", models=["score"]).ceiling, 2)
    end = time.monotonic() + 60
    while True:
        told = json.loads(request(port, "/admin/live.json", headers={"Cookie": cookie})[2])
        view = told["view"]
        if view and view["ceiling"] and view["ceiling"]["text"] == expected.text:
            break
        assert time.monotonic() < end, view and view["ceiling"]
        time.sleep(0.1)
    assert view["ceiling"]["details"] == expected.details
    assert len(view["map"]) == len(NAMES) and len(view["people"]) >= 9
