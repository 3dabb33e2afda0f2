"""The diagonal shift: rank rule, direct and iterative solves, and the matrix without it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_methods import dense, informed, make_phi, shifted_kernel
from scipy import sparse

import nearfar as nf
from nearfar._tools.limits import LIMITS
from nearfar.errors import NotConverged, TooLargeError
from nearfar.kernel import shifted_kernel as shifted
from nearfar.kernel import smallest_eigenvalue
from nearfar.kernel.factored import factor


@settings(max_examples=40)
@given(
    n=st.integers(2, 25),
    p=st.integers(1, 40),
    density=st.sampled_from([0.05, 0.3, 1.0]),
    seed=st.integers(0, 99),
    layout=st.sampled_from(["dense", "sparse"]),
)
def test_split_keeps_the_kernel(n, p, density, seed, layout):
    phi = make_phi(n, p, density=density, zeros=[0], seed=seed, layout=layout)
    factored = factor(phi)
    rows = dense(phi)[informed(phi)]
    assert factored.rows.tolist() == informed(phi)
    K = rows @ rows.T
    np.testing.assert_allclose(factored.matrix(), K, atol=1e-12)
    np.testing.assert_allclose(factored.diagonal, K.diagonal(), atol=1e-12)
    v = np.arange(1.0, len(K) + 1)
    np.testing.assert_allclose(factored.product(v), K @ v, atol=1e-10)


def test_columns_of_one_object_leave_the_products():
    phi = sparse.csr_array([[1.0, 0, 2, 0], [0, 3.0, 1, 0]])
    factored = factor(phi)
    assert factored.columns.tolist() == [2]
    assert factored.own.tolist() == [1.0, 9.0]


def test_stored_zeros_and_duplicates_do_not_count():
    phi = sparse.csr_array(
        (np.array([1.0, 0.0, 0.5, 0.5]), np.array([0, 1, 0, 0]), np.array([0, 1, 2, 4])), shape=(3, 2)
    )
    factored = factor(phi)
    assert factored.rows.tolist() == [0, 2]
    np.testing.assert_allclose(factored.matrix(), [[1, 1], [1, 1]])


def test_billions_of_columns_need_no_billion_long_array():
    far = np.int64(5_000_000_000)
    phi = sparse.csr_array(
        (np.ones(3), (np.array([0, 0, 1]), np.array([1, far - 1, far - 1]))), shape=(2, far)
    )
    np.testing.assert_allclose(factor(phi).matrix(), [[2, 1], [1, 1]])


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize(("n", "p"), [(12, 60), (40, 45), (30, 30)])
def test_equals_all_eigenvalues(n, p, layout):
    phi = make_phi(n, p, density=0.5, zeros=[3, 7], seed=1, layout=layout)
    expected = shifted_kernel(phi)[1]
    assert expected > 1e-3 or p < n + 2
    assert smallest_eigenvalue(phi) == pytest.approx(expected, abs=1e-10)
    K = dense(phi) @ dense(phi).T
    assert smallest_eigenvalue(phi, K) == pytest.approx(expected, abs=1e-10)


def test_rank_rule_gives_zero_exactly():
    """No solver returns it so: rounding would show."""
    assert smallest_eigenvalue(make_phi(9, 8)) == 0.0
    # three columns, one of them not in use: still more rows than columns
    phi = make_phi(6, 5)
    phi[:, 2] = 0
    assert smallest_eigenvalue(phi) == 0.0
    # rows 0-2 have one column among them, whatever the columns of the others
    phi = sparse.csr_array([[1.0, 0, 0], [-1.0, 0, 0], [0.6, 0.8, 0]])
    assert smallest_eigenvalue(phi) == 0.0


def test_degenerate_inputs():
    assert smallest_eigenvalue(np.zeros((3, 4))) == 0.0
    assert smallest_eigenvalue(sparse.csr_array((3, 4))) == 0.0
    assert smallest_eigenvalue(np.zeros((0, 4))) == 0.0
    assert smallest_eigenvalue(sparse.csr_array(np.eye(3))) == pytest.approx(1.0)


@pytest.fixture(params=["direct", "factorised", "products"])
def way(request, monkeypatch):
    """The way that the smallest eigenvalue is computed: all of them, by the inverse of K, or without K."""
    monkeypatch.setattr("nearfar.kernel.shift.DIRECT_LIMIT", 10_000 if request.param == "direct" else 0)
    monkeypatch.setattr("nearfar.kernel.shift.MATRIX_LIMIT", 0 if request.param == "products" else 10_000)
    return request.param


def test_every_way_agrees_with_all_eigenvalues(way):
    phi = make_phi(120, 400, density=0.7, seed=2)
    expected = shifted_kernel(phi)[1]
    assert expected > 0.05
    below = 1e-3 if way == "products" else 1e-9
    assert expected - below < smallest_eigenvalue(sparse.csr_array(phi)) <= expected + 1e-12
    assert smallest_eigenvalue(phi) == pytest.approx(
        expected, abs=1e-9
    )  # dense rows are never left to products


def test_singular_kernel_has_no_shift(way):
    phi = make_phi(60, 90, seed=3)
    phi[5] = phi[9]
    assert smallest_eigenvalue(sparse.csr_array(phi)) == pytest.approx(0, abs=1e-12)


def test_early_stop_stays_below_and_says_so(monkeypatch):
    monkeypatch.setattr("nearfar.kernel.shift.MAX_STEPS", 12)
    monkeypatch.setattr("nearfar.kernel.shift.MATRIX_LIMIT", 0)
    phi = make_phi(200, 260, density=0.6, seed=4, layout="sparse")
    expected = shifted_kernel(phi)[1]
    with pytest.warns(NotConverged, match="after 12 products the estimate is"):
        shift = smallest_eigenvalue(phi)
    assert 0.0 <= shift <= expected


def test_float32_rows_give_the_eigenvalue_of_those_rows():
    phi = make_phi(40, 60, density=0.5, dtype=np.float32)
    assert smallest_eigenvalue(phi) == pytest.approx(shifted_kernel(phi)[1], abs=1e-9)


@pytest.mark.parametrize("layout", ["dense", "csr", "csc"])
def test_shifted_kernel_of_rows(layout):
    phi = make_phi(20, 40, zeros=[4, 7], seed=5)
    given = phi if layout == "dense" else sparse.csr_array(phi).asformat(layout)
    kernel, kept = shifted(given), shifted(given, diagonal="keep")
    keep = informed(phi)
    np.testing.assert_allclose(kernel.matrix[np.ix_(keep, keep)], shifted_kernel(phi)[0], atol=1e-12)
    assert kernel.shift == pytest.approx(shifted_kernel(phi)[1], abs=1e-12) and kept.shift == 0
    assert kernel.uninformed.tolist() == kept.uninformed.tolist() == [4, 7]
    assert not kernel.matrix[[4, 7]].any()
    np.testing.assert_allclose(kept.matrix, phi @ phi.T, atol=1e-12)
    assert np.linalg.eigvalsh(kernel.matrix[np.ix_(keep, keep)])[0] == pytest.approx(0, abs=1e-12)


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_made(monkeypatch):
    """Whichever way leads to it: 4,000 objects, shifted, take 256 MB."""
    monkeypatch.setattr(LIMITS, "memory_bytes", 200_000_000)
    rows = sparse.csr_array((4000, 3))
    answers = nf.Triplets.from_array([[0, 1, 2]], n_objects=4000)
    sentence = (
        r"the kernel matrix of 4,000 objects needs 0\.3 GB, but 0\.2 GB are free; KernelPCA and KernelKMeans"
    )
    for way in (
        lambda: shifted(rows),
        lambda: nf.kernel_matrix(answers, "k1"),
    ):
        with pytest.raises(TooLargeError, match=sentence):
            way()
    monkeypatch.setattr(LIMITS, "memory_bytes", 100_000_000)
    for way in (lambda: nf.kernel.gram(rows), lambda: shifted(rows, diagonal="keep")):
        with pytest.raises(TooLargeError, match=r"needs 0\.1 GB, but 0\.1 GB are free"):
            way()


def test_memory_of_a_container_counts(monkeypatch, tmp_path):
    from nearfar._tools import memory

    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    whole = memory.available_bytes()
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("700000\n")
    (tmp_path / "memory.stat").write_text("anon 500000\nactive_file 150000\ninactive_file 50000\n")
    assert memory.available_bytes() == 500_000 < whole
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_bytes() > 500_000
