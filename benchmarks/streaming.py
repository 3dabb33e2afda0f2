"""Answers larger than memory -> features on one machine: Parquet files, one million objects, 30 landmarks.

    python -m benchmarks.streaming                     500 million answers, about 3 GB of files made on the way
    python -m benchmarks.streaming --answers 20000000  the same, smaller

Files are made once under benchmarks/.data and kept. The stream runs in a process of its own, whose largest resident
set is reported; beside it stands the limit, reading the same files and counting nothing. A few rows of the result are
checked against a count by polars.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks._measure import DATA, in_child, save, show, size

ANSWERS, OBJECTS, LANDMARKS = size(500_000_000, 4_000), size(1_000_000, 200), 30
PER_FILE, PER_GROUP = size((10_000_000, 1_000_000), (16_000, 2_000))
BYTES_PER_ANSWER = 6  # on disk, with room to spare
MEMORY_LIMIT = 8e9


def folder(n_objects: int) -> Path:
    return DATA / f"answers-{n_objects}-objects"


def make_files(n_answers: int, n_objects: int) -> list[str]:
    """Files of PER_FILE answers each: a random object says which of two random landmarks is nearer, 10 % err."""
    here = folder(n_objects)
    here.mkdir(parents=True, exist_ok=True)
    points = np.random.default_rng(0).normal(size=(n_objects, 2)).astype(np.float32)
    paths = []
    for number in range(-(-n_answers // PER_FILE)):
        size = min(PER_FILE, n_answers - number * PER_FILE)
        path = here / f"{number:04d}-{size}.parquet"
        paths.append(str(path))
        if not path.exists():
            temporary = path.with_suffix(".tmp")
            answers(points, size, number).write_parquet(temporary, row_group_size=PER_GROUP)
            temporary.rename(path)
    return paths


def answers(points: np.ndarray, size: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng([1, seed])
    a = rng.integers(LANDMARKS, len(points), size, dtype=np.int32)
    i = rng.integers(0, LANDMARKS, size, dtype=np.int32)
    j = (i + rng.integers(1, LANDMARKS, size, dtype=np.int32)) % LANDMARKS
    far = ((points[a] - points[i]) ** 2).sum(axis=1) > ((points[a] - points[j]) ** 2).sum(axis=1)
    far ^= rng.random(size, dtype=np.float32) < 0.1
    return pl.DataFrame({"anchor": a, "near": np.where(far, j, i), "far": np.where(far, i, j)})


# -------------------------------------------------------------------- what is measured, each in its own process


def read_only(paths: list[str], n_objects: int) -> dict[str, Any]:
    """The limit: the same batches, looked at and dropped."""
    import nearfar as nf

    total, start, busy = 0, time.perf_counter(), time.process_time()
    for batch in nf.scan_triplets(paths, objects=n_objects):
        total += len(batch)
    return {
        "answers": total,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - busy,
    }


def stream(paths: list[str], n_objects: int, dtype: str) -> dict[str, Any]:
    """Count batch by batch, then make the rows of Phi."""
    import nearfar as nf

    warm = nf.FeatureMap("k1", landmarks=range(3)).partial_fit(nf.Triplets.from_array([[3, 0, 1], [4, 1, 0]]))
    assert warm.features_.shape == (5, 3)
    fitted = nf.FeatureMap("k1", landmarks=range(LANDMARKS), layout="dense", dtype=dtype)
    start, busy = time.perf_counter(), time.process_time()
    for batch in nf.scan_triplets(paths, objects=n_objects):
        fitted.partial_fit(batch)
    counted = time.perf_counter()
    phi = fitted.features_
    done, busy = time.perf_counter(), time.process_time() - busy
    check(phi, fitted, paths)
    return {
        "seconds": done - start,
        "cpu_seconds": busy,
        "counting_seconds": counted - start,
        "rows_seconds": done - counted,
        "phi_bytes": phi.nbytes,
        "grid_bytes": fitted._counts[0].grid.nbytes,
        "coverage": fitted.coverage_["k1"],
    }


def check(phi: np.ndarray, fitted: Any, paths: list[str]) -> None:
    """Three objects' rows, counted by polars from the same files."""
    objects = [LANDMARKS, phi.shape[0] // 2, phi.shape[0] - 1]
    rows = pl.scan_parquet(paths).filter(pl.col("anchor").is_in(objects)).collect()
    columns = fitted.columns_
    place = {
        pair: c for c, pair in enumerate(zip(columns.first.tolist(), columns.second.tolist(), strict=True))
    }
    for x in objects:
        net, total = np.zeros(phi.shape[1]), np.zeros(phi.shape[1])
        for near, far in rows.filter(pl.col("anchor") == x).select("near", "far").rows():
            c = place[min(near, far), max(near, far)]
            net[c] += 1 if near < far else -1
            total[c] += 1
        value = net / np.maximum(total, 1)
        assert np.allclose(phi[x], value / np.linalg.norm(value), atol=1e-6), f"row {x} is wrong"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=ANSWERS)
    parser.add_argument("--objects", type=int, default=OBJECTS)
    given = parser.parse_args()
    here = folder(given.objects)
    here.mkdir(parents=True, exist_ok=True)
    room = shutil.disk_usage(here).free + sum(path.stat().st_size for path in here.glob("*.parquet"))
    n_answers, note = given.answers, ""
    if room < 1.5 * BYTES_PER_ANSWER * n_answers:
        n_answers = int(room / (1.5 * BYTES_PER_ANSWER))
        note = f"the disk is short: {n_answers:,} answers instead of {given.answers:,}"
    start = time.perf_counter()
    paths = make_files(n_answers, given.objects)
    made = time.perf_counter() - start
    on_disk = sum(Path(path).stat().st_size for path in paths)
    limit = in_child("benchmarks.streaming", "read_only", paths, given.objects)
    rows = [
        {
            "case": "reading alone",
            "answers": n_answers,
            "objects": given.objects,
            "seconds": limit["seconds"],
            "cpu_seconds": limit["cpu_seconds"],
            "answers_per_second": n_answers / limit["seconds"],
            "peak_GB": limit["peak_bytes"] / 1e9,
            "disk_GB": on_disk / 1e9,
            "bytes_per_answer": on_disk / n_answers,
            "made_seconds": made,
            "note": note,
        }
    ]
    show(rows)
    for dtype in ("float64", "float32"):
        result = in_child("benchmarks.streaming", "stream", paths, given.objects, dtype)
        rows.append(
            {
                "case": f"stream to Phi, k1, {LANDMARKS} landmarks, {dtype}",
                "answers": n_answers,
                "objects": given.objects,
                "seconds": result["seconds"],
                "cpu_seconds": result["cpu_seconds"],
                "counting_seconds": result["counting_seconds"],
                "rows_seconds": result["rows_seconds"],
                "answers_per_second": n_answers / result["seconds"],
                "times_reading_alone": result["seconds"] / limit["seconds"],
                "peak_GB": result["peak_bytes"] / 1e9,
                "phi_GB": result["phi_bytes"] / 1e9,
                "grid_GB": result["grid_bytes"] / 1e9,
                "within_8_GB": bool(result["peak_bytes"] < MEMORY_LIMIT),
            }
        )
        show(rows[-1:])
    print("rows kept in", save(f"streaming-{n_answers}", rows))


if __name__ == "__main__":
    main()
