"""What is compared: kernels and embeddings, fitted, timed and clustered the same way everywhere.

Times are the paper's: ``seconds`` to compute a kernel matrix or an embedding. What the clusters take is apart, in
``cluster_seconds``; kernel k-means works on Phi, whose making alone takes ``feature_seconds``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from experiments import _descent
from experiments._machine import timed
from nearfar import FeatureMap, KernelKMeans, KernelPCA, Triplets, embedding, kernel_matrix
from nearfar.design import landmark_questions, random_questions
from nearfar.errors import NotConverged
from nearfar.evaluate.metrics import purity
from nearfar.simulate import answers

__all__ = [
    "EMBEDDINGS",
    "KERNELS",
    "PUBLISHED",
    "QUICK_EMBEDDINGS",
    "ask",
    "cluster_points",
    "cluster_purity",
    "fit",
    "is_kernel",
    "matrix_seconds",
    "published",
    "sized",
]

KERNELS = ("k1", "k2", "score")
EMBEDDINGS = ("GNMDS", "CKL", "STE", "TSTE", "SOE")
PUBLISHED = ("GNMDS", "CKL", "TSTE")  # what the paper compared with, in the programs it used
REPLICATES, ITERATIONS = 5, 100  # of (kernel) k-means, as the paper has it
MU = 0.1  # of CKL, as the paper has it
FEW_OBJECTS = 1_000
STEPS, QUICK_STEPS = 1_000, 100  # of the published programs
QUICK_EMBEDDINGS = ("GNMDS", "STE")


def sized(settings: Mapping[str, Any], quick: bool) -> dict[str, Any]:
    """Settings of a cell; in a quick run the published programs take fewer steps, and their rows say so."""
    short = quick and settings.get("start") == "published"
    return dict(settings) | ({"steps": QUICK_STEPS} if short else {})


def is_kernel(method: str) -> bool:
    return method.split("+")[0] in KERNELS


def ask(
    points: NDArray[Any],
    landmarks: NDArray[np.int32] | None,
    kernel: str,
    budget: int,
    flip: float,
    seed: int,
) -> Triplets:
    """Answers by Euclidean distance, some flipped: to landmark questions for a kernel, or to random ones.

    For "k1+k2" half the questions are k1's and half k2's.
    """
    rng = np.random.default_rng(seed)
    if landmarks is None:
        parts = [random_questions(len(points), budget, seed=rng)]
    else:
        kinds: Any = kernel.split("+") if "+" in kernel else ["k2" if kernel == "k2" else "k1"]
        parts = [
            landmark_questions(len(points), landmarks, kind, budget=budget // len(kinds), seed=rng)
            for kind in kinds
        ]
    given = [answers(questions, points=points, flip=flip, seed=rng).triplets for questions in parts]
    return given[0] if len(given) == 1 else Triplets.concatenate(given)


def cluster_purity(
    settings: Mapping[str, Any],
    given: Triplets,
    landmarks: NDArray[np.int32] | None,
    truth: NDArray[Any],
    seed: int,
) -> dict[str, float]:
    """Purity of as many clusters as there are classes, and seconds.

    A kernel is clustered by kernel k-means or, where the settings say ``d``, by k-means on its kernel PCA. Its matrix is
    timed where there are few objects; ``matrix_seconds`` does that for many.
    """
    warm_up()
    k = len(np.unique(truth))
    if not is_kernel(settings["method"]):
        points, seconds = timed(lambda: fit(settings, given, seed))
        labels, more = timed(lambda: cluster_points(points, k, seed))
        return {"purity": purity(labels, truth), "seconds": seconds, "cluster_seconds": more}
    kernel = settings["method"]
    features, seconds = timed(lambda: FeatureMap(kernel, landmarks=landmarks).fit(given))
    result = {"feature_seconds": seconds}
    if "d" in settings:
        places, mapping = timed(lambda: KernelPCA(settings["d"]).fit_transform(features.features_))
        labels, more = timed(lambda: cluster_points(places, k, seed))
        result["feature_seconds"] += mapping
    else:
        model = KernelKMeans(k, n_init=REPLICATES, max_iter=ITERATIONS, random_state=seed % 2**31)
        labels, more = timed(lambda: model.fit_predict(features.features_))
        if given.n_objects <= FEW_OBJECTS:
            result["seconds"] = matrix_seconds(given, kernel, landmarks)
        if kernel in features.coverage_:
            result["coverage"] = features.coverage_[kernel]
    return result | {"purity": purity(labels, truth), "cluster_seconds": more}


def matrix_seconds(given: Triplets, kernel: str, landmarks: NDArray[np.int32] | None) -> float:
    """What the (n, n) kernel matrix takes, from the answers to its shifted diagonal."""
    warm_up()
    _, seconds = timed(lambda: kernel_matrix(given, kernel, landmarks=landmarks))
    return seconds


def fit(settings: Mapping[str, Any], given: Triplets, seed: int) -> NDArray[Any]:
    """Points of an embedding: by the published program, or ours from a kernel start."""
    method, d = settings["method"], settings["d"]
    if settings["start"] == "published":
        program = published(method, d, seed).set_params(max_iter=settings.get("steps", STEPS))
        return np.asarray(program.fit_transform(given))
    return np.asarray(getattr(embedding, method)(n_components=d).fit_transform(given))


def published(method: str, d: int, seed: int) -> Any:
    """GNMDS, CKL or t-STE as in the programs that the paper used: gradient descent from about the origin, no pull."""
    own: dict[str, Any] = {"CKL": {"mu": MU}, "TSTE": {"alpha": d - 1}}.get(method, {})
    program = getattr(_descent, method)
    return program(d, regularization=0.0, max_iter=STEPS, random_state=seed % 2**31, **own)


def cluster_points(points: NDArray[Any], k: int, seed: int) -> NDArray[np.int32]:
    """Ordinary k-means, with the replicates and iterations that the kernels get."""
    model = KMeans(k, n_init=REPLICATES, max_iter=ITERATIONS, random_state=seed % 2**31)
    labels: NDArray[np.int32] = model.fit_predict(np.asarray(points, dtype=np.float64))
    return labels


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Fit everything once on next to nothing, so that no row pays for compiling or loading."""
    points = np.random.default_rng(0).normal(size=(60, 3))
    given = ask(points, None, "k1", 20_000, 0.1, 0)
    marks = np.arange(6, dtype=np.int32)
    for method in (*KERNELS, "k1+k2"):
        KernelKMeans(2, n_init=1, random_state=0).fit(FeatureMap(method).fit_transform(given))
        thin = ask(points, marks, method, 500, 0.1, 0)
        phi = FeatureMap(method, landmarks=marks).fit_transform(thin)
        KernelKMeans(2, n_init=1, random_state=0).fit(phi)
        KernelPCA(n_components=2).fit(phi)
        kernel_matrix(thin, method, landmarks=marks)
        kernel_matrix(given, method)
    for method in EMBEDDINGS:
        cluster_points(fit({"method": method, "d": 2, "start": "kernel"}, given, 0), 2, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # two steps are meant to be too few
        for method in PUBLISHED:
            published(method, 2, 0).set_params(max_iter=2).fit(given)
