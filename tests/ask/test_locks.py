"""Rows of a study are locked in one order, so that two transactions never wait for each other."""

import uuid

import numpy as np
from ask_tools import arrive, check_invariants, opened, places

from nearfar.ask.store import drawing, people, researcher
from nearfar.ask.store.people import Answer


class Recorded:
    """A transaction that keeps the order in which rows are locked: (table, id)."""

    def __init__(self, tx):
        self.tx, self.locks = tx, []

    def rows(self, sql, *values):
        if sql.startswith("UPDATE participant"):
            self.locks.append(("participant", values[0]))
        return self.tx.rows(sql, *values)

    def run(self, sql, *values):
        if sql.startswith("UPDATE participant"):
            self.locks.append(("participant", values[-1]))
        assert not sql.startswith("UPDATE question")
        self.tx.run(sql, *values)

    def run_many(self, sql, values):
        if sql.startswith("UPDATE question"):
            self.locks += [("question", row[-1]) for row in values]
        self.tx.run_many(sql, values)

    def insert(self, table, **values):
        return self.tx.insert(table, **values)

    def lock_drawing(self):
        self.locks.append(("drawing", 0))
        self.tx.lock_drawing()


def test_locks_are_taken_in_one_order(tmp_path):
    """Drawing, people, questions, each in the order of their ids: two transactions cannot wait for each other."""
    ready = opened(
        tmp_path,
        questions="per_person = 24\nagain = 0.25\nchecks = 2\neach = 3",
        people="aim = 12\nidle_minutes = 10",
    )
    rng, locks = np.random.default_rng(0), []

    def recorded(tx, operation, *arguments):
        own = Recorded(tx)
        told = operation(own, *arguments)
        locks.append(own.locks)
        return told

    for token in ("a", "b", "c"):
        arrive(ready, token, now=0.0)
    held = places(ready, "b")
    sent = [Answer(str(uuid.uuid4()), place["place"], (1,), None, None, None) for place in held[::-1]]
    ready.store.write_now(recorded, drawing.release_idle, 500.0, rng)
    told = ready.store.write_now(recorded, people.save_answers, "b", sent, ready.plan, 600.0)
    assert len(told["saved"]) == len(held)
    check_invariants(ready)
    assert ready.store.write_now(recorded, researcher.erase, "pb", rng)
    check_invariants(ready)
    released, saved, erased = locks
    assert len([lock for lock in released if lock[0] == "participant"]) == 3
    order = {"drawing": 0, "participant": 1, "question": 2}
    for taken in (released, list(dict.fromkeys(saved)), erased):  # what is held already is not waited for
        assert ("drawing", 0) in taken and any(table == "question" for table, _ in taken)
        assert taken == sorted(taken, key=lambda lock: (order[lock[0]], lock[1]))
    ready.close()
