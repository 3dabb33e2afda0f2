"""A control question asked of everybody: who calls its objects unlike everything else?"""

from __future__ import annotations

from typing import Any

import numpy as np
from nearfar.evaluate.repeats import without_excess_controls

from benchmarks.honesty._run import fit, repetitions, run_cells
from benchmarks.honesty.curve import expected_accuracy
from benchmarks.honesty.either import make_either
from benchmarks.honesty.worlds import random_questions
from nearfar.triplets import Triplets


def flagged(
    seed: Any, *, model: str, noise: str, n: int, m: int, times: int, controls: int, geometry: str = ""
) -> dict[str, Any]:
    """Outlier flags on the objects of the control questions, and accuracy: all answers, thinned, without any control."""
    rng = np.random.default_rng(seed)
    world, pool, _, _ = make_either(rng, n=n, noise=noise, geometry=geometry)
    single = random_questions(rng, m, n)
    control = random_questions(rng, controls, n)
    rows = np.concatenate([single, np.repeat(control, times, axis=0)])
    answers = Triplets.from_array(world.answer(rows, rng.integers(pool, size=len(rows)), rng), n_objects=n)
    fresh = random_questions(rng, 4000, n)
    q = world.q(fresh)
    row: dict[str, Any] = {}
    for name, found in (
        ("all", answers),
        ("thinned", without_excess_controls(answers)),
        ("never_asked", answers[np.arange(m)]),
    ):
        space = fit(model, found)
        odd = np.isin(np.unique(control), space.outliers().flagged)
        row[f"flagged_{name}"] = float(odd.mean())
        row[f"accuracy_{name}"] = expected_accuracy(space, fresh, q)
    return row


def main() -> None:
    cells: list[dict[str, Any]] = [
        {"model": model, "noise": "logistic", "n": n, "m": m, "times": times, "controls": controls}
        for model in ("score", "soe-3")
        for n, m, times, controls in ((40, 800, 146, 1), (40, 800, 60, 4), (60, 3000, 146, 2))
    ]
    run_cells("controls", cells, flagged, repetitions(60))
    held_out = [
        {"model": "score", "noise": "lapses", "n": 32, "m": m, "times": 90, "controls": 2, "geometry": "city"}
        for m in (600, 2500)
    ]
    run_cells("controls_held_out", held_out, flagged, repetitions(60))


if __name__ == "__main__":
    main()
