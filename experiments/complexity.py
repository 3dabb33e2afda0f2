"""Section 2.4: what a kernel matrix costs, by objects, landmarks and triplets, measured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from experiments import _methods, _plots
from experiments._data import Data
from experiments._experiment import Cell, Claim, Experiment, Figure, Row, Section, Verdict, seed_of
from experiments._machine import timed
from experiments._rows import on_one_machine
from nearfar import FeatureMap, Triplets, kernel_matrix

OBJECTS, QUICK_OBJECTS = (1_000, 2_000, 4_000, 8_000), (500, 1_000)
LANDMARKS, QUICK_LANDMARKS = (15, 30, 60, 120), (15, 30)
ANSWERS, QUICK_ANSWERS = (50_000, 100_000, 200_000, 400_000), (50_000, 100_000)
AT = {"n": 2_000, "landmarks": 30, "answers": 200_000}
REPEATS = 3
SLACK = 0.3  # an exponent may be larger by this: caches, and the parts of lower order


def cells(quick: bool) -> list[Cell]:
    """One of the three numbers grows, the others stay."""
    grown = {
        "n": QUICK_OBJECTS if quick else OBJECTS,
        "landmarks": QUICK_LANDMARKS if quick else LANDMARKS,
        "answers": QUICK_ANSWERS if quick else ANSWERS,
    }
    return [
        Cell({"grows": name} | AT | {name: value}, 2.0) for name, values in grown.items() for value in values
    ]


@lru_cache(maxsize=1)
def _collect(n: int, landmarks: int, answers: int) -> Triplets:
    points = np.random.default_rng(seed_of("complexity")).normal(size=(n, 5))
    return _methods.ask(
        points, np.arange(landmarks, dtype=np.int32), "k1", answers, 0.1, seed_of("complexity", n)
    )


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    _methods.warm_up()
    marks = np.arange(settings["landmarks"], dtype=np.int32)
    given = _collect(settings["n"], settings["landmarks"], settings["answers"])
    whole = min(timed(lambda: kernel_matrix(given, "k1", landmarks=marks))[1] for _ in range(REPEATS))
    features = min(timed(lambda: FeatureMap("k1", landmarks=marks).fit(given))[1] for _ in range(REPEATS))
    return {"seconds": whole, "feature_seconds": features}


def exponent(rows: list[Row], name: str, what: str = "seconds") -> float:
    """Slope of log seconds against the log of what grows, by its last two values, where lower orders matter least."""
    last = sorted((row for row in rows if row["grows"] == name), key=lambda row: row[name])[-2:]
    (x, y), (u, v) = ((row[name], row[what]) for row in last)
    return float(np.log(v / y) / np.log(u / x))


def section(rows: list[Row], data: Data) -> Section:
    rows = on_one_machine(rows, {"grows": "n"}, {"grows": "landmarks"}, {"grows": "answers"})
    n, marks, answers = (
        exponent(rows, "n"),
        exponent(rows, "landmarks"),
        exponent(rows, "answers", "feature_seconds"),
    )
    fine = n <= 2 + SLACK and marks <= 2 + SLACK and answers <= 1 + SLACK
    verdict: Verdict = "holds" if fine else "does not hold"
    claim = Claim(
        "Section 2.4: features take one pass over the triplets, the kernel matrix on |L| landmarks a product of n rows with "
        "O(|L|²) columns: O(|T| + n² |L|²).",
        f"Measured exponents of k1's time at the largest sizes: {n:.2f} in n, {marks:.2f} in |L| (matrix), {answers:.2f} in |T| (features).",
        verdict,
        f"Rule: exponents at most 2, 2 and 1, plus {SLACK}. Embeddings take O(|T| d) for every step of their search.",
        short="cost of a kernel matrix",
    )
    figure = Figure(
        lambda: draw(rows),
        "CPU seconds of k1 on landmark triplets; one number grows, the others stay (n = 2,000, 30 landmarks, 200,000 answers). Dotted: slopes 2, 2 and 1.",
    )
    return Section("", [claim], {"complexity": figure})


def draw(rows: list[Row]) -> Any:
    figure, axes = _plots.panels(1, 3, width=9.0, height=2.9, sharey=True)
    labels = {"n": "objects n", "landmarks": "landmarks |L|", "answers": "triplets |T|"}
    for axis, (name, label) in zip(axes[0], labels.items(), strict=True):
        grown = sorted((row for row in rows if row["grows"] == name), key=lambda row: row[name])
        x = np.array([row[name] for row in grown])
        for what, text, colour in (
            ("seconds", "kernel matrix", "k1"),
            ("feature_seconds", "features alone", "score"),
        ):
            axis.plot(x, [row[what] for row in grown], marker="o", color=_plots.COLOURS[colour], label=text)
        what, slope = ("feature_seconds", 1) if name == "answers" else ("seconds", 2)
        axis.plot(x, grown[-1][what] * (x / x[-1]) ** slope, ":", color="#7d838d", linewidth=1)
        axis.set(xscale="log", yscale="log", xlabel=label)
        axis.set_xticks(x, [f"{value:,}" if value < 10_000 else f"{value // 1000}k" for value in x])
        axis.minorticks_off()
    axes[0, 0].set_ylabel("CPU seconds")
    axes[0, 2].legend(loc="upper left")
    return figure


EXPERIMENT = Experiment("complexity", "Section 2.4: what a kernel matrix costs", cells, compute, section)
