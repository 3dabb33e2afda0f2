"""FeatureMap against the naive twin, and the properties every kernel must have."""

import pickle
import warnings

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from strategies import KERNELS, collections, counted_in, landmark_sets, roles

from nearfar.errors import CoverageWarning, InputError, UnfittedColumnWarning, UninformedWarning
from nearfar.features import FeatureMap
from nearfar.features.counts import Counts
from nearfar.features.kernels import K2
from nearfar.features.mapping import PARTS
from nearfar.triplets import Triplets

pytestmark = pytest.mark.filterwarnings(
    "ignore::nearfar.errors.UninformedWarning", "ignore::nearfar.errors.CoverageWarning"
)


def dense(phi):
    return phi.toarray() if sparse.issparse(phi) else np.asarray(phi)


def as_dict(feature_map):
    """Fitted rows as the oracle writes them: {object: {(kernel, i, j): value}}."""
    columns = feature_map.columns_
    keys = list(zip(columns.kernel.tolist(), columns.first.tolist(), columns.second.tolist(), strict=True))
    return {
        a: dict(zip(keys, row, strict=True)) for a, row in enumerate(dense(feature_map.features_).tolist())
    }


@st.composite
def cases(draw):
    rows, n = draw(collections())
    return rows, n, draw(st.sampled_from(KERNELS)), draw(landmark_sets(n))


@pytest.mark.parametrize("counting", ["grid", "cells"])
@pytest.mark.parametrize("layout", ["auto", "dense", "sparse"])
@settings(max_examples=60)
@given(case=cases())
def test_equals_the_definition(counting, layout, case):
    rows, n, kernel, landmarks = case
    fitted = FeatureMap(kernel, landmarks=landmarks, layout=layout)
    with counted_in(counting):
        fitted.fit(Triplets.from_array(rows, n_objects=n))
    got, expected = as_dict(fitted), oracles.phi(rows, n, kernel, landmarks)
    for a in range(n):
        for column in set(got[a]) | set(expected[a]):
            assert got[a].get(column, 0.0) == pytest.approx(expected[a].get(column, 0.0), abs=1e-12)
    assert fitted.informed_.tolist() == [any(expected[a].values()) for a in range(n)]


@settings(max_examples=60)
@given(case=cases())
def test_ways_of_counting_agree_to_the_last_bit(case):
    rows, n, kernel, landmarks = case
    answers = Triplets.from_array(rows, n_objects=n)
    ways = []
    for counting in ("grid", "cells"):
        with counted_in(counting):
            ways.append(FeatureMap(kernel, landmarks=landmarks, layout="dense").fit_transform(answers))
    assert np.array_equal(*ways)


@settings(max_examples=60)
@given(case=cases())
def test_transform_of_the_training_answers_is_fit_transform(case):
    rows, n, kernel, landmarks = case
    answers = Triplets.from_array(rows, n_objects=n)
    fitted = FeatureMap(kernel, landmarks=landmarks).fit(answers)
    assert np.array_equal(dense(fitted.transform(answers)), dense(fitted.features_))


@settings(max_examples=40)
@given(case=cases(), data=st.data())
def test_batches_in_any_order_give_the_same_bits(case, data):
    rows, n, kernel, landmarks = case
    answers = Triplets.from_array(rows, n_objects=n)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    order = data.draw(st.permutations(range(len(cuts) + 1)))
    edges = [0, *cuts, len(rows)]
    batches = [answers[edges[i] : edges[i + 1]] for i in order]
    for counting in ("grid", "cells"):
        streamed = FeatureMap(kernel, landmarks=landmarks)
        with counted_in(counting):
            for batch in batches:
                streamed.partial_fit(batch)
            once = FeatureMap(kernel, landmarks=landmarks).fit_transform(answers)
        assert np.array_equal(dense(streamed.features_), dense(once))


