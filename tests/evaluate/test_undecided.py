"""Questions chosen by earlier answers, as adaptive designs do, are recognised: what is held out says little about others."""

import warnings

import numpy as np
import pytest
from benchmarks.honesty.worlds import asked, make_world
from benchmarks.honesty.worlds_fourth import asked_fourth, make_fourth
from benchmarks.honesty.worlds_third import asked_third, make_third

import nearfar as nf
from nearfar.evaluate.curve import learning_curve
from nearfar.evaluate.undecided import chosen_undecided, excess_of_decision
from nearfar.triplets import Triplets


def study(design, *, n=30, m=2000, people=20, seed=0):
    rng = np.random.default_rng(seed)
    world = make_third(rng, n=n, geometry="tree", noise="heavy")
    with warnings.catch_warnings(action="ignore"):  # the first maps of an adaptive design lack objects
        return asked_third(world, rng, design=design, m=m, people=people)


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("design", ["adaptive", "adaptive map"])
def test_adaptive_questions_are_recognised_in_any_order(n, design):
    answers = study(design, n=n)
    assert chosen_undecided(answers)
    assert chosen_undecided(answers[np.random.default_rng(1).permutation(len(answers))])


@pytest.mark.parametrize("design", ["random", "landmarks", "booklets"])
def test_designs_that_do_not_look_at_answers_are_not(design):
    assert not chosen_undecided(study(design))


@pytest.mark.parametrize("design", ["random", "fixed", "landmarks", "odd", "grid", "list"])
@pytest.mark.parametrize("noise", ["none", "logistic"])
def test_nor_are_those_of_the_first_family(design, noise):
    rng = np.random.default_rng(3)
    answers = asked(make_world(rng, n=25, noise=noise), rng, design=design, m=2000)
    assert not chosen_undecided(answers)
    assert not chosen_undecided(Triplets.from_array(answers.array, n_objects=25))


def test_questions_that_were_undecided_when_they_were_chosen_are_recognised_by_their_order():
    """On a map of all answers they are not undecided any more; the times that answers came tell the order of a shuffled file."""
    rng = np.random.default_rng([5, 0])
    world = make_fourth(rng, n=40, geometry="torus", noise="gamma")
    answers = asked_fourth(world, rng, design="uncertain", m=3000, people=30)
    mixed = rng.permutation(len(answers))
    assert chosen_undecided(answers)
    assert not chosen_undecided(answers[mixed])
    assert chosen_undecided(answers.replace(answered_at=np.arange(3000.0))[mixed])


@pytest.mark.parametrize("column", ["near", "far"])
def test_a_file_sorted_by_what_was_answered_is_not_taken_for_chosen_questions(column):
    rng = np.random.default_rng([5, 1])
    answers = asked(make_world(rng, n=25, noise="logistic"), rng, m=2000)
    assert not chosen_undecided(answers[np.argsort(getattr(answers, column), kind="stable")])
    rows = [[a, i, j] for a in range(9) for i in range(9) for j in range(i + 1, 9) if a not in (i, j)]
    assert not chosen_undecided(Triplets.from_array(rows))


def test_a_complete_design_has_nothing_to_choose():
    rows = [[a, i, j] for a in range(8) for i in range(8) for j in range(i + 1, 8) if a not in (i, j)]
    assert not chosen_undecided(Triplets.from_array(rows))
    assert np.isnan(excess_of_decision(Triplets.from_array(rows[:20], n_objects=8)))


def test_no_error_and_no_forecast_where_questions_were_chosen():
    answers = study("adaptive", n=20, m=3000)
    found = nf.compare(answers, ["score"], cv=3)
    assert found.chosen and np.isnan(found.best.standard_error) and found.to_dict()["chosen"]
    assert "how accurate it would be for others is not known" in str(found)
    curve = learning_curve(answers, "score", cv=3)
    assert curve.chosen and curve.now is curve.doubled is curve.gain is None
    assert "questions were chosen for being undecided" in str(curve)
    at_random = nf.compare(study("random", n=20, m=3000), ["score"], cv=3)
    assert not at_random.chosen and np.isfinite(at_random.best.standard_error)
