"""The peer: cblearn's embeddings on the USPS triplets, from its own start and from a small one, and ours beside it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments import _methods, _peers_page, usps
from experiments._data import Data
from experiments._experiment import Absent, Cell, Experiment, seed_of
from experiments._machine import timed
from nearfar.evaluate.metrics import purity

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / "benchmarks" / ".env" / "cblearn" / "bin" / "python"
BUILD = ROOT / "benchmarks" / "accuracy" / "cblearn_env.sh"
METHODS = ("GNMDS", "CKL", "TSTE", "STE", "SOE")
BUDGETS, RUNS, FLIP, D = (20_000, 100_000), 2, 0.0, 2
PATIENCE = 7200  # wall seconds until a fit that does not come back is given up


def cells(quick: bool) -> list[Cell]:
    """The first of everything first, so that a run cut short says something about all."""
    kernels = [
        Cell({"run": run, "budget": budget, "design": "landmark", "method": method, "start": "ours"}, 1.0)
        for run in range(1 if quick else RUNS)
        for budget in (BUDGETS[:1] if quick else BUDGETS)
        for method in ("k1", "k2")
    ]
    return kernels + [
        Cell(
            {"run": run, "budget": budget, "design": design, "method": method, "d": D, "start": start},
            1.0 if start == "ours" else budget / 2000,
        )
        for run in range(1 if quick else RUNS)
        for budget in (BUDGETS[:1] if quick else BUDGETS)
        for method in METHODS
        for start in ("default", "small", "ours")
        for design in ("landmark", "rand")
    ]


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    run, seed = settings["run"], seed_of("fit", settings["run"])
    _, truth, landmarks = usps.sample(data, run)
    kernel = settings["method"] if _methods.is_kernel(settings["method"]) else "k1"
    given = usps.collect(data, run, settings["budget"], FLIP, settings["design"], kernel)
    if _methods.is_kernel(settings["method"]):
        return _methods.cluster_purity(settings, given, landmarks, truth, seed)
    if settings["start"] == "ours":
        return _methods.cluster_purity({**settings, "start": "kernel"}, given, None, truth, seed)
    with tempfile.TemporaryDirectory() as folder:
        answers, points = Path(folder) / "answers.npz", Path(folder) / "points.npz"
        np.savez(answers, triplets=given.array, n=given.n_objects)
        _fit(settings, answers, points)
        with np.load(points) as stored:
            places, seconds, capped = stored["points"], float(stored["seconds"]), bool(stored["capped"])
            version = str(stored["version"])
    labels, more = timed(lambda: _methods.cluster_points(places, len(usps.CLASSES), seed))
    result = {"purity": purity(labels, truth), "seconds": seconds, "cluster_seconds": more}
    return result | {"capped": capped, "cblearn": version}


def _fit(settings: Mapping[str, Any], answers: Path, points: Path) -> None:
    script = Path(__file__).with_name("_cblearn.py")
    what = [settings["method"], settings["d"], settings["start"], settings["run"]]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [environment(), script, answers, points, *map(str, what)],
        env=os.environ | one_thread,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"cblearn failed: {done.stderr[-2000:]}")


@lru_cache(maxsize=1)
def environment() -> Path:
    """cblearn's own Python, built by the benchmarks' script where it is not there."""
    if not ENVIRONMENT.exists():
        built = subprocess.run(["sh", BUILD], capture_output=True, text=True, check=False)
        if built.returncode or not ENVIRONMENT.exists():
            raise Absent(f"cblearn's environment could not be built: {built.stderr.strip()[-200:]}")
    return ENVIRONMENT


EXPERIMENT = Experiment(
    "peers", _peers_page.TITLE, cells, compute, ours=_peers_page.section, needs_peers=True
)
