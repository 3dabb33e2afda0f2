"""The same work by two checkouts, in turns within one run: what a change cost, or brought.

    python -m benchmarks.before_after COMMIT [CASE ...]

COMMIT is put into a temporary folder and stands for "before"; "after" is this checkout. Each has a process of its own,
and they do each case in turns, so that a noisy minute hits both. Kept per case: the best seconds by the clock and of
the processor, and after : before. Cases use names that both versions have.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks._measure import ROOT, SHARED, save, show

REPEAT = 12
Work = Callable[[], Any]


def general() -> Work:
    """K by k1 of 4 million random answers about 2,000 objects."""
    import nearfar as nf
    from benchmarks.core import random_answers

    answers = random_answers(2_000, 4_000_000)
    return lambda: nf.kernel_matrix(answers, "k1", diagonal="keep")


def shift() -> Work:
    """The smallest eigenvalue of that K."""
    import nearfar as nf
    from benchmarks.core import random_answers
    from nearfar.kernel import smallest_eigenvalue

    phi = nf.FeatureMap("k1").fit_transform(random_answers(2_000, 4_000_000))
    return lambda: smallest_eigenvalue(phi)


def landmark() -> Work:
    """K in float32 of 3 million answers about 20,000 objects and 30 landmarks."""
    import numpy as np

    import nearfar as nf
    from benchmarks.core import landmark_answers

    answers, landmarks = landmark_answers(20_000, 30, 3_000_000)
    return lambda: nf.kernel_matrix(answers, "k1", landmarks=landmarks, dtype=np.float32)


def food() -> Work:
    """K by k1 and k2 of food's answers."""
    import nearfar as nf

    answers = nf.read_triplets(SHARED / "food" / "triplets.npz")
    return lambda: [nf.kernel_matrix(answers, kernel, diagonal="keep") for kernel in ("k1", "k2")]


def _rows(n: int) -> Any:
    import numpy as np

    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 435)).astype(np.float32)
    rows = rng.normal(size=(n, 435)).astype(np.float32) + 0.3 * centres[rng.integers(10, size=n)]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def pca() -> Work:
    """A map of 30,000 rows of 435 columns."""
    import nearfar as nf

    rows = _rows(30_000)
    return lambda: nf.KernelPCA(2).fit_transform(rows)


def kmeans() -> Work:
    """Ten clusters of 50,000 rows of 435 columns, two starts."""
    import nearfar as nf

    rows = _rows(50_000)
    return lambda: nf.KernelKMeans(10, n_init=2, random_state=0).fit(rows)


def linkage() -> Work:
    """The tree of 3,000 rows."""
    import nearfar as nf

    rows = _rows(3_000)
    return lambda: nf.linkage(rows)


def neighbours() -> Work:
    """Ten neighbours of 5,000 rows."""
    from nearfar.methods import neighbours as find

    rows = _rows(5_000)
    return lambda: find(rows, 10)


def design() -> Work:
    """200,000 questions of each kind about 5,000 objects, 20,000 grids, and lists for 50 people."""
    from nearfar import design

    def work() -> Any:
        near = design.near_questions(5_000, 200_000)
        drawn = [design.trio_questions(5_000, 200_000), design.grid_questions(5_000, 20_000)]
        return near, drawn, design.booklets(design.near_questions(1_000, 5_000), 50)

    return work


