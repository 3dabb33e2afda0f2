"""A second family of simulated people, made independently of the first and never looked at while constants were chosen.

Everything differs from ``worlds``: the geometry (a ball, a city of L1 distances with skewed coordinates, a hierarchy), the law of
noise (a probit in the ratio of the distances, so that small differences between far objects are hard), lapses, people
who weigh the dimensions differently, and how much everybody answers (a few people give most of the answers).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from nearfar.triplets import Triplets

__all__ = [
    "GEOMETRIES",
    "NOISES",
    "POOL",
    "HeldOutWorld",
    "asked_held_out",
    "asked_of_held_out",
    "groups_held_out",
    "make_held_out",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
POOL = 300
GEOMETRIES = ("ball", "city", "hierarchy")
NOISES = ("ratio", "lapses", "weights", "minority", "coins")


@dataclass(frozen=True)
class HeldOutWorld:
    """``features`` (n, d), ``power`` 1 or 2 of the distance, and per person ``weights`` (POOL, d), ``sharp``, ``lapse``.

    ``taste`` : (POOL,) 1 for people of the minority. ``popular`` : (n,) how often objects are asked about in a popular design.
    """

    features: Floats
    power: float
    weights: Floats
    sharp: Floats
    lapse: Floats
    taste: NDArray[np.int64]
    popular: Floats

    @property
    def n(self) -> int:
        """How many objects there are."""
        return len(self.features)

    def distance(self, a: NDArray[Any], b: NDArray[Any], person: NDArray[np.int64]) -> Floats:
        """Of the objects a and b, as these people see them."""
        off = np.abs(self.features[a] - self.features[b]) ** self.power
        found: Floats = np.sum(self.weights[person] * off, axis=1) ** (1 / self.power)
        return found

    def p_first(self, rows: Rows, person: NDArray[np.int64]) -> Floats:
        """Probability that a person calls ``rows[:, 1]`` nearer to ``rows[:, 0]`` than ``rows[:, 2]``."""
        one, other = (self.distance(rows[:, 0], rows[:, c], person) for c in (1, 2))
        return self._chosen(one, other, person)

    def q(self, rows: Rows, among: NDArray[np.int64] | None = None) -> Floats:
        """The same for somebody drawn from the population, or from ``among`` (people, each as often as listed)."""
        among = np.arange(POOL) if among is None else among
        kinds = np.column_stack([self.weights, self.sharp, self.lapse])[among]
        _, first, count = np.unique(kinds, axis=0, return_index=True, return_counts=True)
        off = [np.abs(self.features[rows[:, 0]] - self.features[rows[:, c]]) ** self.power for c in (1, 2)]
        total = np.zeros(len(rows))
        for p, people in zip(among[first], count, strict=True):
            one, other = ((x @ self.weights[p]) ** (1 / self.power) for x in off)
            total += people * self._chosen(one, other, p)
        return total / len(among)

    def _chosen(self, one: Floats, other: Floats, person: Any) -> Floats:
        sure = ndtr(self.sharp[person] * np.log((other + 1e-6) / (one + 1e-6)))
        chosen: Floats = self.lapse[person] / 2 + (1 - self.lapse[person]) * sure
        return chosen

    def answer(self, rows: Rows, person: NDArray[np.int64], rng: np.random.Generator) -> Rows:
        """Rows (anchor, near, far) as these people answer them."""
        turned = rng.random(len(rows)) >= self.p_first(rows, person)
        return np.where(turned[:, None], rows[:, [0, 2, 1]], rows)


def make_held_out(
    rng: np.random.Generator,
    *,
    n: int,
    geometry: str = "ball",
    noise: str = "ratio",
    features: Floats | None = None,
) -> HeldOutWorld:
    """``noise``: "ratio" (all people alike), "lapses", "weights" (of dimensions), "minority" (a fifth), "coins" (guessing)."""
    x = _features(rng, n, geometry) if features is None else features
    d = x.shape[1]
    weights = np.ones((POOL, d))
    sharp, lapse = np.full(POOL, 2.5), np.zeros(POOL)
    taste = np.zeros(POOL, dtype=np.int64)
    if noise == "lapses":
        sharp, lapse = rng.gamma(6, 2.5 / 6, size=POOL), rng.beta(1, 9, size=POOL)
    elif noise == "weights":
        weights = rng.gamma(2, 0.5, size=(POOL, d)) + 0.05
    elif noise == "minority":
        taste[rng.permutation(POOL)[: POOL // 5]] = 1
        weights[taste == 1] = np.where(np.arange(d) < max(1, d // 3), 6.0, 0.05)
    elif noise == "coins":
        lapse = np.ones(POOL)
    power = 1.0 if geometry in ("city", "hierarchy") else 2.0
    return HeldOutWorld(x, power, weights, sharp, lapse, taste, rng.pareto(2.5, size=n) + 0.3)


def _features(rng: np.random.Generator, n: int, geometry: str) -> Floats:
    if geometry == "city":
        return rng.gamma(1.5, size=(n, 3))
    if geometry == "hierarchy":  # splits of splits: objects differ by every split that parts them
        columns, parts = [], [np.arange(n)]
        while any(len(part) > 3 for part in parts):
            part = parts.pop(int(np.argmax([len(p) for p in parts])))
            rng.shuffle(part)
            at = int(rng.integers(1, len(part)))
            column = np.zeros(n)
            column[part[:at]] = len(part) / n + 0.2
            columns.append(column)
            parts += [part[:at], part[at:]]
        return np.stack(columns, axis=1) + rng.uniform(0, 0.05, size=(n, len(columns)))
    way = rng.normal(size=(n, 3))
    return np.asarray(way / np.linalg.norm(way, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / 3))


def groups_held_out(rng: np.random.Generator, k: int, *, n: int, d: int, apart: float = 6.0) -> Floats:
    """k groups of unequal size and shape: middles on a jittered lattice, members of heavy-tailed, stretched spread."""
    side = int(np.ceil(k ** (1 / d)))
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)
    middles = (
        lattice[rng.permutation(len(lattice))[:k]] * apart * 1.4 + rng.uniform(-0.2, 0.2, size=(k, d)) * apart
    )
    least = max(4, n // (2 * k))
    sizes = least + rng.multinomial(n - k * least, rng.dirichlet(np.full(k, 3.0)))
    stretch = rng.uniform(0.5, 1.0, size=(k, d))
    label = np.repeat(np.arange(k), sizes)
    noise = rng.standard_t(8, size=(n, d)) * np.sqrt(6 / 8)
    return np.asarray(middles[label] + noise * stretch[label])


def asked_held_out(
    world: HeldOutWorld,
    rng: np.random.Generator,
    *,
    design: str = "balanced",
    m: int = 2000,
    people: int = 25,
) -> Triplets:
    """About m answers; few people give most of them.

    Designs: "balanced" (every object is the anchor equally often), "popular" (some objects are asked about far more),
    "pool" (a tenth of the questions comes back), "screens" (the two nearest of six, as statements).
    """
    drawn = rng.choice(POOL, size=people, replace=False)
    return asked_of_held_out(world, rng, drawn, design=design, m=m)


def asked_of_held_out(
    world: HeldOutWorld,
    rng: np.random.Generator,
    drawn: NDArray[np.int64],
    *,
    design: str = "balanced",
    m: int = 2000,
) -> Triplets:
    """The same by these people of the population; participant i is ``drawn[i]``."""
    people = len(drawn)
    eager = rng.dirichlet(np.full(people, 1.5)) + 0.2 / people
    who = rng.choice(people, size=m, p=eager / eager.sum())
    if design == "screens":
        return _screens(world, rng, m // 8, drawn, who)
    rows = questions_held_out(world, rng, design, m)
    return Triplets.from_array(world.answer(rows, drawn[who], rng), n_objects=world.n, participant=who)


def questions_held_out(world: HeldOutWorld, rng: np.random.Generator, design: str, m: int) -> Rows:
    """Questions of the designs "balanced", "popular" and "pool"."""
    n = world.n
    popular = world.popular if design == "popular" else np.ones(n)
    # the three largest of weights with Gumbel noise: a draw without replacement
    rows = np.argsort(-(np.log(popular) + rng.gumbel(size=(m, n))), axis=1)[:, :3]
    if design == "balanced":
        anchor = rng.permutation(np.arange(m) % n)
        off = rng.permuted(np.tile(np.arange(1, n), (m, 1)), axis=1)[:, :2]
        rows = np.stack([anchor, (anchor + off[:, 0]) % n, (anchor + off[:, 1]) % n], axis=1)
    if design == "pool":
        back = rng.random(m) < 0.1
        rows[back] = rows[rng.integers(m // 20, size=int(back.sum()))]
    return np.asarray(rows, dtype=np.int64)


def _screens(world: HeldOutWorld, rng: np.random.Generator, count: int, drawn: Any, who: Any) -> Triplets:
    rows, statement, person = [], [], []
    for screen in range(count):
        anchor, *options = rng.permutation(world.n)[:7].tolist()
        one = int(who[screen])
        shown = np.array(options)
        seen = world.distance(np.full(6, anchor), shown, np.full(6, drawn[one]))
        noisy = np.log(seen + 1e-6) + rng.normal(size=6) / (world.sharp[drawn[one]] * np.sqrt(2))
        if rng.random() < world.lapse[drawn[one]]:
            noisy = rng.random(6)
        order = shown[np.argsort(noisy)].tolist()
        rows += [[anchor, i, j] for i in order[:2] for j in order[2:]]
        statement += [screen] * 8
        person += [one] * 8
    return Triplets.from_array(np.array(rows), n_objects=world.n, participant=person, statement=statement)
