"""Control questions, asked far more often than the others: who counts them how often."""

import numpy as np
import pytest

import nearfar as nf
from nearfar.errors import RepeatedControlWarning
from nearfar.evaluate.controls import control_rows, without_excess_controls
from nearfar.triplets import Triplets

POINTS = np.random.default_rng(0).normal(size=(30, 2))


def collection(times=146, m=900):
    """Single questions about points of a plane, and one control question that everybody got."""
    rng = np.random.default_rng(1)
    rows = np.concatenate([np.argsort(rng.random((m, 30)), axis=1)[:, :3], np.tile([[0, 1, 2]], (times, 1))])
    d = np.linalg.norm(POINTS[rows[:, :1]] - POINTS[rows[:, 1:]], axis=2)
    turned = d[:, 0] > d[:, 1]
    rows[turned] = rows[turned][:, [0, 2, 1]]
    return Triplets.from_array(rows, n_objects=30)


@pytest.mark.parametrize("m", [0, 1, 8, 9, 10, 11])
def test_few_answers_hold_no_control_question(m):
    assert not control_rows(Triplets.from_array([[0, 1, 2]] * m, n_objects=3)).any()


def test_a_named_model_counts_every_answer_and_says_so():
    answers = collection()
    with pytest.warns(
        RepeatedControlWarning, match=r"asked 14\d times, .* every answer counts in a model that is named"
    ):
        space = nf.fit(answers, "score")
    exact = nf.kernel_matrix(answers, "score", diagonal="keep")
    np.testing.assert_allclose(space.kernel("keep"), exact, rtol=1e-12, atol=1e-14)


def test_an_analysis_weighs_it_like_any_other():
    answers = collection()
    with pytest.warns(RepeatedControlWarning, match="each weighs as much as a question asked 1 times"):
        space = nf.analyse(answers, "score", models=["score"]).space
    plain = nf.fit(without_controls(answers), "score")
    assert np.allclose(space.kernel("keep"), plain.kernel("keep"))


def without_controls(answers):
    """One answer to the control question stays (they all agree)."""
    controls = np.flatnonzero(control_rows(answers))
    return answers[np.setdiff1d(np.arange(len(answers)), controls[1:])]


@pytest.mark.parametrize("model", ["k1", "k1+k2", nf.FeatureMap("k1")])
def test_kernels_that_divide_by_the_count_need_no_warning(model, recwarn):
    answers = collection()
    space = nf.fit(answers, model)
    assert not [w for w in recwarn if issubclass(w.category, RepeatedControlWarning)]
    again = nf.analyse(answers, models={"mine": model}).space
    assert np.array_equal(space.kernel("keep"), again.kernel("keep"))
    assert not [w for w in recwarn if issubclass(w.category, RepeatedControlWarning)]


def test_a_control_question_hides_what_else_is_known_of_its_objects():
    """146 times the same answer: its objects look less like all others; thinned, they look as they are."""
    answers = collection()
    with pytest.warns(RepeatedControlWarning, match="every answer counts in a model that is named"):
        full = nf.fit(answers, "score").outliers().scores[:3]
    with pytest.warns(RepeatedControlWarning, match="each weighs as much as a question asked 1 times"):
        thinned = nf.fit(without_excess_controls(answers), "score").outliers().scores[:3]
    never = nf.fit(collection(times=0), "score").outliers().scores[:3]
    assert (full > thinned + 0.05).all() and np.abs(thinned - never).max() < 0.05
