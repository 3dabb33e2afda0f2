"""The range of the best possible accuracy: does it hold the truth, or say that it does not know?"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import bare, repetitions, run_cells, share
from benchmarks.honesty.either import make_either
from benchmarks.honesty.worlds import Rows, random_questions
from nearfar.evaluate.ceiling import noise_ceiling
from nearfar.triplets import Triplets


def repeated_questions(world: Any, rng: np.random.Generator, repeats: str, m: int, people: int) -> Any:
    """Questions with repeats of one kind, who answered them, and which of them are control questions."""
    who = rng.integers(people, size=m)
    rows = random_questions(rng, m, world.n)
    if repeats == "planned":  # 300 drawn at random are put to somebody else, too
        again = rng.permutation(m)[:300]
        rows, who = np.concatenate([rows, rows[again]]), np.concatenate([who, (who[again] + 1) % people])
    elif repeats == "five":  # every question is put to five people
        rows = np.repeat(rows[: m // 5], 5, axis=0)
        who = np.concatenate([rng.permutation(people)[:5] for _ in range(m // 5)])
    elif repeats == "catch":  # ten easy questions are put to everybody
        lead = world.p_first(rows, np.zeros(m, dtype=np.int64))
        easy = rows[np.argsort(-np.abs(lead - 0.5))[:10]]
        rows = np.concatenate([rows, np.tile(easy, (people, 1))])
        who = np.concatenate([who, np.repeat(np.arange(people), 10)])
    elif repeats in ("adaptive", "easy pool"):  # a pool of the hardest (easiest) is asked again and again
        doubt = np.abs(world.q(rows) - 0.5)
        pool = rows[np.argsort(doubt if repeats == "adaptive" else -doubt)[: m // 5]]
        rows = np.concatenate([rows, pool, pool])
        who = np.concatenate([who, rng.integers(people, size=2 * len(pool))])
    elif repeats == "same person":  # planned, but always put to the same person
        again = rng.permutation(m)[:300]
        rows, who = np.concatenate([rows, rows[again]]), np.concatenate([who, who[again]])
    return rows, who


def coverage(
    seed: Any, *, repeats: str, noise: str, n: int, m: int, people: int, geometry: str = "", who: str = ""
) -> dict[str, Any]:
    """Truth: mean over all answers of max(q, 1 - q), q for somebody drawn from the population.

    ``who`` : "unknown" where the answers do not say who gave them.
    """
    rng = np.random.default_rng(seed)
    world, pool, _, _ = make_either(rng, n=n, noise=noise, geometry=geometry)
    rows, person = repeated_questions(world, rng, repeats, m, people)
    drawn = rng.choice(pool, size=people, replace=False)
    answers = Triplets.from_array(world.answer(rows, drawn[person], rng), n_objects=n, participant=person)
    q = world.q(_unique(rows))
    truth = np.maximum(q, 1 - q).mean()
    found = noise_ceiling(bare(answers, who))
    known = found.outer is not None
    old = found.agreement.bracket if found.agreement is not None else None
    return {
        "known": share(known),
        "covered": share(found.outer[0] <= truth <= found.outer[1]) if found.outer else None,
        "width": found.outer[1] - found.outer[0] if found.outer else None,
        "bare_bracket_covers": share(old[0] <= truth <= old[1]) if old else None,
        "truth": truth,
    }


def _unique(rows: Rows) -> Rows:
    return np.unique(rows, axis=0)


REPEATS = ("planned", "five", "accidental", "catch", "adaptive", "easy pool", "same person")


def main() -> None:
    cells = [
        {"repeats": repeats, "noise": noise, "n": n, "m": 2000, "people": people}
        for repeats in REPEATS
        for noise, n, people in (
            ("logistic", 20, 40),
            ("flips", 20, 20),
            ("abilities", 12, 40),
            ("tastes", 40, 80),
        )
    ]
    cells += [
        {"repeats": repeats, "noise": noise, "n": 20, "m": 2000, "people": people, "who": "unknown"}
        for repeats in ("planned", "five", "accidental", "same person")
        for noise, people in (("logistic", 20), ("tastes", 20), ("abilities", 6))
    ]
    run_cells("ceiling", cells, coverage, repetitions(60))
    held_out = [
        {"repeats": repeats, "noise": noise, "n": n, "m": 1600, "people": people, "geometry": geometry}
        for repeats in REPEATS
        for noise, n, people, geometry in (("lapses", 16, 30, "city"), ("weights", 24, 60, "ball"))
    ]
    run_cells("ceiling_held_out", held_out, coverage, repetitions(60))


if __name__ == "__main__":
    main()
