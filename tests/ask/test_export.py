"""What was answered comes out as it was said, and an erased person leaves no trace."""

import asyncio
import csv
import json
import sqlite3
import sys
import warnings
from contextlib import closing

import numpy as np
import pytest
from ask_tools import (
    NAMES,
    answer,
    arrive,
    check_invariants,
    everything_in,
    opened,
    places,
    serving,
    study_file,
)
from benchmarks.ask_visitors import Visitor

from nearfar import read_answers, read_triplets
from nearfar.ask.answers import collect
from nearfar.ask.export import erase_person, export_folder, export_study
from nearfar.ask.live import _map, live_view
from nearfar.ask.passwords import hash_secret
from nearfar.ask.rehearse import rehearse
from nearfar.ask.serve import check_public_url
from nearfar.ask.store import researcher
from nearfar.ask.study import read_study
from nearfar.cli import main
from nearfar.errors import FileError, InputError, UnreachableError
from nearfar.evaluate.map_stability import radius
from nearfar.space.space import Space

KINDS = {
    "near": "",
    "odd": "",
    "central": "",
    "grid": "\noptions = 5\npick = 2",
}


def slots_of(tx, token):
    return tx.rows(
        "SELECT p.name, s.place, s.role, s.shown FROM slot s JOIN participant p ON p.id = s.participant "
        "JOIN token t ON t.participant = p.id WHERE t.hash = ?",
        token,
    )


def naive_triplets(kind, shown, choice):
    """Straight from the definitions."""
    if kind == "near":
        a, one, other = shown
        near, far = (one, other) if choice == [0] else (other, one)
        return {(a, near, far)}
    if kind in ("odd", "central"):
        chosen = shown[choice[0]]
        x, y = (i for i in shown if i != chosen)
        return {(x, y, chosen), (y, x, chosen)} if kind == "odd" else {(x, chosen, y), (y, chosen, x)}
    picked = [shown[1 + c] for c in choice]
    return {(shown[0], p, f) for p in picked for f in shown[1:] if f not in picked}


@pytest.mark.parametrize("kind", KINDS)
def test_what_simulated_people_said_over_the_network_is_what_is_exported(make, tmp_path, kind):
    """Export -> read again without a warning -> the same answers, in nearfar's own columns."""
    ready = make(
        top=f'kind = "{kind}"',
        questions="per_person = 24\nagain = 0.2\nchecks = 3\neach = 3" + KINDS[kind],
        people="aim = 6",
    )
    visitors = [
        Visitor((0,), np.random.default_rng(0).standard_normal((12, 2)), flip=0.0, seed=i) for i in range(4)
    ]
    with serving(ready) as port:
        for visitor in visitors:
            visitor.ports = (port,)

        async def visit():
            return await asyncio.gather(*(visitor.take_part() for visitor in visitors))

        assert asyncio.run(visit()) == ["finished"] * 4
    ready.store.read_now(export_folder, tmp_path / "out")
    said, slots = {}, {}
    for visitor in visitors:
        for name, place, role, shown in ready.store.read_now(slots_of, hash_secret(visitor.token)):
            slots[name, place] = (role, [int(i) for i in shown.strip("[]").split(",")])
        for place, choice in visitor.confirmed.values():
            said[name, place] = choice
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = read_answers(tmp_path / "out" / "answers.csv", objects=tmp_path / "out" / "objects.csv")
    assert len(read.rejected) == 0 and len(said) == 4 * 24
    exported = {}
    triplets = read.triplets
    for row, statement, who in zip(
        triplets.array.tolist(), np.asarray(triplets.statement), np.asarray(triplets.participant), strict=True
    ):
        exported.setdefault((str(who), int(str(statement).rsplit("-", 1)[1])), set()).add(tuple(row))
    expected = {
        key: naive_triplets(kind, slots[key][1], choice)
        for key, choice in said.items()
        if slots[key][0] != "check"
    }
    assert exported == expected
    with open(tmp_path / "out" / "checks.csv") as file:
        graded = list(csv.DictReader(file))
    assert len(graded) == 12 and {row["correct"] for row in graded} == {"yes"}
    if kind == "near":
        sides = {
            (str(who), int(str(s).rsplit("-", 1)[1])): int(side)
            for who, s, side in zip(
                np.asarray(triplets.participant),
                np.asarray(triplets.statement),
                triplets.near_side,
                strict=True,
            )
        }
        assert sides == {key: said[key][0] for key in expected}


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_checks_are_graded_as_wrong(make, kind):
    ready = make(
        top=f'kind = "{kind}"',
        questions="per_person = 12\nagain = 0\nchecks = 6\neach = 3" + KINDS[kind],
    )
    arrive(ready, "a")

    def roles(tx):
        return dict(tx.rows("SELECT place, role FROM slot"))

    checks = [p for p in places(ready, "a") if ready.store.read_now(roles)[p["place"]] == "check"]
    expected = {}
    for place in checks:
        options = place["shown"][1:] if kind in ("near", "grid") else place["shown"]
        twice = [i for i in range(len(options)) if place["shown"].count(options[i]) > 1]
        right = [i for i in range(len(options)) if (i in twice) != (kind == "odd")]
        wrong = [i for i in range(len(options)) if i not in right]
        chosen = (
            (right + wrong)[: ready.plan.questions.pick]
            if place["place"] % 2
            else wrong[: ready.plan.questions.pick]
        )
        answer(ready, "a", [place], choice=tuple(chosen))
        expected[place["place"]] = bool(place["place"] % 2)
    checks = ready.store.read_now(collect).checks
    assert dict(checks.select("place", "correct").iter_rows()) == expected


