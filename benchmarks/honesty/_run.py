"""Run cells of a simulation, keep their rows as JSON, and fit models cheaply."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import RESULTS, machine
from nearfar.errors import NearfarWarning
from nearfar.evaluate.splits import kfold
from nearfar.space.models import parse_model
from nearfar.space.space import Space
from nearfar.triplets import Triplets

__all__ = ["fit", "held_out", "repetitions", "run_cells", "share"]

Row = dict[str, Any]


def fit(name: str, answers: Triplets) -> Space:
    """The space that a model makes of answers."""
    return parse_model(name).fit(answers)


def held_out(
    answers: Triplets, models: list[str], cv: int = 5, seed: int = 0
) -> tuple[NDArray[Any], NDArray[np.int64], list[list[Any]]]:
    """(k, m) credits, (m,) parts, and the fitted models of every part."""
    credits = np.zeros((len(models), len(answers)))
    part = np.zeros(len(answers), dtype=np.int64)
    fits = []
    for number, (train, test) in enumerate(kfold(answers, cv, seed=seed)):
        part[test] = number
        fits.append([fit(name, answers[train]) for name in models])
        for k, fitted in enumerate(fits[-1]):
            credits[k, test] = fitted.credits(answers[test])
    return credits, part, fits


def repetitions(default: int = 200) -> int:
    """How many repetitions a cell gets: the first argument of the command, or NEARFAR_REPETITIONS."""
    given = next((a for a in sys.argv[1:] if a.isdigit()), os.environ.get("NEARFAR_REPETITIONS", ""))
    return int(given) if given else default


def run_cells(name: str, cells: Iterable[Row], work: Callable[..., Row], count: int) -> list[Row]:
    """``work(seed, **cell)`` ``count`` times per cell; the mean of every number it returns, kept as JSON."""
    rows = []
    for cell in cells:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NearfarWarning)
            found = [work(np.random.SeedSequence([77, seed]), **cell) for seed in range(count)]
        row = {**cell, "repetitions": count}
        for key in found[0]:
            values = [f[key] for f in found if f[key] is not None]
            row[key] = round(float(np.mean(values)), 4) if values else None
            if len(values) < count:
                row[f"{key}_known"] = len(values)
        row["seconds"] = round(time.perf_counter() - start, 1)
        rows.append(row)
        print(json.dumps(row), flush=True)
    folder = RESULTS / "honesty"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
    return rows


def share(hit: bool | np.bool_) -> float:
    """1 or 0."""
    return float(hit)
