"""People to review: false discoveries among honest people, careless people found, other tastes told apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import fit, repetitions, run_cells, share
from benchmarks.honesty.curve import expected_accuracy
from benchmarks.honesty.either import make_either
from benchmarks.honesty.worlds import random_questions
from benchmarks.honesty.worlds_held_out import questions_held_out
from nearfar.evaluate.participants import judge_people
from nearfar.triplets import Triplets


def review(
    seed: Any,
    *,
    noise: str,
    careless: float,
    people: int,
    each: int,
    again: int,
    n: int,
    geometry: str = "",
) -> dict[str, Any]:
    """``careless``: share of people who guess; ``again``: questions that everybody gets a second time.

    With a ``geometry``, the world is of the held-out family, and some people answer far more than others.
    """
    rng = np.random.default_rng(seed)
    world, pool, _, _ = make_either(rng, n=n, noise=noise, geometry=geometry)
    if geometry:
        count = np.maximum(each // 2, (each * people * rng.dirichlet(np.full(people, 2.0))).astype(int))
        rows = questions_held_out(world, rng, "balanced", int(count.sum()))
    else:
        count = np.full(people, each)
        rows = random_questions(rng, people * each, n)
    drawn = rng.choice(pool, size=people, replace=False)
    guesses = rng.random(people) < careless
    who = np.repeat(np.arange(people), count)
    repeated = np.concatenate([rng.permutation(np.flatnonzero(who == p))[:again] for p in range(people)])
    rows, who = np.concatenate([rows, rows[repeated]]), np.concatenate([who, who[repeated]])
    said = world.answer(rows, drawn[who], rng)
    turned = guesses[who] & (rng.random(len(rows)) < 0.5)
    said[turned] = said[turned][:, [0, 2, 1]]
    # people differ in speed, honestly
    seconds = np.exp(rng.normal(0, 0.5, size=people))[who] * np.exp(rng.normal(0.5, 0.4, size=len(rows)))
    side = rng.integers(2, size=len(rows))
    answers = Triplets.from_array(said, n_objects=n, participant=who, seconds=seconds, near_side=side)
    found = judge_people(answers)
    assert found is not None
    minority = (world.taste[drawn] == 1) & ~guesses  # a guesser follows no taste
    standing = {int(row.name): "; ".join(row.reasons) for row in found.rows}
    named = [p for p, s in standing.items() if s]
    reliable = ~guesses & _reliable(world, drawn, rng)
    honest = [p for p in named if reliable[p] and world.taste[drawn[p]] != 1]
    wrong = [p for p in named if reliable[p] and "inconsistent" in standing[p]]
    return {
        "named": float(len(named)),
        "some_honest_named": share(bool(honest)),
        "false_discoveries": len(honest) / max(1, len(named)),
        "honest_called_inconsistent": len(wrong) / max(1, len(named)),
        "careless_named": float(np.mean([p in named for p in np.flatnonzero(guesses)]))
        if guesses.any()
        else None,
        "careless_called_different": float(
            np.mean(["different strategy" in standing[p] for p in np.flatnonzero(guesses)])
        )
        if guesses.any()
        else None,
        "minority_called_different": float(
            np.mean(["different strategy" in standing[p] for p in np.flatnonzero(minority)])
        )
        if minority.any()
        else None,
        "minority_called_inconsistent": float(
            np.mean(["inconsistent" in standing[p] for p in np.flatnonzero(minority)])
        )
        if minority.any()
        else None,
    }


def _reliable(world: Any, drawn: Any, rng: np.random.Generator) -> Any:
    """(people,) whether somebody repeats their own answers nearer to what is usual than to guessing, in truth."""
    rows = random_questions(rng, 1000, world.n)
    p = np.stack([world.p_first(rows, np.full(1000, person)) for person in drawn])
    again = (p**2 + (1 - p) ** 2).mean(axis=1)
    return again >= (0.5 + np.median(again)) / 2


def intervals(seed: Any, *, noise: str, people: int, each: int, n: int, geometry: str = "") -> dict[str, Any]:
    """Whether the 95 % intervals on the page hold how often a person agrees with the prediction, over all questions."""
    rng = np.random.default_rng(seed)
    world, pool, _, _ = make_either(rng, n=n, noise=noise, geometry=geometry)
    drawn, who = rng.choice(pool, size=people, replace=False), np.repeat(np.arange(people), each)
    said = world.answer(random_questions(rng, people * each, n), drawn[who], rng)
    answers = Triplets.from_array(said, n_objects=n, participant=who)
    found, space = judge_people(answers), fit("score", answers)
    assert found is not None
    fresh = random_questions(rng, 3000, n)
    held = [
        row.with_prediction.low
        <= expected_accuracy(space, fresh, world.p_first(fresh, np.full(3000, drawn[int(row.name)])))
        <= row.with_prediction.high
        for row in found.rows
        if row.with_prediction is not None
    ]
    return {"covered": float(np.mean(held))}


def main() -> None:
    base = {"people": 30, "each": 80, "again": 20, "n": 25}
    cells: list[dict[str, Any]] = [
        {"noise": noise, "careless": careless, **base}
        for noise in ("logistic", "flips", "abilities", "tastes")
        for careless in (0.0, 0.1)
    ]
    cells += [{**cell, "again": 0} for cell in cells if cell["noise"] in ("logistic", "tastes")]
    cells += [{"noise": "logistic", "careless": 0.1, "people": 100, "each": 40, "again": 10, "n": 25}]
    run_cells("people", cells, review, repetitions(60))
    base = {"people": 40, "each": 60, "again": 15, "n": 32}
    held_out: list[dict[str, Any]] = [
        {"noise": noise, "careless": careless, **base, "geometry": geometry}
        for noise, geometry in (
            ("ratio", "ball"),
            ("lapses", "city"),
            ("weights", "city"),
            ("minority", "ball"),
        )
        for careless in (0.0, 0.15)
    ]
    held_out += [
        {
            "noise": "lapses",
            "careless": 0.0,
            "people": 120,
            "each": 30,
            "again": 0,
            "n": 20,
            "geometry": "ball",
        }
    ]
    run_cells("people_held_out", held_out, review, repetitions(60))
    keys = ("noise", "people", "each", "n")
    cells = [
        dict(zip(keys, cell, strict=True))
        for cell in (
            ("logistic", 30, 80, 25),
            ("abilities", 30, 80, 25),
            ("tastes", 40, 30, 20),
            ("flips", 20, 200, 25),
        )
    ]
    run_cells("people_intervals", cells, intervals, repetitions(60))
    cells = [
        dict(zip((*keys, "geometry"), cell, strict=True))
        for cell in (("lapses", 40, 60, 24, "city"), ("minority", 40, 60, 24, "ball"))
    ]
    run_cells("people_intervals_held_out", cells, intervals, repetitions(60))


if __name__ == "__main__":
    main()
