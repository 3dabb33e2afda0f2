"""Accuracy and its interval, the set of equal models, and the test against guessing: coverage and false positives."""

from __future__ import annotations

from typing import Any

import numpy as np
from nearfar.evaluate.max_t import above_guessing, equal_to_best
from nearfar.evaluate.uncertainty import clustered_mean_error, error_clusters, error_groups, mean_estimate

from benchmarks.honesty._run import bare, fit, held_out, repetitions, run_cells, share
from benchmarks.honesty.either import make_either
from benchmarks.honesty.worlds_fourth import FourthWorld
from nearfar.evaluate.splits import kfold

MODELS = ["score"]


def coverage(
    seed: Any,
    *,
    design: str,
    noise: str,
    people: int,
    m: int,
    geometry: str = "",
    n: int = 30,
    who: str = "",
) -> dict[str, Any]:
    """Whether the 95 % interval holds the accuracy of the same fits on new people and new questions.

    ``who`` : "unknown" where the answers do not say who gave them; then the truth is about new answers of the same people. Of booklets
    it is about new answers of the same people within the same sets, as the page says, and with "others" about other people.
    """
    rng = np.random.default_rng(seed)
    world, pool, _, ask = make_either(rng, n=n, noise=noise, geometry=geometry)
    drawn = rng.choice(pool, size=people, replace=False)
    answers = bare(ask(world, rng, drawn, design=design, m=m), who)
    credits, part, fits = held_out(answers, MODELS)
    new = {"fixed": "random", "list": "random", "pool": "balanced"}.get(design, design)
    same = who == "unknown" or (design == "booklets" and who != "others")
    others = drawn if same else rng.choice(pool, size=200, replace=False)
    rounds = (
        6 if isinstance(world, FourthWorld) else 1
    )  # a few of its people give most answers, of every round others
    truth = float(
        np.mean(
            [
                _accuracy_on_unseen(fits, answers, part, ask(world, rng, others, design=new, m=8000))
                for _ in range(rounds)
            ]
        )
    )
    found = mean_estimate(credits[0], error_groups(answers), folds=5)
    clusters = error_clusters(answers)
    old = 1.96 * clustered_mean_error(credits[0], clusters)
    known = np.isfinite(found.low)
    return {
        "known": share(known),
        "covered": share(found.low <= truth <= found.high) if known else None,
        "half_width": (found.high - found.low) / 2 if known else None,
        "one_way_covered": share(abs(found.value - truth) <= old),
    }


def _accuracy_on_unseen(fits: Any, answers: Any, part: Any, fresh: Any) -> float:
    """Of the first model of every part, on answers to trios that it was not fitted on."""
    found = []
    for number, fitted in enumerate(fits):
        new = fresh[~np.isin(fresh.trio_ids, answers.trio_ids[part != number])]
        found.append(fitted[0].credits(new).mean())
    return float(np.mean(found))


def equals(
    seed: Any, *, design: str, noise: str, people: int, m: int, models: int, n: int = 30, geometry: str = ""
) -> dict[str, Any]:
    """Equal models (the same one, each fitted to its own nine tenths of the answers): is one of them called worse?"""
    rng = np.random.default_rng(seed)
    world, _, ask, _ = make_either(rng, n=n, noise=noise, geometry=geometry)
    answers = ask(world, rng, design=design, m=m, people=people)
    credits = np.zeros((models, len(answers)))
    for train, test in kfold(answers, 5):
        for k in range(models):
            some = train[rng.random(len(train)) < 0.9]
            credits[k, test] = fit("score", answers[some]).credits(answers[test])
    found = equal_to_best(credits, error_groups(answers), folds=5)
    clusters = error_clusters(answers)
    best = credits[np.argmax(credits.mean(axis=1))]
    lost = [np.mean(best - c) > clustered_mean_error(best - c, clusters) for c in credits]
    return {"some_called_worse": share(not found.members.all()), "one_error_rule": share(np.any(lost))}


def guessing(
    seed: Any, *, design: str, noise: str, people: int, m: int, n: int = 30, geometry: str = ""
) -> dict[str, Any]:
    """How often models are called better than guessing: in noise a false positive, else power."""
    rng = np.random.default_rng(seed)
    world, _, ask, _ = make_either(rng, n=n, noise=noise, geometry=geometry)
    answers = ask(world, rng, design=design, m=m, people=people)
    names = ["score", "k1", "k2", "score-2", "k1-2", "k2-2", "ckl-2", "soe-2"]
    credits, _, _ = held_out(answers, names)
    groups = error_groups(answers)
    best = max(mean_estimate(c, groups).value for c in credits)
    clusters = error_clusters(answers)
    top = credits[np.argmax(credits.mean(axis=1))]
    old = clustered_mean_error(top, clusters)
    return {
        "called_better": share(bool(above_guessing(credits, groups, folds=5))),
        "two_errors_rule": share(best - 2 * old >= 0.5),
        "best": best,
    }


DESIGNS = ("random", "fixed", "landmarks", "odd", "grid")


KEYS = ("design", "noise", "geometry", "n", "people", "m")


def main() -> None:
    count = repetitions()
    measure_coverage(count)
    measure_equals(count)
    measure_guessing(count)


