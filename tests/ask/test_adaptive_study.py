"""Adaptive studies: places stay open until they are near, random questions carry the accuracy, and all can be replayed."""

import json
import threading

import numpy as np
import polars as pl
import pytest
from ask_tools import answer, arrive, call, check_invariants, opened, places, run_all, serving, study_file
from benchmarks.ask_faults import run_kills

from nearfar.ask.answers import collect
from nearfar.ask.export import erase_person, export_tables
from nearfar.ask.passwords import new_secret
from nearfar.ask.rehearse import rehearse
from nearfar.ask.store import adaptive, drawing, people, researcher
from nearfar.ask.study import read_study
from nearfar.errors import FileError
from nearfar.triplets import random_rows

QUESTIONS = 'design = "adaptive"\nper_person = 30\nagain = 0.1\nchecks = 2\neach = 3'
PARTS = {"questions": QUESTIONS, "people": "aim = 12\nidle_minutes = 10"}


def ask_everything(ready, token, points, rng, leave_after=10**9, now=1.0):
    """Answer by distance until there is nothing left, a model between the answers."""
    while (waiting := places(ready, token)) and leave_after > 0:
        for place in waiting[:leave_after]:
            anchor, one, other = place["shown"]
            near = [np.linalg.norm(points[anchor] - points[x]) + 0.1 * rng.normal() for x in (one, other)]
            answer(ready, token, [place], choice=(int(np.argmin(near)),), now=now)
        leave_after -= len(waiting)
        adaptive.refresh(ready.store, ready.study.questions, now)


def filled(ready, n_people=9, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 2))
    for number in range(n_people):
        token = f"t{number}"
        arrive(ready, token, now=1.0 + number, rng=rng)
        ask_everything(ready, token, points, rng, now=1.0 + number)
        told = ready.store.write_now(people.finish, token, "CODE", 2.0 + number)
        assert told["left"] == 0
    return points, rng


@pytest.mark.parametrize(
    ("questions", "word"),
    [
        ('design = "adaptive"\nrandom = 0.05', "random"),
        ('design = "adaptive"\nagain = 0.3', "again"),
        ('design = "random"\ncontrol = 0.2', "control"),
        ('design = "adaptive"\ncontrol = 0.8', "control"),
    ],
)
def test_what_an_adaptive_study_may_not_say(tmp_path, questions, word):
    with pytest.raises(FileError, match=word):
        read_study(study_file(tmp_path, questions=questions))


def test_conditions_are_not_mixed_with_adaptive_questions(tmp_path):
    path = study_file(tmp_path, **PARTS)
    path.write_text(path.read_text() + '[[condition]]\nname = "a"\n[[condition]]\nname = "b"\n')
    with pytest.raises(FileError, match="conditions"):
        read_study(path)


def test_studies_of_other_designs_keep_their_fingerprint(tmp_path):
    study = read_study(study_file(tmp_path, questions="per_person = 30"))
    before = {"design": "random", "random": 0.2, "again": 0.1, "checks": 3, "each": 5, "per_person": 30, "practice": 2,
              "break_every": 20, "options": 8, "pick": 2, "seed": 0}  # fmt: skip
    import hashlib

    fixed = json.dumps([["a", "b", "c"], "near", before], sort_keys=True)
    assert study.fingerprint(("a", "b", "c")) == hashlib.sha256(fixed.encode()).hexdigest()


def test_a_quarter_of_the_people_are_controls(make):
    plan = make(**PARTS).study.questions
    for block in range(5):
        assert sum(adaptive.is_control(20 * block + i, plan) for i in range(20)) == 5


def roles(ready, person):
    return ready.store.read_now(
        lambda tx: tx.rows(
            "SELECT s.place, s.role, s.question, q.condition FROM slot s LEFT JOIN question q ON q.id = s.question "
            "WHERE s.participant = ? ORDER BY s.place",
            person,
        )
    )


def test_a_booklet_is_settled_a_few_places_ahead(make):
    ready = make(**PARTS)
    plan = ready.study.questions
    for number in range(1, 6):
        adaptive.refresh(ready.store, plan, 0.0)
        arrive(ready, f"t{number}")
        rows, told = roles(ready, number), ready.store.read_now(people.booklet, f"t{number}")
        assert told["total"] == len(rows) == 30
        if adaptive.is_control(number, plan):
            assert len(told["places"]) == 30 and all(row[3] != adaptive.CHOSEN for row in rows)
            continue
        settled = [row for row in rows if row[1] == "open" or row[3] == adaptive.CHOSEN]
        assert len(settled) == 25 - 5  # a fifth of the new questions is random
        assert 3 <= len(told["places"]) < 30
        again = {row[2] for row in rows if row[1] == "again"}
        originals = [row for row in rows if row[2] in again and row[1] == "new"]
        assert len(originals) == 3 and all(row[3] != adaptive.CHOSEN for row in originals)
    check_invariants(ready)


