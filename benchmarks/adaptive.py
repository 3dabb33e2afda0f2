"""Adaptive questions beside random ones: accuracy against the number of answers, in simulated studies.

``python -m benchmarks.adaptive [N]`` runs the first N scenarios (all without a number), goes on where it stopped, and keeps one
row per scenario, rule and seed in benchmarks/results/adaptive.jsonl. Then it prints the savings.

A study asks one question per object at a time, as a server would. At each mark (answers per object) two models are fitted to
all answers so far, and the better one is taken, for random questions as well. Its accuracy is the probability that it predicts the next answer to a random question, computed from the
probabilities that the answers were drawn with. The saving at a mark is the number of random answers with the same accuracy, over
the number of answers given; of a scenario, the geometric mean over its marks. The noise of a scenario is scaled until two answers to
a random question agree as often as stated. Random questions take every anchor in turn, and are simulated twice per seed.

The rule was tuned on other objects (seeds 500 and up) of other scenarios: normal 30 d3 .75, decaying 50 d6 .75, clusters 40 d4 .75,
tails 30 d2 .85, decaying 40 d5 .85, normal 50 d3 .85, decaying 30 d5 .85.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
from sklearn.isotonic import isotonic_regression

from benchmarks._measure import RESULTS, SHARED, SMALL, size
from nearfar import datasets, design
from nearfar._tools.arrays import Floats, Ints
from nearfar.design import Questions, adaptive
from nearfar.embedding import CKL, SOE, STE
from nearfar.errors import NearfarWarning
from nearfar.triplets import Triplets, as_triplets

SEEDS = (0, 1, 2)
REAL = ("car", "food", "musicians", "things", "usps", "mnist")
RULES = ("random", "bald, 20 % random", "bald", "uncertainty", "landmarks")
MARKS = {  # answers per object
    "near": (5, 8, 12, 18, 27, 40, 60),
    "odd": (4, 6, 9, 13, 20, 30),
    "grid": (1, 2, 3, 4, 6, 9),
}
MODELS = {"ste-4": STE(4), "soe-5": SOE(5)}
BEYOND = (1.4, 2.0, 3.0)  # random questions go on to these multiples of the last mark


@dataclass(frozen=True)
class Scenario:
    """A simulated study: what the objects are like, and how people answer.

    ``people`` : "alike"; "lapses", a tenth of the answers is a guess; "two", half of them weigh the dimensions differently;
    "tails", errors have Cauchy's distribution, not the logistic one.
    """

    structure: str
    n: int
    d: int  # of made-up objects; that of the fitted map, or 0 for the vectors themselves
    agreement: float
    people: str = "alike"
    kind: design.questions.QuestionKind = "near"

    @property
    def name(self) -> str:
        """Unique among all."""
        parts = (self.structure, self.n, f"d{self.d}" if self.d else "", f"{self.agreement:.2f}"[1:])
        more = (self.people if self.people != "alike" else "", self.kind if self.kind != "near" else "")
        return " ".join(str(part) for part in (*parts, *more) if part)

    @property
    def marks(self) -> Ints:
        """Numbers of answers at which the accuracy is taken; fewer of them with many objects, to save time."""
        each = MARKS[self.kind][: size(None, 2)]
        return np.array(each[: len(each) - sum(self.n > most for most in (40, 60, 100, 100))]) * self.n


SCENARIOS = (
    Scenario("car", 60, 3, 0.75),
    Scenario("car", 40, 3, 0.85),
    Scenario("normal", 20, 2, 0.75),
    Scenario("normal", 40, 4, 0.85),
    Scenario("clusters", 30, 3, 0.75),
    Scenario("clusters", 40, 6, 0.85),
    Scenario("tails", 40, 3, 0.75),
    Scenario("tails", 20, 2, 0.85),
    Scenario("decaying", 40, 8, 0.75),
    Scenario("decaying", 60, 8, 0.85),
    Scenario("food", 40, 5, 0.75),
    Scenario("food", 40, 5, 0.85),
    Scenario("things", 40, 8, 0.75),
    Scenario("usps", 40, 0, 0.85),
    Scenario("musicians", 40, 4, 0.65),
    Scenario("mnist", 30, 0, 0.90),
    Scenario("decaying", 30, 4, 0.75, "lapses"),
    Scenario("clusters", 30, 4, 0.85, "lapses"),
    Scenario("decaying", 30, 4, 0.75, "two"),
    Scenario("normal", 30, 3, 0.85, "two"),
    Scenario("decaying", 30, 4, 0.75, "tails"),
    Scenario("normal", 40, 3, 0.65),
    Scenario("decaying", 40, 5, 0.90),
    Scenario("normal", 30, 3, 0.75, kind="odd"),
    Scenario("food", 30, 5, 0.85, kind="odd"),
    Scenario("decaying", 30, 3, 0.75, kind="grid"),
    Scenario("car", 30, 3, 0.85, kind="grid"),
    Scenario("food", 100, 5, 0.75),
    Scenario("decaying", 200, 4, 0.85),
)


def fitted(name: str, d: int) -> Floats:
    """Points of a model of real answers, or the vectors of real images."""
    if name in ("usps", "mnist"):
        pixels = np.load(SHARED / name / f"{name}.npz")
        x: Floats = next(pixels[key] for key in pixels if key.startswith("x_test")).astype(np.float64)
        return x.reshape(len(x), -1)
    answers = getattr(datasets, f"fetch_{name}")(SHARED).triplets
    points: Floats = (CKL if name == "things" else SOE)(d).fit(answers).embedding_
    return points


def made(structure: str, n: int, d: int, rng: np.random.Generator) -> Floats:
    """Objects whose positions are known."""
    if structure == "clusters":
        return 1.5 * rng.normal(size=(5, d))[rng.integers(5, size=n)] + 0.5 * rng.normal(size=(n, d))
    if structure == "tails":
        return rng.standard_t(3, size=(n, d))
    widths = 0.75 ** np.arange(d) if structure == "decaying" else np.ones(d)
    points: Floats = rng.normal(size=(n, d)) * widths
    return points


class People:
    """Who answers: the probability of every answer is known."""

    def __init__(self, scenario: Scenario, seed: int, structures: dict[str, Floats]) -> None:
        rng = np.random.default_rng([41, seed])
        x = structures.get(scenario.structure)
        if x is None:
            x = made(scenario.structure, scenario.n, scenario.d, rng)
        x = x[rng.permutation(len(x))[: scenario.n]]
        self.scenario, self.n, self.slope = scenario, len(x), 1.0
        maps = [x / x.std()]
        if scenario.people == "two":
            maps.append(maps[0] * rng.permutation(np.linspace(0.4, 1.6, x.shape[1])))
        self.distances = [np.sqrt(np.maximum(_squares(each), 0.0)) for each in maps]
        self.asked = _random_rows(self.n, size(40_000, 2000), rng)
        low, high = 0.01, 1000.0
        for _ in range(40):
            self.slope = np.sqrt(low * high)
            p = self.p_first(self.asked)
            low, high = (
                (self.slope, high) if np.mean(p**2 + (1 - p) ** 2) < scenario.agreement else (low, self.slope)
            )
        self.p = self.p_first(self.asked)

    def p_first(self, rows: Ints) -> Floats:
        """Probability that somebody calls ``rows[:, 1]`` nearer to ``rows[:, 0]`` than ``rows[:, 2]``."""
        anchor, one, other = rows.T
        gaps = [self.slope * (apart[anchor, other] - apart[anchor, one]) for apart in self.distances]
        if self.scenario.people == "tails":
            sure = np.mean([0.5 + np.arctan(gap) / np.pi for gap in gaps], axis=0)
        else:
            sure = np.mean([1 / (1 + np.exp(-gap)) for gap in gaps], axis=0)
        lapses = 0.1 if self.scenario.people == "lapses" else 0.0
        chosen: Floats = lapses / 2 + (1 - lapses) * sure
        return chosen

    def answer(self, questions: Questions, rng: np.random.Generator) -> Triplets:
        """Answers of somebody else to each question."""
        rows, apart = questions.array, self.slope * self.distances[0]
        if questions.kind == "near":
            return questions.answered((rng.random(len(rows)) > self.p_first(rows)).astype(int))
        if questions.kind == "odd":  # the one outside the pair that looks nearest
            pairs = np.stack([apart[rows[:, i], rows[:, j]] for i, j in ((1, 2), (0, 2), (0, 1))], axis=1)
            return questions.answered(np.argmax(rng.gumbel(size=pairs.shape) - pairs, axis=1))
        looks = rng.gumbel(size=(len(rows), rows.shape[1] - 1)) - apart[rows[:, :1], rows[:, 1:]]
        return questions.answered(np.argsort(-looks, axis=1)[:, : questions.pick])

    def accuracy(self, points: Floats) -> float:
        """Probability that these points predict an answer to a random question."""
        apart = _squares(points)
        anchor, one, other = self.asked.T
        return float(np.mean(np.where(apart[anchor, one] < apart[anchor, other], self.p, 1 - self.p)))


def _squares(x: Floats) -> Floats:
    lengths = np.sum(x**2, axis=1)
    squares: Floats = lengths[:, None] + lengths - 2 * x @ x.T
    return squares


def _random_rows(n: int, m: int, rng: np.random.Generator) -> Ints:
    """(m, 3) questions, all equally likely; every anchor in turn."""
    anchor, one, other = np.arange(m) % n, rng.integers(n - 1, size=m), rng.integers(n - 2, size=m)
    other += other >= one
    return np.stack([anchor, one + (one >= anchor), other + (other >= anchor)], axis=1)


def batch(rule: str, answers: Any, people: People, seed: int, turn: int) -> tuple[Questions, Any]:
    """One question per object, and which of them are adaptive."""
    n, kind = people.n, people.scenario.kind
    rng = np.random.default_rng([42, seed, turn])
    if kind == "grid":
        plain = design.grid_questions(n, n, seed=rng)
    elif kind == "odd":
        plain = design.trio_questions(n, n, seed=rng)
    else:
        plain = Questions(_random_rows(n, n, rng).astype(np.int32), tuple(str(i) for i in range(n)))
    if rule == "landmarks":
        marks = design.random_landmarks(n, max(12, n // 5), seed=seed)
        return design.landmark_questions(n, marks, budget=n, seed=rng), np.zeros(n, dtype=bool)
    if rule == "random":
        return plain, np.zeros(n, dtype=bool)
    score = _uncertainty if rule == "uncertainty" else adaptive._information
    with mock.patch.object(adaptive, "_information", score):
        chosen = design.next_questions(answers, n, kind=kind, pick=plain.pick, seed=rng).questions
    used = rng.random(n) >= (0.2 if "20 %" in rule else 0.0)
    return chosen.replaced(np.where(used[:, None], chosen.array, plain.array)), used


def _uncertainty(p: Floats, fisher: Floats, spread: Floats) -> Floats:
    entropy: Floats = -np.sum(p * np.log(np.maximum(p, 1e-300)), axis=1)
    return entropy


def study(
    scenario: Scenario, rule: str, seed: int, structures: dict[str, Floats], again: int = 0
) -> dict[str, Any]:
    """One row: accuracy at every mark."""
    people = People(scenario, seed, structures)
    rng = np.random.default_rng([43, seed, RULES.index(rule), again])
    marks = list(scenario.marks)
    if rule == "random":
        marks += [int(scenario.marks[-1] * more) for more in BEYOND]
    given = used = np.zeros((0, 3), dtype=np.int32)
    accuracy: dict[str, list[float]] = {name: [] for name in MODELS}
    asked, turn, seconds = 0, 0, 0.0
    for mark in marks:
        while asked < mark:
            start = time.process_time()
            questions, chosen = batch(rule, used, people, seed + 1000 * again, turn)
            seconds += time.process_time() - start
            answers = people.answer(questions, rng)
            statement = (
                np.arange(len(answers)) if answers.statement is None else np.asarray(answers.statement)
            )
            given = np.vstack([given, answers.array])
            used = np.vstack([used, answers.array[chosen[statement]]])
            asked, turn = asked + len(questions), turn + 1
        for name, model in MODELS.items():
            points = model.fit(as_triplets(given, questions.objects)).embedding_
            accuracy[name].append(round(people.accuracy(points), 5))
    each = [round(float(mark) / scenario.n, 2) for mark in marks]
    kept = {"scenario": scenario.name, "rule": rule, "seed": seed, "again": again, "per_object": each}
    return kept | {"accuracy": accuracy, "ms_per_batch": round(1000 * seconds / turn, 1)}


def saving(rows: list[dict[str, Any]], scenario: Scenario, rule: str, *models: str) -> tuple[float, float]:
    """How many times more random answers it takes, and the lowest difference of accuracy at a mark; NaN where it was not run.

    models : those of which the better one is taken at every mark, for either kind of questions; none: all.
    """
    mine = {
        name: [row for row in rows if (row["scenario"], row["rule"]) == (scenario.name, name)]
        for name in ("random", rule)
    }
    if not all(mine.values()):
        return np.nan, np.nan
    each = np.log(mine["random"][0]["per_object"])
    best = {
        name: np.max(
            [np.mean([row["accuracy"][model] for row in kept], axis=0) for model in models or MODELS],
            axis=0,
        )
        for name, kept in mine.items()
    }
    plain, mean = isotonic_regression(best["random"]) + 1e-9 * np.arange(len(each)), best[rule]  # no ties
    logs = np.interp(mean, plain, each) - each[: len(mean)]
    return float(np.exp(logs.mean())), float(np.min(mean - plain[: len(mean)]))


def table(rows: list[dict[str, Any]]) -> str:
    """Savings of every rule in every scenario and their medians, in Markdown; then the first rule's by one of the models."""
    heads = " | ".join(("scenario", *RULES[1:], "lowest difference", *(f"by {model}" for model in MODELS)))
    lines = [f"| {heads} |", "|---|" + "---|" * (len(RULES) + 2)]
    found: dict[float, list[list[float]]] = defaultdict(list)
    for scenario in SCENARIOS:
        results = [saving(rows, scenario, rule) for rule in RULES[1:]]
        others = [saving(rows, scenario, RULES[1], model)[0] for model in MODELS]
        if not np.isnan(others[0]):
            found[scenario.agreement].append([*(result[0] for result in results), results[0][1], *others])
            lines.append(f"| {scenario.name} | {_cells(found[scenario.agreement][-1])} |")
    for agreement, values in sorted(found.items()):
        lines.append(f"| **median at {agreement:.2f}** | {_cells(np.nanmedian(values, axis=0).tolist())} |")
    return "\n".join(lines)


