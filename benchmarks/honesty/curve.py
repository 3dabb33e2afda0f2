"""What twice as many answers would bring: the forecast against what they do bring, in all families of worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
from nearfar.evaluate.sets import asked_in_sets
from nearfar.evaluate.uncertainty import error_groups
from numpy.typing import NDArray

from benchmarks._measure import size
from benchmarks.honesty._run import bare, fit, repetitions, run_cells, share
from benchmarks.honesty.either import make_either
from benchmarks.honesty.worlds import random_questions
from benchmarks.honesty.worlds_fourth import FourthWorld
from benchmarks.honesty.worlds_held_out import questions_held_out
from benchmarks.honesty.worlds_third import ThirdWorld, questions_third
from nearfar.evaluate.curve import learning_curve
from nearfar.space.space import Space
from nearfar.triplets import Triplets

QUESTIONS = 12_000  # that the true accuracy is computed on, from the true probabilities
FRESH = 40_000  # answers that it is computed on, where a design has statements of several triplets, or its world no probabilities
STATEMENTS = ("odd", "screens")
UNSEEN, SEEN = (
    2_000,
    0.1,
)  # questions that were not asked, at least, to speak of the accuracy on such; share of asked ones that matters
EXCHANGEABLE = (
    "random",
    "balanced",
    "pool",
    "odd",
    "central",
    "runs",
    "landmarks",
    "booklets",
)  # asked ones are not other ones


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
    who: str = "",
) -> dict[str, Any]:
    """Truth: the gain in expected accuracy, on questions as they are asked, when as many answers of other people are added once.

    The accuracies before and after are those on questions that were not asked, as what is held out is; not known where nearly all were,
    or where those that were not are other ones (of less popular objects, or less decided).

    Where people are too few to speak of others, the same people give the other answers, and are those who are predicted.
    Likewise where ``who`` is "unknown", as the answers do not say who gave them, and where questions were asked within sets: then
    everybody is predicted within their own set. Of "auto" it is the gain of the model that it chooses
    by the answers that there are.
    """
    rng = np.random.default_rng(seed)
    world, pool, _, ask = make_either(rng, n=n, noise=noise, geometry=geometry)
    these, those = (rng.choice(pool, size=people, replace=False) for _ in range(2))
    answers = ask(world, rng, these, design=design, m=m)
    in_sets = asked_in_sets(bare(answers, who))
    few = error_groups(answers).few_people > 0 or who == "unknown" or in_sets
    later_on = "new booklets" if design == "booklets" and not in_sets else design
    more = Triplets.concatenate([answers, ask(world, rng, these if few else those, design=later_on, m=m)])
    person = answers.participant.names[answers.participant.codes]
    if design in STATEMENTS or isinstance(world, FourthWorld):
        # those who gave many answers give many again: of the fourth family that is theirs, else they are drawn so
        same = these if isinstance(world, FourthWorld) else rng.choice(these[person], size=2000)
        asked = same if few else np.arange(pool)
        fresh = ask(world, rng, asked, design=later_on, m=FRESH)
        rows = np.column_stack([fresh.anchor, fresh.near, fresh.far])
        q = np.ones(len(rows))
    else:
        rows, asked = _as_asked(world, rng, later_on, person)
        q = world.p_first(rows, these[asked]) if in_sets else world.q(rows, these[person] if few else None)
    answers, more = bare(answers, who), bare(more, who)
    curve = learning_curve(answers, model, cv=cv)
    half = answers[rng.permutation(len(answers))[: len(answers) // 2]]
    spaces = [fit(curve.model, a) for a in (half, answers, more)]
    before, now, later = (expected_accuracy(space, rows, q) for space in spaces)
    gain, best = curve.gain, float(np.maximum(q, 1 - q).mean())
    new = ~np.isin(Triplets.from_array(rows, n_objects=n).trio_ids, more.trio_ids)
    if new.mean() >= 1 - SEEN:
        new[:] = True
    known = curve.now is not None and (new.all() or (design in EXCHANGEABLE and new.sum() >= UNSEEN))
    new_now, new_later = (
        expected_accuracy(space, rows[new], q[new]) if known else None for space in spaces[1:]
    )
    return {
        "early": share(curve.verdict == "too early to say"),
        "covered": share(gain.low <= later - now <= gain.high) if gain else None,
        "too_high": share(later - now < gain.low) if gain else None,
        "now_covered": share(curve.now.low <= new_now <= curve.now.high) if known else None,
        "doubled_covered": share(curve.doubled.low <= new_later <= curve.doubled.high) if known else None,
        "above_ceiling": share(curve.doubled.accuracy > best + 0.02) if curve.doubled else None,
        "forecast": gain.accuracy if gain else None,
        "width": gain.high - gain.low if gain else None,
        "true_gain": later - now,
        "gain_before": now - before,
        "true_now": now,
        "true_now_unseen": new_now,
        "true_later_unseen": new_later,
        "best": best,
    }


def _as_asked(
    world: Any, rng: np.random.Generator, design: str, who: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Questions as the collection asks them, and of whom: rare objects stay rare, landmarks are landmarks, hard questions hard."""
    asked = rng.choice(who, size=QUESTIONS)
    if isinstance(world, ThirdWorld):
        return questions_third(world, rng, design, asked, len(who)), asked
    if design == "popular":
        return questions_held_out(world, rng, design, QUESTIONS), asked
    return random_questions(rng, QUESTIONS, world.n), asked


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
THIRD = (  # never used for setting anything; judged by the rule that stands in worlds_third
    ("score", "heavy", 25, 600, 15, "random", 5, "tree"),  # thin
    ("score", "heavy", 25, 2500, 15, "random", 5, "tree"),
    ("score", "jnd", 40, 8000, 50, "random", 3, "circle"),  # dense
    ("score", "own eyes", 50, 3000, 25, "booklets", 5, "traits"),
    ("score", "careless", 70, 3000, 40, "landmarks", 5, "hubs"),
    ("score", "tired", 15, 500, 12, "random", 5, "circle"),
    ("score", "tired", 35, 2500, 30, "adaptive", 5, "traits"),
    ("score", "own eyes", 30, 2000, 5, "random", 5, "tree"),
    ("score", "heavy", 90, 2200, 60, "random", 5, "hubs"),
    ("k1", "careless", 30, 4000, 24, "landmarks", 3, "circle"),
    ("k1", "jnd", 20, 5000, 60, "random", 3, "hubs"),
    ("soe-2", "heavy", 25, 600, 15, "random", 3, "circle"),
    ("soe-3", "own eyes", 35, 4000, 40, "random", 3, "tree"),
    ("soe-5", "jnd", 50, 3000, 30, "booklets", 3, "traits"),
    ("ckl-2", "tired", 20, 1500, 14, "adaptive", 3, "hubs"),
    ("tste-2", "careless", 30, 2500, 45, "random", 3, "circle"),
    ("ckl-8", "heavy", 40, 2000, 20, "landmarks", 3, "tree"),
    ("ste-3", "jnd", 28, 1200, 18, "random", 3, "hubs"),
    ("soe-8", "careless", 60, 6000, 80, "random", 3, "traits"),
)
FOURTH = (  # never used for setting anything; judged by the same rule
    ("score", "gamma", 30, 2000, 30, "random", 5, "sphere"),
    ("score", "context", 24, 1200, 25, "zipf", 5, "torus"),
    ("score", "familiar", 40, 5000, 60, "runs", 5, "topics"),
    ("score", "side", 20, 3000, 40, "ranking", 5, "cosine"),
    ("score", "streaks", 30, 2000, 30, "odd", 5, "sphere"),
    ("score", "gamma", 36, 4000, 40, "two of six", 5, "torus"),
    ("soe-2", "gamma", 25, 900, 20, "random", 3, "sphere"),
    ("soe-3", "context", 30, 3000, 40, "random", 3, "torus"),
    ("ckl-5", "familiar", 40, 4000, 50, "zipf", 3, "topics"),
    ("ste-2", "side", 24, 1500, 30, "runs", 3, "sphere"),
    ("tste-2", "streaks", 30, 2500, 25, "central", 3, "torus"),
    ("soe-8", "gamma", 50, 6000, 80, "random", 3, "cosine"),
)
MAPPED = (  # adaptive questions that are not recognised; added later, to see what becomes of the figures
    ("score", "heavy", 25, 1200, 15, "adaptive map", 5, "tree"),
    ("soe-2", "jnd", 20, 800, 20, "adaptive map", 3, "circle"),
)
AUTO = (  # of all families
    ("auto", "logistic", 16, 600, 20, "random", 5, ""),
    ("auto", "flips", 24, 1500, 20, "random", 5, ""),
    ("auto", "tastes", 20, 1000, 30, "random", 5, ""),
    ("auto", "abilities", 30, 2500, 40, "random", 5, ""),
    ("auto", "ratio", 18, 700, 12, "balanced", 5, "ball"),
    ("auto", "minority", 24, 2000, 30, "popular", 5, "city"),
    ("auto", "weights", 36, 1800, 40, "balanced", 5, "hierarchy"),
    ("auto", "heavy", 20, 800, 15, "random", 5, "tree"),
    ("auto", "own eyes", 24, 2000, 25, "booklets", 5, "traits"),
    ("auto", "jnd", 16, 900, 12, "adaptive", 5, "hubs"),
    ("auto", "careless", 30, 1500, 30, "landmarks", 5, "circle"),
)
UNKNOWN = (  # who answered is not known
    ("score", "tastes", 20, 2000, 20, "random", 5, ""),
    ("soe-2", "abilities", 25, 1500, 12, "random", 3, ""),
    ("score", "minority", 24, 2000, 20, "popular", 5, "ball"),
    ("ckl-2", "weights", 30, 2000, 15, "balanced", 3, "ball"),
    ("score", "own eyes", 30, 3000, 15, "random", 5, "tree"),
    ("soe-3", "careless", 30, 2000, 15, "random", 3, "circle"),
)
KEYS = ("model", "noise", "n", "m", "people", "design", "cv", "geometry")


