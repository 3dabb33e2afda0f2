"""Simulated studies of which the truth is known, for testing statements that were set by other scenarios.

Objects have positions in a latent space. Participants weigh its dimensions differently (as in INDSCAL), are differently precise, lapse now and
then and prefer one side a little. A question gets its answer by a logistic of the difference of two distances. What a statement of the report is
tested against (accuracy on new participants and questions, ceiling, gain from more answers) is computed from the same probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nearfar.triplets import Triplets

__all__ = ["DESIGNS", "GEOMETRIES", "Scenario", "Study"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
People = dict[str, NDArray[np.floating]]
GEOMETRIES = ("heavy tails", "curve", "tree", "sheet")
DESIGNS = ("random", "pool", "list", "landmarks", "odd", "grid", "blocks", "few participants", "no names")


def positions(geometry: str, n: int, rng: np.random.Generator) -> Floats:
    """(n, d) positions of the objects: no clusters in any of them."""
    if geometry == "heavy tails":
        return rng.standard_t(4, size=(n, 4)) * [1.0, 0.8, 0.6, 0.4]
    if geometry == "curve":  # three quarters of a ring, with some width
        angle = rng.uniform(0, 1.5 * np.pi, n)
        return np.column_stack([np.cos(angle), np.sin(angle), rng.normal(scale=0.2, size=n)])
    if geometry == "tree":  # sums of the branches that lead to a leaf
        points = np.zeros((n, 6))
        for depth in range(6):
            branch = np.arange(n) * 2 ** (depth + 1) // n
            points += rng.normal(size=(2 ** (depth + 1), 6))[branch] * 0.75**depth
        return points
    if geometry == "line":
        return rng.uniform(-1, 1, size=(n, 1))
    return rng.uniform(-1, 1, size=(n, 2)) * [1.0, 0.6]


@dataclass(frozen=True)
class Scenario:
    """How a study is made.

    ``precision`` : slope of the logistic in units of the mean distance; ``individual`` : standard deviation of the logarithm of a participant's
    weights; ``guessers``, ``opposite``, ``sided`` : shares of such participants; ``subgroups`` : 1, or 2 that weigh dimensions in opposite ways;
    ``clusters`` : 0 for none, or how many separate ones; ``noise`` : how many times less precise every second participant is.
    """

    geometry: str = "heavy tails"
    design: str = "random"
    n_objects: int = 40
    n_participants: int = 30
    per_participant: int = 80
    precision: float = 5.0
    individual: float = 0.3
    guessers: float = 0.0
    opposite: float = 0.0
    sided: float = 0.0
    subgroups: int = 1
    clusters: int = 0
    noise: float = 1.0


class Study:
    """A population of participants and objects, from which answers are drawn."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.rng = rng = np.random.default_rng([2026, seed])
        n = scenario.n_objects
        if scenario.clusters:
            centres = rng.normal(size=(scenario.clusters, 3))
            centres *= 6 / np.min([np.linalg.norm(a - b) for i, a in enumerate(centres) for b in centres[:i]])
            self.points = centres[rng.permutation(n) % scenario.clusters] + rng.normal(size=(n, 3))
        else:
            self.points = positions(scenario.geometry, n, rng)
        apart = self.points[:, None] - self.points[None]
        self.points = self.points / np.sqrt((apart**2).sum(axis=2)).mean()
        sizes = {"pool": 12 * n, "list": 100}
        self.pool = self._questions(sizes[scenario.design]) if scenario.design in sizes else None
        self.common = self._questions(60)  # a tenth of random questions, so that some are repeated
        self.landmarks = rng.permutation(n)[:8]
        self.blocks = np.array_split(rng.permutation(n), max(n // 10, 1))

    # ---------------------------------------------------------------- participants

    def participants(self, count: int) -> People:
        """Weights, precision, lapses, side and kind of so many new participants."""
        s, rng = self.scenario, self.rng
        weights = np.exp(s.individual * rng.normal(size=(count, self.points.shape[1])))
        group = np.arange(count) % s.subgroups
        if s.subgroups > 1:  # each sees one half of the dimensions only
            half = np.arange(self.points.shape[1]) % 2
            weights = weights * np.where(half[None] == group[:, None], 2.0, 0.05)
        kinds = np.zeros(count)
        order, start = rng.permutation(count), 0
        for code, share in ((1, s.guessers), (2, s.opposite), (3, s.sided)):
            stop = start + round(share * count)
            kinds[order[start:stop]] = code
            start = stop
        return {
            "weights": weights,
            "precision": s.precision
            * np.exp(0.4 * rng.normal(size=count))
            / s.noise ** (np.arange(count) % 2),
            "lapse": rng.beta(1, 20, size=count),
            "side": 0.2 * rng.normal(size=count),
            "kind": kinds,
            "group": group.astype(float),
        }

    def chance_of_first(self, rows: Ints, who: Ints, people: People) -> Floats:
        """P(the first option is called nearer) of question rows (anchor, one, other), one on the left."""
        weight = people["weights"][who]
        one, other = (
            np.sqrt((weight * (self.points[rows[:, 0]] - self.points[rows[:, k]]) ** 2).sum(axis=1))
            for k in (1, 2)
        )
        p = expit(people["precision"][who] * (other - one) + people["side"][who])
        p = (1 - people["lapse"][who]) * p + people["lapse"][who] / 2
        kind = people["kind"][who]
        p = np.where(kind == 1, 0.5, p)
        p = np.where(kind == 2, 1 - p, p)
        return np.asarray(np.where(kind == 3, 0.97, p))

    # ---------------------------------------------------------------- answers

    def answers(self, people: People, per: int) -> Triplets:
        """Answers of these participants to ``per`` questions each."""
        s, count = self.scenario, len(people["lapse"])
        names = [f"o{x:03d}" for x in range(s.n_objects)]
        made = [self._of_one(who, per, people) for who in range(count)]
        rows = np.concatenate([rows for rows, _, _ in made])
        statement = np.concatenate(
            [np.char.add(f"{who}-", ids.astype(str)) for who, (_, ids, _) in enumerate(made)]
        )
        side = np.concatenate([side for _, _, side in made])
        person = np.repeat([f"p{who:03d}" for who in range(count)], [len(rows) for rows, _, _ in made])
        kept = {} if s.design == "no names" else {"participant": person}
        if (side >= 0).all():
            kept["near_side"] = np.where(side == 0, "left", "right")
        return Triplets.from_array(rows, names, statement=statement, **kept)

    def _of_one(self, who: int, per: int, people: People) -> tuple[Ints, Ints, Ints]:
        """Rows (anchor, near, far), statement and side of near (-1: none) of one participant."""
        design, rng = self.scenario.design, self.rng
        if design == "odd":
            return self._odd(who, per, people)
        if design == "grid":
            return self._grid(who, max(per // 8, 1), people)
        if self.pool is not None:
            asked = self.pool[rng.permutation(len(self.pool))[:per]]
        elif design == "landmarks":
            asked = np.array([self._landmark() for _ in range(per)])
        elif design == "blocks":
            block = self.blocks[who % len(self.blocks)]
            asked = np.array([rng.permutation(block)[:3] for _ in range(per)])
        else:
            asked = self._questions(per)
        if design in ("random", "few participants", "no names"):
            some = rng.permutation(len(self.common))[: per // 10]
            asked[: len(some)] = self.common[some]
        first = rng.random(len(asked)) < self.chance_of_first(asked, np.full(len(asked), who), people)
        rows = np.where(first[:, None], asked, asked[:, [0, 2, 1]])
        return rows, np.arange(len(rows)), (~first).astype(np.int64)

    def _odd(self, who: int, per: int, people: People) -> tuple[Ints, Ints, Ints]:
        rows = []
        for trio in self._questions(per):
            pairs = [(0, 1, 2), (0, 2, 1), (1, 2, 0)]
            size = [self._distance(trio[a], trio[b], who, people) for a, b, _ in pairs]
            noisy = np.array(size) - self.rng.gumbel(size=3) / people["precision"][who]
            wrong = people["kind"][who] == 1 or self.rng.random() < people["lapse"][who]
            a, b, odd = pairs[self.rng.integers(3) if wrong else int(np.argmin(noisy))]
            rows += [[trio[a], trio[b], trio[odd]], [trio[b], trio[a], trio[odd]]]
        return np.array(rows), np.repeat(np.arange(per), 2), np.full(2 * per, -1)

    def _grid(self, who: int, screens: int, people: People) -> tuple[Ints, Ints, Ints]:
        """Two of six are picked: eight triplets a screen."""
        rows, ids = [], []
        for screen in range(screens):
            anchor, *options = self.rng.permutation(self.scenario.n_objects)[:7].tolist()
            size = np.array([self._distance(anchor, option, who, people) for option in options])
            noisy = size + self.rng.gumbel(size=6) / people["precision"][who]
            if people["kind"][who] == 1 or self.rng.random() < people["lapse"][who]:
                noisy = self.rng.random(6)
            picked = np.argsort(noisy)
            rows += [[anchor, options[i], options[j]] for i in picked[:2] for j in picked[2:]]
            ids += [screen] * 8
        return np.array(rows), np.array(ids), np.full(len(rows), -1)

    def _distance(self, a: int, b: int, who: int, people: People) -> float:
        return float(np.sqrt((people["weights"][who] * (self.points[a] - self.points[b]) ** 2).sum()))

    def _questions(self, count: int) -> Ints:
        return np.argsort(self.rng.random((count, self.scenario.n_objects)), axis=1)[:, :3]

    def _landmark(self) -> Ints:
        one, other = self.rng.permutation(self.landmarks)[:2]
        anchor = self.rng.choice(np.setdiff1d(np.arange(self.scenario.n_objects), [one, other]))
        return np.array([anchor, one, other])

    # ---------------------------------------------------------------- the truth

    def new_answers(self, people: People) -> Triplets:
        """Answers to new questions, of new participants; of the same ``people`` where nothing is said about others."""
        s = self.scenario
        if s.design not in ("few participants", "no names"):
            people = self.participants(300)
        return self.new_answers_of(people, 12_000 // len(people["lapse"]))

    def new_answers_of(self, people: People, per: int) -> Triplets:
        """Answers of these participants to ``per`` new questions each."""
        s = self.scenario
        elsewhere = Study.__new__(Study)
        design = "random" if s.design in ("pool", "list", "few participants", "no names") else s.design
        elsewhere.__dict__ = self.__dict__ | {
            "scenario": replace(s, design=design),
            "pool": None,
            "common": self.common[:0],
        }
        return elsewhere.answers(people, per)

    def ceiling(self) -> float:
        """E max(q, 1 - q) over questions of the design."""
        q = self.shares()
        return float(np.maximum(q, 1 - q).mean())

    def agreement(self) -> float:
        """How often two participants give the same answer to a question of the design."""
        q = self.shares()
        return float((q**2 + (1 - q) ** 2).mean())

    def shares(self, count: int = 300, questions: int = 600) -> Floats:
        """(questions,) the share of all participants who call the first option nearer."""
        people = self.participants(count)
        if self.pool is not None:
            asked = self.pool
        elif self.scenario.design == "landmarks":
            asked = np.array([self._landmark() for _ in range(questions)])
        elif self.scenario.design == "blocks":
            asked = np.array(
                [self.rng.permutation(self.blocks[i % len(self.blocks)])[:3] for i in range(questions)]
            )
        else:
            asked = self._questions(questions)
        level = people | {"side": np.zeros(count)}  # both sides equally often
        return np.mean(
            [self.chance_of_first(asked, np.full(len(asked), who), level) for who in range(count)], axis=0
        )
