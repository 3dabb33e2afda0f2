"""Ten million CSV rows -> Triplets, against polars' bare read_csv of the same file: seconds and peak memory.

Seconds of the processor are kept beside those of the clock, because they mean more on a busy machine.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks._measure import in_child, save, show, size

ROWS = size(10_000_000, 2_000)
OBJECTS = 1_000
REPEAT = size(5, 1)


def make_file(path: Path, *, columns: int) -> None:
    """Answers about file names, as crowd studies have them; five columns add participant and seconds."""
    rng = np.random.default_rng(0)
    names = pl.Series([f"object_{i:04d}.jpg" for i in range(OBJECTS)])
    anchor = rng.integers(0, OBJECTS, ROWS)
    near = (anchor + rng.integers(1, OBJECTS // 2, ROWS)) % OBJECTS
    far = (anchor + rng.integers(OBJECTS // 2, OBJECTS, ROWS)) % OBJECTS
    table = {"anchor": names.gather(anchor), "near": names.gather(near), "far": names.gather(far)}
    if columns == 5:
        table["participant"] = pl.Series(np.arange(ROWS) // 500)
        table["seconds"] = pl.Series(rng.gamma(4, 0.5, ROWS).round(3))
    pl.DataFrame(table).write_csv(path)


def read(which: str, path: str) -> dict[str, Any]:
    """One way to read the file, in a process of its own; the first run of each is not counted."""
    if which == "nearfar":
        from nearfar import read_triplets as work
    else:
        from polars import read_csv as work
    small = Path(path).with_name("small.csv")
    if not small.exists():
        with open(path) as whole:
            small.write_text("".join(line for line, _ in zip(whole, range(100), strict=False)))
    work(small)
    start, worked = time.perf_counter(), time.process_time()
    rows = len(work(path))
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - worked,
        "rows": rows,
    }


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for columns in (3, 5):
            path = Path(folder) / f"answers{columns}.csv"
            make_file(path, columns=columns)
            runs: dict[str, list[dict[str, Any]]] = {"polars": [], "nearfar": []}
            for _ in range(REPEAT):  # in turns, so that a noisy minute hits both
                for which, done in runs.items():
                    done.append(in_child("benchmarks.reading", "read", which, str(path)))
            best = {which: min(run["seconds"] for run in done) for which, done in runs.items()}
            cpu = {which: min(run["cpu_seconds"] for run in done) for which, done in runs.items()}
            peak = {which: min(run["peak_bytes"] for run in done) / 2**20 for which, done in runs.items()}
            rows.append(
                {
                    "case": f"{ROWS:,} rows, {columns} columns, {path.stat().st_size / 2**20:.0f} MB",
                    "nearfar_seconds": best["nearfar"],
                    "polars_seconds": best["polars"],
                    "ratio": best["nearfar"] / best["polars"],
                    "nearfar_cpu_seconds": cpu["nearfar"],
                    "polars_cpu_seconds": cpu["polars"],
                    "cpu_ratio": cpu["nearfar"] / cpu["polars"],
                    "nearfar_peak_mb": peak["nearfar"],
                    "polars_peak_mb": peak["polars"],
                    "all_seconds": {which: [run["seconds"] for run in done] for which, done in runs.items()},
                }
            )
            show(rows[-1:])
    print("rows kept in", save("reading", rows))


if __name__ == "__main__":
    main()
