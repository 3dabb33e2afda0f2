"""Is there more than one way of seeing? How often "one" is said where there is one, and more where there are more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.honesty._run import repetitions, run_cells, share
from benchmarks.honesty.either import Either, make_either
from benchmarks.honesty.worlds import World
from benchmarks.honesty.worlds_held_out import HeldOutWorld
from nearfar.evaluate.subgroups import find_subgroups


def of_tastes(either: Either, rng: np.random.Generator, groups: int) -> Any:
    """The world with so many ways of seeing: other places of the objects, or one dimension that outweighs the others."""
    world = either.world
    if groups == 1:
        return world
    taste = rng.integers(groups, size=either.pool)
    if isinstance(world, World):
        places = [world.points[0], *(rng.permutation(world.points[0]) for _ in range(groups - 1))]
        return replace(world, points=np.stack(places), taste=taste)
    assert isinstance(world, HeldOutWorld)
    heavy = np.where(np.arange(world.features.shape[1]) == taste[:, None], 6.0, 0.3)
    return replace(world, weights=heavy, taste=taste)


def tastes(
    seed: Any,
    *,
    design: str,
    noise: str,
    groups: int,
    people: int,
    m: int,
    n: int = 20,
    geometry: str = "",
) -> dict[str, Any]:
    """One study of people who see the objects in ``groups`` ways."""
    rng = np.random.default_rng(seed)
    either = make_either(rng, n=n, noise=noise, geometry=geometry)
    world = of_tastes(either, rng, groups)
    answers = either.asked(world, rng, design=design, m=m, people=people)
    found = find_subgroups(answers, seed=int(rng.integers(2**31)))
    count = None if found is None else found.count
    return {
        "right": share(count == groups),
        "too_many": share(count is not None and count > groups),
        "told": share(count is not None),
        "gain": None if found is None else found.gains[0].value,
    }


def _run(name: str, cells: list[dict[str, Any]], count: int) -> None:
    """Worlds of one taste in full; how often more are found, which is known well enough sooner, less often."""
    for cell in cells:
        run_cells(name, [cell], tastes, count if cell["groups"] == 1 else max(1, 2 * count // 5))


def main() -> None:
    count = repetitions(100)
    cells: list[dict[str, Any]] = [
        {"design": d, "noise": noise, "groups": k, "people": people, "m": m}
        for d, noise, k, people, m in (
            ("random", "logistic", 1, 20, 2000),
            ("fixed", "logistic", 1, 20, 2000),
            ("landmarks", "logistic", 1, 20, 2000),
            ("odd", "logistic", 1, 20, 2000),
            ("grid", "logistic", 1, 20, 2000),
            ("random", "guessing", 1, 20, 2000),
            ("fixed", "guessing", 1, 20, 2000),
            ("random", "abilities", 1, 20, 2000),
            ("odd", "abilities", 1, 40, 4000),
            ("random", "flips", 1, 8, 1200),
            ("random", "logistic", 2, 20, 1000),
            ("random", "logistic", 2, 20, 2000),
            ("random", "logistic", 2, 40, 4000),
            ("odd", "logistic", 2, 20, 4000),
            ("grid", "logistic", 2, 20, 4000),
            ("random", "logistic", 3, 30, 3000),
            ("random", "logistic", 3, 30, 6000),
            ("odd", "abilities", 3, 30, 6000),
        )
    ]
    _run("tastes", cells, count)
    cells = [
        {"design": d, "noise": noise, "geometry": g, "groups": k, "people": people, "m": m, "n": 24}
        for d, noise, g, k, people, m in (
            ("balanced", "ratio", "ball", 1, 25, 2500),
            ("popular", "lapses", "city", 1, 25, 2500),
            ("screens", "lapses", "ball", 1, 25, 2500),
            ("balanced", "coins", "ball", 1, 12, 1200),
            ("screens", "coins", "city", 1, 25, 2500),
            ("balanced", "ratio", "ball", 2, 25, 2500),
            ("popular", "lapses", "city", 2, 40, 6000),
            ("screens", "ratio", "ball", 2, 25, 4000),
            ("balanced", "ratio", "ball", 3, 30, 6000),
        )
    ]
    _run("tastes_held_out", cells, count)


if __name__ == "__main__":
    main()
