"""How evenly questions are answered when people leave, by how questions are drawn and ordered.

python -m benchmarks.ask_balance  simulates studies in which 30 % of the people leave somewhere and their questions are
released after a while: studies in which nobody comes at the end to make up for it, and studies to which all come at once
and whose leavers are replaced, as recruiters do, until as many as wanted have finished. Rows in
benchmarks/results/ask_balance.json.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "ask_balance.json"
DROP_OUT = 0.3
STUDIES = 300
RULES = ("load", "load, answers", "load, answers; fewest answers first in the booklet")
# questions, new ones per person, people, people who arrive before the questions of one who left are released
DESIGNS = (
    (60, 20, 15, 5),
    (64, 16, 40, 5),
    (100, 25, 20, 5),
    (300, 30, 60, 10),
    (1020, 51, 118, 10),
    (1020, 51, 118, 30),
    (1020, 51, 118, 118),
)
REPLACED = tuple(
    (*design, None) for design in ((60, 20, 15), (64, 16, 40), (100, 25, 20), (300, 30, 60), (1020, 51, 100))
)


def spread(
    questions: int, per_person: int, people: int, lag: int, rule: str, rng: np.random.Generator
) -> int:
    """Most minus fewest answers of a question at the end of a simulated study."""
    load, done = np.zeros(questions, dtype=int), np.zeros(questions, dtype=int)
    held: list[tuple[int, np.ndarray]] = []
    for now in range(people):
        for then, left in held:
            if then + lag == now:
                load[left] -= 1
        drawn = booklet(load, done, per_person, rule, rng)
        stay = leaves_after(per_person, rng)
        done[drawn[:stay]] += 1
        if stay < per_person:
            held.append((now, drawn[stay:]))
    return int(done.max() - done.min())


def spread_where_replaced(
    questions: int, per_person: int, people: int, rule: str, rng: np.random.Generator
) -> int:
    """The same where all come at once, and as many as left come at once again, until ``people`` have finished."""
    load, done = np.zeros(questions, dtype=int), np.zeros(questions, dtype=int)
    missing = people
    while missing:
        booklets = [booklet(load, done, per_person, rule, rng) for _ in range(missing)]
        missing = 0
        for drawn in booklets:
            stay = leaves_after(per_person, rng)
            done[drawn[:stay]] += 1
            load[drawn[stay:]] -= 1
            missing += stay < per_person
    return int(done.max() - done.min())


def booklet(
    load: np.ndarray, done: np.ndarray, per_person: int, rule: str, rng: np.random.Generator
) -> np.ndarray:
    """Questions for one more person, in order; the load of each goes up by one."""
    ties = rng.random(len(load))
    keys = (ties, load) if rule == "load" else (ties, done, load)
    drawn = rng.permutation(np.lexsort(keys)[:per_person])
    if rule.endswith("booklet"):
        drawn = drawn[np.argsort(done[drawn], kind="stable")]
    load[drawn] += 1
    return drawn


def leaves_after(per_person: int, rng: np.random.Generator) -> int:
    """How many questions a person answers."""
    return int(rng.integers(per_person)) if rng.random() < DROP_OUT else per_person


def main() -> None:
    rows = []
    for questions, per_person, people, lag in (*DESIGNS, *REPLACED):
        for rule in RULES:
            rng = np.random.default_rng(0)
            spreads = np.array(
                [
                    spread_where_replaced(questions, per_person, people, rule, rng)
                    if lag is None
                    else spread(questions, per_person, people, lag, rule, rng)
                    for _ in range(STUDIES)
                ]
            )
            rows.append(
                {
                    "questions": questions,
                    "per_person": per_person,
                    "people": people,
                    "released_after_people": "all at once, leavers replaced" if lag is None else lag,
                    "drawn_by": rule,
                    "share_at_most_1": round(float((spreads <= 1).mean()), 3),
                    "share_at_most_2": round(float((spreads <= 2).mean()), 3),
                    "largest": int(spreads.max()),
                }
            )
            print(json.dumps(rows[-1]), flush=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
