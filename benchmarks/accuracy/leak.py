"""What a split by triplets hides: the accuracy of a table that only remembers, split carelessly and honestly.

The table answers a question by the majority of its training answers about the same pair of options and, where it has
none, about the same trio; else it ties. It knows nothing about similarity, so an honest judge gives it about one
half. ``python -m benchmarks.accuracy.leak`` keeps raw rows in benchmarks/results/leak.json.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import save, show
from benchmarks._sets import crowds
from nearfar.evaluate.splits import holdout
from nearfar.triplets import Triplets


def remembered(train: Triplets, test: Triplets) -> float:
    """Accuracy of the memory: in a trio, who was paired most often is answered again."""
    n = train.n_objects

    def closeness(answers: Triplets) -> dict[tuple[int, int, int], int]:
        table: dict[tuple[int, int, int], int] = {}
        for trio, a, x, y in zip(answers.trio_ids, answers.anchor, answers.near, answers.far, strict=True):
            for b, vote in ((x, 1), (y, -1)):
                key = (int(trio), min(int(a), int(b)), max(int(a), int(b)))
                table[key] = table.get(key, 0) + vote
        return table

    known = closeness(train)

    def vote(trio: Any, a: Any, b: Any) -> int:
        return known.get((int(trio), min(int(a), int(b)), max(int(a), int(b))), 0)

    margin: NDArray[Any] = np.array(
        [
            vote(t, a, x) - vote(t, a, y)
            for t, a, x, y in zip(test.trio_ids, test.anchor, test.near, test.far, strict=True)
        ]
    )
    assert n == test.n_objects
    return float(np.mean((margin > 0) + 0.5 * (margin == 0)))


def main() -> None:
    rows = []
    for name, answers in crowds():
        in_test = np.random.default_rng(0).random(len(answers)) < 0.2
        honest = holdout(answers, 0.2, seed=0)
        rows.append(
            {
                "set": name,
                "split by triplet": remembered(answers[~in_test], answers[in_test]),
                "honest split": remembered(answers[honest.train], answers[honest.test]),
            }
        )
    show(rows)
    print("rows kept in", save("leak", rows))


if __name__ == "__main__":
    main()
