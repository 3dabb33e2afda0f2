"""Screens whose statement ids were lost: how often they are recognised, and how often single questions pass for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from nearfar.evaluate.sets import asked_in_sets
from nearfar.evaluate.undecided import chosen_undecided

from benchmarks.honesty._run import bare, repetitions, run_cells, share
from benchmarks.honesty.either import make_either
from nearfar.evaluate.screens import recognise_screens
from nearfar.triplets import Triplets


def recognised(
    seed: Any, *, design: str, noise: str, n: int, m: int, people: int, geometry: str = "", who: str = ""
) -> dict[str, Any]:
    """The answers without columns, in their order and shuffled: "grid", "list", "screens" are screens, others are not.

    And whether they are called sets, as they were collected: "booklets" are; and chosen for being undecided: "adaptive" are.
    What the designs of the fourth family are stands in ``worlds_fourth.KIND``. ``who`` "unknown": the last two without people.
    """
    rng = np.random.default_rng(seed)
    world, _, ask, _ = make_either(rng, n=n, noise=noise, geometry=geometry)
    answers = ask(world, rng, design=design, m=m, people=people)
    rows = answers.array
    answers = bare(answers, who)
    found, shuffled = (
        recognise_screens(Triplets.from_array(rows[order], n_objects=n))
        for order in (np.arange(len(rows)), rng.permutation(len(rows)))
    )
    return {
        "found": share(found.found),
        "found_shuffled": share(shuffled.found),
        "sets": share(asked_in_sets(answers)),
        "chosen": share(chosen_undecided(answers)),
        "excess": found.excess if np.isfinite(found.excess) else None,
        "same": found.same if np.isfinite(found.same) else None,
    }


def main() -> None:
    cells: list[dict[str, Any]] = [
        {"design": design, "noise": noise, "n": n, "m": m, "people": 20}
        for design in ("grid", "list")
        for noise, n, m in (
            ("logistic", 40, 2000),
            ("flips", 40, 2000),
            ("logistic", 25, 8000),
            ("flips", 25, 8000),
            ("abilities", 20, 12_000),
            ("guessing", 25, 8000),
        )
    ]
    cells += [
        {"design": design, "noise": noise, "n": n, "m": m, "people": 20}
        for design in ("random", "fixed", "landmarks")
        for noise, n, m in (
            ("none", 25, 2000),
            ("logistic", 25, 8000),
            ("none", 25, 8000),
            ("none", 60, 3000),
        )
    ]
    run_cells("screens", cells, recognised, repetitions(60))
    held_out = [
        {"design": design, "noise": noise, "n": n, "m": m, "people": 25, "geometry": geometry}
        for design in ("screens", "balanced", "popular", "pool")
        for noise, n, m, geometry in (("ratio", 36, 2400, "ball"), ("lapses", 24, 8000, "city"))
    ]
    run_cells("screens_held_out", held_out, recognised, repetitions(60))
    third = [
        {"design": design, "noise": noise, "n": n, "m": m, "people": people, "geometry": "tree"}
        for design in ("booklets", "random", "landmarks", "adaptive")
        for noise, n, m, people in (("jnd", 30, 1500, 20), ("heavy", 50, 3000, 25), ("jnd", 100, 3000, 60))
    ]
    third += [{"design": "booklets", "noise": "jnd", "n": 18, "m": 900, "people": 25, "geometry": "circle"}]
    third += [
        {"design": "booklets", "noise": "own eyes", "n": 12, "m": 900, "people": 12, "geometry": "traits"}
    ]
    third += [
        {"design": design, "noise": noise, "n": n, "m": m, "people": people, "geometry": geometry}
        for design, noise, n, m, people, geometry in (
            ("adaptive", "tired", 35, 2500, 30, "traits"),
            ("adaptive", "tired", 20, 1500, 14, "hubs"),
            ("adaptive", "jnd", 16, 900, 12, "hubs"),
            ("adaptive map", "heavy", 25, 1200, 15, "tree"),
            ("adaptive map", "jnd", 20, 800, 20, "circle"),
            ("adaptive map", "heavy", 50, 3000, 25, "tree"),
            ("adaptive map", "tired", 35, 2500, 30, "traits"),
        )
    ]
    run_cells("screens_third", third, recognised, repetitions(60))
    run_cells("screens_fourth", fourth_cells(), recognised, repetitions(40))


def fourth_cells() -> list[dict[str, Any]]:
    """Every design of the fourth family in two or three worlds, sets of six to twenty objects, some without people."""
    single = ("zipf", "runs", "anchors", "landmarks", "list", "odd", "central")
    screens = ("two of six", "best of five", "ranking", "best and worst", "rows lost")
    cells: list[tuple[Any, ...]] = [
        (design, noise, geometry, n, m, people)
        for designs, sizes in (
            (single, (("gamma", "sphere", 24, 1500, 20), ("context", "topics", 60, 4000, 50))),
            (screens, (("familiar", "torus", 25, 2400, 20), ("streaks", "cosine", 60, 6000, 40))),
        )
        for design in designs
        for noise, geometry, n, m, people in sizes
    ]
    cells += [
        ("runs", "side", "torus", 12, 800, 10),
        ("zipf", "streaks", "cosine", 100, 3000, 60),
        ("list", "familiar", "torus", 40, 900, 15),
        ("winner stays", "plain", "sphere", 30, 2000, 20),
        ("winner stays", "gamma", "torus", 60, 4000, 40),
        ("blocks 6", "gamma", "sphere", 24, 900, 30),
        ("blocks 6", "context", "topics", 60, 3000, 60, "unknown"),
        ("blocks 10", "side", "torus", 40, 1500, 25),
        ("blocks 15", "streaks", "cosine", 24, 2000, 16),
        ("blocks 20", "familiar", "sphere", 30, 2400, 20),
        ("blocks 20", "gamma", "torus", 60, 3000, 30, "unknown"),
        ("windows 8", "gamma", "sphere", 30, 1200, 20),
        ("windows 16", "context", "torus", 48, 3000, 30),
        ("common blocks 6", "side", "topics", 24, 1200, 15),
        ("common blocks 12", "streaks", "sphere", 60, 3000, 25),
        ("common blocks 6", "gamma", "torus", 36, 2000, 20, "unknown"),
    ]
    cells += [
        (design, noise, geometry, n, m, people)
        for design in ("gain", "uncertain", "half", "staircase")
        for noise, geometry, n, m, people in (
            ("plain", "sphere", 25, 1200, 15),
            ("gamma", "torus", 40, 3000, 30),
            ("streaks", "topics", 20, 1500, 12),
            ("context", "cosine", 60, 4000, 40),
        )
    ]
    cells += [("uncertain", "side", "torus", 30, 2000, 20, "unknown")]
    keys = ("design", "noise", "geometry", "n", "m", "people", "who")
    return [dict(zip(keys, cell, strict=False)) for cell in cells]


if __name__ == "__main__":
    main()
