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
    """What adaptive questions would save.

    Parameters
    ----------
    times : how many times more random answers predict as well; the limits are the smallest and the largest of the studies.
    adaptive, random : accuracy with adaptive and with as many random questions.
    n_answers, n_studies, n_objects : how many answers, of all objects; simulated studies and objects.
    """

    times: Estimate
    adaptive: float
    random: float
    n_answers: int
    n_studies: int
    n_objects: int

    def __str__(self) -> str:
        return words.expected_saving(self)


def expected_saving(
    n: int, people: int, scheme: Scheme, given: Assumptions, *, per_person: int | None = None, seed: Seed = 0
) -> ExpectedSaving:
    """Simulate studies of ``people`` with ``per_person`` questions each about n objects, with adaptive and with random questions.

    per_person : None: what there is time for in the assumed minutes.

    >>> told = expected_saving(8, 4, Scheme(), Assumptions(), per_person=10)
    >>> told.n_answers, told.times.low <= told.times.value <= told.times.high
    (40, True)
    """
    if scheme.draw != "random":
        raise InputError("landmarks: adaptive questions are about all objects; leave out the landmarks")
    check_count(people, "people")
    if n < 4:
        raise InputError(f"objects: expected at least 4 to advise on, got {n}")
    scheme.check(n)
    if per_person is None:
        per_person = int(given.minutes * 60 / (given.seconds or SECONDS[scheme.kind]))
    simulated = min(n, MOST_OBJECTS)
    per = max(1, round(per_person * simulated / n))
    found = []
    with step("simulating adaptive studies", total=4 * N_STUDIES) as advance:
        for study in range(N_STUDIES):
            rng = np.random.default_rng([seed_number(seed), study, 32])
            world = _World(simulated, scheme, given, rng)
            sizes = [(people, True), (people, False), (max(1, people // 2), False), (2 * people, False)]
            accuracies = []
            for count, is_adaptive in sizes:
                accuracies.append(world.accuracy(count, per, is_adaptive))
                advance(1)
            found.append(accuracies)
    adaptive, plain, half, double = np.array(found).T
    per_doubling = max(float(np.mean(double - half)) / 2, 1e-3)
    times = 2.0 ** np.clip((adaptive - plain) / per_doubling, -2, 2)
    value = float(np.exp(np.log(times).mean()))
    estimate = Estimate(value, float(times.min()), float(times.max()))
    means = float(adaptive.mean()), float(plain.mean())
    return ExpectedSaving(estimate, *means, people * per_person, N_STUDIES, simulated)


class _World:
    """Objects and participants of one simulated study."""

    def __init__(self, n: int, scheme: Scheme, given: Assumptions, rng: np.random.Generator) -> None:
        self.n, self.scheme, self.given, self.rng = n, scheme, given, rng
        self.points = rng.normal(size=(n, given.dimension))
        self.new = new_questions(n, rng)
        others = zip(*_abilities(20, given, rng), strict=True)
        chances = [flip + (1 - 2 * flip) * p_one(self.points, self.new, noise) for noise, flip in others]
        self.p = np.mean(chances, axis=0)
        self.model = parse_model(f"soe-{min(given.dimension, n - 2)}")

    def accuracy(self, people: int, per: int, is_adaptive: bool) -> float:
        """Accuracy of predicting others; every participant answers in turn."""
        rng = self.rng
        said: list[Triplets] = []
        used: list[Triplets] = []
        noises, flips = _abilities(people, self.given, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NearfarWarning)
            for person in rng.permutation(people).tolist():
                how: Any = {
                    "points": self.points,
                    "noise": noises[person],
                    "flip": flips[person],
                    "ties": "random",
                }
                plain = round(per * SHARE) if is_adaptive else per
                if plain:
                    count = min(plain, self.scheme.total(self.n))
                    said.append(
                        simulated_answers(self.scheme.questions(self.n, count, rng), **how, seed=rng).triplets
                    )
                for start in range(0, per - plain, self.n):
                    before: Any = Triplets.concatenate(used) if used else []
                    wanted = min(self.n, per - plain - start)
                    kind: Any = {"kind": self.scheme.kind, "size": self.scheme.size, "pick": self.scheme.pick}
                    chosen = next_questions(before, self.n, wanted, **kind, seed=rng).questions
                    used.append(simulated_answers(chosen, **how, seed=rng).triplets)
            space = self.model.fit(Triplets.concatenate([*said, *used]))
        return float(expected_accuracy(space.rows, self.new, self.p))
