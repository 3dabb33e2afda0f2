"""Trees: heights by naive agglomeration, SciPy's format, leaves in order, cuts, and the way out when too large."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_methods import agglomerate, dense, informed, make_phi, shifted_kernel, squared_distances
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

import nearfar as nf
from nearfar._tools.limits import LIMITS
from nearfar.errors import InputError, NearfarWarning, TooLargeError
from nearfar.methods import cut, link_clusters

BETWEEN = {"complete": max, "single": min, "average": np.mean}


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("method", BETWEEN)
def test_heights_equal_naive_agglomeration_of_shifted_distances(method, layout):
    phi = make_phi(20, 40, density=0.5, zeros=[3], seed=0, layout=layout, ties=False)
    K, s = shifted_kernel(phi)
    assert s > 0.02
    tree = nf.linkage(phi, method)
    distances = np.sqrt(np.maximum(squared_distances(K), 0))
    np.testing.assert_allclose(tree[:-1, 2], agglomerate(distances, BETWEEN[method]), atol=1e-9)
    assert hierarchy.is_valid_linkage(tree)


@pytest.mark.parametrize("method", ["complete", "single"])
def test_shift_lowers_heights_and_keeps_the_shape(method):
    phi = make_phi(25, 60, density=0.5, seed=1)
    shifted, kept = nf.linkage(phi, method), nf.linkage(phi, method, diagonal="keep")
    s = shifted_kernel(phi)[1]
    np.testing.assert_allclose(shifted[:, 2], np.sqrt(kept[:, 2] ** 2 - 2 * s), atol=1e-9)
    assert np.array_equal(hierarchy.cut_tree(shifted), hierarchy.cut_tree(kept))


def test_average_linkage_is_computed_on_shifted_distances():
    phi = make_phi(25, 40, density=0.3, seed=2)
    s = shifted_kernel(phi)[1]
    shifted, kept = nf.linkage(phi, "average"), nf.linkage(phi, "average", diagonal="keep")
    assert np.abs(shifted[:, 2] - np.sqrt(kept[:, 2] ** 2 - 2 * s)).max() > 1e-4


def path_length(tree, distances):
    leaves = hierarchy.leaves_list(tree)
    return distances[leaves[:-1], leaves[1:]].sum()


def test_leaves_are_in_the_best_order():
    phi = make_phi(30, 12, seed=3)
    tree = nf.linkage(phi)
    distances = np.sqrt(np.maximum(squared_distances(phi @ phi.T), 0))
    plain = hierarchy.linkage(squareform(distances, checks=False), "complete")
    best = hierarchy.optimal_leaf_ordering(plain, squareform(distances, checks=False))
    assert path_length(tree, distances) == pytest.approx(path_length(best, distances))
    assert path_length(tree, distances) < path_length(plain, distances)


def test_leaves_of_large_trees_follow_the_map(monkeypatch):
    """Points along an arc: the order of the leaves is theirs, in one direction or the other."""
    monkeypatch.setattr("nearfar.methods.trees.OPTIMAL_LIMIT", 0)
    angles = np.linspace(0, 2, 40)[np.random.default_rng(0).permutation(40)]
    phi = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    leaves = hierarchy.leaves_list(nf.linkage(phi))
    steps = np.diff(angles[leaves])
    assert (steps > 0).all() or (steps < 0).all()
    small = link_clusters(phi, n_clusters=12)
    means = np.array([angles[small.labels == c].mean() for c in range(12)])
    steps = np.diff(means[hierarchy.leaves_list(small.tree)])
    assert (steps > 0).all() or (steps < 0).all()


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_uninformed_objects_are_joined_last_above_the_root(layout):
    phi = make_phi(12, 30, zeros=[0, 5, 11], seed=4, layout=layout)
    tree = nf.linkage(phi)
    assert tree.uninformed.tolist() == [0, 5, 11]
    assert hierarchy.leaves_list(tree)[-3:].tolist() == [0, 5, 11]
    assert (tree[-3:, 2] > tree[-4, 2]).all()
    assert tree[-3:, 3].tolist() == [10, 11, 12]
    alone = nf.linkage(dense(phi)[informed(phi)])
    np.testing.assert_allclose(tree[:-3, 2], alone[:, 2], atol=1e-9)
    assert (
        np.array(informed(phi))[hierarchy.leaves_list(alone)].tolist()
        == hierarchy.leaves_list(tree)[:-3].tolist()
    )


def test_few_informed_objects():
    nothing = nf.linkage(np.zeros((3, 2)))
    assert np.asarray(nothing[:, [0, 1, 3]]).tolist() == [[0, 1, 2], [3, 2, 3]]
    assert nothing.uninformed.tolist() == [0, 1, 2]
    one = np.zeros((3, 2))
    one[1] = 1
    tree = nf.linkage(one)
    assert np.asarray(tree[:, [0, 1, 3]]).tolist() == [[1, 0, 2], [3, 2, 3]] and tree.uninformed.tolist() == [
        0,
        2,
    ]
    with pytest.raises(InputError, match="a tree needs at least two objects, got 1"):
        nf.linkage(np.ones((1, 2)))


def test_tree_survives_pickling():
    tree = nf.linkage(make_phi(8, 20, zeros=[2]))
    again = pickle.loads(pickle.dumps(tree))
    assert np.array_equal(again, tree) and again.uninformed.tolist() == [2]


# ---------------------------------------------------------------- cutting


@pytest.mark.parametrize("k", [1, 2, 5, 19])
def test_cut_equals_scipy_up_to_numbering(k):
    phi = make_phi(20, 8, seed=5, ties=False)
    tree = nf.linkage(phi)
    labels = cut(tree, k)
    theirs = hierarchy.cut_tree(tree, k).ravel()
    pairs = set(zip(labels.tolist(), theirs.tolist(), strict=True))
    assert len(pairs) == k == len(set(labels.tolist()))
    sizes = np.bincount(labels)
    assert sorted(sizes, reverse=True) == sizes.tolist()


def test_uninformed_objects_are_in_no_cluster():
    labels = cut(nf.linkage(make_phi(12, 30, zeros=[0, 5], seed=6)), 3)
    assert np.flatnonzero(labels == -1).tolist() == [0, 5]
    assert set(labels.tolist()) == {-1, 0, 1, 2}


def test_cut_takes_a_tree_of_scipy():
    Z = hierarchy.linkage([[0.0], [0.1], [5.0]], "complete")
    assert cut(Z, 2).tolist() == [0, 0, 1]


@settings(max_examples=60)
@given(n=st.integers(2, 12), seed=st.integers(0, 99), data=st.data())
def test_a_plain_array_tells_who_is_uninformed(n, seed, data):
    """A tree of any shape that was saved and read again is cut as it was before."""
    zeros = data.draw(st.sets(st.integers(0, n - 1)))
    tree = nf.linkage(make_phi(n, 9, zeros=list(zeros), seed=seed))
    plain = np.array(np.asarray(tree))
    assert type(plain) is np.ndarray and tree.uninformed.tolist() == sorted(zeros)
    for k in range(1, n - len(zeros) + 1):
        assert cut(plain, k).tolist() == cut(tree, k).tolist()
        assert np.flatnonzero(cut(plain, k) < 0).tolist() == sorted(zeros)


@pytest.mark.parametrize("method", ["complete", "single", "average"])
def test_no_leaf_of_a_tree_of_scipy_is_taken_for_uninformed(method):
    """Not even in a chain, where every join takes in one more object."""
    points = np.array([[0.0], [1.0], [2.5], [5.0], [5.0 * 1.1 + 2], [5.0 * np.pi]])
    assert (cut(hierarchy.linkage(points, method), 2) >= 0).all()
    assert (cut(hierarchy.linkage(np.zeros((4, 1)), method), 2) >= 0).all()
    assert (cut(hierarchy.linkage(np.arange(5.0)[:, None], method), 2) >= 0).all()


def test_cut_into_more_than_there_are():
    tree = nf.linkage(make_phi(6, 9, zeros=[1]))
    assert sorted(cut(tree, 5).tolist()) == [-1, 0, 1, 2, 3, 4]
    with pytest.raises(InputError, match="6 are too many; only 5 of"):
        cut(tree, 6)
    with pytest.raises(InputError, match="n_clusters must be an integer >= 1, got 0"):
        cut(tree, 0)


def test_ties_are_joined_alike_however_products_are_summed():
    """Few answers leave many pairs equally far apart; dense and sparse sums differ in the last digit."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        rows = [rng.permutation(12)[:3] for _ in range(60)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NearfarWarning)
            maps = [nf.FeatureMap("k1+k2", layout=way).fit_transform(rows) for way in ("dense", "sparse")]
        for method in ("complete", "average", "single"):
            one, other = (nf.linkage(phi, method) for phi in maps)
            assert np.array_equal(one[:, :2], other[:, :2]), seed


