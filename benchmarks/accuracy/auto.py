"""``auto`` beside every single model of its list and beside the ceiling, on real answers; and what choosing costs.

    python -m benchmarks.accuracy.auto [food car musicians things]

For each of three outer splits (20 % held out, honest, seeds 0 to 2): ``auto`` chooses on the training part and is
judged by the test part, as is every model of the list. CPU seconds are those of ``nf.analyse(all answers).space``.
Rows go to benchmarks/results/auto.json, the table to standard output (docs/models.md).
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np

import nearfar as nf
from benchmarks._measure import RESULTS, size
from benchmarks._sets import crowds
from nearfar.evaluate.comparison import candidates
from nearfar.evaluate.splits import holdout
from nearfar.triplets import Triplets

SETS = size(("food", "car", "musicians", "things"), ("food",))
SPLITS = size(3, 1)


def measure(name: str, answers: Triplets) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    start = time.process_time()
    analysis = nf.analyse(answers)
    _ = analysis.space
    cost = time.process_time() - start
    best = analysis.ceiling.best_possible
    ceiling = None if best is None else (best.low, best.high)
    for seed in range(SPLITS):
        train, test = holdout(answers, 0.2, seed=seed)
        chosen = nf.analyse(answers[train], seed=seed).best
        for model in candidates(answers.n_objects):
            start = time.process_time()
            space = nf.fit(answers[train], model)
            seconds = time.process_time() - start
            accuracy = float(space.credits(answers[test]).mean())
            rows.append(
                {"set": name, "seed": seed, "model": model, "accuracy": accuracy, "cpu_seconds": seconds,
                 "auto": model == chosen.name, "printed": chosen.accuracy}
            )  # fmt: skip
    return [row | {"cost": cost, "ceiling": ceiling, "answers": len(answers)} for row in rows]


def table(rows: list[dict[str, object]]) -> str:
    sets = list(dict.fromkeys(row["set"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    mean = {
        (s, m): np.mean([r["accuracy"] for r in rows if r["set"] == s and r["model"] == m])
        for s in sets
        for m in models
        if any(r["set"] == s and r["model"] == m for r in rows)
    }
    lines = ["| model | " + " | ".join(map(str, sets)) + " |", "|---|" + "---|" * len(sets)]
    for m in models:
        lines.append(
            f"| {m} | " + " | ".join(f"{mean[s, m]:.4f}" if (s, m) in mean else "-" for s in sets) + " |"
        )
    auto = {s: np.mean([r["accuracy"] for r in rows if r["set"] == s and r["auto"]]) for s in sets}
    printed = {s: np.mean([r["printed"] for r in rows if r["set"] == s]) for s in sets}
    best = {s: max(mean[s, m] for m in models if (s, m) in mean) for s in sets}
    picks = {
        s: ", ".join(sorted({str(r["model"]) for r in rows if r["set"] == s and r["auto"]})) for s in sets
    }
    ceilings = {s: next(r["ceiling"] for r in rows if r["set"] == s) for s in sets}
    costs = {s: next(r["cost"] for r in rows if r["set"] == s) for s in sets}
    lines += [
        "| **auto** | " + " | ".join(f"**{auto[s]:.4f}**" for s in sets) + " |",
        "| auto chose | " + " | ".join(picks[s] for s in sets) + " |",
        "| auto against the best of the list | "
        + " | ".join(f"{auto[s] - best[s]:+.4f}" for s in sets)
        + " |",
        "| accuracy that auto printed for itself | " + " | ".join(f"{printed[s]:.4f}" for s in sets) + " |",
        "| ceiling | "
        + " | ".join("unknown" if c is None else f"{c[0]:.3f} to {c[1]:.3f}" for c in ceilings.values())
        + " |",
        "| CPU seconds of choosing and fitting | " + " | ".join(f"{costs[s]:.1f}" for s in sets) + " |",
    ]
    return "\n".join(lines)


def main() -> None:
    rows = []
    for name, answers in crowds(sys.argv[1:] or SETS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nf.errors.NearfarWarning)
            rows += measure(name, answers)
        print(name, "done", flush=True, file=sys.stderr)
    if not sys.argv[1:]:
        (RESULTS / "auto.json").write_text(json.dumps(rows, indent=1) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