def _cells(values: list[float]) -> str:
    cells = ["" if np.isnan(value) else f"{value:.2f}" for value in values]
    cells[-3] = f"{values[-3]:+.3f}"
    return " | ".join(cells)


def main() -> None:
    """Run what is missing, then print the table."""
    warnings.simplefilter("ignore", NearfarWarning)
    path = RESULTS / "adaptive.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(row["scenario"], row["rule"], row["seed"], row["again"]) for row in kept}
    structures: dict[str, Floats] = {}
    chosen = SCENARIOS[: int(sys.argv[1]) if len(sys.argv) > 1 else size(None, 4)]
    for name in dict.fromkeys(scenario.structure for scenario in chosen if scenario.structure in REAL):
        if SMALL or not (SHARED / name).exists():
            print(f"{name}: skipped, a small run" if SMALL else f"{name}: skipped, not at {SHARED}")
            chosen = tuple(scenario for scenario in chosen if scenario.structure != name)
    for rule, scenario, seed in product(RULES, chosen, SEEDS[: size(3, 1)]):
        if rule == "landmarks" and scenario.kind != "near":
            continue
        if scenario.structure in REAL and scenario.structure not in structures:
            structures[scenario.structure] = fitted(scenario.structure, scenario.d)
        for again in range(2 if rule == "random" else 1):
            if (scenario.name, rule, seed, again) not in done:
                kept.append(study(scenario, rule, seed, structures, again))
                with path.open("a") as file:
                    file.write(json.dumps(kept[-1]) + "\n")
    print(table(kept))


if __name__ == "__main__":
    main()
