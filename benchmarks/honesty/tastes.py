"""Is there more than one way of seeing? How often "one" is said where there is one, and more where there are more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.honesty._run import repetitions, run_cells, share
from benchmarks.honesty.worlds import POOL, asked, make_world
from nearfar.evaluate.tastes import find_tastes, person_agreement


def tastes(
    seed: Any, *, design: str, noise: str, groups: int, people: int, m: int, n: int = 20
) -> dict[str, Any]:
    """One study of people who see the objects in ``groups`` ways."""
    rng = np.random.default_rng(seed)
    world = make_world(rng, n=n, noise=noise)
    places = np.stack([world.points[0], *(rng.permutation(world.points[0]) for _ in range(groups - 1))])
    world = replace(world, points=places, taste=rng.integers(groups, size=POOL))
    answers = asked(world, rng, design=design, m=m, people=people)
    found = find_tastes(answers, seed=int(rng.integers(2**31)))
    count = None if found is None else found.count
    return {
        "one": share(count in (None, 1)),
        "right": share(count == groups),
        "too_many": share(count is not None and count > groups),
        "gain": None if found is None else found.gains[0].value,
    }


def agreement(seed: Any, *, noise: str, people: int, m: int) -> dict[str, Any]:
    """Whether the interval of two people's agreement holds their agreement on new questions."""
    rng = np.random.default_rng(seed)
    world = make_world(rng, n=20, noise=noise)
    answers = asked(world, rng, design="fixed", m=m, people=people)
    found = person_agreement(answers)
    pool = np.unique(
        answers.array[:, 0].astype(np.int64) * 10**6 + np.sort(answers.array[:, 1:], axis=1) @ [1000, 1]
    )
    rows = np.stack([pool // 10**6, pool % 10**6 // 1000, pool % 1000], axis=1)
    # people drawn by ``asked`` are not told, so everybody has the same ability here
    p = world.p_first(rows, np.zeros(len(rows), dtype=np.int64))
    truth = float(np.mean(p**2 + (1 - p) ** 2))
    pairs = np.triu_indices(len(found.people), 1)
    known = np.isfinite(found.share[pairs])
    hit = (found.low[pairs] <= truth) & (truth <= found.high[pairs])
    return {"covered": float(hit[known].mean()) if known.any() else None, "known": float(known.mean())}


def main() -> None:
    count = repetitions(100)
    cells: list[dict[str, Any]] = [
        {"design": d, "noise": "logistic", "groups": 1, "people": 20, "m": 2000}
        for d in ("random", "fixed", "landmarks", "odd", "grid")
    ]
    cells += [
        {"design": "random", "noise": "guessing", "groups": 1, "people": 20, "m": 2000},
        {"design": "fixed", "noise": "guessing", "groups": 1, "people": 20, "m": 2000},
        {"design": "random", "noise": "abilities", "groups": 1, "people": 20, "m": 2000},
        {"design": "odd", "noise": "abilities", "groups": 1, "people": 40, "m": 4000},
        {"design": "random", "noise": "flips", "groups": 1, "people": 8, "m": 1200},
        {"design": "random", "noise": "logistic", "groups": 2, "people": 20, "m": 2000},
        {"design": "odd", "noise": "logistic", "groups": 2, "people": 20, "m": 4000},
        {"design": "random", "noise": "logistic", "groups": 3, "people": 30, "m": 6000},
    ]
    run_cells("tastes", cells, tastes, count)
    cells = [
        {"noise": n, "people": 12, "m": m} for n in ("logistic", "flips", "guessing") for m in (1000, 4000)
    ]
    run_cells("person_agreement", cells, agreement, count)


if __name__ == "__main__":
    main()
