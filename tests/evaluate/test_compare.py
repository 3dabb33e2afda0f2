"""Models are judged on answers they were not fitted on, and predict what they expect."""

import io
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_evaluate import clustered_error, margin
from scipy import sparse
from sklearn.base import BaseEstimator

from nearfar import design, embedding, progress
from nearfar.errors import InputError, NotConverged
from nearfar.evaluate import margins
from nearfar.evaluate.compare import compare
from nearfar.evaluate.dimension import choose_dimension
from nearfar.evaluate.metrics import answer_credits
from nearfar.evaluate.models import as_models, default_names, fit_model
from nearfar.evaluate.predict import predict_answers
from nearfar.evaluate.splits import kfold
from nearfar.features import FeatureMap
from nearfar.methods import KernelPCA
from nearfar.progress import listen
from nearfar.triplets import Triplets

DATA = Path(__file__).parents[3] / "shared" / "data"


def answers_about(points, m, seed, flip=0.0, people=None):
    """Random triplets judged by Euclidean distance, each flipped with probability ``flip``."""
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(len(points))[:3] for _ in range(m)])
    d = np.linalg.norm(points[rows[:, :1]] - points[rows[:, 1:]], axis=2)
    turned = (d[:, 0] > d[:, 1]) ^ (rng.random(m) < flip)
    rows[turned] = rows[turned][:, [0, 2, 1]]
    who = None if people is None else rng.integers(people, size=m)
    return Triplets.from_array(rows, n_objects=len(points), participant=who)


PLANE = np.random.default_rng(7).normal(size=(25, 2))


# ------------------------------------------------------------------ margins


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
def test_all_pairs_at_once_and_pair_by_pair_agree(layout, monkeypatch):
    answers = answers_about(PLANE, 3000, 0)
    phi = FeatureMap("score", layout=layout).fit_transform(answers)
    at_once = margins.phi_margins(phi, answers.anchor, answers.near, answers.far)
    monkeypatch.setattr(margins, "MOST_IN_MATRIX", 0)
    one_by_one = margins.phi_margins(phi, answers.anchor, answers.near, answers.far)
    assert np.allclose(at_once, one_by_one, atol=1e-12)
    assert ((at_once == 0) == (one_by_one == 0)).all()


def test_equal_distances_are_a_tie_whatever_the_rounding():
    corner = np.array([[0.1, 0.2, 0.3], [0.1 + 0.7, 0.2, 0.3], [0.1, 0.2 + 0.7, 0.3]])
    assert margins.point_margins(corner, np.array([0]), np.array([1]), np.array([2])).tolist() == [0.0]


# ------------------------------------------------------------------ predictions


def test_predictions_by_name_index_and_triplets():
    points = np.array([[0.0], [1.0], [3.0], [6.0]])
    objects = ("a", "b", "c", "d")
    by_name = predict_answers([["a", "c", "b"], ["d", "c", "a"]], points=points, objects=objects)
    by_index = predict_answers([[0, 2, 1], [3, 2, 0]], points=points, objects=objects)
    other_order = Triplets([0, 2], [2, 0], [1, 1], objects=("d", "a", "c"))  # (d, c, a), (c, d, a)
    assert by_name.triplets.array.tolist() == by_index.triplets.array.tolist() == [[0, 1, 2], [3, 2, 0]]
    assert by_name.margin.tolist() == [-8.0, 27.0]
    matched = predict_answers(other_order, points=points, objects=objects)
    assert matched.questions.array.tolist() == [[3, 2, 0], [2, 3, 0]]
    assert matched.ties.tolist() == [False, True]
    assert matched.to_frame()["nearer"].to_list() == ["c", None]
    assert len(matched.triplets) == 1


