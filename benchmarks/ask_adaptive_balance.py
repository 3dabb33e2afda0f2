"""How evenly adaptive questions are spread over the objects of a study.

python -m benchmarks.ask_adaptive_balance  simulates studies in which a fifth of the people leaves somewhere: people answer one
after the other, or all at once. Rows in benchmarks/results/ask_adaptive_balance.json: how often an object was the anchor of an
adaptive question, and in one, as fewest and most, and in how many times as many as the average.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import RESULTS, size
from nearfar.ask.prepare import OpenStudy, open_study
from nearfar.ask.rehearse import _answers
from nearfar.ask.store import adaptive, people
from nearfar.ask.store.people import Arrival
from nearfar.ask.study import read_study

DROP_OUT = 0.2
DESIGNS = (
    (12, 20, 30),
    (20, 40, 60),
    (30, 60, 40),
    (40, 30, 60),
    (60, 40, 60),
)  # objects, people, questions of each
STUDY = """title = "Balance"
objects = [{names}]
[questions]
design = "adaptive"
per_person = {per_person}
[people]
aim = {people}
"""


def study(objects: int, count: int, per_person: int, *, at_once: bool) -> dict[str, Any]:
    """One study; a model is made whenever one is needed."""
    rng, now = np.random.default_rng(objects), 0.0
    points = rng.standard_normal((objects, 3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        names = ", ".join(f'"o{i}"' for i in range(objects))
        path.write_text(STUDY.format(names=names, per_person=per_person, people=count))
        with closing(open_study(read_study(path))) as ready:
            for wave in [range(count)] if at_once else [[person] for person in range(count)]:
                here = {}
                for person in wave:
                    arrival = Arrival(f"t{person}", f"p{person}", None, {}, now)
                    ready.store.write_now(people.start, arrival, ready.plan, rng)
                    leaves = rng.random() < DROP_OUT
                    here[person] = int(rng.integers(per_person)) if leaves else per_person
                while here:
                    for person, left in list(here.items()):
                        now += 1.0
                        answers = _answers(ready, f"t{person}", points, 0.3, 0.0, rng)[: min(left, 1)]
                        ready.store.write_now(people.save_answers, f"t{person}", answers, ready.plan, now)
                        here[person] -= 1
                        if not answers or here[person] <= 0:
                            del here[person]
                    adaptive.refresh(ready.store, ready.study.questions, now)
            often = counts(ready, objects)
    told: dict[str, Any] = {"objects": objects, "people": count, "per_person": per_person, "at_once": at_once}
    for name, each in often.items():
        told[name] = [int(each.min()), int(each.max())]
    of_average = often["within"] / often["within"].mean()
    return told | {"of_average": [round(float(of_average.min()), 2), round(float(of_average.max()), 2)]}


def counts(ready: OpenStudy, objects: int) -> dict[str, Any]:
    """How often each object was in an adaptive question that somebody got, and its anchor."""
    rows = ready.store.read_now(lambda tx: tx.rows("SELECT items FROM choice WHERE question IS NOT NULL"))
    items = np.array([json.loads(row[0]) for row in rows])
    anchor, within = (np.bincount(each.ravel(), minlength=objects) for each in (items[:, 0], items))
    return {"anchor": anchor, "within": within}


def main() -> None:
    rows = []
    for design in DESIGNS[: size(None, 1)]:
        for at_once in (False, True):
            rows.append(study(*design, at_once=at_once))
            print(json.dumps(rows[-1]), flush=True)
    (RESULTS / "ask_adaptive_balance.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
