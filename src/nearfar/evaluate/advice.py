"""How many questions, of how many people: the accuracy that simulated studies of growing size reach.

A simulated study: objects as random points, people who see distances with noise, an embedding, new answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtr

from nearfar import words
from nearfar._tools.arrays import Floats, dense_codes
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar._tools.distances import squared_distances
from nearfar._tools.progress import track
from nearfar._tools.records import Record
from nearfar.design import Questions, Scheme, random_questions
from nearfar.design.questions import SECONDS
from nearfar.embedding import SOE
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.bootstrap import Estimate, make_draws
from nearfar.evaluate.crossval import cross_validate
from nearfar.evaluate.splits import Split, kfold
from nearfar.simulate import answers as simulated_answers
from nearfar.space.models import Model, parse_models
from nearfar.space.space import Space
from nearfar.triplets import Triplets, as_triplets
from nearfar.triplets.columns import median_of_times


@dataclass(frozen=True)
class Assumptions(Record):
    """What an advice rests on.

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


class AdviceRow(NamedTuple):
    """One budget: what it costs, and the accuracy of predicting a new person's answer to a new random question.

    ``gain`` : what twice as many questions would add to the accuracy.
    """

    questions: int
    people: int
    hours: float
    cost: float
    accuracy: float
    gain: float

    @property
    def is_enough(self) -> bool:
        """Whether twice as many questions would add less than 0.01, once something is learnt at all."""
        return self.accuracy > 0.55 and self.gain < 0.01


class Pilot(NamedTuple):
    """What a pilot says about dimension and agreement, the latter by the held-out accuracy that it reaches.

    ``seconds`` : median time of its answers; None where they have none.
    """

    n_answers: int
    dimension: int
    agreement: float
    accuracy: Estimate
    seconds: float | None = None


@dataclass(frozen=True)
class Advice(Record):
    """Budgets and what they reach, with the budget recommended.

    Parameters
    ----------
    rows : growing budgets, each twice the one before; a budget that was asked about stands among them.
    ceiling : the best possible accuracy under the assumptions.
    recommended : the smallest budget after which twice as many questions add less than 0.01. None where even the
        largest leaves more to gain.
    budget : the one that was asked about.
    n_objects, scheme, assumptions, pilot : what all of this rests on.
    """

    rows: tuple[AdviceRow, ...]
    ceiling: float
    recommended: int | None
    budget: int | None
    n_objects: int
    scheme: Scheme
    assumptions: Assumptions
    pilot: Pilot | None

    @property
    def seconds(self) -> float:
        """For one question."""
        return _seconds(self.assumptions, self.pilot, self.scheme)

    @property
    def n_simulated(self) -> int:
        """How many objects were simulated."""
        return _simulated(self.n_objects, self.scheme)

    def __str__(self) -> str:
        return words.advice_text(self)

    def to_frame(self) -> pl.DataFrame:
        """The rows, as a polars data frame."""
        return pl.DataFrame(self.rows, schema=list(AdviceRow._fields), orient="row")


