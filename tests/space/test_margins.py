"""What rows say about a question, against the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_evaluate import margin
from scipy import sparse
from space_tools import PLANE, answers_about

from nearfar.evaluate.metrics import answer_credits
from nearfar.features import FeatureMap
from nearfar.space import Space, fit, margins
from nearfar.triplets import Triplets


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.booleans())
def test_margins_equal_the_oracle(seed, informed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 3)) * (rng.random((6, 3)) < 0.6)
    if informed:
        points[~points.any(axis=1)] = 1.0
    asked = np.array([rng.permutation(6)[:3] for _ in range(12)], dtype=np.int32).T
    wanted = np.array([margin(points, *question) for question in asked.T])
    assert np.allclose(margins.point_margins(points, *asked), wanted, atol=1e-9)
    zero = ~points.any(axis=1)
    wanted[zero[asked].any(axis=0)] = 0
    for phi in (points, sparse.csr_array(points)):
        assert np.allclose(margins.phi_margins(phi, *asked), wanted, atol=1e-9)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_all_pairs_at_once_and_pair_by_pair_agree(layout):
    answers = answers_about(PLANE, 3000, 0)
    phi = FeatureMap("score", layout=layout).fit_transform(answers)
    asked = (answers.anchor, answers.near, answers.far)
    at_once = margins.phi_margins(phi, *asked)
    parts = [
        [column[a : a + 10] for column in asked] for a in range(0, 3000, 10)
    ]  # 10 of 25 x 25 pairs at a time
    one_by_one = np.concatenate([margins.phi_margins(phi, *part) for part in parts])
    assert np.allclose(at_once, one_by_one, atol=1e-12)
    assert ((at_once == 0) == (one_by_one == 0)).all()


def test_equal_distances_are_a_tie_whatever_the_rounding():
    corner = np.array([[0.1, 0.2, 0.3], [0.1 + 0.7, 0.2, 0.3], [0.1, 0.2 + 0.7, 0.3]])
    assert margins.point_margins(corner, np.array([0]), np.array([1]), np.array([2])).tolist() == [0.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_there_is_one_rule_for_ties(dtype):
    """Space, points and K judge the same answers alike, in both precisions."""
    answers = answers_about(PLANE, 4000, 3)
    phi = FeatureMap("k1", dtype=dtype).fit_transform(answers)
    rows = phi if isinstance(phi, np.ndarray) else phi.toarray()
    by_space = Space(phi, kind="kernel").credits(answers)
    assert np.array_equal(by_space, answer_credits(answers, K=rows @ rows.T))
    assert np.array_equal(by_space, answer_credits(answers, points=rows))
    assert 0 < (by_space == 0.5).mean() < 0.2


@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_margins_by_law_have_the_signs_of_margins_by_difference(mu):
    rng = np.random.default_rng(5)
    points = rng.integers(0, 4, size=(12, 2)).astype(float)  # many ties, and objects at one place
    asked = rng.integers(12, size=(3, 500))
    squares = [((points[asked[0]] - points[x]) ** 2).sum(axis=1) for x in asked[1:]]
    for law in ("root", "ratio"):
        by_law = margins.lawful_margins(points, law, mu, *asked)
        assert np.array_equal(np.sign(by_law), np.sign(squares[1] - squares[0]))
        apart = (squares[0] + mu > 0) & (squares[1] + mu > 0)
        near, far = (np.sqrt(x[apart]) if law == "root" else np.log(x[apart] + mu) for x in squares)
        assert np.allclose(by_law[apart], far - near)


def test_soe_and_ckl_have_laws_of_their_own():
    answers = Triplets.from_array([[0, 1, 2], [0, 2, 3], [1, 2, 3], [3, 2, 0], [2, 1, 0]])
    asked = np.array([[0, 1, 3]]).T
    for name, of in (("ckl-2", lambda square: np.log(1 + square)), ("soe-2", np.sqrt), ("ste-2", np.square)):
        space = fit(answers, name)
        one, three = (((space.rows[0] - space.rows[x]) ** 2).sum() for x in (1, 3))
        (margin,) = space.margins(*asked, by_law=True)
        assert margin == pytest.approx(of(three) - of(one) if name != "ste-2" else three - one)
        assert space.margins(*asked)[0] == pytest.approx(three - one)
