"""What participants do to the database: start, come back, answer, finish. Each function runs in one transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nearfar.ask.store.drawing import BookletPlan, extend
from nearfar.ask.store.transaction import Transaction

__all__ = ["Answer", "Arrival", "booklet", "finish", "save_answers", "start"]


@dataclass(frozen=True)
class Arrival:
    """Somebody who starts or comes back: the hash of their token, the recruiter's id of them, anything else known."""

    token: str
    name: str
    outside: str | None
    details: dict[str, str]
    now: float


@dataclass(frozen=True)
class Answer:
    """One answer as it was sent: ``choice`` holds positions on the screen."""

    id: str
    place: int
    choice: tuple[int, ...]
    milliseconds: float | None
    away: float | None
    shown_at: float | None


# ---------------------------------------------------------------- starting and coming back


def start(tx: Transaction, who: Arrival, plan: BookletPlan, rng: np.random.Generator) -> str:
    """Draw a booklet for somebody new, or take back somebody who left; "ok", "paused" or "full".

    Sent twice, it does nothing the second time: a token belongs to one person.
    """
    tx.lock_drawing()
    person = participant_of(tx, who.token)
    if person is None and who.outside is not None:
        found = tx.rows("SELECT id FROM participant WHERE outside = ?", who.outside)
        if found:
            person = found[0][0]
            tx.run("INSERT INTO token (hash, participant) VALUES (?, ?)", who.token, person)
    state = tx.rows("SELECT state FROM study WHERE id = 1")[0][0]
    if person is not None:
        _come_back(tx, person, who.now, plan, rng)
        return "ok"
    if state != "open":
        return "paused"
    limit, per_person = plan.study.people.limit, plan.study.questions
    if limit is not None:
        here = tx.rows("SELECT count(*) FROM participant WHERE state <> 'left'")[0][0]
        if here >= limit:
            return "full"
    person = tx.rows(
        "INSERT INTO participant (name, outside, details, consent, seen, state) VALUES (?, ?, ?, ?, ?, 'active') "
        "RETURNING id",
        who.name,
        who.outside,
        json.dumps(who.details),
        who.now,
        who.now,
    )[0][0]
    tx.run("INSERT INTO token (hash, participant) VALUES (?, ?)", who.token, person)
    extend(tx, person, (per_person.n_new, per_person.n_again, per_person.checks), plan, rng)
    return "ok"


def _come_back(tx: Transaction, person: int, now: float, plan: BookletPlan, rng: np.random.Generator) -> None:
    """Somebody is here again; places that were released are replaced by newly drawn ones at the end."""
    tx.run("UPDATE participant SET seen = ? WHERE id = ?", now, person)
    if tx.rows("SELECT state FROM participant WHERE id = ?", person)[0][0] != "left":
        return
    missing: dict[str, int] = dict(
        tx.rows(
            "SELECT s.role, count(*) FROM slot s LEFT JOIN answer a ON a.participant = s.participant AND a.place = s.place "
            "WHERE s.participant = ? AND s.released = 1 AND a.id IS NULL GROUP BY s.role",
            person,
        )
    )
    tx.run("UPDATE slot SET released = 2 WHERE participant = ? AND released = 1", person)
    tx.run("UPDATE participant SET state = 'active' WHERE id = ?", person)
    extend(tx, person, (missing.get("new", 0), missing.get("again", 0), missing.get("check", 0)), plan, rng)


# ---------------------------------------------------------------- reading, answering, finishing


def participant_of(tx: Transaction, token: str) -> int | None:
    """Whom a token belongs to."""
    found = tx.rows("SELECT participant FROM token WHERE hash = ?", token)
    return int(found[0][0]) if found else None


def booklet(tx: Transaction, token: str) -> dict[str, Any] | None:
    """The places of a person's booklet, each with what is shown and whether it is answered."""
    person = participant_of(tx, token)
    if person is None:
        return None
    rows = tx.rows(
        "SELECT s.place, s.shown, a.id FROM slot s "
        "LEFT JOIN answer a ON a.participant = s.participant AND a.place = s.place "
        "WHERE s.participant = ? AND (s.released IS NULL OR a.id IS NOT NULL) ORDER BY s.place",
        person,
    )
    places = [
        {"place": place, "shown": json.loads(shown), "answered": answer is not None}
        for place, shown, answer in rows
    ]
    return {"places": places}


