"""Adaptive studies of which the truth is known: what is said about their saving, accuracy and ceiling, at the end and at every look.

    python -m benchmarks.honesty.adaptive 12 300    12 studies per condition, for at most 300 s; goes on where it stopped

The objects of a condition stay, participants and questions are new in every study. Participants differ, and one in ten answers at
random. Of every eight, two get random questions only; the others get adaptive ones, a fifth of them random. The true saving is how
many times more random answers reach the mean accuracy that the first n adaptive answers reach (30 random studies of each size).
Every eight participants somebody looks at the accuracy, every sixteen at the saving. Rows go to benchmarks/results/honesty/adaptive.jsonl, a table of them to docs/honesty.md.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

import nearfar as nf
from benchmarks._measure import RESULTS, SMALL, fill, size
from benchmarks.honesty import tables
from benchmarks.honesty.scenarios import Floats, Ints, Scenario, Study
from benchmarks.honesty.tables import Measured
from nearfar.embedding import STE
from nearfar.evaluate.bootstrap import MIN_PARTICIPANTS, Estimate
from nearfar.evaluate.saving import at_any_time, saving
from nearfar.triplets import Triplets

Row = dict[str, Any]
ROWS = RESULTS / "honesty" / "adaptive.jsonl"
WAVE, AHEAD, CONTROL, RANDOM, POPULATION = 8, 20, 2, 0.2, 400
SIZES = (0.25, 0.35, 0.5, 0.71, 1.0, 1.41, 2.0, 2.83, 4.0)  # of random studies, in answers compared
STOP = (0.2, 0.15)  # widths of the interval of the accuracy at which one stops
MADE = Scenario(guessers=0.1)
CONDITIONS = {
    "heavy tails, 30 objects, 40 x 60": replace(MADE, n_objects=30, n_participants=40, per_participant=60, precision=8),
    "curve, 20 objects, 24 x 60": replace(MADE, geometry="curve", n_objects=20, n_participants=24, per_participant=60, precision=16),
    "sheet, 40 objects, 80 x 40": replace(MADE, geometry="sheet", n_participants=80, per_participant=40, precision=7),
    "tree, 60 objects, 64 x 60": replace(MADE, geometry="tree", n_objects=60, n_participants=64, per_participant=60, precision=10),
    "heavy tails, 40 objects, 48 x 60": replace(MADE, n_participants=48, per_participant=60, precision=20),
    "one anchor, sheet, 30 objects, 40 x 60": replace(MADE, geometry="sheet", n_objects=30, n_participants=40, per_participant=60),
    "one anchor, tree, 40 objects, 64 x 40": replace(MADE, geometry="tree", n_participants=64, per_participant=40, precision=10),
}  # fmt: skip


class World(Study):
    """The objects and the population of a condition."""

    def __init__(self, name: str) -> None:
        super().__init__(CONDITIONS[name], sorted(CONDITIONS).index(name))
        self.harmful = name.startswith("one anchor")
        self.population = self.participants(POPULATION)
        self.asked = self._questions(6000)
        level = self.population | {"side": np.zeros(POPULATION)}
        chances = [self.chance_of_first(self.asked, np.full(6000, who), level) for who in range(POPULATION)]
        self.p = np.mean(chances, axis=0)

    def accuracy(self, points: Floats) -> float:
        """Probability of predicting the answer of a new participant to a random question."""
        near, far = (((points[self.asked[:, 0]] - points[self.asked[:, k]]) ** 2).sum(axis=1) for k in (1, 2))
        return float(np.mean(np.where(near < far, self.p, 1 - self.p)))

    def said(self, rows: Ints, who: int) -> Ints:
        """(m, 3) triplets that one of the population answers."""
        first = self.rng.random(len(rows)) < self.chance_of_first(
            rows, np.full(len(rows), who), self.population
        )
        return np.where(first[:, None], rows, rows[:, [0, 2, 1]])

    def drawn(self, count: int) -> Ints:
        """Random questions; a tenth of them is asked of many."""
        rows = self._questions(count)
        rows[: count // 10] = self.common[self.rng.permutation(len(self.common))[: count // 10]]
        return rows[self.rng.permutation(count)]

    def random_study(self, n: int, seed: int) -> float:
        """Accuracy of n answers to random questions."""
        self.rng = np.random.default_rng([320, n, seed])
        per = self.scenario.per_participant
        who = self.rng.permutation(POPULATION)[: -(-n // per)]
        rows = np.concatenate([self.said(self.drawn(per), person) for person in who])[:n]
        return self.accuracy(fitted(rows, self.scenario.n_objects))

    def study(self, seed: int) -> tuple[Triplets, set[str]]:
        """Answers in order of time, and the control participants."""
        s = self.scenario
        self.rng = rng = np.random.default_rng([32, seed])
        who = rng.permutation(POPULATION)[: s.n_participants]
        used: list[Ints] = []
        rows, people, rules, control = [], [], [], set()
        for start in range(0, len(who), WAVE):
            wave = rng.permutation(who[start : start + WAVE])
            control |= {f"p{person}" for person in wave[:CONTROL]}
            for _ in range(0, s.per_participant, AHEAD):
                chosen = iter(self.chosen(used, AHEAD * (len(wave) - CONTROL)))
                for place, person in enumerate(wave):
                    asked, is_random = self.drawn(AHEAD), np.ones(AHEAD, dtype=bool)
                    if place >= CONTROL:
                        is_random = rng.random(AHEAD) < RANDOM
                        asked[~is_random] = [next(chosen) for _ in range(int((~is_random).sum()))]
                    rows.append(self.said(asked, person))
                    used.append(rows[-1][~is_random])
                    people += [f"p{person}"] * AHEAD
                    rules += np.where(is_random, "random", "adaptive").tolist()
        names = [f"o{x}" for x in range(s.n_objects)]
        made = Triplets.from_array(np.concatenate(rows), names, participant=people, rule=rules)
        return made, control

    def chosen(self, used: list[Ints], count: int) -> Ints:
        """Adaptive questions; or harmful ones, all about one anchor."""
        n = self.scenario.n_objects
        if self.harmful:
            return np.insert(1 + np.argsort(self.rng.random((count, n - 1)), axis=1)[:, :2], 0, 0, axis=1)
        before = np.concatenate([np.zeros((0, 3), dtype=np.int64), *used])
        made = nf.design.next_questions(before, n, count, seed=self.rng).questions.array
        return made[self.rng.permutation(count)]


def fitted(rows: Ints, n: int) -> Floats:
    """Points of the model that the saving is measured with."""
    return np.asarray(STE(4).fit(Triplets.from_array(rows, n_objects=n)).embedding_)


def inside(estimate: Any, truth: float) -> float | None:
    """Whether an interval holds the truth; None where there is no interval."""
    return float(estimate.low <= truth <= estimate.high) if np.isfinite(estimate.low) else None


def run(world: World, name: str, seed: int) -> Row:
    """One study, with a look at every wave."""
    answers, control = world.study(seed)
    s = world.scenario
    per_wave = WAVE * s.per_participant
    row: Row = {"condition": name, "seed": seed, **asdict(s)}
    held: dict[str, list[float]] = defaultdict(list)
    stopped: dict[float, float] = {}
    harms = []
    for end in range(per_wave, len(answers) + 1, per_wave):
        so_far = answers[:end]
        people = len(np.unique(so_far.participant.codes))  # type: ignore[union-attr]
        if people < MIN_PARTICIPANTS:
            continue
        analysis = nf.analyse(so_far, "ste-4", models=["ste-4"])
        score, truth = analysis.scores["ste-4"], world.accuracy(analysis.space.rows)
        fixed = Estimate(score.accuracy, score.low, score.high)
        wide = at_any_time(fixed, people, s.n_participants)
        held["fixed"].append(inside(fixed, truth) or 0.0)
        held["wide"].append(inside(wide, truth) or 0.0)
        for width in STOP:
            if min(wide.high, 1.0) - max(wide.low, 0.0) < width:
                stopped.setdefault(width, held["wide"][-1])
        if (len(answers) - end) // per_wave % 2 == 0:  # every second wave, and the last
            measured = saving(so_far, control)
            harms.append(measured is not None and measured.harms)
    best = analysis.ceiling.best_possible
    true_ceiling = float(np.maximum(world.p, 1 - world.p).mean())
    arm = answers[np.flatnonzero(~np.isin(np.asarray(answers.participant), list(control)))]
    row |= {
        "agreement": float(np.mean(world.p**2 + (1 - world.p) ** 2)),
        "accuracy_covered": held["fixed"][-1],
        "ceiling_covered": None if best is None else inside(best, true_ceiling),
        "all_looks_fixed": min(held["fixed"]),
        "all_looks_wide": min(held["wide"]),
        "harms": float(any(harms)),
        **{f"at_stop_{width:g}": stopped.get(width) for width in STOP},
    }
    if measured is None:
        return row | {"n": None}
    times = measured.times
    true_n = fitted(arm.array[: measured.n_answers], s.n_objects)
    row |= {
        "n": measured.n_answers,
        "adaptive": world.accuracy(true_n),
        "difference": list(measured.difference.to_dict().values()),
    }
    return row | {"times": None if times is None else [times.value, times.low, times.high]}


def true_saving(world: World, rows: list[Row], repeats: int = 30) -> tuple[float, float, float]:
    """Saving, accuracy of adaptive answers and of as many random ones, at the mean number of answers compared."""
    known = [row for row in rows if row["n"]]
    n = float(np.mean([row["n"] for row in known]))
    curve = [
        np.mean([world.random_study(round(n * f), seed) for seed in range(size(repeats, 2))]) for f in SIZES
    ]
    adaptive = float(np.mean([row["adaptive"] for row in known]))
    rising = np.maximum.accumulate(curve)
    return float(2 ** np.interp(adaptive, rising, np.log2(SIZES))), adaptive, float(curve[SIZES.index(1.0)])


SHOWN: dict[str, tuple[str, str, Callable[[Row], float | None]]] = {
    "saving of adaptive questions, 90 % interval": ("90 %", "other studies", lambda r: r.get("times_covered")),
    "difference in accuracy of adaptive and random answers, 90 % interval": ("90 %", "other studies", lambda r: r.get("difference_covered")),
    "accuracy in adaptive studies, 95 % interval, from random questions": ("95 %", "nothing", lambda r: r["accuracy_covered"]),
    "ceiling in adaptive studies, 95 % interval, from random questions": ("95 %", "nothing", lambda r: r["ceiling_covered"]),
    "accuracy on the live page: inside at every look": ("95 %", "nothing", lambda r: r["all_looks_wide"]),
    "the same with the interval of one look": ("no target", "nothing", lambda r: r["all_looks_fixed"]),
    "accuracy, stopped when its interval was narrower than 20 points": ("95 %", "nothing", lambda r: r["at_stop_0.2"]),
    "accuracy, stopped when its interval was narrower than 15 points": ("95 %", "nothing", lambda r: r["at_stop_0.15"]),
    "adaptive questions switched off although they help": ("at most 5 %", "nothing", lambda r: None if r["harmful"] or r["true"] < 1 else r["harms"]),
    "harmful questions switched off": ("no target", "nothing", lambda r: r["harms"] if r["harmful"] else None),
}  # fmt: skip


def claims(rows: list[Row]) -> Measured:
    """Every claim, and its values by condition."""
    measured: Measured = []
    for claim, (nominal, tuned, value) in SHOWN.items():
        by: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            if (known := value(row)) is not None:
                by[row["condition"]].append(known)
        measured += [("", claim, nominal, tuned, dict(by))] if by else []
    return measured


def main() -> None:
    """Run what is missing, then compare with the truth."""
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    done = {(row["condition"], row["seed"]) for row in rows}
    count, seconds = (*map(int, sys.argv[1:]), *(size(0, 1), 3600)[len(sys.argv) - 1 :])
    start = time.monotonic()
    names = size(list(CONDITIONS), list(CONDITIONS)[:1])
    worlds = {name: World(name) for name in names}
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    with ROWS.open("a") as out:
        for seed, name in ((seed, name) for seed in range(count) for name in names):
            if (name, seed) not in done and time.monotonic() - start < seconds:
                rows.append(run(worlds[name], name, seed))
                out.write(json.dumps(rows[-1], default=float) + "\n")
                out.flush()
    details = [
        "| condition | studies | agreement | adaptive | random | true saving | stated | median of the stated interval |"
    ]
    details += ["|---|---:|---:|---:|---:|---:|---:|---|"]
    for name in names:
        group = [row for row in rows if row["condition"] == name]
        true, adaptive, plain = true_saving(worlds[name], group)
        for row in group:
            row |= {"harmful": worlds[name].harmful, "true": true}
            if row.get("difference"):
                row["difference_covered"] = inside(Estimate(*row["difference"]), adaptive - plain)
            if row.get("times"):
                row["times_covered"] = inside(Estimate(*row["times"]), true)
        stated = np.array([row["times"] for row in group if row.get("times")]).reshape(-1, 3)
        value, low, high = np.median(stated, axis=0) if len(stated) else [np.nan] * 3
        details.append(
            f"| {name} | {len(group)} | {group[0]['agreement']:.2f} | {adaptive:.3f} | {plain:.3f} | {true:.2f} "
            f"| {len(stated)} | {value:.2f} ({low:.2f} to {high:.2f}) |"
        )
    ROWS.with_suffix(".md").write_text(tables.long_table(claims(rows)) + "\n" + "\n".join(details) + "\n")
    if not SMALL:
        fill("honesty", tables.table(claims(rows)), "adaptive")
    print(*details, sep="\n")


if __name__ == "__main__":
    main()
