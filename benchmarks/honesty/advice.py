"""Advice on how many questions to ask: do its intervals hold the accuracy that such studies then reach?

Two questions: under its own assumptions, and from a pilot whose people answer by another law of noise (logistic in the
difference of distances, people of differing ability) about objects of another distribution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import repetitions, run_cells, share
from benchmarks.honesty.either import make_either
from nearfar.design import Scheme
from nearfar.embedding import SOE
from nearfar.evaluate.advice import Assumptions, SimulatedStudy, advise, noise_of_agreement
from nearfar.evaluate.metrics import triplet_accuracy

NEW_STUDIES = 8  # that are compared with one advice


def assumed(seed: Any, *, kind: str, draw: str, n: int, dimension: int, agreement: float) -> dict[str, Any]:
    """The share of new studies of the size of a random row that its 90 % interval holds."""
    rng = np.random.default_rng(seed)
    scheme = Scheme(kind, draw, size=5, pick=2)  # type: ignore[arg-type]
    advice = advise(n, scheme, assumptions=Assumptions(dimension, agreement), seed=int(rng.integers(2**31)))
    row = advice.rows[int(rng.integers(len(advice.rows)))]
    noise = noise_of_agreement(agreement, dimension)
    seeds = rng.integers(2**31, size=NEW_STUDIES).tolist()
    reached = np.array(
        [SimulatedStudy(n, scheme, dimension, noise, [s]).accuracy(row.questions) for s in seeds]
    )
    return {
        "covered": float(np.mean((row.low <= reached) & (reached <= row.high))),
        "half_width": (row.high - row.low) / 2,
        "off": float(reached.mean()) - row.accuracy,
    }


def from_pilot(
    seed: Any, *, noise: str, n: int, pilot: int, people: int, d: int = 2, geometry: str = ""
) -> dict[str, Any]:
    """Whether the intervals hold what studies from once to eight times the pilot reach in a world that the advice does not know.

    A study reaches the best accuracy of lines, planes and spaces of its answers on answers of new people.
    """
    rng = np.random.default_rng(seed)
    either = make_either(rng, n=n, noise=noise, geometry=geometry, **({} if geometry else {"d": d}))
    few = either.asked(either.world, rng, m=pilot, people=people)
    advice = advise(n, budget=8 * pilot, pilot=few, seed=int(rng.integers(2**31)))
    fresh = either.asked(either.world, rng, m=8000, people=200)
    hits, offs = [], []
    rows = [row for row in advice.rows if pilot <= row.questions <= 8 * pilot]
    for row in rows:
        many = either.asked(
            either.world, rng, m=row.questions, people=min(200, people * row.questions // pilot)
        )
        reached = max(
            triplet_accuracy(fresh, points=SOE(k, random_state=0).fit_transform(many)).accuracy
            for k in (1, 2, 3, 5)
        )
        hits.append(row.low <= reached <= row.high)
        offs.append(reached - row.accuracy)
    return {
        "covered": float(np.mean(hits)),
        "covered_first": share(hits[0]),
        "covered_last": share(hits[-1]),
        "half_width": float(np.mean([row.high - row.low for row in rows])) / 2,
        "off_first": offs[0],
        "off_last": offs[-1],
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
        {"noise": noise, "n": n, "d": d, "pilot": pilot, "people": people}
        for noise, n, d, pilot, people in (
            ("logistic", 30, 2, 600, 10),
            ("logistic", 30, 3, 600, 10),
            ("abilities", 30, 2, 600, 10),
            ("tastes", 30, 2, 600, 20),
            ("flips", 30, 2, 600, 10),
            ("logistic", 60, 2, 600, 10),
        )
    ]
    run_cells("advice_pilot", cells, from_pilot, count)
    cells = [
        {"noise": noise, "geometry": g, "n": n, "pilot": pilot, "people": people}
        for noise, g, n, pilot, people in (
            ("ratio", "ball", 25, 500, 8),
            ("lapses", "city", 40, 800, 20),
            ("weights", "hierarchy", 30, 600, 15),
            ("minority", "ball", 30, 1000, 20),
        )
    ]
    run_cells("advice_pilot_held_out", cells, from_pilot, count)
    cells = [
        {"noise": noise, "geometry": g, "n": n, "pilot": pilot, "people": people}
        for noise, g, n, pilot, people in (
            ("gamma", "sphere", 25, 500, 10),
            ("side", "torus", 30, 600, 15),
            ("context", "topics", 30, 800, 20),
        )
    ]
    run_cells("advice_pilot_fourth", cells, from_pilot, count)


if __name__ == "__main__":
    main()
