"""What participants do to the database: start, come back, answer, finish. Each function runs in one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from nearfar.ask.booklet import Drawn, Place, arrange
from nearfar.ask.pool import same_trio
from nearfar.ask.store.transaction import Transaction
from nearfar.ask.study import Study
from nearfar.design import check_questions
from nearfar.design.questions import Kind

__all__ = [
    "Answer",
    "Arrival",
    "BookletPlan",
    "booklet",
    "finish",
    "release_idle",
    "save_answers",
    "start",
    "unload",
]

MOST_CANDIDATES = 1 << 30


@dataclass(frozen=True)
class BookletPlan:
    """What a booklet is made of."""

    kind: Kind
    n_objects: int
    n_new: int
    n_again: int
    n_checks: int
    options: int
    pick: int
    limit: int | None
    crowded: bool

    @classmethod
    def of(cls, study: Study, n_objects: int, crowded: bool) -> BookletPlan:
        """The plan of a study; ``crowded`` says that some questions of the pool are about the same objects."""
        plan = study.questions
        return cls(
            cast("Kind", study.kind),
            n_objects,
            plan.n_new,
            plan.n_again,
            plan.checks,
            plan.options,
            plan.pick if study.kind == "grid" else 1,
            study.people.limit,
            crowded,
        )

    @property
    def anchored(self) -> bool:
        """Whether questions have an anchor."""
        return self.kind in ("near", "grid")


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
    if plan.limit is not None:
        here = tx.rows("SELECT count(*) FROM participant WHERE state <> 'left'")[0][0]
        if here >= plan.limit:
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
    _extend(tx, person, (plan.n_new, plan.n_again, plan.n_checks), plan, rng)
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
    _extend(tx, person, (missing.get("new", 0), missing.get("again", 0), missing.get("check", 0)), plan, rng)


def _extend(
    tx: Transaction,
    person: int,
    wanted: tuple[int, int, int],
    plan: BookletPlan,
    rng: np.random.Generator,
) -> None:
    """Add places to a booklet: (new, again, check)."""
    n_new, n_again, n_checks = wanted
    held = tx.rows(
        "SELECT s.place, s.role, s.question, s.shown, q.trio, a.id, s.released FROM slot s "
        "LEFT JOIN question q ON q.id = s.question "
        "LEFT JOIN answer a ON a.participant = s.participant AND a.place = s.place WHERE s.participant = ?",
        person,
    )
    first = max((row[0] for row in held), default=-1) + 1
    answered = [row for row in held if row[5] is not None]
    repeated = {row[2] for row in held if row[1] == "again" and (row[5] is not None or row[6] is None)}
    earlier = [
        (row[0], Place("new", row[2], tuple(json.loads(row[3]))))
        for row in answered
        if row[1] == "new" and row[2] not in repeated
    ]
    seen = {row[4] for row in held if row[1] == "new"}  # released ones, too: an answer to them may still come
    new = _draw(tx, n_new, seen, plan.crowded, rng)
    if len(new) < n_new:  # a small pool: better the same objects again than fewer questions
        kept = {row[4] for row in held if row[1] == "new" and (row[5] is not None or row[6] is None)}
        drawn = {same_trio(one.items) for one in new}
        new += _draw(tx, n_new - len(new), kept | drawn, plan.crowded, rng)
    checks = check_questions(
        plan.n_objects,
        n_checks,
        plan.kind,
        size=plan.options,
        pick=plan.pick,
        seed=rng,
    ).array.tolist()
    places = arrange(new, n_again, [tuple(row) for row in checks], plan.anchored, rng, earlier, first)
    tx.run_many(
        "INSERT INTO slot (participant, place, question, role, shown) VALUES (?, ?, ?, ?, ?)",
        [
            (person, first + i, place.question, place.role, json.dumps(place.shown))
            for i, place in enumerate(places)
        ],
    )


def _draw(
    tx: Transaction, wanted: int, taken: set[str], crowded: bool, rng: np.random.Generator
) -> list[Drawn]:
    """The least loaded questions, no two about the same objects; their load goes up by one.

    Among equally loaded ones those with fewest answers are taken first, and stand first in the booklet: the others
    are safe from people who leave (benchmarks/ask_balance.py has what that brings). The rest is random.
    Where several questions are about the same objects, those with most such questions still waiting come first:
    nobody can get two of them, so left for last they would be asked less often than the others.
    """
    waiting = "count(*) OVER (PARTITION BY trio, load) DESC," if crowded else ""
    chosen: list[tuple[int, float, int, str]] = []
    most = 2 * wanted + len(taken) + 10
    while len(chosen) < wanted:
        rows = tx.rows(
            f"SELECT id, items, trio, done FROM question ORDER BY load, {waiting} done, shuffle LIMIT ?", most
        )
        chosen, seen = [], set(taken)
        for question, items, trio, done in rows:
            if trio not in seen and len(chosen) < wanted:
                seen.add(trio)
                chosen.append((done, float(rng.random()), question, items))
        if len(rows) < most:
            break
        most *= 4
    tx.run_many(
        "UPDATE question SET load = load + 1, shuffle = ? WHERE id = ?",
        [(float(rng.random()), question) for question in sorted(row[2] for row in chosen)],
    )
    return [Drawn(question, tuple(json.loads(items))) for _, _, question, items in sorted(chosen)]


def release_idle(tx: Transaction, before: float, rng: np.random.Generator) -> int:
    """Release the unanswered places of everybody who was last seen before a time; how many people."""
    tx.lock_drawing()
    idle = tx.rows("SELECT id FROM participant WHERE state = 'active' AND seen < ?", before)
    gone = 0
    for (person,) in idle:
        # asked again, and kept from answering meanwhile: somebody may have come back this very moment
        if not tx.rows(
            "UPDATE participant SET state = 'left' WHERE id = ? AND state = 'active' AND seen < ? RETURNING id",
            person,
            before,
        ):
            continue
        gone += 1
        unload(tx, person, rng)
        tx.run(
            "UPDATE slot SET released = 1 WHERE participant = ? AND released IS NULL AND NOT EXISTS "
            "(SELECT 1 FROM answer a WHERE a.participant = slot.participant AND a.place = slot.place)",
            person,
        )
    return gone


def unload(tx: Transaction, person: int, rng: np.random.Generator) -> None:
    """Take a person's unanswered new questions off the load."""
    held = tx.rows(
        "SELECT s.question FROM slot s LEFT JOIN answer a ON a.participant = s.participant AND a.place = s.place "
        "WHERE s.participant = ? AND s.role = 'new' AND s.released IS NULL AND a.id IS NULL ORDER BY s.question",
        person,
    )
    tx.run_many(
        "UPDATE question SET load = load - 1, shuffle = ? WHERE id = ?",
        [(float(rng.random()), question) for (question,) in held],
    )


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
    if tx.rows("SELECT state FROM participant WHERE id = ?", person)[0][0] == "left":
        tx.lock_drawing()  # places come back; always before the person, as in release_idle, or the two might block
    # also keeps everybody else from releasing or erasing this person until the transaction ends
    tx.run(
        "UPDATE participant SET seen = CASE WHEN seen < ? THEN ? ELSE seen END WHERE id = ?", now, now, person
    )
    saved, refused = [], []
    counted: list[int] = []
    for answer in answers:
        wrong = _save(tx, person, answer, plan, now, counted)
        if wrong:
            refused.append({"id": answer.id, "reason": wrong})
        else:
            saved.append(answer.id)
    # in order, so that two transactions never wait for each other
    tx.run_many(
        "UPDATE question SET done = done + 1 WHERE id = ?", [(question,) for question in sorted(counted)]
    )
    return {"saved": saved, "refused": refused}


