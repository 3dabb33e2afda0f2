"""How many dimensions: the number that is chosen against the true one, and noise named as noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import repetitions, run_cells, share
from benchmarks.honesty.either import make_either
from nearfar.evaluate.dimension import choose_dimension


def chosen(
    seed: Any, *, model: str, noise: str, d: int, n: int, m: int, people: int, geometry: str = ""
) -> dict[str, Any]:
    """``d``: true dimensions; 0 for noise. Held-out worlds: a ball has three."""
    rng = np.random.default_rng(seed)
    world, _, ask, _ = make_either(rng, n=n, noise=noise, geometry=geometry, d=max(d, 1))
    answers = ask(world, rng, m=m, people=people)
    found = int(choose_dimension(answers, model, (1, 2, 3, 5)))
    return {
        "right": share(found == d),
        "too_many": share(found > d),
        "too_few": share(0 < found < d),
        "called_noise": share(found == 0),
    }


def main() -> None:
    cells: list[dict[str, Any]] = [
        {"model": model, "noise": noise, "d": d, "n": 25, "m": m, "people": 20}
        for model in ("ste", "soe")
        for noise, d, m in (
            ("none", 2, 1500),
            ("logistic", 1, 1500),
            ("logistic", 2, 1500),
            ("flips", 3, 4000),
            ("guessing", 0, 800),
        )
    ]
    run_cells("dimension", cells, chosen, repetitions(40))
    held_out = [
        {"model": model, "noise": noise, "d": d, "n": 30, "m": 4000, "people": 25, "geometry": "ball"}
        for model in ("ste", "soe")
        for noise, d in (("ratio", 3), ("coins", 0))
    ]
    run_cells("dimension_held_out", held_out, chosen, repetitions(40))


if __name__ == "__main__":
    main()
