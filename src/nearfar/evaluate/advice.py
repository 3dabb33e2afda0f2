"""How many questions, of how many people: the accuracy that simulated studies of growing size reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar.design import Scheme
from nearfar.errors import InputError
from nearfar.evaluate.simulated_study import Pilot, SimulatedStudy, learn_from_pilot, noise_of_agreement
from nearfar.triplets import Triplets, as_triplets

__all__ = ["Advice", "AdviceRow", "Assumptions", "advise"]

STUDIES = 19  # behind every row: one more lies between the lowest and the highest in 18 of 20
PER_OBJECT = (5, 10, 20, 40, 80, 160, 320, 640)  # triplets for each object, row by row
SMALL_GAIN = 0.01  # a gain that hardly anybody would ask twice as many questions for
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
        reached = {row.questions: row.accuracy for row in self.rows}.get(self.budget or 0, 0.0)
        return self.budget_gain < SMALL_GAIN and reached > 0.55

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
        for number in range(STUDIES)
    ]
    reached: dict[int, Floats] = {}

    def measure(budget: int) -> None:
        if budget not in reached:
            asked = max(1, round(budget * simulated / n))
            reached[budget] = np.array([study.accuracy(asked) for study in studies])

    ladder = [max(1, round(per * n / scheme.triplets_per_question)) for per in PER_OBJECT]
    with step("simulating studies", total=len(ladder)) as advance:
        for rung in ladder:
            measure(rung)
            advance(1)
            if _recommended(reached) is not None:
                break
    recommended = _recommended(reached)
    if budget is not None:
        measure(budget)
        measure(2 * budget)
    rows = tuple(_row(b, reached[b], scheme, given) for b in sorted(reached) if b in ladder or b == budget)
    gain, of_budget = (
        np.nan if b is None else float(reached[2 * b].mean() - reached[b].mean())
        for b in (recommended, budget)
    )
    ceiling = float(np.mean([study.ceiling for study in studies]))
    return Advice(rows, ceiling, recommended, gain, budget, of_budget, n, scheme, given, learnt)


def _simulated(n: int, scheme: Scheme) -> int:
    """How many objects are simulated, each with as many answers as it would get: all, or 200."""
    return min(n, max(200, scheme.size + 1))


def _recommended(reached: dict[int, Floats]) -> int | None:
    """The first budget of which the double was tried too and added little, once something is learnt at all."""
    for budget, accuracies in sorted(reached.items()):
        doubled = reached.get(2 * budget)
        if (
            doubled is not None
            and accuracies.mean() > 0.55
            and doubled.mean() - accuracies.mean() < SMALL_GAIN
        ):
            return budget
    return None


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
