"""Triplets -> K against the plain scipy.sparse way, np.sort, BLAS and LAPACK.

Three collections: general (n = 2,000, 4 million random answers with repeats), landmark (n = 20,000, 30 landmarks,
3 million answers, float32), food (250,320 answers by 243 people; skipped where the data is absent).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import blas

from benchmarks._measure import best_of, in_child, peak_of_this_process, save, show, side_by_side, size
from benchmarks._sets import crowds
from nearfar import FeatureMap, kernel_matrix
from nearfar.kernel import smallest_eigenvalue
from nearfar.triplets import Triplets

warnings.simplefilter("ignore")

GENERAL = size((2_000, 4_000_000), (50, 2_000))  # objects, answers
LANDMARK = size((20_000, 30, 3_000_000), (60, 6, 2_000))  # objects, landmarks, answers
WARM = size((2_000, 30, 100_000), (60, 6, 2_000))


def random_answers(n: int, m: int, seed: int = 0) -> Triplets:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n, (m + m // 50 + 1000, 3), dtype=np.int32)
    distinct = (rows[:, 0] != rows[:, 1]) & (rows[:, 1] != rows[:, 2]) & (rows[:, 0] != rows[:, 2])
    rows = rows[distinct][: m - m // 20]
    repeats = rows[rng.integers(0, len(rows), m - len(rows))]
    return Triplets.from_array(np.concatenate([rows, repeats]), n_objects=n)


def landmark_answers(n: int, n_landmarks: int, m: int, seed: int = 0) -> tuple[Triplets, list[int]]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, n, m + m // 8, dtype=np.int32)
    pair = rng.integers(0, n_landmarks, (len(x), 2), dtype=np.int32)
    good = (pair[:, 0] != pair[:, 1]) & (x != pair[:, 0]) & (x != pair[:, 1])
    x, pair = x[good][:m], pair[good][:m]
    return Triplets(x, pair[:, 0], pair[:, 1], [str(i) for i in range(n)]), list(range(n_landmarks))


def plain_sparse_k1(answers: Triplets) -> np.ndarray:
    """k1 as one would write it with np.unique and scipy.sparse."""
    n = answers.n_objects
    low, high = np.minimum(answers.near, answers.far), np.maximum(answers.near, answers.far)
    sign = np.where(answers.near < answers.far, 1.0, -1.0)
    column = low.astype(np.int64) * n + high
    cell, inverse = np.unique(column * n + answers.anchor, return_inverse=True)
    value = np.bincount(inverse, sign) / np.bincount(inverse)
    columns, place = np.unique(cell // n, return_inverse=True)
    phi = sparse.csr_array((value, (cell % n, place)), shape=(n, len(columns)))
    norms = np.sqrt(phi.multiply(phi).sum(axis=1))
    phi = sparse.diags_array(1 / np.maximum(norms, 1e-300)) @ phi
    return (phi @ phi.T).toarray()


def general() -> list[dict[str, Any]]:
    answers = random_answers(*GENERAL)
    keys = np.random.default_rng(1).integers(0, 2**62, len(answers))
    K = kernel_matrix(answers, "k1", diagonal="keep")
    assert np.allclose(K, plain_sparse_k1(answers), atol=1e-10)
    times = side_by_side(
        {
            "nearfar": lambda: kernel_matrix(answers, "k1", diagonal="keep"),
            "np.sort": lambda: np.sort(keys),
        },
        repeat=7,
    )
    plain = best_of(lambda: plain_sparse_k1(answers), repeat=2)
    phi = FeatureMap("k1").fit_transform(answers)
    shift = side_by_side(
        {"shift": lambda: smallest_eigenvalue(phi, K), "eigvalsh": lambda: linalg.eigvalsh(K)}, repeat=2
    )
    return [
        {
            "case": f"general n={GENERAL[0]} m={GENERAL[1] / 1e6:g}e6, k1, keep",
            "seconds": times["nearfar"],
            "times_faster_than_scipy_sparse": plain / times["nearfar"],
            "times_np_sort": times["nearfar"] / times["np.sort"],
        },
        {
            "case": "general, the shift alone",
            "seconds": shift["shift"],
            "eigvalsh_seconds": shift["eigvalsh"],
            "ratio_to_eigvalsh": shift["shift"] / shift["eigvalsh"],
        },
    ]


def landmark() -> list[dict[str, Any]]:
    answers, landmarks = landmark_answers(*LANDMARK)
    phi = FeatureMap("k1", landmarks=landmarks, dtype=np.float32).fit_transform(answers)

    def limit() -> None:
        K = blas.ssyrk(1.0, phi.T, trans=1, lower=0).T
        for start in range(0, len(K), 500):  # mirror one triangle, in strips
            K[:start, start : start + 500] = K[start : start + 500, :start].T

    times = side_by_side(
        {
            "nearfar": lambda: kernel_matrix(
                answers, "k1", landmarks=landmarks, diagonal="keep", dtype=np.float32
            ),
            "ssyrk + mirror": limit,
            "features": lambda: FeatureMap("k1", landmarks=landmarks, dtype=np.float32).fit_transform(
                answers
            ),
        },
        repeat=3,
    )
    memory = in_child("benchmarks.core", "landmark_memory")
    above = memory["peak_bytes"] - memory["base_bytes"]
    return [
        {
            "case": f"landmark n={LANDMARK[0]} L={LANDMARK[1]} m={LANDMARK[2] / 1e6:g}e6, k1, float32",
            "seconds": times["nearfar"],
            "features_seconds": times["features"],
            "times_ssyrk_and_mirror": times["nearfar"] / times["ssyrk + mirror"],
            "peak_above_input_MB": above / 1e6,
            "K_plus_3_phi_MB": (LANDMARK[0] ** 2 * 4 + 3 * phi.nbytes) / 1e6,
        }
    ]


def landmark_memory() -> dict[str, Any]:
    warm, few = landmark_answers(*WARM)  # compiles, and lets BLAS take its buffers
    kernel_matrix(warm, "k1", landmarks=few, diagonal="keep", dtype=np.float32)
    answers, landmarks = landmark_answers(*LANDMARK)
    base = _resident()
    K = kernel_matrix(answers, "k1", landmarks=landmarks, diagonal="keep", dtype=np.float32)
    return {"base_bytes": max(base, 0), "checksum": float(K[0, 1]), "peak_before": peak_of_this_process()}


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def food() -> list[dict[str, Any]]:
    rows = []
    for _, answers in crowds(["food"]):
        keys = np.random.default_rng(1).integers(0, 2**62, len(answers))
        for kernel in ("k1", "k2"):
            times = side_by_side(
                {
                    "nearfar": lambda answers=answers, kernel=kernel: kernel_matrix(
                        answers, kernel, diagonal="keep"
                    ),
                    "np.sort": lambda keys=keys: np.sort(keys),
                },
                repeat=40,
            )
            rows.append(
                {
                    "case": f"food m={len(answers)}, {kernel}, keep",
                    "seconds": times["nearfar"],
                    "times_np_sort": times["nearfar"] / times["np.sort"],
                }
            )
    return rows


def main() -> None:
    rows = []
    for part in (general, landmark, food):
        new = part()
        show(new)
        rows += new
    print("rows kept in", save("core", rows))


if __name__ == "__main__":
    main()
