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

from benchmarks._measure import RESULTS, machine, size
from nearfar.errors import NearfarWarning
from nearfar.evaluate.participants import wilson
from nearfar.evaluate.splits import kfold
from nearfar.space.models import parse_model
from nearfar.space.space import Space
from nearfar.triplets import Triplets

__all__ = ["bare", "fit", "held_out", "repetitions", "run_cells", "share", "summary"]

Row = dict[str, Any]


def fit(name: str, answers: Triplets) -> Space:
    """The space that a model makes of answers."""
    return parse_model(name).fit(answers)


def bare(answers: Triplets, who: str = "unknown") -> Triplets:
    """The same answers without saying who gave them, where ``who`` is "unknown"; else as they are."""
    if who != "unknown":
        return answers
    rows = np.column_stack([answers.anchor, answers.near, answers.far])
    return Triplets.from_array(rows, n_objects=answers.n_objects)


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
    return int(given) if given else size(default, 1)


def run_cells(name: str, cells: Iterable[Row], work: Callable[..., Row], count: int) -> list[Row]:
    """``work(seed, **cell)`` ``count`` times per cell; the mean of every number it returns, kept as JSON.

    Rates (numbers that are 0 or 1 in every repetition) get their 95 % Wilson interval; other numbers one of two standard
    errors over repetitions. The file is written after every
    cell, and a cell that stands in it with at least as many repetitions is not run again: an interrupted command goes
    on where it stopped. ``--again`` runs all of them. A small run has the first cell alone, with a few answers.
    """
    path = RESULTS / "honesty" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    kept: list[Row] = json.loads(path.read_text())["rows"] if path.exists() else []
    rows = []
    for cell in size(list, _small)(cells):
        before = next((row for row in kept if _is_of(row, cell)), None)
        if before is not None and before["repetitions"] >= count and "--again" not in sys.argv:
            rows.append(before)
            continue
        row = _run_cell(cell, work, count)
        rows.append(row)
        kept = [row if other is before else other for other in kept] if before else [*kept, row]
        print(json.dumps(row), flush=True)
        path.write_text(json.dumps({"machine": machine(), "rows": kept}, indent=1) + "\n")
    return rows


def _small(cells: Iterable[Row]) -> list[Row]:
    """The first cell, with fewer answers."""
    first = next(iter(cells))
    return [first | {"m": min(first["m"], 400)} if "m" in first else first]


def _is_of(row: Row, cell: Row) -> bool:
    same = json.loads(json.dumps(cell))
    return all(key in row and row[key] == value for key, value in same.items())


def _run_cell(cell: Row, work: Callable[..., Row], count: int) -> Row:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        found = [work(np.random.SeedSequence([77, seed]), **cell) for seed in range(count)]
    return {**cell, **summary(found), "seconds": round(time.perf_counter() - start, 1)}


def summary(found: list[Row]) -> Row:
    """The mean of every number over runs, with its interval, and of how many runs it is known."""
    row: Row = {"repetitions": len(found)}
    for key in found[0]:
        values = [f[key] for f in found if f[key] is not None]
        row[key] = round(float(np.mean(values)), 4) if values else None
        if len(values) < len(found):
            row[f"{key}_known"] = len(values)
        if values and set(values) <= {0.0, 1.0}:
            row[f"{key}_interval"] = [round(limit, 3) for limit in wilson(np.mean(values), len(values))]
        elif len(values) > 1:
            error = 2 * float(np.std(values, ddof=1)) / np.sqrt(len(values))
            row[f"{key}_interval"] = [round(row[key] - error, 4), round(row[key] + error, 4)]
    return row


def share(hit: bool | np.bool_) -> float:
    """1 or 0."""
    return float(hit)
