"""Points for people who sometimes answer at random: the share of lapses, and the dimensions that answers ask for."""

import numpy as np
import oracles_embedding as oracle
import pytest
from benchmarks.honesty.worlds import asked, make_world

from nearfar.embedding.estimators import fit_lapses
from nearfar.evaluate.bootstrap import make_draws
from nearfar.evaluate.clusters import likeliest_dimension
from nearfar.evaluate.splits import kfold
from nearfar.triplets import Triplets


def answers_of(noise, d=2, m=4000, seed=0):
    rng = np.random.default_rng(seed)
    return asked(make_world(rng, points=rng.normal(size=(30, d)), noise=noise), rng, m=m)


@pytest.mark.parametrize(("noise", "low", "high"), [("flips", 0.2, 0.35), ("none", 0.0, 0.02)])
def test_the_share_of_lapses_is_learnt(noise, low, high):
    """Flips of 15 % are guesses in 30 %."""
    assert low <= fit_lapses(answers_of(noise), 2).lapses <= high


def test_probabilities_are_those_of_the_loss():
    answers = answers_of("flips", m=500)
    fitted = fit_lapses(answers, 3)
    wanted = []
    for a, i, j in zip(answers.anchor, answers.near, answers.far, strict=True):
        near, far = (float(np.sum((fitted.points[a] - fitted.points[x]) ** 2)) for x in (i, j))
        wanted.append(-oracle.lapse(near, far, fitted.lapses))
    assert fitted.log_probability(answers) == pytest.approx(wanted)


def test_an_object_without_answers_is_not_informed():
    rows = np.array([np.random.default_rng(s).permutation(5)[:3] for s in range(60)])
    fitted = fit_lapses(Triplets.from_array(rows, n_objects=7), 2)
    assert fitted.informed.tolist() == [True] * 5 + [False] * 2


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_dimensions_of_the_world_are_found(d):
    answers = answers_of("flips", d=d, m=6000)
    assert likeliest_dimension(answers, next(iter(kfold(answers, 3))), make_draws(answers)) == d


def test_guesses_have_no_dimension():
    answers = answers_of("guessing")
    assert likeliest_dimension(answers, next(iter(kfold(answers, 3))), make_draws(answers)) == 0
