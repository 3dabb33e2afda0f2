"""Computes the cells that are not stored yet, says how far it is, and goes on where it was killed."""

from __future__ import annotations

import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from experiments._data import Data
from experiments._experiment import Absent, Cell, Experiment
from experiments._machine import enlist, single_threaded, timed
from experiments._store import Store

__all__ = ["Outcome", "Places", "run"]

ROOT = Path(__file__).parents[1]
PERIOD = 30.0  # seconds between lines where there is no terminal to draw on


@dataclass(frozen=True)
class Places:
    """Where rows, the summary, the two long pages and the figures go."""

    rows: Path
    summary: Path
    page: Path
    ours: Path
    figures: Path

    @classmethod
    def full(cls) -> Places:
        """What is committed."""
        docs, rows = ROOT / "docs", ROOT / "experiments" / "results"
        return cls(rows, docs / "paper.md", rows / "paper-details.md", rows / "paper-ours.md", docs / "paper")

    @classmethod
    def below(cls, folder: Path) -> Places:
        """All in one folder, e.g. that of the quick run."""
        rows = folder / "results"
        return cls(
            rows, folder / "paper.md", rows / "paper-details.md", rows / "paper-ours.md", folder / "paper"
        )


@dataclass
class Outcome:
    """What a run did."""

    computed: int = 0
    stored: int = 0
    absent: int = 0
    failed: int = 0


def run(
    experiments: Sequence[Experiment],
    places: Places,
    data: Data,
    *,
    quick: bool,
    jobs: int = 1,
    quiet: bool = False,
) -> Outcome:
    """Compute every missing cell of the experiments; a cell that fails does not stop the others.

    Cells run in ``jobs`` processes of one thread each, so that their CPU seconds compare whatever else the machine
    does. Each is stored as soon as it is finished.
    """
    work = [
        (experiment, Store(places.rows, experiment.name), experiment.cells(quick))
        for experiment in experiments
    ]
    todo = [
        (experiment, store, cell) for experiment, store, cells in work for cell in cells if cell not in store
    ]
    outcome = Outcome(stored=sum(len(cells) for *_, cells in work) - len(todo))
    on = enlist(places.rows) if todo else 0
    left = Counter(experiment.name for experiment, *_ in todo)
    with _meter(sum(cell.cost for *_, cell in todo), quiet) as meter:
        for (experiment, store, cell), finished in _finished(todo, data, jobs):
            _keep(experiment, cell, store, finished, outcome, on)
            left[experiment.name] -= 1
            if left[experiment.name] == 0 and len(store):
                store.arrange(experiment.cells(quick))
            meter.advance(f"{experiment.name}, {left.total()} cells left", cell.cost)
    if outcome.computed:
        enlist(places.rows)
    return outcome


Job = tuple[Experiment, Store, Cell]


@dataclass(frozen=True)
class Finished:
    """What became of a cell: a result, or a reason why there is none."""

    result: Mapping[str, Any] | None = None
    cpu_seconds: float = 0.0
    absent: str = ""
    failed: str = ""


def _finished(todo: Sequence[Job], data: Data, jobs: int) -> Iterator[tuple[Job, Finished]]:
    """Jobs and their results, as they come."""
    if jobs <= 1 or len(todo) <= 1:
        for job in todo:
            with single_threaded():
                finished = _compute(job[0], job[2], data)
            yield job, finished
        return
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _start_worker, (data.folder,))
    try:
        queue = iter(todo)
        running = {}
        # a few at a time: neighbours share their simulated answers, and an interrupt has little to wait for
        for job in islice(queue, 2 * jobs):
            running[pool.submit(_in_worker, job[0].name, job[2])] = job
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
                for job in islice(queue, 1):
                    running[pool.submit(_in_worker, job[0].name, job[2])] = job
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_worker_data: Data | None = None
_whole_life = ExitStack()  # what a worker enters and never leaves


def _start_worker(folder: Path | None) -> None:
    global _worker_data
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and lets the cells in hand finish
    _whole_life.enter_context(single_threaded())
    _worker_data = Data(folder)


def _in_worker(name: str, cell: Cell) -> Finished:
    from experiments._catalogue import EXPERIMENTS

    assert _worker_data is not None
    return _compute(EXPERIMENTS[name], cell, _worker_data)


def _compute(experiment: Experiment, cell: Cell, data: Data) -> Finished:
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            computed, seconds = timed(lambda: experiment.compute(cell.settings, data))
            result = dict(computed)
    except Absent as reason:
        return Finished(absent=str(reason))
    except Exception:
        return Finished(failed=traceback.format_exc())
    if caught:
        result["warned"] = sorted({warning.category.__name__ for warning in caught})
    return Finished(result, seconds)


def _keep(
    experiment: Experiment, cell: Cell, store: Store, finished: Finished, outcome: Outcome, on: int
) -> None:
    if finished.absent:
        outcome.absent += 1
        print(f"{experiment.name}: data is absent: {finished.absent}", file=sys.stderr)
    elif finished.result is None:
        outcome.failed += 1
        print(f"{experiment.name} {cell.key} failed:\n{finished.failed}", file=sys.stderr)
    else:
        store.add(cell, finished.result, cpu_seconds=finished.cpu_seconds, machine=on)
        outcome.computed += 1


# ---------------------------------------------------------------- how far it is


class Meter(Protocol):
    """Says how far the work is and how long the rest will take."""

    def advance(self, what: str, amount: float) -> None:
        """``amount`` more of the total is done; ``what`` it was."""


@contextmanager
def _meter(total: float, quiet: bool) -> Iterator[Meter]:
    if quiet or total == 0:
        yield _Silent()
    elif not sys.stderr.isatty():
        yield _Lines(total)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        left = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
        columns = (TextColumn("{task.description:32}"), BarColumn(), *left)
        with Progress(*columns, console=Console(stderr=True), speed_estimate_period=600) as progress:
            yield _Bar(progress, progress.add_task("starting", total=total))


class _Silent:
    def advance(self, what: str, amount: float) -> None:
        """Nothing."""


class _Bar:
    def __init__(self, progress: Any, task: Any) -> None:
        self._progress, self._task = progress, task

    def advance(self, what: str, amount: float) -> None:
        self._progress.update(self._task, description=what, advance=amount)


class _Lines:
    """For logs: a line every half minute."""

    def __init__(self, total: float) -> None:
        self._total, self._done = total, 0.0
        self._start = self._last = time.monotonic()

    def advance(self, what: str, amount: float) -> None:
        self._done += amount
        now = time.monotonic()
        if now - self._last >= PERIOD:
            self._last = now
            spent = now - self._start
            left = spent * (self._total / self._done - 1)
            print(
                f"{what}: {spent / 60:.1f} min so far, about {left / 60:.0f} min left",
                file=sys.stderr,
                flush=True,
            )