def test_predictions_say_what_is_wrong():
    points = np.zeros((3, 1))
    with pytest.raises(InputError, match="'x' is not among the model's 3 objects"):
        predict_answers([["0", "1", "x"]], points=points)
    with pytest.raises(InputError, match="expected one of model, points and phi, got none"):
        predict_answers([[0, 1, 2]])
    with pytest.raises(InputError, match="got points and phi"):
        predict_answers([[0, 1, 2]], points=points, phi=points)
    with pytest.raises(InputError, match="3 rows came for 2 objects"):
        predict_answers([[0, 1, 2]], points=points, objects=("a", "b"))
    with pytest.raises(InputError, match="index 3 is outside"):
        predict_answers([[0, 1, 3]], points=points)


def test_fitted_estimators_predict():
    train, test = answers_about(PLANE, 3000, 1), answers_about(PLANE, 300, 2)
    feature_map, method = FeatureMap("score").fit(train), embedding.CKL(n_components=2).fit(train)
    pca = KernelPCA(3).fit(feature_map.features_)
    for model, name in ((feature_map, "score"), (method, "ckl-2"), (pca, "score pca-3")):
        expected = fit_model(name, train).predict_answers(test)
        assert np.array_equal(predict_answers(test, model).margin, expected.margin)
    assert np.array_equal(
        predict_answers(test, fit_model("k1", train)).margin,
        fit_model("k1", train).predict_answers(test).margin,
    )
    with pytest.raises(InputError, match=r"is no fitted model; fit it first"):
        predict_answers(test, embedding.CKL(n_components=2))


def test_planned_questions_are_answered():
    questions = design.random_questions(["a", "b", "c", "d"], 6)
    expected = predict_answers(questions, points=[[0.0], [1.0], [3.0], [7.0]])
    assert len(expected) == 6 and expected.questions.objects == ("a", "b", "c", "d")
    assert expected.questions.array.tolist() == questions.array.tolist()


@pytest.mark.filterwarnings("ignore:1 of 4 objects")
def test_a_fitted_estimator_knows_whom_it_does_not_know():
    line = Triplets.from_array([[0, 1, 2], [1, 0, 2], [2, 1, 0]], n_objects=4)
    for model in (FeatureMap("score").fit(line), embedding.STE(n_components=1).fit(line)):
        assert predict_answers([[0, 1, 3], [3, 1, 2], [0, 1, 2]], model).ties.tolist() == [True, True, False]
    pca = KernelPCA(1).fit(FeatureMap("score").fit_transform(line))
    assert predict_answers([[3, 1, 2]], pca).ties.all()


@pytest.mark.parametrize("name", ["k1", "k1+k2", "score", "score pca-2", "ste-2", "soe-3"])
def test_every_fitted_model_predicts(name):
    train, test = answers_about(PLANE, 4000, 1), answers_about(PLANE, 500, 2)
    fitted = fit_model(name, train)
    expected = fitted.predict_answers(test)
    assert (expected.margin > 0).mean() + expected.ties.mean() / 2 > 0.75
    turned = fitted.predict_answers(Triplets(test.anchor, test.far, test.near, test.objects))
    assert np.allclose(turned.margin, -expected.margin)
    assert expected.triplets.objects == train.objects


