"""Advice: what it rests on is what it simulates, and the numbers it gives are those of such studies."""

from itertools import pairwise

import numpy as np
import pytest

from nearfar import design, simulate
from nearfar.design import Scheme
from nearfar.errors import InputError
from nearfar.evaluate.advice import advise, learn_from_pilot
from nearfar.evaluate.simulated import Assumptions, SimulatedStudy, noise_of_agreement, p_one


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
    def draw(number, count):
        return Scheme().questions(20, min(count, 3420), number)

    study = SimulatedStudy(20, Assumptions(2, 0.75), [0, 1])
    few, many = (study.accuracy(study.first(budget, 100, draw)) for budget in (20, 8000))
    assert few < many <= study.ceiling and many > study.ceiling - 0.02
    assert len(study.first(8000, 100, draw).participant.known) == 80


def test_people_differ_and_of_every_ten_one_is_careless():
    study = SimulatedStudy(8, Assumptions(), [0])
    noises, flips = study.people(50)
    assert ((flips == 0.5).reshape(5, 10).sum(axis=1) == 1).all() and noises.max() > 3 * noises.min()
    assert np.exp(np.log(noises).mean()) == pytest.approx(study.noise)
    assert all((few == many[:13]).all() for few, many in zip(study.people(13), (noises, flips), strict=True))
    alike = SimulatedStudy(8, Assumptions(), [0], alike=True).people(9)
    assert [set(each) for each in alike] == [{study.noise}, {0.0}]


def test_advice_holds_one_row_for_each_doubling_and_the_first_that_is_enough():
    advice = advise(15, assumptions=Assumptions(dimension=1, agreement=0.85), budget=100)
    ladder = [row for row in advice.rows if row.answers != 100]
    assert [row.answers for row in ladder] == [75 * 2**k for k in range(len(ladder))]
    assert [row.is_enough for row in ladder] == [False] * (len(ladder) - 1) + [True]
    assert advice.recommended == ladder[-1].answers and len(advice.rows) == len(ladder) + 1
    for row, twice in pairwise(ladder):
        assert row.gain == pytest.approx(twice.accuracy - row.accuracy)
    assert advice.to_frame()["answers"].to_list() == [row.answers for row in advice.rows]


@pytest.fixture(scope="module")
def told():
    return advise(20, people=12, each=3, assumptions=Assumptions(minutes=4, pay=15))


def test_the_counts_follow_from_minutes_and_people(told):
    lists = told.lists
    assert lists.per_person == 4 * 60 / 3 and lists.checks == 3
    assert lists.n_new + lists.n_again + lists.checks == lists.per_person
    assert lists.questions == 12 * lists.n_new // 3 and lists.each == pytest.approx(3)
    (yours,) = [row for row in told.rows if row.people == 12]
    assert yours.answers == 12 * lists.n_new and yours.cost == pytest.approx(12 * 4 / 60 * 15)
    assert f"give {yours.answers:,} answers" in str(told)


def test_more_participants_give_a_narrower_interval_and_stay_below_the_ceiling(told):
    widths, accuracies = [row.half_width for row in told.rows], [row.accuracy for row in told.rows]
    assert widths == sorted(widths, reverse=True) and accuracies == sorted(accuracies)
    assert 0.5 < accuracies[-1] <= told.ceiling < 1


def test_a_small_pool_is_asked_more_often():
    lists = advise(5, Scheme("odd"), people=8, checks=0, again=0, assumptions=Assumptions(minutes=0.5)).lists
    assert (lists.n_new, lists.questions, lists.each) == (7, 10, 5.6)


def test_which_landmarks_makes_no_difference_and_any_agreement_can_be_assumed():
    names = [f"o{i}" for i in range(300)]
    lists = {"people": 3, "again": 0, "checks": 0, "assumptions": Assumptions(1, 0.99999, minutes=2)}
    by_name = advise(names, Scheme(draw="k1", landmarks=["o299", "o298", "o5"]), **lists)
    by_index = advise(np.int64(300), Scheme(draw="k1", landmarks=[299, 298, 5]), **lists)
    assert str(by_name) == str(by_index)


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
        (lambda: advise(3, people=4), "expected at least 4"),
        (lambda: advise(9, people=4, each=0), "each must be an integer >= 1, got 0"),
        (lambda: advise(9, people=4, again=-1), "again must be a share from 0 to 1, got -1"),
        (lambda: advise(9, people=4, checks=-5), "checks must be an integer >= 0, got -5"),
        (lambda: advise(5, Scheme("odd"), people=8), "minutes: 15 have room for"),
        (lambda: Assumptions(dimension=0), "dimension must be an integer >= 1, got 0"),
        (lambda: Assumptions(agreement=1.0), "agreement must be between 0.5 and 1, got 1.0"),
        (lambda: Assumptions(seconds=0), "seconds must be a number > 0, got 0"),
        (lambda: Assumptions(pay=-1), "pay must be a number >= 0, got -1"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(InputError, match=message):
        call()
