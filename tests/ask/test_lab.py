"""What a lab needs besides questions: forms, parameters, conditions, sounds, backups, migration, hosting."""

import csv
import io
import json
import math
import os
import shlex
import shutil
import sqlite3
import stat
import struct
import subprocess
import uuid
import wave
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from ask_tools import (
    answer,
    arrive,
    call,
    check_invariants,
    everything_in,
    opened,
    places,
    serving,
    spread,
    study_file,
)
from cli_tools import run
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms

from nearfar.ask.export import backup_study, erase_person, export_folder, export_study
from nearfar.ask.forms import FormField, check_values, is_right
from nearfar.ask.objects import encode_picture, find_objects
from nearfar.ask.passwords import new_secret
from nearfar.ask.pool import overview
from nearfar.ask.prepare import open_study
from nearfar.ask.rehearse import rehearse
from nearfar.ask.store import people, read_store, researcher
from nearfar.ask.store.transaction import VERSION
from nearfar.ask.study import read_study
from nearfar.errors import FileError, InputError, NearfarWarning

SHORT = "per_person = 6\nagain = 0\nchecks = 1\neach = 2\npractice = 1"
FORM = """
[[form]]
name = "group"
ask = "Which hand?"
kind = "choice"
options = ["left", "right"]
[[form]]
name = "age"
ask = "Age?"
kind = "number"
least = 18
most = 99
required = false
[[form]]
name = "understood"
when = "practice"
ask = "What do you choose?"
kind = "choice"
options = ["the louder", "the nearer"]
right = "the nearer"
[[form]]
name = "remarks"
when = "after"
ask = "Remarks?"
kind = "text"
required = false
"""
CONDITIONS = """
[[condition]]
name = "pitch"
prompt = "Closer in pitch?"
[[condition]]
name = "some"
objects = ["thing 0", "thing 1", "thing 2", "thing 3", "thing 4", "thing 5"]
"""


@pytest.fixture
def shell(monkeypatch, capsys):
    """A command of nearfar: (exit code, stdout, stderr)."""
    return lambda *words: run(monkeypatch, capsys, *words)


def sound(path, hertz):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(4000)
        samples = (int(8000 * math.sin(2 * math.pi * hertz * t / 4000)) for t in range(400))
        file.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))


def take_part(port, outside, fields, choose=lambda shown: [0]):
    """Somebody who fills every page and answers everything; the token and the last reply."""
    token = new_secret()
    status, told = call(port, "/start", {"consent": True, "outside": outside}, token=token)
    assert (status, told) == (200, {"status": "ok"})
    for page, values in fields.items():
        assert call(port, "/form", {"page": page, "fields": values}, token=token) == (200, {"saved": True})
    booklet = call(port, "/booklet", token=token)[1]
    assert set(booklet["filled"]) == set(fields)
    sent = [
        {"id": str(uuid.uuid4()), "place": p["place"], "choice": choose(p["shown"]), "milliseconds": 900.0}
        for p in booklet["places"]
    ]
    assert len(call(port, "/answers", {"answers": sent}, token=token)[1]["saved"]) == len(sent)
    return token, booklet, call(port, "/finish", {}, token=token)[1]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------- forms


def field(kind, **more):
    return FormField("x", "?", kind, **more)


GOOD = [
    (field("text", most=3), "abc", "abcd"),
    (field("number", least=18, most=99), 18.5, 17),
    (field("number"), -1e9, float("nan")),
    (field("number"), 0, 10**400),  # which no export could hold
    (field("choice", options=("a", "b")), "a", "A"),
    (field("choice", options=(" a", "b ")), " a", "a"),  # as the study file writes them
    (field("choices", options=("a", "b"), least=1, most=1), ["b"], ["a", "b"]),
    (field("choices", options=("a", "b"), most=2), ["b", "a"], ["b", "b"]),
    (field("scale", least=1, most=7), 7, 7.0),
    (field("scale", least=1, most=7), 1, True),
]


