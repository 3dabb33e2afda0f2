"""Vectors of the objects as a prior: how much they add, what useless ones cost, and how long it takes, on real answers.

    python -m benchmarks.accuracy.vectors [musicians] [things] [colours] [useless] [time] [columns]    goes on where it stopped
    python -m benchmarks.accuracy.vectors table                                    the table of the rows that are there

A fifth is held out (honest; seeds 10 to 12, of new objects 10 to 29, of useless vectors 60 to 69). ``auto`` is fitted to so many statements of the rest, without vectors ("none") and
with them. "shuffled" gives every object the vector of another, "random" has 20 normal columns. "new objects": of all
answers, those that name an object are left out before it is predicted. "columns": one `soe-20` with a prior of so many columns. Rows go to benchmarks/results/vectors.json one by one,
the table to vectors-details.md and, in short, to docs/vectors.md.
"""

from __future__ import annotations

import fcntl
import json
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import nearfar as nf
from benchmarks._measure import RESULTS, SHARED, SMALL, fill, machine, size
from benchmarks._sets import crowds, made_answers
from nearfar.embedding import SOE, prior
from nearfar.embedding.prior import Setting, Vectors
from nearfar.evaluate.worth import new_object_accuracy
from nearfar.space.models import parse_model
from nearfar.triplets import Triplets

Row = dict[str, Any]
ROWS = RESULTS / "vectors.json"
ALL = 10**9  # statements
PER_OBJECT = (20, 5, 60)  # answers that name an object, about


class Job(NamedTuple):
    """What one row is made of; ``statements`` : of the training answers, at most."""

    part: str
    set: str
    vectors: str
    statements: int
    seed: int


def jobs() -> Iterator[Job]:
    """All rows, the most telling first."""
    for kind in ("none", "genres", "new objects", "shuffled"):
        seeds = range(10, 30) if kind == "new objects" else range(10, 13)  # these take a second each
        yield from (Job("musicians", "musicians", kind, ALL, seed) for seed in seeds)
    for seed in (10, 11, 12):
        for m in (3_000, 10_000, 30_000, ALL):
            yield from (Job("things", "things", kind, m, seed) for kind in ("none", "clip+words"))
        yield from (Job("things", "things", "clip+words", m, seed) for m in (1_000, 3_333))
    for seed in (10, 11, 12):
        for kind in ("clip", "words"):
            yield from (Job("things", "things", kind, m, seed) for m in (3_000, 10_000, 30_000, ALL))
        for per in PER_OBJECT:
            yield from (Job("colours", "colours", kind, -per, seed) for kind in ("none", "lab"))
    yield Job("time", "things", "soe-20", ALL, 10)
    for m in (3_000, 10_000, 30_000, ALL):
        yield from (Job("columns", "things", str(columns), m, 10) for columns in (400, 1_000, 1_854))
    for per in PER_OBJECT:
        for seed in range(60, 70):  # none of which was looked at before the rule stood
            for name in ("colours", "car", "musicians", "food", "things"):
                kinds = ("none", "random") if name in ("car", "food") else ("none", "shuffled", "random")
                if name != "things" or seed < 63:
                    yield from (Job("useless", name, kind, -per, seed) for kind in kinds)


def answers_of(name: str) -> tuple[Triplets, dict[str, Any]]:
    """Answers of a set, and the vectors that belong to it."""
    if SMALL:
        answers = made_answers()
        points = np.random.default_rng(1).normal(size=(answers.n_objects, 4))
        return answers, {"genres": points, "clip": points[:, :2], "words": points[:, 2:], "lab": points}
    if name == "colours":
        colours = nf.datasets.make_colours(0)
        return colours.triplets, {"lab": colours.truth.points}
    if name == "musicians":
        kept = np.load(SHARED / "musicians" / "triplets.npz")
        rows, genres = kept["triplets"].astype(np.int64), kept["genre_matrix"]
        distinct = (rows[:, 0] != rows[:, 1]) & (rows[:, 1] != rows[:, 2]) & (rows[:, 0] != rows[:, 2])
        return Triplets.from_array(rows[distinct], kept["names"].tolist()), {"genres": genres.astype(float)}
    if name == "things":
        kept, vectors = (np.load(SHARED / "things" / f"{file}.npz") for file in ("things_test10", "features"))
        # the names of two objects may be the same: numbers stand for them
        answers = Triplets.from_odd_one_out(
            kept["odd_one_out"].astype(np.int64), participant=kept["participant"]
        )
        return answers, {source: vectors[source].astype(float) for source in ("clip", "words")}
    return next(answers for _, answers in crowds([name])), {}


def features_of(job: Job, own: dict[str, Any], n_objects: int) -> Any:
    """The vectors of a row, None without."""
    rng = np.random.default_rng([30, job.seed])
    if job.vectors == "none":
        return None
    if job.vectors == "random":
        return {"random": rng.normal(size=(n_objects, 20))}
    if job.vectors == "shuffled":
        order = rng.permutation(n_objects)
        return {source: values[order] for source, values in own.items()}
    chosen = {source: own[source] for source in job.vectors.split("+") if source in own}
    return chosen or own


