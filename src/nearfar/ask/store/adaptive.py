"""Adaptive questions in the database: places that stay open until they are near, and the questions that models chose for them.

A participant's booklet has all its places from the start. Those for adaptive questions are open: each holds a random question,
which nobody has seen. Shortly before a person gets there, the best question of the newest model that is about other objects
takes its place; if no model has one, the random question stays. So every random question was drawn without regard to answers, and
accuracy can come from them. Repeats and checks are never open.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfar._tools.progress import step
from nearfar.ask.pool import same_trio
from nearfar.ask.store.transaction import SLOTS, Row, Store, Transaction
from nearfar.ask.study import QuestionPlan
from nearfar.design import Questions, next_questions
from nearfar.design.booklets import NEW, Booklets
from nearfar.triplets import Triplets

AHEAD = 6  # places of a booklet that are settled when one runs short of them
CHOSEN = "~"  # in place of the condition of a question that was not drawn with the pool; no condition can be called so
LATEST = 15.0  # seconds from the arrival of an answer to the database; after more, no model uses it
MOST_QUESTIONS = 5000  # of a model
OFF = "adaptive off"  # the event
Choice = tuple[list[int], float, float]  # objects of a question, score, probability


def open_places(made: Booklets, person: int, plan: QuestionPlan, rng: np.random.Generator) -> set[int]:
    """Rows of a new booklet that are for adaptive questions: none for control participants.

    A question that comes again is a random one, so that agreement is that of random questions.
    """
    if not plan.is_adaptive or is_control(person, plan):
        return set()
    new = np.flatnonzero(made.role == NEW)
    again = set(made.question[made.role != NEW].tolist())
    free = [row for row in new.tolist() if made.question[row] not in again]
    wanted = len(new) - round(plan.random * len(new))
    return {free[i] for i in rng.permutation(len(free))[:wanted].tolist()}


def is_control(person: int, plan: QuestionPlan) -> bool:
    """Whether somebody gets random questions only: of every twenty people the same number, in random order."""
    block, place = divmod(person, 20)
    order = np.random.default_rng([plan.seed, block]).permutation(20)
    return bool(order[place] < round(plan.control * 20))


def settle(tx: Transaction, person: int, asked: Questions, rng: np.random.Generator) -> None:
    """Fill the next open places of somebody who runs short of questions; the caller has locked drawing.

    ``asked`` : questions of the study's kind.
    """
    left = tx.rows(
        f"SELECT s.place, s.role, s.question FROM {SLOTS} WHERE s.participant = ? AND a.id IS NULL "
        "AND s.released IS NULL ORDER BY s.place LIMIT ?",
        person,
        AHEAD,
    )
    ready = next((i for i, row in enumerate(left) if row[1] == "open"), AHEAD)
    places = [row for row in left if row[1] == "open"] if ready <= AHEAD // 2 else []
    if not places:
        return
    waiting = [] if why_off(tx) else _waiting(tx, person, 2 * len(places))
    number = 1 + tx.rows("SELECT max(id) FROM question")[0][0]
    for place, _, placeholder in places:
        if not waiting:  # no model has a question: the random one stays
            tx.run("UPDATE slot SET role = 'new' WHERE participant = ? AND place = ?", person, place)
            continue
        choice, items, trio = waiting[0]
        waiting = [row for row in waiting if row[2] != trio]
        anchor, options = np.split(json.loads(items), [int(asked.anchored)])
        shown = str([*anchor.tolist(), *rng.permutation(options).tolist()])
        told = {"items": items, "trio": trio, "source": "adaptive", "condition": CHOSEN}
        tx.insert("question", id=number, load=1, shuffle=0.0, **told)
        tx.run("UPDATE choice SET question = ? WHERE id = ?", number, choice)
        tx.run(
            "UPDATE slot SET role = 'new', question = ?, shown = ? WHERE participant = ? AND place = ?",
            number, shown, person, place,
        )  # fmt: skip
        tx.run("UPDATE question SET load = load - 1, shuffle = ? WHERE id = ?", rng.random(), placeholder)
        number += 1


def _waiting(tx: Transaction, person: int, most: int) -> list[Row]:
    """(number, objects, trio) of the best questions that nobody got, about other objects than the person's questions."""
    same = "SELECT 1 FROM slot s JOIN question q ON q.id = s.question WHERE s.participant = ? AND q.trio = c.trio"
    return tx.rows(
        f"SELECT c.id, c.items, c.trio FROM choice c WHERE c.question IS NULL AND NOT EXISTS ({same}) ORDER BY c.id LIMIT ?",
        person,
        most,
    )


# ---------------------------------------------------------------- models


def why_off(tx: Transaction) -> str:
    """Why adaptive questions were switched off; nothing where they were not."""
    rows = tx.rows("SELECT detail FROM event WHERE kind = ? LIMIT 1", OFF)
    return str(rows[0][0]) if rows else ""