@pytest.mark.parametrize(("one", "good", "bad"), GOOD)
def test_values_are_checked_where_they_arrive(one, good, bad):
    assert check_values([one], {"x": good}) == ({"x": good}, "")
    assert check_values([one], {"x": bad})[1]
    assert check_values([one], {})[1] and not check_values([field("text", required=False)], {"x": " "})[1]
    assert check_values([one], {"x": good, "y": 1})[1]


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5)
)
def test_no_value_is_an_error_of_the_server(value):
    for one, good, _ in GOOD:
        told, wrong = check_values([one], {"x": value})
        assert wrong or (one.wrong(told["x"]) == "" and type(told["x"]) in (type(good), int, float, str))
    assert check_values([field("text")], value)[1]


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ('name = "code"\nask = "?"\nkind = "text"', "name"),
        ('name = "1"\nask = "?"\nkind = "text"', "name"),
        ('name = "a"\nask = "?"\nkind = "choice"', "options"),
        ('name = "a"\nask = "?"\nkind = "choice"\noptions = ["a", "a"]', "options"),
        ('name = "a"\nask = "?"\nkind = "scale"\nleast = 1\nmost = 99', "most"),
        ('name = "a"\nask = "?"\nkind = "scale"\nleast = 0.5\nmost = 5', "most"),
        ('name = "a"\nask = "?"\nkind = "number"\nleast = 3\nmost = 2', "most"),
        ('name = "a"\nask = "?"\nkind = "text"\nmost = 99999', "most"),
        ('name = "a"\nask = "?"\nkind = "number"\nright = 3', "right"),
        ('name = "a"\nask = "?"\nkind = "text"\nmost = 0', "most"),
        ('name = "a"\nask = "?"\nkind = "choices"\noptions = ["a", "b"]\nmost = 1.5', "most"),
        ('name = "a"\nask = "?"\nkind = "choices"\noptions = ["a;b", "a"]', "options"),
        ('name = "a"\nask = "?"\nkind = "choice"\noptions = ["a", "b"]\nleast = 1', "least"),
        ('name = "OK"\nask = "?"\nkind = "text"', "name"),
        ('name = "Code"\nask = "?"\nkind = "text"', "name"),
        ('name = "a"\nask = "?"\nkind = "slider"', "kind"),
        (
            'name = "a"\nask = "?"\nkind = "scale"\nleast = 1\nmost = 5\nlabels = ["one"]',
            "labels: expected a list of 2 different",
        ),
        ('name = "a"\nkind = "text"', "ask"),
        ('name = "a"\nask = "?"\nkind = "text"\ncolour = "red"', "colour"),
    ],
)
def test_a_form_that_cannot_be_is_one_sentence_with_its_line(tmp_path, table, key):
    path = study_file(
        tmp_path,
        questions=SHORT,
        people=f'[[form]]\nname = "ok"\nask = "?"\nkind = "text"\n[[form]]\n{table}',
    )
    with pytest.raises(FileError, match=rf"line \d+: form 2\.{key}"):
        read_study(path)


def test_forms_are_saved_once_exported_and_erased_to_the_byte(make, tmp_path):
    ready = make(
        questions=SHORT, people='aim = 4\nrecruit = "prolific"\ncode = "C"\nkeep = ["wave"]\n' + FORM
    )
    with serving(ready) as port:
        for number in range(3):
            pages = {
                "before": {"group": "left", "age": 40 + number},
                "practice": {"understood": "the nearer"},
                "after": {"remarks": f"=SECRET-OF-{number}"},
            }
            outside = {
                "PROLIFIC_PID": f"id{number}",
                "SESSION_ID": "s",
                "wave": f"WAVE {number}",
                "other": "x",
            }
            token, _, ended = take_part(port, outside, pages)
            assert ended["code"] == "C"
        late = {"page": "before", "fields": {"group": "right"}}
        assert call(port, "/form", late, token=token) == (200, {"saved": True})  # the first one counts
        for wrong in (
            {"page": "no", "fields": {}},
            {"page": "before", "fields": {"group": "up"}},
            {"page": []},
        ):
            assert call(port, "/form", wrong, token=token)[0] == 400
        assert call(port, "/form", late, token=new_secret())[0] == 401
    export_study(ready.store.url, tmp_path / "out")
    backup_study(ready.store.url, tmp_path / "backup")
    told = rows_of(tmp_path / "out" / "people.csv")
    assert [(row["group"], row["age"], row["wave"]) for row in told] == [
        ("left", f"{40 + number}", f"WAVE {number}") for number in range(3)
    ]
    assert told[1]["remarks"] == "'=SECRET-OF-1" and told[1]["consent"].endswith("Z")

    assert b"SECRET-OF-1" in everything_in(tmp_path) and b"WAVE 1" in everything_in(tmp_path)
    assert erase_person(ready.store, "id1") == []
    left = everything_in(tmp_path)
    assert b"SECRET-OF-1" not in left and b"WAVE 1" not in left and b"SECRET-OF-2" in left
    check_invariants(ready)
    with sqlite3.connect(tmp_path / "backup" / "study.db") as copy:
        assert copy.execute("SELECT count(*) FROM participant").fetchone() == (2,)