def _file(ending: str) -> Path:
    """A million answers about named objects, by 2,000 people."""
    import numpy as np
    import polars as pl

    path = Path(os.environ["NEARFAR_BEFORE_AFTER"]) / f"answers.{ending}"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    names = pl.Series([f"object_{i:04d}.jpg" for i in range(1_000)])
    anchor = rng.integers(0, 1_000, 1_000_000)
    near, far = ((anchor + rng.integers(a, a + 499, len(anchor))) % 1_000 for a in (1, 500))
    columns = {"anchor": anchor, "near": near, "far": far}
    table = pl.DataFrame({role: names.gather(column) for role, column in columns.items()})
    table = table.with_columns(participant=pl.Series(np.arange(len(anchor)) // 500))
    write = {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}[ending]
    getattr(table, write)(path)
    return path


def _reading(ending: str) -> Callable[[], Work]:
    def case() -> Work:
        import nearfar as nf

        path = _file(ending)
        return lambda: nf.read_triplets(path)

    return case


def streaming() -> Work:
    """Features of a million answers in Parquet, batch by batch."""
    import nearfar as nf

    path = _file("parquet")

    def work() -> Any:
        fitted = nf.FeatureMap("k1", landmarks=range(30))
        for batch in nf.scan_triplets(path):
            fitted.partial_fit(batch)
        return fitted.features_

    return work


def scale() -> Work:
    """Features, a map and ten clusters of two million answers about 20,000 objects, on a worker process of Dask."""
    import atexit

    import nearfar as nf
    from nearfar import scale

    path = Path(os.environ["NEARFAR_BEFORE_AFTER"]) / "indices.parquet"
    if not path.exists():
        from benchmarks.core import landmark_answers

        answers, _ = landmark_answers(20_000, 30, 2_000_000)
        nf.write_triplets(answers, path)
    running = scale.connect("local:1")
    client = running.__enter__()
    atexit.register(running.__exit__, None, None, None)

    def whole(found: Any) -> Any:
        return found.to_array() if hasattr(found, "to_array") else found.compute()  # before: a dask array

    def work() -> Any:
        answers = scale.read_triplets([str(path)], objects=20_000)
        phi = scale.FeatureMap("k1", landmarks=range(30), layout="dense").fit_transform(answers)
        points = whole(scale.KernelPCA(2).fit_transform(phi))
        return points, whole(scale.KernelKMeans(10, n_init=1, random_state=0).fit(phi).labels_)

    work.processor = lambda: time.process_time() + sum(client.run(time.process_time).values())  # type: ignore[attr-defined]
    return work


CASES: dict[str, Callable[[], Work]] = {
    "general": general,
    "shift": shift,
    "landmark": landmark,
    "food": food,
    "pca": pca,
    "kmeans": kmeans,
    "linkage": linkage,
    "neighbours": neighbours,
    "design": design,
    "csv": _reading("csv"),
    "parquet": _reading("parquet"),
    "jsonl": _reading("jsonl"),
    "streaming": streaming,
    "scale": scale,
}


def serve(case: str) -> None:
    """In a process of its own: do the work once for every line that comes, and say how long it took."""
    warnings.simplefilter("ignore")
    work = CASES[case]()
    work()
    processor = getattr(work, "processor", time.process_time)
    print("ready", flush=True)
    for _ in sys.stdin:
        start, worked = time.perf_counter(), processor()
        work()
        seconds = time.perf_counter() - start
        print(json.dumps([seconds, processor() - worked]), flush=True)


def measure(case: str, checkouts: dict[str, Path], repeat: int) -> dict[str, Any]:
    """Both checkouts in turns."""
    children = {}
    for name, folder in checkouts.items():
        paths = os.pathsep.join([str(folder / "src"), str(ROOT)])
        children[name] = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.before_after", "--serve", case],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths},
        )
        ready = children[name].stdout
        if ready is None or ready.readline().strip() != "ready":
            raise SystemExit(f"{case}: {name} does not run")
    best = {name: [float("inf"), float("inf")] for name in children}
    for _ in range(repeat):
        for name, child in children.items():
            assert child.stdin is not None and child.stdout is not None
            child.stdin.write("\n")
            child.stdin.flush()
            best[name] = [
                min(pair) for pair in zip(best[name], json.loads(child.stdout.readline()), strict=True)
            ]
    for child in children.values():
        child.communicate()
    (clock, cpu), (clock_after, cpu_after) = best["before"], best["after"]
    return {
        "case": case,
        "before_seconds": clock,
        "after_seconds": clock_after,
        "ratio": clock_after / clock,
        "before_cpu": cpu,
        "after_cpu": cpu_after,
        "cpu_ratio": cpu_after / cpu,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--repeat", type=int, default=REPEAT)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.commit)
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NEARFAR_BEFORE_AFTER"] = folder
        before = Path(folder) / "before"
        subprocess.run(
            ["git", "worktree", "add", "--detach", str(before), given.commit], cwd=ROOT, check=True
        )
        try:
            for case in given.cases:
                rows.append(measure(case, {"before": before, "after": ROOT}, given.repeat))
                show(rows[-1:])
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(before)], cwd=ROOT, check=True)
    print("rows kept in", save(f"before-after-{given.commit[:7]}", rows))


if __name__ == "__main__":
    main()
