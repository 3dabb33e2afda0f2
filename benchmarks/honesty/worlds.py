"""Simulated people who answer questions about objects whose places are known.

A world has objects (points), people (a taste and an ability each) and noise. A design says which questions are put
to whom. Every probability is known, so that the truth behind each printed sentence can be computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.triplets import Triplets

__all__ = ["DESIGNS", "World", "asked", "asked_of", "clusters_of_points", "make_world"]

Rows = NDArray[np.int64]
POOL = 400  # people that stand for the whole population


@dataclass(frozen=True)
class World:
    """Objects and the population of people.

    points : (tastes, n, d) places of the objects as each taste sees them.
    taste, ability : (POOL,) of every person in the population; ability multiplies the slope.
    flip : share of answers turned round at random; slope : of the logistic in the difference of distances, inf for none.
    """

    points: NDArray[np.float64]
    taste: NDArray[np.int64]
    ability: NDArray[np.float64]
    flip: float
    slope: float

    @property
    def n(self) -> int:
        """How many objects there are."""
        return self.points.shape[1]

    def p_first(self, rows: Rows, person: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probability that a person calls ``rows[:, 1]`` nearer to ``rows[:, 0]`` than ``rows[:, 2]``."""
        return self._chosen(self._lead(rows, self.taste[person]), self.ability[person])

    def q(self, rows: Rows, among: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """The same for somebody drawn from the population, or from ``among`` (people, each as often as listed)."""
        among = np.arange(POOL) if among is None else among
        total = np.zeros(len(rows))
        for taste in np.unique(self.taste[among]):
            lead = self._lead(rows, np.full(len(rows), taste))
            abilities = self.ability[among[self.taste[among] == taste]]
            for ability, people in zip(*np.unique(abilities, return_counts=True), strict=True):
                total += people * self._chosen(lead, ability)
        return total / len(among)

    def _lead(self, rows: Rows, taste: NDArray[np.int64]) -> NDArray[np.float64]:
        anchor, one, other = (self.points[taste, rows[:, c]] for c in range(3))
        return np.asarray(np.linalg.norm(anchor - other, axis=1) - np.linalg.norm(anchor - one, axis=1))

    def _chosen(self, lead: NDArray[np.float64], ability: Any) -> NDArray[np.float64]:
        if np.isinf(self.slope):
            sure = (1 + np.sign(lead)) / 2
        else:
            sure = 1 / (1 + np.exp(-np.clip(self.slope * ability * lead, -50, 50)))
        chosen: NDArray[np.float64] = self.flip + (1 - 2 * self.flip) * sure
        return chosen

    def answer(self, rows: Rows, person: NDArray[np.int64], rng: np.random.Generator) -> Rows:
        """Rows (anchor, near, far) as these people answer them."""
        said = rows.copy()
        turned = rng.random(len(rows)) >= self.p_first(rows, person)
        said[turned] = said[turned][:, [0, 2, 1]]
        return said


def make_world(
    rng: np.random.Generator,
    *,
    n: int = 30,
    d: int = 2,
    noise: str = "logistic",
    points: NDArray[np.float64] | None = None,
) -> World:
    """``noise``: "none", "flips" (15 %), "logistic", "abilities" (differing), "tastes" (a fifth see other places), "guessing"."""
    x = rng.normal(size=(n, d)) if points is None else points
    places = np.stack([x, rng.permutation(x)])
    taste = np.zeros(POOL, dtype=np.int64)
    ability = np.ones(POOL)
    flip, slope = 0.0, np.inf
    scale = np.sqrt(np.mean(np.sum((x - x.mean(axis=0)) ** 2, axis=1)))
    if noise in ("logistic", "abilities", "tastes"):
        slope = 4.0 / scale
    if noise == "flips":
        flip = 0.15
    if noise == "guessing":
        flip = 0.5
    if noise == "abilities":
        ability = np.exp(rng.normal(0, 0.8, size=POOL))
    if noise == "tastes":
        taste[rng.random(POOL) < 0.2] = 1
    return World(places, taste, ability, flip, slope)


def clusters_of_points(
    rng: np.random.Generator, k: int, *, per: int = 10, d: int = 2, apart: float = 6.0
) -> NDArray[np.float64]:
    """k groups of ``per`` points of unit spread, their middles at least ``apart`` from each other."""
    box = apart * max(2.0, 1.3 * k ** (1 / d))
    middles: list[NDArray[np.float64]] = []
    while len(middles) < k:
        new = rng.uniform(0, box, size=d)
        if all(np.linalg.norm(new - m) >= apart for m in middles):
            middles.append(new)
        else:
            box *= 1.01
    return np.repeat(np.array(middles), per, axis=0) + rng.normal(size=(k * per, d))


# ---------------------------------------------------------------- which questions


def _trios(rng: np.random.Generator, m: int, n: int) -> Rows:
    return (
        np.argsort(rng.random((m, n)), axis=1)[:, :3]
        if n < 200
        else np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
    )


def random_questions(rng: np.random.Generator, m: int, n: int) -> Rows:
    """Three different objects, the first one the anchor."""
    return _trios(rng, m, n)


def fixed_questions(rng: np.random.Generator, m: int, n: int, *, pool: int = 80) -> Rows:
    """The same few questions again and again."""
    return _trios(rng, pool, n)[rng.integers(pool, size=m)]


def landmark_questions(rng: np.random.Generator, m: int, n: int) -> Rows:
    """Any object, two of a few landmarks (the first ones)."""
    marks = max(4, n // 5)
    rows = np.stack([rng.integers(n, size=3 * m), *rng.integers(marks, size=(2, 3 * m))], axis=1)
    different = (rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] != rows[:, 2])
    return rows[different][:m]


DESIGNS = {"random": random_questions, "fixed": fixed_questions, "landmarks": landmark_questions}


def asked(
    world: World,
    rng: np.random.Generator,
    *,
    design: str = "random",
    m: int = 2000,
    people: int = 20,
    columns: bool = True,
) -> Triplets:
    """About m answers by people drawn from the population; ``columns``: with participant and statement.

    Designs: "random", "fixed", "landmarks", "odd" (odd-one-out), "grid" (4 picked of 12), "list" (the nearest of 8).
    """
    drawn = rng.choice(POOL, size=people, replace=False)
    return asked_of(world, rng, drawn, design=design, m=m, columns=columns)


def asked_of(
    world: World,
    rng: np.random.Generator,
    drawn: NDArray[np.int64],
    *,
    design: str = "random",
    m: int = 2000,
    columns: bool = True,
) -> Triplets:
    """The same by these people of the population; participant i is ``drawn[i]``."""
    if design in DESIGNS:
        who = rng.integers(len(drawn), size=m)
        rows = DESIGNS[design](rng, m, world.n)
        said = world.answer(rows, drawn[who], rng)
        extra: dict[str, Any] = {"participant": who} if columns else {}
        return Triplets.from_array(said, n_objects=world.n, **extra)
    if design == "odd":
        return _odd(world, rng, m // 2, drawn, columns)
    return _screens(world, rng, m, drawn, columns, *((12, 4) if design == "grid" else (8, 1)))


def _odd(world: World, rng: np.random.Generator, m: int, drawn: Any, columns: bool) -> Triplets:
    """The pair with the smallest noisy distance stays, the third is the odd one."""
    trio, who = _trios(rng, m, world.n), rng.integers(len(drawn), size=m)
    lengths = np.stack([_noisy(world, rng, trio[:, [a, b]], drawn[who]) for a, b in ((0, 1), (0, 2), (1, 2))])
    odd = np.array([2, 1, 0])[np.argmin(lengths, axis=0)]
    at = np.arange(m)
    rows = np.stack([trio[at, (odd + 1) % 3], trio[at, (odd + 2) % 3], trio[at, odd]], axis=1)
    return Triplets.from_odd_one_out(rows, n_objects=world.n, **({"participant": who} if columns else {}))


def _screens(
    world: World, rng: np.random.Generator, m: int, drawn: Any, columns: bool, shown: int, picked: int
) -> Triplets:
    per = picked * (shown - picked)
    rows, statement, who = [], [], []
    for screen in range(max(2, m // per)):
        anchor, *options = rng.permutation(world.n)[: shown + 1].tolist()
        person = int(rng.integers(len(drawn)))
        pairs = np.array([[anchor, o] for o in options])
        order = np.argsort(_noisy(world, rng, pairs, np.full(shown, drawn[person])))
        near, far = np.array(options)[order[:picked]], np.array(options)[order[picked:]]
        rows += [[anchor, i, j] for i in near for j in far]
        statement += [screen] * per
        who += [person] * per
    extra: dict[str, Any] = {"participant": who, "statement": statement} if columns else {}
    return Triplets.from_array(np.array(rows), n_objects=world.n, **extra)


def _noisy(
    world: World, rng: np.random.Generator, pairs: Rows, person: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Distances as a person perceives them: two compared give the logistic; a flip loses the whole perception."""
    one, other = (world.points[world.taste[person], pairs[:, c]] for c in range(2))
    true = np.linalg.norm(one - other, axis=1)
    noise = (
        0.0 if np.isinf(world.slope) else rng.gumbel(size=len(pairs)) / (world.slope * world.ability[person])
    )
    lost = rng.random(len(pairs)) < 2 * world.flip
    return np.where(lost, rng.random(len(pairs)) * true.max(), true + noise)
