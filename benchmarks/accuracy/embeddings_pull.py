"""How strong should an embedding's pull to the centre be? Held-out accuracy over multiples of the default.

    python -m benchmarks.accuracy.embeddings_pull        # writes results/embeddings-pull.json, prints means

The splits have other seeds than those of embeddings.py, so that what is reported there was not chosen there.
Beside the crowd sets: answers about random points in the plane, few or many, clean or with flips; new answers to
test on are clean. A default has to do on all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

import nearfar as nf
from benchmarks._measure import save, size
from benchmarks._sets import CROWDS, crowds
from benchmarks.accuracy.embeddings import METHODS, accuracy
from benchmarks.accuracy.embeddings_data import N_DIGITS, digits
from nearfar import embedding
from nearfar.errors import NearfarWarning
from nearfar.evaluate.splits import kfold
from nearfar.triplets import Triplets

TIMES = size((0.0, 0.25, 0.5, 1.0, 2.0, 4.0), (0.0, 1.0))
PARTS = size({"musicians": 5, "car": 3, "food": 1, "things": 1}, dict.fromkeys(CROWDS, 1))
SIMULATED = size(
    [(20, 100, 0.0, 20), (20, 100, 0.15, 20), (60, 1000, 0.15, 6), (60, 3000, 0.0, 4), (500, 40_000, 0.1, 2)],
    [(20, 100, 0.1, 1)],
)

Case = tuple[str, Triplets, Any]


def collected() -> Iterator[Case]:
    for name, answers in crowds():
        for train, test in islice(kfold(answers, 5, seed=100), PARTS[name]):
            yield name, answers[train], answers[test].array
    train, test = digits(100)
    yield "digits", Triplets.from_array(train, n_objects=N_DIGITS), test


def simulated() -> Iterator[Case]:
    for n, m, flip, repeats in SIMULATED:
        for seed in range(repeats):
            points = np.random.default_rng(seed).normal(size=(n, 2))
            questions = nf.design.random_questions(n, m + 2000, seed=seed)
            train = nf.simulate.answers(questions[:m], points=points, flip=flip, seed=seed).triplets
            test = nf.simulate.answers(questions[m:], points=points, seed=seed).triplets
            yield f"{n} objects, {m:,} answers, {flip:.0%} flips", train, test.array


def main() -> None:
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        for name, train, test in (*collected(), *simulated()):
            for method in METHODS:
                for d in (2, 5) if name in (*CROWDS, "digits") else (2,):
                    model = getattr(embedding, method)(d)
                    default = model.regularization
                    for times in TIMES:
                        points = model.set_params(regularization=times * default).fit_transform(train)
                        row = {"set": name, "method": method, "d": d, "times_default": times}
                        rows.append(
                            row | {"regularization": times * default, "accuracy": accuracy(points, test)}
                        )
    save("embeddings-pull", rows)
    print("times the default:", *TIMES)
    for key in dict.fromkeys((row["set"], row["method"], row["d"]) for row in rows):
        means = [
            np.mean(
                [
                    r["accuracy"]
                    for r in rows
                    if (r["set"], r["method"], r["d"]) == key and r["times_default"] == t
                ]
            )
            for t in TIMES
        ]
        print(f"{key[0]:36s} {key[1]:6s} {key[2]}", *(f"{value:.3f}" for value in means))


if __name__ == "__main__":
    main()
