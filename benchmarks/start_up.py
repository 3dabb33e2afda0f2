"""Start-up: CPU seconds of whole commands on small input, beside those of importing what they cannot do without.

    python -m benchmarks.start_up

Every command runs in a process of its own, warm (once before, so that files are in memory and loops compiled), in
turns with the others; the least of seven runs counts.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks._measure import save, show, size

RUNS = size(7, 1)
TABLES, KERNELS = "import numpy, polars", "import numpy, polars, numba, scipy.sparse.linalg"
ALL_COMMANDS = [  # words, the imports that are its limit, CPU seconds we aim at
    ("--help", "import typer, typer.rich_utils", 0.25),
    ("check answers.csv", TABLES, 1.0),
    ("convert answers.csv out.parquet -q", TABLES, 1.0),
    ("plan objects.csv --budget 300 -o plan.csv -q", TABLES, 1.0),
    ("map answers.csv --model score -o map.csv -q", KERNELS, 2.0),
]
COMMANDS = size(ALL_COMMANDS, ALL_COMMANDS[:2])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _write_study(Path(folder))
        least: dict[str, float] = {}
        for run in range(RUNS + 1):
            for words, limit, _ in COMMANDS:
                for what, code in ((words, ["-m", "nearfar", *words.split()]), (limit, ["-c", limit])):
                    took = _cpu_seconds([sys.executable, *code], folder)
                    if run:  # the first one warms up
                        least[what] = min(took, least.get(what, took))
    rows = [
        {
            "command": words,
            "cpu_seconds": least[words],
            "limit": limit,
            "limit_cpu_seconds": least[limit],
            "aim": aim,
            "ratio": least[words] / least[limit],
        }
        for words, limit, aim in COMMANDS
    ]
    show(rows)
    print("rows kept in", save("start_up", rows))


def _cpu_seconds(code: list[str], folder: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(code, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _write_study(folder: Path) -> None:
    """10,000 answers about 100 points in the plane."""
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(100, 2)), np.array([rng.permutation(100)[:3] for _ in range(10_000)])
    gaps = [((points[rows[:, 0]] - points[rows[:, i]]) ** 2).sum(axis=1) for i in (1, 2)]
    rows[gaps[0] > gaps[1]] = rows[gaps[0] > gaps[1]][:, [0, 2, 1]]
    names = np.array([f"o{x}" for x in range(100)])
    pl.DataFrame(dict(zip(("anchor", "near", "far"), names[rows.T], strict=True))).write_csv(
        folder / "answers.csv"
    )
    (folder / "objects.csv").write_text("\n".join(["object", *names]) + "\n")


if __name__ == "__main__":
    main()
