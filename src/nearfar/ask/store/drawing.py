"""Booklets in the database: questions are drawn for somebody, and given back when they leave."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from nearfar.ask.booklet import Drawn, Place, arrange
from nearfar.ask.pool import same_trio
from nearfar.ask.store.transaction import Transaction
from nearfar.ask.study import Study
from nearfar.design import check_questions
from nearfar.design.questions import QuestionKind

__all__ = ["BookletPlan", "extend", "release_idle", "unload"]


@dataclass(frozen=True)
class BookletPlan:
    """What a booklet is made of."""

    kind: QuestionKind
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
            cast("QuestionKind", study.kind),
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


def extend(
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
    """Release the unanswered places of everybody who was last seen before a time; how many people.

    First all people, then all questions in their order, as everywhere: two transactions never wait for each other.
    """
    tx.lock_drawing()
    idle = tx.rows("SELECT id FROM participant WHERE state = 'active' AND seen < ? ORDER BY id", before)
    # asked again, and kept from answering meanwhile: somebody may have come back this very moment
    gone = [
        person
        for (person,) in idle
        if tx.rows(
            "UPDATE participant SET state = 'left' WHERE id = ? AND state = 'active' AND seen < ? RETURNING id",
            person,
            before,
        )
    ]
    unload(tx, gone, rng)
    tx.run_many(
        "UPDATE slot SET released = 1 WHERE participant = ? AND released IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM answer a WHERE a.participant = slot.participant AND a.place = slot.place)",
        [(person,) for person in gone],
    )
    return len(gone)


def unload(
    tx: Transaction, people: Sequence[int], rng: np.random.Generator, *, answered_too: bool = False
) -> None:
    """Take people's unanswered new questions off the load; where they are erased, the answered ones, too."""
    held = [
        (question, answer is not None)
        for person in people
        for question, answer, released in tx.rows(
            "SELECT s.question, a.id, s.released FROM slot s "
            "LEFT JOIN answer a ON a.participant = s.participant AND a.place = s.place "
            "WHERE s.participant = ? AND s.role = 'new'",
            person,
        )
        if (answered_too if answer is not None else released is None)
    ]
    tx.run_many(
        "UPDATE question SET load = load - 1, done = done - ?, shuffle = ? WHERE id = ?",
        [(int(answered), float(rng.random()), question) for question, answered in sorted(held)],
    )