def test_an_open_place_cannot_be_answered(make):
    ready = make(**PARTS)
    token = next(f"t{i}" for i in range(1, 21) if not adaptive.is_control(i, ready.study.questions))
    for i in range(1, 21):
        arrive(ready, f"t{i}")
    number = int(token[1:])
    place = next(row[0] for row in roles(ready, number) if row[1] == "open")
    sent = people.Answer("00000000-0000-4000-8000-000000000000", place, (0,), 900.0, 0.0, None)
    told = ready.store.write_now(people.save_answers, token, [sent], ready.plan, 1.0)
    assert told["saved"] == [] and "no such question" in told["refused"][0]["reason"]


def test_a_whole_study(make):
    ready = make(**PARTS)
    filled(ready)
    check_invariants(ready)
    collected = ready.store.read_now(collect)
    answers = collected.triplets
    rules = np.asarray(answers.rule)
    assert set(rules) == {"random", "adaptive"}
    mask = random_rows(answers)
    assert mask is not None and 0.2 < mask.mean() < 0.6
    controls = np.isin(np.asarray(answers.participant), collected.control)
    assert controls.any() and mask[controls].all() and not mask[~controls].all()
    # never used to choose
    used = "SELECT q.condition, count(*) FROM used u JOIN slot s ON s.participant = u.participant AND s.place = u.place JOIN question q ON q.id = s.question GROUP BY q.condition"
    assert [row[0] for row in ready.store.read_now(lambda tx: tx.rows(used))] == [adaptive.CHOSEN]
    anchors = np.bincount(answers.anchor[rules == "adaptive"], minlength=12)
    assert anchors.max() - anchors.min() <= 6
    table = pl.read_csv(ready.store.read_now(export_tables)["answers.csv"], infer_schema_length=None)
    chosen = table.filter(pl.col("rule") == "adaptive")
    for column in ("score", "probability", "model", "seed"):
        assert chosen[column].null_count() == 0
        assert (
            table.filter(pl.col("rule") == "random")[column].null_count() == (table["rule"] == "random").sum()
        )


def test_the_same_questions_are_drawn_again(make):
    ready = make(**PARTS)
    filled(ready)
    told = dict(ready.store.read_now(adaptive.replay))
    asked = len(ready.store.read_now(researcher.choice_rows))
    assert asked > 50 and told["questions"].startswith(f"{asked} ") and told["different"] == "0"
    assert told["not drawn again"].startswith("0")
    ready.store.write_now(lambda tx: tx.run("UPDATE choice SET score = score * 1.01 WHERE model = 3"))
    assert dict(ready.store.read_now(adaptive.replay))["different"] != "0"


def test_an_erased_person_is_in_no_model(make):
    ready = make(**PARTS)
    filled(ready)
    erased = next(f"pt{i}" for i in range(8) if not adaptive.is_control(i + 1, ready.study.questions))
    erase_person(ready.store, erased)
    check_invariants(ready)
    assert erased not in str(ready.store.read_now(collect).triplets.participant.names)
    told = dict(ready.store.read_now(adaptive.replay))
    assert told["different"] == "0" and not told["not drawn again"].startswith("0")
    orphans = "SELECT count(*) FROM used u LEFT JOIN answer a ON a.participant = u.participant AND a.place = u.place WHERE a.id IS NULL"
    assert ready.store.read_now(lambda tx: tx.rows(orphans))[0][0] == 0


def test_switched_off_it_goes_on_with_random_questions(make):
    ready = make(**PARTS)
    filled(ready, 3)
    view = json.dumps({"adaptive": {"harms": True, "text": "It harms."}, "accuracy": None})
    assert ready.store.write_now(researcher.act_on_view, view, None, 5.0) == "It harms."
    assert ready.store.write_now(researcher.act_on_view, view, None, 6.0) == ""
    before = len(ready.store.read_now(researcher.choice_rows))
    rng = np.random.default_rng(1)
    for number in (10, 11):
        arrive(ready, f"t{number}", now=10.0)
        ask_everything(ready, f"t{number}", rng.normal(size=(12, 2)), rng, now=11.0)
    assert len(ready.store.read_now(researcher.choice_rows)) == before
    check_invariants(ready)


