"""Random collections: 1,000 digits, 100,000 random triplets, clean test triplets, mean of 5 seeds.

The score kernel beside k1 and k1+k2, by kernel PCA at 5 and 10 dimensions, without noise and with 20 % flips, and the
time that the score kernel takes from answers to K. scikit-learn's digits, USPS and MNIST (the last two where the data
is at hand). ``python -m benchmarks.accuracy.random_collections``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import nearfar as nf
from benchmarks._measure import SHARED, best_of, save, show, size

N, ANSWERS, TESTS, SEEDS = size((1_000, 100_000, 20_000, 5), (50, 600, 100, 1))
MORE: tuple[str, ...] = size(("usps", "mnist"), ())


def collections() -> Iterator[tuple[str, Callable[[], NDArray[Any]]]]:
    yield "load_digits", lambda: load_digits().data
    for name in MORE:
        if (SHARED / name).exists():
            fetch = getattr(nf.datasets, f"fetch_{name}")
            yield name, lambda fetch=fetch: fetch(SHARED).images.reshape(-1, fetch(SHARED).images[0].size)
        else:
            print(f"{name}: skipped, not at {SHARED}")


def main() -> None:
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for name, load in collections():
        images = load().astype(np.float64)
        for flip in (0.0, 0.2):
            found: dict[str, list[float]] = {}
            for seed in range(SEEDS):
                points = images[np.random.default_rng(seed).permutation(len(images))[:N]]
                asked = nf.design.random_questions(N, ANSWERS + TESTS, seed=seed)
                train = nf.simulate.answers(asked[:ANSWERS], points=points, flip=flip, seed=seed).triplets
                test = nf.simulate.answers(asked[ANSWERS:], points=points, seed=seed).triplets
                for kernel in ("k1", "k1+k2", "score"):
                    phi = nf.FeatureMap(kernel).fit_transform(train)
                    E = nf.KernelPCA(n_components=10).fit_transform(phi)
                    for d in (5, 10):
                        accuracy = float(nf.metrics.triplet_accuracy(test, points=E[:, :d]))
                        found.setdefault(f"{kernel} pca-{d}", []).append(accuracy)
            row: dict[str, Any] = {"set": name, "flip": flip} | {
                k: float(np.mean(v)) for k, v in found.items()
            }
            row["score_kernel_seconds"] = best_of(
                lambda train=train: nf.kernel_matrix(train, "score", diagonal="keep"), 5
            )
            rows.append(row)
            show([row])
            save("random_collections", rows)


if __name__ == "__main__":
    main()