def advise(
    objects: Sequence[str] | int, scheme: Scheme | None = None, *, budget: int | None = None,
    assumptions: Assumptions | None = None, pilot: Triplets | ArrayLike | None = None, seed: Seed = 0,
) -> Advice:  # fmt: skip
    """Say how many questions to ask: simulate studies of growing size and judge each by new answers.

    Every simulated study draws objects as random points, people who see each distance with noise (so that two of them
    agree as often as assumed), the questions of the scheme, and an embedding (soe) in the assumed dimension. A
    pilot replaces the assumptions about dimension and agreement (``learn_from_pilot``).

    Parameters
    ----------
    objects : names, or their number.
    scheme : which questions; random "near" questions unless given.
    budget : a number of questions to judge besides the others.
    assumptions : dimension, agreement, pace and pay.
    pilot : answers about the same kind of objects.
    seed : None, an integer or a numpy Generator.

    Accuracy is that of predicting a new person's answer to a new random question, so that schemes can be compared.

    Examples
    --------
    >>> advice = advise(12, assumptions=Assumptions(dimension=1, agreement=0.9))
    >>> advice.rows[0].accuracy < advice.rows[-1].accuracy < advice.ceiling
    True
    """
    scheme = Scheme() if scheme is None else scheme
    given = Assumptions() if assumptions is None else assumptions
    seed = seed_number(seed)
    n = objects if isinstance(objects, int) else len(objects)
    if n < 4:
        raise InputError(f"objects: expected at least 4 to advise on, got {n}")
    if budget is not None:
        check_count(budget, "budget")
    scheme.check(n)
    learnt = None
    if pilot is not None:
        learnt = learn_from_pilot(as_triplets(pilot), seed)
        given = replace(given, dimension=learnt.dimension, agreement=learnt.agreement)
    simulated = _simulated(n, scheme)
    noise = noise_of_agreement(given.agreement, given.dimension)

    @cache  # all studies ask the same questions: to draw them evenly takes longer than all the rest
    def draw(number: int, count: int) -> Questions:
        rng = np.random.default_rng([seed, number])
        return scheme.questions(simulated, min(count, scheme.total(simulated)), rng)

    drawn = ([seed, 1, number] for number in range(19))
    studies = [SimulatedStudy(simulated, draw, given.dimension, noise, each) for each in drawn]
    seconds = _seconds(given, learnt, scheme)

    @cache
    def reached(budget: int) -> float:
        asked = max(1, round(budget * simulated / n))
        return float(np.mean([study.accuracy(asked) for study in studies]))

    def row(budget: int) -> AdviceRow:
        hours = budget * seconds / 3600
        people = max(1, int(np.ceil(hours * 60 / given.minutes)))
        accuracy = reached(budget)
        return AdviceRow(budget, people, hours, hours * given.pay, accuracy, reached(2 * budget) - accuracy)

    rows = list[AdviceRow]()
    for doublings in track(range(7), "simulating studies"):  # from five triplets for each object
        rows.append(row(2**doublings * max(1, round(5 * n / scheme.triplets_per_question))))
        if rows[-1].is_enough:
            break
    recommended = rows[-1].questions if rows[-1].is_enough else None
    shown = tuple(sorted({*rows, *([] if budget is None else [row(budget)])}))
    ceiling = float(np.mean([study.ceiling for study in studies]))
    return Advice(shown, ceiling, recommended, budget, n, scheme, given, learnt)


def _simulated(n: int, scheme: Scheme) -> int:
    """How many objects are simulated, each with as many answers as it would get: all, or 200."""
    return min(n, max(200, scheme.size + 1))


def p_one(points: Floats, questions: Questions, noise: float) -> Floats:
    """(m,) probability that somebody calls ``one`` nearer: Phi(log(d_other / d_one) / (noise sqrt 2)).

    Each of the two distances is seen times exp(noise z) with z standard normal.
    """
    one = squared_distances(points, questions.anchor, questions.one)
    other = squared_distances(points, questions.anchor, questions.other)
    return np.asarray(ndtr(np.log(other / one) / 2 / (noise * np.sqrt(2))))


def new_questions(n: int, rng: np.random.Generator) -> Questions:
    """Random questions to judge a map of n objects by."""
    with warnings.catch_warnings(action="ignore", category=NearfarWarning):
        return random_questions(n, min(4000, n * (n - 1) * (n - 2) // 2), rng)


def expected_accuracy(points: Floats, new: Questions, p: Floats) -> float:
    """How often a new answer, ``one`` with probability ``p``, is the one that points predict."""
    right = (1 + np.sign(Space.of_points(points, new.objects).predict(new).margin)) / 2
    return float(np.mean(right * p + (1 - right) * (1 - p)))


@cache
def noise_of_agreement(agreement: float, dimension: int) -> float:
    """The noise at which two people agree on a random question with this probability, E p^2 + (1 - p)^2.

    >>> noise = noise_of_agreement(0.75, 3)
    >>> 0.2 < noise < 0.4
    True
    """
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, dimension))
    questions = random_questions(300, 20_000, rng)

    def off(log_noise: float) -> float:
        p = p_one(points, questions, float(np.exp(log_noise)))
        return float(np.mean(p**2 + (1 - p) ** 2)) - agreement

    return float(np.exp(brentq(off, np.log(1e-3), np.log(1e3), xtol=1e-9)))


