"""The number of groups, counted in simulated answers, in all families of worlds."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import repetitions, run_cells, share
from benchmarks.honesty.either import make_either
from benchmarks.honesty.worlds import asked, clusters_of_points, make_world
from benchmarks.honesty.worlds_held_out import asked_held_out, groups_held_out, make_held_out
from nearfar.evaluate.clusters import count_object_clusters
from nearfar.evaluate.splits import kfold
from nearfar.triplets import Triplets

N = 50  # objects of shapes without groups
SECOND = ("ball", "city")


def counted(
    seed: Any, *, shape: str, k: int, d: int, per: int, each: int, noise: str, design: str = "random"
) -> dict[str, Any]:
    """``each`` : triplets per object. Right: k groups, and 1 for shapes without groups."""
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
    if design != "random":
        points = rng.permutation(points)  # landmarks are the first objects
    world = make_world(rng, points=points, noise=noise)
    return _found(asked(world, rng, design=design, m=each * len(points), people=30), k)


def counted_elsewhere(
    seed: Any, *, shape: str, k: int, d: int, n: int, each: int, noise: str
) -> dict[str, Any]:
    """The same for unequal, stretched, heavy-tailed groups, and for the other families' worlds without groups."""
    rng = np.random.default_rng(seed)
    if shape == "groups":
        features = groups_held_out(rng, k, n=n, d=d)
        world = make_held_out(rng, n=n, geometry="ball", noise=noise, features=features)
        return _found(asked_held_out(world, rng, m=each * n, people=35), k)
    found = make_either(rng, n=n, geometry=shape, noise=noise)
    design = "balanced" if shape in SECOND else "random"
    return _found(found.asked(found.world, rng, design=design, m=each * n, people=35), k)


def _found(answers: Triplets, k: int) -> dict[str, Any]:
    found = count_object_clusters(answers, answers, list(kfold(answers, 3 if len(answers) > 5000 else 5)))
    alone = found.k > 1 and found.low == found.high  # one number is stated, without a range
    looked = not found.unknown
    return {
        "right": share(found.k == k),
        "alone_right": share(alone and found.k == k) if k > 1 else None,
        "alone_wrong": share(alone and found.k != k),
        "none": share(found.k == 1),
        "wrong": share(found.k not in (1, k)),
        "several": share(found.low < found.high),
        "holds": share(found.low <= k <= found.high) if found.k > 1 and k > 1 else None,
        "best_cut_right": share(found.best_cut == k) if k > 1 else None,
        "elbow": found.elbow if looked else None,
        "gap": found.gap if looked else None,
    }


GROUPS = ((2, 2, 20), (3, 2, 13), (5, 3, 8), (8, 2, 6), (8, 3, 10))  # how many, dimensions, objects of each
NOISES = (
    ("logistic", 40),
    ("logistic", 120),
    ("abilities", 80),
    ("flips", 60),
    ("flips", 120),
    ("none", 120),
)
DESIGNS = ("odd", "list", "grid", "landmarks")  # besides single questions about any objects
CLOUDS = (("bell", 2), ("bell", 5), ("box", 2), ("box", 1), ("ring", 2))
GROUPS_ELSEWHERE = ((2, 2, 36), (4, 2, 44), (6, 3, 60), (9, 2, 80))  # how many, dimensions, objects
CLOUDS_ELSEWHERE = (
    ("ball", "ratio"), ("ball", "lapses"), ("city", "ratio"), ("city", "lapses"), ("circle", "jnd"), ("circle", "careless"),
    ("traits", "heavy"), ("sphere", "gamma"), ("torus", "context"), ("topics", "gamma"), ("cosine", "context"),
)  # fmt: skip


def main() -> None:
    count = repetitions(60)
    cells: list[dict[str, Any]] = [
        {"shape": "groups", "k": k, "d": d, "per": per, "each": each, "noise": noise}
        for k, d, per in GROUPS
        for noise, each in NOISES
    ]
    cells += [
        {"shape": shape, "k": 1, "d": d, "per": 0, "each": each, "noise": noise}
        for shape, d in CLOUDS
        for noise, each in (("logistic", 40), ("logistic", 120), ("flips", 120), ("none", 120))
    ]
    cells += [
        {"shape": "noise", "k": 1, "d": 2, "per": 0, "each": each, "noise": "guessing"} for each in (40, 120)
    ]
    run_cells("clusters", cells, counted, count)
    other: list[dict[str, Any]] = [
        {"shape": shape, "k": k, "d": d, "per": per, "each": each, "noise": "logistic", "design": design}
        for design in DESIGNS
        for each in (100, 300)
        for shape, k, d, per in (
            ("groups", 3, 2, 13),
            ("groups", 5, 3, 8),
            ("groups", 8, 3, 10),
            ("box", 1, 2, 0),
        )
    ]
    run_cells("clusters_designs", other, counted, count)
    elsewhere: list[dict[str, Any]] = [
        {"shape": "groups", "k": k, "d": d, "n": n, "each": each, "noise": noise}
        for k, d, n in GROUPS_ELSEWHERE
        for each, noise in ((60, "ratio"), (120, "ratio"), (120, "lapses"))
    ]
    elsewhere += [
        {"shape": shape, "k": 1, "d": 3, "n": 45, "each": 80, "noise": noise}
        for shape, noise in CLOUDS_ELSEWHERE
    ]
    run_cells("clusters_held_out", elsewhere, counted_elsewhere, count)


if __name__ == "__main__":
    main()
