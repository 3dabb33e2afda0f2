"""Kill the server again and again while people answer: nothing confirmed is lost, nothing is doubled.

python -m benchmarks.ask_faults [KILLS] [adaptive] [postgresql://...]  appends a row to benchmarks/results/ask_faults.json.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks._measure import RESULTS, size
from benchmarks.ask_server import Servers, free_port
from benchmarks.ask_visitors import Visitor
from nearfar.ask.store import adaptive, is_postgres, open_store, read_store, researcher
from nearfar.errors import NearfarError

KILLS = size(200, 1)
STUDY = """title = "Kill me"
objects = [{names}]
[questions]
design = "{design}"
per_person = 60
each = 5
again = 0.1
checks = 3
[people]
aim = 1000
[[form]]
name = "first"
ask = "?"
kind = "text"
[[form]]
name = "last"
ask = "?"
kind = "text"
when = "after"
"""


@dataclass
class Outcome:
    """What became of the answers, and of the pages of the form."""

    database: str
    processes: int
    kills: int
    people: int
    confirmed: int
    stored: int
    lost: int
    changed: int
    doubled: int
    spread: int
    wrong_loads: int
    seconds: float
    forms: int
    design: str = "random"
    replayed: int = 0
    different: int = 0


def run_kills(
    kills: int,
    database: str = "",
    processes: int = 1,
    people: int = 12,
    seed: int = 0,
    design: str = "random",
) -> Outcome:
    """Let people answer while servers are killed ``kills`` times, then compare what they were told with what is stored.

    An adaptive study is then replayed: ``different`` counts questions that are not drawn again as they were asked.
    """
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study.toml"
        study.write_text(STUDY.format(names=", ".join(f'"o{i}"' for i in range(30)), design=design))
        where = database or str(Path(folder) / "study.db")
        ports = [free_port() for _ in range(processes)]
        begun = time.monotonic()
        with Servers(study, where) as servers:
            for port in ports:
                servers.start(port)
            while design == "adaptive" and not _has_chosen(where):
                time.sleep(0.2)
            visitors = asyncio.run(
                _visit_and_kill(servers, ports, kills, people, seed, slow=design == "adaptive")
            )
        outcome = _outcome(where, visitors, kills, processes, time.monotonic() - begun)
        if design != "adaptive":
            return outcome
        told = dict(read_store(where, adaptive.replay))
        counts = {
            key: int(told[key].partition(" ")[0].rstrip(":").replace(",", ""))
            for key in ("questions", "different")
        }
        return replace(outcome, design=design, replayed=counts["questions"], different=counts["different"])


def _has_chosen(database: str) -> bool:
    """Whether there are adaptive questions already."""
    try:
        return read_store(database, lambda tx: tx.rows("SELECT count(*) FROM choice")[0][0]) > 0
    except NearfarError:  # the database is being made
        return False


async def _visit_and_kill(
    servers: Servers, ports: list[int], kills: int, people: int, seed: int, *, slow: bool
) -> list[Visitor]:
    """``slow`` : so that a server lives long enough to choose questions."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((30, 2))
    everybody: list[Visitor] = []
    done = asyncio.Event()

    async def one() -> None:
        while not done.is_set():
            visitor = Visitor(ports, points, pause=0.2 if slow else 0.02, seed=len(everybody))
            everybody.append(visitor)
            await visitor.take_part()

    tasks = [asyncio.create_task(one()) for _ in range(people)]
    for _ in range(kills):
        before = sum(len(visitor.confirmed) for visitor in everybody)
        while sum(len(visitor.confirmed) for visitor in everybody) < before + people:
            await asyncio.sleep(0.005)  # every server answers some before it is killed
        await asyncio.sleep(float(rng.uniform(0, 8.0 if slow else 0.15)))
        port = ports[int(rng.integers(len(ports)))]
        servers.kill(port)
        servers.start(port)
    done.set()
    await asyncio.gather(*tasks)
    return everybody


def _outcome(where: str, visitors: list[Visitor], kills: int, processes: int, seconds: float) -> Outcome:
    def look(tx):
        stored = {
            row[0]: (row[1], json.loads(row[2])) for row in tx.rows("SELECT id, place, choice FROM answer")
        }
        doubled = tx.rows("SELECT count(*) - count(DISTINCT participant * 100000 + place) FROM answer")[0][0]
        held = dict(
            tx.rows(
                "SELECT question, count(*) FROM slot WHERE role IN ('new', 'open') AND released IS NULL GROUP BY question"
            )
        )
        loads = dict(tx.rows("SELECT id, load FROM question"))
        wrong = sum(held.get(question, 0) != load for question, load in loads.items())
        pages = {
            (json.loads(text).popitem()[1], page) for page, text in tx.rows("SELECT page, fields FROM form")
        }
        return stored, doubled, wrong, tx.rows("SELECT count(*) FROM participant")[0][0], pages

    store = open_store(where)
    try:
        stored, doubled, wrong, people, pages = store.read_now(look)
        balance = np.array(store.read_now(researcher.balance))
    finally:
        store.close()
    confirmed = {id: said for visitor in visitors for id, said in visitor.confirmed.items()}
    filled = {(visitor.token, page) for visitor in visitors for page in visitor.filled}
    return Outcome(
        "PostgreSQL" if is_postgres(where) else "SQLite",
        processes,
        kills,
        people,
        len(confirmed),
        len(stored),
        sum(id not in stored for id in confirmed) + len(filled - pages),
        sum(id in stored and stored[id] != said for id, said in confirmed.items()),
        doubled + len(visitors) - people,
        int(balance[:, 1].max() - balance[:, 1].min()),
        wrong,
        round(seconds, 1),
        len(pages),
    )


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    design = "adaptive" if "adaptive" in sys.argv else "random"
    database = next((word for word in sys.argv[2:] if word != "adaptive"), "")
    outcome = run_kills(kills, database, processes=2 if database else 1, design=design)
    path = RESULTS / "ask_faults.json"
    rows = json.loads(path.read_text()) if path.exists() else []
    others = [
        row for row in rows if (row["database"], row.get("design", "random")) != (outcome.database, design)
    ]
    rows = [*others, asdict(outcome)]
    path.write_text(json.dumps(rows, indent=1) + "\n")
    print(json.dumps(asdict(outcome)))


if __name__ == "__main__":
    main()
