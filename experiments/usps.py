"""USPS digits 1, 2, 3: purity and time against the number of triplets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from experiments import _methods, _usps_page
from experiments._data import Data
from experiments._experiment import Cell, Experiment, seed_of
from experiments._machine import timed
from nearfar import FeatureMap, KernelKMeans, KernelPCA, Triplets
from nearfar.design import landmark_questions, random_landmarks
from nearfar.evaluate.metrics import purity
from nearfar.simulate import answers

N, N_LANDMARKS, CLASSES = 1_000, 15, (1, 2, 3)
RUNS, PUBLISHED_RUNS, QUICK_RUNS = 10, 2, 1
BUDGETS, QUICK_BUDGETS = (5_000, 20_000, 50_000, 100_000), (2_000, 5_000)
FLIPS = (0.0, 0.3)
DIMENSIONS = (2, 10)
DESIGNS = ("landmark", "landmark-k2", "rand")  # k1's questions, k2's, and random ones


def cells(quick: bool) -> list[Cell]:
    """Run by run, so that a run cut short has averages of fewer runs rather than holes."""
    listed = []
    for run in range(QUICK_RUNS if quick else RUNS):
        listed += [Cell({"run": run, "method": method}, 0.2) for method in ("pixels", "chance")]
        listed += [Cell({"run": run, "method": method, "asked": "all"}, 0.3) for method in ("k1", "k2")]
        for budget in QUICK_BUDGETS if quick else BUDGETS:
            for flip in FLIPS:
                for design in DESIGNS:
                    asked = {"run": run, "budget": budget, "flip": flip, "design": design}
                    fits = _fits(design, quick)
                    listed += [
                        Cell(asked | _methods.sized(fit, quick), _cost(fit, budget))
                        for fit in fits
                        if run < PUBLISHED_RUNS or fit.get("start") != "published"
                    ]
    return listed


def _cost(fit: dict[str, Any], budget: int) -> float:
    work = (0.1 + budget / 1e5) * fit.get("d", 2) / 5
    return 4 * work if fit.get("start") == "published" else work


def _fits(design: str, quick: bool) -> list[dict[str, Any]]:
    """What is tried on these triplets; k2 and k1+k2 have landmark questions of their own, asked for where they are."""
    dimensions = DIMENSIONS[:1] if quick else DIMENSIONS
    published = [
        {"method": method, "d": d, "start": "published"} for method in _methods.PUBLISHED for d in dimensions
    ]
    if design == "landmark-k2":
        return published
    kernels = ("k1", "k2", "k1+k2", "score") if design == "landmark" else _methods.KERNELS
    if quick and design == "rand":
        kernels = ("score",)  # what the pages show of kernels on random triplets
    mapped = ("k1", "score") if design == "landmark" else ("score",)
    fits: list[dict[str, Any]] = [{"method": method} for method in kernels]
    fits += [{"method": method, "d": d} for method in mapped for d in dimensions]
    for d in dimensions:
        fits += [
            {"method": method, "d": d, "start": "kernel"}
            for method in (_methods.QUICK_EMBEDDINGS if quick else _methods.EMBEDDINGS)
        ]
    return fits + published


@lru_cache(maxsize=2)
def sample(data: Data, run: int) -> tuple[Any, Any, Any]:
    """(points, digits, landmarks) of one run."""
    rng = np.random.default_rng(seed_of("usps", run))
    chosen = rng.choice(np.flatnonzero(np.isin(data.usps.labels, CLASSES)), N, replace=False)
    return data.usps.points[chosen], data.usps.labels[chosen], random_landmarks(N, N_LANDMARKS, seed=rng)


@lru_cache(maxsize=8)
def collect(data: Data, run: int, budget: int, flip: float, design: str, kernel: str) -> Triplets:
    """The answers of one run to the questions of a kernel's landmark design, or to random ones."""
    points, _, landmarks = sample(data, run)
    seed = seed_of("usps", run, budget, flip, design, kernel)
    return _methods.ask(points, landmarks if design == "landmark" else None, kernel, budget, flip, seed)


def questions_of(settings: Mapping[str, Any]) -> tuple[str, str]:
    """(design, kernel whose questions are asked): k2 and k1+k2 get their own, all others k1's unless said."""
    if settings["design"] == "landmark-k2":
        return "landmark", "k2"
    own = settings["design"] == "landmark" and settings["method"] in ("k2", "k1+k2")
    return settings["design"], settings["method"] if own else "k1"


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    run, method = settings["run"], settings["method"]
    points, truth, landmarks = sample(data, run)
    seed = seed_of("fit", run)
    if method == "pixels":
        labels, seconds = timed(lambda: _methods.cluster_points(points, len(CLASSES), seed))
        return {"purity": purity(labels, truth), "cluster_seconds": seconds}
    if method == "chance":
        return {"purity": purity(np.random.default_rng(seed).integers(0, len(CLASSES), N), truth)}
    if settings.get("asked") == "all":
        return _everything(method, points, truth, landmarks, seed)
    design, kernel = questions_of(settings)
    given = collect(data, run, settings["budget"], settings["flip"], design, kernel)
    return _methods.cluster_purity(settings, given, landmarks if design == "landmark" else None, truth, seed)


def _everything(kernel: str, points: Any, truth: Any, landmarks: Any, seed: int) -> dict[str, Any]:
    """All landmark questions, no flips: what is left is the kernel itself. What does its first axis show?"""
    given = answers(landmark_questions(N, landmarks, kernel), points=points).triplets
    phi = FeatureMap(kernel, landmarks=landmarks).fit_transform(given)
    model = KernelKMeans(
        len(CLASSES), n_init=_methods.REPLICATES, max_iter=_methods.ITERATIONS, random_state=seed % 2**31
    )
    axis = KernelPCA(n_components=1).fit_transform(phi)[:, 0]
    far = np.linalg.norm(points[:, None].astype(np.float64) - points[landmarks], axis=2).mean(axis=1)
    return {
        "triplets": len(given),
        "purity": purity(model.fit_predict(phi), truth),
        "axis_is_distance": abs(float(np.corrcoef(axis, far)[0, 1])),
    }


EXPERIMENT = Experiment("usps", _usps_page.TITLE, cells, compute, _usps_page.section, _usps_page.ours)
