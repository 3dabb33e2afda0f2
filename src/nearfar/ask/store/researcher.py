"""What the researcher does to the database: set up, look, pause, export, erase. Each function is one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from nearfar.ask.objects import Picture, StudyObjects
from nearfar.ask.pool import Pool, same_trio
from nearfar.ask.store.drawing import unload
from nearfar.ask.store.schema import VERSION
from nearfar.ask.store.transaction import Row, Transaction
from nearfar.ask.study import Study

__all__ = [
    "add_pictures",
    "answer_rows",
    "balance",
    "counts",
    "create",
    "erase",
    "is_crowded",
    "object_rows",
    "people_rows",
    "picture",
    "set_state",
    "study_row",
    "update_texts",
]


# ---------------------------------------------------------------- setting up


def study_row(tx: Transaction) -> dict[str, Any] | None:
    """The study that a database holds, or None where it is empty."""
    columns = ("version", "toml", "fingerprint", "kind", "pick", "state", "password", "created")
    found = tx.rows(f"SELECT {', '.join(columns)} FROM study WHERE id = 1")
    return dict(zip(columns, found[0], strict=True)) if found else None


def create(
    tx: Transaction,
    study: Study,
    objects: StudyObjects,
    pool: Pool,
    password: str,
    now: float,
) -> bool:
    """Fill an empty database; False where another process was faster."""
    tx.lock_drawing()
    if study_row(tx) is not None:
        return False
    tx.run(
        "INSERT INTO study (id, version, toml, fingerprint, kind, pick, state, password, created) "
        "VALUES (1, ?, ?, ?, ?, ?, 'open', ?, ?)",
        VERSION,
        study.text,
        study.fingerprint(objects.names),
        study.kind,
        pool.questions.pick,
        password,
        now,
    )
    tx.run_many(
        "INSERT INTO object (id, name, display_name) VALUES (?, ?, ?)",
        list(zip(range(len(objects.names)), objects.names, objects.display_names, strict=True)),
    )
    shuffle = np.random.default_rng(study.questions.seed).random(len(pool)).tolist()
    tx.run_many(
        "INSERT INTO question (id, items, trio, source, shuffle) VALUES (?, ?, ?, ?, ?)",
        [
            (i, json.dumps(row), same_trio(row), origin, at)
            for i, (row, origin, at) in enumerate(
                zip(pool.questions.array.tolist(), pool.origin, shuffle, strict=True)
            )
        ],
    )
    return True


def update_texts(tx: Transaction, study: Study, display_names: tuple[str, ...]) -> None:
    """Keep the study file as it is now; what was asked stays."""
    tx.run("UPDATE study SET toml = ? WHERE id = 1", study.text)
    tx.run_many(
        "UPDATE object SET display_name = ? WHERE id = ?", [(text, i) for i, text in enumerate(display_names)]
    )


def add_pictures(tx: Transaction, pictures: Iterable[tuple[str, Picture]]) -> None:
    """Store pictures, each with the name of its object."""
    for name, picture in pictures:
        tx.run(
            "INSERT INTO picture (hash, media, data) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            picture.hash,
            picture.media,
            picture.data,
        )
        tx.run("UPDATE object SET picture = ? WHERE name = ?", picture.hash, name)


def set_state(tx: Transaction, state: str) -> None:
    """Pause ("paused") or resume ("open") the study; who has started may finish."""
    tx.run("UPDATE study SET state = ? WHERE id = 1", state)


def set_password(tx: Transaction, password: str) -> None:
    """Another password (its scrypt form); everybody is logged out."""
    tx.run("UPDATE study SET password = ? WHERE id = 1", password)
    tx.run("DELETE FROM session")


# ---------------------------------------------------------------- looking


def object_rows(tx: Transaction) -> list[Row]:
    """(name, display name, picture) of every object, in order."""
    return tx.rows("SELECT name, display_name, picture FROM object ORDER BY id")


def is_crowded(tx: Transaction) -> bool:
    """Whether some questions of the pool are about the same objects."""
    return bool(tx.rows("SELECT 1 FROM question GROUP BY trio HAVING count(*) > 1 LIMIT 1"))


def picture(tx: Transaction, hash: str) -> tuple[str, bytes] | None:
    """(media type, bytes) of a picture."""
    found = tx.rows("SELECT media, data FROM picture WHERE hash = ?", hash)
    return (found[0][0], bytes(found[0][1])) if found else None


def answer_rows(tx: Transaction) -> list[Row]:
    """(participant, place, role, shown, choice, milliseconds, away, shown_at, received), by person and place."""
    return tx.rows(
        "SELECT p.name, s.place, s.role, s.shown, a.choice, a.milliseconds, a.away, a.shown_at, a.received "
        "FROM answer a JOIN slot s ON s.participant = a.participant AND s.place = a.place "
        "JOIN participant p ON p.id = a.participant ORDER BY a.participant, a.place"
    )


def people_rows(tx: Transaction) -> list[Row]:
    """(name, outside, state, answers, places, code, consent, seen, details) of everybody."""
    return tx.rows(
        "SELECT p.name, p.outside, p.state, (SELECT count(*) FROM answer a WHERE a.participant = p.id), "
        "(SELECT count(*) FROM slot s WHERE s.participant = p.id AND s.released IS NULL), "
        "p.code, p.consent, p.seen, p.details FROM participant p ORDER BY p.id"
    )


def balance(tx: Transaction) -> list[tuple[int, int]]:
    """(load, answers) of every question of the pool; repeats and checks do not count."""
    return [(int(load), int(done)) for load, done in tx.rows("SELECT load, done FROM question ORDER BY id")]


def counts(tx: Transaction, now: float) -> dict[str, Any]:
    """People by state, answers in all, and answers in each of the last thirty minutes."""
    states: dict[str, int] = dict(tx.rows("SELECT state, count(*) FROM participant GROUP BY state"))
    minutes = [0] * 30
    for (received,) in tx.rows("SELECT received FROM answer WHERE received > ?", now - 1800):
        age = int((now - received) // 60)
        if 0 <= age < 30:
            minutes[29 - age] += 1
    return {
        "state": tx.rows("SELECT state FROM study WHERE id = 1")[0][0],
        "people": {name: int(states.get(name, 0)) for name in ("active", "finished", "left")},
        "answers": tx.rows("SELECT count(*) FROM answer")[0][0],
        "minutes": minutes,
        "second_answers": tx.rows("SELECT count(*) FROM event WHERE kind = 'second answer'")[0][0],
    }


# ---------------------------------------------------------------- erasing


def erase(tx: Transaction, name: str, rng: np.random.Generator) -> bool:
    """Delete a person, by the name in exports or the recruiter's id, with everything they said; False: no such person.

    Run ``Store.forget`` afterwards to overwrite what was deleted.
    """
    tx.lock_drawing()
    found = tx.rows("SELECT id FROM participant WHERE name = ? OR outside = ?", name, name)
    if not found:
        return False
    person = found[0][0]
    tx.run("UPDATE participant SET state = 'left' WHERE id = ?", person)  # nobody answers meanwhile
    unload(tx, [person], rng, answered_too=True)
    for table in ("answer", "slot", "token", "event"):
        tx.run(f"DELETE FROM {table} WHERE participant = ?", person)
    tx.run("DELETE FROM participant WHERE id = ?", person)
    tx.run("DELETE FROM view")
    return True


# ---------------------------------------------------------------- log-ins, the live view, exports


def add_session(tx: Transaction, hash: str, expires: float, now: float) -> None:
    """Remember a log-in by the hash of its cookie."""
    tx.run("DELETE FROM session WHERE expires < ?", now)
    tx.run("INSERT INTO session (hash, expires) VALUES (?, ?)", hash, expires)


def has_session(tx: Transaction, hash: str, now: float) -> bool:
    """Whether a cookie is that of a log-in."""
    return bool(tx.rows("SELECT 1 FROM session WHERE hash = ? AND expires > ?", hash, now))


def end_session(tx: Transaction, hash: str) -> None:
    """Log out."""
    tx.run("DELETE FROM session WHERE hash = ?", hash)


def put_view(tx: Transaction, text: str, now: float) -> None:
    """Keep the live view."""
    tx.run("DELETE FROM view")
    tx.run("INSERT INTO view (id, made, json) VALUES (1, ?, ?)", now, text)


def get_view(tx: Transaction) -> str | None:
    """The live view, as JSON."""
    found = tx.rows("SELECT json FROM view WHERE id = 1")
    return str(found[0][0]) if found else None


def version_of_answers(tx: Transaction) -> tuple[Any, ...]:
    """Something that changes whenever answers come or go."""
    return tuple(tx.rows("SELECT count(*), max(received), (SELECT count(*) FROM participant) FROM answer")[0])


def add_export(tx: Transaction, path: str) -> None:
    """Remember where answers were written to, so that an erased person is taken out there as well."""
    tx.run("INSERT INTO export (path) VALUES (?) ON CONFLICT DO NOTHING", path)


def exports(tx: Transaction) -> list[str]:
    """Folders that answers were written to."""
    return [row[0] for row in tx.rows("SELECT path FROM export ORDER BY path")]
