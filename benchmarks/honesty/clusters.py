"""The number of groups, counted in the space of an embedding of simulated answers, in both families of worlds."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import fit, repetitions, run_cells, share
from benchmarks.honesty.worlds import asked, clusters_of_points, make_world
from benchmarks.honesty.worlds_held_out import asked_held_out, groups_held_out, make_held_out
from nearfar.evaluate.grouping import count_groups
from nearfar.space.space import Space

N = 50  # objects of shapes without groups


def counted(
    seed: Any, *, shape: str, k: int, d: int, per: int, each: int, model: str, noise: str
) -> dict[str, Any]:
    """``each`` : answers per object. Right: k groups, and 1 for shapes without groups."""
    rng = np.random.default_rng(seed)
    if shape == "groups":
        points = clusters_of_points(rng, k, per=per, d=d)
    elif shape == "ring":
        angle = rng.uniform(0, 2 * np.pi, N)
        points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    elif shape == "box":
        points = rng.uniform(size=(N, d))
    else:
        points = rng.normal(size=(N, d))
    world = make_world(rng, points=points, noise=noise)
    answers = asked(world, rng, m=each * len(points), people=30)
    return _found(fit(model, answers), k)


def counted_held_out(
    seed: Any, *, shape: str, k: int, d: int, n: int, each: int, model: str, noise: str
) -> dict[str, Any]:
    """The same for unequal, stretched, heavy-tailed groups, and for balls, cities, and hierarchies without groups."""
    rng = np.random.default_rng(seed)
    groups = groups_held_out(rng, k, n=n, d=d) if shape == "groups" else None
    geometry = "ball" if shape == "groups" else shape
    world = make_held_out(rng, n=n, geometry=geometry, noise=noise, features=groups)
    answers = asked_held_out(world, rng, m=each * n, people=35)
    return _found(fit(model, answers), k)


def _found(space: Space, k: int) -> dict[str, Any]:
    found = count_groups(space)
    alone = found.k > 1 and found.low == found.high  # one number is stated, without a range
    return {
        "right": share(found.k == k),
        "alone_right": share(alone and found.k == k) if k > 1 else None,
        "alone_wrong": share(alone and found.k != k),
        "none": share(found.k == 1),
        "wrong": share(found.k not in (1, k)),
        "several": share(found.low < found.high),
        "holds": share(found.low <= k <= found.high) if found.k > 1 and k > 1 else None,
        "best_cut_right": share(found.best_cut == k) if k > 1 else None,
        "knee": found.knee,
        "gap": found.gap,
    }


def main() -> None:
    count = repetitions(60)
    groups = ((2, 2, 20), (3, 2, 13), (5, 3, 8), (8, 2, 6), (8, 3, 10))
    cells: list[dict[str, Any]] = [
        {"shape": "groups", "k": k, "d": d, "per": per, "each": each, "model": model, "noise": noise}
        for k, d, per in groups
        for model, each, noise in (
            ("soe-3", 40, "logistic"),
            ("soe-3", 120, "logistic"),
            ("soe-8", 120, "logistic"),
            ("soe-3", 120, "flips"),
            ("soe-3", 120, "none"),
            ("score", 120, "logistic"),
        )
    ]
    cells += [
        {"shape": shape, "k": 1, "d": d, "per": 0, "each": each, "model": model, "noise": noise}
        for shape, d in (("bell", 2), ("bell", 5), ("box", 2), ("box", 1), ("ring", 2))
        for model, each, noise in (
            ("soe-3", 40, "logistic"),
            ("soe-8", 120, "logistic"),
            ("soe-3", 120, "none"),
            ("score", 120, "logistic"),
        )
    ]
    cells += [
        {"shape": "noise", "k": 1, "d": 2, "per": 0, "each": each, "model": "soe-3", "noise": "guessing"}
        for each in (40, 120)
    ]
    run_cells("clusters", cells, counted, count)
    held_out: list[dict[str, Any]] = [
        {"shape": "groups", "k": k, "d": d, "n": n, "each": each, "model": "soe-3", "noise": noise}
        for k, d, n in ((2, 2, 36), (4, 2, 44), (6, 3, 60), (9, 2, 80))
        for each, noise in ((60, "ratio"), (120, "ratio"), (120, "lapses"))
    ]
    held_out += [
        {"shape": "groups", "k": k, "d": d, "n": n, "each": 120, "model": "score", "noise": "ratio"}
        for k, d, n in ((2, 2, 36), (4, 2, 44), (6, 3, 60))
    ]
    held_out += [
        {"shape": shape, "k": 1, "d": 3, "n": 45, "each": 120, "model": "score", "noise": "ratio"}
        for shape in ("ball", "city")
    ]
    held_out += [
        {"shape": shape, "k": 1, "d": 3, "n": 45, "each": each, "model": "soe-3", "noise": "ratio"}
        for shape in ("ball", "city")
        for each in (60, 120)
    ]
    run_cells("clusters_held_out", held_out, counted_held_out, count)


if __name__ == "__main__":
    main()
