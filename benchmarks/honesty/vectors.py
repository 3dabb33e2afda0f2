"""How often what is said about vectors of the objects holds: accuracy, worth in answers, new objects and their positions.

    python -m benchmarks.honesty.vectors judged 8 [0]    8 studies per condition from seed 0 on, one process; goes on where it stopped
    python -m benchmarks.honesty.vectors placed 8 [0]    the same for positions of new objects
    python -m benchmarks.honesty.vectors "left out" 8    the same for the accuracy of new objects, with the same kind of vectors in every study
    python -m benchmarks.honesty.vectors                 the table of the rows that are there

Every study has new objects, new vectors and new participants, as in ``scenarios``. A fifth of the objects is not asked about. Vectors have
ten columns: a random linear map of the positions with noise (its standard deviation in units of theirs: 0.3 or 1), a random nonlinear map
with noise 0.3 ("bent"), a map of one dimension of the positions only ("partly"), or noise alone ("useless"). Rows go to
benchmarks/results/honesty/vectors.jsonl, the table to vectors.md beside them and, in short, to docs/honesty.md.

The truth of the accuracy is that of the fitted space on fresh answers of new participants. Worth and the accuracy for new objects are
procedures, so their truth is a mean over the studies of a condition: N / (the number of answers with vectors at which the mean accuracy is
that of all N without, whether or not so few would have let the vectors in), and the accuracy of the same fits on fresh answers about the
objects that each had left out. A position is right where the true one, moved, turned and scaled as the objects asked about are, lies within
2.146 times the spread (90 % in the plane).
"""

from __future__ import annotations

import fcntl
import json
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from zlib import crc32

import numpy as np

import nearfar as nf
from benchmarks._measure import RESULTS, SMALL, fill, size
from benchmarks.honesty import tables
from benchmarks.honesty.scenarios import Floats, Scenario, Study
from benchmarks.honesty.tables import Measured
from nearfar.embedding.prior import Vectors
from nearfar.errors import NearfarWarning
from nearfar.evaluate import worth
from nearfar.evaluate.priors import settle
from nearfar.space.models import parse_model
from nearfar.triplets import Triplets

Row = dict[str, Any]
ROWS = RESULTS / "honesty" / "vectors.jsonl"
KINDS = ("linear 0.3", "linear 1", "bent", "partly", "useless")
SHARES = (0.125, 0.25, 0.5, 1.0)
RADIUS = 2.146  # of the circle that holds 90 % of a normal distribution in the plane


