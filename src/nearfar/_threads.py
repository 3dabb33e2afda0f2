"""How many threads, and how to run a compiled (GIL-free) loop on blocks of rows with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

Result = TypeVar("Result")

__all__ = ["blocks", "n_threads", "run"]


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
    """Call ``work(*a)`` for every ``a``, side by side where that can help; results in order."""
    jobs = list(arguments)
    threads = min(n_threads(), len(jobs))
    if threads <= 1:
        return [work(*job) for job in jobs]
    with ThreadPoolExecutor(threads) as pool:
        return [f.result() for f in [pool.submit(work, *job) for job in jobs]]
