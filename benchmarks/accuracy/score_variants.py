"""Which score kernel? Held-out accuracy of its variants and cousins on all sets, on honest splits.

Every variant is written here in plain numpy from N and C, where N[a, i] is how often i was preferred minus how
often it was rejected as seen from a, and C[a, i] how often it was an option. ``python -m
benchmarks.accuracy.score_variants`` keeps raw rows in benchmarks/results/score_variants.json; cells that are there
already are not computed again.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from sklearn.datasets import load_digits

import nearfar as nf
from benchmarks._measure import RESULTS, save, size
from benchmarks._sets import crowds
from nearfar.evaluate.splits import kfold
from nearfar.triplets import Triplets

Matrix = NDArray[np.float64]
DIMENSIONS = (2, 5, 10)
FOLDS = size(5, 2)
OBJECTS, ANSWERS, TESTS = size((1_000, 100_000, 20_000), (60, 2_000, 200))  # of the simulated sets


def tallies(answers: Triplets) -> tuple[Matrix, Matrix]:
    n = answers.n_objects
    N, C = np.zeros((n, n)), np.zeros((n, n))
    for role, sign in ((answers.near, 1), (answers.far, -1)):
        np.add.at(N, (answers.anchor, role), sign)
        np.add.at(C, (answers.anchor, role), 1)
    return N, C


def unit(phi: Matrix) -> Matrix:
    length = np.linalg.norm(phi, axis=1, keepdims=True)
    return phi / np.where(length > 0, length, 1)


def with_self(phi: Matrix) -> Matrix:
    return phi + np.diag(np.linalg.norm(phi, axis=1))


def often_near(N: Matrix, C: Matrix) -> Matrix:
    """How often an object was the near one, -1 to 1, smoothed."""
    return N.sum(0) / (C.sum(0) + 2)


def least_squares(answers: Triplets, penalty: float = 10.0, steps: int = 10) -> Matrix:
    """min over K of sum_t (1 + K_nn - 2 K_an - K_ff + 2 K_af)^2 + penalty |K|^2 by conjugate gradients."""
    n, a, x, y = answers.n_objects, answers.anchor, answers.near, answers.far

    def forward(K: Matrix) -> Matrix:
        return K[x, x] - 2 * K[a, x] - K[y, y] + 2 * K[a, y]

    def backward(r: Matrix) -> Matrix:
        G = np.zeros((n, n))
        for i, j, sign in ((x, x, 1), (y, y, -1), (a, x, -1), (x, a, -1), (a, y, 1), (y, a, 1)):
            np.add.at(G, (i, j), sign * r)
        return G

    K, R = np.zeros((n, n)), -backward(np.ones(len(a)))
    P, size = R.copy(), (R * R).sum()
    for _ in range(steps):
        Q = backward(forward(P)) + penalty * P
        step = size / (P * Q).sum()
        K, R = K + step * P, R - step * Q
        new = (R * R).sum()
        P, size = R + new / size * P, new
    return K


def scaled(N: Matrix, C: Matrix) -> Matrix:
    """Doubly centred, smoothed net scores: what classical scaling takes for inner products."""
    S = (N + N.T) / (C + C.T + 3)
    return S - S.mean(0) - S.mean(1)[:, None] + S.mean()


# name -> Phi from (N, C): K = Phi Phi'
FEATURES: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    "anchor": lambda N, C: unit(N),
    "symmetric": lambda N, C: unit(N + N.T),
    "symmetric, ratio": lambda N, C: unit((N + N.T) / np.maximum(C + C.T, 1)),
    "symmetric, centred": lambda N, C: unit((N + N.T) - (N + N.T).mean(0)),
    "symmetric, row length kept": lambda N, C: (N + N.T) / max(1.0, np.abs(N + N.T).max()),
    "anchor + self": lambda N, C: unit(with_self(N)),
    "symmetric + self (the default)": lambda N, C: unit(with_self(N + N.T)),
    "symmetric + self, ratio": lambda N, C: unit(with_self((N + N.T) / (C + C.T + 2))),
    "symmetric + self, central objects short": lambda N, C: (
        unit(with_self(N + N.T)) * np.sqrt(np.maximum(1 - often_near(N, C) / 2, 0.05))[:, None]
    ),
}
# name -> K itself, not positive semi-definite until its negative part is taken off
KERNELS: dict[str, Callable[[Triplets], Matrix]] = {
    "classical scaling of net scores": lambda answers: scaled(*tallies(answers)),
    "least-squares kernel": least_squares,
}


def accuracy(K: Matrix, held_out: Triplets) -> float:
    a, x, y = held_out.anchor, held_out.near, held_out.far
    margin = (K[y, y] - 2 * K[a, y]) - (K[x, x] - 2 * K[a, x])
    return float(np.mean((margin > 1e-12) + 0.5 * (np.abs(margin) <= 1e-12)))


def points(K: Matrix, d: int) -> Matrix:
    centred = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    values, vectors = eigsh(centred, k=d, which="LA", v0=np.ones(len(K)))
    order = np.argsort(-values)
    return vectors[:, order] * np.sqrt(np.maximum(values[order], 0))


def judge(K: Matrix, held_out: Triplets) -> dict[str, float]:
    E = points(K, max(DIMENSIONS))
    return {"as it is": accuracy(K, held_out)} | {
        f"pca-{d}": accuracy(E[:, :d] @ E[:, :d].T, held_out) for d in DIMENSIONS
    }


def sets() -> Iterator[tuple[str, int, Triplets, Triplets]]:
    """(name, number, training answers, held-out answers)."""
    for name, answers in crowds():
        for fold, split in enumerate(kfold(answers, FOLDS, seed=0)):
            yield name, fold, answers[split.train], answers[split.test]
    for flip in (0.0, 0.2):
        for seed in range(FOLDS):
            pixels = load_digits().data[np.random.default_rng(seed).permutation(1797)[:OBJECTS]]
            asked = nf.design.random_questions(OBJECTS, ANSWERS + TESTS, seed=seed)
            train = nf.simulate.answers(asked[:ANSWERS], points=pixels, flip=flip, seed=seed).triplets
            test = nf.simulate.answers(asked[ANSWERS:], points=pixels, seed=seed).triplets
            yield f"digits, {flip:.0%} flips", seed, train, test


def kernel(variant: str, train: Triplets, tally: tuple[Matrix, Matrix]) -> Matrix:
    if variant in KERNELS:
        return KERNELS[variant](train)
    phi = FEATURES[variant](*tally)
    return phi @ phi.T


def main() -> None:
    warnings.simplefilter("ignore")
    path = RESULTS / "score_variants.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text())["rows"] if path.exists() else []
    done = {(row["set"], row["fold"], row["variant"]) for row in rows}
    quick = "--quick" in sys.argv
    for name, fold, train, test in sets():
        if quick and fold:
            continue
        tally = tallies(train)
        for variant in (*FEATURES, *KERNELS):
            if (name, fold, variant) not in done:
                start = time.perf_counter()
                K = kernel(variant, train, tally)
                seconds = time.perf_counter() - start
                rows.append(
                    {"set": name, "fold": fold, "variant": variant, "seconds": seconds} | judge(K, test)
                )
        save("score_variants", rows)
        print(name, fold, flush=True)


if __name__ == "__main__":
    main()
