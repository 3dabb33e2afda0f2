"""Kernel matrices: the definition, the properties, the paper's numbers."""

from itertools import pairwise

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from strategies import KERNELS, collections, counted_in, landmark_sets

import nearfar as nf
from nearfar.errors import InputError
from nearfar.features import FeatureMap
from nearfar.kernel import gram
from nearfar.triplets import Triplets

pytestmark = pytest.mark.filterwarnings(
    "ignore::nearfar.errors.UninformedWarning", "ignore::nearfar.errors.CoverageWarning"
)


@st.composite
def cases(draw):
    rows, n = draw(collections())
    return rows, n, draw(st.sampled_from(KERNELS)), draw(landmark_sets(n))


@pytest.mark.parametrize("counting", ["grid", "cells"])
@settings(max_examples=80)
@given(case=cases())
def test_kernel_equals_the_definition(counting, case):
    rows, n, kernel, landmarks = case
    expected = oracles.kernel(rows, n, kernel, landmarks)
    answers = Triplets.from_array(rows, n_objects=n)
    with counted_in(counting):
        kept = nf.kernel_matrix(answers, kernel, landmarks=landmarks, diagonal="keep")
        shifted = nf.kernel_matrix(answers, kernel, landmarks=landmarks)
    assert np.allclose(kept, expected, atol=1e-12)
    assert np.allclose(shifted, oracles.shifted(expected), atol=1e-8)


@settings(max_examples=60)
@given(case=cases())
def test_kernel_is_symmetric_psd_with_unit_diagonal_on_informed_objects(case):
    rows, n, kernel, landmarks = case
    answers = Triplets.from_array(rows, n_objects=n)
    K = nf.kernel_matrix(answers, kernel, landmarks=landmarks, diagonal="keep")
    informed = FeatureMap(kernel, landmarks=landmarks).fit(answers).informed_
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diag(K), informed.astype(float))
    shifted = nf.kernel_matrix(answers, kernel, landmarks=landmarks)
    for matrix in (K, shifted):
        assert n == 0 or np.linalg.eigvalsh(matrix)[0] > -1e-9


@settings(max_examples=60)
@given(case=cases(), data=st.data())
def test_relabelling_permutes_the_kernel_and_order_does_not_matter(case, data):
    rows, n, kernel, landmarks = case
    new_index = data.draw(st.permutations(range(n)))
    moved_rows = data.draw(st.permutations([[new_index[o] for o in row] for row in rows]))
    moved_landmarks = None if landmarks is None else [new_index[o] for o in landmarks]
    K = nf.kernel_matrix(Triplets.from_array(rows, n_objects=n), kernel, landmarks=landmarks)
    moved = nf.kernel_matrix(Triplets.from_array(moved_rows, n_objects=n), kernel, landmarks=moved_landmarks)
    assert np.allclose(moved[np.ix_(new_index, new_index)], K, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("density", [0.002, 0.05, 0.9])
def test_gram_of_sparse_equals_dense(density, dtype):
    rng = np.random.default_rng(0)
    phi = sparse.random_array((150, 700), density=density, rng=rng, dtype=dtype, format="csr")
    expected = (phi @ phi.T).toarray()
    for layout in (phi, sparse.csc_array(phi), phi.toarray(), np.asfortranarray(phi.toarray())):
        K = gram(layout)
        assert K.dtype == dtype and np.array_equal(K, K.T)
        assert np.allclose(K, expected, rtol=1e-5, atol=1e-5)


def test_gram_uses_both_threads_and_still_agrees(monkeypatch):
    rng = np.random.default_rng(1)
    phi = sparse.random_array((600, 9000), density=0.03, rng=rng, format="csr")
    monkeypatch.setenv("NEARFAR_NUM_THREADS", "1")
    alone = gram(phi)
    monkeypatch.setenv("NEARFAR_NUM_THREADS", "3")
    assert np.array_equal(gram(phi), alone)


def test_cross_kernel_between_new_and_fitted_rows():
    rows = oracles.all_triplets(np.random.default_rng(2).normal(size=(6, 2)))
    for layout in ("dense", "sparse"):
        phi = FeatureMap("k1", layout=layout).fit_transform(rows)
        expected = oracles.kernel(rows, 6, "k1")
        assert np.allclose(nf.cross_kernel(phi[:2], phi), expected[:2], atol=1e-12)
    with pytest.raises(InputError, match="3 columns against 2; both must come from one fitted FeatureMap"):
        nf.cross_kernel(np.ones((1, 3)), np.ones((1, 2)))


def test_an_unknown_diagonal_is_refused():
    with pytest.raises(InputError, match="diagonal='none' is not known; expected 'shift' or 'keep'"):
        nf.kernel_matrix([[0, 1, 2]], "k1", diagonal="none")


# -------------------------------------------------------------------- the paper's numbers

SEVEN = np.array([(-28, 27), (2, -3), (-7, 14), (-41, -37), (44, 5), (34, -18), (7, -74)], dtype=float)


def test_figure_1_ideal_scores():
    d = np.linalg.norm(SEVEN[:, None] - SEVEN[None], axis=2)
    assert oracles.ideal_tau(d, 0, 1) == pytest.approx(1 / 3)
    assert oracles.ideal_tau(d, 0, 6) == pytest.approx(-5 / 7)
    assert oracles.ideal_tau(d, 1, 6) == pytest.approx(-3 / 7)
    assert oracles.ideal_k2(d, 0, 1) == pytest.approx(15 / 49)
    assert oracles.ideal_k2(d, 0, 6) == pytest.approx(3 / 49)
    assert oracles.ideal_k2(d, 1, 6) == pytest.approx(1 / 49)


def test_k1_from_complete_triplets_has_the_signs_of_the_ideal():
    """Triplets never compare an object with itself, so only the signs carry over."""
    K = nf.kernel_matrix(oracles.all_triplets(SEVEN), "k1", diagonal="keep")
    assert K[0, 1] > 0 > max(K[0, 6], K[1, 6])


def test_counter_example_of_section_2_2():
    """Two far points in front of a dense chain: k1 calls them alike and the chain's ends opposite, the more the longer."""
    ends = []
    for n in (8, 20, 60):
        points = np.concatenate([[-10.0, 0.0], 100 + np.arange(n - 2) * 0.01])[:, None]
        K = nf.kernel_matrix(oracles.all_triplets(points), "k1", diagonal="keep")
        # of C(n-1, 2) pairs, x1 and x2 disagree on none they share; x3 and xn disagree on all pairs inside the chain
        assert K[0, 1] > 1 - 4 / n
        assert K[2, n - 1] < -1 + 12 / n
        ends.append((K[0, 1], K[2, n - 1]))
    assert all(a[0] < b[0] and a[1] > b[1] for a, b in pairwise(ends))
