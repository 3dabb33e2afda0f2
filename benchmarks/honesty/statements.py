"""How often the statements of a report hold, in simulated studies that none of its rules was set by.

    python -m benchmarks.honesty.statements 40    40 studies per condition, two processes; goes on where it stopped

Rows go to benchmarks/results/honesty/statements.jsonl; ``python -m benchmarks.honesty.tables`` makes the table of docs/honesty.md of them.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from typing import Any

import numpy as np

import nearfar as nf
from benchmarks._measure import RESULTS, size
from benchmarks.honesty.scenarios import DESIGNS, GEOMETRIES, Scenario, Study
from nearfar.errors import NearfarWarning
from nearfar.evaluate.map_stability import kept_labels
from nearfar.methods import cut
from nearfar.triplets import Triplets

Row = dict[str, Any]
ROWS = RESULTS / "honesty" / "statements.jsonl"


def inside(estimate: Any, truth: float) -> float | None:
    """1 where an interval holds the truth, 0 where not, None where there is no interval."""
    if estimate is None or not np.isfinite([estimate.low, estimate.high]).all():
        return None
    return float(estimate.low <= truth <= estimate.high)


def judged(scenario: Scenario, seed: int) -> Row:
    """Accuracy, ceiling, gain of more answers, clusters, subgroups, reliability of one study."""
    study = Study(scenario, seed)
    people = study.participants(scenario.n_participants)
    answers, new = study.answers(people, scenario.per_participant), study.new_answers(people)
    analysis = nf.analyse(answers, seed=seed)
    truth = float(analysis.space.credits(new).mean())
    best = analysis.best
    row = {
        "accuracy": best.accuracy,
        "true_accuracy": truth,
        "accuracy_covered": inside(best, truth),
        "accuracy_width": best.high - best.low,
        "true_best_kept": _true_best_kept(analysis, new),
        "clusters_stated": float(analysis.cluster_count.k > 1),
    }
    if scenario.design not in ("odd", "grid"):
        possible, ceiling = analysis.ceiling.best_possible, study.ceiling()
        row |= {"ceiling_covered": inside(possible, ceiling), "true_ceiling": ceiling}
        row["ceiling_width"] = possible.high - possible.low if possible else None
    if scenario.design != "list" and analysis.curve is not None:
        more = nf.fit(study.answers(people, 2 * scenario.per_participant), best.name)
        gain = float(more.credits(new).mean()) - truth
        row |= {"gain_covered": inside(analysis.curve.next_gain, gain), "true_gain": gain}
        row |= {"verdict": analysis.curve.verdict}
    if analysis.subgroups is not None:
        row["subgroups_stated"] = float(analysis.subgroups.count > 1)
    if analysis.reliability is not None and np.isfinite(analysis.reliability.correlation):
        again = study.answers(study.participants(scenario.n_participants), scenario.per_participant)
        maps = [nf.fit(each, analysis.reliability.model).distances() for each in (answers, again)]
        upper = np.triu_indices(answers.n_objects, 1)
        row["true_reliability"] = float(np.corrcoef(maps[0][upper], maps[1][upper])[0, 1])
        row["reliability"] = analysis.reliability.correlation
    return row


def _true_best_kept(analysis: Any, new: Any) -> float:
    """1 where the model that predicts new answers best is among those not told apart from the best."""
    truth = {score.name: float(analysis.fit(score.name).credits(new).mean()) for score in analysis.scores}
    return float(analysis.scores[max(truth, key=lambda name: truth[name])].as_good_as_best)


def doubled(scenario: Scenario, seed: int) -> Row:
    """Twice the participants: is the interval as narrow as was stated? The same participants, other questions: is the map?"""
    study = Study(scenario, seed)
    people = study.participants(scenario.n_participants)
    answers = study.answers(people, scenario.per_participant)
    analysis = nf.analyse(answers, "soe-3", models=["soe-3", "soe-2"], seed=seed)
    more = study.answers(study.participants(2 * scenario.n_participants), scenario.per_participant)
    twice = nf.analyse(more, "soe-3", models=["soe-3"], seed=seed).best
    stated = analysis.curve.precision[1].half_width
    return {
        "narrower_as_stated": float((twice.high - twice.low) / 2 <= stated),
        "half_width": (twice.high - twice.low) / 2,
        "stated_half_width": stated,
    }


def agreed(scenario: Scenario, seed: int) -> Row:
    """How often two participants give the same answer: stated with an interval, and in truth."""
    study = Study(scenario, seed)
    people = study.participants(scenario.n_participants)
    stated = nf.noise_ceiling(study.answers(people, scenario.per_participant)).agreement
    return {"two_agree_covered": inside(stated, study.agreement())}


def sized(scenario: Scenario, seed: int) -> Row:
    """The number of dimensions that are called enough, against those that the objects have."""
    study = Study(scenario, seed)
    answers = study.answers(study.participants(scenario.n_participants), scenario.per_participant)
    stated = nf.analyse(answers, seed=seed).dimension
    return {"dimension": stated, "more_dimensions_than_there_are": float(stated > study.points.shape[1])}


def guessed(scenario: Scenario, seed: int) -> Row:
    """Everybody guesses: is any model called better than guessing?"""
    study = Study(replace(scenario, guessers=1.0), seed)
    answers = study.answers(study.participants(scenario.n_participants), scenario.per_participant)
    analysis = nf.analyse(answers, seed=seed)
    return {
        "called_better_than_guessing": float(analysis.scores.above_guessing),
        "accuracy_covered": inside(analysis.best, 0.5),
    }


def checked(scenario: Scenario, seed: int) -> Row:
    """Participants named, by what they are."""
    study = Study(scenario, seed)
    people = study.participants(scenario.n_participants)
    analysis = nf.analyse(
        study.answers(people, scenario.per_participant), models=["soe-3"], model="soe-3", seed=seed
    )
    named = {person.name for person in analysis.people.to_check}
    new = study.new_answers_of(people, 8_000 if scenario.design == "grid" else 1_000)
    truth = np.bincount(new.participant.codes, analysis.space.credits(new)) / np.bincount(
        new.participant.codes
    )
    true = dict(zip(new.participant.names, truth, strict=True))
    within = [inside(person.with_prediction, true[person.name]) for person in analysis.people.rows]
    row: Row = {"agreement_covered": float(np.mean(within))}
    for code, kind in enumerate(("attentive", "guesser", "opposite", "one-sided")):
        names = [f"p{who:03d}" for who in np.flatnonzero(people["kind"] == code)]
        if names:
            row[f"{kind}_named"] = float(np.mean([name in named for name in names]))
    return row


def parted(scenario: Scenario, seed: int) -> Row:
    """Groups of participants compared: called different, where they are and where they are not."""
    study = Study(scenario, seed)
    people = study.participants(scenario.n_participants)
    answers = study.answers(people, scenario.per_participant)
    codes = np.asarray(
        answers.participant.codes
    )  # every second one is in the second group, and in the second subgroup
    groups = {f"p{who:03d}": "ab"[who % 2] for who in range(scenario.n_participants)}
    pair = nf.compare_groups(answers, groups, model="soe-3", seed=seed).pairs[0]
    subgroups = nf.find_subgroups(answers, seed=seed)
    new = study.new_answers(people)
    spaces = [nf.fit(answers[codes % 2 == half], "soe-3") for half in (0, 1)]
    credits = [space.credits(new) for space in spaces]
    theirs = np.asarray(new.participant.codes) % 2
    true = [float((credits[g] - credits[1 - g])[theirs == g].mean()) for g in (0, 1)]
    covered = [inside(lead, truth) for lead, truth in zip(pair.lead, true, strict=True)]
    return {
        "groups_called_different": float(pair.differ),
        "subgroups_stated": float(subgroups.count > 1) if scenario.noise == 1 else None,
        "lead_covered": float(np.mean(covered)),
    }


def repeated(scenario: Scenario, seed: int) -> Row:
    """Another study: does the map correlate as was stated?"""
    study = Study(scenario, seed)
    people, per = study.participants(scenario.n_participants), scenario.per_participant
    answers = study.answers(people, per)
    halves = nf.analyse(answers, "soe-3", models=["soe-3", "soe-2"], seed=seed).reliability
    again = study.answers(study.participants(scenario.n_participants), per)
    upper = np.triu_indices(answers.n_objects, 1)
    maps = [nf.fit(each, halves.model).distances()[upper] for each in (answers, again)]
    return {
        "reliability": halves.correlation,
        "true_reliability": float(np.corrcoef(*maps)[0, 1]),
    }


def moved(scenario: Scenario, seed: int) -> Row:
    """The second group sees four objects in each other's place: those named, and whether any other is."""
    study = Study(scenario, seed)
    people = study.participants(scenario.n_participants)
    exchanged = study.rng.permutation(scenario.n_objects)[:4]
    answers = []
    for half in (0, 1):
        said = study.answers(people, scenario.per_participant)
        answers.append(said[np.asarray(said.participant.codes) % 2 == half])
        study.points[exchanged] = study.points[np.roll(exchanged, 1)]
    groups = {f"p{who:03d}": "ab"[who % 2] for who in range(scenario.n_participants)}
    pair = nf.compare_groups(Triplets.concatenate(answers), groups, model="soe-3", seed=seed).pairs[0]
    sure, truly = {move.name for move in pair.moves if move.sure}, {f"o{x:03d}" for x in exchanged}
    return {
        "moved_named": len(sure & truly) / len(truly),
        "unmoved_named": float(len(sure - truly) > 0),
    }