def part_of(train: Triplets, statements: int, seed: int) -> Triplets:
    """So many statements; a negative number is one of answers per object."""
    ids = np.unique(train.statement_ids, return_inverse=True)[1]
    count = int(ids.max()) + 1
    if statements < 0:  # an answer names three objects
        statements = round(-statements * train.n_objects / 3 * count / len(train))
    if statements >= count:
        return train
    kept = np.zeros(count, dtype=bool)
    kept[np.random.default_rng([7, seed]).permutation(count)[:statements]] = True
    return train[np.flatnonzero(kept[ids])]


def measure(job: Job) -> Row:
    """One row."""
    answers, own = answers_of(job.set)
    train, test = nf.holdout(answers, 0.2, seed=job.seed)
    used = part_of(answers[train], size(job.statements, 100), job.seed)
    if job.part == "time":
        return one_fit(used, Vectors(own, used.objects))
    if job.part == "columns":
        return of_columns(int(job.vectors), used, answers[test], Vectors(own, used.objects))
    features = features_of(job, own, answers.n_objects)
    start = time.process_time()
    if job.vectors == "new objects":
        used = answers  # the left-out objects are held out; no fifth beside them
        model = parse_model("soe-20").with_vectors(Vectors(own, used.objects))
        found = new_object_accuracy(used, model, seed=job.seed)
        row: Row = {} if found is None else {"accuracy": found.value, "low": found.low, "high": found.high}
    else:
        analysis = nf.analyse(used, features=features, seed=job.seed)
        setting: Any = getattr(analysis.settled(analysis.best.name).prior, "setting", None)
        row = {
            "accuracy": float(analysis.space.credits(answers[test]).mean()),
            "printed": analysis.best.accuracy,
            "model": analysis.best.name,
            "setting": None if setting is None else list(setting),
        }
    return row | {"cpu_seconds": time.process_time() - start, "answers": len(used)}


def one_fit(answers: Triplets, vectors: Vectors) -> Row:
    """CPU seconds of one fit with and without a prior, the best of three in turns."""
    even = (1 / len(vectors.sources),) * len(vectors.sources)
    models = {"without": SOE(20), "with": SOE(20, prior=vectors.prior(Setting(0.95, 1.2, even)))}
    best = dict.fromkeys(models, np.inf)
    for _ in range(3):
        for name, model in models.items():
            start = time.process_time()
            model.fit(answers)
            best[name] = min(best[name], time.process_time() - start)
    return {"cpu_seconds": best["with"], "without": best["without"], "ratio": best["with"] / best["without"]}


def of_columns(columns: int, answers: Triplets, test: Triplets, vectors: Vectors) -> Row:
    """Accuracy and CPU seconds of one fit whose prior has so many columns: with all objects, the root is exact."""
    even = (1 / len(vectors.sources),) * len(vectors.sources)
    start = time.process_time()
    with patch.object(prior, "LANDMARKS", columns):
        made = vectors.prior(Setting(0.95, 1.2, even))
    middle = time.process_time()
    points = SOE(20, prior=made).fit_transform(answers)
    seconds = {"prior_seconds": middle - start, "cpu_seconds": time.process_time() - start}
    return {"accuracy": nf.metrics.triplet_accuracy(test, points=points), **seconds}


def read_rows() -> list[Row]:
    return list(json.loads(ROWS.read_text())["rows"]) if ROWS.exists() else []


