"""The number of groups, counted in the space of an embedding of simulated answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import fit, repetitions, run_cells, share
from benchmarks.honesty.worlds import asked, clusters_of_points, make_world
from nearfar.evaluate.cluster_count import count_clusters


def counted(seed: Any, *, shape: str, k: int, d: int, per: int, each: int, model: str) -> dict[str, Any]:
    """``each`` : answers per object. Right: k groups, and 1 for shapes without groups."""
    rng = np.random.default_rng(seed)
    n = 50
    if shape == "groups":
        points = clusters_of_points(rng, k, per=per, d=d)
    elif shape == "ring":
        angle = rng.uniform(0, 2 * np.pi, n)
        points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    elif shape == "box":
        points = rng.uniform(size=(n, d))
    else:
        points = rng.normal(size=(n, d))
    world = make_world(rng, points=points, noise="guessing" if shape == "noise" else "logistic")
    answers = asked(world, rng, m=each * len(points), people=30)
    found = count_clusters(fit(model, answers).rows)
    return {"right": share(found.k == k), "found": float(found.k), "off_by_one": share(abs(found.k - k) == 1)}


def main() -> None:
    base = {"model": "soe-8", "each": 40}
    cells: list[dict[str, Any]] = [
        {"shape": "groups", "k": k, "d": d, "per": per, **base}
        for k, d, per in ((2, 2, 20), (3, 2, 13), (5, 3, 8), (8, 2, 6), (8, 5, 6))
    ]
    cells += [{"shape": "groups", "k": 8, "d": 3, "per": 10, "model": "soe-8", "each": 120}]
    cells += [
        {"shape": shape, "k": 1, "d": d, "per": 0, **base}
        for shape, d in (("bell", 2), ("bell", 5), ("box", 2), ("box", 1), ("ring", 2), ("noise", 2))
    ]
    run_cells("clusters", cells, counted, repetitions())


if __name__ == "__main__":
    main()
