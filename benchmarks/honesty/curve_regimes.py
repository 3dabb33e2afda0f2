"""The forecast in regimes drawn at random: sizes, people, noise, designs and models of the first three families.

Lists of cells miss what nobody thought of. The forecast's width was set by 1,833 such regimes (seeds 2 and 3); this measures it with
another seed. ``python -m benchmarks.honesty.curve_regimes 1000`` goes on where it was stopped.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks._measure import RESULTS, machine, size
from benchmarks.honesty._run import summary
from benchmarks.honesty.curve import doubling
from nearfar._tools.progress import step
from nearfar.errors import NearfarWarning

Regime = dict[str, Any]
SEED = 11
FAMILIES = (  # noises, designs, geometries
    (("logistic", "flips", "abilities", "tastes", "none"), ("random", "random", "odd"), ("",)),
    (
        ("ratio", "lapses", "weights", "minority"),
        ("balanced", "popular", "pool", "screens"),
        ("ball", "city", "hierarchy"),
    ),
    (
        ("heavy", "jnd", "own eyes", "tired", "careless"),
        ("random", "booklets", "landmarks"),
        ("tree", "circle", "hubs", "traits"),
    ),
)
EMBEDDINGS = (
    "soe-2", "soe-3", "soe-5", "soe-8", "ckl-2", "ckl-5", "tste-2", "ste-3", "ste-2", "gnmds-2",
)  # fmt: skip
PEOPLE_WITH_BOOKLETS = 12  # fewer would leave most objects out


def regimes(seed: int) -> Iterator[Regime]:
    """Regimes without end."""
    rng = np.random.default_rng(seed)
    while True:
        noises, designs, geometries = FAMILIES[rng.integers(len(FAMILIES))]
        design = str(rng.choice(designs))
        n = int(np.exp(rng.uniform(np.log(14), np.log(90))))
        m = int(np.clip(n * np.exp(rng.uniform(np.log(20), np.log(160))), 400, 7000))
        least = PEOPLE_WITH_BOOKLETS if design == "booklets" else 2
        people = min(int(np.exp(rng.uniform(np.log(least), np.log(150)))), m // 6)
        yield {
            "model": str(rng.choice(["score", str(rng.choice(EMBEDDINGS))], p=[1 / 3, 2 / 3])),
            "noise": str(rng.choice(noises)),
            "n": n,
            "m": m,
            "people": people,
            "design": design,
            "cv": int(rng.choice([3, 5])),
            "geometry": str(rng.choice(geometries)),
            "who": str(rng.choice(["", "unknown"], p=[0.75, 0.25])),
        }


def main() -> None:
    count = size(int(next((a for a in sys.argv[1:] if a.isdigit()), "1000")), 2)
    path = RESULTS / "honesty" / "curve_regimes.json"
    kept: list[Regime] = json.loads(path.read_text())["runs"] if path.exists() else []
    with warnings.catch_warnings(), step("random regimes", total=count) as advance:
        warnings.simplefilter("ignore", NearfarWarning)
        for number, regime in zip(range(count), regimes(SEED), strict=False):
            if number >= len(kept):
                found = doubling(np.random.SeedSequence([SEED, number]), **regime)
                kept.append(
                    regime
                    | {key: value if value is None else round(value, 4) for key, value in found.items()}
                )
            advance(1)
            if number % 25 == 24 or number == count - 1:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps({"machine": machine(), "rows": rates(kept), "runs": kept}) + "\n")


def rates(runs: list[Regime]) -> list[Regime]:
    """How often what was stated held: by design, by model, by the number of answers, and in all."""
    parts = {f"design: {run['design']}": "design" for run in runs}
    parts |= {f"model: {run['model']}": "model" for run in runs}
    found = [{"runs of": name} | summary(_of(runs, name)) for name in sorted(parts)]
    for low, high in ((0, 1000), (1000, 2000), (2000, 4000), (4000, 10_000)):
        some = [run for run in runs if low <= run["m"] < high]
        if some:
            found.append({"runs of": f"answers: {low:,} to {high:,}"} | summary(_held(some)))
    return [*found, {"runs of": "all"} | summary(_held(runs))]


def _of(runs: list[Regime], name: str) -> list[Regime]:
    key, value = name.split(": ")
    return _held([run for run in runs if run[key] == value])


def _held(runs: list[Regime]) -> list[Regime]:
    keys = ("early", "covered", "now_covered", "doubled_covered", "forecast", "true_gain")
    return [{key: run[key] for key in keys} for run in runs]


if __name__ == "__main__":
    main()
