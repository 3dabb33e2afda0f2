"""What a given number of participants and minutes buys: questions, repeats, the interval of the accuracy, and what adaptive questions save.

Simulated participants differ: everybody sees distances with a noise of their own, and one in ten answers at random.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar._tools.progress import step, track
from nearfar._tools.records import Record
from nearfar.design import Questions, Scheme, new_places, next_questions
from nearfar.design.questions import SECONDS
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.advice import Assumptions, expected_accuracy, new_questions, noise_of_agreement, p_one
from nearfar.evaluate.bootstrap import Estimate, make_draws
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
MOST_OBJECTS, MOST_ADAPTIVE = 200, 60  # simulated, and with adaptive questions; more take minutes
RANDOM = 0.2  # share of random questions among adaptive ones


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
    counts = sorted({max(2, people // 2), people, 2 * people})
    studies = []
    for number, study in track(list(product(counts, range(N_STUDIES))), "simulating studies"):
        rng = np.random.default_rng([seed_number(seed), study])
        studies.append(_simulate(simulated, scheme, given, (number, places, each), rng))
    means = np.reshape(studies, (len(counts), N_STUDIES, 3)).mean(axis=1)
    rows = []
    for number, (accuracy, half_width, _) in zip(counts, means.tolist(), strict=True):
        cost = number * hours * given.pay
        rows.append(ForecastRow(number, number * per_person, accuracy, half_width, cost))
    made = tuple(rows), float(means[:, 2].mean()), per_person, n_new, checks, questions, wanted / questions
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
            told = _said(questions[own], points, noise, flip, rng)
            said.append(replace(told, participant=Ids.encode(np.full(len(told), person))))
        answers, new = Triplets.concatenate(said), new_questions(n, rng)
        space = model.fit(answers)
        judged = cross_validate(answers, [parse_model(QUICK)], list(kfold(answers, 5)))
        interval = make_draws(answers).estimate(judged.values[0])
    p = _p_of_others(points, new, given, rng)
    accuracy = expected_accuracy(space.rows, new, p)
    return accuracy, (interval.high - interval.low) / 2, float(np.maximum(p, 1 - p).mean())


def _abilities(people: int, given: Assumptions, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(noise, probability of a flip) of participants: the same spread in every study, so that numbers can be compared."""
    ranks = (rng.permutation(people) + 0.5) / people
    noises = noise_of_agreement(given.agreement, given.dimension) * np.exp(ABILITIES * ndtri(ranks))
    return noises, np.where(np.arange(people) < round(CARELESS * people), 0.5, 0.0)


def _p_of_others(points: Floats, new: Questions, given: Assumptions, rng: np.random.Generator) -> Floats:
    """(m,) probability that a new participant, who is like one of twenty, calls ``one`` nearer."""
    others = zip(*_abilities(20, given, rng), strict=True)
    seen = [flip + (1 - 2 * flip) * p_one(points, new, noise) for noise, flip in others]
    return np.asarray(np.mean(seen, axis=0))


def _said(asked: Questions, points: Floats, noise: float, flip: float, rng: np.random.Generator) -> Triplets:
    return simulated_answers(asked, points=points, noise=noise, flip=flip, ties="random", seed=rng).triplets


@dataclass(frozen=True)
class ExpectedSaving(Record):
    """``times`` : how many times more random answers predict as well, with the smallest and the largest of the simulated studies.

    ``adaptive``, ``random`` : accuracy with adaptive and with random questions, after ``n_answers`` of either.
    """

    times: Estimate
    adaptive: float
    random: float
    n_answers: int
    n_studies: int = N_STUDIES

    def __str__(self) -> str:
        return words.expected_saving(self)


def expected_saving(
    n: int, people: int, scheme: Scheme, given: Assumptions, *, per_person: int | None = None, seed: Seed = 0
) -> ExpectedSaving:
    """Simulate studies of n objects with adaptive and with random questions, ``per_person`` of them for each of ``people``.

    per_person : None: what there is time for in the assumed minutes.

    >>> told = expected_saving(8, 4, Scheme(), Assumptions(), per_person=10)
    >>> told.n_answers, told.times.low <= told.times.value <= told.times.high
    (40, True)
    """
    check_count(people, "people")
    if n < 4 or scheme.draw != "random":
        raise InputError("adaptive questions: need at least 4 objects, and no landmarks")
    scheme.check(n)
    if per_person is None:
        per_person = int(given.minutes * 60 / (given.seconds or SECONDS[scheme.kind]))
    simulated = min(n, MOST_ADAPTIVE)
    per = max(1, round(per_person * simulated / n))
    found = np.zeros((N_STUDIES, 4))
    quiet = warnings.catch_warnings(action="ignore", category=NearfarWarning)
    with step("simulating adaptive studies", total=found.size) as advance, quiet:
        for study in range(N_STUDIES):
            rng = np.random.default_rng([seed_number(seed), study, 32])
            points, new = rng.normal(size=(simulated, given.dimension)), new_questions(simulated, rng)
            p = _p_of_others(points, new, given, rng)
            model = parse_model(f"ste-{min(given.dimension, simulated - 2)}")
            for at, (count, share) in enumerate(((1, RANDOM), (1, 1), (0.5, 1), (2, 1))):
                answers = _answers(points, scheme, given, (max(1, round(count * people)), per, share), rng)
                found[study, at] = expected_accuracy(model.fit(answers).rows, new, p)
                advance(1)
    adaptive, plain, half, double = found.T
    doubling = max(float(np.mean(double - half)) / 2, 1e-3)
    logs = np.clip((adaptive - plain) / doubling, -2, 2)
    times = Estimate(*(2.0 ** np.array([logs.mean(), logs.min(), logs.max()])).tolist())
    return ExpectedSaving(times, float(adaptive.mean()), float(plain.mean()), people * per_person)


def _answers(
    points: Floats, scheme: Scheme, given: Assumptions, size: tuple[int, int, float], rng: np.random.Generator
) -> Triplets:
    """What participants answer, one after the other; size: people, questions of each, and the share of random ones."""
    people, per, share = size
    n, n_random = len(points), round(per * share)
    said, used = list[Triplets](), list[Triplets]()
    noises, flips = _abilities(people, given, rng)
    for person in rng.permutation(people).tolist():
        how = points, noises[person], flips[person], rng
        plain = scheme.questions(n, max(1, min(n_random, scheme.total(n))), rng)
        said.append(_said(plain, *how))
        for start in range(0, per - n_random, n):
            before: Any = Triplets.concatenate(used) if used else []
            kind: Any = {"kind": scheme.kind, "size": scheme.size, "pick": scheme.pick}
            chosen = next_questions(before, n, min(n, per - n_random - start), **kind, seed=rng).questions
            used.append(_said(chosen, *how))
    return Triplets.concatenate([*said, *used])
