"""Adaptive studies: places stay open until they are near, random questions carry the accuracy, and all can be replayed."""

import json
import threading
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from ask_tools import (
    NAMES,
    answer,
    arrive,
    call,
    check_invariants,
    opened,
    places,
    run_all,
    serving,
    study_file,
)
from benchmarks.ask_faults import run_kills
from cli_tools import run

import nearfar as nf
from nearfar.ask import live
from nearfar.ask import rehearse as rehearsal
from nearfar.ask.answers import collect
from nearfar.ask.export import erase_person, export_tables
from nearfar.ask.live import live_view
from nearfar.ask.passwords import new_secret
from nearfar.ask.pool import overview
from nearfar.ask.prepare import open_study
from nearfar.ask.rehearse import rehearse
from nearfar.ask.store import adaptive, drawing, people, researcher
from nearfar.ask.study import QuestionPlan, read_study
from nearfar.design import near_questions
from nearfar.design.booklets import one_booklet
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


def with_conditions(path, more=""):
    path.write_text(path.read_text() + f'[[condition]]\nname = "a"\n[[condition]]\nname = "b"\n{more}')
    return read_study(path)


def test_conditions_with_objects_of_their_own_are_not_mixed_with_adaptive_questions(tmp_path):
    with pytest.raises(FileError, match="conditions"):
        with_conditions(study_file(tmp_path, **PARTS), f"objects = {list(NAMES[:9])}\n".replace("'", '"'))


def test_conditions_that_differ_in_the_prompt_share_a_model(tmp_path):
    """Random questions come from the condition's own pool; adaptive ones are chosen by the answers of all."""
    study = with_conditions(study_file(tmp_path, **PARTS), 'prompt = "Which one tastes alike?"')
    ready = open_study(study)
    try:
        filled(ready)
        told = dict(ready.store.read_now(adaptive.replay))
        assert told["different"].startswith("0") and not told["questions"].startswith("0")
        table = pl.read_csv(ready.store.read_now(export_tables)["answers.csv"], infer_schema_length=None)
        asked = table.select("participant", "condition", "rule").unique()
        for rule in ("random", "adaptive"):
            assert set(asked.filter(pl.col("rule") == rule)["condition"]) == {"a", "b"}
        assert asked.select("participant", "condition").unique()["participant"].is_unique().all()
        check_invariants(ready)
    finally:
        ready.store.close()


def test_studies_of_other_designs_keep_their_fingerprint(tmp_path):
    study = read_study(study_file(tmp_path, questions="per_person = 30"))
    before = {"design": "random", "random": 0.2, "again": 0.1, "checks": 3, "each": 5, "per_person": 30, "practice": 2,
              "break_every": 20, "options": 8, "pick": 2, "seed": 0}  # fmt: skip
    import hashlib

    fixed = json.dumps([["a", "b", "c"], "near", before], sort_keys=True)
    assert study.fingerprint(("a", "b", "c")) == hashlib.sha256(fixed.encode()).hexdigest()


@pytest.mark.parametrize(("control", "people"), [(0.25, 5), (0.02, 1), (0, 0)])
def test_a_share_of_the_people_are_controls(control, people):
    plan = QuestionPlan(design="adaptive", control=control)
    for block in range(5):
        assert sum(adaptive.is_control(20 * block + i, plan) for i in range(20)) == people


@pytest.mark.parametrize(
    "keys", [{"per_person": 4, "again": 0, "checks": 0}, {"per_person": 60}, {"per_person": 24}]
)
def test_random_questions_stand_at_random_places(keys):
    """Repeats need early ones: without a remedy, twice as many stood in the first third as in the last."""
    plan, rng = QuestionPlan(design="adaptive", random=0.18, control=0, **keys), np.random.default_rng(0)
    asked, at_random = near_questions(12, plan.n_new), np.zeros((300, plan.n_new))
    for booklet in at_random:
        made = one_booklet(asked, plan.n_again, plan.checks, earlier=asked[:0], seed=rng)
        new = np.flatnonzero(made.role == 0)
        booklet[~np.isin(new, list(adaptive.open_places(made, 0, plan, rng)))] = 1
        assert booklet.sum() == plan.n_random(plan.n_new) >= 0.18 * plan.n_new
    first, *_, last = np.array_split(at_random.mean(axis=0), 3)
    assert first.mean() == pytest.approx(last.mean(), rel=0.3)