def test_a_study_stops_when_its_accuracy_is_known_well_enough(make):
    ready = make(questions="per_person = 12\nagain = 0\nchecks = 1", people="aim = 9\nstop_width = 0.1")
    wide, narrow = ({"low": 0.7, "high": high, "text": "..."} for high in (0.85, 0.79))
    for accuracy, state in ((None, "open"), (wide, "open"), (narrow, "paused")):
        view = json.dumps({"adaptive": None, "accuracy": accuracy})
        ready.store.write_now(researcher.act_on_view, view, ready.study.people.stop_width, 1.0)
        assert ready.store.read_now(researcher.counts, 1.0)["state"] == state
    ready.store.write_now(researcher.set_state, "open")  # the researcher goes on: it does not stop again
    ready.store.write_now(researcher.act_on_view, view, 0.1, 2.0)
    assert ready.store.read_now(researcher.counts, 1.0)["state"] == "open"


def test_people_who_leave_and_come_back(make):
    ready = make(**PARTS)
    points, rng = filled(ready, 2)
    for number in range(3, 8):
        arrive(ready, f"t{number}", now=100.0)
        ask_everything(ready, f"t{number}", points, rng, leave_after=7, now=100.0)
    ready.store.write_now(drawing.release_idle, 1000.0, rng)
    check_invariants(ready)
    for number in range(3, 8):
        arrive(ready, f"t{number}", now=2000.0)
        ask_everything(ready, f"t{number}", points, rng, now=2000.0)
        assert ready.store.write_now(people.finish, f"t{number}", "CODE", 2001.0)["left"] == 0
    check_invariants(ready, late=True)
    assert dict(ready.store.read_now(adaptive.replay))["different"] == "0"


def test_several_processes_choose_from_one_model(tmp_path, new_database):
    url = new_database()
    first, second = opened(tmp_path, url, **PARTS), opened(tmp_path, url, **PARTS)
    try:
        points = np.random.default_rng(0).normal(size=(12, 2))
        stop = threading.Event()

        def models():
            while not stop.is_set():
                adaptive.refresh(first.store, first.study.questions, 1.0)
                stop.wait(0.05)

        def one(number):
            ready, rng = (first, second)[number % 2], np.random.default_rng(number)
            arrive(ready, f"t{number}", now=1.0, rng=rng)
            while waiting := places(ready, f"t{number}"):
                for place in waiting:
                    anchor, *options = place["shown"]
                    near = [np.linalg.norm(points[anchor] - points[x]) for x in options]
                    answer(ready, f"t{number}", [place], choice=(int(np.argmin(near)),), now=1.0)

        chooser = threading.Thread(target=models)
        chooser.start()
        try:
            run_all([lambda number=number: one(number) for number in range(8)])
        finally:
            stop.set()
            chooser.join()
        check_invariants(first)
        told = dict(second.store.read_now(adaptive.replay))
        assert told["different"] == "0" and not told["questions"].startswith("0")
    finally:
        first.close()
        second.close()


@pytest.mark.parametrize("kind", ["odd", "grid"])
def test_other_kinds_of_questions(tmp_path, kind):
    more = "\noptions = 5\npick = 2" if kind == "grid" else ""
    path = study_file(tmp_path, top=f'kind = "{kind}"', questions=QUESTIONS + more, people="aim = 6")
    told = dict(rehearse(read_study(path), count=6))
    assert told["answers"] == "180" and told["people"].startswith("6, 6 finished")


def test_the_server_makes_models_and_settles_places(tmp_path):
    ready = opened(tmp_path, questions=QUESTIONS, people="aim = 12")
    try:
        with serving(ready) as port:
            token = new_secret()
            body = {"consent": True, "outside": {}}
            for _ in range(20):  # until somebody is no control
                token = new_secret()
                assert call(port, "/start", body, token=token)[1] == {"status": "ok"}
                told = call(port, "/booklet", token=token)[1]
                if len(told["places"]) < told["total"]:
                    break
            done = 0
            while done < told["total"]:
                for place in told["places"]:
                    if not place["answered"]:
                        id = f"00000000-0000-4000-8000-{done:012d}"
                        sent = {
                            "id": id,
                            "place": place["place"],
                            "choice": [done % 2],
                            "milliseconds": 800.0,
                        }
                        assert call(port, "/answers", {"answers": [sent]}, token=token)[1]["saved"] == [id]
                        done += 1
                told = call(port, "/booklet", token=token)[1]
            assert call(port, "/finish", {}, token=token)[1]["left"] == 0
        check_invariants(ready)
    finally:
        ready.close()


def test_killing_the_server_of_an_adaptive_study():
    outcome = run_kills(2, people=4, design="adaptive")
    assert (outcome.lost, outcome.changed, outcome.doubled, outcome.wrong_loads) == (0, 0, 0, 0)
    assert outcome.stored == outcome.confirmed >= 240
    assert outcome.replayed > 0 and outcome.different == 0
