"""Names and objects become models, and models make spaces."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from space_tools import PLANE, answers_about

import nearfar as nf
from nearfar.errors import InputError
from nearfar.features import FeatureMap
from nearfar.methods import KernelPCA
from nearfar.space import fit, parse_model, parse_models
from nearfar.triplets import Triplets


def test_names_of_models():
    names = ["k1", "score-5", "ste-2", "k2+score", "gnmds-10", "k1+k2-3"]
    assert [model.name for model in parse_models(names)] == names
    assert [model.n_components for model in parse_models(names)] == [None, 5, 2, None, 10, 3]
    assert [model.name for model in parse_models(["K1", " STE-2 ", "k1 + k2"])] == ["k1", "ste-2", "k1+k2"]
    assert parse_models({"mine": "ste-2"})[0].name == "mine"
    assert [model.name for model in parse_models("score")] == ["score"]


@pytest.mark.parametrize("wrong", ["k3", "ste-0", "score-0", "score-", "score-x", "pca-2", "k1+k1", "-2", ""])
def test_an_unknown_name_lists_the_known(wrong):
    with pytest.raises(
        InputError,
        match=r"is not known.* Models: auto; embeddings ste, tste, .* kernels k1, k2, k1\+k2, score",
    ):
        parse_models([wrong])


def test_a_misspelt_name_is_recognised():
    with pytest.raises(InputError, match="did you mean 'auto'"):
        parse_models(["auot"])


def test_an_embedding_needs_its_dimensions():
    with pytest.raises(InputError, match=r"'soe' needs a number of dimensions, such as 'soe-2' or 'soe-8'"):
        parse_model("soe")


def test_auto_is_not_one_of_the_models_it_chooses_from():
    for given in (["auto"], {"mine": "auto"}):
        with pytest.raises(InputError, match="'auto' is not allowed here"):
            parse_models(given)
    judged = [model.name for model in nf.Analysis([[0, 1, 2]], models=["k2", "auto", "score"], cv=2).models]
    assert {"score", "k1", "k2"} <= set(judged) and "auto" not in judged and len(judged) == len(set(judged))


def test_an_object_that_does_not_show_itself_goes_by_its_class():
    class Mine:
        fit_transform = None

    class Told(Mine):
        def __repr__(self):
            return "told"

    assert [parse_model(Mine()).name, parse_model(Told()).name] == ["Mine", "told"]


def test_what_is_not_a_model_is_said():
    with pytest.raises(InputError, match="5 is not a model"):
        parse_models([5])
    with pytest.raises(InputError, match=r"got the class SOE; expected a name or an object, such as SOE\(\)"):
        parse_model(nf.embedding.SOE)
    with pytest.raises(InputError, match="model: a value of type ndarray is not a model"):
        parse_model(np.eye(30))
    with pytest.raises(InputError, match="'k1' is listed twice"):
        parse_models(["k1", "K1"])
    with pytest.raises(InputError, match="got an empty list"):
        parse_models([])


@pytest.mark.filterwarnings("ignore:.*no usable answer", "ignore:two objects share")
def test_landmarks_go_with_kernels():
    answers = answers_about(PLANE, 3000, 0)
    space = fit(answers, "k1", landmarks=[0, 1, 2, 3])
    wanted = FeatureMap("k1", landmarks=[0, 1, 2, 3]).fit_transform(answers)
    assert space.rows.shape == (25, 6) and np.array_equal(space.rows, wanted)
    assert fit(answers, "k1-2", landmarks=["0", "1", "2", "3"]).rows.shape == (25, 2)
    with pytest.raises(InputError, match="landmarks: soe-2 has no columns to choose"):
        fit(answers, "soe-2", landmarks=[0, 1, 2])
    with pytest.raises(InputError, match="landmarks: they go with a kernel; name one"):
        nf.fit(answers, landmarks=[0, 1, 2])


class Centred(BaseEstimator):
    """A model of one's own."""

    def __init__(self, n_components=2):
        self.n_components = n_components

    def fit_transform(self, answers):
        return KernelPCA(self.n_components).fit_transform(FeatureMap("score").fit_transform(answers))


def test_estimators_are_models():
    answers = answers_about(PLANE, 1500, 4)
    ours, own = fit(answers, "score-2"), fit(answers, Centred())
    assert own.model == "Centred()" and np.array_equal(ours.rows, own.rows)
    assert fit(answers, FeatureMap("k1")).kind == "kernel"
    assert parse_model(Centred(7)).n_components == 7

    class Short:
        def fit_transform(self, answers):
            return np.zeros((3, 2))

    with pytest.raises(InputError, match=r"gave an array of shape \(3, 2\) for 25 objects"):
        fit(answers, Short())


def test_fitting_leaves_the_given_estimator_alone():
    method = nf.embedding.STE(n_components=2)
    fit(answers_about(PLANE, 500, 1), method)
    assert not hasattr(method, "embedding_")


@pytest.mark.parametrize("name", ["k1", "k1+k2", "score", "score-2", "ste-2", "soe-3"])
def test_every_model_predicts(name):
    train, test = answers_about(PLANE, 4000, 1), answers_about(PLANE, 500, 2)
    space = fit(train, name)
    expected = space.predict(test)
    assert (expected.margin > 0).mean() + expected.ties.mean() / 2 > 0.75
    turned = space.predict(Triplets(test.anchor, test.far, test.near, test.objects))
    assert np.allclose(turned.margin, -expected.margin)
    assert expected.triplets.objects == train.objects


@pytest.mark.parametrize("name", ["k1", "score", "score-2", "tste-2"])
def test_an_object_without_answers_makes_ties(name):
    known = answers_about(PLANE[:10], 800, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is uninformed is said elsewhere
        space = fit(Triplets.from_array(known.array, n_objects=11), name)
    asked = space.predict([[0, 1, 10], [10, 1, 2], [0, 1, 2]])
    assert asked.ties.tolist()[:2] == [True, True] and not asked.ties[2]
    assert "1 uninformed" in repr(space) and space.uninformed_objects == ("10",)


def test_a_model_of_no_answers_knows_nothing():
    assert fit(Triplets.from_array([], n_objects=3), "ste-2").predict([[0, 1, 2]]).ties.all()
