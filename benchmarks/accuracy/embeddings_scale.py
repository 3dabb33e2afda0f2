"""Embeddings at scale: 100,000 objects, 10 million answers, two dimensions; seconds and memory of a fresh process.

    python -m benchmarks.accuracy.embeddings_scale [METHOD ...]      # writes results/embeddings-scale.json

The answers are about random points in the plane, one in ten is turned round, so no model can agree with more than
nine in ten of new ones. The aim: a fit within 5 minutes and 4 GB.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from benchmarks._measure import in_child, peak_of_this_process, save, show, size
from nearfar import embedding
from nearfar.triplets import Triplets

OBJECTS, ANSWERS, HELD_OUT = size((100_000, 10_000_000, 200_000), (200, 4_000, 500))
METHODS = size(("GNMDS", "CKL", "STE", "TSTE", "SOE"), ("SOE",))


def make(n: int, m: int, seed: int) -> Triplets:
    rng = np.random.default_rng(seed)
    points = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    parts = []
    for start in range(0, m, 1_000_000):
        rows = rng.integers(0, n, size=(min(1_000_000, m - start), 3), dtype=np.int32)
        rows[:, 1] = np.where(rows[:, 1] == rows[:, 0], (rows[:, 0] + 1) % n, rows[:, 1])
        same = (rows[:, 2] == rows[:, 0]) | (rows[:, 2] == rows[:, 1])
        rows = rows[~same]
        apart = ((points[rows[:, [0]]] - points[rows[:, 1:]]) ** 2).sum(axis=2)
        wrong = (apart[:, 0] > apart[:, 1]) ^ (rng.random(len(rows)) < 0.1)
        rows[wrong] = rows[wrong][:, [0, 2, 1]]
        parts.append(rows)
    return Triplets.from_array(np.concatenate(parts), n_objects=n)


def fit(method: str) -> dict[str, Any]:
    embed = getattr(embedding, method)
    embed(2).fit(make(100, 20_000, 2))  # compiles
    embed(2).fit(make(1000, 20_000, 2))
    answers = make(OBJECTS, ANSWERS, 1)
    base = peak_of_this_process()
    wall, cpu = time.perf_counter(), time.process_time()
    model = embed(2).fit(answers)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = peak_of_this_process()
    new = make(OBJECTS, HELD_OUT, 3)
    anchor, near, far = (model.embedding_[role] for role in (new.anchor, new.near, new.far))
    right = ((anchor - near) ** 2).sum(axis=1) < ((anchor - far) ** 2).sum(axis=1)
    return {
        "method": method,
        "objects": OBJECTS,
        "answers": len(answers),
        "d": 2,
        "seconds": wall,
        "cpu": cpu,
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "accuracy": float(right.mean()),
        "base_bytes": base,
        "fit_peak_bytes": peak,
    }


def main() -> None:
    rows = []
    for method in sys.argv[1:] or METHODS:
        rows.append(in_child("benchmarks.accuracy.embeddings_scale", "fit", method))
        show(rows[-1:])
    save("embeddings-scale", rows)


if __name__ == "__main__":
    main()