def save_answers(
    tx: Transaction, token: str, answers: Sequence[Answer], plan: BookletPlan, now: float
) -> dict[str, Any] | None:
    """Save answers; each is saved once however often it is sent. None where the token is nobody's.

    Returns the ids that are saved (now or before) and those refused with the reason; the sender may forget both.
    """
    person = participant_of(tx, token)
    if person is None:
        return None
    if tx.rows("SELECT 1 FROM slot WHERE participant = ? AND released IS NOT NULL LIMIT 1", person):
        tx.lock_drawing()  # places may come back; always before the person, as in release_idle, or the two might block
    # also keeps everybody else from releasing or erasing this person until the transaction ends
    tx.run(
        "UPDATE participant SET seen = CASE WHEN seen < ? THEN ? ELSE seen END WHERE id = ?", now, now, person
    )
    saved, refused = [], []
    changes = _Changes(Counter(), Counter())
    for answer in answers:
        wrong = _save(tx, person, answer, plan, now, changes)
        if wrong:
            refused.append({"id": answer.id, "reason": wrong})
        else:
            saved.append(answer.id)
    # in order, so that two transactions never wait for each other
    tx.run_many(
        "UPDATE question SET load = load + ?, done = done + ? WHERE id = ?",
        [
            (changes.load[question], changes.done[question], question)
            for question in sorted(changes.load | changes.done)
        ],
    )
    return {"saved": saved, "refused": refused}


class _Changes(NamedTuple):
    """By how much the ``load`` of questions and the number of their answers that are ``done`` go up."""

    load: Counter[int]
    done: Counter[int]


def _save(
    tx: Transaction, person: int, answer: Answer, plan: BookletPlan, now: float, changes: _Changes
) -> str:
    """Save one answer; what is wrong with it, or nothing. What it changes about questions is added to ``changes``."""
    found = tx.rows(
        "SELECT released, shown, role, question FROM slot WHERE participant = ? AND place = ?",
        person,
        answer.place,
    )
    if not found:
        return "there is no such question in this booklet"
    released, shown, role, question = found[0]
    n_options = len(json.loads(shown)) - plan.questions.anchored
    distinct, pick = set(answer.choice), plan.questions.pick
    if len(answer.choice) != pick or len(distinct) != pick or not distinct <= set(range(n_options)):
        return "the choice is not one of the options"
    inserted = tx.rows(
        "INSERT INTO answer (participant, place, id, choice, milliseconds, away, shown_at, received) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
        person,
        answer.place,
        answer.id,
        json.dumps(answer.choice),
        answer.milliseconds,
        answer.away,
        answer.shown_at,
        now,
    )
    if not inserted:
        return _again(tx, person, answer, now)
    if released is not None:
        _take_back(tx, person, answer.place, released, changes)
    if role == "new":
        changes.done[question] += 1
    return ""


def _again(tx: Transaction, person: int, answer: Answer, now: float) -> str:
    """An answer that was there before: sent twice, or the place was answered in another tab; the first one counts."""
    first = tx.rows("SELECT id FROM answer WHERE participant = ? AND place = ?", person, answer.place)
    if not first:
        return "this id belongs to another answer"
    if first[0][0] != answer.id:
        tx.run(
            "INSERT INTO event (at, participant, kind, detail) VALUES (?, ?, 'second answer', ?)",
            now,
            person,
            json.dumps({"place": answer.place, "choice": answer.choice}),
        )
    return ""


def _take_back(tx: Transaction, person: int, place: int, released: float, changes: _Changes) -> None:
    """An answer came for a released place: it counts. Whoever still sits at the booklet gets the rest back, too."""
    tx.lock_drawing()
    only_this = "" if released == 1 else " AND place = ?"
    values = (person,) if released == 1 else (person, place)
    back = tx.rows(
        f"SELECT question FROM slot WHERE participant = ? AND role = 'new' AND released = {int(released)}{only_this}",
        *values,
    )
    changes.load.update(question for (question,) in back)
    tx.run(
        f"UPDATE slot SET released = NULL WHERE participant = ? AND released = {int(released)}{only_this}",
        *values,
    )
    if released == 1:
        tx.run("UPDATE participant SET state = 'active' WHERE id = ? AND state = 'left'", person)


def finish(tx: Transaction, token: str, code: str, now: float) -> dict[str, Any] | None:
    """The completion code, once every question is answered; before that, how many are left."""
    person = participant_of(tx, token)
    if person is None:
        return None
    state, own_code, details = tx.rows("SELECT state, code, details FROM participant WHERE id = ?", person)[0]
    left = tx.rows(
        "SELECT count(*) FROM slot s LEFT JOIN answer a ON a.participant = s.participant AND a.place = s.place "
        "WHERE s.participant = ? AND a.id IS NULL AND (s.released IS NULL OR s.released = 1)",
        person,
    )[0][0]
    if left:
        return {"left": left}
    if state != "finished":
        own_code = code
        tx.run(
            "UPDATE participant SET state = 'finished', code = ?, finished = ?, seen = ? WHERE id = ?",
            code,
            now,
            now,
            person,
        )
    return {"left": 0, "code": own_code, "details": json.loads(details)}
