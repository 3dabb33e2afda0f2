"""Maps and clusters without the kernel matrix, against the way through K, scikit-learn's KMeans, and their memory.

``python -m benchmarks.methods`` runs the sizes that are aimed at (six minutes on two cores, 4 GB, 2 GB of disk for the
answers), ``--tenth`` a tenth of them. Every case runs in a process of its own, so that peaks of memory are its own.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks._measure import SHARED, SMALL, in_child, save, show, size

LANDMARKS, PER_OBJECT, CLUSTERS, STARTS = 30, 150, 10, size(5, 1)
HERE = "benchmarks.methods"
OURS_AND_PEERS = size(("nearfar", "lloyd", "elkan"), ("lloyd",))
KERNELS = size(("k1", "score"), ("score",))


# ---------------------------------------------------------------- answers


def write_answers(path: Path, n: int, *, chunk: int = 50_000) -> None:
    """PER_OBJECT answers about each of n objects and LANDMARKS of them, as Parquet of indices.

    The objects are points in ten clusters in ten dimensions; a tenth of the answers is wrong.
    """
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CLUSTERS, 10)) * 2
    landmarks = centres[np.arange(LANDMARKS) % CLUSTERS] + rng.standard_normal((LANDMARKS, 10))
    one, other = np.triu_indices(LANDMARKS, 1)
    path.mkdir(parents=True, exist_ok=True)
    for start in range(0, n, chunk):
        x = np.arange(start, min(start + chunk, n))
        points = centres[rng.integers(CLUSTERS, size=len(x))] + rng.standard_normal((len(x), 10))
        known = x < LANDMARKS
        points[known] = landmarks[x[known]]
        squares = ((points[:, None] - landmarks[None]) ** 2).sum(axis=2)
        asked = np.argpartition(rng.random((len(x), len(one)), dtype=np.float32), PER_OBJECT, axis=1)[
            :, :PER_OBJECT
        ]
        a, b = one[asked], other[asked]
        rows = np.arange(len(x))[:, None]
        nearer = (squares[rows, a] < squares[rows, b]) ^ (rng.random(a.shape, dtype=np.float32) < 0.1)
        near, far = np.where(nearer, a, b).ravel(), np.where(nearer, b, a).ravel()
        anchor = np.repeat(x, PER_OBJECT)
        good = (anchor != near) & (anchor != far)
        columns = {"anchor": anchor[good], "near": near[good], "far": far[good]}
        frame = pl.DataFrame({name: values.astype(np.int32) for name, values in columns.items()})
        frame.write_parquet(path / f"answers-{start:08d}.parquet")


def mnist_answers(n: int) -> Any:
    """The paper's setting: n digits, 30 landmarks, 150 answers about each, by pixels."""
    from nearfar import design, simulate

    images = np.load(SHARED / "mnist" / "mnist.npz")["x_train"][:n].reshape(n, -1).astype(np.float32)
    landmarks = np.random.default_rng(0).choice(n, LANDMARKS, replace=False)
    questions = design.landmark_questions(n, landmarks, "k1", budget=PER_OBJECT * n, seed=0)
    return simulate.answers(questions, points=images, seed=0).triplets, landmarks.tolist()


