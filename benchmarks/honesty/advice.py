"""Advice on how many questions to ask: do its intervals hold the accuracy that such studies then reach?

Two questions: under its own assumptions, and from a pilot whose people answer by another law of noise (logistic in the
difference of distances, people of differing ability) about objects of another distribution. And once on real
answers: a pilot of a few hundred of the food answers against what larger parts of them reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import repetitions, run_cells, share
from benchmarks.honesty.worlds import asked, make_world
from nearfar.design import Scheme
from nearfar.embedding import SOE
from nearfar.evaluate.advice import Assumptions, advise
from nearfar.evaluate.metrics import triplet_accuracy
from nearfar.evaluate.simulated_study import SimulatedStudy, noise_of_agreement


def assumed(seed: Any, *, kind: str, draw: str, n: int, dimension: int, agreement: float) -> dict[str, Any]:
    """Whether the 90 % interval of a random row holds what one more study of that size reaches."""
    rng = np.random.default_rng(seed)
    scheme = Scheme(kind, draw, size=5, pick=2)  # type: ignore[arg-type]
    advice = advise(n, scheme, assumptions=Assumptions(dimension, agreement), seed=int(rng.integers(2**31)))
    row = advice.rows[int(rng.integers(len(advice.rows)))]
    noise = noise_of_agreement(agreement, dimension)
    study = SimulatedStudy.draw(n, scheme, dimension, noise, [int(rng.integers(2**31))])
    reached = study.accuracy(row.questions)
    return {
        "covered": share(row.low <= reached <= row.high),
        "half_width": (row.high - row.low) / 2,
        "off": reached - row.accuracy,
    }


def from_pilot(seed: Any, *, noise: str, n: int, dimension: int, pilot: int, times: int) -> dict[str, Any]:
    """Whether the interval holds what ``times`` as many answers reach in a world that the advice does not know."""
    rng = np.random.default_rng(seed)
    world = make_world(rng, n=n, d=dimension, noise=noise)
    few = asked(world, rng, m=pilot, people=10)
    advice = advise(n, budget=pilot * times, pilot=few, seed=int(rng.integers(2**31)))
    row = next(row for row in advice.rows if row.questions == pilot * times)
    many = asked(world, rng, m=pilot * times, people=40)
    fresh = asked(world, rng, m=8000, people=200)
    reached = max(
        triplet_accuracy(fresh, points=SOE(d, random_state=0).fit_transform(many)).accuracy
        for d in (1, 2, 3, 5)
    )
    return {
        "covered": share(row.low <= reached <= row.high),
        "half_width": (row.high - row.low) / 2,
        "off": reached - row.accuracy,
    }


def main() -> None:
    count = repetitions(40)
    cells = [
        {"kind": kind, "draw": draw, "n": 30, "dimension": d, "agreement": a}
        for kind, draw, d, a in (
            ("near", "random", 2, 0.75),
            ("near", "k1", 3, 0.8),
            ("odd", "random", 3, 0.7),
            ("central", "random", 2, 0.8),
            ("grid", "random", 2, 0.75),
        )
    ]
    run_cells("advice", cells, assumed, count)
    cells = [
        {"noise": noise, "n": n, "dimension": d, "pilot": pilot, "times": times}
        for noise, n, d, pilot, times in (
            ("logistic", 30, 2, 600, 8),
            ("logistic", 30, 3, 600, 8),
            ("abilities", 30, 2, 600, 8),
            ("tastes", 30, 2, 600, 8),
            ("flips", 30, 2, 600, 4),
            ("logistic", 60, 2, 600, 16),
        )
    ]
    run_cells("advice_pilot", cells, from_pilot, count)


if __name__ == "__main__":
    main()
