"""What adaptive questions would save in a study that nobody has answered yet: simulated with random and with adaptive questions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfar import words
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar.design import Scheme, next_questions
from nearfar.design.questions import SECONDS
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.advice import Assumptions, expected_accuracy, new_questions, p_one
from nearfar.evaluate.bootstrap import Estimate
from nearfar.evaluate.forecast import N_STUDIES, _abilities
from nearfar.simulate import answers as simulated_answers
from nearfar.space.models import parse_model
from nearfar.triplets import Triplets

SHARE = 0.2  # of random questions
MOST_OBJECTS = 60  # simulated; more take minutes


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
    simulated = min(n, MOST_OBJECTS)
    per = max(1, round(per_person * simulated / n))
    found = np.zeros((N_STUDIES, 4))
    with step("simulating adaptive studies", total=found.size) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        for study in range(N_STUDIES):
            rng = np.random.default_rng([seed_number(seed), study, 32])
            points, new = rng.normal(size=(simulated, given.dimension)), new_questions(simulated, rng)
            others = zip(*_abilities(20, given, rng), strict=True)
            p = np.mean([flip + (1 - 2 * flip) * p_one(points, new, noise) for noise, flip in others], axis=0)
            model = parse_model(f"ste-{min(given.dimension, simulated - 2)}")
            for at, (count, share) in enumerate(((1, SHARE), (1, 1), (0.5, 1), (2, 1))):
                answers = _answers(points, scheme, given, (max(1, round(count * people)), per, share), rng)
                found[study, at] = expected_accuracy(model.fit(answers).rows, new, p)
                advance(1)
    adaptive, plain, half, double = found.T
    doubling = max(float(np.mean(double - half)) / 2, 1e-3)
    logs = np.clip((adaptive - plain) / doubling, -2, 2)
    times = Estimate(*(2.0 ** np.array([logs.mean(), logs.min(), logs.max()])).tolist())
    return ExpectedSaving(times, float(adaptive.mean()), float(plain.mean()), people * per_person)


def _answers(
    points: Any, scheme: Scheme, given: Assumptions, size: tuple[int, int, float], rng: np.random.Generator
) -> Triplets:
    """What participants answer, one after the other; size: people, questions of each, and the share of random ones."""
    people, per, share = size
    n, n_random = len(points), round(per * share)
    said: list[Triplets] = []
    used: list[Triplets] = []
    noises, flips = _abilities(people, given, rng)
    for person in rng.permutation(people).tolist():
        how: Any = {
            "points": points,
            "noise": noises[person],
            "flip": flips[person],
            "ties": "random",
            "seed": rng,
        }
        plain = scheme.questions(n, max(1, min(n_random, scheme.total(n))), rng)
        said.append(simulated_answers(plain, **how).triplets)
        for start in range(0, per - n_random, n):
            before: Any = Triplets.concatenate(used) if used else []
            kind: Any = {"kind": scheme.kind, "size": scheme.size, "pick": scheme.pick}
            chosen = next_questions(before, n, min(n, per - n_random - start), **kind, seed=rng).questions
            used.append(simulated_answers(chosen, **how).triplets)
    return Triplets.concatenate([*said, *used])
