"""More objects than memory holds, on one machine: features, a map and clusters with the rows of Phi in files.

    python -m benchmarks.on_disk             one million objects and ten million, 60 answers each: 600 million answers,
                                             4 GB of files made on the way, 25 GB of scratch files, about an hour
    python -m benchmarks.on_disk --largest 1000000     a tenth of it, beside a hundredth

The work: answers from Parquet files (made by benchmarks.streaming) -> features (k1, 30 landmarks, float32: 17 GB for
ten million objects) -> a map by kernel PCA -> 10 clusters by kernel k-means, all with ``nearfar.scale.scratch``. Every
size runs in a process of its own whose largest resident set, mapped files included, is reported; the aim is 8 GB.
Beside it stands the same work in memory, where that has room for it, with the same labels and coordinates.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from typing import Any

import numpy as np

from benchmarks._measure import DATA, in_child, save, show, size
from benchmarks.scale import CLUSTERS, STAGES, STARTS, Clock, facts
from benchmarks.streaming import LANDMARKS, make_files

PER_OBJECT = 60
MEMORY_LIMIT, TIMES_AIM = 8e9, 12
IN_MEMORY = size(1_000_000, 200)  # objects up to which the same work is done in memory, too


def on_disk(paths: list[str], n_objects: int, folder: str) -> dict[str, Any]:
    """The work with the rows of Phi in files."""
    from nearfar import scale

    _warm_up()
    clock = Clock(time.process_time)
    with tempfile.TemporaryDirectory(dir=folder) as place, scale.scratch(place):
        clock.start()
        answers = scale.read_triplets(paths, objects=n_objects)
        settings = {"landmarks": range(LANDMARKS), "layout": "dense", "dtype": np.float32}
        phi = scale.FeatureMap("k1", **settings).fit_transform(answers)
        clock.lap("features")
        points = scale.KernelPCA(2).fit_transform(phi).to_array()
        clock.lap("map")
        model = scale.KernelKMeans(CLUSTERS, n_init=STARTS, random_state=0).fit(phi)
        clock.lap("clusters")
        found = {"phi_bytes": phi.nbytes, "blocks": len(phi.blocks), "n_iter": int(model.n_iter_)}
        return clock.laps | found | facts(points, model.labels_.to_array())


def in_memory(paths: list[str], n_objects: int) -> dict[str, Any]:
    """The same work with Phi in memory."""
    import nearfar as nf

    _warm_up()
    clock = Clock(time.process_time)
    clock.start()
    fitted = nf.FeatureMap("k1", landmarks=range(LANDMARKS), layout="dense", dtype=np.float32)
    for batch in nf.scan_triplets(paths, objects=n_objects):
        fitted.partial_fit(batch)
    phi = fitted.features_
    clock.lap("features")
    points = nf.KernelPCA(2).fit_transform(phi)
    clock.lap("map")
    model = nf.KernelKMeans(CLUSTERS, n_init=STARTS, random_state=0).fit(phi)
    clock.lap("clusters")
    return clock.laps | {"phi_bytes": phi.nbytes, "n_iter": int(model.n_iter_)} | facts(points, model.labels_)


def _warm_up() -> None:
    """Compile what is needed, for rows in memory and in files."""
    import nearfar as nf
    from nearfar import scale

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    near = rng.integers(0, 8, 3000)
    far = (near + rng.integers(1, 8, 3000)) % 8
    rows = np.stack([rng.integers(8, 200, 3000), near, far], axis=1)
    answers = nf.Triplets.from_array(rows, n_objects=200)
    with tempfile.TemporaryDirectory() as place, scale.scratch(place):
        many = scale.FeatureMap("k1", landmarks=range(8), layout="dense", dtype=np.float32).fit(answers)
        for phi in (many.features_, many.features_.to_array()):
            nf.KernelPCA(2).fit(phi)
            nf.KernelKMeans(3, random_state=0).fit(phi)


def row(case: str, n_objects: int, run: dict[str, Any]) -> dict[str, Any]:
    total, busy = (sum(run[stage + kind] for stage in STAGES) for kind in ("", "_cpu"))
    return {
        "case": case,
        "objects": n_objects,
        "answers": PER_OBJECT * n_objects,
        "seconds": total,
        "cpu_seconds": busy,
        "peak_GB": run["peak_bytes"] / 1e9,
        "memory_aim_GB": MEMORY_LIMIT / 1e9,
        **{key: value for key, value in run.items() if key not in ("seconds", "peak_bytes")},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=size(10_000_000, 2_000))
    parser.add_argument("--folder", default=str(DATA))
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for n_objects in (given.largest // 10, given.largest):
        paths = make_files(PER_OBJECT * n_objects, n_objects)
        cases = {"rows on disk": ("on_disk", (paths, n_objects, given.folder))}
        if n_objects <= IN_MEMORY:
            cases["rows in memory"] = ("in_memory", (paths, n_objects))
        for case, (function, arguments) in cases.items():
            rows.append(row(case, n_objects, in_child("benchmarks.on_disk", function, *arguments)))
            show(rows[-1:])
            save(f"on_disk-{given.largest}", rows)
    small, large = (next(r for r in rows if r["objects"] == n) for n in (given.largest // 10, given.largest))
    same = [r for r in rows if r["objects"] == given.largest // 10]
    rows.append(
        {
            "case": "ten times the objects and answers",
            "times_the_seconds": large["seconds"] / small["seconds"],
            "times_the_cpu_seconds": large["cpu_seconds"] / small["cpu_seconds"],
            "aim": TIMES_AIM,
            "same_labels_as_in_memory": len({r["labels"] for r in same}) == 1,
            "difference_of_coordinates": abs(same[0]["points"] - same[-1]["points"]) / same[0]["objects"],
        }
    )
    show(rows[-1:])
    print("rows kept in", save(f"on_disk-{given.largest}", rows))


if __name__ == "__main__":
    main()
