"""Adaptive questions in the database: places that stay open until they are near, and the questions that models chose for them.

A participant's booklet has all its places from the start. Those for adaptive questions are open: each holds a random question,
which nobody has seen. Shortly before a person gets there, the best question of the newest model that is about other objects
takes its place; if no model has one, the random question stays. So every random question was drawn without regard to answers, and
accuracy can come from them. Repeats and checks are never open.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfar._tools.progress import step
from nearfar.ask.pool import same_trio
from nearfar.ask.store.transaction import SLOTS, Store, Transaction
from nearfar.ask.study import QuestionPlan
from nearfar.design import Questions, next_questions
from nearfar.design.booklets import AGAIN, GAP, NEW, Booklets
from nearfar.triplets import Triplets

AHEAD = 6  # places of a booklet that are settled when one runs short of them
CHOSEN = "~"  # in place of the condition of a question that was not drawn with the pool; no condition can be called so
LATEST = 15.0  # seconds from the arrival of an answer to the database; after more, no model uses it
MOST_QUESTIONS = 5000  # of a model
OFF, ENOUGH = "adaptive off", "enough"  # events
Choice = tuple[list[int], float, float]  # objects of a question, score, probability


def open_places(made: Booklets, person: int, plan: QuestionPlan, rng: np.random.Generator) -> set[int]:
    """Rows of a new booklet that are for adaptive questions: none for control participants.

    A question that comes again is a random one, so that agreement is that of random questions. These stand early, so the others
    are drawn mostly from late places: random questions are as likely anywhere, as far as that goes.
    """
    if not plan.is_adaptive or is_control(person, plan):
        return set()
    new = np.flatnonzero(made.role == NEW)
    again = np.isin(made.question[new], made.question[made.role == AGAIN])
    wanted, early = plan.n_random(len(new)), new < len(made) - GAP
    weight = wanted / max(len(new), 1) - early * (again.sum() / max(early.sum(), 1))
    weight, free = np.maximum(weight[~again], 1e-6), new[~again]
    left = max(wanted - again.sum(), 0)
    return {*free.tolist()} - {*rng.choice(free, left, replace=False, p=weight / weight.sum()).tolist()}


def is_control(person: int, plan: QuestionPlan) -> bool:
    """Whether somebody gets random questions only: of every twenty people the same number, in random order."""
    block, place = divmod(person, 20)
    order = np.random.default_rng([plan.seed, block]).permutation(20)
    return bool(order[place] < plan.n_control)


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
    same = "SELECT 1 FROM slot s JOIN question q ON q.id = s.question WHERE s.participant = ? AND q.trio = c.trio"
    best = f"SELECT c.id, c.items, c.trio FROM choice c WHERE c.question IS NULL AND NOT EXISTS ({same}) ORDER BY c.id LIMIT ?"
    waiting = [] if noted(tx, OFF) else tx.rows(best, person, 2 * len(places))
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


# ---------------------------------------------------------------- models


def noted(tx: Transaction, kind: str) -> str:
    """What the first event of a kind says, or the kind where it says nothing; "" where there was none."""
    rows = tx.rows("SELECT detail FROM event WHERE kind = ? ORDER BY id LIMIT 1", kind)
    return str(rows[0][0] or kind) if rows else ""


def begin_model(tx: Transaction, plan: QuestionPlan, now: float) -> int | None:
    """Note which answers a new model is made of, and its seed; None where none is needed yet.

    These are answers to adaptive questions, never to random ones.
    """
    tx.lock_drawing()
    n, total, waiting, version, known, at = tx.rows(
        "SELECT (SELECT count(*) FROM object), (SELECT count(*) FROM answer), (SELECT count(*) FROM choice "
        "WHERE question IS NULL), count(*), coalesce(max(total), 0), coalesce(max(at), 0) FROM model"
    )[0]
    enough = version and total - known < max(5, n // 4) and waiting >= n // 2
    if enough or noted(tx, OFF):
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


def is_whole(tx: Transaction, version: int) -> bool:
    """Whether all answers that a model is made of are still there."""
    left = "SELECT (SELECT count(*) FROM used WHERE model <= m.id) >= answers FROM model m WHERE id = ?"
    return bool(tx.rows(left, version)[0][0])


def choose(tx: Transaction, version: int, features: Any = None) -> list[Choice] | None:
    """The questions of a model, from the answers noted for it; None where some of them were erased since.

    Those whose anchor was asked least come first: the model does not know of questions that wait for their answers.
    """
    kind, pick = tx.rows("SELECT kind, pick FROM study")[0]
    names = tuple(name for (name,) in tx.rows("SELECT name FROM object ORDER BY id"))
    rows = tx.rows(
        "SELECT s.shown, a.choice FROM used u JOIN slot s ON s.participant = u.participant AND s.place = u.place "
        "JOIN answer a ON a.participant = u.participant AND a.place = u.place WHERE u.model <= ? "
        "ORDER BY u.model, u.participant, u.place",
        version,
    )
    if not is_whole(tx, version):
        return None
    seed, wanted = tx.rows("SELECT seed, wanted FROM model WHERE id = ?", version)[0]
    width = len(json.loads(tx.rows("SELECT items FROM question WHERE condition <> ? LIMIT 1", CHOSEN)[0][0]))
    shown = np.array([json.loads(row[0]) for row in rows], dtype=np.int32).reshape(-1, width)
    chosen = np.array([json.loads(row[1]) for row in rows], dtype=np.int64).reshape(-1, pick)
    given: Triplets = Questions(shown, names, kind, pick).answered(chosen if pick > 1 else chosen[:, 0])
    like: Any = {"kind": kind, "size": width - 1, "pick": pick}
    made = next_questions(given, names, wanted, **like, features=features, seed=seed)
    columns = (made.questions.array, made.score, made.probability)
    found: list[Choice] = list(zip(*(column.tolist() for column in columns), strict=True))
    before = tx.rows("SELECT items FROM choice WHERE question IS NOT NULL")
    asked = Counter(json.loads(items)[0] for (items,) in before)
    turns = []
    for (anchor, *_), *_ in found:
        turns.append(asked[anchor])
        asked[anchor] += 1
    return [found[i] for i in np.argsort(turns, kind="stable")]


def refresh(store: Store, plan: QuestionPlan, now: float) -> None:
    """Make a model, where one is needed, in this process."""
    if (version := store.write_now(begin_model, plan, now)) is not None:
        store.write_now(add_questions, version, store.read_now(choose, version) or [])


def replay(tx: Transaction, features: Any = None) -> list[tuple[str, str]]:
    """Draw the questions of every model again, and compare them with what people saw; lines of what came out."""
    anchored = int(tx.rows("SELECT kind FROM study")[0][0] in ("near", "grid"))
    asked: dict[int | None, list[Any]] = {}
    for version, items, shown, source, *why in tx.rows(
        "SELECT c.model, c.items, s.shown, q.source, c.score, c.probability FROM question q LEFT JOIN choice c "
        "ON c.question = q.id LEFT JOIN slot s ON s.question = q.id WHERE q.condition = ? OR c.id IS NOT NULL",
        CHOSEN,
    ):
        rows = [json.loads(row or "[]") for row in (items, shown)]
        here, there = ((*row[:anchored], *sorted(row[anchored:])) for row in rows)
        asked.setdefault(version, []).append((items if here == there and source == "adaptive" else "", why))
    versions = [version for (version,) in tx.rows("SELECT id FROM model ORDER BY id")]
    same = erased = 0
    with step("models", total=len(versions)) as advance:
        for version in versions:
            drawn, kept = choose(tx, version, features), asked.get(version, [])
            again = {str(items): why for items, *why in drawn or ()}
            same += sum(items in again and np.allclose(again[items], why, 1e-4, 1e-12) for items, why in kept)
            erased += len(kept) if drawn is None else 0
            advance(1)
    other = sum(map(len, asked.values())) - same - erased
    none = "" if versions else ": this study has chosen no adaptive questions"
    told = ": other vectors, another version of a library, or a changed database" if other else ""
    gone = ", as answers that they were chosen by were erased" if erased else ""
    return [
        ("models", f"{len(versions):,}{none}"),
        ("questions", f"{same:,} drawn again as they were asked"),
        ("different", f"{other:,}{told}"),
        ("not drawn again", f"{erased:,}{gone}"),
    ]


def add_questions(tx: Transaction, version: int, rows: Sequence[Choice]) -> None:
    """Let the questions of a model take the place of those that nobody got yet."""
    tx.lock_drawing()
    tx.run("DELETE FROM choice WHERE question IS NULL")
    if is_whole(tx, version):  # or somebody was erased since
        tx.run_many(
            "INSERT INTO choice (model, items, trio, score, probability) VALUES (?, ?, ?, ?, ?)",
            [(version, str(items), same_trio(items), *why) for items, *why in rows],
        )
