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

import nearfar as nf
from benchmarks._measure import ROOT, SHARED
from nearfar.evaluate.splits import kfold

SPLITS = ROOT / "benchmarks" / ".data" / "embeddings"
SETS = ("car", "musicians", "food", "things")
FOLDS = 5


def digits(seed: int) -> tuple[Any, Any]:
    """Triplets about 1,000 digits: 100,000 with 20 % flips, 50,000 without."""
    rng = np.random.default_rng(seed)
    pictures = load_digits().data
    pictures = pictures[rng.choice(len(pictures), 1000, replace=False)]
    rows = np.array([rng.choice(1000, 3, replace=False) for _ in range(150_000)], dtype=np.int32)
    anchor, near, far = pictures[rows.T]
    wrong = ((anchor - near) ** 2).sum(axis=1) > ((anchor - far) ** 2).sum(axis=1)
    wrong[:100_000] ^= rng.random(100_000) < 0.2
    rows[wrong] = rows[wrong][:, [0, 2, 1]]
    return rows[:100_000], rows[100_000:]


def write(name: str, fold: int, train: Any, test: Any, n: int) -> None:
    np.savez(SPLITS / f"{name}-{fold}.npz", train=train, test=test, n=n)
    print(f"{name}-{fold}: {n:,} objects, {len(train):,} answers to fit on, {len(test):,} to test on")


def main() -> None:
    SPLITS.mkdir(parents=True, exist_ok=True)
    for name in SETS:
        if not (SHARED / name).exists():
            print(f"{name}: skipped, not at {SHARED}")
            continue
        answers = getattr(nf.datasets, f"fetch_{name}")(SHARED).triplets
        for fold, (train, test) in enumerate(kfold(answers, FOLDS, seed=0)):
            write(name, fold, answers[train].array, answers[test].array, answers.n_objects)
    for seed in range(FOLDS):
        write("digits", seed, *digits(seed), 1000)
    rng = np.random.default_rng(0)
    rows = np.argsort(rng.random((500, 30)), axis=1)[:, :3]
    # near each other: cblearn adds 1e-12 to STE's denominator, which shows once squared distances pass 20
    points = {f"points{d}": 0.4 * rng.normal(size=(30, d)) for d in (2, 5)}
    np.savez(SPLITS / "points.npz", rows=np.concatenate([rows, rows[:100]]), **points)


if __name__ == "__main__":
    main()
