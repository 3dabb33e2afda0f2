"""How fast answers are saved while many people answer, and whether memory stays flat.

python -m benchmarks.ask [PEOPLE | PEOPLE:adaptive ...]  starts a server, lets so many people answer every .75 seconds, and keeps a row
per number of people in benchmarks/results/ask.json. The clients run in a process of their own on the same machine.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import platform
import sys
import tempfile
import time
import uuid
from pathlib import Path

import numpy as np

from benchmarks._measure import RESULTS, size
from benchmarks.ask_server import Servers, free_port
from benchmarks.ask_visitors import Connection, Visitor
from nearfar.ask.passwords import new_secret

ASKED = size(("100", "500", "memory"), ("3", "memory"))
PAUSE = size(0.75, 0.05)  # seconds between two answers of a person
SETTLED = size(3.0, 0.1)  # seconds after everybody has answered once
SECONDS = size(40.0, 1.0)  # that are measured then
HOUR = size(3600.0, 1.0)
PER_PERSON = 400
BATCH = 40  # answers of one request where only memory is measured
SALMON = "Salmon reports about 400 ms with 102 clients (its own load test, on a cloud machine)"
STUDY = """title = "Load"
objects = [{names}]
[questions]
design = "{design}"
per_person = {per_person}
each = 5
again = 0.1
checks = 3
[people]
aim = 1000
"""


def measure(people: int, design: str = "random") -> dict[str, float | int | str]:
    """Latencies of saved answers (of an adaptive study also of the next questions), in milliseconds, and memory of the server at the beginning and the end.

    What ``arriving_`` says is of the time before, while booklets are drawn for people who come.
    """
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study.toml"
        names = ", ".join(f'"o{i}"' for i in range(100))
        study.write_text(STUDY.format(names=names, per_person=PER_PERSON, design=design))
        port = free_port()
        with Servers(study, str(Path(folder) / "study.db")) as servers:
            pid = servers.start(port)
            taken, arriving, fetched, memory, busy = asyncio.run(_load(port, people, pid))
    millis = 1000 * np.array(taken)
    p50, p95, p99 = np.percentile(millis, [50, 95, 99])
    next_p95 = round(1000 * float(np.percentile(fetched, 95)), 1) if fetched else None
    return {
        "people": people,
        **({"design": design, "next_questions_p95_ms": next_p95} if design == "adaptive" else {}),
        "answers": len(taken),
        "per_second": round(len(taken) / SECONDS, 1),
        "p50_ms": round(float(p50), 1),
        "p95_ms": round(float(p95), 1),
        "p99_ms": round(float(p99), 1),
        "max_ms": round(float(millis.max()), 1),
        **{f"arriving_p{p}_ms": round(1000 * float(np.percentile(arriving, p)), 1) for p in (50, 95, 99)},
        "server_cpu_ms_per_answer": round(1000 * busy / len(taken), 2),
        "megabytes_first": memory[0],
        "megabytes_last": memory[1],
        "load_average": round(os.getloadavg()[0], 1),
        "processors": os.cpu_count() or 0,
        "machine": platform.machine(),
        "cited": SALMON,
    }


async def _load(
    port: int, people: int, pid: int
) -> tuple[list[float], list[float], list[float], tuple[float, float], float]:
    points = np.random.default_rng(0).standard_normal((100, 2))
    taken: list[tuple[float, float]] = []
    fetches: list[tuple[float, float]] = []
    here: set[int] = set()

    def heard(number: int, seconds: float) -> None:
        here.add(number)
        taken.append((time.monotonic(), seconds))

    def fetched(seconds: float) -> None:
        fetches.append((time.monotonic(), seconds))

    async def one(number: int) -> None:
        await asyncio.sleep(number * min(0.05, 10 / people))  # people come one after the other
        said = functools.partial(heard, number)
        await Visitor((port,), points, pause=PAUSE, seed=number, heard=said, fetched=fetched).take_part()

    tasks = [asyncio.create_task(one(number)) for number in range(people)]
    while len(here) < people:
        await asyncio.sleep(0.1)
    arriving = [seconds for _, seconds in taken]
    await asyncio.sleep(SETTLED)
    begun, first, busy = time.monotonic(), _megabytes(pid), _cpu_seconds(pid)
    await asyncio.sleep(SECONDS)
    last, busy = _megabytes(pid), _cpu_seconds(pid) - busy
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    within = [
        [seconds for at, seconds in each if begun <= at <= begun + SECONDS] for each in (taken, fetches)
    ]
    return within[0], arriving, within[1], (first, last), busy


async def _answering(port: int) -> None:
    """Wait until the server answers."""
    while True:
        try:
            await Connection((port,), "").call("/study.json")
            return
        except OSError:
            await asyncio.sleep(0.1)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _megabytes(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return round(int(line.split()[1]) / 1024, 1)
    return float("nan")


def memory_of_an_hour(people: int = 100) -> dict[str, float | int | str]:
    """As many answers as ``people`` give in an hour, in large requests, as fast as they can be saved; memory after each eighth."""
    wanted = int(people * HOUR / PAUSE)
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study.toml"
        names = ", ".join(f'"o{i}"' for i in range(100))
        study.write_text(STUDY.format(names=names, per_person=PER_PERSON, design="random"))
        port = free_port()
        with Servers(study, str(Path(folder) / "study.db")) as servers:
            pid = servers.start(port)
            marks, seconds = asyncio.run(_hour(port, wanted, pid))
    return {
        "answers": wanted,
        "seconds": round(seconds, 1),
        **{f"megabytes_{i}": m for i, m in enumerate(marks)},
    }


async def _hour(port: int, wanted: int, pid: int) -> tuple[list[float], float]:
    saved = 0
    marks: list[float] = []
    await _answering(port)
    begun = time.monotonic()

    async def one() -> None:
        nonlocal saved
        while saved < wanted:
            connection = Connection((port,), new_secret())
            await connection.call("/start", {"consent": True, "outside": {}})
            places = (await connection.call("/booklet"))[1]["places"]
            for first in range(0, len(places), BATCH):
                sent = [
                    {"id": str(uuid.uuid4()), "place": place["place"], "choice": [0], "milliseconds": 900.0}
                    for place in places[first : first + BATCH]
                ]
                status, told = await connection.call("/answers", {"answers": sent})
                saved += len(told["saved"]) if status == 200 else 0
                if saved >= wanted * (len(marks) + 1) / 8:
                    marks.append(_megabytes(pid))
            connection.close()

    await asyncio.gather(*(one() for _ in range(8)))
    return marks, time.monotonic() - begun


def main() -> None:
    path = RESULTS / "ask.json"
    known = json.loads(path.read_text()) if path.exists() else {"load": [], "memory": None}
    for word in sys.argv[1:] or ASKED:
        if word == "memory":
            known["memory"] = row = memory_of_an_hour()
        else:
            people, _, design = word.partition(":")
            row = measure(int(people), design or "random")
            same = (row["people"], row.get("design"))
            others = [r for r in known["load"] if (r["people"], r.get("design")) != same]
            known["load"] = sorted([*others, row], key=lambda r: (r["people"], r.get("design", "")))
        print(json.dumps(row), flush=True)
        path.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
