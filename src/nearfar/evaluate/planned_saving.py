"""What adaptive questions would save in a study that is planned."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfar import words
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar._tools.progress import step
from nearfar._tools.records import Record
from nearfar.design import Questions, Scheme, next_questions
from nearfar.design.questions import SECONDS
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.bootstrap import Estimate
from nearfar.evaluate.simulated import Assumptions, SimulatedStudy
from nearfar.triplets import Triplets

N_STUDIES = 4
MOST_ADAPTIVE = 60  # objects simulated with adaptive questions; more take minutes


@dataclass(frozen=True)
class ExpectedSaving(Record):
    """``times`` : how many times more random answers predict as well, with the smallest and the largest of the simulated studies;
    None where one of them differs by a factor of four, or more random answers did not predict better in each.

    ``adaptive``, ``random`` : accuracy with adaptive and with random questions, after ``n_answers`` of either; ``n_objects`` :
    how many were simulated.
    """

    times: Estimate | None
    adaptive: float
    random: float
    n_answers: int
    n_objects: int
    n_studies: int = N_STUDIES

    def __str__(self) -> str:
        return words.expected_saving(self)


def expected_saving(
    n: int, people: int, scheme: Scheme, given: Assumptions, *, per_person: int | None = None, random: float = 0.2,
    seed: Seed = 0,
) -> ExpectedSaving:  # fmt: skip
    """Simulate studies of n objects with adaptive and with random questions, ``per_person`` of them for each of ``people``.

    per_person : None: what there is time for in the assumed minutes. random : share of random questions among adaptive ones.
    """
    check_count(people, "people")
    if n < 4 or scheme.draw != "random":
        raise InputError("adaptive questions: need at least 4 objects, and no landmarks")
    scheme.check(n)
    if per_person is None:
        per_person = int(given.minutes * 60 / (given.seconds or SECONDS[scheme.kind]))
    check_count(per_person, "per_person")
    simulated = min(n, MOST_ADAPTIVE)
    per = max(1, round(per_person * simulated / n))
    found = np.zeros((N_STUDIES, 4))
    quiet = warnings.catch_warnings(action="ignore", category=NearfarWarning)
    with step("simulating adaptive studies", total=found.size) as advance, quiet:
        for study in range(N_STUDIES):
            made = SimulatedStudy(simulated, given, [seed_number(seed), study, 32])
            for at, (count, share) in enumerate(((1, random), (1, 1), (0.5, 1), (2, 1))):
                answers = _one_by_one(made, scheme, (max(1, round(count * people)), per, share))
                found[study, at] = made.accuracy(answers)
                advance(1)
    adaptive, plain, half, double = found.T
    gains, times = (double - half) / 2, None  # of doubling random answers, the measure
    logs = (adaptive - plain) / max(gains.mean(), 1e-9)
    if gains.min() > 0 and np.abs(logs).max() < 2:  # a quarter of the answers, or four times as many
        times = Estimate(*(2.0 ** np.array([logs.mean(), logs.min(), logs.max()])).tolist())
    return ExpectedSaving(times, float(adaptive.mean()), float(plain.mean()), people * per_person, simulated)


def _one_by_one(study: SimulatedStudy, scheme: Scheme, size: tuple[int, int, float]) -> Triplets:
    """What participants answer, one after the other; size: people, questions of each, and the share of random ones."""
    people, per, share = size
    n, n_random = len(study.points), round(per * share)
    said, used = list[Triplets](), list[Triplets]()

    def say(asked: Questions, person: int) -> Triplets:
        return study.say(asked, np.full(len(asked), person))

    for person in study.rng.permutation(people).tolist():
        said.append(say(scheme.questions(n, max(1, min(n_random, scheme.total(n))), study.rng), person))
        for start in range(0, per - n_random, n):
            before: Any = Triplets.concatenate(used) if used else []
            kind: Any = {"kind": scheme.kind, "size": scheme.size, "pick": scheme.pick}
            count = min(n, per - n_random - start)
            used.append(say(next_questions(before, n, count, **kind, seed=study.rng).questions, person))
    return Triplets.concatenate([*said, *used])
