"""A third family of simulated people, for the forecast: its law was set with both other families in view.

Objects lie in no space: their distances are those of a tree, a circle, spokes of hubs, or sets of traits. Noise has heavy tails,
a threshold below which people guess, or grows while people tire; people see distances of their own, or a sixth of them guess.

The rule of judgement, written before the first run. Every cell of ``curve.THIRD`` gets 60 runs; where the 90 % interval of the gain
holds the truth in fewer than .90 of the runs with a forecast, the cell gets 200 runs and those are what counts. The forecast
holds in a cell at .85 or more. Cells with fewer than 20 forecasts are judged together. The same goes for the intervals of
the accuracy with all and with twice as many answers. If the gain's interval fails in a cell, it is mended and the page says that this family was used.
It is made narrower only if it holds in .96 or more in nearly all cells and would hold in .85 or more in every cell of all three families.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from nearfar.space import fit
from nearfar.triplets import Triplets

__all__ = [
    "GEOMETRIES",
    "POOL",
    "ThirdWorld",
    "asked_of_third",
    "asked_third",
    "make_third",
    "questions_third",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
POOL = 240
GEOMETRIES = ("tree", "circle", "hubs", "traits")
TIRED = np.linspace(0.1, 0.9, 5)  # shares of a session at which the population is looked at
CANDIDATES = 4  # questions of which an adaptive design asks the one that is least decided


@dataclass(frozen=True)
class ThirdWorld:
    """``seen`` (people or 1, n, n) distances as each person sees them, their mean 1; ``noise`` the law; ``guesses`` (POOL,) who guesses.

    ``sets`` : (POOL // 3, 10) objects of booklets.
    """

    seen: Floats
    noise: str
    guesses: NDArray[np.bool_]
    sets: NDArray[np.int64]

    @property
    def n(self) -> int:
        """How many objects there are."""
        return self.seen.shape[1]

    @property
    def landmarks(self) -> int:
        """How many objects, the first ones, are landmarks."""
        return max(5, self.n // 5)

    def p_first(self, rows: Rows, person: NDArray[np.int64], done: Any = 0.5) -> Floats:
        """Probability that a person calls ``rows[:, 1]`` nearer to ``rows[:, 0]`` than ``rows[:, 2]``; ``done`` of the session."""
        eyes = person if len(self.seen) > 1 else np.zeros_like(person)
        near, far = (self.seen[eyes, rows[:, 0], rows[:, c]] for c in (1, 2))
        return np.where(self.guesses[person], 0.5, self._chosen(far - near, done))

    def _chosen(self, lead: Floats, done: Any) -> Floats:
        if self.noise == "jnd":
            return np.where(np.abs(lead) > 0.15, 0.5 + 0.47 * np.sign(lead), 0.5)
        if self.noise == "tired":
            return np.asarray(ndtr(8 * (1 - 0.9 * np.asarray(done)) * lead))
        if self.noise == "own eyes":
            return np.asarray(ndtr(4 * lead))
        return np.asarray(0.5 + np.arctan(5 * lead) / np.pi)

    def q(self, rows: Rows, among: NDArray[np.int64] | None = None) -> Floats:
        """The same for somebody drawn from the population, or from ``among`` (people, each as often as listed)."""
        people, count = np.unique(np.arange(POOL) if among is None else among, return_counts=True)
        if len(self.seen) == 1:  # people who see alike differ in whether they guess
            people, count = _merged(people, count, self.guesses[people])
        total = np.zeros(len(rows))
        times = TIRED if self.noise == "tired" else [0.5]
        for person, times_listed in zip(people, count, strict=True):
            who = np.full(len(rows), person)
            total += times_listed * np.mean([self.p_first(rows, who, done) for done in times], axis=0)
        return total / count.sum()

    def answer(
        self, rows: Rows, person: NDArray[np.int64], rng: np.random.Generator, done: Any = 0.5
    ) -> Rows:
        """Rows (anchor, near, far) as these people answer them."""
        turned = rng.random(len(rows)) >= self.p_first(rows, person, done)
        return np.where(turned[:, None], rows[:, [0, 2, 1]], rows)


def _merged(people: Any, count: Any, kind: NDArray[np.bool_]) -> tuple[Any, Any]:
    _, first, of = np.unique(kind, return_index=True, return_inverse=True)
    return people[first], np.bincount(of, weights=count)


def make_third(rng: np.random.Generator, *, n: int, geometry: str, noise: str) -> ThirdWorld:
    """``noise``: "heavy" (tails), "jnd" (a threshold), "tired", "own eyes" (distances of their own), "careless" (a sixth guesses)."""
    distance = _distances(rng, n, geometry)
    distance /= distance[~np.eye(n, dtype=bool)].mean()
    seen = distance[None]
    if noise == "own eyes":
        off = np.triu(rng.normal(0, 0.35, size=(POOL, n, n)), 1)
        seen = distance * np.exp(off + off.transpose(0, 2, 1))
    guesses = (rng.random(POOL) < 1 / 6) & (noise == "careless")
    sets = np.argsort(rng.spawn(1)[0].random((POOL // 3, n)), axis=1)[
        :, :10
    ]  # leaves the other draws as they are
    return ThirdWorld(seen, noise, guesses, sets)


def _distances(rng: np.random.Generator, n: int, geometry: str) -> Floats:
    if geometry == "tree":  # every object hangs on an earlier one
        found = np.zeros((n, n))
        for new in range(1, n):
            found[new, :new] = found[int(rng.integers(new)), :new] + rng.exponential()
            found[:new, new] = found[new, :new]
        return found
    if geometry == "circle":
        turn = np.abs(np.subtract.outer(*[rng.random(n)] * 2))
        return np.minimum(turn, 1 - turn)
    if geometry == "hubs":  # out along one's own spoke, over to the other hub, in along its spoke
        hub, spoke = rng.integers(5, size=n), rng.exponential(0.5, size=n)
        middle = rng.normal(size=(5, 2))
        over = np.linalg.norm(middle[hub][:, None] - middle[hub][None], axis=2)
        return np.asarray((over + np.add.outer(spoke, spoke)) * ~np.eye(n, dtype=bool))
    has = rng.random((n, 14)) < rng.uniform(0.1, 0.6, size=14)
    both, any_of = (has[:, None] & has[None]).sum(axis=2), (has[:, None] | has[None]).sum(axis=2)
    apart = np.triu(1 - both / np.maximum(any_of, 1) + rng.uniform(0, 0.1, size=(n, n)), 1)
    return np.asarray(apart + apart.T)


def asked_third(
    world: ThirdWorld, rng: np.random.Generator, *, design: str = "random", m: int = 2000, people: int = 25
) -> Triplets:
    """m answers of people drawn from the population."""
    return asked_of_third(world, rng, rng.choice(POOL, size=people, replace=False), design=design, m=m)


def asked_of_third(
    world: ThirdWorld,
    rng: np.random.Generator,
    drawn: NDArray[np.int64],
    *,
    design: str = "random",
    m: int = 2000,
) -> Triplets:
    """m answers by these people of the population; participant i is ``drawn[i]``.

    Designs: "random", "landmarks" (two of a few), "booklets" (ten objects each; a booklet is filled in by three people), "new booklets"
    (of other objects), "adaptive" (of four questions the one that the answers so far decide least, by how often options have won) and
    "adaptive map" (the same by the distances on a map of them, soe-2).
    """
    eager = rng.lognormal(0, 0.5, size=len(drawn))
    who = np.sort(rng.choice(len(drawn), size=m, p=eager / eager.sum()))
    done = np.concatenate([np.linspace(0, 1, count) for count in np.bincount(who, minlength=len(drawn))])
    order = rng.permutation(m)  # people take part at the same time
    if "adaptive" in design:
        said = _adaptive(world, rng, drawn[who][order], done[order], by_map="map" in design)
        return Triplets.from_array(said, n_objects=world.n, participant=who[order])
    sets = world.sets if design == "booklets" else world.sets[::-1]
    rows = _booklets(rng, who, sets) if "booklets" in design else _single(world, rng, design, m)
    said = world.answer(rows, drawn[who], rng, done)[order]
    return Triplets.from_array(said, n_objects=world.n, participant=who[order])


def questions_third(
    world: ThirdWorld, rng: np.random.Generator, design: str, asked: NDArray[np.int64], m: int
) -> Rows:
    """Questions as collections of m answers ask them, one of each of the participants ``asked``."""
    count = len(asked)
    if design == "booklets":
        objects = world.sets[asked // 3]
        return np.take_along_axis(objects, np.argsort(rng.random((count, 10)), axis=1)[:, :3], axis=1)
    if "adaptive" not in design:
        return _single(world, rng, design, count)
    found: list[Rows] = []
    while sum(map(len, found)) < count:
        person = rng.integers(POOL, size=m)
        found.append(_adaptive(world, rng, person, rng.random(m), by_map="map" in design))
    rows = np.concatenate(found)[:count]
    turned = rng.random(count) < 0.5  # what was answered is not looked at
    return np.where(turned[:, None], rows[:, [0, 2, 1]], rows)


def _single(world: ThirdWorld, rng: np.random.Generator, design: str, m: int) -> Rows:
    """Questions drawn one by one; over all booklets that could be new, every question is as likely as any other."""
    rows = np.argsort(rng.random((m, world.n)), axis=1)[:, :3]
    if design == "landmarks":
        pair = np.argsort(rng.random((m, world.landmarks)), axis=1)[:, :2]
        free = (rows != pair[:, :1]) & (rows != pair[:, 1:])
        return np.column_stack([rows[np.arange(m), np.argmax(free, axis=1)], pair])
    return rows


def _booklets(rng: np.random.Generator, who: NDArray[np.int64], sets: NDArray[np.int64]) -> Rows:
    """Every three people one after the other share ten objects and the order of their questions."""
    rows = np.empty((len(who), 3), dtype=np.int64)
    longest = int(np.bincount(who).max())
    for booklet in range(int(who.max()) // 3 + 1):
        asked = sets[booklet][np.argsort(rng.random((longest, 10)), axis=1)[:, :3]]
        for person in range(3 * booklet, 3 * booklet + 3):
            own = np.flatnonzero(who == person)
            rows[own] = asked[: len(own)]
    return rows


def _adaptive(
    world: ThirdWorld, rng: np.random.Generator, person: NDArray[np.int64], done: Floats, *, by_map: bool
) -> Rows:
    """Answers to questions chosen in twenty rounds by how often an option has won, as seen from the anchor, or by a map."""
    won, asked = np.ones((world.n, world.n)), np.full((world.n, world.n), 2.0)
    found: list[Rows] = []
    for part in np.array_split(np.arange(len(person)), 20):
        options = np.argsort(rng.random((len(part), CANDIDATES, world.n)), axis=2)[:, :, :3]
        roles = [options[..., c] for c in range(3)]
        if by_map and found:
            space = fit(Triplets.from_array(np.concatenate(found), n_objects=world.n), "soe-2")
            doubt = np.abs(space.margins(*map(np.ravel, roles))).reshape(options.shape[:2])
        else:
            rate = won / asked
            doubt = np.abs(rate[roles[0], roles[1]] - rate[roles[0], roles[2]])
        rows = options[np.arange(len(part)), np.argmin(doubt, axis=1)]
        said = world.answer(rows, person[part], rng, done[part])
        np.add.at(won, (said[:, 0], said[:, 1]), 1)
        for c in (1, 2):
            np.add.at(asked, (said[:, 0], said[:, c]), 1)
        found.append(said)
    return np.concatenate(found)
