"""What twice as many answers would bring: the forecast against what they do bring."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.honesty._run import fit, repetitions, run_cells, share
from benchmarks.honesty.worlds import asked, make_world
from nearfar.evaluate.curve import learning_curve
from nearfar.triplets import Triplets


def doubling(seed: Any, *, model: str, noise: str, n: int, m: int) -> dict[str, Any]:
    """Truth: the gain in accuracy on new answers when as many answers again are added."""
    rng = np.random.default_rng(seed)
    world = make_world(rng, n=n, noise=noise)
    answers = asked(world, rng, m=m, people=20)
    more = Triplets.concatenate([answers, asked(world, rng, m=m, people=20)])
    fresh = asked(world, rng, m=8000, people=200)
    true = float(fit(model, more).credits(fresh).mean() - fit(model, answers).credits(fresh).mean())
    curve = learning_curve(answers, model, cv=5)
    gain = curve.gain
    return {
        "early": share(curve.verdict == "too early to say"),
        "at_chance": share(curve.verdict == "at chance"),
        "covered": share(gain.low - 0.002 <= true <= gain.high + 0.002) if gain else None,
        "forecast": gain.accuracy if gain else None,
        "width": gain.high - gain.low if gain else None,
        "true_gain": true,
    }


def main() -> None:
    cells = [
        {"model": model, "noise": noise, "n": n, "m": m}
        for model in ("score", "soe-2")
        for noise, n, m in (
            ("logistic", 30, 300),
            ("logistic", 30, 1000),
            ("logistic", 30, 4000),
            ("flips", 60, 1000),
            ("abilities", 60, 3000),
            ("tastes", 20, 1000),
        )
    ]
    run_cells("curve", cells, doubling, repetitions())


if __name__ == "__main__":
    main()
