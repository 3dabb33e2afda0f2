"""Many machines and one give the same features, on a real cluster of two processes."""

import pickle
import warnings

import numpy as np
import pytest
from scale_tools import LANDMARKS, ON_A_CLUSTER, dense, made_answers

import nearfar as nf
from nearfar import scale
from nearfar.errors import CoverageWarning, InputError, MissingExtra, UninformedWarning
from nearfar.scale._answers import as_answers
from nearfar.scale._engine import check_versions

pytest.importorskip("distributed")
pytestmark = ON_A_CLUSTER


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("landmarks", [None, LANDMARKS])
@pytest.mark.parametrize("kernel", ["k1", "k2", "score", "k1+k2+score"])
def test_features_are_those_of_one_machine_to_the_last_bit(kernel, landmarks):
    answers = made_answers(landmarks=None if kernel == "k2" else landmarks)
    one = nf.FeatureMap(kernel, landmarks=landmarks).fit(answers)
    many = scale.FeatureMap(kernel, landmarks=landmarks).fit(as_answers(answers, piece_rows=170))
    assert np.array_equal(dense(many.features_.to_array()), dense(one.features_))
    assert len(many.features_.blocks) > 2
    assert np.array_equal(many.informed_.to_array(), one.informed_)
    assert many.n_informed_ == one.informed_.sum()
    assert many.uninformed_.tolist() == np.flatnonzero(~one.informed_).tolist()
    assert many.coverage_ == one.coverage_
    assert many.columns_.describe() == one.columns_.describe()
    assert many.objects_ == one.objects_ and many.n_answers_ == len(answers)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(("kernel", "landmarks"), [("k1", LANDMARKS), ("k1+score", None)])
def test_runs_of_many_sizes_are_added_up(kernel, landmarks):
    answers = made_answers()
    expected = nf.FeatureMap(kernel, landmarks=landmarks).fit_transform(answers)
    many = scale.FeatureMap(kernel, landmarks=landmarks, fan_in=2)
    phi = many.fit_transform(as_answers(answers, piece_rows=170)).to_array()
    np.testing.assert_array_equal(dense(phi), dense(expected))


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_features_have_the_layout_and_dtype_asked_for(layout):
    answers = made_answers()
    one = nf.FeatureMap("k1+score", layout=layout, dtype=np.float32).fit_transform(answers)
    many = scale.FeatureMap("k1+score", layout=layout, dtype=np.float32).fit_transform(answers).to_array()
    assert type(many) is type(one) and many.dtype == np.float32
    assert np.array_equal(dense(many), dense(one))


@pytest.mark.parametrize(("landmarks", "width"), [(None, 0), ([0, 1, 2], 3)])
def test_features_of_no_answers_are_zero(landmarks, width):
    nothing = nf.Triplets.from_array(np.empty((0, 3), int), n_objects=4)
    with pytest.warns(UninformedWarning, match="'k1' cannot place 4 of 4 objects"):
        fitted = scale.FeatureMap("k1", landmarks=landmarks).fit(nothing)
    assert fitted.features_.shape == (4, width) and fitted.n_informed_ == 0
    assert not dense(fitted.features_.to_array()).any()


@pytest.mark.usefixtures("elsewhere")
def test_features_of_no_objects_are_empty():
    nobody = nf.Triplets.from_array(np.empty((0, 3), int), n_objects=0)
    for kernel in ("k1", "score"):
        fitted = scale.FeatureMap(kernel).fit(nobody)
        assert fitted.features_.to_array().shape == (0, 0) and len(fitted.columns_) == 0
    with pytest.raises(InputError, match="none of its 0 rows is informed"):
        scale.KernelPCA().fit(fitted.features_)


def test_warnings_are_those_of_one_machine():
    answers = nf.Triplets.from_array([[0, 1, 2], [3, 4, 5]], n_objects=7)
    heard = []
    for kind in (nf.FeatureMap, scale.FeatureMap):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kind("k1").fit(answers)
        heard.append([(w.category, str(w.message)) for w in caught])
    assert heard[0] == heard[1]
    assert [category for category, _ in heard[0]] == [UninformedWarning, CoverageWarning]


def test_errors_survive_the_way_from_a_worker():
    there = MissingExtra("pyarrow", "dask")
    back = pickle.loads(pickle.dumps(there))
    assert str(back) == str(there) and "pyarrow" in str(back)


@pytest.mark.parametrize(
    ("verb", "differ"),
    [("FeatureMap", {"fan_in"}), ("KernelPCA", set()), ("KernelKMeans", set())],
)
def test_the_same_words_have_the_same_defaults(verb, differ):
    there, here = (getattr(module, verb)().get_params() for module in (scale, nf))
    assert there.keys() ^ here.keys() == differ
    assert all(there[name] == here[name] for name in there.keys() & here.keys())


# -------------------------------------------------------------------- clusters


def test_an_address_that_is_none_is_refused():
    with pytest.raises(InputError, match="'lokal' is not a cluster; expected local"), scale.connect("lokal"):
        pass


def test_workers_like_this_process_pass(cluster):
    check_versions(cluster, "here")
