"""Kernel PCA: equal to scikit-learn's on the precomputed shifted K, by every way."""

from itertools import product

import numpy as np
import pytest
from oracles_methods import dense, informed, make_phi, shifted_kernel
from scipy import sparse
from sklearn.decomposition import KernelPCA as Theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

import nearfar as nf
from nearfar.errors import InputError, NotConverged
from nearfar.kernel.factored import factor
from nearfar.methods import _rows, principal_axes
from nearfar.methods.principal_axes import choose_strategy, leading, leading_axes, trace


@parametrize_with_checks([nf.KernelPCA(), nf.KernelPCA(diagonal="keep")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def up_to_sign(ours, theirs):
    signs = np.where((ours * theirs).sum(axis=0) < 0, -1.0, 1.0)
    return ours * signs


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("strategy", ["matrix", "columns", "products"])
def test_equals_scikit_learn_on_the_shifted_kernel(layout, strategy, monkeypatch):
    phi = make_phi(30, 60, density=0.4, zeros=[4], seed=0, layout=layout)
    if strategy != "columns" or layout == "dense":  # sparse rows have columns of a single object
        monkeypatch.setattr(principal_axes, "choose_strategy", lambda factored: strategy)
    K, s = shifted_kernel(phi)
    assert s > 0.02
    theirs = Theirs(3, kernel="precomputed").fit(K)
    ours = nf.KernelPCA(3).fit(phi)
    keep = informed(phi)
    expected = theirs.transform(K)
    np.testing.assert_allclose(up_to_sign(ours.embedding_[keep], expected), expected, atol=1e-9)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, atol=1e-9)
    fresh = make_phi(12, 60, density=0.7, seed=1, layout=layout)
    expected = theirs.transform(dense(fresh) @ dense(phi)[keep].T)
    np.testing.assert_allclose(up_to_sign(ours.transform(fresh), expected), expected, atol=1e-9)


def test_fitted_and_new_rows_differ_by_the_shift():
    """The fitted object's likeness to itself is shifted, a new one's is not: the two must not be confused."""
    phi = make_phi(30, 60, density=0.4, seed=0)
    shifted = nf.KernelPCA(2).fit(phi)
    assert np.abs(shifted.transform(phi) - shifted.embedding_).max() > 0.01
    kept = nf.KernelPCA(2, diagonal="keep").fit(phi)
    np.testing.assert_allclose(kept.transform(phi), kept.embedding_, atol=1e-10)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_thin_wide_and_small_ways_agree(layout, dtype, monkeypatch):
    phi = make_phi(80, 20, density=0.8, zeros=[7], seed=2, layout=layout, dtype=dtype)
    assert choose_strategy(factor(phi)) == "columns"
    tolerance = 1e-9 if dtype == np.float64 else 2e-5
    maps = []
    for strategy, iterated in product(("matrix", "columns", "products"), (False, True)):
        monkeypatch.setattr(principal_axes, "choose_strategy", lambda factored, one=strategy: one)
        monkeypatch.setattr(principal_axes, "_is_iterated", lambda n, count, one=iterated: one)
        maps.append(nf.KernelPCA(3).fit(phi))
    for other in maps[1:]:
        np.testing.assert_allclose(other.eigenvalues_, maps[0].eigenvalues_, rtol=tolerance)
        np.testing.assert_allclose(other.embedding_, maps[0].embedding_, atol=10 * tolerance)
        np.testing.assert_allclose(other.transform(phi), maps[0].transform(phi), atol=10 * tolerance)
    expected = Theirs(3, kernel="linear").fit_transform(dense(phi)[informed(phi)])
    ours = nf.KernelPCA(3).fit_transform(phi)[informed(phi)]
    assert ours.dtype == dtype
    np.testing.assert_allclose(up_to_sign(ours, expected), expected, atol=10 * tolerance)


def test_eigenvalues_too_close_to_tell_apart_are_said(monkeypatch):
    monkeypatch.setattr(principal_axes, "RESTARTS", 1)
    phi = make_phi(300, 400, density=0.05, seed=3, layout="sparse")
    H = np.eye(300) - 1 / 300
    exact = np.linalg.eigvalsh(H @ dense(phi) @ dense(phi).T @ H)[-2:][::-1]
    with pytest.warns(NotConverged, match="the 2 largest eigenvalues are too close .* after 1 restarts"):
        values, _ = leading(factor(phi), 2, "products")
    np.testing.assert_allclose(values, exact, rtol=1e-2)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_many_rows_are_summed_a_few_at_a_time(layout, monkeypatch):
    factored = factor(make_phi(100, 12, seed=4, layout=layout))
    whole = leading_axes(factored, 2)
    monkeypatch.setattr(_rows, "SLICE_ROWS", 7)
    slices = leading_axes(factored, 2)
    for one, other in zip(whole, slices, strict=True):
        np.testing.assert_allclose(np.abs(one), np.abs(other), atol=1e-12)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("shape", [(50, 9), (20, 40)])
def test_explained_shares(shape, layout):
    phi = make_phi(*shape, density=0.6, seed=5, layout=layout)
    model = nf.KernelPCA(shape[0] - 1).fit(phi)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0)
    K, _ = shifted_kernel(phi)
    n = len(K)
    H = np.eye(n) - 1 / n
    values = np.sort(np.linalg.eigvalsh(H @ K @ H))[::-1][: n - 1]
    np.testing.assert_allclose(model.explained_variance_ratio_, values / values.sum(), atol=1e-9)
    assert trace(factor(phi)) == pytest.approx((values + model.shift_).sum())