@pytest.mark.parametrize("kernel", ["k1", "k2", "score"])
def test_counts_that_grow_move_from_cells_to_the_grid(kernel, monkeypatch):
    monkeypatch.setattr("nearfar.features.counts.SMALL_GRID", 0)
    answers = Triplets.from_array(oracles.all_triplets(np.random.default_rng(0).normal(size=(6, 2))) * 3)
    everybody = np.arange(6, dtype=np.int32)
    growing = Counts(PARTS[kernel], 6, everybody, 6)
    growing.add(*roles(answers[:1]))
    assert growing.grid is None and len(growing.cells().keys)
    growing.add(*roles(answers[1:]))
    at_once = Counts(PARTS[kernel], 6, everybody, 6, dense=True)
    at_once.add(*roles(answers))
    assert np.array_equal(growing.grid, at_once.grid)


@settings(max_examples=40)
@given(case=cases())
def test_swapping_near_and_far_flips_phi(case):
    rows, n, kernel, landmarks = case
    forth = FeatureMap(kernel, landmarks=landmarks).fit_transform(Triplets.from_array(rows, n_objects=n))
    swapped = [(a, j, i) for a, i, j in rows]
    turned = FeatureMap(kernel, landmarks=landmarks).fit(Triplets.from_array(swapped, n_objects=n))
    columns = turned.columns_
    own = (columns.first == np.arange(n)[:, None]) & (
        columns.kernel == "score"
    )  # nearest to itself, come what may
    assert np.array_equal(dense(forth), np.where(own, 1, -1) * dense(turned.features_))


def test_the_oracle_objects_to_a_wrong_kernel(monkeypatch):
    """A kernel with near and far exchanged in one answer is noticed."""
    rows = oracles.all_triplets(np.array([[0.0], [1.0], [3.0], [7.0]]))
    wrong = [(rows[0][0], rows[0][2], rows[0][1]), *rows[1:]]
    for kernel in ("k1", "k2", "score"):
        fitted = FeatureMap(kernel).fit(wrong)
        expected = oracles.phi(rows, 4, kernel)
        assert any(
            abs(as_dict(fitted)[a].get(column, 0.0) - value) > 1e-6
            for a in range(4)
            for column, value in expected[a].items()
        )


# -------------------------------------------------------------------- out of sample


@settings(max_examples=60)
@given(data=st.data())
def test_new_objects_get_the_rows_of_the_definition(data):
    """Objects 0..3 are fitted; a larger collection adds 4 and 5 in another order of names."""
    old = data.draw(st.lists(st.permutations(range(4)).map(lambda p: tuple(p[:3])), min_size=1, max_size=20))
    new = data.draw(st.lists(st.permutations(range(6)).map(lambda p: tuple(p[:3])), max_size=25))
    kernel = data.draw(st.sampled_from(["k1", "k2"]))
    names = ["a", "b", "c", "d", "e", "f"]
    fitted = FeatureMap(kernel).fit(Triplets.from_array(old, names[:4]))
    shuffle = data.draw(st.permutations(range(6)))
    place = {original: shuffled for shuffled, original in enumerate(shuffle)}
    moved = Triplets.from_array([[place[o] for o in row] for row in new], [names[o] for o in shuffle])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnfittedColumnWarning)
        rows = dense(fitted.transform(moved))
    expected = oracles.phi(new, 6, kernel)  # the norm counts every column, fitted or not
    columns = fitted.columns_
    for original in range(6):
        for c, (name, i, j) in enumerate(
            zip(columns.kernel.tolist(), columns.first, columns.second, strict=True)
        ):
            assert rows[place[original], c] == pytest.approx(expected[original][name, i, j], abs=1e-12)