def roles(ready, person):
    return ready.store.read_now(
        lambda tx: tx.rows(
            "SELECT s.place, s.role, s.question, q.condition FROM slot s LEFT JOIN question q ON q.id = s.question "
            "WHERE s.participant = ? ORDER BY s.place",
            person,
        )
    )


def n_chosen(ready):
    return ready.store.read_now(lambda tx: tx.rows("SELECT count(question) FROM choice"))[0][0]


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
        # a fifth of the new questions is random, and those for which no model has one about other objects
        assert 25 - 5 - 2 <= len(settled) <= 25 - 5
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
    exported = ready.store.read_now(export_tables)
    asked = pl.read_csv(exported["people.csv"])
    assert set(asked.filter(pl.col("control") == "yes")["participant"]) == {*collected.control}
    assert set(asked["control"]) == {"yes", "no"}
    table = pl.read_csv(exported["answers.csv"], infer_schema_length=None)
    chosen = table.filter(pl.col("rule") == "adaptive")
    for column in ("score", "probability", "model", "seed"):
        assert chosen[column].null_count() == 0
        assert (
            table.filter(pl.col("rule") == "random")[column].null_count() == (table["rule"] == "random").sum()
        )


def test_the_live_view_fits_the_model_that_adaptive_questions_are_chosen_with(make):
    """A kernel counts answers as if questions were random, so adaptive ones mislead it."""
    ready = make(**PARTS)
    filled(ready)
    collected = ready.store.read_now(collect)
    view, kernel = live_view(collected), nf.compare(collected.triplets, ["score"])["score"]
    assert view["model"] == "ste-4" and len(view["map"]) == 12
    assert view["accuracy"]["value"] > kernel.accuracy + 0.05
    assert view["adaptive"]["harms"] is False
    chosen = collected.triplets[np.flatnonzero(np.asarray(collected.triplets.rule) == "adaptive")]
    for objects in (chosen.anchor, chosen.array.ravel()):
        often = np.bincount(objects, minlength=12)
        assert f"{often.min()} to {often.max()} " in view["balance"]


def test_an_accuracy_of_the_live_page_is_never_below_nought():
    """With few of many participants the interval that holds at every look is several times as wide."""
    point = SimpleNamespace(accuracy=0.6, low=0.4, high=0.8)
    held = live._accuracy(point, 6, 1000)
    assert (held["low"], held["high"]) == (0, 1) and "interval 0.0 to 100.0" in held["text"]


def test_every_anchor_is_asked_equally_often(make):
    """Also while many answer at once, when models do not know of the questions that wait."""
    ready = make(**PARTS)
    rng = np.random.default_rng(1)
    adaptive.refresh(ready.store, ready.study.questions, 1.0)
    here = [f"t{number}" for number in range(12)]
    for token in here:
        arrive(ready, token, now=1.0, rng=rng)
    for turn in range(30):
        for token in here:
            answer(ready, token, places(ready, token)[:1], choice=(int(rng.integers(2)),), now=1.0 + turn)
        adaptive.refresh(ready.store, ready.study.questions, 1.0 + turn)
    answers = ready.store.read_now(collect).triplets
    anchors = np.bincount(answers.anchor[np.asarray(answers.rule) == "adaptive"], minlength=12)
    assert anchors.min() > 10 and np.ptp(anchors) <= 2


def test_three_objects_are_too_few_for_an_adaptive_study(tmp_path):
    path = study_file(
        tmp_path, objects=list("abc"), questions='design = "adaptive"\nper_person = 1\nagain = 0\nchecks = 0'
    )
    with pytest.raises(FileError, match="4 objects"):
        overview(read_study(path))


