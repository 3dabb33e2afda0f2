"""Circles on the map, and clusters kept: how often the true place lies inside, and what answers at random keep.

The true place is that of the same model fitted to 25 times as many answers of other people, moved, turned and scaled onto
the map by the objects that are well known. A quarter of the objects gets few answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.honesty._run import bare, fit, repetitions, run_cells
from benchmarks.honesty.either import make_either
from nearfar.evaluate.analysis import Analysis
from nearfar.evaluate.map_stability import align, coordinates, radius, statements_per_object
from nearfar.triplets import Triplets

WELL_KNOWN = 100  # statements
FEW = 80  # below: an object with few answers


def uneven_questions(rng: np.random.Generator, m: int, n: int) -> NDArray[np.int64]:
    """Questions in which a quarter of the objects is rare."""
    weight = np.ones(n)
    weight[rng.permutation(n)[: n // 4]] = np.tile([0.05, 0.12, 0.25], n)[: n // 4]
    rows = np.argsort(-(np.log(weight) + rng.gumbel(size=(m, n))), axis=1)[:, :3]
    return rng.permuted(rows, axis=1)


def inside(
    seed: Any,
    *,
    model: str,
    noise: str,
    n: int,
    m: int,
    people: int,
    d: int = 2,
    geometry: str = "",
    who: str = "",
    resamples: int = 30,
) -> dict[str, Any]:
    """Shares of objects whose true place lies inside their circle (stated: 9 of 10).

    ``who`` : "unknown" where the answers do not say who gave them; ``resamples`` : fewer where there are many answers.
    """
    rng = np.random.default_rng(seed)
    world, pool, ask, _ = make_either(rng, n=n, noise=noise, geometry=geometry, d=d)
    drawn, person = rng.choice(pool, size=people, replace=False), rng.integers(people, size=m)
    said = world.answer(uneven_questions(rng, m, n), drawn[person], rng)
    answers = bare(Triplets.from_array(said, n_objects=n, participant=person), who)
    sure = Analysis(answers, model, models=[model], n_resamples=resamples).stability(None)
    truth = coordinates(fit(model, ask(world, rng, m=25 * m, people=200)))
    told = statements_per_object(answers)
    known = np.where((told >= WELL_KNOWN)[:, None], sure.points, np.nan)
    off = np.linalg.norm(align(truth, known) - sure.points, axis=1) / radius(sure.points)
    shown = np.isfinite(sure.circle)
    hit, few = off <= sure.circle, told < FEW
    return {
        "inside": float(hit[shown].mean()),
        "inside_few": float(hit[shown & few].mean()) if (shown & few).any() else None,
        "inside_many": float(hit[shown & ~few].mean()),
        "inside_spread": float((off <= sure.spread)[shown].mean()),
        "circle_few": float(np.median(sure.circle[shown & few])) if (shown & few).any() else None,
        "circle_many": float(np.median(sure.circle[shown & ~few])),
        "marked": float(sure.few.mean()),
        "off_marked": float(np.sqrt(np.mean(off[sure.few] ** 2))) if sure.few.any() else None,
    }


def kept(
    seed: Any, *, model: str, noise: str, n: int, m: int, people: int, geometry: str = ""
) -> dict[str, Any]:
    """Share of resamples that keep a cluster (median over objects), beside that of answers at random."""
    rng = np.random.default_rng(seed)
    world, _, ask, _ = make_either(rng, n=n, noise=noise, geometry=geometry)
    sure = Analysis(ask(world, rng, m=m, people=people), model, models=[model]).stability(5)
    assert sure.kept is not None and sure.kept_by_chance is not None
    own = float(np.nanmedian(sure.kept))
    return {
        "kept": own,
        "by_chance": sure.kept_by_chance,
        "above_chance": float(own > sure.kept_by_chance + 0.15),
    }


CELLS = (  # model, noise, objects, answers, people, dimensions
    ("soe-2", "logistic", 30, 1000, 20, 2),
    ("soe-2", "logistic", 30, 2000, 20, 2),
    ("ckl-2", "logistic", 30, 1500, 20, 2),
    ("soe-2", "abilities", 30, 2000, 10, 3),
    ("tste-2", "flips", 24, 1200, 40, 2),
    ("score", "logistic", 30, 1500, 20, 2),
    ("soe-2", "none", 30, 1500, 20, 2),
    ("score", "tastes", 40, 3000, 60, 3),
)
UNKNOWN = (  # who answered is not known
    ("soe-2", "logistic", 30, 2000, 20, 2),
    ("soe-2", "abilities", 30, 2000, 10, 2),
    ("soe-2", "tastes", 30, 2000, 20, 2),
)
FEW_RESAMPLES = (1, 2, 5)  # of CELLS, with six resamples
HELD_OUT = (  # model, noise, objects, answers, people, geometry
    ("soe-2", "ratio", 24, 1500, 12, "ball"),
    ("soe-2", "lapses", 45, 3000, 35, "city"),
    ("ckl-2", "weights", 36, 2500, 60, "hierarchy"),
    ("tste-2", "minority", 30, 2500, 25, "ball"),
    ("score", "ratio", 36, 2500, 15, "city"),
)


def main() -> None:
    keys = ("model", "noise", "n", "m", "people", "d")
    cells: list[dict[str, Any]] = [dict(zip(keys, c, strict=True)) for c in CELLS]
    cells += [dict(zip(keys, c, strict=True)) | {"who": "unknown"} for c in UNKNOWN]
    cells += [dict(zip(keys, CELLS[k], strict=True)) | {"resamples": 6} for k in FEW_RESAMPLES]
    run_cells("circles", cells, inside, repetitions(40))
    keys = ("model", "noise", "n", "m", "people", "geometry")
    cells = [dict(zip(keys, c, strict=True)) for c in HELD_OUT]
    cells += [dict(zip(keys, HELD_OUT[k], strict=True)) | {"resamples": 6} for k in (1, 3)]
    run_cells("circles_held_out", cells, inside, repetitions(40))
    cells = [
        {"model": model, "noise": noise, "n": 30, "m": m, "people": 20}
        for model in ("soe-3", "score")
        for noise, m in (("guessing", 300), ("guessing", 1500), ("logistic", 300), ("logistic", 1500))
    ]
    run_cells("kept", cells, kept, repetitions(40))
    cells = [
        {"model": model, "noise": noise, "geometry": geometry, "n": 24, "m": m, "people": 25}
        for model in ("soe-3", "score")
        for noise, geometry, m in (
            ("coins", "ball", 300),
            ("coins", "city", 1500),
            ("ratio", "hierarchy", 300),
            ("lapses", "city", 1500),
        )
    ]
    run_cells("kept_held_out", cells, kept, repetitions(40))


if __name__ == "__main__":
    main()