@pytest.mark.parametrize("kernel", ["k1", "k2", "score"])
def test_an_array_means_fitted_objects_by_index(kernel):
    rows = np.array([[0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1], [3, 1, 2]])
    fitted = FeatureMap(kernel).fit(Triplets.from_array(rows, ["d", "3", "b", "a"]))
    assert np.array_equal(dense(fitted.transform(rows)), dense(fitted.features_))
    about_new = np.array([[4, 1, 2], [1, 4, 2], [4, 2, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnfittedColumnWarning)
        by_index = fitted.transform(about_new)
        by_name = fitted.transform(Triplets.from_array(about_new, ["d", "3", "b", "a", "e"]))
    assert np.array_equal(dense(by_index), dense(by_name)) and dense(by_index)[4].any()


def test_score_of_a_new_object_loses_unknown_columns():
    fitted = FeatureMap("score").fit(Triplets.from_array([[0, 1, 2], [1, 0, 2]], ["a", "b", "c"]))
    new = Triplets.from_array([[0, 1, 2], [0, 3, 1]], ["x", "a", "c", "y"])
    with pytest.warns(UnfittedColumnWarning, match="columns of score that are not in the fitted map"):
        row = fitted.transform(new)[0]
    # s(x) = +1 at a (once nearer than c) - 1 (once farther than y) = 0, -1 at c; y is no column
    assert row.tolist() == [0.0, 0.0, -1.0]
    one = Triplets.from_array([[0, 1, 2], [1, 0, 2]], ["x", "a", "c"])  # nothing that x lacks: no warning
    np.testing.assert_allclose(fitted.transform(one)[0], [2 / np.sqrt(5), 0, -1 / np.sqrt(5)])


def test_unfitted_columns_are_reported_with_a_figure():
    fitted = FeatureMap("k1").fit(Triplets.from_array([[0, 1, 2], [1, 0, 2]], ["a", "b", "c"]))
    with pytest.warns(
        UnfittedColumnWarning,
        match="2 entries of these answers concern columns of k1 that are not in the fitted map",
    ):
        fitted.transform(Triplets.from_array([[0, 1, 2], [0, 1, 2], [0, 3, 4]], ["x", "q", "a", "b", "c"]))


def test_landmarks_keep_only_columns_inside_them():
    rows = oracles.all_triplets(np.random.default_rng(1).normal(size=(6, 2)))
    for kernel, p in (("k1", 3), ("k2", 6), ("score", 3), ("k1+k2", 9)):
        fitted = FeatureMap(kernel, landmarks=[4, 1, 2]).fit(rows)
        assert fitted.features_.shape == (6, p)
        assert set(fitted.columns_.first.tolist()) <= {1, 2, 4}


def test_landmarks_by_name_equal_landmarks_by_index():
    answers = Triplets.from_array(
        oracles.all_triplets(np.random.default_rng(2).normal(size=(5, 2))), list("abcde")
    )
    by_name = FeatureMap("k1", landmarks=["e", "b", "c"]).fit_transform(answers)
    assert np.array_equal(by_name, FeatureMap("k1", landmarks=[1, 2, 4]).fit_transform(answers))


# -------------------------------------------------------------------- what people see


def test_columns_name_their_objects():
    fitted = FeatureMap("k1+score").fit(Triplets.from_array([[0, 1, 2]], ["red", "pink", "blue"]))
    assert fitted.get_feature_names_out().tolist() == [
        "k1: pink | blue",
        "score: red",
        "score: pink",
        "score: blue",
    ]
    assert repr(fitted.columns_) == "Columns(4 of k1+score)"


def test_dtype_and_layout():
    rows = oracles.all_triplets(np.random.default_rng(3).normal(size=(5, 2)))
    for layout, kind in (("dense", np.ndarray), ("sparse", sparse.csr_array)):
        phi = FeatureMap("k1+k2", layout=layout, dtype=np.float32).fit_transform(rows)
        assert isinstance(phi, kind) and phi.dtype == np.float32
        assert np.allclose(dense(phi), dense(FeatureMap("k1+k2").fit_transform(rows)), atol=1e-7)


def test_clones_pickles_and_shows_its_parameters():
    made = FeatureMap("k2", landmarks=[0, 1], layout="sparse", dtype=np.float32)
    assert clone(made).get_params() == made.get_params()
    assert (
        repr(made)
        == "FeatureMap(dtype=<class 'numpy.float32'>, kernel='k2', landmarks=[0, 1],\n           layout='sparse')"
    )
    answers = [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
    fitted = made.fit(answers)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(dense(again.features_), dense(fitted.features_))
    assert np.array_equal(dense(again.transform(answers)), dense(fitted.features_))
    assert again.columns_.describe() == fitted.columns_.describe()


def test_coverage_is_the_average_number_of_shared_columns():
    rows = [[0, 2, 3], [1, 2, 3], [2, 0, 1], [0, 1, 2]]
    # informed 0, 1, 2; column {2,3} has two rows, {0,1} and {1,2} one each: 2 / (3 * 2)
    assert FeatureMap("k1").fit(rows).coverage_["k1"] == pytest.approx(1 / 3)


def test_uninformed_and_too_sparse_give_named_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CoverageWarning)
        with pytest.raises(UninformedWarning, match=r"'k1' cannot place 2 of 3 objects \(b and c\)"):
            FeatureMap("k1").fit(Triplets.from_array([[0, 1, 2]], list("abc")))
        warnings.simplefilter("ignore", UninformedWarning)
        warnings.simplefilter("error", CoverageWarning)
        sparse_rows = [[0, 1, 2], [1, 2, 3], [2, 3, 0]]
        with pytest.raises(CoverageWarning, match=r"share 0 columns of k1 on average.*use the score kernel"):
            FeatureMap("k1").fit(sparse_rows)
        assert FeatureMap("k1+score").fit(sparse_rows).coverage_["k1"] == 0.0


def test_contradictions_that_cancel_leave_an_object_uninformed():
    fitted = FeatureMap("k1").fit(Triplets.from_array([[0, 1, 2], [0, 2, 1], [1, 0, 2]], list("abc")))
    assert fitted.uninformed_objects_ == ["a", "c"]
    assert [fitted.objects_[x] for x in fitted.uninformed_] == ["a", "c"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "k3"}, "kernel: 'k3' is not known; expected k1, k2, score"),
        ({"kernel": "k1+k1"}, "a sum of different ones"),
        ({"layout": "csc"}, "layout: 'csc' is not known"),
        ({"dtype": np.int32}, "dtype: int32 is not supported"),
        ({"landmarks": ["z"]}, "landmarks: 'z' is not among the 3 objects"),
        ({"landmarks": [7]}, "landmarks: 7 is not among the 3 objects"),
        ({"landmarks": [0.5, 1]}, "landmarks: 0.5 is not among the 3 objects"),
        ({"landmarks": 7}, "landmarks: expected names or indices of objects, got 7"),
        ({"landmarks": [1, 1]}, "an object is listed twice"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises(InputError, match=message):
        FeatureMap(**parameters).fit([[0, 1, 2]])


def test_partial_fit_says_what_it_cannot_do():
    with pytest.raises(InputError, match="fitted in one go and kept no counts"):
        FeatureMap("k1").fit([[0, 1, 2]]).partial_fit([[0, 1, 2]])
    with pytest.raises(InputError, match="names 4 objects, the first one named 3"):
        FeatureMap("k1").partial_fit([[0, 1, 2]]).partial_fit([[0, 1, 3]])


def test_nothing_is_known_before_fit():
    with pytest.raises(NotFittedError, match="not fitted"):
        _ = FeatureMap("k1").features_


def test_too_many_objects_for_sparse_counting_is_one_sentence():
    answers = Triplets.from_array([[0, 1, 2]], n_objects=1_048_577)
    with pytest.raises(InputError, match=r"1,048,577 objects.*give landmarks, or use the score kernel"):
        FeatureMap("k1").fit(answers)
    phi = FeatureMap("score").fit(answers).features_
    assert phi.nnz == 4 + 3  # the answer's cells, and three own entries
    assert phi.indices.dtype == np.int32  # scikit-learn refuses 64 bits


def test_cells_that_cannot_be_numbered_are_one_sentence():
    """A million landmarks and five million objects: as many cells as no whole number of a processor counts."""
    mark = np.concatenate([np.arange(1 << 20), np.full(4_000_000, -1)]).astype(np.int32)
    one = np.zeros(1, np.int32)
    with pytest.raises(InputError, match="landmarks"):
        Counts(K2, len(mark), mark, 1 << 20, dense=False).add(one, one + 1, one + 2)
