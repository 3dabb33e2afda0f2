"""How many questions, of how many people: the accuracy that simulated studies of growing size reach.

A simulated study: objects as random points, people who see distances with noise, an embedding, new answers.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nearfar import words
from nearfar._tools.arrays import Floats, dense_codes
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar._tools.distances import squared_distances
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar.design import Questions, Scheme, random_questions
from nearfar.embedding import SOE
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.bootstrap import Estimate, make_draws
from nearfar.evaluate.metrics import answer_credits
from nearfar.evaluate.splits import kfold
from nearfar.simulate import answers as simulated_answers
from nearfar.triplets import Triplets, as_triplets

__all__ = ["Advice", "AdviceRow", "Assumptions", "Pilot", "SimulatedStudy", "advise", "noise_of_agreement"]

SECONDS = {"near": 3.0, "odd": 4.0, "central": 5.0, "grid": 12.0}


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
        for name in ("seconds", "minutes", "pay"):
            value = getattr(self, name)
            least = 0.0 if name == "pay" else 1e-9
            if value is not None and not least <= value < np.inf:
                raise InputError(f"{name} must be a number {'>= 0' if name == 'pay' else '> 0'}, got {value}")


class AdviceRow(NamedTuple):
    """One budget: what it reaches and what it costs.

    accuracy : of predicting a new person's answer to a new random question, a mean over 19 simulated studies; low, high: the
    lowest and the highest of them, or Student's t about the mean where that is wider. One more such study lies between these in at
    least 90 of 100, whatever the distribution.
    """

    questions: int
    people: int
    hours: float
    cost: float
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class Pilot(Record):
    """What a pilot says about dimension and agreement, the latter by the held-out accuracy that it reaches."""

    n_answers: int
    dimension: int
    agreement: Estimate
    accuracy: Estimate


@dataclass(frozen=True)
class Advice(Record):
    """Budgets and what they reach, with the budget recommended.

    Parameters
    ----------
    rows : growing budgets, each twice the one before; a budget that was asked about stands among them.
    ceiling : the best possible accuracy under the assumptions.
    recommended : the smallest budget after which twice as many questions add less than 0.01. None where even the
        largest leaves more to gain.
    gain : what twice as many questions as recommended would add to the accuracy; NaN without a recommendation.
    budget, budget_gain : the budget that was asked about, and what twice as many questions would add to it.
    n_objects, scheme, assumptions, pilot : what all of this rests on.
    """

    rows: tuple[AdviceRow, ...]
    ceiling: float
    recommended: int | None
    gain: float
    budget: int | None
    budget_gain: float
    n_objects: int
    scheme: Scheme
    assumptions: Assumptions
    pilot: Pilot | None

    @property
    def seconds(self) -> float:
        """For one question."""
        return self.assumptions.seconds or SECONDS[self.scheme.kind]

    @property
    def n_simulated(self) -> int:
        """How many objects were simulated."""
        return _simulated(self.n_objects, self.scheme)

    @property
    def is_enough(self) -> bool:
        """Whether twice as many questions as the budget would add less than 0.01, once something is learnt at all."""
        return any(
            row.questions == self.budget and _little(row.accuracy, self.budget_gain) for row in self.rows
        )

    def __str__(self) -> str:
        return words.advice_text(self)

    def to_frame(self) -> Any:
        """The rows, as a polars data frame."""
        import polars as pl

        return pl.DataFrame(self.rows, schema=list(AdviceRow._fields), orient="row")


def advise(
    objects: Sequence[str] | int,
    scheme: Scheme | None = None,
    *,
    budget: int | None = None,
    assumptions: Assumptions | None = None,
    pilot: Triplets | ArrayLike | None = None,
    seed: Seed = 0,
) -> Advice:
    """Say how many questions to ask: simulate studies of growing size and judge each by new answers.

    Every simulated study draws objects as random points, people who see each distance with noise (so that two of them
    agree as often as assumed), the questions of the scheme, and an embedding (soe) in the assumed dimension. A
    pilot replaces the assumptions about dimension and agreement: the dimension is the one that predicts its held-out
    answers best, and the agreement the one at which simulated answers to the pilot's own questions are predicted as
    well as the pilot's.

    Parameters
    ----------
    objects : names, or their number.
    scheme : which questions; random "near" questions unless given.
    budget : a number of questions to judge besides the others.
    assumptions : dimension, agreement, pace and pay.
    pilot : answers about the same kind of objects.
    seed : None, an integer or a numpy Generator.

    Returns
    -------
    Advice; ``print`` it. Accuracy is that of predicting a new person's answer to a new random question, so that schemes
    of different kinds can be compared.

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
    agreements, learnt = [given.agreement], None
    if pilot is not None:
        learnt = learn_from_pilot(as_triplets(pilot), seed)
        given = replace(given, dimension=learnt.dimension, agreement=learnt.agreement.value)
        agreements = [learnt.agreement.low, learnt.agreement.value, learnt.agreement.high]
    simulated = _simulated(n, scheme)
    noises = [noise_of_agreement(agreement, given.dimension) for agreement in agreements]
    studies = [
        SimulatedStudy(simulated, scheme, given.dimension, noises[number % len(noises)], [seed, number])
        for number in range(19)  # one more study lies between the lowest and the highest of these in 18 of 20
    ]

    @cache
    def reached(budget: int) -> Floats:
        asked = max(1, round(budget * simulated / n))
        return np.array([study.accuracy(asked) for study in studies])

    def gain(budget: int | None) -> float:
        return np.nan if budget is None else float(reached(2 * budget).mean() - reached(budget).mean())

    recommended, ladder = None, list[int]()
    with step("simulating studies", total=8) as advance:
        for per in (5, 10, 20, 40, 80, 160, 320, 640):  # triplets for each object
            ladder.append(max(1, round(per * n / scheme.triplets_per_question)))
            reached(ladder[-1])
            advance(1)
            recommended = next(
                (b for b in ladder if 2 * b in ladder and _little(reached(b).mean(), gain(b))), None
            )
            if recommended is not None:
                break
    shown = sorted({*ladder, *([] if budget is None else [budget])})
    rows = tuple(_row(each, reached(each), scheme, given) for each in shown)
    ceiling = float(np.mean([study.ceiling for study in studies]))
    return Advice(
        rows, ceiling, recommended, gain(recommended), budget, gain(budget), n, scheme, given, learnt
    )


