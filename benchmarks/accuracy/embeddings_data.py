"""What is embedded, written where cblearn's own environment can read it.

    python -m benchmarks.accuracy.embeddings_data        # writes benchmarks/.data/embeddings/SET-FOLD.npz

The four crowd sets with five honest splits each, and "digits": 1,000 of scikit-learn's digits, 100,000 random
triplets with 20 % flips to fit on, 50,000 without to test on, five seeds. Each file holds ``train`` and ``test``,
(m, 3) rows (anchor, near, far), and ``n``, the number of objects. ``points.npz`` holds points and answers at which
the losses of both libraries are compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks._measure import DATA, size
from benchmarks._sets import crowds
from nearfar.evaluate.splits import kfold

SPLITS = DATA / "embeddings"
FOLDS = 5
N_DIGITS, FITTED, TESTED = size((1_000, 100_000, 50_000), (60, 400, 50))


def digits(seed: int) -> tuple[Any, Any]:
    """Triplets about N_DIGITS digits: FITTED with 20 % flips, TESTED without."""
    rng = np.random.default_rng(seed)
    pictures = load_digits().data
    pictures = pictures[rng.choice(len(pictures), N_DIGITS, replace=False)]
    rows = np.array([rng.choice(N_DIGITS, 3, replace=False) for _ in range(FITTED + TESTED)], dtype=np.int32)
    anchor, near, far = pictures[rows.T]
    wrong = ((anchor - near) ** 2).sum(axis=1) > ((anchor - far) ** 2).sum(axis=1)
    wrong[:FITTED] ^= rng.random(FITTED) < 0.2
    rows[wrong] = rows[wrong][:, [0, 2, 1]]
    return rows[:FITTED], rows[FITTED:]


def write(name: str, fold: int, train: Any, test: Any, n: int) -> None:
    np.savez(SPLITS / f"{name}-{fold}.npz", train=train, test=test, n=n)
    print(f"{name}-{fold}: {n:,} objects, {len(train):,} answers to fit on, {len(test):,} to test on")


def main() -> None:
    SPLITS.mkdir(parents=True, exist_ok=True)
    for name, answers in crowds():
        for fold, (train, test) in enumerate(kfold(answers, FOLDS, seed=0)):
            write(name, fold, answers[train].array, answers[test].array, answers.n_objects)
    for seed in range(FOLDS):
        write("digits", seed, *digits(seed), N_DIGITS)
    rng = np.random.default_rng(0)
    rows = np.argsort(rng.random((500, 30)), axis=1)[:, :3]
    # near each other: cblearn adds 1e-12 to STE's denominator, which shows once squared distances pass 20
    points = {f"points{d}": 0.4 * rng.normal(size=(30, d)) for d in (2, 5)}
    np.savez(SPLITS / "points.npz", rows=np.concatenate([rows, rows[:100]]), **points)


if __name__ == "__main__":
    main()
