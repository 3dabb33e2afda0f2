"""What rows were measured on, and the clock they were measured with."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from nearfar._tools.atomic import atomic_path

__all__ = ["enlist", "machine", "machines", "single_threaded", "timed"]

Result = TypeVar("Result")
VARIABLE = "NEARFAR_NUM_THREADS"


def machine() -> dict[str, Any]:
    """Processor, cores, load and versions."""
    model = platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def machines(folder: Path) -> list[dict[str, Any]]:
    """The machines that rows in this folder were measured on; a row says which by its place in this list."""
    path = folder / "machines.json"
    if not path.exists():
        return []
    listed: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return listed


def enlist(folder: Path) -> int:
    """Keep what this machine is, the day and the highest load seen; its place in the list."""
    here, known = machine(), machines(folder)
    same = ("processor", "cores", "python", "numpy")
    place = next((i for i, one in enumerate(known) if all(one[k] == here[k] for k in same)), len(known))
    before = known[place] if place < len(known) else {}
    loads = [load for load in (here["load"], before.get("load")) if load is not None]
    known[place:] = [before | here | {"load": max(loads, default=None)}, *known[place + 1 :]]
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / "machines.json") as path:
        path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return place


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep this process to one core, so that its CPU seconds are what the work costs, whoever else is busy."""
    import sklearn.cluster  # noqa: F401  (its OpenMP must be loaded to be limited)
    from threadpoolctl import threadpool_limits

    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    try:
        with threadpool_limits(1):
            yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """A result and the CPU seconds it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start
