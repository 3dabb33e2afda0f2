"""What the researcher does to the database: set up, look, pause, export, erase. Each function is one transaction."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

import numpy as np

from nearfar.ask.objects import Picture, StudyObjects
from nearfar.ask.passwords import new_secret
from nearfar.ask.pool import Pool, same_trio
from nearfar.ask.store.adaptive import CHOSEN, ENOUGH, OFF, noted
from nearfar.ask.store.drawing import unload
from nearfar.ask.store.transaction import VERSION, Row, Transaction
from nearfar.ask.study import Study
from nearfar.errors import InputError

ERASING = "erasing"  # the event of a deletion of which traces may be left in the files
# ---------------------------------------------------------------- setting up


def study_row(tx: Transaction) -> dict[str, Any] | None:
    """The study that a database holds, or None where it is empty."""
    ((found,),) = tx.rows("SELECT version FROM study WHERE id = 1") or [(VERSION,)]
    if found != VERSION:
        made = f"made by another version of nearfar (its tables have version {found}, expected {VERSION})"
        raise InputError(f"the database was {made}; use that version for it")
    columns = ("toml", "fingerprint", "kind", "pick", "state", "password", "secret", "created")
    rows = tx.rows(f"SELECT {', '.join(columns)} FROM study WHERE id = 1")
    return dict(zip(columns, rows[0], strict=True)) if rows else None


def create(
    tx: Transaction, study: Study, objects: StudyObjects, pool: Pool, pictures: list[tuple[str, Picture]], password: str
) -> bool:  # fmt: skip
    """Fill an empty database, wholly or not at all; False where another process was faster."""
    tx.lock_drawing()
    made = tx.insert(
        "study", id=1, version=VERSION, toml=study.toml.text, fingerprint=study.fingerprint(objects.names),
        kind=study.kind, pick=pool.questions.pick, state="open", password=password, secret=new_secret(), created=time.time(),
    )  # fmt: skip
    if not made:
        return False
    tx.run_many(
        "INSERT INTO object (id, name, display_name) VALUES (?, ?, ?)",
        list(zip(range(len(objects.names)), objects.names, objects.display_names, strict=True)),
    )
    rows = pool.questions.array.tolist()
    shuffle = np.random.default_rng(study.questions.seed).random(len(rows)).tolist()
    tx.run_many(
        "INSERT INTO question (id, items, trio, source, condition, shuffle) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (i, json.dumps(row), same_trio(row), *rest)
            for i, (row, *rest) in enumerate(zip(rows, pool.origin, pool.condition, shuffle, strict=True))
        ],
    )
    for name, picture in pictures:
        tx.insert("picture", hash=picture.hash, media=picture.media, data=picture.data)
        tx.run("UPDATE object SET picture = ? WHERE name = ?", picture.hash, name)
    return True


def update_texts(tx: Transaction, study: Study, display_names: tuple[str, ...]) -> None:
    """Keep the study file as it is now; what was asked stays."""
    tx.run("UPDATE study SET toml = ? WHERE id = 1", study.toml.text)
    shown = [(text, i) for i, text in enumerate(display_names)]
    tx.run_many("UPDATE object SET display_name = ? WHERE id = ?", shown)


def set_state(tx: Transaction, state: str) -> None:
    """Pause ("paused") or resume ("open") the study; who has started may finish."""
    tx.run("UPDATE study SET state = ? WHERE id = 1", state)


def set_password(tx: Transaction, password: str) -> None:
    """Another password (its scrypt form); everybody is logged out."""
    tx.run("UPDATE study SET password = ? WHERE id = 1", password)
    tx.run("DELETE FROM session")


# ---------------------------------------------------------------- looking


def object_rows(tx: Transaction) -> list[Row]:
    """(name, display name, picture, its media type) of every object, in order."""
    return tx.rows(
        "SELECT o.name, o.display_name, o.picture, p.media FROM object o LEFT JOIN picture p ON p.hash = o.picture "
        "ORDER BY o.id"
    )


def is_crowded(tx: Transaction) -> bool:
    """Whether some questions of the pool are about the same objects."""
    same = (
        "SELECT 1 FROM question WHERE condition <> '~' GROUP BY condition, trio HAVING count(*) > 1 LIMIT 1"
    )
    return bool(tx.rows(same))


def picture(tx: Transaction, hash: str) -> tuple[str, bytes] | None:
    """(media type, bytes) of a picture."""
    rows = tx.rows("SELECT media, data FROM picture WHERE hash = ?", hash)
    return (rows[0][0], bytes(rows[0][1])) if rows else None


def answer_rows(tx: Transaction) -> list[Row]:
    """(participant, place, role, shown, choice, milliseconds, away, shown_at, received, replays, early, condition, rule, ...).

    Then score, probability, model and seed of adaptive questions.
    """
    return tx.rows(
        "SELECT p.name, s.place, s.role, s.shown, a.choice, a.milliseconds, a.away, a.shown_at, a.received, "
        "a.replays, a.early, p.condition, q.source, c.score, c.probability, c.model, m.seed "
        "FROM answer a JOIN slot s ON s.participant = a.participant AND s.place = a.place "
        "JOIN participant p ON p.id = a.participant LEFT JOIN question q ON q.id = s.question "
        "LEFT JOIN choice c ON c.question = q.id LEFT JOIN model m ON m.id = c.model ORDER BY a.participant, a.place"
    )


def people_rows(tx: Transaction) -> list[Row]:
    """(name, outside, state, answers, places, code, consent, seen, details, claimed, elapsed, ...) of everybody.

    Then condition, and numbers: cannot tell, early, replays, notices about fast answers, questions not playable. Claimed are the seconds of all answers together, as the browser says; elapsed those from the consent to the last.
    """
    return tx.rows(
        "SELECT p.name, p.outside, p.state, count(a.id), "
        "(SELECT count(*) FROM slot s WHERE s.participant = p.id AND s.released IS NULL), "
        "p.code, p.consent, p.seen, p.details, sum(a.milliseconds - coalesce(a.away, 0)) / 1000, "
        "max(a.received) - p.consent, p.condition, CAST(sum(CASE WHEN a.choice = '[]' THEN 1 ELSE 0 END) AS BIGINT), "
        "CAST(sum(a.early) AS BIGINT), CAST(sum(a.replays) AS BIGINT), (SELECT count(*) FROM event e "
        "WHERE e.participant = p.id AND e.kind = 'fast notice'), (SELECT count(*) FROM event e "
        "WHERE e.participant = p.id AND e.kind = 'not playable') FROM participant p LEFT JOIN answer a ON a.participant = p.id "
        "GROUP BY p.id ORDER BY p.id"
    )


def form_values(tx: Transaction) -> dict[str, dict[str, Any]]:
    """Participant -> name of a field -> what was given."""
    values: dict[str, dict[str, Any]] = {}
    for name, fields in tx.rows(
        "SELECT p.name, f.fields FROM form f JOIN participant p ON p.id = f.participant ORDER BY f.participant, f.at"
    ):
        values.setdefault(name, {}).update(json.loads(fields))
    return values


def balance(tx: Transaction) -> list[tuple[int, int]]:
    """(load, answers) of every question of the pool; repeats and checks do not count."""
    rows = tx.rows("SELECT load, done FROM question WHERE condition <> ? ORDER BY id", CHOSEN)
    return [(int(load), int(done)) for load, done in rows]


def counts(tx: Transaction, now: float) -> dict[str, Any]:
    """People by state, answers in all, and answers in each of the last thirty minutes."""
    states: dict[str, int] = dict(tx.rows("SELECT state, count(*) FROM participant GROUP BY state"))
    recent = tx.rows("SELECT received FROM answer WHERE received > ?", now - 1800)
    ages = Counter(int((now - received) // 60) for (received,) in recent)
    return {
        "state": tx.rows("SELECT state FROM study WHERE id = 1")[0][0],
        "people": {name: int(states.get(name, 0)) for name in ("active", "finished", "left")},
        "answers": tx.rows("SELECT count(*) FROM answer")[0][0],
        "minutes": [ages[age] for age in reversed(range(30))],
        "second_answers": tx.rows("SELECT count(*) FROM event WHERE kind = 'second answer'")[0][0],
    }


# ---------------------------------------------------------------- erasing


def erase(tx: Transaction, name: str, rng: np.random.Generator) -> bool:
    """Delete a person, by the name in exports or the recruiter's id, with everything they said; False: no such person.

    Run ``Store.forget`` afterwards to overwrite what was deleted; until ``erased`` it is known that this is to be done.
    """
    tx.lock_drawing()
    people = tx.rows("SELECT id FROM participant WHERE name = ? OR outside = ?", name, name)
    if not people:
        return False
    person = people[0][0]
    tx.run("UPDATE participant SET state = 'left' WHERE id = ?", person)  # nobody answers meanwhile
    unload(tx, [person], rng, answered_too=True)
    tx.run("DELETE FROM choice WHERE question IS NULL")  # these answers may have led to them
    own = "SELECT q.id FROM slot s JOIN question q ON q.id = s.question WHERE s.participant = ? AND q.condition = ?"
    chosen = tx.rows(own, person, CHOSEN)  # for nobody else
    for table in ("answer", "used", "slot", "token", "event", "form"):
        tx.run(f"DELETE FROM {table} WHERE participant = ?", person)
    for table, question in (("choice", "question"), ("question", "id")):
        tx.run_many(f"DELETE FROM {table} WHERE {question} = ?", chosen)
    tx.run("DELETE FROM participant WHERE id = ?", person)
    tx.run("DELETE FROM view")
    tx.insert("event", at=time.time(), kind=ERASING, detail="")
    return True


def erased(tx: Transaction) -> None:
    """No trace is left."""
    tx.run("DELETE FROM event WHERE kind = ?", ERASING)


# ---------------------------------------------------------------- log-ins, the live view, exports


def add_session(tx: Transaction, hash: str, expires: float, now: float) -> None:
    """Remember a log-in by the hash of its cookie."""
    tx.run("DELETE FROM session WHERE expires < ?", now)
    tx.insert("session", hash=hash, expires=expires)


def has_session(tx: Transaction, hash: str, now: float) -> bool:
    """Whether a cookie is that of a log-in."""
    return bool(tx.rows("SELECT 1 FROM session WHERE hash = ? AND expires > ?", hash, now))


def end_session(tx: Transaction, hash: str) -> None:
    """Log out."""
    tx.run("DELETE FROM session WHERE hash = ?", hash)


def put_view(tx: Transaction, text: str, now: float) -> None:
    """Keep the live view, unless somebody in it was erased while it was computed."""
    tx.run("DELETE FROM view")
    if {(one["name"],) for one in json.loads(text)["people"]} <= {*tx.rows("SELECT name FROM participant")}:
        tx.insert("view", id=1, made=now, json=text)


def act_on_view(tx: Transaction, text: str, stop_width: float | None, now: float) -> str:
    """Do what a new view asks for, once: end adaptive questions that harm, pause a study whose accuracy is known well enough."""
    view = json.loads(text)
    saved, accuracy = view["adaptive"], view["accuracy"]
    if saved and saved["harms"] and not noted(tx, OFF):
        tx.insert("event", at=now, kind=OFF, detail=saved["text"])
        return str(saved["text"])
    narrow = bool(stop_width and accuracy and accuracy["high"] - accuracy["low"] < stop_width)
    stopped = f"Nobody new is asked: the interval of the accuracy is narrower than {stop_width}."
    if narrow and not noted(tx, ENOUGH):
        tx.insert("event", at=now, kind=ENOUGH, detail=stopped)
        set_state(tx, "paused")
        return stopped
    return ""


def get_view(tx: Transaction) -> str | None:
    """The live view, as JSON."""
    rows = tx.rows("SELECT json FROM view WHERE id = 1")
    return str(rows[0][0]) if rows else None


def version_of_answers(tx: Transaction) -> tuple[Any, ...]:
    """Something that changes whenever answers come or go."""
    return tuple(tx.rows("SELECT count(*), max(received), (SELECT count(*) FROM participant) FROM answer")[0])


def add_export(tx: Transaction, path: str) -> None:
    """Remember where answers were written to, so that an erased person is taken out there as well."""
    tx.insert("export", path=path)


def exports(tx: Transaction) -> list[str]:
    """Folders that answers were written to."""
    return [row[0] for row in tx.rows("SELECT path FROM export ORDER BY path")]