def test_an_erased_person_leaves_no_trace(make, tmp_path):
    """Not in the database, not in its log, not in the exports; everybody else stays as they were."""
    parts = {
        "questions": "per_person = 40\nagain = 0.1\nchecks = 2\neach = 3",
        "people": 'aim = 20\nrecruit = "prolific"\ncode = "C"',
    }
    ready = make(objects=[f"o{i}" for i in range(15)], **parts)
    sent = {}
    for number in range(20):
        token = f"token-of-{number}"
        arrive(ready, token, outside=f"OUTSIDE-ID-{number:04d}-END")
        sent[number] = answer(ready, token, places(ready, token))
    export_study(ready.store.url, tmp_path / "elsewhere")
    view = '{"people": [{"name": "ptoken-of-7"}]}'
    ready.store.write_now(researcher.put_view, view, 0.0)
    traces = [b"OUTSIDE-ID-0007-END", b"token-of-7", *(one.id.encode() for one in sent[7])]
    assert all(trace in everything_in(tmp_path) for trace in traces)
    before = {row[:2] for row in ready.store.read_now(researcher.answer_rows)}
    assert erase_person(ready.store, "OUTSIDE-ID-0007-END") == []
    left = everything_in(tmp_path)
    assert not [trace for trace in traces if trace in left]
    after = {row[:2] for row in ready.store.read_now(researcher.answer_rows)}
    assert after == {row for row in before if row[0] != "ptoken-of-7"}
    assert all(one.id.encode() in left for one in sent[6])
    check_invariants(ready)
    assert erase_person(ready.store, "OUTSIDE-ID-0007-END") is None
    ready.store.write_now(researcher.put_view, view, 1.0)  # it was being computed meanwhile
    ready.close()
    assert not [trace for trace in traces if trace in everything_in(tmp_path)]


def test_a_database_is_read_while_it_is_served(make, tmp_path):
    ready = make(questions="per_person = 24\nagain = 0\nchecks = 0")
    arrive(ready, "a")
    answer(ready, "a", places(ready, "a")[:10])
    out = export_study(ready.store.url, tmp_path / "out")
    assert len(read_triplets(out[0])) == 10
    ready.close()
    (tmp_path / "other.db").write_bytes(b"")
    with pytest.raises(FileError, match=r"other\.db: cannot be read as the database of a study"):
        export_study(str(tmp_path / "other.db"), tmp_path / "out")
    with pytest.raises(FileError, match=r"none\.db: there is no such database"):
        export_study(str(tmp_path / "none.db"), tmp_path / "out")


def test_the_connection_for_reading_cannot_write(tmp_path):
    from nearfar.ask.store.sqlite import read_file

    ready = opened(tmp_path, questions="per_person = 24\nagain = 0\nchecks = 0")
    ready.close()
    with pytest.raises(FileError, match="attempt to write a readonly database"):
        read_file(tmp_path / "study.db", lambda tx: tx.run("DELETE FROM question"))
    with closing(sqlite3.connect(tmp_path / "study.db")) as connection:
        assert connection.execute("SELECT count(*) FROM question").fetchone()[0] > 0


