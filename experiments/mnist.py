"""MNIST, n = 1,000 to 10,000, 30 landmarks, 150 n triplets: purity and time against n."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from experiments import _methods, _mnist_page
from experiments._data import Data
from experiments._experiment import Cell, Experiment, seed_of
from experiments._machine import timed
from nearfar import Triplets
from nearfar.design import random_landmarks
from nearfar.evaluate.metrics import purity

SIZES, QUICK_SIZES = (1_000, 2_000, 5_000, 10_000), (500, 1_000)
RUNS, QUICK_RUNS = 10, 1
N_LANDMARKS, PER_OBJECT, FLIP, D = 30, 150, 0.15, 5


def cells(quick: bool) -> list[Cell]:
    found = []
    for run in range(QUICK_RUNS if quick else RUNS):
        for n in QUICK_SIZES if quick else SIZES:
            cost = n / 1000
            found.append(Cell({"run": run, "n": n, "method": "pixels"}, cost / 3))
            for design in ("landmark", "rand"):
                asked = {"run": run, "n": n, "design": design}
                kernels = _methods.KERNELS if design == "landmark" else ("score",)
                found += [Cell(asked | {"method": method}, cost / 5) for method in kernels]
                mapped = ("k1", "score") if design == "landmark" else ("score",)
                found += [
                    Cell(asked | {"method": method, "d": d}, cost / 5)
                    for method in mapped
                    for d in (D, 2 * D)
                ]
                found += [
                    Cell(asked | {"method": method, "d": D, "start": start}, 2 * cost)
                    for method in _methods.EMBEDDINGS
                    for start in ("random", "kernel")
                ]
    return found


@lru_cache(maxsize=2)
def sample(data: Data, n: int, run: int) -> tuple[Any, Any, Any]:
    """(points, digits, landmarks) of one run."""
    rng = np.random.default_rng(seed_of("mnist", n, run))
    chosen = rng.choice(len(data.mnist.labels), n, replace=False)
    points = data.mnist.points[chosen].astype(np.float32)
    return points, data.mnist.labels[chosen], random_landmarks(n, N_LANDMARKS, seed=rng)


@lru_cache(maxsize=3)
def collect(data: Data, n: int, run: int, design: str, kernel: str) -> Triplets:
    """150 answers per object, 15 % of them flipped."""
    points, _, landmarks = sample(data, n, run)
    seed = seed_of("mnist", n, run, design, kernel)
    return _methods.ask(
        points, landmarks if design == "landmark" else None, kernel, PER_OBJECT * n, FLIP, seed
    )


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    n, run, method = settings["n"], settings["run"], settings["method"]
    points, truth, landmarks = sample(data, n, run)
    seed = seed_of("fit", run)
    if method == "pixels":
        labels, seconds = timed(lambda: _methods.cluster_points(points, 10, seed))
        return {"purity": purity(labels, truth), "cluster_seconds": seconds}
    on_landmarks = settings["design"] == "landmark"
    kernel = "k2" if method == "k2" else "k1"
    given = collect(data, n, run, settings["design"], kernel)
    return _methods.cluster_purity(settings, given, landmarks if on_landmarks else None, truth, seed)


EXPERIMENT = Experiment("mnist", _mnist_page.TITLE, cells, compute, _mnist_page.section)
