"""How many threads, and how to run a compiled (GIL-free) loop on blocks of rows with them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

Result = TypeVar("Result")

__all__ = ["alone", "blocks", "n_threads", "run"]


def n_threads() -> int:
    """Threads to use: ``NEARFAR_NUM_THREADS`` if set, else the cores this process may run on."""
    wanted = os.environ.get("NEARFAR_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def blocks(size: int, count: int) -> list[tuple[int, int]]:
    """Cut ``range(size)`` into at most ``count`` even (start, stop) pieces, in order.

    >>> blocks(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    >>> blocks(0, 3)
    []
    """
    count = max(1, min(count, size))
    edges = [size * i // count for i in range(count + 1)]
    return [(a, b) for a, b in pairwise(edges) if b > a]


def run(work: Callable[..., Result], arguments: Iterable[tuple[object, ...]]) -> list[Result]:
    """Call ``work(*a)`` for every ``a``, side by side where that can help; results in order.

    The calling thread takes its share. A call from inside such work runs one by one, so nothing can wait for
    itself.

    >>> run(lambda a, b: a + b, [(1, 2), (3, 4)])
    [3, 7]
    """
    jobs = list(arguments)
    if len(jobs) <= 1 or n_threads() == 1 or getattr(_inside, "pool", False):
        return [work(*job) for job in jobs]
    futures = [_pool().submit(_marked, work, job) for job in jobs[1:]]
    try:
        first = work(*jobs[0])
    finally:
        wait(futures)
    return [first, *(future.result() for future in futures)]


_inside = threading.local()


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


def _marked(work: Callable[..., Result], job: tuple[object, ...]) -> Result:
    _inside.pool = True
    return work(*job)


@lru_cache(maxsize=1)
def _pool_of(process: int, threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="nearfar")


def _pool() -> ThreadPoolExecutor:
    """One lasting pool per process: starting threads costs more than many a loop they run."""
    return _pool_of(os.getpid(), max(1, n_threads() - 1))
