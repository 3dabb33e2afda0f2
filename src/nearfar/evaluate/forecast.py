"""What a given number of participants and minutes buys: questions, repeats, and the interval of the accuracy.

Simulated participants differ: everybody sees distances with a noise of their own, and one in ten answers at random.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar.design import Scheme, new_places
from nearfar.design.questions import SECONDS
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.advice import Assumptions, expected_accuracy, new_questions, noise_of_agreement, p_one
from nearfar.evaluate.bootstrap import make_draws
from nearfar.evaluate.crossval import cross_validate
from nearfar.evaluate.splits import kfold
from nearfar.simulate import answers as simulated_answers
from nearfar.space.models import parse_model
from nearfar.triplets import Triplets
from nearfar.triplets.ids import Ids

CARELESS = 0.1  # share of participants who answer at random
ABILITIES = 0.4  # standard deviation of the logarithm of a participant's noise
N_STUDIES = 4  # simulated for each number of participants
QUICK = "score"  # the model whose interval is taken: those of embeddings are as wide, and take long
MOST_OBJECTS = 200  # simulated; more take minutes


class ForecastRow(NamedTuple):
    """A number of participants: the accuracy of predicting another one's answer, and half the width of its interval."""

    people: int
    answers: int
    accuracy: float
    half_width: float
    cost: float


@dataclass(frozen=True)
class Forecast(Record):
    """What so many participants can answer in so many minutes, and what that tells.

    Parameters
    ----------
    rows : half as many participants, as many as asked about, and twice as many.
    ceiling : the best possible accuracy under the assumptions.
    per_person, n_new, checks : places in a participant's list, those for new questions and for checks.
    questions, each : how many different questions, and by how many participants each is answered.
    people, n_objects, scheme, assumptions : what all of this rests on.
    """

    rows: tuple[ForecastRow, ...]
    ceiling: float
    per_person: int
    n_new: int
    checks: int
    questions: int
    each: float
    people: int
    n_objects: int
    scheme: Scheme
    assumptions: Assumptions

    @property
    def n_again(self) -> int:
        """Questions that a participant gets a second time."""
        return self.per_person - self.n_new - self.checks

    @property
    def n_simulated(self) -> int:
        """How many objects were simulated."""
        return min(self.n_objects, MOST_OBJECTS)

    def __str__(self) -> str:
        return words.forecast_text(self)


def forecast(
    n: int, people: int, scheme: Scheme, given: Assumptions, *, each: int = 2, again: float = 0.1, checks: int = 3,
    seed: Seed = 0,
) -> Forecast:  # fmt: skip
    """Say what ``people`` participants can answer about n objects in the assumed minutes, and simulate what that tells.

    each : by how many participants each question is answered. again : planned repeats, as a share of the new questions.
    checks : in each list. The assumed agreement is that of two attentive participants.

    >>> told = forecast(20, 10, Scheme(), Assumptions(minutes=5))
    >>> told.per_person, told.questions, [row.people for row in told.rows]
    (100, 440, [5, 10, 20])
    """
    seconds = given.seconds or SECONDS[scheme.kind]
    check_count(people, "people")
    if n < 4:
        raise InputError(f"objects: expected at least 4 to advise on, got {n}")
    scheme.check(n)
    per_person = int(given.minutes * 60 / seconds)
    n_new = new_places(per_person, again, checks)
    wanted, total = people * n_new, scheme.total(n)
    if n_new > total:
        room = f"{n_new:,} new questions for everybody, but there are {total:,} in all; give fewer"
        raise InputError(f"minutes: {given.minutes:g} have room for {room}")
    questions = max(n_new, min(wanted // min(each, people), total))
    hours = per_person * seconds / 3600
    simulated = min(n, MOST_OBJECTS)
    places = min(n_new, max(10, round(n_new * simulated / n)))
    rows, ceilings = [], []
    counts = sorted({max(2, people // 2), people, 2 * people})
    with step("simulating studies", total=len(counts) * N_STUDIES) as advance:
        for number in counts:
            studies = []
            for study in range(N_STUDIES):
                rng = np.random.default_rng([seed_number(seed), study])
                studies.append(_simulate(simulated, scheme, given, (number, places, each), rng))
                advance(1)
            accuracy, half_width, ceiling = np.mean(studies, axis=0).tolist()
            ceilings.append(ceiling)
            cost = number * hours * given.pay
            rows.append(ForecastRow(number, number * per_person, accuracy, half_width, cost))
    made = (tuple(rows), float(np.mean(ceilings)), per_person, n_new, checks, questions, wanted / questions)
    return Forecast(*made, people, n, scheme, given)


def _simulate(
    n: int, scheme: Scheme, given: Assumptions, size: tuple[int, int, int], rng: np.random.Generator
) -> tuple[float, float, float]:
    """(accuracy, half the width of its interval, best possible accuracy) of one study; size: people, places, each."""
    people, places, each = size
    points = rng.normal(size=(n, given.dimension))
    noises, flips = _abilities(people, given, rng)
    model = parse_model(f"soe-{min(given.dimension, n - 2)}")
    with warnings.catch_warnings(action="ignore", category=NearfarWarning):
        count = max(places, min(people * places // min(each, people), scheme.total(n)))
        questions = scheme.questions(n, count, rng)
        rows = np.resize(rng.permutation(count), (people, places))  # nobody gets a question twice
        said = []
        for person, (own, noise, flip) in enumerate(zip(rows, noises, flips, strict=True)):
            how: Any = {"noise": noise, "flip": flip, "ties": "random", "seed": rng}
            told = simulated_answers(questions[own], points=points, **how).triplets
            said.append(replace(told, participant=Ids.encode(np.full(len(told), person))))
        answers, new = Triplets.concatenate(said), new_questions(n, rng)
        space = model.fit(answers)
        judged = cross_validate(answers, [parse_model(QUICK)], list(kfold(answers, 5)))
        interval = make_draws(answers).estimate(judged.values[0])
    others = zip(*_abilities(20, given, rng), strict=True)  # a new participant is like one of these
    p = np.mean([flip + (1 - 2 * flip) * p_one(points, new, noise) for noise, flip in others], axis=0)
    accuracy = expected_accuracy(space.rows, new, p)
    return accuracy, (interval.high - interval.low) / 2, float(np.maximum(p, 1 - p).mean())


def _abilities(people: int, given: Assumptions, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(noise, probability of a flip) of participants: the same spread in every study, so that numbers can be compared."""
    from scipy.special import ndtri

    ranks = (rng.permutation(people) + 0.5) / people
    noises = noise_of_agreement(given.agreement, given.dimension) * np.exp(ABILITIES * ndtri(ranks))
    return noises, np.where(np.arange(people) < round(CARELESS * people), 0.5, 0.0)
