"""One against two worker processes on the same work, and one machine without Dask beside them.

    python -m benchmarks.scale                                          20 million answers, 200,000 objects
    python -m benchmarks.scale --answers 100000000 --objects 1000000    larger: 13 GB, a quarter of an hour

The work: answers from Parquet files (made by benchmarks.streaming) -> features (k1, 30 landmarks) -> a map by kernel
PCA -> 10 clusters by kernel k-means. Every case runs in a process of its own, with the work done once before on a
little data so that nothing is compiled or started while the clock runs. All cases run in turn, twice, and the faster
time of each stage counts: a machine that others use as well changes its pace from minute to minute. Bytes moved are
what workers sent to each other, in the last round; labels and coordinates must agree between all cases. Beside it
stands the limit: how much more two processes that know nothing of each other do on this machine than one, at
arithmetic, sorting, and filling fresh memory.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

import numpy as np

from benchmarks._measure import in_child, save, show, size
from benchmarks.streaming import LANDMARKS, make_files

CLUSTERS, STARTS = 10, 1
TIMES = size(3, 1)  # that the limit is measured
STAGES = ("features", "map", "clusters")
CASES = [
    ("one machine, 1 thread", "on_one_machine", 1),
    ("one machine, 2 threads", "on_one_machine", 2),
    ("Dask, 1 worker", "on_dask", 1),
    ("Dask, 2 workers", "on_dask", 2),
]


def on_one_machine(paths: list[str], n_objects: int, threads: int) -> dict[str, Any]:
    """The same work without Dask."""
    os.environ["NEARFAR_NUM_THREADS"] = str(threads)
    from threadpoolctl import threadpool_limits

    import nearfar as nf

    warnings.simplefilter("ignore")
    clock = Clock(time.process_time)
    with threadpool_limits(threads):
        for round_ in ("warm", "real"):
            few = paths[:1] if round_ == "warm" else paths
            clock.start()
            fitted = nf.FeatureMap("k1", landmarks=range(LANDMARKS), layout="dense")
            for batch in nf.scan_triplets(few, objects=n_objects):
                fitted.partial_fit(batch[:10_000] if round_ == "warm" else batch)
            phi = fitted.features_
            clock.lap("features")
            points = nf.KernelPCA(2).fit_transform(phi)
            clock.lap("map")
            labels = nf.KernelKMeans(CLUSTERS, n_init=STARTS, random_state=0).fit_predict(phi)
            clock.lap("clusters")
    return clock.laps | facts(points, labels)


def on_dask(paths: list[str], n_objects: int, workers: int) -> dict[str, Any]:
    """The same work on worker processes of one thread each."""
    from nearfar import scale

    warnings.simplefilter("ignore")
    moved = {}
    with scale.connect(f"local:{workers}") as client:
        clock = Clock(lambda: time.process_time() + sum(client.run(time.process_time).values()))
        for round_ in ("warm", "real"):
            few, n = (paths[:1], n_objects) if round_ == "warm" else (paths, n_objects)
            before = _sent(client)
            clock.start()
            answers = scale.read_triplets(few, objects=n)
            if round_ == "warm":
                answers = scale.Answers(answers.pieces[:2], answers.objects, None, 1000)
            phi = scale.FeatureMap("k1", landmarks=range(LANDMARKS), layout="dense").fit_transform(answers)
            clock.lap("features")
            moved["features"] = _sent(client) - before
            points = scale.KernelPCA(2).fit_transform(phi).to_array()
            clock.lap("map")
            moved["map"] = _sent(client) - before - moved["features"]
            model = scale.KernelKMeans(CLUSTERS, n_init=STARTS, random_state=0).fit(phi)
            labels = model.labels_.to_array()
            clock.lap("clusters")
            moved["clusters"] = _sent(client) - before - moved["features"] - moved["map"]
            blocks = len(phi.blocks)
            del phi
        task = _seconds_of_a_task(client)
    extra = {
        "task_ms": 1e3 * task,
        "n_iter": int(model.n_iter_),
        "blocks": blocks,
        "pieces": len(answers.pieces),
    }
    return (
        clock.laps
        | {f"moved_{name}": bytes_ for name, bytes_ in moved.items()}
        | facts(points, labels)
        | extra
    )


def limits() -> dict[str, Any]:
    """How many times as much two processes get done as one."""
    works = {
        "arithmetic": f"x = np.random.default_rng(0).random(2 * ({size(1200, 20)},))",
        "sorting": f"x = np.random.default_rng(0).integers(0, 1 << 60, {size(4_000_000, 400)})",
        "fresh_memory": "x = None",
    }
    steps = {
        "arithmetic": "[x @ x for _ in range(15)]",
        "sorting": "[np.sort(x) for _ in range(5)]",
        "fresh_memory": f"[np.ones({size(25_000_000, 400)}) for _ in range(10)]",
    }
    return {
        name: 2 * _slowest(works[name], steps[name], 1) / _slowest(works[name], steps[name], 2)
        for name in works
    }


def _slowest(prepare: str, work: str, count: int) -> float:
    """Seconds of the slowest of some processes that start their work at the same time; the best of TIMES."""
    code = (
        f"import time, numpy as np\n{prepare}\nprint(flush=True); input()\n"
        f"start = time.perf_counter(); {work}; print(time.perf_counter() - start, flush=True)"
    )
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = []
    for _ in range(TIMES):
        running = [
            subprocess.Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE, text=True, env=alone)
            for _ in range(count)
        ]
        for process in running:
            process.stdout.readline()  # type: ignore[union-attr]
        for process in running:
            process.stdin.write("\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
        found.append(max(float(process.communicate()[0]) for process in running))
    return min(found)


class Clock:
    """Seconds of each stage, and those that processors worked: on a busy machine these tell more."""

    def __init__(self, busy: Callable[[], float]) -> None:
        self.laps: dict[str, float] = {}
        self.busy = busy
        self.last = 0.0, 0.0

    def start(self) -> None:
        """From now on."""
        self.last = time.perf_counter(), self.busy()

    def lap(self, name: str) -> None:
        """Since the last lap."""
        now = time.perf_counter(), self.busy()
        self.laps[name], self.laps[f"{name}_cpu"] = (b - a for a, b in zip(self.last, now, strict=True))
        self.last = now


def _seconds_of_a_task(client: Any, count: int = size(5_000, 50)) -> float:
    """What a task costs that does nothing: the scheduler's share, above all."""
    start = time.perf_counter()
    client.gather(client.map(lambda x: x, range(count), pure=False))
    return (time.perf_counter() - start) / count