def _simulated(n: int, scheme: Scheme) -> int:
    """How many objects are simulated, each with as many answers as it would get: all, or 200."""
    return min(n, max(200, scheme.size + 1))


def _little(accuracy: float, gain: float) -> bool:
    """Whether hardly anybody would ask twice as many questions for this gain, once something is learnt at all."""
    return accuracy > 0.55 and gain < 0.01


def _row(budget: int, accuracies: Floats, scheme: Scheme, given: Assumptions) -> AdviceRow:
    """The interval is that of one more study: as likely as any to be the lowest, or the highest, of 20.

    From a pilot, studies of few agreements stand for all that are possible; Student's t about their mean is often wider then.
    """
    from scipy.stats import t

    count = len(accuracies)
    width = float(t.ppf(0.95, count - 1) * accuracies.std(ddof=1) * np.sqrt(1 + 1 / count))
    seconds = SECONDS[scheme.kind] if given.seconds is None else given.seconds
    hours = budget * seconds / 3600
    people = max(1, int(np.ceil(hours * 60 / given.minutes)))
    mean = float(accuracies.mean())
    low, high = min(float(accuracies.min()), mean - width), max(float(accuracies.max()), mean + width)
    return AdviceRow(budget, people, hours, hours * given.pay, mean, low, min(1.0, high))


# ---------------------------------------------------------------- one simulated study


def p_one(points: Floats, questions: Questions, noise: float) -> Floats:
    """(m,) probability that somebody calls ``one`` nearer: Phi(log(d_other / d_one) / (noise sqrt 2)).

    Each of the two distances is seen times exp(noise z) with z standard normal.
    """
    from scipy.special import ndtr

    one = squared_distances(points, questions.anchor, questions.one)
    other = squared_distances(points, questions.anchor, questions.other)
    return np.asarray(ndtr(np.log(other / one) / 2 / (noise * np.sqrt(2))))


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

    def off(log_noise: float) -> float:
        p = p_one(points, questions, float(np.exp(log_noise)))
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


def learn_from_pilot(pilot: Triplets, seed: int = 0) -> Pilot:
    """The dimension in which a pilot's held-out answers are predicted best, and the agreement that explains how well.

    People who answer the pilot's own questions about random points are simulated with growing agreement; the one at
    which their held-out answers are predicted as well as the pilot's is taken.
    """
    if len(pilot) < 100:
        raise InputError(f"pilot: expected at least 100 answers, got {len(pilot):,}, which say too little")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        credits = {d: _held_out(pilot, d, seed) for d in (1, 2, 3, 5)}
        dimension = max(credits, key=lambda d: float(credits[d].mean()))
        found = make_draws(pilot).estimate(credits[dimension])
        agreements = [0.51, *np.arange(0.54, 0.95, 0.04).round(2).tolist(), 0.97]
        reached = [_reached(pilot, dimension, agreement, seed) for agreement in agreements]
    rising = np.maximum.accumulate(reached) + 1e-9 * np.arange(len(reached))
    if not np.isfinite(found.low):
        found = Estimate(found.value, found.value - 0.05, found.value + 0.05)
    agreement = np.interp([found.value, found.low, found.high], rising, agreements)
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