def test_the_rehearsal_of_the_saving_is_about_this_study(tmp_path, monkeypatch):
    from nearfar.evaluate import planned_saving

    seen, simulated = [], planned_saving.expected_saving
    monkeypatch.setattr(
        planned_saving, "expected_saving", lambda *a, **k: seen.append((*a, k)) or simulated(*a, **k)
    )
    questions = 'design = "adaptive"\nper_person = 10\nagain = 0\nchecks = 2\nrandom = 0.5\ncontrol = 0.4'
    study = read_study(study_file(tmp_path, questions=questions, people="aim = 4"))
    for seed, noise in ((3, 0.1), (3, 0.8), (4, 0.8)):
        told = dict(rehearse(study, seed=seed, noise=noise))
        assert "12 objects" in told["adaptive"] or "too much" in told["adaptive"]
    assert [one[-1]["seed"] for one in seen] == [3, 3, 4]
    assert {one[-1]["random"] for one in seen} == {0.4 + 0.6 * 0.5}
    assert {one[-1]["per_person"] for one in seen} == {8}
    clear, noisy, _ = (one[3].agreement for one in seen)
    assert clear > 0.9 and noisy < 0.65


def test_the_rehearsal_stops_where_the_study_would(tmp_path):
    questions = "per_person = 12\nagain = 0\nchecks = 1"
    told = {}
    for width in (0.5, 0.005):
        study = study_file(tmp_path, questions=questions, people=f"aim = 20\nstop_width = {width}")
        told[width] = dict(rehearse(read_study(study)))
    assert told[0.005]["people"].startswith("20,") and "not reached" in told[0.005]["stop_width"]
    assert int(told[0.5]["people"].split(",")[0]) < 20 and "narrower than 0.5" in told[0.5]["stop_width"]


def test_models_of_a_rehearsal_use_all_adaptive_answers(tmp_path, monkeypatch):
    """Also those of people who take longer than the next one needs to come."""
    unused = (
        "SELECT count(*) FROM answer a JOIN slot s ON s.participant = a.participant AND s.place = a.place "
        "JOIN question q ON q.id = s.question LEFT JOIN used u ON u.participant = a.participant AND u.place = a.place "
        "WHERE q.condition = '~' AND u.model IS NULL AND a.participant < 7"
    )
    seen = []
    look = lambda ready, *_: seen.extend(ready.store.read_now(lambda tx: tx.rows(unused))) or []  # noqa: E731
    monkeypatch.setattr(rehearsal, "_lines", look)
    study = read_study(
        study_file(tmp_path, questions='design = "adaptive"\nper_person = 60', people="aim = 8")
    )
    rehearse(study)
    assert seen == [(0,)]


@pytest.mark.parametrize("n", [4, 5])
def test_few_objects_are_enough_for_an_adaptive_study(tmp_path, n):
    questions = 'design = "adaptive"\nper_person = 4\nagain = 0\nchecks = 0'
    told = dict(
        rehearse(
            read_study(
                study_file(tmp_path, objects=list("abcde"[:n]), questions=questions, people="aim = 30")
            ),
            count=30,
        )
    )
    assert told["answers"] == "120" and "reached" in told


def test_the_same_questions_are_drawn_again(make):
    ready = make(**PARTS)
    filled(ready)
    told = dict(ready.store.read_now(adaptive.replay))
    asked = n_chosen(ready)
    assert asked > 50 and told["questions"].startswith(f"{asked} ") and told["different"] == "0"
    assert told["not drawn again"].startswith("0")
    ready.store.write_now(lambda tx: tx.run("UPDATE choice SET score = score * 1.01 WHERE model = 3"))
    assert dict(ready.store.read_now(adaptive.replay))["different"] != "0"


def test_a_script_can_see_that_a_replay_differs(make, monkeypatch, capsys):
    ready = make(**PARTS)
    database = ready.store.url
    code, told, _ = run(monkeypatch, capsys, "ask", "replay", database)
    assert code == 0 and "no adaptive" in told
    filled(ready, 3)
    assert run(monkeypatch, capsys, "ask", "replay", "-q", database)[0] == 0
    ready.store.write_now(lambda tx: tx.run("UPDATE choice SET score = score * 1.01"))
    code, told, _ = run(monkeypatch, capsys, "ask", "replay", "-q", database)
    assert code == 1 and "other vectors" in told


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE choice SET probability = probability * 1.01",
        "UPDATE question SET source = 'random', condition = '' WHERE condition = '~'",
        "UPDATE slot SET shown = '[0, 1, 2]' WHERE question IN (SELECT question FROM choice)",
        "DELETE FROM choice WHERE question IS NOT NULL",
        "UPDATE model SET seed = seed + 1",
        "DELETE FROM model WHERE id > 2",
    ],
)
def test_a_replay_tells_what_was_changed(make, change):
    ready = make(**PARTS)
    filled(ready, 4)
    assert dict(ready.store.read_now(adaptive.replay))["different"] == "0"
    ready.store.write_now(lambda tx: tx.run(change))
    assert not dict(ready.store.read_now(adaptive.replay))["different"].startswith("0")