def begin_model(tx: Transaction, plan: QuestionPlan, now: float) -> int | None:
    """Note which answers a new model is made of, and its seed; None where none is needed yet.

    These are answers to adaptive questions, never to random ones.
    """
    tx.lock_drawing()
    n, total = tx.rows("SELECT (SELECT count(*) FROM object), (SELECT count(*) FROM answer)")[0]
    models = "SELECT count(*), coalesce(max(total), 0), coalesce(max(at), 0) FROM model"
    version, known, at = tx.rows(models)[0]
    waiting = tx.rows("SELECT count(*) FROM choice WHERE question IS NULL")[0][0]
    enough = version and total - known < max(5, n // 4) and waiting >= n // 2
    if enough or why_off(tx):
        return None
    new = tx.rows(
        "SELECT a.participant, a.place FROM answer a JOIN slot s ON s.participant = a.participant AND s.place = a.place "
        "JOIN question q ON q.id = s.question LEFT JOIN used u ON u.participant = a.participant AND u.place = a.place "
        "WHERE a.received > ? AND q.condition = ? AND s.role = 'new' AND a.choice <> '[]' AND u.model IS NULL "
        "ORDER BY a.participant, a.place",
        at - LATEST,
        CHOSEN,
    )
    answers = len(new) + tx.rows("SELECT count(*) FROM used")[0][0]
    wanted = min(max(n, 3 * len(new)), MOST_QUESTIONS)
    counts = {"answers": answers, "total": total, "wanted": wanted}
    tx.insert("model", id=version, at=now, seed=plan.seed + version, **counts)
    used = [(*row, version) for row in new]
    tx.run_many("INSERT INTO used (participant, place, model) VALUES (?, ?, ?)", used)
    return int(version)


def choose(tx: Transaction, version: int, features: Any = None) -> list[Choice] | None:
    """The questions of a model, from the answers noted for it; None where some of them were erased since."""
    kind, pick = tx.rows("SELECT kind, pick FROM study")[0]
    names = tuple(name for (name,) in tx.rows("SELECT name FROM object ORDER BY id"))
    rows = tx.rows(
        "SELECT s.shown, a.choice FROM used u JOIN slot s ON s.participant = u.participant AND s.place = u.place "
        "JOIN answer a ON a.participant = u.participant AND a.place = u.place WHERE u.model <= ? "
        "ORDER BY u.model, u.participant, u.place",
        version,
    )
    seed, answers, wanted = tx.rows("SELECT seed, answers, wanted FROM model WHERE id = ?", version)[0]
    if len(rows) < answers:
        return None
    width = len(json.loads(tx.rows("SELECT items FROM question WHERE condition <> ? LIMIT 1", CHOSEN)[0][0]))
    shown = np.array([json.loads(row[0]) for row in rows], dtype=np.int32).reshape(-1, width)
    chosen = np.array([json.loads(row[1]) for row in rows], dtype=np.int64).reshape(-1, pick)
    given: Triplets = Questions(shown, names, kind, pick).answered(chosen if pick > 1 else chosen[:, 0])
    like: Any = {"kind": kind, "size": width - 1, "pick": pick}
    made = next_questions(given, names, wanted, **like, features=features, seed=seed)
    columns = (made.questions.array, made.score, made.probability)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def refresh(store: Store, plan: QuestionPlan, now: float) -> None:
    """Make a model, where one is needed, in this process."""
    if (version := store.write_now(begin_model, plan, now)) is not None:
        store.write_now(add_questions, version, store.read_now(choose, version) or [])


def replay(tx: Transaction, features: Any = None) -> list[tuple[str, str]]:
    """Draw the questions of every model again; lines of what came out."""
    asked: dict[int, list[Any]] = {}
    for version, items, score in tx.rows("SELECT model, items, score FROM choice WHERE question IS NOT NULL"):
        asked.setdefault(version, []).append((json.loads(items), score))
    versions = [version for (version,) in tx.rows("SELECT id FROM model ORDER BY id")]
    same = other = erased = 0
    with step("models", total=len(versions)) as advance:
        for version in versions:
            drawn, kept = choose(tx, version, features), asked.get(version, [])
            again = {str(items): score for items, score, _ in drawn or ()}
            right = sum(bool(np.isclose(again.get(str(items), np.nan), score)) for items, score in kept)
            same, other = same + right, other + (0 if drawn is None else len(kept) - right)
            erased += len(kept) if drawn is None else 0
            advance(1)
    return [
        ("models", f"{len(versions):,}"),
        ("questions", f"{same:,} drawn again as they were asked"),
        ("different", f"{other:,}" + (": other vectors, or another version of a library" if other else "")),
        ("not drawn again", f"{erased:,}, as answers that they were chosen by were erased"),
    ]


def add_questions(tx: Transaction, version: int, rows: Sequence[Choice]) -> None:
    """Let the questions of a model take the place of those that nobody got yet."""
    tx.lock_drawing()
    tx.run("DELETE FROM choice WHERE question IS NULL")
    tx.run_many(
        "INSERT INTO choice (model, items, trio, score, probability) VALUES (?, ?, ?, ?, ?)",
        [(version, str(items), same_trio(items), *why) for items, *why in rows],
    )
