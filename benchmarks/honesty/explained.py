"""How often the interval of a rank correlation of distances holds the truth, and how often random properties are called predicted.

    python -m benchmarks.honesty.explained 60    60 studies per condition, two processes; goes on where it stopped

Every study has new objects and new participants. The truth of the interval is the mean correlation over the studies of a condition: that of
other participants and objects in a study as large. Beside it stands the correlation for the same objects with ten times the participants.
With landmarks there is no interval; the rows "landmarks, with an interval" show why, and were made before it was left out.
Rows go to benchmarks/results/honesty/explained.jsonl, and a table of them beside them.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from typing import Any
from unittest import mock
from zlib import crc32

import numpy as np

import nearfar as nf
from benchmarks._measure import RESULTS, size
from benchmarks.honesty.scenarios import Scenario, Study
from nearfar.errors import NearfarWarning
from nearfar.evaluate import properties
from nearfar.evaluate.properties import explain, rsa

Row = dict[str, Any]
ROWS = RESULTS / "honesty" / "explained.jsonl"


def conditions() -> Iterator[tuple[str, Scenario]]:
    """Designs, geometries, sparse and clustered collections; of "fixed clusters" only the members are new in every study."""
    for geometry in ("heavy tails", "curve", "sheet"):
        yield geometry, Scenario(geometry)
    for design in ("landmarks", "pool", "odd", "no names"):
        yield design, Scenario("heavy tails", design)
    yield "sparse", Scenario("sheet", per_participant=15)  # 34 answers per object
    yield "20 objects", Scenario("heavy tails", n_objects=20, n_participants=12, per_participant=60)
    yield "6 participants", Scenario("heavy tails", "few participants", n_participants=6)
    yield "refits of 20 of 70 objects", Scenario("heavy tails", n_objects=70)
    yield "new clusters", Scenario(clusters=4)
    for world in (1, 2, 3):
        yield f"fixed clusters {world}", Scenario(clusters=4)


def new_members(study: Study, world: int) -> None:
    """Give a study new objects of the clusters of a world."""
    centres = np.random.default_rng(world).normal(size=(study.scenario.clusters, 3))
    centres *= 6 / np.min([np.linalg.norm(a - b) for i, a in enumerate(centres) for b in centres[:i]])
    n = study.scenario.n_objects
    points = centres[study.rng.permutation(n) % len(centres)] + study.rng.normal(size=(n, 3))
    study.points = points / np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2)).mean()


def random_properties(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Five properties that have nothing to do with the objects."""
    return {
        "normal": rng.normal(size=n),
        "heavy": rng.standard_t(2, size=n),
        "binary": rng.integers(2, size=n),
        "even": rng.choice(list("abcd"), size=n),
        "rare": rng.choice(list("abc"), size=n, p=[0.8, 0.1, 0.1]),
    }


def run(name: str, scenario: Scenario, seed: int) -> Row:
    """One study: a feature space that holds two dimensions of the objects and noise, and ten tables of random properties."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    own = crc32(name.encode()) + seed  # no two conditions share their random numbers
    study = Study(scenario, own)
    if name.startswith("fixed clusters"):
        new_members(study, int(name[-1]))
    answers = study.answers(study.participants(scenario.n_participants), scenario.per_participant)
    many = study.answers(study.participants(10 * scenario.n_participants), scenario.per_participant)
    rng = np.random.default_rng([30, own])
    n = scenario.n_objects
    features = study.points[:, :2] + 0.5 * study.points[:, :2].std() * rng.normal(size=(n, 2))
    refitted = (
        20 if name.startswith("refits") else properties.REFIT_OBJECTS
    )  # as of very many objects a thousand
    with warnings.catch_warnings(), mock.patch.object(properties, "REFIT_OBJECTS", refitted):
        warnings.simplefilter("ignore", NearfarWarning)
        analysis = nf.analyse(answers, "soe-3", models=["soe-3"], seed=seed)
        found = rsa(analysis, features, metric="euclidean", seed=seed)
        truly = rsa(nf.fit(many, "soe-3"), features, metric="euclidean")
        tables = [random_properties(n, rng) for _ in range(10)]
        tested = [explain(analysis.space, table, n_permutations=199, seed=seed) for table in tables]
    called = [min(each.p for each in explained.properties) <= 0.05 for explained in tested]
    row = {"condition": name, "seed": seed, **asdict(scenario), **found.to_dict()}
    return row | {"with_many": truly.value, "called_predicted": float(np.mean(called))}


def table(rows: list[Row]) -> str:
    """One line per condition: coverage of both truths, width, and the share of tables with a property called predicted."""
    by: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by[row["condition"]].append(row)
    lines = [
        "| condition | studies | mean correlation | covered | with ten times the participants | covered | mean width | false positives |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, group in by.items():
        value, low, high, many, called = (
            np.array([row[key] for row in group], dtype=float)
            for key in ("value", "low", "high", "with_many", "called_predicted")
        )
        shown = np.isfinite(low)
        covered = [
            np.nan if not shown.any() else np.mean((low <= truth) & (truth <= high))
            for truth in (value.mean(), many)
        ]
        figures = (value.mean(), covered[0], many.mean(), covered[1], (high - low).mean(), called.mean())
        lines.append(
            f"| {name} | {len(group)} | "
            + " | ".join(f"{each:.2f}" for each in figures).replace("nan", "-")
            + " |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, one line per study."""
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    done = {(row["condition"], row["seed"]) for row in rows}
    count = int(sys.argv[1]) if len(sys.argv) > 1 else size(0, 1)
    listed = size(list, lambda every: list(every)[:1])(conditions())
    wanted = [(*each, seed) for seed in range(count) for each in listed if (each[0], seed) not in done]
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(2) as pool, ROWS.open("a") as out:
        for row in pool.map(run, *zip(*wanted, strict=True)) if wanted else ():
            rows.append(row)
            out.write(json.dumps(row, default=float) + "\n")
            out.flush()
    (ROWS.with_suffix(".md")).write_text(table(rows) + "\n")


if __name__ == "__main__":
    main()
