"""New objects are placed among fitted ones, which stay where they are."""

import numpy as np
import oracles_embedding as oracle
import pytest
from embedding_tools import answers_about, every

from nearfar import simulate
from nearfar.design import landmark_questions
from nearfar.embedding import STE
from nearfar.errors import UninformedWarning
from nearfar.triplets import Triplets


@every
def test_new_objects_are_placed_and_fitted_ones_stay(method, truth):
    names = [f"o{i}" for i in range(25)]
    everything = answers_about(truth, 3000, objects=names)
    old = ~(np.stack([everything.anchor, everything.near, everything.far]) >= 22).any(axis=0)
    first = Triplets(everything.anchor[old], everything.near[old], everything.far[old], names[:22])
    model = method(2).fit(first)
    placed = model.transform(everything)
    np.testing.assert_array_equal(placed[:22], model.embedding_)
    about_new = answers_about(truth, 800, seed=9).array
    about_new = about_new[(about_new >= 22).any(axis=1)]
    assert oracle.accuracy(placed, about_new) > 0.9


@every
def test_new_objects_of_a_landmark_design_lie_as_wide_as_fitted_ones(method):
    n, n_landmarks, n_new = 600, 20, 100
    points = np.random.default_rng(8).normal(size=(n, 2))
    questions = landmark_questions(n, range(n_landmarks), "k1", budget=30 * n, seed=8)
    rows = simulate.answers(questions, points=points, flip=0.1, seed=8).triplets.array
    model = method(2).fit(Triplets.from_array(rows[rows[:, 0] < n - n_new], n_objects=n - n_new))
    squares = (model.transform(rows) ** 2).sum(axis=1)
    assert squares[-n_new:].mean() == pytest.approx(squares[n_landmarks:-n_new].mean(), rel=0.2)


def test_new_objects_are_matched_by_name(truth):
    names = [f"o{i}" for i in range(25)]
    model = STE(2).fit(answers_about(truth, 1500, objects=names))
    order = list(reversed(names))
    few = Triplets.from_array([[0, 1, 2]], order)
    np.testing.assert_array_equal(model.transform(few), model.embedding_[::-1])


def test_an_array_means_fitted_objects_by_index(truth):
    answers = answers_about(truth, 1500, objects=[f"o{i}" for i in range(25)])
    model = STE(2).fit(answers)
    np.testing.assert_array_equal(model.transform(answers.array), model.embedding_)
    about_new = np.array([[25, 3, 4], [25, 3, 5], [25, 3, 6]])
    placed = model.transform(about_new)
    assert placed.shape == (26, 2) and np.array_equal(placed[:25], model.embedding_)
    assert np.linalg.norm(placed[25] - placed[3]) < np.linalg.norm(placed[25] - placed[4])


def test_a_new_object_without_usable_answers_goes_to_the_centre(truth):
    with pytest.warns(UninformedWarning, match="have no answer"):
        model = STE(2).fit(answers_about(truth, 800, drawn=range(24)))  # object 24 got no answer
    new = Triplets([25, 26], [0, 24], [1, 2], [*map(str, range(25)), "x", "y", "z"])
    with pytest.warns(UninformedWarning, match=r"2 new objects have no usable answer \(y and z\)"):
        placed = model.transform(new)  # y was compared with 24 only, z with nobody
    np.testing.assert_array_equal(placed[26:], 0.0)
    assert np.abs(placed[25]).max() > 0


def test_placing_is_an_optimum_of_the_new_answers(truth):
    model = STE(2).fit(answers_about(truth, 2000))
    rng = np.random.default_rng(1)
    rows = np.stack([np.full(60, 25), rng.integers(0, 12, 60), rng.integers(12, 25, 60)], axis=1)
    new = Triplets.from_array(rows, n_objects=26)
    best = model.set_params(tol=1e-10).transform(new)

    def objective(points):
        return oracle.total_loss("ste", 0.0, points, rows) + model._strength * np.sum(points[25] ** 2)

    for step in ([0.05, 0.0], [-0.05, 0.0], [0.0, 0.05], [0.0, -0.05]):
        moved = best.copy()
        moved[25] += step
        assert objective(moved) > objective(best)
