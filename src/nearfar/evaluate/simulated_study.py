"""One simulated study: objects as random points, people who see distances with noise, an embedding, new answers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from nearfar._tools.arrays import Floats, dense_codes
from nearfar._tools.distances import squared_distances
from nearfar._tools.records import Record
from nearfar.design import Questions, Scheme, random_questions
from nearfar.embedding import SOE
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.bootstrap import Estimate, make_draws
from nearfar.evaluate.metrics import answer_credits
from nearfar.evaluate.splits import kfold
from nearfar.simulate import answers as simulated_answers
from nearfar.triplets import Triplets

__all__ = ["Pilot", "SimulatedStudy", "learn_from_pilot", "noise_of_agreement"]

DIMENSIONS = (1, 2, 3, 5)  # tried on a pilot
AGREEMENTS = (0.51, 0.54, 0.58, 0.62, 0.66, 0.7, 0.74, 0.78, 0.82, 0.86, 0.9, 0.94, 0.97)


def p_one(points: Floats, questions: Questions, noise: float) -> Floats:
    """(m,) probability that somebody calls ``one`` nearer: Phi(log(d_other / d_one) / (noise sqrt 2)).

    Each of the two distances is seen times exp(noise z) with z standard normal.
    """
    return _p_of_ratios(_log_ratios(points, questions), noise)


def _log_ratios(points: Floats, questions: Questions) -> Floats:
    one = squared_distances(points, questions.anchor, questions.one)
    other = squared_distances(points, questions.anchor, questions.other)
    return np.log(other / one) / 2


def _p_of_ratios(ratios: Floats, noise: float) -> Floats:
    from scipy.special import ndtr

    probability: Floats = ndtr(ratios / (noise * np.sqrt(2)))
    return probability


@cache
def noise_of_agreement(agreement: float, dimension: int) -> float:
    """The noise at which two people agree on a random question with this probability, E p^2 + (1 - p)^2.

    >>> noise = noise_of_agreement(0.75, 3)
    >>> 0.2 < noise < 0.4
    True
    """
    from scipy.optimize import brentq

    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, dimension))
    questions = random_questions(300, 20_000, rng)
    ratios = _log_ratios(points, questions)

    def off(log_noise: float) -> float:
        p = _p_of_ratios(ratios, float(np.exp(log_noise)))
        return float(np.mean(p**2 + (1 - p) ** 2)) - agreement

    return float(np.exp(brentq(off, np.log(1e-3), np.log(1e3), xtol=1e-9)))


class SimulatedStudy:
    """Objects drawn from a normal distribution, answers that grow with the budget, and new questions to judge them by."""

    def __init__(
        self, n: int, scheme: Scheme, dimension: int, noise: float, seed: Sequence[int], n_new: int = 4000
    ) -> None:
        self._rng = np.random.default_rng(seed)
        self.points = self._rng.normal(size=(n, dimension))
        self.scheme, self.noise = scheme, noise
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NearfarWarning)
            self.new = random_questions(n, min(n_new, n * (n - 1) * (n - 2) // 2), self._rng)
        self.p_new = p_one(self.points, self.new, noise)
        self._asked, self._said = 0, list[Triplets]()

    @property
    def ceiling(self) -> float:
        """The best possible accuracy: E max(p, 1 - p)."""
        return float(np.maximum(self.p_new, 1 - self.p_new).mean())

    def accuracy(self, budget: int) -> float:
        """How often a new answer is the one that an embedding of ``budget`` answered questions predicts."""
        n, dimension = self.points.shape
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NearfarWarning)
            said = self._answers(budget)
            placed = SOE(min(dimension, n - 2), random_state=0).fit_transform(said)
        first = Triplets(self.new.anchor, self.new.one, self.new.other, said.objects)
        right = answer_credits(first, points=placed)
        return float(np.mean(right * self.p_new + (1 - right) * (1 - self.p_new)))

    def _answers(self, budget: int) -> Triplets:
        """The answers so far and new ones; each time the questions asked are different, as far as there are enough."""
        total = self.scheme.total(len(self.points))
        while self._asked < budget:
            more = min(budget - self._asked, total)
            asked = self.scheme.questions(len(self.points), more, self._rng)
            answered = simulated_answers(
                asked, points=self.points, noise=self.noise, ties="random", seed=self._rng
            )
            self._said.append(answered.triplets)
            self._asked += more
        said = Triplets.concatenate(self._said)
        return said[dense_codes(said.statement_ids) < budget] if self._asked > budget else said


# ---------------------------------------------------------------- what a pilot says


@dataclass(frozen=True)
class Pilot(Record):
    """What a pilot says about dimension and agreement, the latter by the held-out accuracy that it reaches."""

    n_answers: int
    dimension: int
    agreement: Estimate
    accuracy: Estimate


def learn_from_pilot(pilot: Triplets, seed: int = 0) -> Pilot:
    """The dimension in which a pilot's held-out answers are predicted best, and the agreement that explains how well.

    People who answer the pilot's own questions about random points are simulated with growing agreement; the one at
    which their held-out answers are predicted as well as the pilot's is taken.
    """
    if len(pilot) < 100:
        raise InputError(f"pilot: expected at least 100 answers, got {len(pilot):,}, which say too little")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        credits = {d: _held_out(pilot, d, seed) for d in DIMENSIONS}
        dimension = max(DIMENSIONS, key=lambda d: float(credits[d].mean()))
        found = make_draws(pilot).estimate(credits[dimension])
        reached = [_reached(pilot, dimension, agreement, seed) for agreement in AGREEMENTS]
    rising = np.maximum.accumulate(reached) + 1e-9 * np.arange(len(reached))
    if not np.isfinite(found.low):
        found = Estimate(found.value, found.value - 0.05, found.value + 0.05)
    agreement = np.interp([found.value, found.low, found.high], rising, AGREEMENTS)
    return Pilot(len(pilot), dimension, Estimate(*agreement.tolist()), found)


def _held_out(answers: Triplets, dimension: int, seed: int) -> Floats:
    """(m,) credits of held-out answers."""
    credits = np.full(len(answers), 0.5)
    for train, test in kfold(answers, 5, seed=seed):
        placed = SOE(dimension, random_state=0).fit_transform(answers[train])
        credits[test] = answer_credits(answers[test], points=placed)
    return credits


def _reached(pilot: Triplets, dimension: int, agreement: float, seed: int) -> float:
    """Held-out accuracy of simulated answers to the questions of the pilot, over three studies."""
    noise = noise_of_agreement(agreement, dimension)
    asked = Questions(pilot.array, pilot.objects)
    found = []
    for study in range(3):
        rng = np.random.default_rng([seed, study])
        points = rng.normal(size=(pilot.n_objects, dimension))
        said = simulated_answers(asked, points=points, noise=noise, ties="random", seed=rng).triplets
        found.append(float(_held_out(said, dimension, seed).mean()))
    return float(np.mean(found))