def _unsure(row: dict[str, Any]) -> bool:
    """By the rule of ``worlds_third``: whether a cell needs more runs; not where its interval lies below .85 already."""
    held = [key for key in ("covered", "now_covered", "doubled_covered") if row.get(key) is not None]
    return any(row[key] < 0.9 and row[f"{key}_interval"][1] >= 0.85 for key in held)


def main() -> None:
    run_cells("curve", [dict(zip(KEYS, cell, strict=False)) for cell in REGIMES], doubling, repetitions(60))
    held_out = [dict(zip(KEYS, cell, strict=True)) for cell in HELD_OUT]
    run_cells("curve_held_out", held_out, doubling, repetitions(60))
    third = [dict(zip(KEYS, cell, strict=True)) for cell in THIRD + MAPPED]
    judged = run_cells("curve_third", third, doubling, repetitions(60))
    unsure = [cell for cell, row in zip(third, judged, strict=False) if _unsure(row)]
    if unsure:
        run_cells("curve_third", unsure, doubling, size(200, 1))
    fourth = [dict(zip(KEYS, cell, strict=True)) for cell in FOURTH]
    run_cells("curve_fourth", fourth, doubling, repetitions(60))
    auto = [dict(zip(KEYS, cell, strict=True)) for cell in AUTO]
    run_cells("curve_auto", auto, doubling, repetitions(60))
    unknown = [dict(zip(KEYS, cell, strict=True)) | {"who": "unknown"} for cell in UNKNOWN]
    run_cells("curve_unknown", unknown, doubling, repetitions(60))


if __name__ == "__main__":
    main()