def measure_coverage(count: int) -> None:
    """How often the interval of an accuracy holds the truth, in all families."""
    cells = [{"design": d, "noise": "logistic", "people": 20, "m": 1500} for d in DESIGNS]
    cells += [{"design": d, "noise": "abilities", "people": 12, "m": 1500} for d in DESIGNS]
    cells += [{"design": d, "noise": "tastes", "people": 100, "m": 2000} for d in DESIGNS]
    cells += [{"design": "random", "noise": n, "people": 40, "m": 1000} for n in ("flips", "none")]
    cells += [{"design": d, "noise": "tastes", "people": 2, "m": 1000} for d in ("random", "fixed")]
    cells += [
        {"design": "random", "noise": "tastes", "people": people, "m": m, "n": 20}
        for people, m in ((8, 4000), (10, 3000), (12, 2000), (16, 3000))
    ]
    unknown = {"design": "random", "who": "unknown"}
    cells += [
        {**unknown, "noise": noise, "people": people, "m": 2000, "n": 20}
        for noise, people in (
            ("logistic", 20),
            ("abilities", 12),
            ("tastes", 100),
            ("tastes", 30),
            ("tastes", 8),
        )
    ]
    run_cells("accuracy", cells, coverage, count)
    held_out_worlds = [
        {"design": design, "noise": noise, "people": people, "m": m, "geometry": geometry, "n": n}
        for design, noise, people, m, geometry, n in (
            ("balanced", "ratio", 20, 900, "ball", 24),
            ("balanced", "minority", 20, 3000, "ball", 20),
            ("balanced", "lapses", 35, 2500, "city", 45),
            ("popular", "weights", 60, 2000, "hierarchy", 36),
            ("popular", "minority", 25, 1500, "ball", 20),
            ("pool", "lapses", 7, 1500, "city", 24),
            ("screens", "weights", 30, 1600, "ball", 30),
        )
    ]
    run_cells("accuracy_held_out", held_out_worlds, coverage, count)
    third = [
        {"design": design, "noise": noise, "people": people, "m": m, "geometry": geometry, "n": n, "who": who}
        for design, noise, people, m, geometry, n in (
            ("booklets", "own eyes", 25, 3000, "traits", 50),
            ("booklets", "own eyes", 25, 2000, "traits", 24),
            ("booklets", "jnd", 25, 900, "circle", 18),
            ("booklets", "own eyes", 25, 1500, "tree", 18),
        )
        for who in ("", "others")
    ]
    run_cells("accuracy_third", third, coverage, count)
    fourth = [  # nothing of the interval was set by it; its landmarks are others every time, which no claim is about
        {"design": design, "noise": noise, "people": people, "m": m, "geometry": geometry, "n": n}
        for design, noise, people, m, geometry, n in (
            ("random", "gamma", 15, 1500, "sphere", 30),
            ("zipf", "familiar", 40, 2000, "torus", 30),
            ("runs", "streaks", 12, 2000, "sphere", 24),
            ("odd", "context", 30, 1500, "topics", 30),
            ("central", "gamma", 20, 1200, "cosine", 24),
            ("list", "plain", 60, 2400, "torus", 30),
            ("two of six", "streaks", 20, 1500, "cosine", 30),
        )
    ]
    run_cells("accuracy_fourth", fourth, coverage, count)


def measure_equals(count: int) -> None:
    """How often one of several equal models is called worse."""
    cells = [{"design": d, "noise": "logistic", "people": 20, "m": 1000, "models": 6} for d in DESIGNS]
    cells += [{"design": "random", "noise": "tastes", "people": 6, "m": 1000, "models": 6}]
    cells += [{"design": "random", "noise": "logistic", "people": 50, "m": 3000, "models": 20}]
    run_cells("equals", cells, equals, count)
    second = [
        dict(zip(KEYS, cell, strict=True)) | {"models": models}
        for *cell, models in (
            ("balanced", "ratio", "ball", 24, 12, 900, 6),
            ("popular", "weights", "hierarchy", 36, 60, 2000, 6),
            ("pool", "lapses", "city", 24, 7, 1500, 6),
            ("screens", "minority", "ball", 30, 30, 1600, 12),
        )
    ]
    run_cells("equals_held_out", second, equals, count)


def measure_guessing(count: int) -> None:
    """How often the best model of pure noise is called better than guessing."""
    cells = [{"design": d, "noise": "guessing", "people": 20, "m": m} for d in DESIGNS for m in (300, 1500)]
    cells += [{"design": "random", "noise": "abilities", "people": 20, "m": m} for m in (150, 300, 600)]
    run_cells("guessing", cells, guessing, count)
    second = [
        dict(zip(KEYS, cell, strict=True))
        for cell in (
            ("balanced", "coins", "ball", 24, 12, 300),
            ("balanced", "coins", "ball", 24, 12, 1500),
            ("popular", "coins", "city", 36, 40, 1200),
            ("pool", "coins", "ball", 24, 7, 900),
            ("screens", "coins", "ball", 30, 30, 800),
            ("balanced", "lapses", "city", 24, 20, 150),
            ("balanced", "lapses", "city", 24, 20, 400),
        )
    ]
    run_cells("guessing_held_out", second, guessing, count)


if __name__ == "__main__":
    main()