class SimulatedStudy:
    """Objects drawn from a normal distribution, people who answer questions about them, and new questions to judge a map by."""

    def __init__(
        self, n: int, draw: Callable[[int, int], Questions], dimension: int, noise: float, seed: Sequence[int]
    ) -> None:
        self._rng = rng = np.random.default_rng(seed)
        self.points = rng.normal(size=(n, dimension))
        self.draw, self.noise, self.new = draw, noise, new_questions(n, rng)
        self.p_new = p_one(self.points, self.new, noise)
        self._asked, self._said = 0, list[Triplets]()

    @property
    def ceiling(self) -> float:
        """The best possible accuracy: E max(p, 1 - p)."""
        return float(np.maximum(self.p_new, 1 - self.p_new).mean())

    def accuracy(self, budget: int) -> float:
        """How often a new answer is the one that an embedding of ``budget`` answered questions predicts."""
        n, dimension = self.points.shape
        with warnings.catch_warnings(action="ignore", category=NearfarWarning):
            placed = SOE(min(dimension, n - 2), random_state=0).fit_transform(self._answers(budget))
        return expected_accuracy(placed, self.new, self.p_new)

    def _answers(self, budget: int) -> Triplets:
        """The first ``budget`` answers: a larger budget has those of a smaller one, which takes noise out of the gain."""
        while self._asked < budget:
            asked = self.draw(len(self._said), budget - self._asked)
            how: Any = {"noise": self.noise, "ties": "random", "seed": self._rng}
            self._said.append(simulated_answers(asked, points=self.points, **how).triplets)
            self._asked += len(asked)
        said = Triplets.concatenate(self._said)
        return said[dense_codes(said.statement_ids) < budget]


def learn_from_pilot(pilot: Triplets, seed: int = 0) -> Pilot:
    """The dimension in which a pilot's held-out answers are predicted best, and the agreement that explains how well.

    People who answer the pilot's own questions about random points are simulated with growing agreement; the one at
    which their held-out answers are predicted as well as the pilot's is taken.
    """
    if len(pilot) < 100:
        raise InputError(f"pilot: expected at least 100 answers, got {len(pilot):,}, which say too little")
    with warnings.catch_warnings(action="ignore", category=NearfarWarning):
        splits = list(kfold(pilot, 5, seed=seed))
        judged = cross_validate(pilot, parse_models(["soe-1", "soe-2", "soe-3", "soe-5"]), splits)
        best = int(np.argmax(judged.accuracies))
        model = judged.models[best]
        accuracy = make_draws(pilot).estimate(judged.values[best])
        agreements = [0.51, *np.arange(0.54, 0.95, 0.04).round(2).tolist(), 0.97]
        reached = [_reached(pilot, model, agreement, splits, seed) for agreement in agreements]
    rising = np.maximum.accumulate(reached) + 1e-9 * np.arange(len(reached))
    agreement = float(np.interp(accuracy.value, rising, agreements))
    times = np.empty(0) if pilot.seconds is None else pilot.seconds
    times = times[np.isfinite(times) & (times > 0)]
    seconds = median_of_times(times) if len(times) else None
    return Pilot(len(pilot), model.n_components or 0, agreement, accuracy, seconds)


def _seconds(given: Assumptions, pilot: Pilot | None, scheme: Scheme) -> float:
    """For one question: as given, as in the pilot, or as usual."""
    return given.seconds or (pilot and pilot.seconds) or SECONDS[scheme.kind]


def _reached(pilot: Triplets, model: Model, agreement: float, splits: Sequence[Split], seed: int) -> float:
    """Held-out accuracy of simulated answers to the questions of the pilot, over three studies."""
    dimension = model.n_components or 0
    noise = noise_of_agreement(agreement, dimension)
    asked = Questions(pilot.array, pilot.objects)
    accuracies = []
    for study in range(3):
        rng = np.random.default_rng([seed, study])
        points = rng.normal(size=(pilot.n_objects, dimension))
        said = simulated_answers(asked, points=points, noise=noise, ties="random", seed=rng).triplets
        accuracies.append(cross_validate(said, [model], splits).accuracies[0])
    return float(np.mean(accuracies))
