"""The Dask client as a backend of row blocks: named tasks, progress, and one sentence when the cluster fails.

Tasks are plain functions of arrays. Every one runs on one core of its worker (a worker has one thread per core),
never changes its arguments, and can be run again: that is all that a lost worker asks of us.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from operator import itemgetter
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from nearfar import __version__
from nearfar._tools import threads
from nearfar._tools.checks import need
from nearfar._tools.progress import step
from nearfar.blocks import Backend, Scratch, add_all
from nearfar.errors import InputError, NearfarError, TooLargeError, UnreachableError

Future = Any  # distributed.Future, or a plain value where a task takes either

CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
POLL_SECONDS = 0.5  # seconds between two looks at a cluster that is working
FAN_IN = 16  # results that one task of a reduction joins
SAME_VERSION = ("nearfar", "dask", "distributed")
SAME_MINOR_VERSION = ("python", "numpy", "scipy", "numba")  # 3.11.4 may work with 3.11.5
SHARED_BYTES = 1 << 14  # a larger argument of all tasks is sent once, not once for every task


def require_dask() -> Any:
    """The module ``distributed``, or a sentence that says how to install it."""
    return need("distributed", "dask", "dask")


_scratch: ContextVar[Scratch | None] = ContextVar("nearfar_scratch", default=None)


@contextmanager
def scratch(folder: str | os.PathLike[str]) -> Iterator[Scratch]:
    """Inside the ``with`` block the verbs of ``nearfar.scale`` keep rows in files of this folder, not in memory.

    One machine then goes past its memory with the same code. The folder must exist; what is written there (about
    two copies of Phi) is removed at the end, so take what you need out before: coordinates and labels by
    ``to_array()``.

    Parameters
    ----------
    folder : on a disk with room, and the faster the better.

    Examples
    --------
    >>> import tempfile
    >>> import nearfar as nf
    >>> with scratch(tempfile.mkdtemp()):
    ...     phi = nf.scale.FeatureMap("score").fit_transform([[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    ...     nf.KernelPCA(1).fit_transform(phi).to_array().shape
    (3, 1)
    """
    made = Scratch(folder)
    token = _scratch.set(made)
    try:
        yield made
    finally:
        _scratch.reset(token)
        made.close()


def current_backend() -> Backend:
    """The scratch folder that is open, or the engine on the Dask client that is active in this process."""
    if (made := _scratch.get()) is not None:
        return made
    distributed = require_dask()
    try:
        client = distributed.Client.current()
    except ValueError as error:
        raise InputError(
            "nearfar.scale: there is neither a Dask client nor a scratch folder; open one first, for example "
            "with nearfar.scale.connect('local'): ... or with nearfar.scale.scratch('/tmp'): ..."
        ) from error
    engine = Engine(client)
    engine.verify()
    return engine


_verified: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()  # workers of a client that are like us


def patience(whose: str, default: float) -> float:
    """Seconds to wait for a reply of the scheduler ("REPLY"), or for a sign of life of any worker ("WORKER").

    >>> patience("REPLY", 30.0)
    30.0
    """
    variable = f"NEARFAR_DASK_{whose}_TIMEOUT"
    given = os.environ.get(variable, "").strip()
    try:
        seconds = float(given or default)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(f"{variable} must be a number of seconds > 0, got {given!r}")
    return seconds


class Engine(Backend):
    """Runs functions on the workers of one client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.address = getattr(client.scheduler, "address", "the scheduler")

    # ---------------------------------------------------------------- facts

    def memory_per_task(self) -> int:
        """Bytes of the smallest worker for each of its threads; 2 GB where workers have no limit."""
        workers = self._ask(self.client.scheduler.identity)["workers"].values()
        shares = [w["memory_limit"] // max(w["nthreads"], 1) for w in workers if w.get("memory_limit")]
        return min(shares, default=2 << 30)

    def n_cores(self) -> int:
        """Threads of all workers."""
        return max(1, sum(map(int, self._ask(self.client.scheduler.ncores).values())))

    def verify(self) -> None:
        """One sentence where workers that were not looked at before have no nearfar, or other versions.

        A task sent to one without nearfar would never come back, and nothing would say why.
        """
        known = _verified.setdefault(self.client, set())
        if new := sorted(set(self._ask(self.client.scheduler.ncores)) - known):
            with self.faults("looking at the workers"):
                check_versions(self.client, self.address, new)
            known.update(new)

    # ---------------------------------------------------------------- tasks

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any) -> Future:
        """One task; arguments may be futures, or lists of them."""
        return self.map(name, function, *([argument] for argument in arguments))[0]

    def map(
        self, name: str, function: Callable[..., Any], *columns: Iterable[Any], **shared: Any
    ) -> list[Future]:
        """``function(*row, **shared)`` for every row of the zipped columns."""
        rows = list(zip(*columns, strict=True))
        if not rows:
            return []
        from dask import config

        token, values = uuid4().hex, tuple(self._sent_once(name, value) for value in shared.values())
        given = [(function, tuple(shared), row + values) for row in rows]
        keys = [f"{name}-{token}-{i}" for i in range(len(rows))]
        # arguments travel with their tasks, on purpose: what is scattered cannot be made again when a worker is lost
        with self.faults(name), config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            futures: list[Future] = self.client.map(run_row, *zip(*given, strict=True), key=keys, pure=False)
        return futures

    store = map

    def store_pairs(
        self, name: str, function: Callable[..., Any], *columns: Iterable[Any], **shared: Any
    ) -> tuple[list[Future], list[Future]]:
        """As ``map``, for pairs, each half a future of its own."""
        pairs = self.map(name, function, *columns, **shared)
        large, small = (self.map(name, itemgetter(half), pairs) for half in (0, 1))
        return large, small

    def total(
        self, name: str, function: Callable[..., Any], *columns: Iterable[Any], **shared: Any
    ) -> Future:
        """The sum of the results of ``map``, in order."""
        return self.reduce(name, add_all, self.map(name, function, *columns, **shared))

    def reduce(self, name: str, function: Callable[[list[Any]], Any], futures: Sequence[Future]) -> Future:
        """``function(list of results)``, by groups, until one is left; the order of results is kept."""
        level = list(futures)
        while len(level) > FAN_IN:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [self.submit(name, function, group) for group in groups]
        return self.submit(name, function, level)

    def _sent_once(self, name: str, value: Any) -> Any:
        """A large argument of many tasks as the result of one task."""
        from dask.sizeof import sizeof

        is_future = hasattr(value, "key") and hasattr(value, "status")
        return value if is_future or sizeof(value) <= SHARED_BYTES else self.submit(name, same, value)

    # ---------------------------------------------------------------- results

    def wait(self, name: str, futures: Sequence[Future]) -> None:
        """Until all are done; the first one that failed is raised."""
        distributed = require_dask()
        open_futures = list(futures)
        pulse = _Pulse(self, name)
        with step(name, total=len(open_futures)) as advance, self.faults(name):
            while open_futures:
                with suppress(TimeoutError):
                    distributed.wait(open_futures, timeout=POLL_SECONDS)
                done = [future for future in open_futures if future.done()]
                for future in done:
                    if future.status != "finished":
                        future.result(timeout=patience("REPLY", 30.0))  # raises what the task raised
                advance(len(done))
                open_futures = [future for future in open_futures if not future.done()]
                pulse.check(bool(done))

    def gather(self, name: str, futures: Sequence[Future]) -> list[Any]:
        """The results, here."""
        self.wait(name, futures)
        pulse = _Pulse(self, name)
        with self.faults(name):
            work = self.client.gather(list(futures), asynchronous=True)
            running = asyncio.run_coroutine_threadsafe(work, self.client.loop.asyncio_loop)
            while True:  # as long as it takes while scheduler and workers live
                try:
                    results: list[Any] = running.result(timeout=POLL_SECONDS)
                    return results
                except concurrent.futures.TimeoutError:
                    if running.done():
                        raise
                    pulse.check()

    def _ask(self, question: Callable[[], Any]) -> Any:
        """What the scheduler replies; an error where it does not in time."""
        limit = patience("REPLY", 30.0)
        with self.faults("looking at the workers"):
            try:
                return self.client.sync(question, callback_timeout=limit)
            except TimeoutError as error:
                if self.client.status != "running":
                    raise
                raise UnreachableError(
                    f"{self.address}: the Dask scheduler has not replied for {limit:.0f} seconds; see "
                    "whether its process still runs, start it again and run this again"
                ) from error

    # ---------------------------------------------------------------- when it breaks

    @contextmanager
    def faults(self, doing: str) -> Iterator[None]:
        """A context that turns what Dask raises when a cluster breaks into one sentence."""
        try:
            yield
        except BaseException as error:
            if isinstance(error, NearfarError) or (said := self._translate(error, doing)) is None:
                raise
            raise said from error

    def _translate(self, error: BaseException, doing: str) -> NearfarError | None:
        distributed, address, more = require_dask(), self.address, "give workers more, or fewer threads each"
        if isinstance(error, distributed.KilledWorker):
            died = f"workers died {error.allowed_failures + 1} times on the same task"
            return TooLargeError(f"{address}: {doing}: {died}, most likely for lack of memory; {more}")
        if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == "nearfar":
            remedy = f"install version {__version__} there, from the checkout"
            return InputError(f"{address}: {doing}: a worker has no nearfar; {remedy}")
        if isinstance(error, MemoryError):
            return TooLargeError(f"{address}: {doing}: there is too little memory ({error}); {more}")
        lost = (distributed.comm.CommClosedError, TimeoutError, ConnectionError)
        closed = self.client.status != "running" or "scheduler-connection-lost" in str(error)
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


def check_versions(client: Any, address: str, workers: list[str] | None = None) -> None:
    """One sentence where the scheduler or a worker has no nearfar, or other versions than this process.

    ``workers`` : the addresses of those to look at; all without it. Dask itself asks them: a function of ours can crash
    another Python.
    """
    told = client.get_versions(packages=[*SAME_VERSION, *SAME_MINOR_VERSION[1:]])
    here = _shown(told["client"])
    asked = [worker for worker in sorted(told["workers"]) if workers is None or worker in workers]
    cluster = {"the scheduler": told["scheduler"]} | {f"worker {w}": told["workers"][w] for w in asked}
    for who, there in cluster.items():
        if there["packages"]["nearfar"] is None:
            remedy = f"install version {here['nearfar']} there, from the checkout"
            raise InputError(f"{address}: {who} has no nearfar; {remedy}")
        if differ := ", ".join(_differing(here, _shown(there))):
            raise InputError(f"{address}: {who} has {differ}; install the same versions everywhere")


def _shown(told: Any) -> dict[str, str | None]:
    """The versions that count, as Dask tells them."""
    versions = {name: told["packages"].get(name) for name in (*SAME_VERSION, *SAME_MINOR_VERSION)}
    return versions | {"python": versions["python"].removesuffix(".final.0")}


def _differing(here: dict[str, str | None], there: dict[str, str | None]) -> list[str]:
    """Packages that are not alike: to the last digit, or in the first two numbers of the version.

    >>> _differing({"numpy": "2.4.0"}, {"numpy": "2.4.1"}), _differing({"dask": "1.0"}, {"dask": "1.1"})
    ([], ['dask 1.1 (here 1.0)'])
    >>> _differing({"numba": "0.61.0"}, {"numba": None})
    ['no numba (here 0.61.0)']
    """
    digits = {name: None if name in SAME_VERSION else 2 for name in here}
    return [
        f"{f'no {name}' if there[name] is None else f'{name} {there[name]}'} (here {here[name]})"
        for name, most in digits.items()
        if str(there[name]).split(".")[:most] != str(here[name]).split(".")[:most]
    ]


class _Pulse:
    """Signs of life of workers: heartbeats that the scheduler hears; a frozen process is there and sends none."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._name = name
        self._heard: float | None = None
        self._since = self._looked = time.monotonic()

    def check(self, done: bool = False) -> None:
        """Look now and then; an error where no worker did anything for too long."""
        now, limit = time.monotonic(), patience("WORKER", 60.0)
        if done:
            self._since = now
        if now - self._looked < min(5.0, limit / 4):
            return
        self._looked = now
        workers = self._engine._ask(self._engine.client.scheduler.identity)["workers"]
        # a paused worker sends heartbeats, too, but takes no task, and keeps those it was given from the others
        awake = [worker for worker in workers.values() if worker.get("status") != "paused"]
        active = awake if len(awake) == len(workers) else [worker for worker in awake if _has_work(worker)]
        heard = max((worker.get("last_seen", 0.0) for worker in active), default=None)
        if heard is not None and heard != self._heard:
            self._heard, self._since = heard, now
        elif now - self._since > limit:
            what, remedy = f"has heard of none of its {len(workers)} workers", "see whether they are frozen"
            if len(awake) < len(workers):
                n_paused = len(workers) - len(awake)
                what = f"has had {n_paused} of its {len(workers)} workers paused and the others idle"
                remedy = "give them more memory"
            elif heard is None:
                what, remedy = "has had no worker", "start workers"
            raise UnreachableError(
                f"{self._engine.address}: the Dask scheduler {what} for {limit:.0f} seconds, while {self._name} was under way; {remedy} "
                "and run this again"
            )


def _has_work(worker: dict[str, Any]) -> bool:
    """Whether a worker has tasks that are not done."""
    counts = worker.get("metrics", {}).get("task_counts", {})
    return any(count for state, count in counts.items() if state not in ("memory", "released", "error"))


def _reason(error: BaseException) -> str:
    """Why futures were cancelled, in Dask's words."""
    groups = getattr(error, "error_groups", [error])
    return ", ".join(sorted({str(getattr(group, "reason", "cancelled")) for group in groups}))


def same(value: Any) -> Any:
    """A value as the result of a task, which can be made again like any other."""
    return value


def run_row(function: Callable[..., Any], shared: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """``function(*row, **shared)``, on one core; the last of the values belong to the shared names."""
    count = len(values) - len(shared)
    with threads.alone():
        return function(*values[:count], **dict(zip(shared, values[count:], strict=True)))