def test_answers_that_waited_for_the_network_keep_their_time():
    from nearfar.ask.answers import _times

    row = ("p", 0, "new", "[]", "[]", 1500.0, 400.0, 1000.0, 5000.0)
    ahead, unknown = (*row[:7], 99_999_999.0, 5000.0), (*row[:5], None, None, None, 5000.0)
    seconds, answered_at = _times([row, ahead, unknown])
    assert seconds[:2].tolist() == [1.1, 1.1] and np.isnan(seconds[2])
    assert answered_at.tolist() == [1001.5, 5000.0, 5000.0]


# ---------------------------------------------------------------- the live view, without a server


def test_the_map_does_not_jump():
    """Turned and mirrored back onto the map before, without shrinking however often; unknown objects stay unknown."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((20, 2))
    first = _map(Space(points, tuple("abcdefghijklmnopqrst"), kind="points"), None)
    before = first
    for turn in range(100):
        turned = points @ np.array([[np.cos(turn), np.sin(turn)], [np.sin(turn), -np.cos(turn)]])
        noisy = turned + 0.05 * rng.standard_normal((20, 2))
        after = _map(Space(noisy, tuple("abcdefghijklmnopqrst"), kind="points"), before)
        assert np.abs(np.array(after) - np.array(before)).max() < 0.4
        before = after
    assert 0.95 < radius(np.array(before)) / radius(np.array(first)) < 1.05
    known = np.arange(20) > 4
    some = _map(Space(points, tuple("abcdefghijklmnopqrst"), kind="points", informed=known), first)
    assert some[:5] == [None] * 5 and np.abs(np.array(some[5:]) - np.array(first[5:])).max() < 0.4


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_of_few_and_of_many_answers(make, kind):
    ready = make(
        top=f'kind = "{kind}"',
        questions="per_person = 24\nagain = 0.1\nchecks = 1\neach=3" + KINDS[kind],
    )
    empty = live_view(ready.store.read_now(collect))
    assert (empty["answers"], empty["map"], empty["people"]) == (0, None, [])
    for number in range(8):
        arrive(ready, f"t{number}")
        answer(
            ready,
            f"t{number}",
            places(ready, f"t{number}"),
            choice=tuple(range(ready.plan.questions.pick)),
        )
    view = live_view(ready.store.read_now(collect))
    assert view["answers"] == 8 * 23 and len(view["people"]) == 8 and view["curve"]["text"]
    assert all(len(place) == 2 for place in view["map"] if place)
    json.loads(json.dumps(view, allow_nan=False))
    again = live_view(ready.store.read_now(collect), view)
    assert np.allclose(again["map"], view["map"], atol=1e-3)


def test_a_view_with_vectors_of_the_objects(make, tmp_path):
    ready = make(questions="per_person = 24\nagain = 0.1\nchecks = 1\neach=3")
    names = ready.objects.names
    rows = "".join(f"{name},{number},{number % 3}\n" for number, name in enumerate(names))
    (tmp_path / "size.csv").write_text(f"object,length,width\n{rows}")
    for number in range(8):
        arrive(ready, f"t{number}")
        answer(ready, f"t{number}", places(ready, f"t{number}"), choice=(0,))
    view = live_view(ready.store.read_now(collect), None, [f"size={tmp_path / 'size.csv'}"])
    assert view["model"] in ("soe-2", "soe-2+features") and len(view["map"]) == len(names)
    (tmp_path / "other.csv").write_text("object,x\nno,1\nsuch,2\n")
    with pytest.raises(InputError, match="none of the"):
        live_view(ready.store.read_now(collect), None, [str(tmp_path / "other.csv")])


# ---------------------------------------------------------------- the shell


@pytest.fixture
def nearfar(monkeypatch, capsys):
    """(exit code, stdout, stderr) of a command."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["nearfar", *map(str, arguments)])
        with pytest.raises(SystemExit, match=r"^\d+$") as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return run