def advised(scenario: Scenario, seed: int) -> Row:
    """What a pilot of a quarter of the answers says that all of them, and twice as many, will reach."""
    study = Study(scenario, seed)
    n, per = scenario.n_participants, scenario.per_participant
    budget = n * per
    advice = nf.advise(
        scenario.n_objects, budget=budget, pilot=study.answers(study.participants(n // 4), per)
    )
    people = study.participants(n)
    new = study.new_answers(people)
    model = f"soe-{advice.assumptions.dimension}"
    once, twice = (
        float(nf.fit(study.answers(people, times * per), model).credits(new).mean()) for times in (1, 2)
    )
    told, gain = next((row.accuracy, row.gain) for row in advice.rows if row.answers == budget)
    return {
        "advice": told,
        "true_advice": once,
        "advice_within": float(abs(told - once) <= 0.05),
        "advised_gain": gain,
        "true_advised_gain": twice - once,
        "advised_gain_within": float(abs(gain - twice + once) <= 0.01),
    }


def kept(scenario: Scenario, seed: int) -> Row:
    """Share of objects that stay in their cluster: in resamples, and in other studies (five of them)."""
    study = Study(scenario, seed)
    first, *others = (
        study.answers(study.participants(scenario.n_participants), scenario.per_participant) for _ in range(6)
    )
    k = scenario.clusters or 4
    stable = nf.analyse(first, "soe-3", models=["soe-3"], seed=seed).stability(k)
    again = [cut(nf.fit(each, "soe-3").tree(), k) for each in others]
    share, true = (float(np.nanmean(kept)) for kept in (stable.kept, kept_labels(again, stable.labels)))
    return {"kept": share, "true_kept": true, "kept_within": float(abs(share - true) <= 0.1)}


def located(scenario: Scenario, seed: int) -> Row:
    """Share of objects whose long-run position lies inside their circle (stated: 9 in 10)."""
    study = Study(scenario, seed)
    answers = study.answers(study.participants(scenario.n_participants), scenario.per_participant)
    sure = nf.analyse(answers, "soe-2", models=["soe-2"], seed=seed).stability(None)
    many = nf.fit(study.answers(study.participants(400), scenario.per_participant), "soe-2")
    position, _ = _procrustes(np.asarray(many.rows), sure.points)
    size = np.sqrt(np.mean(np.sum((sure.points - sure.points.mean(axis=0)) ** 2, axis=1)))
    off = np.linalg.norm(position - sure.points, axis=1) / size
    shown = np.isfinite(sure.circle)
    return {"inside_circle": float(np.mean(off[shown] <= sure.circle[shown])) if shown.any() else None}


def scaled(scenario: Scenario, seed: int) -> Row:
    """Share of objects on a line whose long-run place lies inside their interval."""
    study = Study(scenario, seed)
    answers = study.answers(study.participants(scenario.n_participants), scenario.per_participant)
    scale = nf.analyse(answers, "ckl-1", models=["ckl-1"], seed=seed).scale
    many = nf.fit(study.answers(study.participants(400), scenario.per_participant), "ckl-1")
    place, _ = _procrustes(np.asarray(many.rows)[scale.order], scale.values[:, None])
    return {"inside_scale": float(np.mean((scale.low <= place[:, 0]) & (place[:, 0] <= scale.high)))}


def _procrustes(points: Any, reference: Any) -> tuple[Any, float]:
    """Points moved, turned, mirrored and scaled onto the reference."""
    x, y = reference - reference.mean(axis=0), points - points.mean(axis=0)
    left, values, right = np.linalg.svd(y.T @ x)
    scale = values.sum() / np.sum(y**2)
    return scale * y @ left @ right + reference.mean(axis=0), float(scale)


def clustered(scenario: Scenario, seed: int) -> Row:
    """The number of clusters: stated, right."""
    study = Study(scenario, seed)
    answers = study.answers(study.participants(scenario.n_participants), scenario.per_participant)
    count = nf.analyse(answers, models=["soe-3"], model="soe-3", seed=seed).cluster_count
    stated = count.k > 1
    return {
        "clusters_stated": float(stated),
        "clusters_right": float(count.low <= scenario.clusters <= count.high) if stated else None,
    }


CHECKS: dict[str, Callable[[Scenario, int], Row]] = {
    "judged": judged,
    "doubled": doubled,
    "agreed": agreed,
    "sized": sized,
    "scaled": scaled,
    "guessed": guessed,
    "checked": checked,
    "parted": parted,
    "clustered": clustered,
    "located": located,
    "moved": moved,
    "advised": advised,
    "kept": kept,
    "repeated": repeated,
}


def conditions() -> Iterator[tuple[str, Scenario]]:
    """What is simulated."""
    for design in DESIGNS:
        count = 6 if design == "few participants" else 30
        for geometry in GEOMETRIES[:: 1 if design in ("random", "pool") else 2]:
            yield "judged", Scenario(geometry, design, n_participants=count)
    yield "judged", Scenario(n_participants=60, per_participant=25)
    yield "judged", Scenario(n_participants=15, per_participant=200, precision=10)
    for geometry, design in zip(2 * GEOMETRIES, ("random", "pool", "odd", "grid", "landmarks"), strict=False):
        yield "doubled", Scenario(geometry, design)
    yield "doubled", Scenario("curve", n_participants=15)
    for geometry, design in zip(GEOMETRIES, ("pool", "list", "pool", "list"), strict=True):
        yield "agreed", Scenario(geometry, design)
    for design in ("random", "pool", "odd", "grid"):
        yield "sized", Scenario("sheet", design)
    for design, per in (("random", 40), ("odd", 20), ("no names", 80), ("few participants", 100)):
        yield "scaled", Scenario("line", design, 20, 6 if design == "few participants" else 30, per)
    for design in ("random", "odd", "grid"):
        yield "guessed", Scenario(design=design, n_participants=20, per_participant=64)
        per = 480 if design == "grid" else 60  # 60 statements each
        yield "checked", Scenario(design=design, per_participant=per, guessers=0.1)
        yield "checked", Scenario("sheet", design, 30, 60, per, guessers=0.05)
    for geometry in ("curve", "heavy tails"):
        yield "checked", Scenario(geometry, per_participant=60, guessers=0.1, opposite=0.07, sided=0.07)
        yield "parted", Scenario(geometry, n_participants=40)
        yield "parted", Scenario(geometry, n_participants=40, subgroups=2)
        yield "parted", Scenario(geometry, n_participants=40, noise=3)
        yield "parted", Scenario(geometry, n_participants=40, subgroups=2, noise=3)
        for design, per in (("random", 10), ("random", 25), ("odd", 20), ("grid", 80), ("landmarks", 40)):
            yield "repeated", Scenario(geometry, design, per_participant=per)
        yield "moved", Scenario(geometry, n_participants=40)
        yield "advised", Scenario(geometry)
        yield "kept", Scenario(geometry, per_participant=60)
        yield "located", Scenario(geometry, per_participant=60)
        yield "located", Scenario(geometry, "no names", per_participant=100)
    for k in (2, 3, 5):
        yield "kept", Scenario(clusters=k, n_participants=30, per_participant=60)
        yield "clustered", Scenario(clusters=k, n_participants=50, per_participant=120)


def run(check: str, scenario: Scenario, seed: int) -> Row:
    """One row."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        row = CHECKS[check](scenario, seed)
    return {"check": check, "seed": seed, **asdict(scenario), **row}


def main() -> None:
    """Run what is missing, one line per study."""
    count = int(next((word for word in sys.argv[1:] if word.isdigit()), size(40, 1)))
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    kept = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    done = {
        json.dumps([row["check"], row["seed"], {k: row.get(k, v) for k, v in asdict(Scenario()).items()}])
        for row in kept
    }
    wanted = [
        (check, scenario, seed)
        for seed in range(count)
        for check, scenario in size(list, lambda all_of_them: list(all_of_them)[:1])(conditions())
        if json.dumps([check, seed, asdict(scenario)]) not in done
    ]
    with ProcessPoolExecutor(2) as pool, ROWS.open("a") as out:
        for row in pool.map(run, *zip(*wanted, strict=True)) if wanted else ():
            out.write(json.dumps(row, default=float) + "\n")
            out.flush()
            print(row["check"], row["design"], row["geometry"], row["seed"], flush=True)


if __name__ == "__main__":
    main()