# ---------------------------------------------------------------- too large


def test_too_many_objects_name_the_size_and_the_way_out(monkeypatch):
    phi = make_phi(50, 10)
    monkeypatch.setattr(LIMITS, "memory_bytes", 10_000)
    sentence = r"1,225 distances of 50 objects need 0.0 GB.*link_clusters\(phi, n_clusters=50\)"
    with pytest.raises(TooLargeError, match=sentence):
        nf.linkage(phi)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_link_clusters_links_the_centres(layout):
    phi = make_phi(40, 70, density=0.4, zeros=[3], seed=7, layout=layout, ties=False)
    small = link_clusters(phi, n_clusters=6, method="complete")
    assert small.uninformed.tolist() == [3]
    assert small.sizes.sum() == 39
    K, s = shifted_kernel(phi)
    assert s > 0.01
    members = [np.flatnonzero(small.labels[informed(phi)] == c) for c in range(6)]
    inner = np.array([[K[np.ix_(a, b)].mean() for b in members] for a in members])
    distances = np.sqrt(np.maximum(squared_distances(inner), 0))
    np.testing.assert_allclose(small.tree[:, 2], agglomerate(distances, max), atol=1e-8)


@pytest.mark.parametrize("make", [nf.linkage, link_clusters])
def test_unknown_method(make):
    with pytest.raises(InputError, match="method='ward' is not known; expected complete, average, single"):
        make(make_phi(9, 4), method="ward")


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (np.ones(3), r"expected a matrix of numbers, one row per object, got shape \(3,\)"),
        (np.array([[1.0, np.nan], [0, 1]]), "NaN or infinity"),
    ],
)
def test_phi_is_checked(phi, message):
    with pytest.raises(InputError, match=message):
        nf.linkage(phi)