def test_a_rehearsal_says_what_a_study_will_give(tmp_path):
    path = study_file(
        tmp_path, questions="per_person = 24\nagain = 0.1\nchecks = 1\neach = 3", people="aim = 24"
    )
    lines = dict(rehearse(read_study(path), drop_out=0.3, output=tmp_path / "out"))
    assert lines["people"].startswith("24, ") and "3 wanted" in lines["per question"]
    assert not (tmp_path / "study.db").exists()
    assert len(read_triplets(tmp_path / "out" / "answers.csv")) > 300


def test_the_commands(tmp_path, nearfar):
    """check, simulate, export, report of the database itself, erase."""
    path = study_file(
        tmp_path, questions="per_person = 24\nagain = 0.1\nchecks = 1\neach = 3", people="aim = 12"
    )
    code, out, err = nearfar("ask", "check", path)
    assert (
        (code, err) == (0, "")
        and "84 of kind near" in out
        and "21 new questions, 2 repeats, 1 check\n" in out
    )
    ready = opened(
        tmp_path, questions="per_person = 24\nagain = 0.1\nchecks = 1\neach = 3", people="aim = 12"
    )
    for number in range(6):
        arrive(ready, f"t{number}")
        answer(ready, f"t{number}", places(ready, f"t{number}"), choice=(number % 2,))
    ready.close()
    code, out, err = nearfar("ask", "export", path)
    assert code == 0 and "study-answers/answers.csv" in err
    code, out, err = nearfar("check", tmp_path / "study-answers" / "answers.csv")
    assert (code, err) == (0, "") and "rejected        nothing" in out
    code, out, err = nearfar("check", tmp_path / "study.db")
    assert (code, err) == (0, "") and "6 × check" in out and " 138" in out
    report = tmp_path / "report.html"
    code, out, err = nearfar("report", tmp_path / "study.db", "-o", report, "--quiet")
    assert (code, err) == (0, "") and "138" in report.read_text()
    report.unlink()
    path.write_text("objects = 'gone'")  # nothing of the study is needed to erase
    code, out, err = nearfar("ask", "erase", path, "pt3")
    assert (code, err) == (0, "erased pt3\n")
    assert b"pt3" not in everything_in(tmp_path)
    code, out, err = nearfar("ask", "erase", path, "pt3")
    assert (code, err) == (2, "nearfar: pt3: there is no such person in this study\n")
    code, out, err = nearfar("ask", "erase", path.with_name("other.toml"), "pt3")
    assert code == 2 and "first served" in err and not list(tmp_path.glob("other.*"))


def test_vectors_are_checked_before_a_study_is_made(tmp_path, nearfar, monkeypatch):
    monkeypatch.setattr("nearfar.ask.serve.serve", lambda *_, **__: None)
    path, vectors = study_file(tmp_path, questions="each = 3"), tmp_path / "size.csv"
    vectors.write_text("object,x\nno,1\nsuch,2\n")
    code, _, err = nearfar("ask", "serve", path, "--features", vectors)
    assert code == 2 and "none of the 2 names" in err and not list(tmp_path.glob("study.db*"))
    vectors.write_text("object,x\n" + "".join(f"{name},{x * x}\n" for x, name in enumerate(NAMES[1:])))
    code, _, err = nearfar("ask", "serve", path, "--features", vectors)
    assert code == 0 and f"1 of {len(NAMES)} objects have no vector: {NAMES[0]}" in err


def test_mistakes_on_the_command_line_are_one_sentence(tmp_path, nearfar):
    path = study_file(tmp_path, questions="each = 0")
    code, _, err = nearfar("ask", path)
    assert code == 2 and err.endswith(
        "study.toml, line 5: questions.each: expected a whole number from 1 to 100,000, got 0\n"
    )
    code, _, err = nearfar("ask", "serve", "--public-url", "http://x.org")
    assert code == 2 and "expected an address such as https://study.example.org" in err


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://Study.example.org/", "https://study.example.org"),
        ("https://study.example.org:8443", "https://study.example.org:8443"),
        ("https://study.example.org:443", "https://study.example.org"),  # as browsers name it
    ],
)
def test_a_public_address_is_written_as_browsers_name_it(given, address):
    assert check_public_url(given) == address


@pytest.mark.parametrize("port", [0, 65536, 99999])
def test_a_port_that_none_can_be_is_refused(port):
    with pytest.raises(InputError, match="public-url"):
        check_public_url(f"https://study.example.org:{port}")