def test_nobody_finishes_without_the_pages_and_who_misunderstands_tries_again(make):
    ready = make(questions=SHORT, people="aim = 4\n" + FORM)
    with serving(ready) as port:
        token, _, ended = take_part(port, {}, {"before": {"group": "left"}})
        assert ended == {"left": 2}
        wrong = {"page": "practice", "fields": {"understood": "the louder"}}
        tried = [call(port, "/form", wrong, token=token)[1]["saved"] for _ in range(3)]
        assert tried == [False, False, True]
        assert call(port, "/form", {"page": "after", "fields": {}}, token=token)[1]["saved"]
        assert call(port, "/finish", {}, token=token)[1]["left"] == 0
    values = ready.store.read_now(researcher.form_values)
    assert list(values.values()) == [{"group": "left", "understood": "the louder", "practice_tries": 3}]
    fields = ready.study.page("practice")
    assert not is_right(fields, {"understood": "the louder"}) and "right" not in fields[0].shown()


def test_simulated_people_fill_in_every_kind_of_field_and_come_with_the_parameter(tmp_path):
    more = """
[[form]]
name = "several"
ask = "Which?"
kind = "choices"
options = ["x", "y", "z"]
least = 2
[[form]]
name = "any"
ask = "Which, if one must be given?"
kind = "choices"
options = ["x", "y"]
least = 0
[[form]]
name = "tired"
ask = "How tired?"
kind = "scale"
least = 1
most = 7
when = "after"
[[form]]
name = "narrow"
ask = "Between?"
kind = "number"
least = 0.4
most = 0.6
"""
    people = 'aim = 4\nlimit = 5\nkeep = ["wave"]\nassign = "parameter:wave"\n'
    study = read_study(study_file(tmp_path, questions=SHORT, people=people + FORM + more + CONDITIONS))
    told = dict(rehearse(study, count=12, drop_out=0.5, output=tmp_path / "out"))
    rows = rows_of(tmp_path / "out" / "people.csv")
    finished = [row for row in rows if row["state"] == "finished"]
    assert told["people"] == f"{len(rows)}, {len(finished)} finished" and len(finished) > 2
    assert {row["wave"] for row in rows} == {"pitch", "some"} == {row["condition"] for row in rows}
    for row in finished:
        assert row["group"] in ("left", "right") and 18 <= int(row["age"]) <= 99 and row["remarks"]
        assert row["understood"] == "the nearer" and 1 <= int(row["tired"]) <= 7
        assert row["any"] and len(row["several"].split("; ")) >= 2 and 0.4 <= float(row["narrow"]) <= 0.6
    assert all(row["tired"] == "" for row in rows if row["state"] != "finished")


def test_a_form_that_changes_during_the_study_keeps_what_was_given(tmp_path):
    with closing(opened(tmp_path, questions=SHORT, people="aim = 4\n" + FORM)) as ready:
        arrive(ready, "a")
        ready.store.write_now(people.save_form, "a", "before", {"group": "left", "age": 33}, True, 1.0)
    changed = FORM.replace('"age"', '"years"')
    with closing(opened(tmp_path, questions=SHORT, people="aim = 4\n" + changed)) as ready:
        ready.store.read_now(export_folder, tmp_path / "out")
    row = rows_of(tmp_path / "out" / "people.csv")[0]
    assert (row["age"], row["years"], row["group"]) == ("33", "", "left")


# ---------------------------------------------------------------- answers


def test_cannot_tell_is_stored_as_such_and_only_where_it_is_offered(make, tmp_path):
    ready = make(questions=SHORT, people="aim = 4\n[screen]\ncannot_tell = true\nfast_seconds = 1")
    arrive(ready, "a")
    first, second, *rest = places(ready, "a")
    answer(ready, "a", [first], choice=())
    answer(ready, "a", [second, *rest])
    fast = people.Answer(str(uuid.uuid4()), first["place"], (), 1.0, 0.0, None, fast=True)
    ready.store.write_now(people.save_answers, "a", [fast], ready.plan, 1.0)  # a second answer logs nothing
    ready.store.read_now(export_folder, tmp_path / "out")
    assert [row["place"] for row in rows_of(tmp_path / "out" / "cannot_tell.csv")] == [str(first["place"])]
    row = rows_of(tmp_path / "out" / "people.csv")[0]
    assert (row["answers"], row["cannot_tell"], row["fast_notices"]) == ("6", "1", "0")
    rows = rows_of(tmp_path / "out" / "answers.csv") + rows_of(tmp_path / "out" / "checks.csv")
    assert len(rows) == 5
    check_invariants(ready)


