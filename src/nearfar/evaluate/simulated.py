"""A simulated study: objects as random points, people who see distances with noise, an embedding, new answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from nearfar._tools.arrays import Floats, dense_codes
from nearfar._tools.checks import check_count
from nearfar._tools.distances import squared_distances
from nearfar._tools.records import Record
from nearfar.design import Questions, random_questions
from nearfar.errors import InputError, NearfarWarning
from nearfar.simulate import answers as simulated_answers
from nearfar.space.models import parse_model
from nearfar.space.space import Space
from nearfar.triplets import Triplets
from nearfar.triplets.ids import Ids

ABILITIES = 0.4  # standard deviation of the logarithm of a participant's noise


@dataclass(frozen=True)
class Assumptions(Record):
    """What simulated studies rest on.

    Parameters
    ----------
    dimension : the objects are random points of a normal distribution in so many dimensions.
    agreement : probability that two people give the same answer to a random question "is a nearer to b or to c?".
    seconds : for one question; None takes 3 s for "near", 4 s for "odd", 5 s for "central", 12 s for a grid.
    minutes : that one person answers questions.
    pay : for one hour.

    Examples
    --------
    >>> Assumptions(dimension=2, agreement=0.8).pay
    12.0
    >>> Assumptions(agreement=0.4)
    Traceback (most recent call last):
        ...
    nearfar.errors.InputError: agreement must be between 0.5 and 1, got 0.4
    """

    dimension: int = 3
    agreement: float = 0.75
    seconds: float | None = None
    minutes: float = 15.0
    pay: float = 12.0

    def __post_init__(self) -> None:
        check_count(self.dimension, "dimension")
        if not 0.5 < self.agreement < 1:
            raise InputError(f"agreement must be between 0.5 and 1, got {self.agreement}")
        for name, least, wanted in (("seconds", 1e-9, "> 0"), ("minutes", 1e-9, "> 0"), ("pay", 0.0, ">= 0")):
            value = getattr(self, name)
            if value is not None and not least <= value < np.inf:
                raise InputError(f"{name} must be a number {wanted}, got {value}")


def agreement_of_noise(noise: float, dimension: int) -> float:
    """The probability that two people agree on a random question, E p^2 + (1 - p)^2.

    >>> 0.7 < agreement_of_noise(0.3, 3) < 0.8
    True
    """
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, dimension))
    p = p_one(points, random_questions(300, 20_000, rng), noise)
    return float(np.mean(p**2 + (1 - p) ** 2))


@cache
def noise_of_agreement(agreement: float, dimension: int) -> float:
    """The noise at which two people agree on a random question with this probability."""

    def off(log_noise: float) -> float:
        return agreement_of_noise(float(np.exp(log_noise)), dimension) - agreement

    return float(np.exp(brentq(off, np.log(1e-9), np.log(1e9), xtol=1e-9)))


def p_one(points: Floats, questions: Questions, noise: float) -> Floats:
    """(m,) probability that somebody calls ``one`` nearer: Phi(log(d_other / d_one) / (noise sqrt 2)).

    Each of the two distances is seen times exp(noise z) with z standard normal.
    """
    one = squared_distances(points, questions.anchor, questions.one)
    other = squared_distances(points, questions.anchor, questions.other)
    return np.asarray(ndtr(np.log(other / one) / 2 / (noise * np.sqrt(2))))


class SimulatedStudy:
    """Objects drawn from a normal distribution, people who answer questions about them, and new questions to judge a map by.

    People differ in precision, and one in ten answers at random: of every ten one, and their precision is spread evenly.
    Or all are ``alike``.
    """

    def __init__(self, n: int, given: Assumptions, seed: Sequence[int], *, alike: bool = False) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.points = rng.normal(size=(n, given.dimension))
        self.noise = noise_of_agreement(given.agreement, given.dimension)
        self.seed, self.alike = seed, alike
        with warnings.catch_warnings(action="ignore", category=NearfarWarning):
            self.new = random_questions(n, min(4000, n * (n - 1) * (n - 2) // 2), rng)
        others = zip(*self.people(20), strict=True)
        seen = [flip + (1 - 2 * flip) * p_one(self.points, self.new, noise) for noise, flip in others]
        self.p_new = np.asarray(np.mean(seen, axis=0))
        self._asked, self._said = 0, list[Triplets]()

    @property
    def ceiling(self) -> float:
        """The best possible accuracy: E max(p, 1 - p)."""
        return float(np.maximum(self.p_new, 1 - self.p_new).mean())

    def people(self, count: int) -> tuple[Floats, Floats]:
        """(noise, probability of a flip) of the first ``count`` participants."""
        if self.alike:
            return np.full(count, self.noise), np.zeros(count)
        tens = np.tile(np.arange(10), (count // 10 + 1, 1))
        streams = (np.random.default_rng([*self.seed, stream]) for stream in (1, 2))
        rank, turn = (rng.permuted(tens, axis=1).ravel()[:count] for rng in streams)
        return self.noise * np.exp(ABILITIES * ndtri((rank + 0.5) / 10)), np.where(turn == 0, 0.5, 0.0)

    def say(self, asked: Questions, who: NDArray[np.int64]) -> Triplets:
        """Answers to questions, each by the participant of a number."""
        noises, flips = self.people(int(who.max()) + 1)
        how: Any = {"noise": noises[who], "flip": flips[who], "ties": "random", "seed": self.rng}
        said = simulated_answers(asked, points=self.points, **how).triplets
        return replace(said, participant=Ids.encode(who[dense_codes(said.statement_ids)]))

    def first(self, budget: int, per_person: int, draw: Callable[[int, int], Questions]) -> Triplets:
        """The first ``budget`` answers: a larger budget has those of a smaller one, which takes noise out of the gain."""
        while self._asked < budget:
            asked = draw(len(self._said), budget - self._asked)
            self._said.append(self.say(asked, (self._asked + np.arange(len(asked))) // per_person))
            self._asked += len(asked)
        said = Triplets.concatenate(self._said)
        return said[dense_codes(said.statement_ids) < budget]

    def accuracy(self, answers: Triplets) -> float:
        """How often a new answer is the one that an embedding (soe) of these answers predicts."""
        n, dimension = self.points.shape
        with warnings.catch_warnings(action="ignore", category=NearfarWarning):
            placed = parse_model(f"soe-{min(dimension, n - 2)}").fit(answers).rows
        right = (1 + np.sign(Space.of_points(placed, self.new.objects).predict(self.new).margin)) / 2
        return float(np.mean(right * self.p_new + (1 - right) * (1 - self.p_new)))
