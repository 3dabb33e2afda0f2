"""Neighbours, medoids and outliers, against loops over K."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_methods import dense, informed, make_phi, shifted_kernel, squared_distances

from nearfar.errors import InputError
from nearfar.methods import medoid, neighbours, outliers
from nearfar.methods.nearest import nearest_among


def naive_neighbours(phi, x, k):
    rows = dense(phi)
    others = [y for y in informed(phi) if y != x]
    ranked = sorted(others, key=lambda y: (-round(float(rows[x] @ rows[y]), 10), y))
    return ranked[:k]


@settings(max_examples=30)
@given(
    n=st.integers(4, 20),
    k=st.integers(1, 2),
    seed=st.integers(0, 50),
    layout=st.sampled_from(["dense", "sparse"]),
)
def test_neighbours_are_those_with_the_largest_kernel_value(n, k, seed, layout):
    phi = make_phi(n, 31, density=0.7, zeros=[1], seed=seed, layout=layout)
    near = neighbours(phi, k)
    rows = dense(phi)
    assert near.uninformed.tolist() == [x for x in range(n) if x not in informed(phi)]
    for x in informed(phi):
        expected = naive_neighbours(phi, x, k)
        assert near.indices[x].tolist() == expected
        values = [rows[x] @ rows[y] for y in expected]
        np.testing.assert_allclose(near.similarities[x], values, atol=1e-9)
    assert (near.indices[1] == -1).all() and np.isnan(near.similarities[1]).all()
    assert not np.isin(near.uninformed, near.indices).any()


def test_neighbours_in_blocks_and_with_ties():
    phi = np.repeat(make_phi(6, 31, seed=0), 5, axis=0)
    whole = neighbours(phi, 4)
    places, values = nearest_among(phi, phi, 4, itself=True, block_bytes=8 * 30 * 7)
    assert np.array_equal(whole.indices, places)
    np.testing.assert_allclose(values, whole.similarities, atol=1e-12)
    for x in range(30):  # the four copies of the same row, lowest first
        assert whole.indices[x].tolist() == [y for y in range(x // 5 * 5, x // 5 * 5 + 5) if y != x]


@pytest.mark.parametrize("inserted", [1000, 0])
def test_lists_of_neighbours_are_those_of_a_full_sort(inserted, monkeypatch):
    monkeypatch.setattr("nearfar.methods.nearest.INSERTED", inserted)
    phi = np.repeat(make_phi(80, 31, seed=0), 5, axis=0)  # five of each: the list may end among equals
    near = neighbours(phi, 362)
    for x in (0, 7, 399):
        assert near.indices[x].tolist() == naive_neighbours(phi, x, 362)


def test_neighbours_need_others():
    with pytest.raises(InputError, match="k=3 neighbours are more than the 2 other informed objects"):
        neighbours(make_phi(4, 9, zeros=[0]), 3)
    with pytest.raises(InputError, match="k must be an integer >= 1, got 0"):
        neighbours(make_phi(4, 9), 0)


# ---------------------------------------------------------------- medoids


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("shape", [(30, 50), (30, 7)])
def test_medoid_has_the_smallest_mean_squared_distance(shape, layout):
    phi = make_phi(*shape, density=0.8, zeros=[4], seed=1, layout=layout)
    labels = np.arange(30) % 3
    typical = medoid(phi, labels)
    assert typical.uninformed.tolist() == [4]
    assert typical.clusters.tolist() == [0, 1, 2]
    keep = np.array(informed(phi))
    K, _ = shifted_kernel(phi)
    squares = squared_distances(K)
    for c, x in zip(typical.clusters, typical.indices, strict=True):
        members = np.flatnonzero(labels[keep] == c)
        totals = squares[np.ix_(members, members)].sum(axis=1)
        assert totals[members == np.flatnonzero(keep == x)[0]][0] == pytest.approx(totals.min())
        rows = dense(phi)
        assert typical.similarities[c] == pytest.approx(np.mean([rows[x] @ rows[y] for y in keep[members]]))


def test_medoid_of_all_and_without_the_unclustered():
    phi = make_phi(20, 9, seed=2)
    assert len(medoid(phi).indices) == 1
    typical = medoid(phi, [-1] * 10 + [4] * 5 + [2] * 5)
    assert typical.clusters.tolist() == [2, 4]
    assert typical.indices[0] >= 15 and 10 <= typical.indices[1] < 15


def test_medoid_labels_are_checked():
    with pytest.raises(InputError, match="expected 5 integers, one per row of phi"):
        medoid(make_phi(5, 9), [0, 1])


# ---------------------------------------------------------------- outliers


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_outlier_score_is_one_minus_mean_similarity_to_the_nearest(layout):
    phi = make_phi(20, 31, density=0.8, zeros=[6], seed=3, layout=layout)
    odd = outliers(phi, k=3)
    rows = dense(phi)
    for x in informed(phi):
        values = [rows[x] @ rows[y] for y in naive_neighbours(phi, x, 3)]
        assert odd.scores[x] == pytest.approx(1 - np.mean(values))
        assert odd.columns[x] == np.count_nonzero(rows[x])
    assert np.isnan(odd.scores[6]) and 6 not in odd.order and odd.uninformed.tolist() == [6]
    assert (np.diff(odd.scores[odd.order]) <= 0).all()


def test_the_odd_one_is_flagged():
    rng = np.random.default_rng(4)
    rows = np.abs(rng.standard_normal((40, 5))) + 1
    rows[17] *= -1
    rows[3] = 0
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    odd = outliers(rows, k=5)
    assert odd.flagged[0] == 17 and odd.scores[17] > odd.threshold
    assert np.isnan(odd.scores[3]) and 3 not in odd.order and odd.columns[17] == 5


def test_fewer_objects_than_neighbours_asked_for():
    assert outliers(make_phi(4, 9), k=10).k == 3