def test_without_the_button_nobody_can_skip(make):
    ready = make(questions=SHORT)
    with serving(ready) as port:
        token = new_secret()
        call(port, "/start", {"consent": True, "outside": {}}, token=token)
        sent = {"answers": [{"id": str(uuid.uuid4()), "place": 0, "choice": []}]}
        assert call(port, "/answers", sent, token=token)[0] == 400


@pytest.mark.parametrize("kind", ["near", "odd", "central"])
def test_repeats_and_positions_are_in_the_export(make, tmp_path, kind):
    ready = make(top=f'kind = "{kind}"', questions="per_person = 24\nagain = 0.2\nchecks = 1\neach = 2")
    arrive(ready, "a")
    for at, place in enumerate(places(ready, "a")):
        answer(ready, "a", [place], choice=(at % 2,))

    def slots(tx):
        return {str(p): (r, json.loads(s)) for p, r, s in tx.rows("SELECT place, role, shown FROM slot")}

    known = ready.store.read_now(slots)
    ready.store.read_now(export_folder, tmp_path / "out")
    names, seen = ready.objects.names, Counter()
    for row in rows_of(tmp_path / "out" / "answers.csv"):
        role, shown = known[row["statement"].rpartition("-")[2]]
        assert (row["role"], row["shown"]) == (role, " | ".join(names[i] for i in shown))
        at = int(row["position"]) - 1
        chosen = names[shown[1 + at] if kind == "near" else shown[at]]
        assert chosen == row["far" if kind == "odd" else "near"]
        assert kind != "near" or row["near_side"] == str(at)
        assert len(row["seconds"]) < 8 and row["answered_at"][10] == "T"
        seen[role] += 1
    assert seen["again"] == 4 * (1 if kind == "near" else 2)


# ---------------------------------------------------------------- conditions


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_conditions_are_assigned_evenly_and_each_is_balanced(make, request, where):
    url = [] if where == "sqlite" else [request.getfixturevalue("new_database")()]
    ready = make(*url, questions=SHORT, people="aim = 8\n" + CONDITIONS)
    for number in range(8):
        arrive(ready, f"t{number}")
        open_places = places(ready, f"t{number}")
        if ready.store.read_now(people.booklet, f"t{number}")["condition"] == "some":
            assert {i for place in open_places for i in place["shown"]} <= set(range(6))
        answer(ready, f"t{number}", open_places)
        assert ready.store.write_now(people.finish, f"t{number}", "", 0.0, ready.study)["left"] == 0

    def counts(tx):
        return dict(tx.rows("SELECT condition, count(*) FROM participant GROUP BY condition"))

    assert ready.store.read_now(counts) == {"pitch": 4, "some": 4}
    assert spread(ready) == 0
    check_invariants(ready)


def test_conditions_are_drawn_for_each_person_alone(make):
    ready = make(questions=SHORT, people='aim = 40\nassign = "random"' + CONDITIONS)
    rng, drawn = np.random.default_rng(3), []
    for number in range(40):
        arrive(ready, f"t{number}", rng=rng)
        drawn.append(ready.store.read_now(people.booklet, f"t{number}")["condition"])
        answer(ready, f"t{number}", places(ready, f"t{number}"))
    assert {*drawn} == {"pitch", "some"} and 10 <= drawn.count("some") <= 30
    assert any(
        one == two for one, two in zip(drawn[::2], drawn[1::2], strict=True)
    )  # never, where it is evenly
    check_invariants(ready)


def test_a_parameter_assigns_the_condition_or_turns_away(make):
    more = 'aim = 8\nkeep = ["arm"]\nassign = "parameter:arm"\n' + CONDITIONS
    ready = make(questions=SHORT, people=more)
    with serving(ready) as port:
        _, booklet, _ = take_part(port, {"arm": "pitch"}, {})
        assert booklet["prompt"] == "Closer in pitch?" and "condition" not in booklet
        _, booklet, _ = take_part(port, {"arm": "some"}, {})
        assert booklet["prompt"] is None
        for outside in ({"arm": "no"}, {}):
            told = call(port, "/start", {"consent": True, "outside": outside}, token=new_secret())
            assert told == (200, {"status": "no_id"})


def test_conditions_that_cannot_be(tmp_path):
    for people_table, key in (
        ('aim = 4\n[[condition]]\nname = "a"', r"condition 1\.name"),
        ('aim = 4\nassign = "parameter:x"' + CONDITIONS, r"people\.assign"),
        ('aim = 4\nkeep = ["code"]', r"people\.keep"),
        (CONDITIONS.replace("thing 5", "thing 99"), r"condition 2\.objects.*thing 99"),
    ):
        with pytest.raises(FileError, match=key):
            overview(read_study(study_file(tmp_path, questions=SHORT, people=people_table)))


