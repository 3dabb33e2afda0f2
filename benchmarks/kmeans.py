"""Our k-means on the rows of a thin Phi beside scikit-learn's KMeans, from the same starts to the same end.

``python -m benchmarks.kmeans`` takes a few minutes. Starts are those of ``KernelKMeans``: centres that k-means on a
sample settles on. From there both run until no label changes, so they do the same steps and must end with the same
labels; what differs is the time and the memory. Every case runs in a process of its own, all of them in turn, twice;
the faster run counts, and the seconds of processors stand beside those of the clock, since others may use the machine.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from typing import Any

import numpy as np

from benchmarks._measure import in_child, save, show
from benchmarks.methods import resident

WAYS = ("nearfar", "elkan", "lloyd")
SIZES = [  # objects, landmarks, clusters: the rows have L(L - 1)/2 columns
    (100_000, 30, 10),
    (20_000, 30, 10),
    (100_000, 10, 10),
    (100_000, 30, 50),
]
ROUNDS = 2


def rows_of(n: int, n_landmarks: int) -> np.ndarray:
    """Rows as those of k1, float32: points in ten clusters compare landmarks, a third of the pairs, a tenth errs."""
    rng = np.random.default_rng(0)
    centres = 2 * rng.standard_normal((10, 10))
    points = centres[rng.integers(10, size=n)] + rng.standard_normal((n, 10))
    one, other = np.triu_indices(n_landmarks, 1)
    rows = np.empty((n, len(one)), dtype=np.float32)
    for start in range(0, n, 10_000):
        part = slice(start, min(start + 10_000, n))
        squares = ((points[part, None] - points[None, :n_landmarks]) ** 2).sum(axis=2)
        signs = np.sign(squares[:, other] - squares[:, one])
        signs[rng.random(signs.shape, dtype=np.float32) < 0.1] *= -1
        signs[rng.random(signs.shape, dtype=np.float32) < 2 / 3] = 0
        rows[part] = signs / np.maximum(np.linalg.norm(signs, axis=1, keepdims=True), 1)
    return rows


def case(which: str, n: int, n_landmarks: int, k: int) -> dict[str, Any]:
    """One way from a start to the end."""
    from sklearn.cluster import KMeans

    import nearfar as nf

    warnings.simplefilter("ignore")
    for dtype in (np.float32, np.float64):  # compiles, imports, and lets BLAS take its buffers
        few = np.random.default_rng(0).standard_normal((300, 20)).astype(dtype)
        nf.KernelKMeans(3, random_state=0).fit(few)
        KMeans(3, n_init=1, random_state=0).fit(few)
    phi = rows_of(n, n_landmarks)
    start = nf.KernelKMeans(k, n_init=1, random_state=0, max_iter=1, tol=1.0).fit(phi).labels_
    base = resident()
    clock, busy = time.perf_counter(), time.process_time()
    if which == "nearfar":
        model: Any = nf.KernelKMeans(k, init=start, max_iter=1000, tol=0).fit(phi)
    else:
        centres = np.stack([phi[start == c].mean(axis=0) for c in range(k)])
        model = KMeans(k, init=centres, n_init=1, max_iter=1000, tol=0, algorithm=which).fit(phi)
    return {
        "clock": time.perf_counter() - clock,
        "busy": time.process_time() - busy,
        "base_bytes": base,
        "phi_bytes": phi.nbytes,
        "n_iter": int(model.n_iter_),
        "inertia": float(model.inertia_),
        "labels": hashlib.sha256(model.labels_.astype(np.int32).tobytes()).hexdigest()[:12],
    }


def main() -> None:
    rows: list[dict[str, Any]] = []
    for n, n_landmarks, k in SIZES:
        found: dict[str, dict[str, Any]] = {}
        for _ in range(ROUNDS):
            for which in WAYS:
                run = in_child("benchmarks.kmeans", "case", which, n, n_landmarks, k)
                best = found.setdefault(which, run)
                found[which] = {
                    **run,
                    **{key: min(best[key], run[key]) for key in ("clock", "busy", "peak_bytes")},
                }
        ours = found["nearfar"]
        theirs = min((found["elkan"], found["lloyd"]), key=lambda run: run["busy"])
        row = {"case": f"n={n:,} p={n_landmarks * (n_landmarks - 1) // 2} k={k} float32"}
        for which in WAYS:
            run = found[which]
            row |= {
                f"{which}_seconds": run["clock"],
                f"{which}_cpu_seconds": run["busy"],
                f"{which}_MB_above": (run["peak_bytes"] - run["base_bytes"]) / 1e6,
                f"{which}_steps": run["n_iter"],
            }
        row |= {
            "times_faster_cpu": theirs["busy"] / ours["busy"],
            "times_faster_clock": min(found[w]["clock"] for w in WAYS[1:]) / ours["clock"],
            "inertia_ratio": ours["inertia"] / theirs["inertia"],
            "phi_MB": ours["phi_bytes"] / 1e6,
        }
        rows.append(row)
        show(rows[-1:])
        save("kmeans", rows)


if __name__ == "__main__":
    main()
