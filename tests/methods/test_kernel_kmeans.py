"""Kernel k-means: equal to naive kernel k-means and to scikit-learn's KMeans, by every way."""

import warnings

import numpy as np
import pytest
from oracles_methods import (
    dense,
    informed,
    kernel_distance,
    kernel_kmeans,
    kmeans_objective,
    make_phi,
    shifted_kernel,
)
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks

import nearfar as nf
from nearfar.blocks import RowBlocks
from nearfar.errors import InputError, NearfarWarning, NotConverged
from nearfar.kernel.shift import shift_and_matrix
from nearfar.methods._lloyd import Gram, lloyd, plus_plus, repair

K = 4


@parametrize_with_checks([nf.KernelKMeans(), nf.KernelKMeans(diagonal="keep")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def start(n, seed=0):
    labels = np.random.default_rng(seed).integers(K, size=n)
    labels[:K] = np.arange(K)
    return labels


def take(strategy, monkeypatch):
    """With the kernel matrix, or without it; dense rows without a shift never make one."""

    def forced(factored):
        return shift_and_matrix(factored)[0], factored.matrix() if strategy == "matrix" else None

    monkeypatch.setattr("nearfar.methods.kernel_kmeans.shift_and_matrix", forced)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strategy", ["matrix", "products"])
def test_same_start_same_labels_as_naive_kernel_kmeans(layout, seed, strategy, monkeypatch):
    phi = make_phi(30, 60, density=0.3, zeros=[5], seed=seed, layout=layout)
    shifted, s = shifted_kernel(phi)
    assert s > 0.01
    labels = start(30, seed)
    take(strategy, monkeypatch)
    model = nf.KernelKMeans(K, init=labels, tol=0).fit(phi)
    keep = informed(phi)
    naive = kernel_kmeans(shifted, labels[keep], K)
    assert naive != labels[keep].tolist()
    assert model.labels_[keep].tolist() == naive
    assert model.inertia_ == pytest.approx(kmeans_objective(shifted, naive), abs=1e-10)
    assert model.shift_ == pytest.approx(s, abs=1e-10)


def test_shift_frees_the_search():
    """The shift changes the path of Lloyd's iteration; if it did not, the tests above would show nothing."""
    phi = make_phi(30, 60, density=0.3, seed=1)
    kept = nf.KernelKMeans(K, init=start(30), tol=0, diagonal="keep").fit(phi)
    shifted = nf.KernelKMeans(K, init=start(30), tol=0).fit(phi)
    assert kept.labels_.tolist() != shifted.labels_.tolist()


def test_objective_falls_by_shift_times_n_minus_k():
    phi = make_phi(30, 60, density=0.3, seed=2)
    model = nf.KernelKMeans(K, random_state=0).fit(phi)
    plain = kmeans_objective(phi @ phi.T, model.labels_.tolist())
    assert model.inertia_ == pytest.approx(plain - model.shift_ * (30 - K), abs=1e-10)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("shape", [(60, 9), (25, 40)])
def test_kept_diagonal_equals_scikit_learn_kmeans(shape, layout):
    phi = make_phi(*shape, density=0.6, seed=3, layout=layout)
    ours = nf.KernelKMeans(K, diagonal="keep", random_state=0, n_init=20).fit(phi)
    theirs = KMeans(K, init=dense(ours.centres_), n_init=1, tol=0).fit(dense(phi))
    assert theirs.n_iter_ <= 2
    assert theirs.labels_.tolist() == ours.labels_.tolist()
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    reference = KMeans(K, n_init=20, random_state=0).fit(dense(phi))
    assert ours.inertia_ <= 1.02 * reference.inertia_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_bounds_change_nothing(dtype, seed):
    """Elkan's bounds, all distances by products, and scikit-learn agree step by step."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 12)).astype(dtype)
    labels = start(400, seed).astype(np.int32)
    bounded = lloyd(Gram(RowBlocks.of(X)), labels, K, 100, 0.0)
    plain = lloyd(Gram(RowBlocks.of(X.astype(np.float64)), np.zeros(400)), labels, K, 100, 0.0)
    assert bounded.labels.tolist() == plain.labels.tolist()
    assert bounded.n_iter == plain.n_iter
    assert bounded.inertia == pytest.approx(plain.inertia, rel=1e-5)
    centres = np.stack([X[labels == c].mean(axis=0) for c in range(K)])
    theirs = KMeans(K, init=centres, n_init=1, tol=0, max_iter=100, algorithm="lloyd").fit(X)
    assert theirs.labels_.tolist() == bounded.labels.tolist()


@pytest.mark.parametrize("scale", [1e-60, 1e-7, 1e7, 1e60])
def test_result_does_not_depend_on_the_unit_of_the_rows(scale):
    X = make_phi(200, 9, density=0.6, seed=3)
    one, other = (nf.KernelKMeans(K, random_state=0).fit(rows) for rows in (X, scale * X))
    assert other.labels_.tolist() == one.labels_.tolist() == other.predict(scale * X).tolist()
    assert other.inertia_ == pytest.approx(scale**2 * one.inertia_)


@pytest.mark.parametrize("far", [1e4, 1e7])
def test_rows_far_from_the_origin_keep_their_digits(far):
    X = np.random.default_rng(0).standard_normal((400, 5))
    one, other = (nf.KernelKMeans(K, random_state=0, tol=0).fit(rows) for rows in (X, X + far))
    assert other.labels_.tolist() == one.labels_.tolist()
    assert other.inertia_ == pytest.approx(one.inertia_, rel=1e-8)
    assert other.predict(X + far).tolist() == other.labels_.tolist()


def test_result_does_not_depend_on_threads(monkeypatch):
    X = np.random.default_rng(0).standard_normal((12_000, 6)).astype(np.float32)
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("NEARFAR_NUM_THREADS", threads)
        results.append(nf.KernelKMeans(K, random_state=0, n_init=1, max_iter=300).fit(X))
    assert results[0].inertia_ == results[1].inertia_
    assert np.array_equal(results[0].labels_, results[1].labels_)


def test_every_strategy_agrees_where_all_are_possible(monkeypatch):
    """More rows than columns, none of them of a single object: s = 0."""
    phi = make_phi(200, 60, density=0.1, seed=4, layout="sparse")
    models = [nf.KernelKMeans(K, init=start(200), tol=0).fit(given) for given in (phi, phi.toarray())]
    take("matrix", monkeypatch)
    models.append(nf.KernelKMeans(K, init=start(200), tol=0).fit(phi))
    for other in models[1:]:
        assert other.labels_.tolist() == models[0].labels_.tolist()
        assert other.inertia_ == pytest.approx(models[0].inertia_)


# ---------------------------------------------------------------- new rows, zero rows


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_predict_takes_rows_as_new_objects(layout):
    phi = make_phi(30, 60, density=0.3, zeros=[2], seed=5, layout=layout)
    model = nf.KernelKMeans(K, random_state=0).fit(phi)
    assert model.shift_ > 0.01
    keep = informed(phi)
    rows = dense(phi)[keep]
    shifted, _ = shifted_kernel(phi)
    clusters = [np.flatnonzero(model.labels_[keep] == c).tolist() for c in range(K)]
    fresh = make_phi(150, 60, density=0.5, seed=6)
    expected = []
    for x in fresh:
        # a kernel over the fitted objects and the new one: only the fitted ones are shifted
        cross = rows @ x
        joint = np.block([[shifted, cross[:, None]], [cross[None], np.array([[x @ x]])]])
        expected.append(int(np.argmin([kernel_distance(joint, len(rows), c) for c in clusters])))
    given = fresh if layout == "dense" else sparse.csr_array(fresh)
    assert model.predict(given).tolist() == expected
    centres = np.stack([rows[c].mean(axis=0) for c in clusters])
    unshifted = np.argmin((centres**2).sum(axis=1) - 2 * fresh @ centres.T, axis=1)
    assert unshifted.tolist() != expected  # the shift matters here


def test_new_rows_may_have_another_layout():
    phi = make_phi(30, 60, density=0.3, seed=5)
    fresh = make_phi(15, 60, density=0.5, seed=6)
    by_dense = nf.KernelKMeans(K, random_state=0).fit(phi)
    by_sparse = nf.KernelKMeans(K, random_state=0).fit(sparse.csr_array(phi))
    expected = by_dense.predict(fresh).tolist()
    assert by_dense.predict(sparse.csr_array(fresh)).tolist() == expected
    assert (
        by_sparse.predict(fresh).tolist() == by_sparse.predict(sparse.csr_array(fresh)).tolist() == expected
    )


def test_predict_of_fitted_rows_without_shift():
    phi = make_phi(80, 10, seed=7)
    model = nf.KernelKMeans(K, random_state=0, tol=0).fit(phi)
    assert model.shift_ == 0
    assert model.predict(phi).tolist() == model.labels_.tolist()


def test_zero_rows_are_placed_as_new_rows_and_listed():
    phi = make_phi(40, 60, zeros=[0, 9], seed=8)
    model = nf.KernelKMeans(K, random_state=0).fit(phi)
    assert model.uninformed_.tolist() == [0, 9]
    assert model.labels_[[0, 9]].tolist() == model.predict(np.zeros((2, 60))).tolist()
    without = nf.KernelKMeans(K, random_state=0).fit(np.delete(phi, [0, 9], axis=0))
    assert np.delete(model.labels_, [0, 9]).tolist() == without.labels_.tolist()
    assert model.sizes_.sum() == 38


# ---------------------------------------------------------------- starts and repairs


def test_seeds_follow_the_shifted_distances():
    """With two tight pairs and one lone object, three seeds hit all three groups; labels are the nearest seed."""
    K_matrix = np.array(
        [[1, 0.99, 0, 0, 0], [0.99, 1, 0, 0, 0], [0, 0, 1, 0.99, 0], [0, 0, 0.99, 1, 0], [0, 0, 0, 0, 1.0]]
    )
    gram = Gram(RowBlocks.of(K_matrix - 0.01 * np.eye(5)), is_kernel=True)
    for labels in plus_plus(gram, 3, 20, np.random.default_rng(0)):
        assert labels[0] == labels[1] != labels[2] == labels[3]
        assert len(set(labels.tolist())) == 3


def test_starts_are_better_than_chance():
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((8, 5)) * 10
    X = np.repeat(centres, 20, axis=0) + rng.standard_normal((160, 5)) * 0.1
    labels = plus_plus(Gram(RowBlocks.of(X)), 8, 1, np.random.default_rng(0))[0]
    assert all(len(set(labels[20 * c : 20 * c + 20].tolist())) == 1 for c in range(8))


def test_many_rows_start_from_a_sample(monkeypatch):
    rng = np.random.default_rng(2)
    X = np.repeat(rng.standard_normal((6, 5)) * 3, 100, axis=0) + rng.standard_normal((600, 5))
    take("products", monkeypatch)
    phi = make_phi(300, 400, density=0.3, seed=16, layout="sparse")
    fits = [
        lambda: nf.KernelKMeans(6, random_state=0, n_init=10).fit(X),
        lambda: nf.KernelKMeans(K, random_state=0).fit(phi),
    ]
    whole = [fit() for fit in fits]
    monkeypatch.setattr("nearfar.methods.kernel_kmeans.SAMPLE", 100)
    sampled = [fit() for fit in fits]
    assert sampled[0].inertia_ == pytest.approx(whole[0].inertia_, rel=1e-3)
    assert sampled[0].n_iter_ <= 5  # a sample of 100 gets most of the way
    assert sampled[1].inertia_ == pytest.approx(whole[1].inertia_, rel=1e-2)


@pytest.mark.parametrize("shape", [(40, 60), (60, 4)])
def test_empty_clusters_are_filled(shape):
    phi = make_phi(*shape, seed=10, density=0.8)
    labels = np.zeros(shape[0], dtype=np.int64)  # clusters 1..3 are empty at the start
    model = nf.KernelKMeans(K, init=labels, tol=0).fit(phi)
    assert (model.sizes_ > 0).all()
    shifted, _ = shifted_kernel(phi)
    assert model.labels_.tolist() == kernel_kmeans(shifted, labels, K)


def test_repair_leaves_single_members_alone():
    labels = np.array([0, 1, 1], dtype=np.int32)
    assert repair(labels, np.array([9.0, 1.0, 2.0]), 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_fewer_places_than_clusters(layout):
    rows = np.repeat(np.eye(2), 5, axis=0)
    phi = rows if layout == "dense" else sparse.csr_array(rows)
    with pytest.warns(NotConverged, match="found only 2 distinct rows, so 1 of n_clusters=3"):
        model = nf.KernelKMeans(3, random_state=0).fit(phi)
    assert model.sizes_.tolist() == [5, 5, 0]
    assert model.labels_.tolist() == [0] * 5 + [1] * 5
    assert model.predict(phi).tolist() == model.labels_.tolist()


# ---------------------------------------------------------------- the rest


def test_clusters_are_numbered_by_size():
    phi = make_phi(60, 8, seed=11)
    model = nf.KernelKMeans(K, random_state=3).fit(phi)
    assert sorted(model.sizes_.tolist(), reverse=True) == model.sizes_.tolist()


def test_relabelling_objects_permutes_the_result():
    phi = make_phi(50, 8, seed=12)
    order = np.random.default_rng(0).permutation(50)
    one = nf.KernelKMeans(K, init=start(50), tol=0).fit(phi)
    two = nf.KernelKMeans(K, init=start(50)[order], tol=0).fit(phi[order])
    assert two.labels_.tolist() == one.labels_[order].tolist()


def test_more_starts_are_better_than_one():
    phi = make_phi(80, 90, density=0.3, seed=13)
    single = [nf.KernelKMeans(6, n_init=1, random_state=seed).fit(phi).inertia_ for seed in range(8)]
    assert nf.KernelKMeans(6, n_init=30, random_state=0).fit(phi).inertia_ < np.mean(single)


def test_starts_that_end_equally_well_are_told_apart_by_order():
    """Dense and sparse sums of the same objective differ in the last digit; that must not choose the start."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        rows = [rng.permutation(20)[:3] for _ in range(300)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NearfarWarning)
            ways = [
                nf.FeatureMap("k1", landmarks=range(4), layout=way).fit_transform(rows)
                for way in ("dense", "sparse")
            ]
            one, other = (nf.KernelKMeans(3, random_state=seed).fit_predict(phi) for phi in ways)
        assert one.tolist() == other.tolist(), seed


def test_stopping_early_is_said():
    phi = make_phi(300, 20, seed=14)
    with pytest.warns(NotConverged, match="still changing after max_iter=1 steps; raise max_iter"):
        assert nf.KernelKMeans(K, max_iter=1, random_state=0).fit(phi).n_iter_ == 1


def test_wide_sparse_rows_make_no_long_arrays():
    """Centres of sparse rows are sparse."""
    phi = sparse.random_array((50, 20_000), density=0.001, format="csr", rng=np.random.default_rng(0))
    model = nf.KernelKMeans(K, random_state=0).fit(phi)
    assert sparse.issparse(model.centres_)
    assert model.centres_.nnz <= phi.nnz


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an integer >= 1, got 0"),
        ({"n_clusters": 2.5}, "n_clusters must be an integer >= 1, got 2.5"),
        ({"n_clusters": 99}, "99 are too many; only 19 of 20"),
        ({"n_init": 0}, "n_init must be an integer >= 1, got 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"diagonal": "drop"}, "diagonal='drop' is not known; expected 'shift' or 'keep'"),
        ({"init": "random"}, "expected 'k-means\\+\\+' or 20 integers from 0 to 2"),
        ({"init": [0, 1, 2]}, "got list of shape \\(3,\\)"),
        ({"init": [3] * 20}, "integers from 0 to 2"),
    ],
)
def test_parameters_are_checked(parameters, message):
    phi = make_phi(20, 30, zeros=[0])
    with pytest.raises(InputError, match=message):
        nf.KernelKMeans(**{"n_clusters": 3, **parameters}).fit(phi)


def test_random_state_in_all_its_forms():
    phi = make_phi(40, 8, seed=15)
    for make in (lambda: 5, lambda: np.random.default_rng(5), lambda: np.random.RandomState(5)):
        one, two = (nf.KernelKMeans(K, n_init=1, random_state=make()).fit(phi) for _ in range(2))
        assert one.labels_.tolist() == two.labels_.tolist()
