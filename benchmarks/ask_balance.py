"""How evenly questions are answered when people leave, by how questions are drawn and ordered.

python -m benchmarks.ask_balance  simulates studies in which 30 % of the people leave somewhere and their questions are
released after a while, and nobody comes at the end to make up for it; rows in benchmarks/results/ask_balance.json.
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
        keys = (rng.random(questions), load) if rule == "load" else (rng.random(questions), done, load)
        drawn = rng.permutation(np.lexsort(keys)[:per_person])
        if rule.endswith("booklet"):
            drawn = drawn[np.argsort(done[drawn], kind="stable")]
        load[drawn] += 1
        stay = int(rng.integers(per_person)) if rng.random() < DROP_OUT else per_person
        done[drawn[:stay]] += 1
        if stay < per_person:
            held.append((now, drawn[stay:]))
    return int(done.max() - done.min())


def main() -> None:
    rows = []
    for questions, per_person, people, lag in DESIGNS:
        for rule in RULES:
            rng = np.random.default_rng(0)
            found = np.array([spread(questions, per_person, people, lag, rule, rng) for _ in range(STUDIES)])
            rows.append(
                {
                    "questions": questions,
                    "per_person": per_person,
                    "people": people,
                    "released_after_people": lag,
                    "drawn_by": rule,
                    "share_at_most_1": round(float((found <= 1).mean()), 3),
                    "share_at_most_2": round(float((found <= 2).mean()), 3),
                    "largest": int(found.max()),
                }
            )
            print(json.dumps(rows[-1]), flush=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