def random_answers(n: int, m: int) -> Any:
    """m answers about random trios of n points in four dimensions."""
    from nearfar import Triplets

    rng = np.random.default_rng(0)
    points = rng.standard_normal((n, 4)).astype(np.float32)
    rows = rng.integers(0, n, (m + m // 50, 3), dtype=np.int32)
    distinct = (rows[:, 0] != rows[:, 1]) & (rows[:, 1] != rows[:, 2]) & (rows[:, 0] != rows[:, 2])
    a, b, c = rows[distinct][:m].T
    nearer = ((points[a] - points[b]) ** 2).sum(axis=1) < ((points[a] - points[c]) ** 2).sum(axis=1)
    return Triplets(a, np.where(nearer, b, c), np.where(nearer, c, b), [str(x) for x in range(n)])


# ---------------------------------------------------------------- what runs in a child


class Clock:
    """Seconds of named steps, and the memory that was in use before the first of them."""

    def __init__(self) -> None:
        self.steps: dict[str, Any] = {"base_bytes": resident()}

    def __call__(self, name: str, work: Any) -> Any:
        """Do the work of a step."""
        start, busy = time.perf_counter(), time.process_time()
        result = work()
        self.steps[f"{name}_seconds"] = time.perf_counter() - start
        self.steps[f"{name}_cpu_seconds"] = time.process_time() - busy
        return result


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def warm_up() -> None:
    """Compile, import and let BLAS take its buffers before anything is measured."""
    import nearfar as nf

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        rows = rng.standard_normal((300, 20)).astype(dtype)
        nf.KernelPCA(2).fit(rows)
        nf.KernelKMeans(3, random_state=0).fit(rows)
    answers = random_answers(50, 2000)
    for layout in ("dense", "sparse"):
        phi = nf.FeatureMap("k1", layout=layout, dtype=np.float32).fit_transform(answers)
        nf.KernelPCA(2).fit(phi)
        nf.KernelKMeans(3, random_state=0).fit(phi)
    nf.FeatureMap("k1", landmarks=[0, 1, 2, 3], dtype=np.float32).fit_transform(answers)


def counted(folder: str, n: int) -> Any:
    """A feature map that has seen all answers of a folder, batch by batch."""
    import nearfar as nf

    feature_map = nf.FeatureMap("k1", landmarks=list(range(LANDMARKS)), dtype=np.float32)
    for batch in nf.scan_triplets(f"{folder}/*.parquet", objects=n, batch_rows=5_000_000):
        feature_map.partial_fit(batch)
    return feature_map


def landmark_case(folder: str, n: int, max_iter: int, tol: float) -> dict[str, Any]:
    """Answers in batches -> features -> 2-d map and clusters."""
    import nearfar as nf

    warm_up()
    clock = Clock()
    feature_map = clock("read_and_count", lambda: counted(folder, n))
    phi = clock("rows", lambda: feature_map.features_)
    feature_map = None  # its counts are no longer needed
    clock("map", lambda: nf.KernelPCA(2).fit(phi))
    model = nf.KernelKMeans(CLUSTERS, n_init=STARTS, max_iter=max_iter, tol=tol, random_state=0)
    clock("clusters", lambda: model.fit(phi))
    return {**clock.steps, "inertia": model.inertia_, "n_iter": model.n_iter_}


def without_k(n: int) -> dict[str, Any]:
    """The paper's MNIST setting, by nearfar."""
    import nearfar as nf

    warm_up()
    answers, landmarks = mnist_answers(n)
    clock = Clock()

    def work() -> float:
        phi = nf.FeatureMap("k1", landmarks=landmarks).fit_transform(answers)
        nf.KernelPCA(2).fit(phi)
        return nf.KernelKMeans(CLUSTERS, n_init=STARTS, random_state=0).fit(phi).inertia_

    return {"inertia": clock("all", work), **clock.steps}


def through_k(n: int) -> dict[str, Any]:
    """The same through K: scikit-learn's KernelPCA, and kernel k-means as one writes it on a matrix."""
    from sklearn.decomposition import KernelPCA

    import nearfar as nf

    warm_up()
    answers, landmarks = mnist_answers(n)
    KernelPCA(2, kernel="precomputed", eigen_solver="arpack").fit(np.eye(50))
    clock = Clock()

    def work() -> float:
        K = nf.kernel_matrix(answers, "k1", landmarks=landmarks)
        KernelPCA(2, kernel="precomputed", eigen_solver="arpack", random_state=0).fit(K)
        return min(kernel_kmeans_on_matrix(K, CLUSTERS, seed) for seed in range(STARTS))

    return {"inertia": clock("all", work), **clock.steps}


def kernel_kmeans_on_matrix(K: np.ndarray, k: int, seed: int, max_iter: int = 100) -> float:
    """Lloyd's iteration with K @ indicator, from random labels; the objective."""
    labels = np.random.default_rng(seed).integers(k, size=len(K))
    diagonal = K.diagonal()
    for _ in range(max_iter):
        members = np.eye(k)[labels]
        sizes = np.maximum(members.sum(axis=0), 1)
        sums = K @ members
        within = np.einsum("ij,ij->j", sums, members)
        new = np.argmin(within / sizes**2 - 2 * sums / sizes, axis=1)
        if np.array_equal(new, labels):
            break
        labels = new
    return float(diagonal.sum() - (within / sizes).sum())


def wide_case(n: int, m: int, kernel: str) -> dict[str, Any]:
    """Random answers -> map and clusters; how the peak compares with n x n and with Phi."""
    import nearfar as nf

    warm_up()
    answers = random_answers(n, m)
    phi = nf.FeatureMap(kernel, dtype=np.float32).fit_transform(answers)
    stored = (
        phi.nbytes
        if isinstance(phi, np.ndarray)
        else phi.data.nbytes + phi.indices.nbytes + phi.indptr.nbytes
    )
    clock = Clock()
    clock("map", lambda: nf.KernelPCA(2).fit(phi))
    model = clock("clusters", lambda: nf.KernelKMeans(CLUSTERS, n_init=STARTS, random_state=0).fit(phi))
    return {**clock.steps, "phi_bytes": stored, "n_by_n_bytes": 8 * n * n, "shift": model.shift_}


def kmeans_case(which: str, folder: str, n: int) -> dict[str, Any]:
    """k-means alone on thin dense rows: ours, or scikit-learn's with the same number of starts."""
    from sklearn.cluster import KMeans

    import nearfar as nf

    warm_up()
    phi = counted(folder, n).features_
    clock = Clock()
    if which == "nearfar":
        model: Any = nf.KernelKMeans(CLUSTERS, n_init=STARTS, max_iter=300, random_state=0)
    else:
        model = KMeans(CLUSTERS, n_init=STARTS, max_iter=300, tol=1e-5, random_state=0, algorithm=which)
    clock("clusters", lambda: model.fit(phi))
    return {**clock.steps, "inertia": float(model.inertia_), "n_iter": int(model.n_iter_)}


# ---------------------------------------------------------------- the cases


def above(run: dict[str, Any]) -> float:
    """MB at the peak beyond what was there before the work."""
    return (run["peak_bytes"] - run["base_bytes"]) / 1e6


def million(folder: Path, n: int) -> list[dict[str, Any]]:
    rows, seconds = [], {}
    sizes = size((n // 10, n), (n,))
    for objects in sizes:
        place = folder / f"answers-{objects}"
        write_answers(place, objects)
        full = in_child(HERE, "landmark_case", str(place), objects, 100, 1e-7)
        fixed = in_child(HERE, "landmark_case", str(place), objects, 20, 0.0)
        parts = ("read_and_count_seconds", "rows_seconds", "map_seconds", "clusters_seconds")
        seconds[objects] = sum(fixed[part] for part in parts)
        rows.append(
            {
                "case": f"landmark n={objects:,} L={LANDMARKS} m={PER_OBJECT * objects:,} k1 float32",
                "seconds": sum(full[part] for part in parts),
                **{part: full[part] for part in parts},
                "peak_GB": full["peak_bytes"] / 1e9,
                "seconds_at_20_steps": seconds[objects],
                "inertia": full["inertia"],
            }
        )
    rows.append(
        {"case": "growth from a tenth, at 20 steps", "times": seconds[n] / seconds[sizes[0]], "aim": 12}
    )
    return rows


def paper(n: int) -> list[dict[str, Any]]:
    if SMALL or not (SHARED / "mnist").is_dir():
        print("MNIST: skipped, the data is absent")
        return []
    ours = min(
        (in_child(HERE, "without_k", n) for _ in range(size(2, 1))), key=lambda run: run["all_seconds"]
    )
    theirs = in_child(HERE, "through_k", n)
    return [
        {
            "case": f"MNIST n={n:,}: triplets to map and clusters",
            "seconds": ours["all_seconds"],
            "through_K_seconds": theirs["all_seconds"],
            "times_faster": theirs["all_seconds"] / ours["all_seconds"],
            "aim": 5,
            "peak_above_MB": above(ours),
            "through_K_peak_above_MB": above(theirs),
            "share_of_memory": above(ours) / above(theirs),
            "inertia": ours["inertia"],
            "through_K_inertia": theirs["inertia"],
        }
    ]


def wide(n: int, m: int, kernel: str) -> dict[str, Any]:
    run = in_child(HERE, "wide_case", n, m, kernel)
    return {
        "case": f"wide n={n:,} m={m:,} {kernel}",
        "map_seconds": run["map_seconds"],
        "clusters_seconds": run["clusters_seconds"],
        "peak_above_MB": above(run),
        "phi_MB": run["phi_bytes"] / 1e6,
        "n_by_n_MB": run["n_by_n_bytes"] / 1e6,
        "shift": run["shift"],
    }


def kmeans(folder: Path, n: int) -> list[dict[str, Any]]:
    place = folder / f"answers-{n}"
    if not place.exists():
        write_answers(place, n)
    return [
        {
            "case": f"k-means alone, n={n:,} p=435 float32, {STARTS} starts: {which}",
            "seconds": run["clusters_seconds"],
            "cpu_seconds": run["clusters_cpu_seconds"],
            "inertia": run["inertia"],
        }
        for which in OURS_AND_PEERS
        for run in [in_child(HERE, "kmeans_case", which, str(place), n)]
    ]


def main() -> None:
    tenth = "--tenth" in sys.argv
    scale = size(10 if tenth else 1, 500)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        for found in (
            lambda: paper(10_000 // (5 if tenth else 1)),
            lambda: [wide(2_000, 4_000_000 // scale, "k1")],
            lambda: [wide(100_000 // scale, 10_000_000 // scale, kernel) for kernel in KERNELS],
            lambda: kmeans(Path(name), 100_000 // scale),
            lambda: million(Path(name), 1_000_000 // scale),
        ):
            new = found()
            show(new)
            rows += new
            save("methods-tenth" if tenth else "methods", rows)


if __name__ == "__main__":
    main()
