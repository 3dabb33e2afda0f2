"""Screens whose statement ids were lost: how often they are recognised, and how often single questions pass for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import repetitions, run_cells, share
from benchmarks.honesty.either import make_either
from nearfar.evaluate.screens import recognise_screens
from nearfar.evaluate.sets import asked_in_sets
from nearfar.evaluate.undecided import chosen_undecided
from nearfar.triplets import Triplets


def recognised(
    seed: Any, *, design: str, noise: str, n: int, m: int, people: int, geometry: str = ""
) -> dict[str, Any]:
    """The answers without columns, in their order and shuffled: "grid", "list", "screens" are screens, others are not.

    And whether they are called sets, as they were collected: "booklets" are; and chosen for being undecided: "adaptive" are.
    """
    rng = np.random.default_rng(seed)
    world, _, ask, _ = make_either(rng, n=n, noise=noise, geometry=geometry)
    answers = ask(world, rng, design=design, m=m, people=people)
    rows = answers.array
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


if __name__ == "__main__":
    main()
