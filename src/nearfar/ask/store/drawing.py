"""Booklets in the database: questions are drawn for somebody, and given back when they leave."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearfar.ask.pool import same_trio
from nearfar.ask.store import adaptive
from nearfar.ask.store.transaction import SLOTS, Transaction
from nearfar.ask.study import Study
from nearfar.design import Questions
from nearfar.design.booklets import ROLES, one_booklet

LOADED = ("new", "open")  # roles of places that count in the load of their question
Drawn = list[tuple[int, list[int]]]  # (question of the pool, its objects)


@dataclass(frozen=True)
class BookletPlan:
    """What booklets are made of.

    study : says how many of what. questions : none, but of its kind and about its objects. crowded : whether some
    questions of the pool are about the same objects.
    """

    study: Study
    questions: Questions
    crowded: bool

    def members(self, condition: str) -> NDArray[np.int32]:
        """The objects that a condition is about, in order."""
        return np.array(self.study.condition(condition).members(self.questions.objects), dtype=np.int32)

    def of(self, drawn: Drawn, members: NDArray[np.int32]) -> Questions:
        """Some questions of the pool, as questions about these objects only."""
        rows = np.array([items for _, items in drawn], dtype=np.int32)
        own = np.searchsorted(members, rows.reshape(-1, self.questions.array.shape[1])).astype(np.int32)
        names = tuple(self.questions.objects[i] for i in members)
        return Questions(own, names, self.questions.kind, self.questions.pick)


def extend(
    tx: Transaction, person: int, wanted: tuple[int, int, int], plan: BookletPlan, rng: np.random.Generator
) -> None:
    """Add places to a booklet: (new, again, check)."""
    n_new, n_again, n_checks = wanted
    held = tx.rows(
        f"SELECT s.place, s.role, s.question, s.shown, q.trio, a.id, s.released, q.condition FROM {SLOTS} "
        "LEFT JOIN question q ON q.id = s.question WHERE s.participant = ? ORDER BY s.place",
        person,
    )
    first = held[-1][0] + 1 if held else 0
    repeated = {row[2] for row in held if row[1] == "again" and (row[5] is not None or row[6] is None)}
    earlier: Drawn = [
        (row[2], json.loads(row[3]))
        for row in held
        if row[5] is not None and row[1] == "new" and row[2] not in repeated and row[7] != adaptive.CHOSEN
    ]
    # released ones, too: an answer to them may still come
    seen = {row[4] for row in held if row[1] in LOADED}
    condition = str(tx.rows("SELECT condition FROM participant WHERE id = ?", person)[0][0])
    new = _draw(tx, n_new, seen, plan.crowded, rng, condition)
    if len(new) < n_new:  # a small pool: better the same objects again than fewer questions
        kept = {row[4] for row in held if row[1] in LOADED and (row[5] is not None or row[6] is None)}
        drawn = {same_trio(items) for _, items in new}
        new += _draw(tx, n_new - len(new), kept | drawn, plan.crowded, rng, condition)
    members = plan.members(condition)
    made = one_booklet(plan.of(new, members), n_again, n_checks, earlier=plan.of(earlier, members), seed=rng)
    shown_rows = members[made.questions.array].tolist()
    ids = [question for question, _ in (*earlier, *new)]
    left_open = adaptive.open_places(made, person, plan.study.questions, rng)
    roles = ["open" if i in left_open else ROLES[role] for i, role in enumerate(made.role.tolist())]
    asked = [None if at < 0 else ids[at] for at in made.question.tolist()]
    places = enumerate(zip(asked, roles, map(str, shown_rows), strict=True), start=first)
    columns = "(participant, place, question, role, shown)"
    tx.run_many(
        f"INSERT INTO slot {columns} VALUES (?, ?, ?, ?, ?)", [(person, i, *what) for i, what in places]
    )
    if left_open:
        adaptive.settle(tx, person, plan.questions, rng)


def _draw(
    tx: Transaction, wanted: int, taken: set[str], crowded: bool, rng: np.random.Generator, condition: str
) -> Drawn:
    """The least loaded questions, no two about the same objects; their load goes up by one.

    Among equally loaded ones those with fewest answers are taken first, and stand first in the booklet: the others
    are safe from people who leave (benchmarks/ask_balance.py has what that brings). The rest is random.
    Where several questions are about the same objects, those with most such questions still waiting come first:
    nobody can get two of them, so left for last they would be asked less often than the others.
    """
    waiting = "count(*) OVER (PARTITION BY trio, load) DESC," if crowded else ""
    chosen: list[tuple[int, float, int, str]] = []
    most = 2 * wanted + len(taken) + 10
    sql = "SELECT id, items, trio, done FROM question WHERE condition = ? ORDER BY load,"
    while len(chosen) < wanted:
        rows = tx.rows(f"{sql} {waiting} done, shuffle LIMIT ?", condition, most)
        chosen, seen = [], set(taken)
        for (question, items, trio, done), chance in zip(rows, rng.random(len(rows)).tolist(), strict=True):
            if trio not in seen and len(chosen) < wanted:
                seen.add(trio)
                chosen.append((done, chance, question, items))
        if len(rows) < most:
            break
        most *= 4
    tx.run_many(
        "UPDATE question SET load = load + 1, shuffle = ? WHERE id = ?",
        list(zip(rng.random(len(chosen)).tolist(), sorted(row[2] for row in chosen), strict=True)),
    )
    drawn = sorted(chosen)
    items = json.loads(f"[{','.join(row[3] for row in drawn)}]")  # all at once, as a booklet may be long
    return list(zip([row[2] for row in drawn], items, strict=True))


def release_idle(tx: Transaction, before: float, rng: np.random.Generator) -> int:
    """Release the unanswered places of everybody who was last seen before a time; how many people.

    First all people, then all questions in their order, as everywhere: two transactions never wait for each other.
    """
    tx.lock_drawing()
    idle = tx.rows("SELECT id FROM participant WHERE state = 'active' AND seen < ? ORDER BY id", before)
    # asked again, and kept from answering meanwhile: somebody may have come back this very moment
    left = "UPDATE participant SET state = 'left'"
    leave = f"{left} WHERE id = ? AND state = 'active' AND seen < ? RETURNING id"
    gone = [person for (person,) in idle if tx.rows(leave, person, before)]
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
    sql = f"SELECT s.question, a.id, s.released FROM {SLOTS} WHERE s.participant = ? AND s.role IN ('new', 'open')"
    held = [
        (question, answer is not None)
        for person in people
        for question, answer, released in tx.rows(sql, person)
        if (answered_too if answer is not None else released is None)
    ]
    tx.run_many(
        "UPDATE question SET load = load - 1, done = done - ?, shuffle = ? WHERE id = ?",
        [(int(answered), float(rng.random()), question) for question, answered in sorted(held)],
    )