def keep(row: Row) -> None:
    """Add a row to the file; several runs may do so at the same time."""
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    with (Path(gettempdir()) / "nearfar-vectors.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lines = ",\n".join(json.dumps(each, default=float) for each in [*read_rows(), row])
        temporary = ROWS.with_suffix(".tmp")
        temporary.write_text(f'{{"machine": {json.dumps(machine())}, "rows": [\n{lines}\n]}}\n')
        temporary.replace(ROWS)


# ---------------------------------------------------------------- the table


def table(rows: list[Row]) -> str:
    """Mean accuracies over the seeds, the largest loss of useless vectors, and seconds."""
    by: dict[tuple[Any, ...], dict[int, Row]] = defaultdict(dict)
    for row in rows:
        by[row["part"], row["set"], row["vectors"], row["statements"]][row["seed"]] = row

    def mean(*key: Any, seeds: Any = None) -> str:
        found = [row["accuracy"] for seed, row in by[key].items() if seeds is None or seed in seeds]
        return f"{np.mean(found):.4f} ({len(found)})" if found else "-"

    lines = [
        "# Vectors as a prior: the rows behind the figures",
        "",
        "Held-out accuracy of `auto`, mean over seeds (how many).",
    ]
    lines += [
        "",
        "## Musicians, 58 genre tags, all training answers",
        "",
        "| vectors | accuracy |",
        "|---|---|",
    ]
    lines += [
        f"| {kind} | {mean('musicians', 'musicians', kind, ALL)} |" for kind in ("none", "genres", "shuffled")
    ]
    lines += [
        f"| genres, musicians left out of the answers (`soe-20`) | {mean('musicians', 'musicians', 'new objects', ALL)} |"
    ]
    kinds = ("none", "clip", "words", "clip+words")
    lines += [
        "",
        "## THINGS",
        "",
        f"| statements | {' | '.join(kinds)} | CPU seconds of both : none |",
        "|---" * 6 + "|",
    ]
    for m in (1_000, 3_000, 3_333, 10_000, 30_000, ALL):
        both, none = (by["things", "things", kind, m] for kind in ("clip+words", "none"))
        ratios = [both[s]["cpu_seconds"] / none[s]["cpu_seconds"] for s in both if s in none]
        figures = [mean("things", "things", kind, m) for kind in kinds]
        named = "all (80 %)" if m == ALL else f"{m:,}"
        lines.append(f"| {named} | {' | '.join(figures)} | {f'{np.mean(ratios):.2f}' if ratios else '-'} |")
    for row in by["time", "things", "soe-20", ALL].values():
        lines += [
            "",
            f"One fit of `soe-20` with a prior: {row['ratio']:.2f} times the CPU seconds without ({row['without']:.2f} s).",
        ]
    lines += ["", "## THINGS: columns of the prior, one `soe-20` with both", ""]
    lines += [
        "| statements | columns | accuracy | CPU seconds | of which the prior |",
        "|---|---|---|---|---|",
    ]
    for fitted in (each for each in rows if each["part"] == "columns"):
        size_named = "all (80 %)" if fitted["statements"] == ALL else f"{fitted['statements']:,}"
        seconds = f"{fitted['cpu_seconds']:.2f} | {fitted['prior_seconds']:.2f}"
        lines.append(f"| {size_named} | {fitted['vectors']} | {fitted['accuracy']:.4f} | {seconds} |")
    lines += ["", "## Colours, Lab coordinates", "", "| answers per object | none | lab |", "|---|---|---|"]
    for per in sorted(PER_OBJECT):
        none, lab = (mean("colours", "colours", kind, -per) for kind in ("none", "lab"))
        lines.append(f"| {per} | {none} | {lab} |")
    lines += ["", "## Useless vectors: accuracy minus that without vectors", ""]
    lines += ["| set | answers per object | shuffled | random | worst seed |", "|---|---|---|---|---|"]
    for name in ("colours", "car", "musicians", "food", "things"):
        for per in sorted(PER_OBJECT):
            none = by["useless", name, "none", -per]
            off = {
                kind: [
                    row["accuracy"] - none[s]["accuracy"]
                    for s, row in by["useless", name, kind, -per].items()
                    if s in none
                ]
                for kind in ("shuffled", "random")
            }
            every = off["shuffled"] + off["random"]
            if every:
                means = [f"{np.mean(each):+.4f} ({len(each)})" if each else "-" for each in off.values()]
                lines.append(f"| {name} | {per} | {' | '.join(means)} | {min(every):+.4f} |")
    return "\n".join(lines) + "\n"


def short_table(rows: list[Row]) -> str:
    """For docs/vectors.md: with and without vectors, over the seeds that have both."""
    by = {
        (row["set"], row["vectors"], row["statements"], row["seed"]): row
        for row in rows
        if row["part"] != "useless"
    }
    lines = ["| answers | vectors | statements | without | with | splits |", "|---|---|---|---|---|---|"]
    wanted = [("musicians", "genres", ALL)] + [
        ("things", "clip+words", m) for m in (3_000, 10_000, 30_000, ALL)
    ]
    for name, kind, m in wanted:
        pairs = [
            (by[name, "none", m, s], by[name, kind, m, s])
            for s in (10, 11, 12)
            if {(name, "none", m, s), (name, kind, m, s)} <= by.keys()
        ]
        if pairs:
            without, given = np.mean([[row["accuracy"] for row in pair] for pair in pairs], axis=0)
            named = "all" if m == ALL else f"{m:,}"
            title = {"things": "THINGS", "clip+words": "CLIP and word2vec", "genres": "58 genre tags"}
            lines.append(
                f"| {title.get(name, name)} | {title[kind]} | {named} | {without:.3f} | {given:.3f} | {len(pairs)} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, row by row."""
    parts = [word for word in sys.argv[1:] if not word.isdigit()] or [
        "musicians",
        "things",
        "colours",
        "time",
        "columns",
        "useless",
    ]
    for job in size(list, lambda every: list(every)[:4])(jobs()):
        done = {tuple(row[field] for field in Job._fields) for row in read_rows()}
        if job.part in parts and tuple(job) not in done:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", nf.errors.NearfarWarning)
                row = job._asdict() | measure(job)
            keep(row)
            print(*row.values(), flush=True)
    (RESULTS / "vectors-details.md").write_text(table(read_rows()))
    if not SMALL:
        fill("vectors", short_table(read_rows()), "vectors")
    print(table(read_rows()))


if __name__ == "__main__":
    main()
