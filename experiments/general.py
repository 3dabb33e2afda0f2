"""General collections: how many random triplets do the kernels need? USPS digits 1, 2, 3 once more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments import _general_page, _methods, usps
from experiments._data import Data
from experiments._experiment import Cell, Experiment, seed_of

BUDGETS, QUICK_BUDGETS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000), (10_000,)
RUNS, FEW_RUNS, QUICK_RUNS = 10, 3, 1  # the published program in fewer runs
FLIPS = (0.0, 0.3)
OTHERS: tuple[dict[str, Any], ...] = (
    {"method": "GNMDS", "d": 2, "start": "published"},
    {"method": "STE", "d": 10, "start": "kernel"},
)


D = 10  # of the score kernel's kernel PCA
MOST_TO_EMBED = 1_000_000


def cells(quick: bool) -> list[Cell]:
    kernels: list[dict[str, Any]] = [
        *({"method": kernel} for kernel in _methods.KERNELS),
        {"method": "score", "d": D},
    ]
    return [
        Cell(
            {"run": run, "budget": budget, "flip": flip} | _methods.sized(fit, quick),
            0.1 + budget / {"published": 5e4, "kernel": 1e5}.get(fit.get("start", ""), 1e6),
        )
        for run in range(QUICK_RUNS if quick else RUNS)
        for budget in (QUICK_BUDGETS if quick else BUDGETS)
        for flip in FLIPS
        for fit in (*kernels, *(OTHERS if budget <= MOST_TO_EMBED else ()))
        if run < FEW_RUNS or fit.get("start") != "published"
    ]


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    run = settings["run"]
    _, truth, _ = usps.sample(data, run)
    given = usps.collect(data, run, settings["budget"], settings["flip"], "rand", "k1")
    return _methods.cluster_purity(settings, given, None, truth, seed_of("fit", run))


EXPERIMENT = Experiment(
    "general", _general_page.TITLE, cells, compute, _general_page.section, _general_page.ours
)
