"""What twice as many answers would bring: the forecast against what they do bring, in both families of worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.honesty._run import fit, repetitions, run_cells, share
from benchmarks.honesty.either import make_either
from benchmarks.honesty.worlds import random_questions
from benchmarks.honesty.worlds_held_out import questions_held_out
from nearfar.evaluate.curve import learning_curve
from nearfar.evaluate.uncertainty import error_groups
from nearfar.space.space import Space
from nearfar.triplets import Triplets

QUESTIONS = 12_000  # that the true accuracy is computed on, from the true probabilities


def doubling(
    seed: Any,
    *,
    model: str,
    noise: str,
    n: int,
    m: int,
    people: int,
    design: str,
    cv: int,
    geometry: str = "",
) -> dict[str, Any]:
    """Truth: the gain in expected accuracy over all questions when as many answers of other people are added once.

    Where people are too few to speak of others, the same people give the other answers, and are those who are predicted.
    """
    rng = np.random.default_rng(seed)
    world, pool, _, ask = make_either(rng, n=n, noise=noise, geometry=geometry)
    these, those = (rng.choice(pool, size=people, replace=False) for _ in range(2))
    answers = ask(world, rng, these, design=design, m=m)
    few = error_groups(answers).few_people > 0
    more = Triplets.concatenate([answers, ask(world, rng, these if few else those, design=design, m=m)])
    # questions as the collection asks them: rare objects stay rare
    popular = design == "popular"
    rows = (
        questions_held_out(world, rng, design, QUESTIONS) if popular else random_questions(rng, QUESTIONS, n)
    )
    who = answers.participant.names[answers.participant.codes]
    q = world.q(rows, these[who] if few else None)
    now, later = (expected_accuracy(fit(model, found), rows, q) for found in (answers, more))
    curve = learning_curve(answers, model, cv=cv)
    gain = curve.gain
    # answers of other kinds than single triplets are easier or harder than the questions that the truth is about
    single = design not in ("odd", "screens")
    return {
        "early": share(curve.verdict == "too early to say"),
        "covered": share(gain.low <= later - now <= gain.high) if gain else None,
        "too_high": share(later - now < gain.low) if gain else None,
        "now_covered": share(curve.now.low <= now <= curve.now.high) if curve.now and single else None,
        "above_ceiling": share(curve.doubled.accuracy > np.maximum(q, 1 - q).mean() + 0.02)
        if curve.doubled
        else None,
        "forecast": gain.accuracy if gain else None,
        "width": gain.high - gain.low if gain else None,
        "true_gain": later - now,
        "true_now": now,
        "best": float(np.maximum(q, 1 - q).mean()),
    }


def expected_accuracy(space: Space, rows: NDArray[np.int64], q: NDArray[np.float64]) -> float:
    """Of a fitted space on questions whose answers have probabilities q, without the noise of drawing answers."""
    credit = space.credits(Triplets.from_array(rows, n_objects=len(space)))
    return float(np.mean(credit * q + (1 - credit) * (1 - q)))


REGIMES = (  # model, noise, objects, answers, people, design, parts
    ("score", "logistic", 30, 650, 20, "random", 5),
    ("score", "logistic", 30, 1500, 20, "random", 5),
    ("score", "logistic", 30, 4000, 20, "random", 5),
    ("score", "flips", 60, 1300, 20, "random", 5),  # accelerates
    ("score", "flips", 60, 5000, 8, "random", 5),
    ("score", "abilities", 60, 3000, 100, "random", 3),
    ("score", "tastes", 20, 1000, 6, "random", 5),
    ("score", "tastes", 20, 4000, 40, "random", 3),  # flat
    ("score", "logistic", 30, 2000, 20, "odd", 5),
    ("score", "logistic", 30, 2000, 2, "random", 5),
    ("soe-2", "logistic", 30, 650, 20, "random", 3),
    ("soe-2", "logistic", 30, 3000, 20, "random", 3),  # near the ceiling
    ("soe-2", "flips", 60, 1300, 20, "random", 3),
    ("soe-2", "abilities", 20, 4000, 30, "random", 3),
    ("soe-2", "none", 40, 900, 20, "random", 3),
)
HELD_OUT = (  # the same, with a geometry
    ("score", "ratio", 24, 900, 12, "balanced", 5, "ball"),
    ("score", "lapses", 45, 2500, 35, "balanced", 5, "city"),
    ("score", "weights", 80, 2000, 150, "balanced", 3, "hierarchy"),
    ("score", "minority", 18, 5000, 35, "popular", 3, "ball"),
    ("score", "ratio", 36, 6000, 7, "pool", 5, "city"),
    ("score", "lapses", 30, 2400, 30, "screens", 5, "ball"),
    ("soe-3", "ratio", 24, 900, 12, "balanced", 3, "ball"),
    ("soe-3", "lapses", 45, 4000, 35, "popular", 3, "city"),
    ("ckl-2", "weights", 36, 2000, 60, "balanced", 3, "hierarchy"),
    ("ckl-2", "minority", 18, 4000, 20, "pool", 3, "ball"),
)
KEYS = ("model", "noise", "n", "m", "people", "design", "cv", "geometry")


def main() -> None:
    run_cells("curve", [dict(zip(KEYS, cell, strict=False)) for cell in REGIMES], doubling, repetitions(60))
    held_out = [dict(zip(KEYS, cell, strict=True)) for cell in HELD_OUT]
    run_cells("curve_held_out", held_out, doubling, repetitions(60))


if __name__ == "__main__":
    main()
