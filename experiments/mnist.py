"""MNIST, n = 1,000 to 10,000, 30 landmarks, 150 n triplets: purity and time against n."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from experiments import _methods, _mnist_page, usps
from experiments._data import Data
from experiments._experiment import Cell, Experiment, seed_of
from experiments._machine import timed
from nearfar import Triplets
from nearfar.design import random_landmarks
from nearfar.evaluate.metrics import purity

SIZES, QUICK_SIZES = tuple(range(1_000, 10_001, 1_000)), (80, 120)
OUR_SIZES = (1_000, 2_000, 5_000, 10_000)
RUNS, TIMED_RUNS, QUICK_RUNS = 10, 3, 1
PUBLISHED_RUNS = 2  # one takes 40 minutes
N_LANDMARKS, PER_OBJECT, FLIP, D = 30, 150, 0.15, 5


def cells(quick: bool) -> list[Cell]:
    """Kernels first; the published programs last, which take most of the time, run by run."""
    runs, timed_runs, published_runs = (
        range(QUICK_RUNS if quick else count) for count in (RUNS, TIMED_RUNS, PUBLISHED_RUNS)
    )
    sizes, our_sizes = (QUICK_SIZES, QUICK_SIZES) if quick else (SIZES, OUR_SIZES)
    listed: list[dict[str, Any]] = []
    for run, n in product(runs, sizes):
        listed += [{"run": run, "n": n, "design": "landmark", "method": kernel} for kernel in ("k1", "k2")]
    for run, n in product(runs, our_sizes):
        listed += [{"run": run, "n": n} | ours for ours in _ours(quick)]
    for run, n in product(timed_runs, sizes):
        listed += [{"run": run, "n": n, "time": kernel} for kernel in _methods.KERNELS]
    for run, n in product(published_runs, sorted(sizes, key=_first_of_all)):
        listed += [
            {"run": run, "n": n, "design": design, "method": method, "d": D, "start": "published"}
            for design in usps.DESIGNS
            for method in _methods.PUBLISHED
        ]
    return [
        Cell(_methods.sized(settings, quick), settings["n"] / 1000 * _cost(settings)) for settings in listed
    ]


def _first_of_all(n: int) -> tuple[bool, int]:
    """Sizes that we have more of first."""
    return n not in OUR_SIZES, n


def _cost(settings: dict[str, Any]) -> float:
    return {"published": 5.0, "kernel": 0.4}.get(settings.get("start", ""), 0.2)


def _ours(quick: bool) -> list[dict[str, Any]]:
    """What the paper does not have: the score kernel, kernel PCA before k-means, embeddings started from the kernel."""
    fits: list[dict[str, Any]] = [{"method": "pixels"}]
    for design, mapped in (("landmark", ("k1", "score")), ("rand", ("score",))):
        fits += [{"design": design, "method": "score"}]
        fits += [{"design": design, "method": method, "d": d} for method in mapped for d in (D, 2 * D)]
        fits += [
            {"design": design, "method": method, "d": D, "start": "kernel"}
            for method in (_methods.QUICK_EMBEDDINGS if quick else _methods.EMBEDDINGS)
        ]
    return fits


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
    n, run = settings["n"], settings["run"]
    points, truth, landmarks = sample(data, n, run)
    if "time" in settings:
        kernel = settings["time"]
        given = collect(data, n, run, "landmark", "k2" if kernel == "k2" else "k1")
        return {"seconds": _methods.matrix_seconds(given, kernel, landmarks)}
    method, seed = settings["method"], seed_of("fit", run)
    if method == "pixels":
        labels, seconds = timed(lambda: _methods.cluster_points(points, 10, seed))
        return {"purity": purity(labels, truth), "cluster_seconds": seconds}
    design, kernel = usps.questions_of(settings)
    given = collect(data, n, run, design, kernel)
    return _methods.cluster_purity(settings, given, landmarks if design == "landmark" else None, truth, seed)


EXPERIMENT = Experiment("mnist", _mnist_page.TITLE, cells, compute, _mnist_page.section, _mnist_page.ours)
