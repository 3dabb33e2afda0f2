"""The four crowd sets and their five honest splits, written where cblearn's own environment can read them.

    python benchmarks/accuracy/embeddings_data.py        # writes benchmarks/.data/embeddings/SET-FOLD.npz

Each file holds ``train`` and ``test``, (m, 3) rows (anchor, near, far), and ``n``, the number of objects.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nearfar.evaluate.splits import kfold
from nearfar.triplets import Triplets

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
SPLITS = ROOT / "benchmarks" / ".data" / "embeddings"
SETS = ("car", "musicians", "food", "things")
FOLDS = 5


def load(name: str) -> Triplets:
    if name == "things":
        table = np.load(DATA / "things" / "things_test10.npz")
        return Triplets.from_odd_one_out(table["odd_one_out"].astype(np.int32), table["names"].tolist())
    table = np.load(DATA / name / "triplets.npz")
    rows, names = table["triplets"].astype(np.int32), table["names"].tolist()
    if name == "car":
        return Triplets.from_array(rows, names)
    if name == "food":
        return Triplets.from_array(
            rows, names, statement=table["statement"], participant=table["participant"]
        )
    distinct = (rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] != rows[:, 2])
    rows = rows[distinct]  # 17 rows of musicians name one object twice
    if len(set(names)) < len(names):
        names = [f"{name} {i}" for i, name in enumerate(names)]
    # one choice gave several rows; the set has no ids for choices, (anchor, near) stands for one
    return Triplets.from_array(rows, names, statement=rows[:, 0] * np.int32(len(names)) + rows[:, 1])


def main() -> None:
    SPLITS.mkdir(parents=True, exist_ok=True)
    for name in SETS:
        answers = load(name)
        for fold, (train, test) in enumerate(kfold(answers, FOLDS, seed=0)):
            path = SPLITS / f"{name}-{fold}.npz"
            if not path.exists():
                np.savez(path, train=answers[train].array, test=answers[test].array, n=answers.n_objects)
            print(f"{path.name}: {len(train):,} to fit on, {len(test):,} to test on")


if __name__ == "__main__":
    main()
