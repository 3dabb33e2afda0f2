"""How many threads, and how to run a compiled (GIL-free) loop on blocks of rows with them."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar, cast

from nearfar.errors import InputError

Result = TypeVar("Result")
Item = TypeVar("Item")

# read once, as OpenMP does: a local cluster of Dask sets it to 1 for its workers, also in the process that starts them;
# of numbers for levels of nesting the first counts
EVERYWHERE = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()


def n_threads() -> int:
    """Threads to use: ``NEARFAR_NUM_THREADS``, else ``OMP_NUM_THREADS`` as it was at first, else the cores there are."""
    wanted = os.environ.get("NEARFAR_NUM_THREADS", "").strip()
    if wanted:
        if not wanted.isdecimal() or int(wanted) < 1:
            raise InputError(f"NEARFAR_NUM_THREADS must be an integer >= 1, got {wanted!r}")
        return int(wanted)
    if EVERYWHERE.isdecimal() and int(EVERYWHERE) > 0:
        return int(EVERYWHERE)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def blocks(size: int, count: int) -> list[tuple[int, int]]:
    """Cut ``range(size)`` into at most ``count`` even (start, stop) pieces, in order.

    >>> blocks(10, 3), blocks(0, 3)
    ([(0, 3), (3, 6), (6, 10)], [])
    """
    count = max(1, min(count, size))
    edges = [size * i // count for i in range(count + 1)]
    return [(a, b) for a, b in pairwise(edges) if b > a]


def run(work: Callable[..., Result], arguments: Iterable[tuple[object, ...]]) -> list[Result]:
    """Call ``work(*a)`` for every ``a``, side by side where that can help; results in order.

    A call from inside such work runs one by one, so nothing can wait for itself.

    >>> run(lambda a, b: a + b, [(1, 2), (3, 4)])
    [3, 7]
    """
    jobs = list(arguments)
    if len(jobs) <= 1 or inside():
        return [work(*job) for job in jobs]
    futures = [_pool(os.getpid(), n_threads()).submit(work, *job) for job in jobs]
    try:
        return [future.result() for future in futures]
    finally:  # where one failed, those that did not begin are not needed any more
        wait([future for future in futures if not future.cancel()])


@lru_cache(maxsize=1)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """One lasting pool per process: starting threads costs more than many a loop they run."""
    return ThreadPoolExecutor(threads, "nearfar", initializer=setattr, initargs=(_inside, "pool", True))


def ahead(items: Iterator[Item], depth: int = 1) -> Iterator[Item]:
    """The same items in the same order; while one is worked on, the next ``depth`` are made in a thread of its own.

    ``items`` may look ahead itself, so that a line of works goes on side by side.

    >>> list(ahead(iter("abc"))), list(ahead(iter("abc"), 5))
    (['a', 'b', 'c'], ['a', 'b', 'c'])
    """
    if inside():
        yield from items
        return
    end = object()
    with ThreadPoolExecutor(1) as maker:  # which ends before whoever reads on, or closes what it reads from
        following = deque(maker.submit(next, items, end) for _ in range(depth))
        try:
            while (item := following.popleft().result()) is not end:
                following.append(maker.submit(next, items, end))
                yield cast("Item", item)
        finally:
            for made in following:
                made.cancel()


_inside = threading.local()


def inside() -> bool:
    """Whether this is work of ``run`` already, so that to cut it further would only cost time.

    >>> run(lambda number: inside(), [(0,), (1,)]), inside()
    ([True, True], False)
    """
    return bool(getattr(_inside, "pool", False)) or n_threads() == 1


@contextmanager
def alone() -> Iterator[None]:
    """Inside, ``run`` works one by one in this thread: for callers that use every core themselves.

    >>> with alone():
    ...     run(lambda a: a, [(1,), (2,)])
    [1, 2]
    """
    before = getattr(_inside, "pool", False)
    _inside.pool = True
    try:
        yield
    finally:
        _inside.pool = before


_blas_lock = threading.Lock()
_blas_limiters: list[Any] = []  # one for each that is inside


@contextmanager
def one_blas_thread(size: int = 0, limit: int = 5_000) -> Iterator[None]:
    """Inside, BLAS works in one thread, unless its matrices have more than ``limit`` rows.

    Lanczos' method, L-BFGS and LAPACK's solvers call it thousands of times for little work each. Waking its threads
    every time brings little, and costs ten to fifty times the work where others use the cores, too. BLAS belongs to the
    whole process: the first who enters limits it, the last who leaves gives it back.
    """
    if size > limit:
        yield
        return
    with _blas_lock:
        first = (
            _blas_limiters[0] if _blas_limiters else _blas(len(sys.modules)).limit(limits=1, user_api="blas")
        )
        _blas_limiters.append(first)
    try:
        yield
    finally:
        with _blas_lock:
            _blas_limiters.pop()
            if not _blas_limiters:
                first.restore_original_limits()


@lru_cache(maxsize=1)
def _blas(modules: int) -> Any:
    """The BLAS libraries that are loaded; a module that was imported since may have brought its own."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