def test_a_caddyfile_is_written_once_and_one_for_another_address_is_said(tmp_path, nearfar, monkeypatch):
    path = study_file(tmp_path)
    monkeypatch.setattr("nearfar.ask.serve.serve", lambda *ready, **more: None)
    for address, told in (
        ("https://a.example:8443", "wrote"),
        ("https://a.example:8443", ""),
        ("https://b.example", "warning"),
    ):
        code, _, err = nearfar("ask", path, "--public-url", address)
        assert code == 0 and told in err and bool(told) == ("Caddyfile" in err)
        assert "\na.example:8443 {" in (tmp_path / "Caddyfile").read_text()


def test_a_missing_package_is_one_sentence(tmp_path, nearfar, monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "starlette" else find(name))
    code, _, err = nearfar("ask", study_file(tmp_path))
    assert (code, err) == (
        2,
        "nearfar: starlette is not installed: run  pip install '.[ask]'  in the checkout of nearfar\n",
    )


# ---------------------------------------------------------------- hostile values


def test_formulas_in_the_link_of_a_person_are_not_run_by_a_spreadsheet(make, tmp_path):
    """Anybody can write anything into the id that a recruiter's link hands over."""
    ready = make(objects=["=1+1", "-1", "c", "d"], questions="per_person = 3\nagain = 0\nchecks = 0")
    arrive(ready, "a", outside='=HYPERLINK("https://evil.example")')
    answer(ready, "a", places(ready, "a"))
    ready.store.read_now(export_folder, tmp_path / "out")
    ready.close()
    with open(tmp_path / "out" / "people.csv", newline="") as file:
        (person,) = csv.DictReader(file)
    assert person["outside"] == '\'=HYPERLINK("https://evil.example")' and person["code"] == ""
    with open(tmp_path / "out" / "objects.csv", newline="") as file:
        assert [row["object"] for row in csv.DictReader(file)] == ["'=1+1", "-1", "c", "d"]
    read = read_triplets(tmp_path / "out" / "answers.csv", objects=tmp_path / "out" / "objects.csv")
    assert read.objects == ("=1+1", "-1", "c", "d")


DAMAGE = {
    "choice": "UPDATE answer SET choice = x'00ff'",
    "deep": "UPDATE answer SET choice = replace(hex(zeroblob(3000)), '0', '[')",
    "digits": "UPDATE answer SET choice = replace(hex(zeroblob(3000)), '0', '9')",
    "milliseconds": "UPDATE answer SET milliseconds = 'soon'",
    "received": "UPDATE answer SET received = '[]'",
    "role": "UPDATE slot SET role = 7",
    "objects": "DELETE FROM object WHERE rowid > 1",
    "people": "UPDATE participant SET consent = 'long ago'",
    "table": "DROP TABLE answer",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_database_is_one_sentence(tmp_path, damage, monkeypatch, capsys):
    ready = opened(tmp_path, questions="per_person = 12\nagain = 0\nchecks = 0")
    arrive(ready, "a")
    answer(ready, "a", places(ready, "a"))
    ready.close()
    with sqlite3.connect(tmp_path / "study.db") as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(DAMAGE[damage])
    database.close()
    path = str(tmp_path / "study.db")
    words = ["ask", "export", str(tmp_path / "study.toml")] if damage == "people" else ["check", path]
    monkeypatch.setattr(sys, "argv", ["nearfar", *words])
    with pytest.raises(SystemExit, match=r"^2$"):
        main()
    said = capsys.readouterr().err
    assert said.startswith(f"nearfar: {path}: ") and said.count("\n") == 1
    assert list(tmp_path.rglob("*.tmp.*")) == []


def test_a_database_that_breaks_while_it_is_open_is_one_sentence(make, tmp_path):
    """Pages of the file are overwritten, as by a failing disk."""
    ready = opened(tmp_path, questions="per_person = 12\nagain = 0\nchecks = 0")
    arrive(ready, "a")
    answer(ready, "a", places(ready, "a"))
    ready.close()
    path = tmp_path / "study.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    with pytest.raises((FileError, UnreachableError), match="malformed"):
        erase_person(make(questions="per_person = 12\nagain = 0\nchecks = 0").store, "pa")
