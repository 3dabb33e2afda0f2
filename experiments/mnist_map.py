"""MNIST, n = 20,000: kernel PCA on k1 beside GNMDS in the plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from experiments import _map_page, _methods, mnist
from experiments._data import Data
from experiments._experiment import Cell, Experiment, seed_of
from experiments._machine import timed
from nearfar import FeatureMap, KernelPCA, kernel_matrix
from nearfar.evaluate.metrics import triplet_accuracy

N, QUICK_N = 20_000, 250
SHOWN = 1_200  # points kept for the picture
JUDGED = 100_000  # fresh questions, answered without a flip
NEIGHBOURS = 10
WAYS: tuple[dict[str, Any], ...] = (
    {"method": "k1", "design": "landmark"},
    {"method": "score", "design": "landmark"},
    {"method": "GNMDS", "design": "landmark", "d": 2, "start": "published"},
    {"method": "GNMDS", "design": "rand", "d": 2, "start": "published"},
    {"method": "GNMDS", "design": "rand", "d": 2, "start": "kernel"},
    {"method": "STE", "design": "rand", "d": 2, "start": "kernel"},
)


def cells(quick: bool) -> list[Cell]:
    n = QUICK_N if quick else N
    return [
        Cell({"n": n} | _methods.sized(way, quick), n / 1000 * (2 if "d" in way else 0.3)) for way in WAYS
    ]


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    """A map in the plane, its seconds, and two judges: classes of neighbours, fresh triplets."""
    n = settings["n"]
    _methods.warm_up()
    points, truth, landmarks = mnist.sample(data, n, 0)
    given = mnist.collect(data, n, 0, settings["design"], "k1")
    places, times = _map(settings, given, landmarks)
    fresh = _methods.ask(points, None, "k1", JUDGED, 0.0, seed_of("fresh", n))
    guess = cross_val_predict(KNeighborsClassifier(NEIGHBOURS), places, truth, cv=5)
    return {
        "triplets": len(given),
        **times,
        "neighbours": float(np.mean(guess == truth)),
        "accuracy": float(triplet_accuracy(fresh, points=places)),
        "points": (places[:SHOWN] / np.abs(places).max()).round(3),
        "digits": truth[:SHOWN],
    }


def _map(settings: Mapping[str, Any], given: Any, landmarks: Any) -> tuple[Any, dict[str, float]]:
    """Points, and seconds: the paper's way, K first, and ours, from Phi."""
    if not _methods.is_kernel(settings["method"]):
        places, seconds = timed(lambda: _methods.fit(settings, given, seed_of("fit", 0)))
        return places, {"seconds": seconds}
    kernel = settings["method"]

    def from_phi() -> Any:
        return KernelPCA(n_components=2).fit_transform(
            FeatureMap(kernel, landmarks=landmarks).fit_transform(given)
        )

    places, ours = timed(from_phi)
    _, seconds = timed(lambda: top_two(kernel_matrix(given, kernel, landmarks=landmarks, dtype=np.float32)))
    return places, {"seconds": seconds, "feature_seconds": ours}


def top_two(K: NDArray[np.float32]) -> NDArray[Any]:
    """(n, 2) kernel PCA of a kernel matrix that is written out, by Lanczos' method."""
    n = len(K)

    def centred(x: NDArray[Any]) -> NDArray[Any]:
        x = x.ravel() - x.mean()
        y = K @ x.astype(np.float32)
        return np.asarray(y - y.mean(), dtype=np.float64)

    first = np.random.default_rng(0).normal(size=n)
    values, vectors = eigsh(LinearOperator((n, n), centred, dtype=np.float64), k=2, which="LA", v0=first)
    return np.asarray(vectors[:, ::-1] * np.sqrt(values[::-1]))


EXPERIMENT = Experiment("mnist_map", _map_page.TITLE, cells, compute, _map_page.section, _map_page.ours)
