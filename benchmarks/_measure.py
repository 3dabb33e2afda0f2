"""Measuring: best of several runs, peak memory of a child process, and raw rows kept as JSON.

Absolute times on a shared machine mean little, so every benchmark times its peer and its limit in the same run
and reports ratios.

    NEARFAR_BENCHMARKS_SMALL=FOLDER python -m benchmarks.scale

runs any of them on a size of seconds, on made answers in the place of real ones, and keeps what it makes in FOLDER. Its
figures mean nothing; it shows that the command works.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"
SMALL = os.environ.get("NEARFAR_BENCHMARKS_SMALL", "")
KEPT = ROOT / "benchmarks" / "results"  # rows that are committed
RESULTS = Path(SMALL) if SMALL else KEPT  # where this run puts its own
DATA = Path(SMALL) / "data" if SMALL else ROOT / "benchmarks" / ".data"  # answers made once, and kept


def size(full: T, small: T) -> T:
    """What a benchmark is run on: ``full``, or ``small`` where the environment asks for that."""
    return small if SMALL else full


def best_of(work: Callable[[], Any], repeat: int = 5) -> float:
    """Seconds of the fastest of ``repeat`` runs, after one to warm up."""
    work()
    fastest = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


def side_by_side(works: dict[str, Callable[[], Any]], repeat: int = 5) -> dict[str, float]:
    """Best seconds of each, taken in turns, so that a noisy minute hits all of them."""
    fastest = dict.fromkeys(works, float("inf"))
    for work in works.values():
        work()
    for _ in range(repeat):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            fastest[name] = min(fastest[name], time.perf_counter() - start)
    return fastest


def peak_of_this_process() -> int:
    """Bytes of the largest resident set so far; ru_maxrss would count in that of the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(
            next(x for x in status.read_text().splitlines() if x.startswith("VmHWM")).split()[1]
        )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def in_child(module: str, function: str, *arguments: Any, timeout: float | None = None) -> dict[str, Any]:
    """Run ``module.function(*arguments)`` (JSON-able) in a fresh process.

    Returns its result (a dict) with ``seconds`` and ``peak_bytes`` of the whole process added; the function may
    return ``base_bytes``, the peak before the work, to tell what the work itself took.
    """
    code = (
        "import json, sys, time, importlib\n"
        "from benchmarks._measure import peak_of_this_process\n"
        "name, function, arguments = json.loads(sys.argv[1])\n"
        "work = getattr(importlib.import_module(name), function)\n"
        "start = time.perf_counter()\n"
        "result = work(*arguments) or {}\n"
        "result.setdefault('seconds', time.perf_counter() - start)\n"
        "result['peak_bytes'] = peak_of_this_process()\n"
        "print('RESULT' + json.dumps(result))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, json.dumps([module, function, arguments])],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=timeout,
        check=False,
    )
    if out.returncode != 0:
        raise RuntimeError(f"{module}.{function} failed:\n{out.stderr}")
    line = next(line for line in out.stdout.splitlines() if line.startswith("RESULT"))
    result: dict[str, Any] = json.loads(line.removeprefix("RESULT"))
    return result


def machine() -> dict[str, Any]:
    """What this was measured on."""
    model = "unknown"
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load_1min": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def save(name: str, rows: list[dict[str, Any]]) -> Path:
    """Write raw rows and the machine to ``NAME.json`` among the results."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
    temporary.replace(path)
    return path


def fill(page: str, text: str, mark: str) -> None:
    """Put a table between the marks ``<!-- mark -->`` and ``<!-- end mark -->`` of a page of docs; of a small run, of a copy."""
    path = ROOT / "docs" / f"{page}.md"
    before, start, rest = path.read_text().partition(f"<!-- {mark} -->\n")
    after = rest.partition(f"<!-- end {mark} -->")[2]
    (RESULTS / path.name if SMALL else path).write_text(f"{before}{start}{text}\n<!-- end {mark} -->{after}")


def show(rows: list[dict[str, Any]]) -> None:
    """Print rows as a plain table."""
    for row in rows:
        print(
            "  ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items()),
            flush=True,
        )
