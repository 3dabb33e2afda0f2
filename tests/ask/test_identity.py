"""Who may answer in whose name, and what must not be recognised by those who do not look."""

import asyncio
import json
import sqlite3
from contextlib import closing

import pytest
from ask_tools import PROLIFIC, SMALL, answer, arrive, call, opened, places, request, serving, study_file
from cli_tools import run

from nearfar.ask.admin_routes import AdminRoutes, _reason
from nearfar.ask.guard import RateLimits
from nearfar.ask.passwords import new_secret
from nearfar.ask.store import people
from nearfar.errors import InputError


def start(port, **outside):
    token = new_secret()
    status, told = call(port, "/start", {"consent": True, "outside": outside}, token=token)
    return (token, told["status"]) if status == 200 else (token, status)


def test_a_link_works_in_one_browser_only(make, tmp_path, monkeypatch, capsys):
    parts = SMALL | {"people": 'aim = 9\nrecruit = "links"'}
    path = study_file(tmp_path, **parts)
    assert run(monkeypatch, capsys, "ask", "links", path)[0] == 2  # there is no database yet
    ready = make(**parts)
    code, out, _ = run(monkeypatch, capsys, "ask", "links", path, "--count", "3", "--port", "8123")
    links = [line.split("link=")[1] for line in out.splitlines()]
    assert code == 0 and len(set(links)) == 3 and out.startswith("http://127.0.0.1:8123/?link=")
    with serving(ready) as port:
        token, status = start(port, link=links[0])
        assert status == "ok" and start(port, link=links[0])[1] == "used"
        body = {"consent": True, "outside": {"link": links[0]}}
        assert call(port, "/start", body, token=token)[1] == {"status": "ok"}  # the same browser again
        forged = ("0" if links[1][0] != "0" else "1") + links[1][1:]
        assert [start(port, link=link)[1] for link in (links[1], forged, "x")] == ["ok", "no_id", "no_id"]
        assert start(port)[1] == 400


def test_links_are_for_studies_that_recruit_by_them(tmp_path, monkeypatch, capsys):
    opened(tmp_path, **SMALL).close()
    code, out, err = run(monkeypatch, capsys, "ask", "links", tmp_path / "study.toml")
    assert (code, out) == (2, "") and "recruit" in err and err.count("\n") == 1


def test_links_of_a_server_without_a_study_are_one_sentence(tmp_path, new_database, monkeypatch, capsys):
    path = study_file(tmp_path, **SMALL | {"people": 'aim = 9\nrecruit = "links"'})
    code, out, err = run(monkeypatch, capsys, "ask", "links", path, "--database", new_database())
    assert (code, out) == (2, "") and "database of a study" in err and err.count("\n") == 1


def test_who_knows_the_id_but_not_the_session_does_not_take_over(make):
    ready = make(**PROLIFIC)
    with serving(ready) as port:
        assert start(port, PROLIFIC_PID="a", SESSION_ID="s")[1] == "ok"
        assert start(port, PROLIFIC_PID="a")[1] == start(port, PROLIFIC_PID="a", SESSION_ID="t")[1] == "used"
        assert start(port, PROLIFIC_PID="a", SESSION_ID="s")[1] == "ok"  # another browser, the same person


def test_checks_are_not_recognised_by_numbers_or_addresses(make, tmp_path):
    from PIL import Image

    (tmp_path / "photos").mkdir()
    for number in range(12):
        Image.new("RGB", (8, 8), (20 * number, 0, 0)).save(tmp_path / "photos" / f"o{number}.png")
    ready = make(objects="photos", questions="per_person = 40\nagain = 0\nchecks = 20\neach = 3")
    with serving(ready) as port:
        told, page = (
            json.loads(request(port, "/study.json")[2])["objects"],
            request(port, "/study.json")[2],
        )
        token, _ = start(port)
        places = call(port, "/booklet", token=token)[1]["places"]
        addresses = [[told[number]["picture"] for number in place["shown"]] for place in places]
        assert all(len(set(three)) == 3 for three in addresses) and b"o3" not in page
        data = {each["picture"]: request(port, "/picture/" + each["picture"])[2] for each in told}
        assert len(data) == 24 and len(set(data.values())) == 12
        assert sum(len({data[address] for address in three}) == 2 for three in addresses) == 20
        assert len({number for place in places for number in place["shown"]}) > 12
        assert (
            call(port, "/booklet", token=token)[1]["places"] == places
        )  # nothing to be learnt by asking again
        assert request(port, "/picture/" + "0" * 32)[0] == 404


def test_claimed_times_are_compared_with_the_time_that_passed(ready):
    from nearfar.ask.store import researcher

    for token, passed in (("honest", 30.0), ("program", 1.0)):
        arrive(ready, token, now=1000.0)
        answer(ready, token, places(ready, token), now=1000.0 + passed)  # 12 answers of .9 seconds each
    rows = ready.store.read_now(researcher.people_rows)
    assert [(row[0], round(row[9], 3), row[10]) for row in rows] == [
        ("phonest", 10.8, 30.0),
        ("pprogram", 10.8, 1.0),
    ]
    assert [_reason(row, {}, []) for row in rows] == ["", "claims 11 seconds of answering within 1"]
    nobody = (*rows[0][:3], 0, *rows[0][4:9], None, None, "", 0)
    assert _reason(nobody, {}, []) == ""


def test_who_tells_hardly_anything_or_misunderstood_practice_is_to_be_checked(make):
    right = '[[form]]\nname = "q"\nask = "?"\nkind = "choice"\nwhen = "practice"\noptions = ["a", "b"]\nright = "a"\n'
    ready = make(**SMALL | {"people": "aim = 9\n[screen]\ncannot_tell = true\n" + right})
    for token, wrong in (("careful", 1), ("lost", 3)):
        arrive(ready, token)
        for given in ["b"] * wrong + ["a"] * (wrong < 3):
            ready.store.write_now(people.save_form, token, "practice", {"q": given}, given == "a", 1.0)
    asked = places(ready, "lost")
    answer(ready, "lost", asked[:1])
    answer(ready, "lost", asked[1:], choice=())
    admin = AdminRoutes(ready, asyncio.Event(), RateLimits().logins, secure=False)
    reasons = {one["name"]: one["reason"] for one in ready.store.read_now(admin._live, 2000.0)["everybody"]}
    assert reasons["pcareful"] == ""
    assert "11 of 12" in reasons["plost"] and "practice" in reasons["plost"]


def test_a_database_of_another_version_is_one_sentence(ready, tmp_path, monkeypatch, capsys):
    ready.close()
    with closing(sqlite3.connect(tmp_path / "study.db")) as database, database:
        database.execute("UPDATE study SET version = 1")
    for command in (("check", tmp_path / "study.db"), ("ask", "export", tmp_path / "study.toml")):
        code, _, err = run(monkeypatch, capsys, *command)
        assert code == 2 and "another version" in err and err.count("\n") == 1
    with pytest.raises(InputError, match="another version"):
        opened(tmp_path, **SMALL)