def test_what_was_chosen_for_or_by_an_erased_person_is_gone(make):
    ready = make(**PARTS)
    filled(ready, 6)
    person = next(i for i in range(1, 6) if not adaptive.is_control(i - 1, ready.study.questions))

    def chosen(tx):
        kept = tx.rows("SELECT count(*) FROM question WHERE condition = ?", adaptive.CHOSEN)[0][0]
        return kept, tx.rows("SELECT count(*), count(question) FROM choice")[0]

    own = [row[2] for row in roles(ready, person) if row[3] == adaptive.CHOSEN]
    version = ready.store.read_now(lambda tx: tx.rows("SELECT max(id) FROM model"))[0][0]
    made = ready.store.read_now(adaptive.choose, version)
    before, (_, asked) = ready.store.read_now(chosen)
    name = ready.store.read_now(lambda tx: tx.rows("SELECT name FROM participant WHERE id = ?", person))[0][0]
    erase_person(ready.store, name)
    assert ready.store.read_now(chosen) == (before - len(own), (asked - len(own), asked - len(own)))
    check_invariants(ready)
    # a model that was being computed meanwhile is not taken, and the next one is made without this person
    ready.store.write_now(adaptive.add_questions, version, made)
    assert ready.store.read_now(chosen)[1] == (asked - len(own), asked - len(own))
    adaptive.refresh(ready.store, ready.study.questions, 50.0)
    waiting, _ = ready.store.read_now(chosen)[1]
    assert waiting > asked - len(own)
    told = dict(ready.store.read_now(adaptive.replay))
    assert told["different"] == "0" and not told["questions"].startswith("0")


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
    before = n_chosen(ready)
    rng = np.random.default_rng(1)
    for number in (10, 11):
        arrive(ready, f"t{number}", now=10.0)
        ask_everything(ready, f"t{number}", rng.normal(size=(12, 2)), rng, now=11.0)
    assert n_chosen(ready) == before
    controls = [
        i for i in range(1, 6) if adaptive.is_control(i, ready.study.questions)
    ]  # no more than before
    assert len(ready.store.read_now(collect).control) == len(controls)
    check_invariants(ready)


def test_a_study_stops_when_its_accuracy_is_known_well_enough(make):
    ready = make(questions="per_person = 12\nagain = 0\nchecks = 1", people="aim = 9\nstop_width = 0.1")
    wide, narrow = ({"low": 0.7, "high": high, "text": "..."} for high in (0.85, 0.79))
    for accuracy, state in ((None, "open"), (wide, "open"), (narrow, "paused")):
        view = json.dumps({"adaptive": None, "accuracy": accuracy})
        ready.store.write_now(researcher.act_on_view, view, ready.study.people.stop_width, 1.0)
        assert ready.store.read_now(researcher.counts, 1.0)["state"] == state
        assert bool(ready.store.read_now(adaptive.noted, adaptive.ENOUGH)) == (state == "paused")
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
    told = dict(rehearse(read_study(path), count=6, output=tmp_path / "out"))
    assert told["answers"] == "180" and told["people"].startswith("6, 6 finished")
    answers = nf.read_triplets(tmp_path / "out" / "answers.csv")
    said = live._balance(answers)
    assert ("anchor" in said) == (kind == "grid")
    rows = np.asarray(answers.rule) == "adaptive"
    asked = {
        (s, x)
        for s, row in zip(answers.statement_ids[rows], answers.array[rows].tolist(), strict=True)
        for x in row
    }
    often = np.bincount([x for _, x in asked])
    assert f"in {often.min()} to {often.max()} " in said
    assert live._balance(answers[~rows]) is None


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