def test_signs_are_fixed():
    phi = make_phi(40, 10, seed=6)
    points = nf.KernelPCA(3).fit_transform(phi)
    largest = points[np.abs(points).argmax(axis=0), range(3)]
    assert (largest > 0).all()
    np.testing.assert_allclose(nf.KernelPCA(3).fit_transform(-phi), points, atol=1e-9)
    order = np.random.default_rng(0).permutation(40)
    np.testing.assert_allclose(nf.KernelPCA(3).fit_transform(phi[order]), points[order], atol=1e-9)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_zero_rows_are_placed_as_new_rows_and_listed(layout):
    phi = make_phi(30, 60, density=0.4, zeros=[0, 11], seed=7, layout=layout)
    model = nf.KernelPCA(2).fit(phi)
    assert model.uninformed_.tolist() == [0, 11]
    nothing = np.zeros((1, 60)) if layout == "dense" else sparse.csr_array((1, 60))
    np.testing.assert_allclose(model.embedding_[[0, 11]], np.repeat(model.transform(nothing), 2, axis=0))
    without = nf.KernelPCA(2).fit_transform(dense(phi)[informed(phi)])
    np.testing.assert_allclose(model.embedding_[informed(phi)], without, atol=1e-9)


def test_new_rows_may_use_columns_of_one_object_and_new_ones():
    phi = sparse.csr_array([[1.0, 0, 0, 0], [0.6, 0.8, 0, 0], [0, 0.6, 0.8, 0]])
    model = nf.KernelPCA(2, diagonal="keep").fit(phi)
    fresh = sparse.csr_array([[0, 0, 1.0, 0], [0, 0, 0, 1.0]])
    full = nf.KernelPCA(2, diagonal="keep").fit(phi.toarray())
    np.testing.assert_allclose(model.transform(fresh), full.transform(fresh.toarray()), atol=1e-12)


def test_components_that_do_not_exist_are_zero():
    phi = make_phi(12, 1, seed=8)
    points = nf.KernelPCA(3).fit_transform(phi)
    assert points.shape == (12, 3)
    assert points[:, 0].any() and not points[:, 1:].any()
    assert np.isfinite(nf.KernelPCA(3).fit(phi).transform(phi)).all()


def test_kernel_that_is_all_shift_maps_to_the_origin():
    phi = sparse.csr_array(np.eye(5))
    model = nf.KernelPCA(2).fit(phi)
    assert model.shift_ == pytest.approx(1.0)
    assert not model.embedding_.any()
    assert not model.explained_variance_ratio_.any()


def test_billions_of_columns():
    far = np.int64(5_000_000_000)
    entries = (np.array([1.0, 1.0, 1.0, 2.0]), (np.array([0, 1, 1, 2]), np.array([3, 3, far - 1, far - 1])))
    phi = sparse.csr_array(entries, shape=(3, far))
    model = nf.KernelPCA(2).fit(phi)
    small = nf.KernelPCA(2).fit(np.array([[1.0, 0], [1, 1], [0, 2]]))
    np.testing.assert_allclose(
        model.transform(phi), small.transform(np.array([[1.0, 0], [1, 1], [0, 2]])), atol=1e-9
    )


def test_names_of_coordinates():
    model = nf.KernelPCA(2).fit(make_phi(10, 4))
    assert model.get_feature_names_out().tolist() == ["kernelpca0", "kernelpca1"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"n_components": True}, "n_components must be an integer >= 1, got True"),
        ({"diagonal": None}, "diagonal=None is not known; expected 'shift' or 'keep'"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(InputError, match=message):
        nf.KernelPCA(**parameters).fit(make_phi(10, 4))


def test_rows_that_cannot_be_mapped_are_refused():
    with pytest.raises(InputError, match="none of its 3 rows is informed"):
        nf.KernelPCA().fit(np.zeros((3, 2)))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_empty_columns_and_rows_change_nothing(layout):
    rng = np.random.default_rng(0)
    rows, new = rng.standard_normal((60, 8)), rng.standard_normal((5, 8))
    rows[:, 3], rows[5] = 0, 0
    model = nf.KernelPCA(3).fit(rows if layout == "dense" else sparse.csr_array(rows))
    theirs = Theirs(3, kernel="linear").fit(np.delete(rows, 5, axis=0))
    given = new if layout == "dense" else sparse.csr_array(new)
    np.testing.assert_allclose(np.abs(model.transform(given)), np.abs(theirs.transform(new)), atol=1e-10)
    np.testing.assert_allclose(model.transform(rows), model.embedding_, atol=1e-10)
