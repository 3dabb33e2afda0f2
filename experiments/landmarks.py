"""Which landmarks, and how many? USPS digits, k1 and k2, one number of questions."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from experiments import _methods, _plots, usps
from experiments._data import Data
from experiments._experiment import Cell, Experiment, Figure, Row, Section, number, seed_of, table
from experiments._rows import average, spread, values_of
from nearfar.design import farthest_first, random_landmarks

COUNTS, QUICK_COUNTS = (5, 10, 15, 20, 30, 50), (5, 15)
CHOICES = ("random", "spread out", "medoids", "by class")
RUNS, QUICK_RUNS = 5, 1
BUDGET, FLIP = 20_000, 0.15


def cells(quick: bool) -> list[Cell]:
    return [
        Cell({"run": run, "count": count, "choice": choice, "kernel": kernel}, 0.1)
        for run in range(QUICK_RUNS if quick else RUNS)
        for count, choice, kernel in product(QUICK_COUNTS if quick else COUNTS, CHOICES, ("k1", "k2"))
    ]


def choose(
    choice: str, points: NDArray[Any], classes: NDArray[Any], count: int, seed: int
) -> NDArray[np.int32]:
    """Landmarks; "medoids" and "spread out" look at the distances, "by class" at what the objects are."""
    rng = np.random.default_rng(seed)
    if choice == "random":
        return random_landmarks(len(points), count, seed=rng)
    if choice == "spread out":
        return farthest_first(cdist(points, points), count, seed=rng)
    if choice == "medoids":
        centres = KMeans(count, n_init=1, random_state=seed % 2**31).fit(points).cluster_centers_
        return np.unique(cdist(centres, points).argmin(axis=1)).astype(np.int32)
    kinds = np.unique(classes)
    each = [rng.permutation(np.flatnonzero(classes == kind)) for kind in kinds]
    turns = [each[i % len(kinds)][i // len(kinds)] for i in range(count)]
    return np.sort(np.array(turns, dtype=np.int32))


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    run, kernel = settings["run"], settings["kernel"]
    points, truth, _ = usps.sample(data, run)
    seed = seed_of("landmarks", run, settings["count"], settings["choice"])
    marks = choose(settings["choice"], points.astype(np.float64), truth, settings["count"], seed)
    room = (len(points) - len(marks)) * len(marks) * (len(marks) - 1) // (2 if kernel == "k1" else 1)
    given = _methods.ask(points, marks, kernel, min(BUDGET, room), FLIP, seed)
    clustered = _methods.cluster_purity({"method": kernel}, given, marks, truth, seed_of("fit", run))
    return {"purity": clustered["purity"], "answers": len(given)}


def section(rows: list[Row], data: Data) -> Section:
    counts, runs = values_of(rows, "count"), len(values_of(rows, "run"))
    lines = [
        [
            f"{kernel}, {choice}",
            *(
                f"{number(average(rows, kernel=kernel, choice=choice, count=count), 2)} ± "
                f"{number(spread(rows, kernel=kernel, choice=choice, count=count), 2)}"
                for count in counts
            ),
        ]
        for kernel in ("k1", "k2")
        for choice in CHOICES
    ]
    k1 = {
        (choice, count): average(rows, kernel="k1", choice=choice, count=count)
        for choice in CHOICES
        for count in counts
    }
    best = max(k1, key=lambda which: k1[which])
    gain = {
        choice: np.mean([k1[choice, count] - k1["random", count] for count in counts])
        for choice in CHOICES[1:]
    }
    text = (
        f"USPS digits as above, {BUDGET:,} questions in all (fewer where five landmarks have no more), flips {FLIP:g}, {runs} runs. "
        "Medoids and spread-out landmarks are chosen by the pixels' distances, so they need to know something beforehand; "
        "by class takes as many of every digit, what somebody who knows the objects would do. Mean purity ± one standard "
        "error, by the number of landmarks:\n\n" + table(["landmarks", *counts], lines) + "\n\n"
        f"k1 is best with {best[1]} landmarks of the kind '{best[0]}' ({k1[best]:.2f}). Against random landmarks, averaged over their numbers, "
        + ", ".join(f"{choice} gives {value:+.3f}" for choice, value in gain.items())
        + ". More landmarks spread the same questions over more columns, fewer see less of the space."
    )
    figure = Figure(
        lambda: draw(rows),
        f"Purity against the number of landmarks, mean of {runs} runs, bars one standard error.",
    )
    return Section(text, (), {"landmarks": figure})


def draw(rows: list[Row]) -> Any:
    figure, axes = _plots.panels(1, 2, width=8.0, height=3.2, sharey=True)
    counts = values_of(rows, "count")
    for axis, kernel in zip(axes[0], ("k1", "k2"), strict=True):
        for shift, (choice, colour) in enumerate(zip(CHOICES, _plots.DIGITS, strict=False)):
            y = [average(rows, kernel=kernel, choice=choice, count=count) for count in counts]
            error = [spread(rows, kernel=kernel, choice=choice, count=count) for count in counts]
            x = np.array(counts) * (1 + 0.015 * (shift - 1.5))
            axis.errorbar(x, y, error, color=colour, marker="o", label=choice, capsize=0, elinewidth=1)
        axis.set(xscale="log", xlabel="landmarks", title=kernel)
        axis.set_xticks(counts, [str(count) for count in counts])
        axis.minorticks_off()
    axes[0, 0].set_ylabel("purity")
    axes[0, 0].legend(loc="lower left")
    return figure


EXPERIMENT = Experiment("landmarks", "How many landmarks, and which", cells, compute, ours=section)