def conditions(check: str = "judged") -> Iterator[tuple[str, str, Scenario]]:
    """Name, kind of vectors, and scenario; geometries and numbers of participants go round. Positions are judged in the plane."""
    geometries = ("sheet",) * 4 if check != "judged" else ("sheet", "heavy tails", "sheet", "tree")
    for number, (kind, n, per) in enumerate((k, n, per) for k in KINDS for n in (40, 150) for per in (5, 30)):
        people = (12, 30, 20)[number % 3]
        geometry = geometries[(number + number // 4) % 4]
        scenario = Scenario(
            geometry, n_objects=n, n_participants=people, per_participant=round(n * per / people)
        )
        yield f"{kind}, {geometry}, {n} objects, {per} answers each, {people} participants", kind, scenario


def vectors_of(kind: str, points: Floats, rng: np.random.Generator, maps: np.random.Generator) -> Floats:
    """(n, 10) vectors of objects at these points; ``maps`` draws what turns positions into vectors."""
    seen = (points - points.mean(axis=0)) / points.std(axis=0).mean()
    noise = rng.normal(size=(len(points), 10))
    if kind == "useless":
        return noise
    if kind == "partly":
        seen = seen[:, :1]
    mixed = seen @ maps.normal(size=(seen.shape[1], 10)) / np.sqrt(seen.shape[1])
    if kind == "bent":
        mixed = np.sin(2 * mixed + maps.uniform(0, 2 * np.pi, size=10))
    return np.asarray(mixed / mixed.std() + (1.0 if kind == "linear 1" else 0.3) * noise)


class Sampled:
    """A study of which the first objects are asked about, the others not."""

    def __init__(self, kind: str, scenario: Scenario, seed: int, maps: int | None = None) -> None:
        self.n, self.scenario = scenario.n_objects, scenario
        more = Scenario(**{**scenario.__dict__, "n_objects": self.n + max(self.n // 5, 20)})
        self.study = Study(more, seed)
        rng = np.random.default_rng([31, seed])
        same = rng if maps is None else np.random.default_rng(maps)
        self.vectors = vectors_of(kind, self.study.points, rng, same)

    def answers(self, participants: int, per: int) -> Triplets:
        """Answers of new participants about the asked objects."""
        study, everything = self.study, self.study.scenario
        kept = study.points
        study.points, study.scenario, study.common = kept[: self.n], self.scenario, study.common[:0]
        given = study.answers(study.participants(participants), per)
        study.points, study.scenario = kept, everything
        return given


def judged(sampled: Sampled, seed: int) -> Row:
    """Accuracy, worth and new objects of one study, with their truths."""
    s, n = sampled.scenario, sampled.n
    answers, new = sampled.answers(s.n_participants, s.per_participant), sampled.answers(300, 30)
    features = sampled.vectors[:n]
    analysis = nf.analyse(answers, features=features, seed=seed)
    true = float(analysis.space.credits(new).mean())
    with recorded_fits() as fits:
        found = analysis.worth
    model = found.both.name.partition("+")[0] if "soe" in found.both.name else "soe-5"
    curve = []
    order = np.random.default_rng(seed).permutation(len(answers))
    for share in SHARES:
        part = answers[np.sort(order[: round(share * len(answers))])]
        informed = settle(
            parse_model(model).with_vectors(Vectors(features, answers.objects)), part, enter=True
        )
        curve.append(float(informed.fit(part).credits(new).mean()))
    without = float(analysis.fit(found.answers.name).credits(new).mean())
    times, others = found.times, found.new_objects
    return {
        "model": analysis.best.name,
        "accuracy": [analysis.best.accuracy, analysis.best.low, analysis.best.high],
        "true_accuracy": true,
        "times": None if times is None else [times.value, times.low, times.high],
        "curve": curve,
        "without": without,
        "new_objects": None if others is None else [others.value, others.low, others.high],
        "true_new_objects": true_new_objects(fits, new),
    }


Fits = list[tuple[Triplets, Any]]


@contextmanager
def recorded_fits() -> Iterator[Fits]:
    """Training answers and results of the fits that leave objects out."""
    fits: Fits = []

    def recorded(model: Any, train: Triplets) -> Any:
        fits.append((train, fit_timed(model, train)))
        return fits[-1][1]

    fit_timed, worth.fit_timed = worth.fit_timed, recorded  # type: ignore[attr-defined]
    try:
        yield fits
    finally:
        worth.fit_timed = fit_timed  # type: ignore[attr-defined]


def true_new_objects(fits: Fits, new: Triplets) -> float | None:
    """Accuracy of these fits on new answers that name one object which they had left out."""
    credits = []
    for train, fitted in fits:
        absent = ~np.isin(np.arange(new.n_objects), train.array)
        rows = np.flatnonzero(absent[new.array].sum(axis=1) == 1)
        credits.append(fitted.space.credits(new[rows]))
    return float(np.concatenate(credits).mean()) if credits else None


def left_out(sampled: Sampled, seed: int) -> Row:
    """Accuracy for new objects of one named model; the map from positions to vectors is that of the condition."""
    s = sampled.scenario
    answers, new = sampled.answers(s.n_participants, s.per_participant), sampled.answers(300, 30)
    model = parse_model("soe-5").with_vectors(Vectors(sampled.vectors[: sampled.n], answers.objects))
    with recorded_fits() as fits:
        found = worth.new_object_accuracy(answers, model, seed=seed)
    told = None if found is None else [found.value, found.low, found.high]
    return {"new_objects": told, "true_new_objects": true_new_objects(fits, new)}


def placed(sampled: Sampled, seed: int) -> Row:
    """Share of the objects not asked about whose position is right; in the plane only."""
    s, n, truth = sampled.scenario, sampled.n, sampled.study.points
    space = nf.fit(
        sampled.answers(s.n_participants, s.per_participant), "soe-2", features=sampled.vectors[:n]
    )
    if getattr(space.estimator, "prior", None) is None:
        return {"positions": None}
    found = space.place(sampled.vectors[n:])
    moved = aligned(truth, np.asarray(space.estimator.embedding_), n)
    off = np.linalg.norm(moved[n:] - found.points, axis=1)
    size = np.sqrt(np.mean(np.sum(np.asarray(space.estimator.embedding_) ** 2, axis=1)))
    return {
        "positions": float(np.mean(off <= RADIUS * found.spread)),
        "spread": float(np.mean(found.spread) / size),
        "needed": float(np.sqrt(np.mean(off**2) / 2) / size),
        "setting": list(space.estimator.prior.setting),
    }


def aligned(truth: Floats, points: Floats, n: int) -> Floats:
    """All true positions, moved, turned and scaled so that the first n lie on the points."""
    middle = truth[:n].mean(axis=0)
    x, y = points - points.mean(axis=0), truth[:n] - middle
    left, values, right = np.linalg.svd(y.T @ x)
    return np.asarray(values.sum() / np.sum(y**2) * (truth - middle) @ left @ right + points.mean(axis=0))


def run(check: str, name: str, kind: str, scenario: Scenario, seed: int) -> Row:
    """One row."""
    start = time.process_time()
    own = crc32(name.encode()) + seed  # no two conditions share their random numbers
    sampled = Sampled(kind, scenario, own, crc32(name.encode()) if check == "left out" else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        row = CHECKS[check](sampled, seed)
    cost = round(time.process_time() - start, 1)
    return {"check": check, "condition": name, "seed": seed, **row, "cpu_seconds": cost}


CHECKS = {"judged": judged, "placed": placed, "left out": left_out}


# ---------------------------------------------------------------- the table


def true_times(rows: list[Row]) -> float:
    """N : answers with vectors that predict as well as N without, by the mean curves; infinite where an eighth is enough."""
    curve = np.maximum.accumulate(np.mean([row["curve"] for row in rows], axis=0))
    logs = -np.log2(SHARES)
    return float(2 ** np.interp(np.mean([row["without"] for row in rows]), curve, logs, left=np.inf))


def held(rows: list[Row]) -> dict[str, tuple[float, int]]:
    """Of one condition: for each statement the share of studies (or positions) in which it held, and how many."""
    found: dict[str, tuple[float, int]] = {}

    def share(name: str, values: list[bool] | list[float]) -> None:
        if values:
            found[name] = float(np.mean(values)), len(values)

    full = [row for row in rows if row["check"] == "judged"]
    share("accuracy", [row["accuracy"][1] <= row["true_accuracy"] <= row["accuracy"][2] for row in full])
    if full:
        truth = true_times(full)
        share("times", [r["times"][1] <= truth <= r["times"][2] for r in full if r["times"] is not None])
    about = [row for row in full if row["new_objects"] is not None and row["true_new_objects"] is not None]
    same = [row for row in rows if row["check"] == "left out" and row["new_objects"] is not None]
    for told, name in ((same, "new objects"), (about, "new objects, other vectors")):
        if not told:
            continue
        mean = float(np.mean([row["true_new_objects"] for row in told]))
        share(name, [row["new_objects"][1] <= mean <= row["new_objects"][2] for row in told])
        own = [r["new_objects"][1] <= r["true_new_objects"] <= r["new_objects"][2] for r in told]
        if told is about:
            share("new objects, those of the study", own)
    share("positions", [row["positions"] for row in rows if row.get("positions") is not None])
    return found


def table(rows: list[Row]) -> str:
    """One line per condition, and all of them pooled."""
    by: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by[row["condition"]].append(row)
    names = (
        "accuracy",
        "times",
        "new objects",
        "new objects, those of the study",
        "new objects, other vectors",
        "positions",
    )
    lines = [f"| condition | studies | true worth | {' | '.join(names)} |", "|---" * (len(names) + 3) + "|"]
    pooled: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for name, group in by.items():
        found = held(group)
        for each, value in found.items():
            pooled[each].append(value)
        full = [row for row in group if row["check"] == "judged"]
        figures = [f"{found[each][0]:.2f} ({found[each][1]})" if each in found else "-" for each in names]
        worth_is = f"{true_times(full):.1f}" if full else "-"
        lines.append(f"| {name} | {len(group)} | {worth_is} | {' | '.join(figures)} |")
    means = []
    for each in names:
        total = sum(count for _, count in pooled[each])
        means.append(
            f"{sum(share * count for share, count in pooled[each]) / total:.3f} ({total})" if total else "-"
        )
    lines.append(f"| **pooled** | {len(rows)} | | {' | '.join(means)} |")
    return "\n".join(lines)


ABOUT_NEW = "accuracy for objects nobody was asked about, 95 % interval"
CLAIMS = {
    "accuracy": ("accuracy of the chosen model, 95 % interval", "95 %"),
    "times": ("worth in answers, 95 % interval", "95 %"),
    "new objects, those of the study": (f"{ABOUT_NEW}: for the left-out objects of the study", "95 %"),
    "new objects": (f"{ABOUT_NEW}: mean over studies of other objects", "95 %"),
    "new objects, other vectors": (
        f"{ABOUT_NEW}: mean over studies of other objects and vectors",
        "no target",
    ),
    "positions": ("position of an object nobody was asked about, within 2.146 spreads", "90 %"),
}
TUNED = dict.fromkeys(("new objects", "positions"), "other seeds")


def claims(rows: list[Row]) -> Measured:
    """For docs/honesty.md: every claim, and the share of each condition as often as it has cases."""
    by: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by[row["condition"]].append(row)
    found = {name: held(group) for name, group in by.items()}
    return [
        (
            "",
            claim,
            nominal,
            TUNED.get(key, "other studies"),
            {c: [v[key][0]] * v[key][1] for c, v in found.items() if key in v},
        )
        for key, (claim, nominal) in CLAIMS.items()
    ]


def main() -> None:
    """Run what is missing, one line per study; several runs may go on at the same time."""
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    done = {(row["check"], row["condition"], row["seed"]) for row in rows}
    check = next((word for word in sys.argv[1:] if word in CHECKS), "judged")
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()] or [size(0, 1)]
    first = numbers[1] if len(numbers) > 1 else 0
    listed = size(list, lambda every: list(every)[:1])(conditions(check))
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(first, first + numbers[0]):
        for condition in listed:
            if (check, condition[0], seed) not in done:
                row = run(check, *condition, seed)
                with ROWS.open("a") as out:
                    fcntl.flock(out, fcntl.LOCK_EX)
                    out.write(json.dumps(row, default=float) + "\n")
                rows.append(row)
                print(*row.values(), flush=True)
    ROWS.with_suffix(".md").write_text(table(rows) + "\n")
    if not SMALL:
        fill("honesty", tables.table(claims(rows), least=6), "vectors")
    print(table(rows))


if __name__ == "__main__":
    main()
