"""What an embedding makes of landmark questions, by how lengths count in the pull: see nearfar.embedding.optimise.

    python -m benchmarks.accuracy.embeddings_landmarks     # writes results/embeddings-landmarks.json, prints means

Three ways: the default; all lengths alike; and each by its answers, whatever the collection. The collections: random
points, every object asked which of two landmarks is nearer, clean answers to random questions to test on; and
musicians, some of whom have fifty times the answers of others, on splits other than those of embeddings.py. ``wide``
is the landmarks' root mean square distance from the centre beside that of the others, 1 in truth.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks._measure import save, size
from benchmarks._sets import crowds
from benchmarks.accuracy.embeddings import METHODS, accuracy
from nearfar import design, embedding, simulate
from nearfar.embedding.optimise import Emphasis
from nearfar.errors import NearfarWarning
from nearfar.evaluate.splits import kfold
from nearfar.triplets import Triplets

LANDMARKS = size(
    [(200, 15, 60, 0.15, 2), (1000, 15, 50, 0.1, 2), (1000, 30, 150, 0.15, 5), (5000, 30, 100, 0.1, 5)],
    [(40, 6, 10, 0.1, 2)],
)
SEEDS = size(3, 1)
POWERS = {"default": None, "alike": 0.0, "by answers": 1.0}

Case = tuple[str, int, int, Triplets, Any]  # name, dimensions, landmarks, answers, answers to test on


def cases() -> Iterator[Case]:
    for n, n_landmarks, per_object, flip, d in LANDMARKS:
        name = f"{n} objects, {n_landmarks} landmarks, {per_object} answers each, {flip:.0%} flips"
        for seed in range(SEEDS):
            points = np.random.default_rng(seed).normal(size=(n, d))
            asked = design.landmark_questions(n, range(n_landmarks), "k1", budget=per_object * n, seed=seed)
            new = design.random_questions(n, 20_000, seed=seed)
            train = simulate.answers(asked, points=points, flip=flip, seed=seed).triplets
            yield name, d, n_landmarks, train, simulate.answers(new, points=points, seed=seed).triplets.array
    for _, answers in crowds(["musicians"]):
        for d in (2, 5):
            for train, test in kfold(answers, size(5, 2), seed=100):
                yield "musicians", d, 0, answers[train], answers[test].array


def fit(method: str, d: int, train: Triplets, power: float | None) -> Any:
    model = getattr(embedding, method)(d)
    if power is None:
        return model.fit_transform(train)
    measured = Emphasis.of
    with patch.object(Emphasis, "of", lambda data: measured(data)._replace(power=power)):
        return model.fit_transform(train)


def main() -> None:
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        for name, d, n_landmarks, train, test in cases():
            for method in METHODS:
                for lengths, power in POWERS.items():
                    points = fit(method, d, train, power)
                    row = {"set": name, "d": d, "method": method, "lengths": lengths}
                    rows.append(row | {"accuracy": accuracy(points, test)})
                    if n_landmarks:
                        squares = ((points - points[n_landmarks:].mean(axis=0)) ** 2).sum(axis=1)
                        ratio = squares[:n_landmarks].mean() / squares[n_landmarks:].mean()
                        rows[-1]["wide"] = float(np.sqrt(ratio))
    save("embeddings-landmarks", rows)
    print("mean accuracy (how wide the landmarks lie), lengths counted:", *POWERS, sep="  ")
    for name, d, method in dict.fromkeys((row["set"], row["d"], row["method"]) for row in rows):
        shown = []
        for lengths in POWERS:
            key = {"set": name, "d": d, "method": method, "lengths": lengths}
            found = [row for row in rows if key.items() <= row.items()]
            wide = f" ({np.mean([row['wide'] for row in found]):.1f})" if "wide" in found[0] else ""
            shown.append(f"{np.mean([row['accuracy'] for row in found]):.3f}{wide}")
        print(f"{name}, d = {d}, {method}: {' | '.join(shown)}")


if __name__ == "__main__":
    main()