def _save(
    tx: Transaction, person: int, answer: Answer, plan: BookletPlan, now: float, counted: list[int]
) -> str:
    """Save one answer; what is wrong with it, or nothing. A new question that it answers is added to ``counted``."""
    found = tx.rows(
        "SELECT released, shown, role, question FROM slot WHERE participant = ? AND place = ?",
        person,
        answer.place,
    )
    if not found:
        return "there is no such question in this booklet"
    released, shown, role, question = found[0]
    n_options = len(json.loads(shown)) - plan.anchored
    distinct = set(answer.choice)
    if len(answer.choice) != plan.pick or len(distinct) != plan.pick or not distinct <= set(range(n_options)):
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
        _take_back(tx, person, answer.place, released)
    if role == "new":
        counted.append(question)
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


def _take_back(tx: Transaction, person: int, place: int, released: float) -> None:
    """An answer came for a released place: it counts. Whoever still sits at the booklet gets the rest back, too."""
    tx.lock_drawing()
    only_this = "" if released == 1 else " AND place = ?"
    values = (person,) if released == 1 else (person, place)
    tx.run(
        "UPDATE question SET load = load + 1 WHERE id IN (SELECT question FROM slot "
        f"WHERE participant = ? AND role = 'new' AND released IS NOT NULL AND released = {int(released)}{only_this})",
        *values,
    )
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
