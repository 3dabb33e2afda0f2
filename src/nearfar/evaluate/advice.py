"""How many questions, of how many people: the accuracy that simulated studies reach."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from nearfar import words
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar._tools.progress import track
from nearfar._tools.records import Record
from nearfar.design import Questions, Scheme, new_places
from nearfar.design.questions import SECONDS, object_names
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.bootstrap import Estimate, make_draws
from nearfar.evaluate.crossval import cross_validate
from nearfar.evaluate.simulated import Assumptions, SimulatedStudy
from nearfar.evaluate.splits import Split, kfold
from nearfar.space.models import Model, parse_model, parse_models
from nearfar.triplets import Triplets, as_triplets
from nearfar.triplets.columns import median_of_times

N_STUDIES, N_INTERVALS = 19, 4  # simulated, and those whose interval is taken
QUICK = "score"  # the model of that interval: those of embeddings are as wide, and take long
MIN_PEOPLE = 6  # for an interval; forecasts of fewer were not tried
MOST_OBJECTS = 200  # simulated; more take minutes


class AdviceRow(NamedTuple):
    """What some answers cost, and the accuracy of predicting a new person's answer to a new random question.

    ``gain`` : what twice as many answers would add to the accuracy. ``half_width`` : half the width of the accuracy's 95 %
    interval. NaN where it was not simulated.
    """

    answers: int
    people: int
    hours: float
    cost: float
    accuracy: float
    gain: float = float("nan")
    half_width: float = float("nan")

    @property
    def is_enough(self) -> bool:
        """Whether twice as many answers would add less than 0.01, once something is learnt at all."""
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


class Lists(NamedTuple):
    """What each of ``people`` gets: places in a list, those for new questions and for checks.

    ``questions``, ``each`` : how many different questions, and by how many participants each is answered.
    """

    people: int
    per_person: int
    n_new: int
    checks: int
    questions: int
    each: float

    @property
    def n_again(self) -> int:
        """Questions that a participant gets a second time."""
        return self.per_person - self.n_new - self.checks


@dataclass(frozen=True)
class Advice(Record):
    """What growing numbers of answers reach.

    Parameters
    ----------
    rows : each has twice the answers of the one before; a budget that was asked about stands among them.
    ceiling : the best possible accuracy under the assumptions.
    recommended : the smallest budget after which twice as many questions add less than 0.01. None where even the
        largest leaves more to gain, or people were given.
    budget : the one that was asked about.
    n_objects, scheme, assumptions, pilot : what all of this rests on.
    lists : of the people that were given; the rows then are half as many, these, and twice as many.
    """

    rows: tuple[AdviceRow, ...]
    ceiling: float
    recommended: int | None
    budget: int | None
    n_objects: int
    scheme: Scheme
    assumptions: Assumptions
    pilot: Pilot | None
    lists: Lists | None = None

    @property
    def seconds(self) -> float:
        """For one question."""
        return _seconds(self.assumptions, self.pilot, self.scheme)

    @property
    def n_simulated(self) -> int:
        """How many objects were simulated, each with as many answers as it would get."""
        marks = self.scheme.landmarks if isinstance(self.scheme.landmarks, int) else 0
        return min(self.n_objects, max(MOST_OBJECTS, self.scheme.size + 1, marks))

    def __str__(self) -> str:
        return words.advice_text(self)

    def to_frame(self) -> pl.DataFrame:
        """The rows, as a polars data frame."""
        return pl.DataFrame(self.rows, schema=list(AdviceRow._fields), orient="row")


def advise(
    objects: Sequence[str] | int, scheme: Scheme | None = None, *, budget: int | None = None, people: int | None = None,
    each: int = 2, again: float = 0.1, checks: int = 3, assumptions: Assumptions | None = None,
    pilot: Triplets | ArrayLike | None = None, seed: Seed = 0,
) -> Advice:  # fmt: skip
    """Say how many questions to ask: simulate studies of growing size and judge each by new answers.

    Every simulated study draws objects as random points, people who see each distance with noise (so that two attentive
    ones agree as often as assumed), the questions of the scheme, and an embedding (soe) in the assumed dimension. People
    differ in precision, and one in ten answers at random. A pilot replaces the assumptions about dimension and agreement
    (``learn_from_pilot``); people are then alike.

    Parameters
    ----------
    objects : names, or their number.
    scheme : which questions; random "near" questions unless given.
    budget : a number of questions to judge besides the others.
    people : say what so many can answer in the assumed minutes instead, with the interval of its accuracy.
    each, again, checks : of these people's lists: how many answer a question, the share of repeats, check questions.
    assumptions : dimension, agreement, pace and pay.
    pilot : answers about the same kind of objects.
    seed : None, an integer or a numpy Generator.

    Accuracy is that of predicting a new person's answer to a new random question, so that schemes can be compared.

    Examples
    --------
    >>> advice = advise(12, assumptions=Assumptions(dimension=1, agreement=0.9))
    >>> advice.rows[0].accuracy < advice.rows[-1].accuracy < advice.ceiling
    True
    >>> told = advise(20, people=10, assumptions=Assumptions(minutes=5))
    >>> told.lists.per_person, told.lists.questions, [row.people for row in told.rows]
    (100, 440, [5, 10, 20])
    """
    seed, scheme, given = seed_number(seed), scheme or Scheme(), assumptions or Assumptions()
    n = len(object_names(objects))
    if n < 4:
        raise InputError(f"objects: expected at least 4 to advise on, got {n}")
    if budget is not None:
        check_count(budget, "budget")
    scheme.check(objects)
    if not isinstance(scheme.landmarks, int):  # which objects they are makes no difference
        scheme = replace(scheme, landmarks=int(np.size(scheme.landmarks)))
    learnt = None
    if pilot is not None:
        learnt = learn_from_pilot(as_triplets(pilot), seed)
        given = replace(given, dimension=learnt.dimension, agreement=learnt.agreement)
    plan = Advice((), 0.0, None, budget, n, scheme, given, learnt)
    if people is None:
        return _ladder(plan, _Studies(plan, int(given.minutes * 60 / plan.seconds), 1, seed))
    lists = _lists(plan, people, each, again, checks)
    return _with_people(plan, lists, _Studies(plan, lists.n_new, min(each, people), seed))


def _ladder(plan: Advice, studies: _Studies) -> Advice:
    """Rows of doubled budgets, from five triplets for each object to the first that is enough; each question is asked once."""

    def row(budget: int) -> AdviceRow:
        hours = budget * plan.seconds / 3600
        people = max(1, int(np.ceil(hours * 60 / plan.assumptions.minutes)))
        accuracy = studies.accuracy(budget)
        gain = studies.accuracy(2 * budget) - accuracy
        return AdviceRow(budget, people, hours, hours * plan.assumptions.pay, accuracy, gain)

    rows = list[AdviceRow]()
    for doublings in track(range(7), "simulating studies"):
        rows.append(row(2**doublings * max(1, round(5 * plan.n_objects / plan.scheme.triplets_per_question))))
        if rows[-1].is_enough:
            break
    recommended = rows[-1].answers if rows[-1].is_enough else None
    shown = tuple(sorted({*rows, *([] if plan.budget is None else [row(plan.budget)])}))
    return replace(plan, rows=shown, ceiling=studies.ceiling, recommended=recommended)


def _with_people(plan: Advice, lists: Lists, studies: _Studies) -> Advice:
    """Rows of half as many people, as many, and twice as many."""
    rows = list[AdviceRow]()
    for people in track(
        sorted({max(2, lists.people // 2), lists.people, 2 * lists.people}), "simulating studies"
    ):
        answers, hours = people * lists.n_new, people * lists.per_person * plan.seconds / 3600
        width = studies.half_width(answers) if people >= MIN_PEOPLE else float("nan")
        row = AdviceRow(answers, people, hours, hours * plan.assumptions.pay, studies.accuracy(answers))
        rows.append(row._replace(half_width=width))
    return replace(plan, rows=tuple(rows), ceiling=studies.ceiling, lists=lists)


def _lists(plan: Advice, people: int, each: int, again: float, checks: int) -> Lists:
    """What so many people can answer in the assumed minutes."""
    for value, name, least in ((people, "people", 1), (each, "each", 1), (checks, "checks", 0)):
        check_count(value, name, least=least)
    if not 0 <= again <= 1:
        raise InputError(f"again must be a share from 0 to 1, got {again}")
    minutes = plan.assumptions.minutes
    per_person, total = int(minutes * 60 / plan.seconds), plan.scheme.total(plan.n_objects)
    n_new = new_places(per_person, again, checks)
    if n_new > total:
        room = f"{n_new:,} new questions for everybody, but there are {total:,} in all; give fewer"
        raise InputError(f"minutes: {minutes:g} have room for {room}")
    questions = max(n_new, min(people * n_new // min(each, people), total))
    return Lists(people, per_person, n_new, checks, questions, people * n_new / questions)


class _Studies:
    """Simulated studies of a plan, of any number of answers; ``places`` : of each person, ``each`` : of each question."""

    def __init__(self, plan: Advice, places: int, each: int, seed: int) -> None:
        self.n, self.scheme, self.each, self.seed = plan.n_simulated, plan.scheme, each, seed
        self.share = self.n / plan.n_objects
        self.places = max(1, round(places * self.share))
        alike = plan.pilot is not None
        self.studies = [
            SimulatedStudy(self.n, plan.assumptions, [seed, 1, at], alike=alike) for at in range(N_STUDIES)
        ]
        self.ceiling = float(np.mean([study.ceiling for study in self.studies]))
        self.draw = cache(self._draw)  # all ask the same: to draw evenly takes longer than all the rest
        self.accuracy = cache(self._accuracy)

    def _draw(self, number: int, count: int) -> Questions:
        """Questions of the batch of a number; nobody gets one twice."""
        rng = np.random.default_rng([self.seed, number])
        different = min(max(self.places, count // self.each), self.scheme.total(self.n), count)
        with warnings.catch_warnings(action="ignore", category=NearfarWarning):
            drawn = self.scheme.questions(self.n, different, rng)
        return drawn[np.resize(rng.permutation(different), count)]

    def _answers(self, study: SimulatedStudy, answers: int) -> Triplets:
        return study.first(max(1, round(answers * self.share)), self.places, self.draw)

    def _accuracy(self, answers: int) -> float:
        return float(np.mean([study.accuracy(self._answers(study, answers)) for study in self.studies]))

    def half_width(self, answers: int) -> float:
        """Half the width of the 95 % interval of the accuracy."""
        found = []
        with warnings.catch_warnings(action="ignore", category=NearfarWarning):
            for study in self.studies[:: N_STUDIES // N_INTERVALS]:
                said = self._answers(study, answers)
                judged = cross_validate(said, [parse_model(QUICK)], list(kfold(said, 5)))
                interval = make_draws(said).estimate(judged.values[0])
                found.append((interval.high - interval.low) / 2)
        return float(np.mean(found))


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
    given = Assumptions(model.n_components or 1, agreement)
    asked, who = Questions(pilot.array, pilot.objects), np.zeros(len(pilot), dtype=np.int64)
    studies = [SimulatedStudy(pilot.n_objects, given, [seed, at], alike=True) for at in range(3)]
    said = [study.say(asked, who) for study in studies]
    return float(np.mean([cross_validate(each, [model], splits).accuracies[0] for each in said]))
