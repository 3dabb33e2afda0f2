"""The agreement of two people: does its interval hold how often they agree on other questions of the same kind?"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import repetitions, run_cells
from benchmarks.honesty.either import Either, make_either
from nearfar.evaluate.agreements import first_responses, person_agreement
from nearfar.triplets import Triplets

SINGLE = ("random", "fixed", "landmarks", "balanced")  # designs whose answers do not hang together


def agreement(
    seed: Any, *, design: str, noise: str, people: int, m: int, n: int, geometry: str = ""
) -> dict[str, Any]:
    """One study: over all pairs of people whose agreement is told, how often the interval holds the truth."""
    rng = np.random.default_rng(seed)
    either = make_either(rng, n=n, noise=noise, geometry=geometry)
    drawn = rng.choice(either.pool, size=people, replace=False)
    found = person_agreement(either.asked_of(either.world, rng, drawn, design=design, m=m))
    truth = _of_questions(either, drawn, rng) if design in SINGLE else _of_screens(either, drawn, rng, design)
    own = np.array([int(name) for name in found.people])
    pairs = np.triu_indices(len(own), 1)
    known = np.isfinite(found.share[pairs])
    true = truth[np.ix_(own, own)][pairs]
    hit = (found.low[pairs] <= true) & (true <= found.high[pairs])
    plain = found.share[pairs]
    return {
        "covered": float(hit[known].mean()) if known.any() else None,
        "known": float(known.mean()),
        "width": float((found.high - found.low)[pairs][known].mean()) if known.any() else None,
        "together": found.together,
        "off": float((plain - true)[known].mean()) if known.any() else None,
    }


def _of_questions(either: Either, drawn: Any, rng: np.random.Generator) -> Any:
    """(people, people) probability that two of them give the same answer to a random question."""
    rows = np.argsort(rng.random((8000, either.world.n)), axis=1)[:, :3]
    p = np.stack([either.world.p_first(rows, np.full(len(rows), person)) for person in drawn])
    return (p @ p.T + (1 - p) @ (1 - p).T) / len(rows)


def _of_screens(either: Either, drawn: Any, rng: np.random.Generator, design: str, runs: int = 12) -> Any:
    """The same for answers of which no probability is known: the share in many more answers of the same people."""
    alike, shared = np.zeros((2, len(drawn), len(drawn)))
    for _ in range(runs):
        more = either.asked_of(either.world, rng, drawn, design=design, m=600 * len(drawn))
        each = person_agreement(more)
        own = np.array([int(name) for name in each.people])
        alike[np.ix_(own, own)] += _alike(more)
        shared[np.ix_(own, own)] += each.shared
    return alike / np.maximum(shared, 1)


def _alike(answers: Triplets) -> Any:
    """(people, people) shared questions answered alike, by a plain product of indicators."""
    said = first_responses(answers)
    cell = said.asked * said.options + said.option
    chose = np.zeros((int(said.person.max()) + 1, int(cell.max()) + 1))
    chose[said.person, cell] = 1.0
    return chose @ chose.T


def main() -> None:
    count = repetitions(60)
    cells: list[dict[str, Any]] = [
        {"design": d, "noise": noise, "people": people, "m": m, "n": n}
        for d, noise, people, m, n in (
            ("fixed", "logistic", 12, 400, 20),
            ("fixed", "tastes", 12, 1000, 20),
            ("fixed", "guessing", 12, 600, 20),
            ("random", "abilities", 12, 1200, 8),
            ("random", "tastes", 30, 2400, 8),
            ("odd", "logistic", 12, 800, 9),
            ("odd", "tastes", 12, 1200, 9),
            ("grid", "logistic", 12, 6000, 20),
            ("grid", "abilities", 12, 3000, 15),
        )
    ]
    run_cells("person_agreement", cells, agreement, count)
    cells = [
        {"design": d, "noise": noise, "geometry": g, "people": people, "m": m, "n": n}
        for d, noise, g, people, m, n in (
            ("balanced", "ratio", "ball", 15, 1500, 8),
            ("balanced", "lapses", "city", 15, 1500, 8),
            ("balanced", "minority", "ball", 25, 2500, 9),
            ("screens", "weights", "city", 15, 3000, 10),
            ("screens", "lapses", "ball", 15, 6000, 16),
        )
    ]
    run_cells("person_agreement_held_out", cells, agreement, count)


if __name__ == "__main__":
    main()
