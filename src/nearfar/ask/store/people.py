"""What participants do to the database: start, come back, answer, finish. Each function runs in one transaction."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from nearfar.ask.forms import MOST_TRIES, PAGES
from nearfar.ask.store import adaptive
from nearfar.ask.store.drawing import LOADED, BookletPlan, extend
from nearfar.ask.store.transaction import SLOTS, Transaction
from nearfar.ask.study import Study

Changes = dict[int, list[int]]  # question -> by how much its load, and its number of answers, go up
MOST_EVENTS = 1000  # that are kept of one person


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
    """One answer as it was sent: ``choice`` holds positions on the screen, none where somebody cannot tell.

    ``early`` counts presses before the least time, ``fast`` says that the notice about fast answers was shown, ``failed``
    that a sound or film could not be played.
    """

    id: str
    place: int
    choice: tuple[int, ...]
    milliseconds: float | None
    away: float | None
    shown_at: float | None
    replays: int | None = None
    early: int | None = None
    fast: bool = False
    failed: bool = False


# ---------------------------------------------------------------- starting and coming back


def start(tx: Transaction, who: Arrival, plan: BookletPlan, rng: np.random.Generator) -> str:
    """Draw a booklet for somebody new, or take back somebody who left; "ok", "used", "paused", "full" or "no_id".

    Sent twice, it does nothing the second time: a token belongs to one person. "used" means that a link for one browser
    comes from another, or that an id comes from another session of Prolific; "no_id" that no condition has the name given.
    """
    tx.lock_drawing()
    person = participant_of(tx, who.token)
    if person is None and who.outside is not None:
        for known, details in tx.rows("SELECT id, details FROM participant WHERE outside = ?", who.outside):
            same_session = json.loads(details).get("SESSION_ID") == who.details.get("SESSION_ID")
            if plan.study.people.recruit == "links" or not same_session:
                return "used"
            person = known
            tx.insert("token", hash=who.token, participant=person)
    if person is not None:
        _come_back(tx, person, who.now, plan, rng)
        return "ok"
    if tx.rows("SELECT state FROM study WHERE id = 1")[0][0] != "open":
        return "paused"
    limit, wanted = plan.study.people.limit, plan.study.questions
    here = tx.rows("SELECT count(*) FROM participant WHERE state <> 'left'")[0][0]
    if limit is not None and here >= limit:
        return "full"
    condition = _assign(tx, who, plan, rng)
    if condition is None:
        return "no_id"
    values = (who.name, who.outside, json.dumps(who.details), who.now, who.now, condition)
    person = tx.rows(
        "INSERT INTO participant (name, outside, details, consent, seen, condition, state) "
        "VALUES (?, ?, ?, ?, ?, ?, 'active') RETURNING id",
        *values,
    )[0][0]
    tx.insert("token", hash=who.token, participant=person)
    extend(tx, person, (wanted.n_new, wanted.n_again, wanted.checks), plan, rng)
    return "ok"


def _assign(tx: Transaction, who: Arrival, plan: BookletPlan, rng: np.random.Generator) -> str | None:
    """The condition of somebody new: as a parameter says (None: it names none), at random, or one with fewest people."""
    names = [one.name for one in plan.study.conditions] or [""]
    assign, _, parameter = plan.study.people.assign.partition(":")
    if parameter:
        return who.details.get(parameter) if who.details.get(parameter) in names else None
    if assign == "evenly":
        counted = "SELECT condition, count(*) FROM participant WHERE state <> 'left' GROUP BY condition"
        here: dict[str, int] = dict(tx.rows(counted))
        fewest = min(here.get(name, 0) for name in names)
        names = [name for name in names if here.get(name, 0) == fewest]
    return names[int(rng.integers(len(names)))]


def _come_back(tx: Transaction, person: int, now: float, plan: BookletPlan, rng: np.random.Generator) -> None:
    """Somebody is here again; places that were released are replaced by newly drawn ones at the end."""
    tx.run("UPDATE participant SET seen = ? WHERE id = ?", now, person)
    if tx.rows("SELECT state FROM participant WHERE id = ?", person)[0][0] != "left":
        return
    where = "s.participant = ? AND s.released = 1 AND a.id IS NULL"
    missing = Counter(role for (role,) in tx.rows(f"SELECT s.role FROM {SLOTS} WHERE {where}", person))
    tx.run("UPDATE slot SET released = 2 WHERE participant = ? AND released = 1", person)
    tx.run("UPDATE participant SET state = 'active' WHERE id = ?", person)
    extend(tx, person, (missing["new"] + missing["open"], missing["again"], missing["check"]), plan, rng)


# ---------------------------------------------------------------- reading, answering, finishing


def participant_of(tx: Transaction, token: str) -> int | None:
    """Whom a token belongs to."""
    rows = tx.rows("SELECT participant FROM token WHERE hash = ?", token)
    return int(rows[0][0]) if rows else None


def _is_seen(tx: Transaction, person: int, now: float) -> bool:
    """Note when somebody was here, and keep others from releasing or erasing them until the transaction ends."""
    seen = "UPDATE participant SET seen = CASE WHEN seen < ? THEN ? ELSE seen END WHERE id = ?"
    return bool(tx.run(seen, now, now, person).rowcount > 0)


def booklet(tx: Transaction, token: str, after: int = -1) -> dict[str, Any] | None:
    """The places of a person's booklet as far as they are settled, each with what is shown and whether it is answered.

    Those up to the place ``after`` are left out; ``total`` counts all.
    """
    person = participant_of(tx, token)
    if person is None:
        return None
    where = "s.participant = ? AND (s.released IS NULL OR a.id IS NOT NULL)"
    rows = tx.rows(
        f"SELECT s.place, s.shown, a.id, s.role FROM {SLOTS} WHERE {where} ORDER BY s.place", person
    )
    return {
        "places": [
            {"place": place, "shown": json.loads(shown), "answered": answer is not None}
            for place, shown, answer, _ in takewhile(lambda row: row[3] != "open", rows)
            if place > after
        ],
        "total": len(rows),
        "condition": tx.rows("SELECT condition FROM participant WHERE id = ?", person)[0][0],
        "filled": [page for (page,) in tx.rows("SELECT page FROM form WHERE participant = ?", person)],
    }


def save_form(
    tx: Transaction, token: str, page: str, fields: dict[str, Any], right: bool, now: float
) -> dict[str, Any] | None:
    """Save a page of a form once; the first one counts. None where the token is nobody's.

    A page with a wrong answer comes again, a few times; how often it was tried is kept.
    """
    person = participant_of(tx, token)
    if person is None or not _is_seen(tx, person, now):
        return None
    if page == "practice":
        misunderstood = "SELECT count(*) FROM event WHERE participant = ? AND kind = 'misunderstood'"
        tries = 1 + tx.rows(misunderstood, person)[0][0]
        fields = fields | {"practice_tries": tries}
        if not right and tries < MOST_TRIES:
            tx.insert("event", at=now, participant=person, kind="misunderstood", detail=json.dumps(fields))
            return {"saved": False}
    tx.insert("form", participant=person, page=page, at=now, fields=json.dumps(fields, ensure_ascii=False))
    return {"saved": True}


def save_answers(
    tx: Transaction, token: str, answers: Sequence[Answer], plan: BookletPlan, now: float
) -> dict[str, Any] | None:
    """Save answers; each is saved once however often it is sent. None where the token is nobody's.

    Returns the ids that are saved (now or before) and those refused with the reason; the sender may forget both.
    """
    person = participant_of(tx, token)
    if person is None:
        return None
    adapts = plan.study.questions.is_adaptive
    may_return = "SELECT 1 FROM slot WHERE participant = ? AND released IS NOT NULL LIMIT 1"
    if adapts or (tx.drawing and tx.rows(may_return, person)):
        tx.lock_drawing()  # always before the person, as in release_idle, or the two might block each other
    _is_seen(tx, person, now)
    saved, refused = [], []
    changes: Changes = defaultdict(lambda: [0, 0])
    for answer in answers:
        if wrong := _save(tx, person, answer, plan, now, changes):
            refused.append({"id": answer.id, "reason": wrong})
        else:
            saved.append(answer.id)
    # in order, so that two transactions never wait for each other
    tx.run_many(
        "UPDATE question SET load = load + ?, done = done + ? WHERE id = ?",
        [(load, done, question) for question, (load, done) in sorted(changes.items())],
    )
    if adapts:
        adaptive.settle(tx, person, plan.questions, np.random.default_rng())
    return {"saved": saved, "refused": refused}


def _save(
    tx: Transaction, person: int, answer: Answer, plan: BookletPlan, now: float, changes: Changes
) -> str:
    """Save one answer; what is wrong with it, or nothing. What it changes about questions is added to ``changes``."""
    where = "FROM slot WHERE participant = ? AND place = ?"
    slots = tx.rows(f"SELECT released, shown, role, question {where}", person, answer.place)
    if not slots or slots[0][2] == "open":
        return "there is no such question in this booklet"
    released, shown, role, question = slots[0]
    n_options = len(json.loads(shown)) - plan.questions.anchored
    distinct, pick = set(answer.choice), plan.questions.pick
    wanted = (0, pick) if plan.study.screen.cannot_tell or answer.failed else (pick,)
    fits = len(answer.choice) in wanted and len(distinct) == len(answer.choice)
    if not fits or not distinct <= set(range(n_options)):
        return "the choice is not one of the options"
    values = vars(answer) | {"choice": json.dumps(answer.choice)}
    happened = {"fast notice": values.pop("fast"), "not playable": values.pop("failed")}
    if not tx.insert("answer", participant=person, **values, received=now):
        return _again(tx, person, answer, now)
    if released is not None:
        _take_back(tx, person, answer.place, released, changes)
    if role == "new":
        changes[question][1] += 1
    for kind in (kind for kind, did in happened.items() if did):
        tx.insert("event", at=now, participant=person, kind=kind, detail=str(answer.place))
    return ""


def _again(tx: Transaction, person: int, answer: Answer, now: float) -> str:
    """An answer that was there before: sent twice, or the place was answered in another tab; the first one counts."""
    first = tx.rows("SELECT id FROM answer WHERE participant = ? AND place = ?", person, answer.place)
    if not first:
        return "this id belongs to another answer"
    known = tx.rows("SELECT count(*) FROM event WHERE participant = ?", person)[0][0]
    if first[0][0] != answer.id and known < MOST_EVENTS:
        detail = json.dumps({"place": answer.place, "choice": answer.choice})
        tx.insert("event", at=now, participant=person, kind="second answer", detail=detail)
    return ""


def _take_back(tx: Transaction, person: int, place: int, released: float, changes: Changes) -> None:
    """An answer came for a released place: it counts. Whoever still sits at the booklet gets the rest back, too."""
    tx.lock_drawing()
    which = "participant = ? AND released = ? AND (released = 1 OR place = ?)"
    sql = f"UPDATE slot SET released = NULL WHERE {which} RETURNING role, question"
    for role, question in tx.rows(sql, person, released, place):
        if role in LOADED:
            changes[question][0] += 1
    if released == 1:
        tx.run("UPDATE participant SET state = 'active' WHERE id = ? AND state = 'left'", person)


def finish(
    tx: Transaction, token: str, code: str, now: float, study: Study | None = None
) -> dict[str, Any] | None:
    """The completion code, once every question is answered; before that, how many are left, pages of the form included."""
    person = participant_of(tx, token)
    if person is None:
        return None
    state, own_code, details = tx.rows("SELECT state, code, details FROM participant WHERE id = ?", person)[0]
    where = "s.participant = ? AND a.id IS NULL AND (s.released IS NULL OR s.released = 1)"
    left = tx.rows(f"SELECT count(*) FROM {SLOTS} WHERE {where}", person)[0][0]
    if study is not None and state != "finished":
        filled = {page for (page,) in tx.rows("SELECT page FROM form WHERE participant = ?", person)}
        left += len({page for page in PAGES if study.page(page)} - filled)
    if left:
        return {"left": left}
    if state != "finished":
        own_code = code
        finished = "UPDATE participant SET state = 'finished', code = ?, finished = ?, seen = ? WHERE id = ?"
        tx.run(finished, code, now, now, person)
    return {"left": 0, "code": own_code, "details": json.loads(details)}