def _sent(client: Any) -> int:
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def facts(points: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    return {
        "labels": hashlib.sha256(np.ascontiguousarray(labels, np.int32).tobytes()).hexdigest()[:12],
        "points": float(np.abs(points).sum()),
    }


def faster(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The row of a case: of every stage the run that took less time, of everything else the last."""
    row = {key: value for key, value in runs[-1].items() if key != "round"}
    for stage in STAGES:
        best = min(runs, key=lambda run: run[stage])
        row |= {stage: best[stage], f"{stage}_cpu": best[f"{stage}_cpu"]}
    row["peak_bytes"] = max(run["peak_bytes"] for run in runs)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=size(20_000_000, 4_000))
    parser.add_argument("--objects", type=int, default=size(200_000, 200))
    parser.add_argument("--rounds", type=int, default=size(2, 1))
    given = parser.parse_args()
    paths = make_files(given.answers, given.objects)
    disk = sum(Path(path).stat().st_size for path in paths)
    module = "benchmarks.scale"
    limit = {"case": "two processes against one: the limit", **limits()}
    show([limit])
    cases = size(CASES, [CASES[0], CASES[2]])
    work = {"answers": given.answers, "objects": given.objects, "disk_bytes": disk}
    runs = []
    for round_ in range(1, given.rounds + 1):
        for case, function, count in cases:
            result = in_child(module, function, paths, given.objects, count)
            result.pop("seconds", None)
            runs.append({"case": case, "round": round_, **work, **result})
            show(runs[-1:])
    rows = [faster([run for run in runs if run["case"] == case]) for case, _, _ in cases]
    one, two = rows[-2], rows[-1]
    for stage in STAGES:
        moved = two[f"moved_{stage}"]
        rows.append(
            {
                "case": f"{stage}: one against two workers",
                "speed_up": one[stage] / two[stage],
                "times_one_machine_1_thread": one[stage] / rows[0][stage],
                "times_one_machine_2_threads": two[stage] / rows[1][stage],
                "bytes_moved": moved,
                "bytes_moved_per_answer": moved / given.answers,
                "bytes_moved_per_object": moved / given.objects,
            }
        )
        show(rows[-1:])
    same = len({run["labels"] for run in runs}) == 1
    spread = max(run["points"] for run in runs) - min(run["points"] for run in runs)
    rows.append(
        {"case": "agreement", "same_labels": same, "difference_of_coordinates": spread / given.objects}
    )
    show(rows[-1:])
    print("rows kept in", save(f"scale-{given.answers}", [limit, *rows, *runs]))


if __name__ == "__main__":
    main()
