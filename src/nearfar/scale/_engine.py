"""The Dask client as the verbs see it: named tasks, progress, and one sentence when the cluster fails.

Tasks are plain functions of arrays. Every one runs on one core of its worker (a worker has one thread per core),
never changes its arguments, and can be run again: that is all that a lost worker asks of us.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from nearfar import threads
from nearfar.errors import InputError, MissingExtra, NearfarError, TooLargeError, UnreachableError
from nearfar.progress import step

__all__ = ["Engine", "Future", "current_engine", "require_dask"]

Future = Any  # distributed.Future, or a plain value where a task takes either

CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
LOOK = 0.5  # seconds between two looks at a cluster that is working
NOBODY = 60.0  # seconds without a single worker before it is an error
FAN_IN = 16  # results that one task of a reduction joins


def require_dask() -> Any:
    """The module ``distributed``, or a sentence that says how to install it."""
    try:
        import distributed
    except ImportError as error:
        raise MissingExtra("dask", "dask") from error
    return distributed


def current_engine() -> Engine:
    """The engine on the client that is active in this process."""
    distributed = require_dask()
    try:
        client = distributed.Client.current()
    except ValueError as error:
        raise InputError(
            "nearfar.scale: there is no Dask client; open one first, for example "
            "with nearfar.scale.connect('local'): ...",
        ) from error
    return Engine(client)


class Engine:
    """Runs functions on the workers of one client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.address = getattr(client.scheduler, "address", "the scheduler")

    # ---------------------------------------------------------------- facts

    def memory_per_task(self) -> int:
        """Bytes of the smallest worker for each of its threads; 2 GB where workers have no limit."""
        with self.faults("looking at the workers"):
            workers = self.client.scheduler_info()["workers"].values()
        shares = [w["memory_limit"] // max(w["nthreads"], 1) for w in workers if w.get("memory_limit")]
        return min(shares, default=2 << 30)

    def n_cores(self) -> int:
        """Threads of all workers."""
        with self.faults("looking at the workers"):
            return max(1, sum(map(int, self.client.nthreads().values())))

    # ---------------------------------------------------------------- tasks

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any) -> Future:
        """One task; arguments may be futures, or lists of them."""
        with self.faults(name), _no_size_warning():
            return self.client.submit(
                run_alone, function, *arguments, key=f"{name}-{uuid4().hex}", pure=False
            )

    def map(self, name: str, function: Callable[..., Any], *columns: Iterable[Any]) -> list[Future]:
        """``function(*row)`` for every row of the zipped columns."""
        rows = list(zip(*columns, strict=True))
        if not rows:
            return []
        token = uuid4().hex
        keys = [f"{name}-{token}-{i}" for i in range(len(rows))]
        with self.faults(name), _no_size_warning():
            futures: list[Future] = self.client.map(
                run_row, [function] * len(rows), rows, key=keys, pure=False
            )
        return futures

    def reduce(self, name: str, function: Callable[[list[Any]], Any], futures: Sequence[Future]) -> Future:
        """``function(list of results)``, by groups, until one is left; the order of results is kept."""
        level = list(futures)
        while len(level) > FAN_IN:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [self.submit(name, function, group) for group in groups]
        return self.submit(name, function, level)

    # ---------------------------------------------------------------- results

    def wait(self, name: str, futures: Sequence[Future]) -> None:
        """Until all are done; the first one that failed is raised."""
        distributed = require_dask()
        open_futures = list(futures)
        lonely = time.monotonic()
        with step(name, total=len(open_futures)) as advance, self.faults(name):
            while open_futures:
                with suppress(TimeoutError):
                    distributed.wait(open_futures, timeout=LOOK)
                done = [future for future in open_futures if future.done()]
                for future in done:
                    if future.status != "finished":
                        future.result(timeout=30)  # raises what the task raised
                advance(len(done))
                open_futures = [future for future in open_futures if not future.done()]
                if done or self._has_workers():
                    lonely = time.monotonic()
                elif time.monotonic() - lonely > NOBODY:
                    raise UnreachableError(
                        f"{self.address}: has had no worker for {NOBODY:.0f} seconds, while {name} was under way; "
                        "start workers and run this again"
                    )

    def gather(self, name: str, futures: Sequence[Future]) -> list[Any]:
        """The results, here."""
        self.wait(name, futures)
        with self.faults(name):
            results: list[Any] = self.client.gather(list(futures))
        return results

    def result(self, name: str, future: Future) -> Any:
        """The result of one task, here."""
        return self.gather(name, [future])[0]

    def _has_workers(self) -> bool:
        return bool(self.client.nthreads())

    # ---------------------------------------------------------------- when it breaks

    def faults(self, doing: str) -> _Faults:
        """A context that turns what Dask raises when a cluster breaks into one sentence."""
        return _Faults(self, doing)


class _Faults:
    def __init__(self, engine: Engine, doing: str) -> None:
        self._engine = engine
        self._doing = doing

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, NearfarError):
            return
        translated = self._translate(error)
        if translated is not None:
            raise translated from error

    def _translate(self, error: BaseException) -> NearfarError | None:
        distributed = require_dask()
        address, doing = self._engine.address, self._doing
        if isinstance(error, distributed.KilledWorker):
            return TooLargeError(
                f"{address}: {doing}: workers died {error.allowed_failures + 1} times on the same task, most "
                "likely for lack of memory; give them more memory, or fewer threads each"
            )
        if isinstance(error, MemoryError):
            return TooLargeError(
                f"{address}: {doing}: there is too little memory ({error}); give workers more, or fewer threads each"
            )
        lost = (distributed.comm.CommClosedError, TimeoutError, ConnectionError)
        closed = self._engine.client.status != "running" or "scheduler-connection-lost" in str(error)
        if isinstance(error, CANCELLED) and not closed:
            return UnreachableError(
                f"{address}: the Dask scheduler gave up {doing} ({_reason(error)}); its log says why"
            )
        if isinstance(error, lost) or (closed and isinstance(error, (Exception, *CANCELLED))):
            return UnreachableError(
                f"{address}: the Dask scheduler went away while {doing} was under way; what was computed on the "
                "cluster is lost, start it again and run this again"
            )
        return None


def _reason(error: BaseException) -> str:
    """Why futures were cancelled, in Dask's words."""
    groups = getattr(error, "error_groups", [error])
    return ", ".join(sorted({str(getattr(group, "reason", "cancelled")) for group in groups}))


def _no_size_warning() -> Any:
    """Arguments travel with their tasks, on purpose: what is scattered cannot be made again when a worker is lost."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})


def run_row(function: Callable[..., Any], row: tuple[Any, ...]) -> Any:
    """``function(*row)``, on one core."""
    return run_alone(function, *row)


def run_alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """``function(*arguments)``, on one core: the worker's other threads have tasks of their own."""
    with threads.alone():
        return function(*arguments)
