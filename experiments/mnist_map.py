"""MNIST, n = 20,000: kernel PCA on k1 beside GNMDS in the plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from experiments import _map_page, _methods, mnist
from experiments._data import Data
from experiments._experiment import Cell, Experiment, seed_of
from experiments._machine import timed
from nearfar import FeatureMap, KernelPCA
from nearfar.evaluate.metrics import triplet_accuracy

N, QUICK_N = 20_000, 1_000
SHOWN = 1_200  # points kept for the picture
JUDGED = 100_000  # fresh questions, answered without a flip
NEIGHBOURS = 10
WAYS: tuple[dict[str, Any], ...] = (
    {"method": "k1", "design": "landmark"},
    {"method": "score", "design": "landmark"},
    {"method": "GNMDS", "design": "landmark", "d": 2, "start": "random"},
    {"method": "GNMDS", "design": "rand", "d": 2, "start": "random"},
    {"method": "GNMDS", "design": "rand", "d": 2, "start": "kernel"},
    {"method": "STE", "design": "rand", "d": 2, "start": "kernel"},
)


def cells(quick: bool) -> list[Cell]:
    n = QUICK_N if quick else N
    return [Cell({"n": n} | way, n / 1000 * (2 if "d" in way else 0.3)) for way in WAYS]


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    """A map in the plane, its seconds, and two judges: classes of neighbours, fresh triplets."""
    n = settings["n"]
    _methods.warm_up()
    points, truth, landmarks = mnist.sample(data, n, 0)
    given = mnist.collect(data, n, 0, settings["design"], "k1")
    places, seconds = timed(lambda: _map(settings, given, landmarks))
    fresh = _methods.ask(points, None, "k1", JUDGED, 0.0, seed_of("fresh", n))
    guess = cross_val_predict(KNeighborsClassifier(NEIGHBOURS), places, truth, cv=5)
    return {
        "triplets": len(given),
        "seconds": seconds,
        "neighbours": float(np.mean(guess == truth)),
        "accuracy": float(triplet_accuracy(fresh, points=places)),
        "points": (places[:SHOWN] / np.abs(places).max()).round(3),
        "digits": truth[:SHOWN],
    }


def _map(settings: Mapping[str, Any], given: Any, landmarks: Any) -> Any:
    if not _methods.is_kernel(settings["method"]):
        return _methods.fit(settings, given, None, seed_of("fit", 0))
    phi = FeatureMap(settings["method"], landmarks=landmarks).fit_transform(given)
    return KernelPCA(n_components=2).fit_transform(phi)


EXPERIMENT = Experiment("mnist_map", _map_page.TITLE, cells, compute, _map_page.section)