def test_questions_of_a_file_are_about_objects_of_every_condition(tmp_path):
    (tmp_path / "list.csv").write_text("anchor,one,other\nthing 0,thing 1,thing 9\n")
    design = 'design = "list.csv"\nper_person = 1\nagain = 0\nchecks = 0'
    path = study_file(tmp_path, questions=design, people="aim = 4" + CONDITIONS)
    with pytest.raises(FileError, match=r"line 2: 'thing 9' .* condition"):
        overview(read_study(path))


# ---------------------------------------------------------------- stimuli


def test_lossless_pictures_stay_so_and_names_of_files_are_not_shown(make, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for at, ending in enumerate(("png", "bmp", "tif", "webp", "jpg")):
        noise = Image.merge("RGB", [Image.effect_noise((40, 30), 60 + 20 * band) for band in range(3)])
        noise.save(folder / f"creature{at}.{ending}", **({"lossless": True} if ending == "webp" else {}))
        served = encode_picture(folder / f"creature{at}.{ending}")
        assert served.media == ("image/jpeg" if ending == "jpg" else "image/png")
        if ending != "jpg":
            assert Image.open(io.BytesIO(served.data)).convert("RGB").tobytes() == noise.tobytes()
    (tmp_path / "objects.csv").write_text(
        "object,image\n"
        + "".join(f"creature{i},photos/{f}\n" for i, f in enumerate(sorted(os.listdir(folder))))
    )
    ready = make(
        objects="objects.csv", questions="per_person = 4\nagain = 0\nchecks = 0\neach = 1\npractice = 0"
    )
    with serving(ready) as port:
        described = call(port, "/study.json")[1]
    assert described["show"] == "pictures" and {one["display_name"] for one in described["objects"]} == {""}
    assert ("people see", "the pictures alone, without names") in overview(ready.study)


def test_a_lossless_webp_with_a_profile_stays_lossless(tmp_path):
    noise = Image.merge("RGB", [Image.effect_noise((40, 30), 60 + 20 * band) for band in range(3)])
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    noise.save(tmp_path / "exact.webp", lossless=True, icc_profile=profile)
    noise.save(tmp_path / "lossy.webp", icc_profile=profile)
    served = encode_picture(tmp_path / "exact.webp")
    assert (
        np.abs(np.subtract(Image.open(io.BytesIO(served.data)).convert("RGB"), noise, dtype=int)).max() <= 1
    )
    assert encode_picture(tmp_path / "lossy.webp").media == "image/jpeg"


def test_two_files_that_look_the_same_are_told(tmp_path):
    (tmp_path / "photos").mkdir()
    for at, shade in enumerate((7, 8, 8, 9)):
        Image.new("RGB", (4, 4), (shade, 0, 0)).save(tmp_path / "photos" / f"p{at}.png")
    study = read_study(study_file(tmp_path, objects="photos", questions=SHORT))
    with pytest.warns(NearfarWarning, match="p1 and p2"):
        list(find_objects(study).pictures())


def test_sounds_are_served_as_they_are_and_what_is_none_is_named(tmp_path):
    folder = tmp_path / "sounds"
    folder.mkdir()
    for number in range(4):
        sound(folder / f"s{number}.wav", 200 + 100 * number)
    (folder / "notes.pdf").write_bytes(b"%PDF")
    (folder / ".DS_Store").write_bytes(b"x")
    study = read_study(study_file(tmp_path, objects="sounds", questions=SHORT))
    with pytest.warns(NearfarWarning, match=r"notes\.pdf") as heard:
        objects = find_objects(study)
    assert "DS_Store" not in str(heard[0].message)
    served = dict(objects.pictures())
    assert served["s1"].media == "audio/wav" and served["s1"].data == (folder / "s1.wav").read_bytes()
    (folder / "s2.wav").write_bytes(b"<html>")
    with pytest.raises(FileError, match=r"s2\.wav"):
        list(objects.pictures())


def test_minutes_of_sounds_are_those_that_the_study_names(tmp_path):
    (tmp_path / "sounds").mkdir()
    for number in range(9):
        sound(tmp_path / "sounds" / f"s{number}.wav", 200 + 100 * number)
    path = study_file(tmp_path, objects="sounds", questions=SHORT)
    assert "expected_seconds" in dict(overview(read_study(path)))["minutes"]
    path.write_text(path.read_text() + "[screen]\nexpected_seconds = 20\nsize = 60")
    told = dict(overview(read_study(path)))
    assert told["minutes"].startswith("2.0 ") and "screen" not in told  # a sound needs no room
    assert told["people see"].startswith("the sounds alone")


def test_how_wide_a_screen_must_be_is_said_where_pictures_are_shown(tmp_path):
    (tmp_path / "photos").mkdir()
    for shade in range(9):
        Image.new("RGB", (9, 9), (20 * shade, 0, 0)).save(tmp_path / "photos" / f"{shade}.png")
    size = "aim = 4\n[screen]\nsize = 60"
    told = dict(overview(read_study(study_file(tmp_path, objects="photos", questions=SHORT, people=size))))
    assert "120 px" in told["screen"]
    words = study_file(tmp_path, objects="photos", top='show = "words"', questions=SHORT, people=size)
    assert "screen" not in dict(overview(read_study(words)))


@pytest.mark.parametrize("keep", ["State", "code", "g', 'G"])
def test_a_kept_parameter_has_a_column_of_its_own(tmp_path, keep):
    with pytest.raises(FileError, match=r"line \d+: people\.keep"):
        read_study(study_file(tmp_path, questions=SHORT, people=f"aim = 4\nkeep = ['{keep}']"))


# ---------------------------------------------------------------- the plan


@pytest.mark.parametrize("kind", ["near", "odd", "grid"])
def test_ask_serves_the_lists_of_a_plan_and_asks_as_many_questions(tmp_path, shell, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.txt").write_text("\n".join(f"o{i}" for i in range(20)))
    grid = ["--size", 4, "--pick", 1] * (kind == "grid")
    words = ["names.txt", "--kind", kind, *grid, "--people", 6, "--minutes", 2, "--seconds", 3, "--checks", 2]
    told = shell("plan", *words)[1]
    assert shell(*shlex.split(told.splitlines()[-1].partition("nearfar ")[2]))[0] == 0
    for design in ("lists.csv", "random"):
        more = "\noptions = 4\npick = 1" * (kind == "grid")
        path = study_file(
            tmp_path, objects="names.txt", top=f'kind = "{kind}"',
            questions=f'design = "{design}"\neach = 2\nchecks = 2\nper_person = 40{more}', people="aim = 6",
        )  # fmt: skip
        asked = dict(overview(read_study(path), 3))
        assert f"{asked['questions'].split()[0]} different questions" in told
        assert asked["booklet"] in told and asked["cost"].split()[0] in told


# ---------------------------------------------------------------- backup, copies, migration


def test_a_plain_copy_of_a_running_study_holds_its_answers_within_seconds(make, tmp_path):
    import time

    ready = make(questions=SHORT)
    arrive(ready, "a")
    answer(ready, "a", places(ready, "a"))
    end = time.monotonic() + 20
    while True:
        shutil.copy(tmp_path / "study.db", tmp_path / "copy.db")
        with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
            there = copy.execute("SELECT count(*) FROM sqlite_master WHERE name = 'answer'").fetchone()[0]
            if there and copy.execute("SELECT count(*) FROM answer").fetchone() == (6,):
                break
        assert time.monotonic() < end, "the log was not moved into the file"
        time.sleep(0.2)


def test_a_backup_is_whole_at_any_time_and_a_copy_without_its_log_says_so(make, tmp_path, shell):
    ready = make(questions=SHORT)
    arrive(ready, "a")
    answer(ready, "a", places(ready, "a"))
    assert shell("ask", "backup", tmp_path / "study.toml", tmp_path / "safe")[0] == 0
    copy = tmp_path / "safe" / "study.db"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600 and os.listdir(tmp_path / "safe") == ["study.db"]
    assert read_store(str(copy), researcher.answer_rows) == ready.store.read_now(researcher.answer_rows)
    with pytest.raises(FileError, match="itself"):
        backup_study(ready.store.url, tmp_path)
    with pytest.raises(InputError, match="pg_dump"):
        backup_study("postgresql://h/x", tmp_path / "safe")
    with closing(sqlite3.connect(tmp_path / "bare.db")) as bare:
        bare.execute("PRAGMA user_version = 1")
    code, _, told = shell("check", tmp_path / "bare.db")
    assert code == 2 and "backup" in told


BACK = [
    "DROP INDEX question_by_load", "DROP INDEX event_by_participant", "DROP TABLE form",
    "ALTER TABLE question DROP COLUMN condition", "ALTER TABLE participant DROP COLUMN condition",
    "ALTER TABLE answer DROP COLUMN replays", "ALTER TABLE answer DROP COLUMN early",
    "CREATE INDEX question_by_load ON question (load, done, shuffle)", f"UPDATE study SET version = {VERSION - 1}",
]  # fmt: skip


def tables(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_tables_of_the_version_before_are_migrated_and_a_copy_is_kept(tmp_path):
    with closing(opened(tmp_path, questions=SHORT)) as ready:
        arrive(ready, "a")
        answer(ready, "a", places(ready, "a")[:4])
        ready.store.read_now(export_folder, tmp_path / "before")
    database = tmp_path / "study.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as old:
        for statement in BACK:
            old.execute(statement)
    old_bytes = database.read_bytes()
    assert len(read_store(str(database), researcher.answer_rows)) == 4  # read as it is, nothing is written
    assert database.read_bytes() == old_bytes
    with closing(open_study(read_study(tmp_path / "study.toml"))) as ready:
        ready.store.read_now(export_folder, tmp_path / "after")
        answer(ready, "a", places(ready, "a"))
        check_invariants(ready)
        kept = tmp_path / f"study.db.v{VERSION - 1}"
        with closing(sqlite3.connect(kept)) as copy:
            assert copy.execute("SELECT version FROM study").fetchone() == (VERSION - 1,)
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert erase_person(ready.store, "pa") == [] and not kept.exists()
    assert tables(tmp_path / "before") == tables(tmp_path / "after")


def test_postgres_tables_of_the_version_before_are_migrated(tmp_path, new_database):
    import psycopg

    url = new_database()
    with closing(opened(tmp_path, url, questions=SHORT)) as ready:
        arrive(ready, "a")
        answer(ready, "a", places(ready, "a")[:4])
        ready.store.read_now(export_folder, tmp_path / "before")
    with psycopg.connect(url) as connection:
        for statement in BACK:
            connection.execute(statement)
    with closing(opened(tmp_path, url, questions=SHORT)) as ready:
        ready.store.read_now(export_folder, tmp_path / "after")
        ready.store.write_now(people.save_form, "a", "after", {"x": "SECRET"}, True, 1.0)
        assert erase_person(ready.store, "pa") == []
        assert ready.store.read_now(researcher.form_values) == {}
    assert tables(tmp_path / "before") == tables(tmp_path / "after")


def test_pictures_that_vanish_after_the_start_are_named(tmp_path):
    (tmp_path / "photos").mkdir()
    for at in range(5):
        Image.new("RGB", (4, 4), (at, 0, 0)).save(tmp_path / "photos" / f"{at}.png")
    parts = {"objects": "photos", "questions": "per_person = 4\nagain = 0\nchecks = 0\neach = 1"}
    opened(tmp_path, **parts).close()
    (tmp_path / "photos" / "3.png").rename(tmp_path / "photos" / "other.png")
    with pytest.raises(FileError, match=r"without 3; with other$"):
        opened(tmp_path, **parts)
    (tmp_path / "photos" / "other.png").rename(tmp_path / "photos" / "3.png")
    with pytest.raises(FileError, match=r"already drawn.*: each$"):
        opened(tmp_path, **parts | {"questions": parts["questions"].replace("each = 1", "each = 2")})


# ---------------------------------------------------------------- hosting


def deployed(folder, shell, *more):
    """The files for a rented server."""
    (folder / "welcome.md").write_text("# Hello")
    (folder / "q.csv").write_text(
        "anchor,one,other\n" + "".join(f"thing {i},thing {i + 1},thing {i + 2}\n" for i in range(8))
    )
    study = study_file(folder, questions=SHORT + '\ndesign = "q.csv"', pages='welcome = "welcome.md"')
    (folder / "study.db").write_bytes(b"answers")
    words = ("ask", "deploy", study, folder / "server", "--public-url", "https://study.example.org", *more)
    assert shell(*words)[0] == 0 and shell(*words)[0] == 2  # never over what is there
    return folder / "server"


@pytest.mark.parametrize("postgres", [(), ("--postgres",)])
def test_what_a_server_needs_is_written(tmp_path, shell, postgres):
    target = deployed(tmp_path, shell, *postgres)
    there = ["Caddyfile", "q.csv", "study.toml", "welcome.md"]
    assert sorted(os.listdir(target / "study")) == there  # no answers
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((target / "compose.yaml").read_text())["services"]
    assert services["caddy"]["network_mode"] == services["study"]["network_mode"] == "host"
    assert ("postgres" in services) == bool(postgres)
    assert stat.S_IMODE((target / "compose.yaml").stat().st_mode) == 0o600
    texts = "".join((target / name).read_text() for name in ("Dockerfile", "compose.yaml", "nearfar.service"))
    assert not [mark for mark in ("{study}", "{url}", "{postgres}", "{command}") if mark in texts]


def test_a_study_beside_its_pictures_goes_to_the_server_without_its_answers(tmp_path, shell):
    for shade in range(5):
        Image.new("RGB", (4, 4), (shade, 0, 0)).save(tmp_path / f"{shade}.png")
    study = study_file(tmp_path, objects=".", questions="per_person = 4\nagain = 0\nchecks = 0")
    (tmp_path / "study.db-wal").write_bytes(b"answers")
    words = ("ask", "deploy", study, tmp_path / "server", "--public-url", "https://h.example:8443")
    assert shell(*words)[0] == 0
    there = sorted(os.listdir(tmp_path / "server" / "study"))
    assert there == ["0.png", "1.png", "2.png", "3.png", "4.png", "Caddyfile", "study.toml"]


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("study.toml", "https://x.org; rm -rf ~"),
        ("study.toml", 'https://x.org"'),
        ("study.toml", "https://me@x.org"),
        ("study.toml", "https://x.org%h{"),
        ("study.toml", "https://müller.example"),  # browsers ask for it by another name
        ("a$b.toml", "https://x.org"),
        ("a b.toml", "https://x.org"),
    ],
)
def test_what_a_file_for_the_server_would_run_is_refused(tmp_path, shell, name, url):
    study = study_file(tmp_path, questions=SHORT).rename(tmp_path / name)
    assert shell("ask", "deploy", study, tmp_path / "server", "--public-url", url)[0] == 2
    assert not (tmp_path / "server").exists()


TOOLS = {
    "systemd-analyze": ("verify", "--man=no", "nearfar.service"),
    "caddy": ("validate", "--adapter", "caddyfile", "--config", "study/Caddyfile"),
    "docker-compose": ("-f", "compose.yaml", "config", "-q"),
    "hadolint": ("Dockerfile",),
}


@pytest.mark.parametrize("postgres", [(), ("--postgres",)])
@pytest.mark.parametrize("tool", TOOLS)
def test_the_files_for_a_server_pass_their_tools(tmp_path, shell, tool, postgres):
    beside = Path(".venv-hadolint/bin/hadolint")
    program = shutil.which(tool) or (
        str(beside.resolve()) if tool == "hadolint" and beside.exists() else None
    )
    if program is None:
        pytest.skip(
            f"NO {tool.upper()} WAS TESTED: it is not installed; as root run  sh .ci/hosting  to get it"
        )
    target = deployed(tmp_path, shell, *postgres)
    unit = target / "nearfar.service"  # the program and the user are on the server only
    own = (
        unit.read_text().replace("/srv/venv/bin/nearfar ask", "/bin/true").replace("User=study", "User=root")
    )
    unit.write_text(own)
    checked = subprocess.run([program, *TOOLS[tool]], cwd=target, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


# ---------------------------------------------------------------- from the study to the report


def test_a_study_with_form_sounds_conditions_and_groups_reaches_the_report(tmp_path, shell):
    """The groups that the form asked for are those that the report compares."""
    (tmp_path / "sounds").mkdir()
    for number in range(8):
        sound(tmp_path / "sounds" / f"s{number}.wav", 200 + 100 * number)
    questions = "per_person = 40\nagain = 0.1\nchecks = 2\neach = 6\npractice = 1"
    conditions = '[[condition]]\nname = "pitch"\nprompt = "Pitch?"\n[[condition]]\nname = "loudness"\n'
    path = study_file(
        tmp_path, objects="sounds", questions=questions, people="aim = 12\n" + FORM + conditions
    )
    with closing(open_study(read_study(path))) as ready, serving(ready) as port:
        numbers = call(port, "/study.json")[1]["objects"]
        assert {one["media"] for one in numbers} == {"audio"}
        for person in range(12):
            group = ("left", "right")[person % 2]
            order = {number: (number * (7 if group == "left" else 3)) % 16 for number in range(16)}

            def nearer(shown, order=order):
                anchor, one, other = (order[i] for i in shown)
                return [int(abs(anchor - other) < abs(anchor - one))]

            pages = {"before": {"group": group}, "practice": {"understood": "the nearer"}, "after": {}}
            assert take_part(port, {}, pages, nearer)[2]["left"] == 0
    assert shell("ask", "export", path, "-o", tmp_path / "out", "-q")[0] == 0
    assert {row["condition"] for row in rows_of(tmp_path / "out" / "answers.csv")} == {"pitch", "loudness"}
    made = tmp_path / "report.json"
    words = ["report", tmp_path / "out" / "answers.csv", "--groups", tmp_path / "out" / "people.csv"]
    assert shell(*words, "--model", "score", "-o", tmp_path / "r.html", "--json", made)[0] == 0
    groups = json.loads(made.read_text())["groups"]
    assert {"left", "right"} <= set(json.dumps(groups).replace('"', " ").split())