@pytest.mark.parametrize("name", ["k1", "score", "score pca-2", "tste-2"])
def test_an_object_without_answers_makes_ties(name):
    known = answers_about(PLANE[:10], 800, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is uninformed is said elsewhere
        fitted = fit_model(name, Triplets.from_array(known.array, n_objects=11))
    asked = fitted.predict_answers([[0, 1, 10], [10, 1, 2], [0, 1, 2]])
    assert asked.ties.tolist()[:2] == [True, True] and not asked.ties[2]
    assert "1 unknown" in repr(fitted)


def test_a_model_of_no_answers_knows_nothing():
    assert fit_model("ste-2", Triplets.from_array([], n_objects=3)).predict_answers([[0, 1, 2]]).ties.all()


# ------------------------------------------------------------------ models


def test_names_of_models():
    names = ["k1", "score pca-5", "ste-2", "k2+score", "gnmds-10"]
    assert [model.name for model in as_models(names)] == names
    assert [model.name for model in as_models(["K1", " STE-2 "])] == ["k1", "ste-2"]
    assert as_models({"mine": "ste-2"})[0].name == "mine"
    assert [model.name for model in as_models("score")] == ["score"]
    assert len(default_names(100)) == 4 + 12 + 10
    assert default_names(5)[4:] == [f"{k} pca-2" for k in ("k1", "k2", "k1+k2", "score")] + [
        f"{e}-2" for e in ("ste", "tste", "ckl", "soe", "gnmds")
    ]


@pytest.mark.parametrize(
    "wrong", ["k3", "ste", "ste-0", "score pca-", "score pca-x", "pca-2", "k1 + k2 pca", ""]
)
def test_an_unknown_name_lists_the_known(wrong):
    with pytest.raises(
        InputError, match=r"is not known; known are the kernels k1, k2, k1\+k2, score .* ste-2, tste-2"
    ):
        as_models([wrong])


def test_what_is_no_model_is_said():
    with pytest.raises(InputError, match="5 is no model"):
        as_models([5])
    with pytest.raises(InputError, match="'k1' is there twice"):
        as_models(["k1", "K1"])
    with pytest.raises(InputError, match="an empty list came"):
        as_models([])


class Centred(BaseEstimator):
    """A model of one's own."""

    def __init__(self, n_components=2):
        self.n_components = n_components

    def fit_transform(self, answers):
        return KernelPCA(self.n_components).fit_transform(FeatureMap("score").fit_transform(answers))


def test_objects_are_judged_like_names():
    answers = answers_about(PLANE, 1500, 4)
    result = compare(answers, ["k1", "score pca-2", FeatureMap("k1"), Centred()])
    assert [s.name for s in result] == ["k1", "score pca-2", "FeatureMap()", "Centred()"]
    assert result["k1"].accuracy == result["FeatureMap()"].accuracy
    assert result["score pca-2"].accuracy == result["Centred()"].accuracy

    class Short:
        def fit_transform(self, answers):
            return np.zeros((3, 2))

    with pytest.raises(InputError, match=r"short gave an array of shape \(3, 2\) for 25 objects"):
        compare(answers, {"short": Short()})


# ------------------------------------------------------------------ compare


@pytest.mark.parametrize("people", [None, 8])
def test_compare_equals_the_definition(people):
    answers = answers_about(PLANE, 1200, 5, flip=0.1, people=people)
    found = compare(answers, ["k1", "score pca-2"], cv=4, seed=3)
    for name in ("k1", "score pca-2"):
        credit = np.empty(len(answers))
        for train, test in kfold(answers, 4, seed=3):
            fitted = fit_model(name, answers[train])
            given = {"points": fitted.points} if fitted.phi is None else {"kernel": fitted.phi @ fitted.phi.T}
            credit[test] = answer_credits(answers[test], **given)
        clusters = answers.trio_ids if people is None else answers.participant.codes
        assert found[name].accuracy == pytest.approx(credit.mean(), abs=1e-12)
        assert found[name].standard_error == pytest.approx(clustered_error(credit, clusters), abs=1e-12)
        assert found[name].ties == np.mean(credit == 0.5)
        if name == "k1":
            first = credit
    best, worst = sorted(found, key=lambda score: -score.accuracy)
    assert found.best is best and best.behind == 0
    assert worst.behind == pytest.approx(best.accuracy - worst.accuracy)
    difference = credit - first if best.name != "k1" else first - credit
    assert worst.behind_error == pytest.approx(clustered_error(difference, clusters), abs=1e-12)
    assert found.clustered_by == ("trio" if people is None else "participant")


class Truth:
    """The model nobody has."""

    def fit_transform(self, answers):
        return PLANE[: answers.n_objects]


def test_the_standard_error_has_the_size_of_the_spread():
    """Over fresh collections; people differ in care, so an error by answer would be too small."""
    rng = np.random.default_rng(0)
    accuracies, errors, naive = [], [], []
    for seed in range(40):
        parts = [
            answers_about(PLANE[:12], 60, 100 * seed + p, flip=rng.choice([0.0, 0.5])) for p in range(12)
        ]
        rows = np.concatenate([part.array for part in parts])
        answers = Triplets.from_array(rows, n_objects=12, participant=np.repeat(np.arange(12), 60))
        score = compare(answers, {"truth": Truth()}, cv=2).best
        accuracies.append(score.accuracy)
        errors.append(score.standard_error)
        naive.append(compare(answers.replace(participant=None), {"truth": Truth()}, cv=2).best.standard_error)
    assert 0.7 < np.mean(errors) / np.std(accuracies) < 1.4
    assert np.mean(naive) < 0.5 * np.std(accuracies)


def test_a_comparison_prints_and_converts():
    answers = answers_about(PLANE, 800, 6)
    result = compare(answers, ["k1", "score", "ste-2"])
    text = str(result)
    assert "800 answers about 25 objects, held out in 5 parts by trio" in text
    assert text.index("ste-2") < text.index("score")  # best first
    frame = result.to_frame()
    assert frame["name"][0] == result.best.name and len(frame) == 3
    assert frame["accuracy"].to_list() == sorted(frame["accuracy"].to_list(), reverse=True)
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["best"] == result.best.name and plain["scores"][0]["seconds"] >= 0
    assert len(result) == 3 and "best" in repr(result)
    with pytest.raises(KeyError, match="k2"):
        result["k2"]


def test_the_ceiling_stands_beside_the_accuracies():
    rows = np.array([[a, b, c] for a in range(6) for b in range(a) for c in range(b)])
    assert "best possible accuracy: unknown (no question was answered twice)" in str(
        compare(rows, ["k1"], cv=2)
    )
    people = Triplets.from_array(np.concatenate([rows[:10], rows]), participant=["ann"] * 20 + ["bob"] * 10)
    assert "unknown (no question was answered by two people)" in str(compare(people, ["score"], cv=2))
    twice = compare(np.concatenate([rows, rows]), ["score"], cv=2)
    assert twice.ceiling.bracket == (1.0, 1.0)
    assert "between 1.000 and 1.000 (from 20 repeated questions)" in str(twice)


def test_one_participant_alone_has_errors_by_trio():
    alone = answers_about(PLANE, 300, 8, people=1)
    result = compare(alone, ["score"])
    assert result.clustered_by == "trio" and result.best.standard_error > 0


def test_warnings_become_remarks_and_others_pass():
    class Lazy:
        def fit_transform(self, answers):
            warnings.warn("too few steps", NotConverged, stacklevel=1)
            return PLANE

    class Loud(Lazy):
        def fit_transform(self, answers):
            warnings.warn("something else", UserWarning, stacklevel=1)
            return PLANE

    answers = answers_about(PLANE, 300, 9)
    result = compare(answers, {"lazy": Lazy(), "truth": Centred()}, cv=3)
    assert result["lazy"].remarks == ("stopped before it converged in 3 of 3 fits",)
    assert "lazy: stopped before it converged in 3 of 3 fits" in str(result)
    with pytest.warns(UserWarning, match="something else"):
        compare(answers, {"loud": Loud()}, cv=3)


def test_too_little_coverage_is_a_remark_and_not_a_flood():
    result = compare(
        answers_about(np.random.default_rng(0).normal(size=(60, 2)), 300, 1), ["k1", "score"], cv=2
    )
    assert "had too little coverage to mean anything in 2 of 2 fits" in result["k1"].remarks


def test_progress_is_announced():
    class Log:
        def __init__(self):
            self.steps = {}

        def start(self, name, total):
            self.steps[name] = [total, 0]
            return name

        def advance(self, handle, amount):
            self.steps[handle][1] += amount

        def stop(self, handle):
            pass

    log = Log()
    with listen(log):
        compare(answers_about(PLANE, 200, 0), ["k1", "score"], cv=3)
    assert log.steps["comparing 2 models"] == [6, 6]


def test_a_bar_is_drawn_on_request(monkeypatch):
    """``show`` is what a notebook needs; steps that are over at once are not drawn, so there is no patience here."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    compare(answers_about(PLANE, 400, 0), ["score", "ste-2"], cv=2)
    assert not terminal.getvalue()
    with progress.show():
        compare(answers_about(PLANE, 400, 0), {"slow": Slow(), "score": "score"}, cv=2)
    assert "comparing 2 models" in terminal.getvalue()


class Slow:
    """A model that takes its time."""

    name = "slow"

    def fit(self, answers, features=None):
        time.sleep(0.1)
        return fit_model("score", answers)


def test_the_best_model_goes_on_to_predict():
    answers = answers_about(PLANE, 2000, 10)
    result = compare(answers, ["k1", "score", "ste-2"])
    test = answers_about(PLANE, 300, 11)
    expected = result.fit_best(answers).predict_answers(test)
    assert result.best.name == "ste-2" and (expected.margin > 0).mean() > 0.9


def test_same_seed_same_result_and_arrays_are_welcome():
    answers = answers_about(PLANE, 500, 12, flip=0.2)
    first, again = (compare(answers.array, ["score"], seed=5)["score"].accuracy for _ in range(2))
    assert first == again != compare(answers.array, ["score"], seed=6)["score"].accuracy


# ------------------------------------------------------------------ how many dimensions


def test_the_dimension_is_found():
    space = np.random.default_rng(1).normal(size=(30, 3))
    choice = choose_dimension(answers_about(space, 6000, 0, flip=0.1), dimensions=(1, 2, 3, 5))
    assert int(choice) == choice.dimension == 3
    assert "3 dimensions are enough" in str(choice)
    line = choose_dimension(answers_about(space[:, :1], 3000, 0, flip=0.1), "soe", (1, 2, 4))
    assert int(line) == 1 and "1 dimension is enough" in str(line)
    short = choose_dimension(answers_about(space, 4000, 0), dimensions=(1, 2), cv=2)
    assert int(short) == 2 and "2 dimensions do best, the most that were tried" in str(short)


def test_the_dimension_rule():
    answers = answers_about(PLANE, 1500, 3, flip=0.15)
    choice = choose_dimension(answers, "score", (5, 1, 2, 8), cv=3)
    scores = choice.comparison.scores
    assert choice.dimensions == (1, 2, 5, 8) and [s.name for s in scores] == ["1", "2", "5", "8"]
    assert choice.dimension == next(
        d
        for d, s in zip(choice.dimensions, scores, strict=True)
        if s.behind <= s.behind_error or s.behind == 0
    )
    assert choice.best_dimension == int(max(scores, key=lambda s: s.accuracy).name)
    same = choose_dimension(answers, Centred(), (1, 2), cv=3)
    assert [s.accuracy for s in same.comparison] == [s.accuracy for s in scores[:2]]


def test_dimensions_that_cannot_be():
    answers = answers_about(PLANE, 100, 0)
    with pytest.raises(InputError, match="whole numbers from 1 on"):
        choose_dimension(answers, dimensions=(0, 2))
    with pytest.raises(InputError, match="has no parameter n_components"):
        choose_dimension(answers, object())
    with pytest.raises(InputError, match="is not known; known are the kernels"):
        choose_dimension(answers, "mds")


# ------------------------------------------------------------------ real answers


def test_car_comes_out_as_known():
    path = DATA / "car" / "triplets.npz"
    if not path.exists():
        pytest.skip("the car data is not beside the repository")
    with np.load(path) as file:
        answers = Triplets.from_most_central(file["statements_T_ALL"], n_objects=60)
    result = compare(answers, ["k1", "score", "ste-2"])
    assert abs(result["k1"].accuracy - 0.714) < 0.03  # one split gave .714; parts differ by .02
    assert abs(result["ste-2"].accuracy - 0.841) < 0.02
    low, high = result.ceiling.bracket
    assert 0.75 < low < 0.82 < result["ste-2"].accuracy < high + 0.02
