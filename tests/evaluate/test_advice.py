"""Advice: what it rests on is what it simulates, and the numbers it gives are those of such studies."""

from itertools import pairwise

import numpy as np
import pytest

from nearfar import design, simulate
from nearfar.design import Scheme
from nearfar.errors import InputError
from nearfar.evaluate.advice import (
    Assumptions,
    SimulatedStudy,
    advise,
    learn_from_pilot,
    noise_of_agreement,
    p_one,
)


@pytest.mark.parametrize(("agreement", "dimension"), [(0.6, 1), (0.75, 3), (0.9, 5)])
def test_two_simulated_people_agree_as_often_as_assumed(agreement, dimension):
    points = np.random.default_rng(5).normal(size=(200, dimension))
    questions = design.random_questions(200, 30_000)
    noise = noise_of_agreement(agreement, dimension)
    ann, bob = (simulate.answers(questions, points=points, noise=noise, seed=s).choice for s in (1, 2))
    assert (ann == bob).mean() == pytest.approx(agreement, abs=0.015)


def test_probabilities_are_those_of_the_simulation():
    points = np.random.default_rng(5).normal(size=(8, 2))
    questions = design.random_questions(8, 60)
    p = p_one(points, questions, 0.4)
    said = np.mean(
        [simulate.answers(questions, points=points, noise=0.4, seed=s).choice == 0 for s in range(2000)],
        axis=0,
    )
    assert np.abs(said - p).max() < 4 * 0.5 / np.sqrt(2000)


def test_a_study_of_many_answers_comes_near_its_ceiling():
    study = SimulatedStudy(
        20, lambda number, count: Scheme().questions(20, min(count, 3420), number), 2, 0.3, [0, 1]
    )
    assert study.accuracy(20) < study.accuracy(8000) <= study.ceiling
    assert study.accuracy(8000) > study.ceiling - 0.02


def test_advice_holds_one_row_for_each_doubling_and_the_first_that_is_enough():
    advice = advise(15, assumptions=Assumptions(dimension=1, agreement=0.85), budget=100)
    ladder = [row for row in advice.rows if row.questions != 100]
    assert [row.questions for row in ladder] == [75 * 2**k for k in range(len(ladder))]
    assert [row.is_enough for row in ladder] == [False] * (len(ladder) - 1) + [True]
    assert advice.recommended == ladder[-1].questions and len(advice.rows) == len(ladder) + 1
    for row, twice in pairwise(ladder):
        assert row.gain == pytest.approx(twice.accuracy - row.accuracy)
    assert advice.to_frame()["questions"].to_list() == [row.questions for row in advice.rows]


def test_a_pilot_tells_agreement_and_dimension():
    points = np.random.default_rng(1).normal(size=(25, 1))
    noise = noise_of_agreement(0.85, 1)
    pilot = simulate.answers(design.random_questions(25, 1500), points=points, noise=noise).triplets
    found = learn_from_pilot(pilot)
    assert found.dimension <= 2
    assert found.agreement == pytest.approx(0.85, abs=0.06)
    noisy = simulate.answers(design.random_questions(25, 1500), points=points, flip=0.5).triplets
    assert learn_from_pilot(noisy).agreement < 0.6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: advise(3), "expected at least 4 to advise on, got 3"),
        (lambda: advise(10, budget=0), "budget must be an integer >= 1, got 0"),
        (lambda: advise(5, Scheme("grid")), "8 options and an anchor need 9 objects, got 5"),
        (lambda: advise(5, Scheme(draw="k1")), "10 landmarks cannot be chosen from 5 objects"),
        (lambda: Assumptions(dimension=0), "dimension must be an integer >= 1, got 0"),
        (lambda: Assumptions(agreement=1.0), "agreement must be between 0.5 and 1, got 1.0"),
        (lambda: Assumptions(seconds=0), "seconds must be a number > 0, got 0"),
        (lambda: Assumptions(pay=-1), "pay must be a number >= 0, got -1"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(InputError, match=message):
        call()
