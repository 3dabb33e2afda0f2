"""What is compared: kernels and embeddings, fitted, timed and clustered the same way everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from experiments._machine import timed
from nearfar import FeatureMap, KernelKMeans, KernelPCA, Triplets, embedding
from nearfar.design import landmark_questions, random_questions
from nearfar.evaluate.metrics import purity
from nearfar.simulate import answers

__all__ = ["EMBEDDINGS", "KERNELS", "ask", "cluster_points", "cluster_purity", "fit", "is_kernel"]

KERNELS = ("k1", "k2", "score")
EMBEDDINGS = ("GNMDS", "CKL", "STE", "TSTE", "SOE")
REPLICATES, ITERATIONS = 5, 100  # of (kernel) k-means, as the paper has it


def is_kernel(method: str) -> bool:
    return method in KERNELS


def ask(
    points: NDArray[Any],
    landmarks: NDArray[np.int32] | None,
    kernel: str,
    budget: int,
    flip: float,
    seed: int,
) -> Triplets:
    """Answers by Euclidean distance, some flipped: to landmark questions for a kernel, or to random ones."""
    rng = np.random.default_rng(seed)
    if landmarks is None:
        questions = random_questions(len(points), budget, seed=rng)
    else:
        questions = landmark_questions(
            len(points), landmarks, "k2" if kernel == "k2" else "k1", budget=budget, seed=rng
        )
    return answers(questions, points=points, flip=flip, seed=rng).triplets


def cluster_purity(
    settings: Mapping[str, Any],
    given: Triplets,
    landmarks: NDArray[np.int32] | None,
    truth: NDArray[Any],
    seed: int,
) -> dict[str, float]:
    """Purity of as many clusters as there are classes; seconds for Phi or points, and for the clusters.

    A kernel is clustered by kernel k-means or, where the settings say ``d``, by k-means on its kernel PCA.
    """
    warm_up()
    k = len(np.unique(truth))
    if not is_kernel(settings["method"]):
        points, seconds = timed(lambda: fit(settings, given, landmarks, seed))
        labels, more = timed(lambda: cluster_points(points, k, seed))
        return {"purity": purity(labels, truth), "seconds": seconds, "cluster_seconds": more}
    features, seconds = timed(lambda: FeatureMap(settings["method"], landmarks=landmarks).fit(given))
    if "d" in settings:
        places, mapping = timed(
            lambda: KernelPCA(n_components=settings["d"]).fit_transform(features.features_)
        )
        labels, more = timed(lambda: cluster_points(places, k, seed))
        return {"purity": purity(labels, truth), "seconds": seconds + mapping, "cluster_seconds": more}
    model = KernelKMeans(k, n_init=REPLICATES, max_iter=ITERATIONS, random_state=seed % 2**31)
    labels, more = timed(lambda: model.fit_predict(features.features_))
    result = {"purity": purity(labels, truth), "seconds": seconds, "cluster_seconds": more}
    return result | {"coverage": features.coverage_[settings["method"]]}


def fit(settings: Mapping[str, Any], given: Triplets, landmarks: NDArray[np.int32] | None, seed: int) -> Any:
    """Phi of a kernel, or points of an embedding."""
    method = settings["method"]
    if is_kernel(method):
        return FeatureMap(method, landmarks=landmarks).fit_transform(given)
    kind, d = getattr(embedding, method), settings["d"]
    if settings["start"] == "plain":  # as in cblearn: unit-normal points, no penalty on their lengths
        wide = np.random.default_rng(seed).normal(size=(given.n_objects, d))
        return kind(n_components=d, init=wide, regularization=0.0).fit_transform(given)
    return kind(n_components=d, init=settings["start"], random_state=seed % 2**31).fit_transform(given)


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
    for method in KERNELS:
        KernelKMeans(2, n_init=1, random_state=0).fit(fit({"method": method}, given, None, 0))
        marks = np.arange(6, dtype=np.int32)
        thin = ask(points, marks, method, 500, 0.1, 0)
        phi = fit({"method": method}, thin, marks, 0)
        KernelKMeans(2, n_init=1, random_state=0).fit(phi)
        KernelPCA(n_components=2).fit(phi)
    for method in EMBEDDINGS:
        for start in ("random", "kernel"):
            cluster_points(fit({"method": method, "d": 2, "start": start}, given, None, 0), 2, 0)
