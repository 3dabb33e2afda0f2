"""Vectors as a prior of the points: against a dense covariance written from its definition, and what users meet."""

import itertools
import math
import pickle
import warnings

import numpy as np
import polars as pl
import pytest
from embedding_tools import answers_about, every
from sklearn.base import clone

import nearfar as nf
from nearfar._tools.limits import LIMITS
from nearfar.embedding import SOE, STE
from nearfar.embedding import optimise as optimise_module
from nearfar.embedding.prior import LANDMARKS, Setting, Vectors
from nearfar.errors import FeatureWarning, InputError, TooLargeError, UninformedWarning
from nearfar.space.models import Model

NAMES = tuple(f"o{x}" for x in range(25))
RNG = np.random.default_rng(3)
CLIP, WORDS = RNG.normal(size=(25, 4)), RNG.normal(size=(25, 2)) * [1.0, 50.0]
GAUSSIAN, LINEAR = Setting(0.7, 1.2, (1.0,)), Setting(0.7, np.inf, (1.0,))


def scaled(table):
    """Columns less their means, divided so that rows have a squared length of 1 on average."""
    rows, columns = len(table), len(table[0])
    result = [[0.0] * columns for _ in range(rows)]
    for c in range(columns):
        mean = sum(row[c] for row in table) / rows
        deviation = math.sqrt(sum((row[c] - mean) ** 2 for row in table) / rows)
        for r in range(rows):
            result[r][c] = (table[r][c] - mean) / (deviation * math.sqrt(columns))
    return result


def covariance(tables, setting, lacking=()):
    """share * K + what K leaves of a variance of 1, by loops; ``lacking`` : (object, source) pairs without a vector."""
    n = len(tables[0])
    whole = np.zeros((n, n))
    for i, j in itertools.product(range(n), repeat=2):
        for s, (table, weight) in enumerate(zip(tables, setting.weights, strict=True)):
            if (i, s) in lacking or (j, s) in lacking:
                continue
            if setting.width == np.inf:
                value = sum(x * y for x, y in zip(table[i], table[j], strict=True))
            else:
                value = math.exp(-(math.dist(table[i], table[j]) ** 2) / (2 * setting.width**2))
            whole[i, j] += setting.share * weight * value
    for i in range(n):
        held = sum(w for s, w in enumerate(setting.weights) if (i, s) not in lacking)
        whole[i, i] += 1 - setting.share * held
    return whole


def of_prior(prior):
    return prior.basis @ prior.basis.T + np.diag(prior.own[:, 0] ** 2)


# -------------------------------------------------------------------- the covariance


@pytest.mark.parametrize("width", [0.8, 2.0, np.inf])
@pytest.mark.parametrize("weights", [(1.0, 0.0), (0.25, 0.75)])
def test_the_covariance_is_that_of_its_definition(width, weights):
    setting = Setting(0.6, width, weights)
    prior = Vectors({"clip": CLIP, "words": WORDS}, NAMES).prior(setting)
    wanted = covariance([scaled(CLIP), scaled(WORDS)], setting)
    np.testing.assert_allclose(of_prior(prior), wanted, atol=1e-6)
    np.testing.assert_allclose(np.diag(wanted).mean(), 1)


def test_the_covariance_of_objects_that_lack_vectors():
    frame = pl.DataFrame({"object": NAMES[5:], "x": WORDS[5:, 0], "y": WORDS[5:, 1]})
    vectors = Vectors({"clip": CLIP, "words": frame}, NAMES)
    setting = Setting(0.6, 1.2, (0.5, 0.5))
    lacking = {(i, 1) for i in range(5)}
    words = [[0.0, 0.0]] * 5 + scaled(WORDS[5:])
    wanted = covariance([scaled(CLIP), words], setting, lacking)
    np.testing.assert_allclose(of_prior(vectors.prior(setting)), wanted, atol=1e-6)
    assert vectors.known.all() and vectors.missing == ()


def test_more_objects_than_landmarks_keep_a_variance_of_one():
    many = np.random.default_rng(0).normal(size=(LANDMARKS + 40, 6))
    names = [f"o{x}" for x in range(len(many))]
    prior = Vectors(many, names).prior(GAUSSIAN)
    assert prior.basis.shape[1] <= LANDMARKS
    found = of_prior(prior)
    np.testing.assert_allclose(np.diag(found), 1, atol=1e-9)
    wanted = covariance([scaled(many[:30])], GAUSSIAN)  # another scale: only its size is compared
    assert abs(found[:30, :30] - wanted).max() < 0.25
    assert np.linalg.eigvalsh(found)[0] > 0.2


def test_coefficients_are_the_transpose_of_points():
    prior = Vectors(CLIP, NAMES).prior(GAUSSIAN)
    size = len(prior.own) + prior.basis.shape[1]
    matrix = prior.points(np.eye(size))
    np.testing.assert_allclose(prior.coefficients(np.eye(25)), matrix.T, atol=1e-15)
    np.testing.assert_allclose(matrix @ matrix.T, of_prior(prior), atol=1e-12)


# -------------------------------------------------------------------- the fit


@every
def test_the_gradient_is_that_of_finite_differences(method, monkeypatch, answers):
    caught = {}

    def catch(function, first, **options):
        caught.update(function=function, first=first)
        return real(function, first, **options)

    real = optimise_module.minimize
    monkeypatch.setattr(optimise_module, "minimize", catch)
    method(2, prior=Vectors(CLIP, answers.objects).prior(LINEAR)).fit(answers)
    rng = np.random.default_rng(0)
    at = caught["first"] + 0.1 * np.abs(caught["first"]).max() * rng.normal(size=len(caught["first"]))
    _, gradient = caught["function"](at)
    for way in rng.normal(size=(4, len(at))):
        way *= 1e-5 * np.abs(at).max()
        up, down = (caught["function"](at + sign * way)[0] for sign in (1, -1))
        assert gradient @ way == pytest.approx((up - down) / 2, rel=1e-4, abs=1e-9)


def all_answers(points, asked):
    """Every question about the objects ``asked``, answered by distance: all of them have equally many answers."""
    rows = []
    for a in asked:
        for b, c in itertools.combinations([x for x in asked if x != a], 2):
            nearer = math.dist(points[a], points[b]) < math.dist(points[a], points[c])
            rows.append((a, b, c) if nearer else (a, c, b))
    return nf.Triplets.from_array(rows, [f"o{x}" for x in range(len(points))])


@pytest.mark.parametrize("setting", [GAUSSIAN, LINEAR])
@pytest.mark.parametrize("init", ["kernel", "random"])
def test_an_object_without_answers_lies_at_its_conditional_mean(setting, init):
    points = np.random.default_rng(1).normal(size=(12, 2))
    asked, new = np.arange(10), np.array([10, 11])
    answers = all_answers(points, asked)
    vectors = Vectors(points, answers.objects)
    model = STE(2, prior=vectors.prior(setting), tol=1e-13, max_iter=4000, init=init, random_state=0)
    model.fit(answers)
    at = model.embedding_ + model._centre @ model._axes  # before it was centred
    whole = covariance([scaled(points)], setting)
    mean = whole[np.ix_(new, asked)] @ np.linalg.solve(whole[np.ix_(asked, asked)], at[asked])
    np.testing.assert_allclose(at[new], mean, atol=0.01 * at.std())
    assert model.informed_.all() and np.abs(model.embedding_[new]).max() > 0.05 * at.std()


def test_the_start_of_objects_without_answers_does_not_matter():
    answers = answers_about(WORDS / [1, 50], 400, objects=NAMES, drawn=range(20))
    prior = Vectors(WORDS, NAMES).prior(GAUSSIAN)
    placed = []
    for seed in (0, 1):
        model = SOE(2, prior=prior, init=np.random.default_rng(seed).normal(size=(25, 2))).fit(answers)
        placed.append(model.place(WORDS).points[20:] - model.embedding_[20:])
    assert np.abs(placed).max() < 1e-9


@every
def test_without_a_prior_nothing_changes(method, answers):
    np.testing.assert_array_equal(
        method(2, prior=None).fit_transform(answers), method(2).fit_transform(answers)
    )
    assert np.isnan(method(2).fit(answers).spread_).all()


@every
def test_useful_vectors_predict_better(method):
    truth = np.random.default_rng(5).normal(size=(25, 2))
    few, other = answers_about(truth, 120, flip=0.1), answers_about(truth, 2000, seed=9)
    prior = Vectors(truth @ [[1.0, 0.5], [0.2, 2.0]], few.objects).prior(GAUSSIAN)
    assert method(2, prior=prior).fit(few).score(other) > method(2).fit(few).score(other) + 0.02


# -------------------------------------------------------------------- names


def fitted(features, answers, setting=GAUSSIAN):
    return SOE(2, prior=Vectors(features, answers.objects).prior(setting)).fit(answers)


@pytest.fixture(scope="module")
def named():
    return answers_about(WORDS / [1, 50], 600, objects=NAMES)


def table(rows=range(25), values=WORDS):
    rows = list(rows)
    return pl.DataFrame(
        {"object": [NAMES[x] for x in rows], "x": values[rows, 0], "y": values[rows, 1]},
        schema={"object": pl.String, "x": pl.Float64, "y": pl.Float64},
    )


def test_names_in_any_order_give_the_same_points(named):
    one = fitted(WORDS, named)
    other = fitted(table(np.random.default_rng(0).permutation(25)), named)
    np.testing.assert_allclose(other.embedding_, one.embedding_, atol=1e-4)


def test_objects_without_a_vector_and_vectors_without_an_object(named):
    extra = pl.DataFrame({"object": ["zebra", "yak"], "x": [0.0, 1.0], "y": [9.0, 5.0]})
    vectors = Vectors(pl.concat([table(range(22)), extra]), NAMES)
    assert vectors.missing == NAMES[22:] and vectors.extra == ("zebra", "yak")
    prior = vectors.prior(GAUSSIAN)
    np.testing.assert_allclose(prior.own[22:], 1)
    np.testing.assert_allclose(prior.basis[22:], 0)
    assert SOE(2, prior=prior).fit(named).score(named) > 0.9


def test_without_answer_and_vector_an_object_is_uninformed():
    answers = answers_about(WORDS, 400, objects=NAMES, drawn=range(20))
    model = SOE(2, prior=Vectors(table(range(23)), NAMES).prior(GAUSSIAN))
    with pytest.warns(UninformedWarning, match="o23"):
        model.fit(answers)
    assert model.uninformed_.tolist() == [23, 24] and model.spread_[:23].max() < model.spread_[23]
    np.testing.assert_array_equal(model.embedding_[23:], 0)


@pytest.mark.parametrize(
    ("features", "word"),
    [(WORDS[:20], "20 rows"), (table(range(3)).with_columns(object=pl.Series(["a", "b", "c"])), "none of")],
)
def test_vectors_that_fit_no_object(features, word):
    with pytest.raises(InputError, match=word):
        Vectors(features, NAMES)


# -------------------------------------------------------------------- placing


def test_placed_training_objects_lie_at_their_vector_part(named):
    model = fitted(WORDS, named)
    own = model.prior.own * model._coefficients[:25] @ model._axes
    placed = model.place(table())
    assert placed.objects == NAMES
    np.testing.assert_allclose(placed.points, model.embedding_ - own, atol=1e-9)
    np.testing.assert_allclose(placed.spread, model.spread_)


def test_objects_are_placed_one_by_one_as_together(named):
    model = fitted(WORDS, named)
    together = model.place(WORDS[:3]).points
    for x in range(3):
        alone = model.place(WORDS[[x]])
        assert alone.objects == ("0",)
        np.testing.assert_allclose(alone.points[0], together[x], atol=1e-12)
    np.testing.assert_allclose(model.place(WORDS[[0, 0]]).points[1], together[0], atol=1e-12)  # no warning
    with pytest.warns(FeatureWarning, match="constant"):
        Vectors(np.c_[WORDS, np.ones(25)], NAMES)


def test_sources_are_placed_by_their_names(named):
    setting = Setting(0.7, 1.2, (0.5, 0.5))
    model = fitted({"clip": CLIP[:, :2], "words": WORDS}, named, setting)
    one = model.place({"clip": CLIP[:4, :2], "words": WORDS[:4]}).points
    np.testing.assert_array_equal(model.place({"words": WORDS[:4], "clip": CLIP[:4, :2]}).points, one)
    np.testing.assert_array_equal(model.place([CLIP[:4, :2], WORDS[:4]]).points, one)
    with pytest.raises(InputError, match="expected clip, words"):
        model.place({"words": WORDS[:4], "other": CLIP[:4, :2]})
    with pytest.raises(InputError, match="expected clip, words"):
        model.place(WORDS[:4])
    half = model.place({"clip": table([0, 1], CLIP), "words": table([1, 2])})
    assert half.objects == NAMES[:3] and half.spread[1] < half.spread[0]


def test_columns_are_placed_by_their_titles(named):
    model = fitted(table(), named)
    turned = table(range(4)).select("object", "y", "x")
    np.testing.assert_array_equal(model.place(turned).points, model.place(table(range(4))).points)
    with pytest.raises(InputError, match="no column 'x'"):
        model.place(turned.rename({"x": "z"}))


@pytest.mark.parametrize("unit", [1e-300, 1e200, [1e308, 1e300]])
def test_units_do_not_matter_however_large(named, unit):
    small = WORDS / np.abs(WORDS).max()
    one, other = (Vectors(values, NAMES).rows[0] for values in (small, small * unit))
    np.testing.assert_allclose(other, one, atol=1e-9)


def test_vectors_far_from_all_others_are_told_of(named):
    model = fitted(WORDS, named)
    with pytest.warns(FeatureWarning, match="o3: .* times as far"):
        model.place(table(range(5), np.where(np.arange(25)[:, None] == 3, 100 * WORDS, WORDS)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.place(1.5 * WORDS)


@pytest.mark.parametrize("wrong", [CLIP, np.full((2, 2), np.nan), {}])
def test_vectors_that_cannot_be_placed(named, wrong):
    with pytest.raises(InputError, match="features"):
        fitted(WORDS, named).place(wrong)


def test_a_model_without_vectors_places_nothing(named):
    with pytest.raises(InputError, match="place: "):
        SOE(2).fit(named).place(WORDS)
    with pytest.raises(InputError, match="place: "):
        nf.fit(named, "k1").place(WORDS)


# -------------------------------------------------------------------- manners


def test_cloning_and_pickling_keep_the_prior(named):
    prior = Vectors(WORDS, NAMES).prior(GAUSSIAN)
    model = SOE(2, prior=prior)
    assert clone(model).get_params()["prior"] is prior
    once = model.fit(named)
    again = pickle.loads(pickle.dumps(once))
    np.testing.assert_array_equal(again.place(WORDS).points, once.place(WORDS).points)


def test_a_prior_asks_for_its_objects_and_a_pull(named):
    prior = Vectors(WORDS, NAMES).prior(GAUSSIAN)
    with pytest.raises(InputError, match="other objects"):
        SOE(2, prior=prior).fit(answers_about(WORDS[:20], 100, objects=NAMES[:20]))
    with pytest.raises(InputError, match="features="):
        SOE(2, prior=WORDS).fit(named)
    with pytest.raises(InputError, match="regularization > 0"):
        SOE(2, prior=prior, regularization=0).fit(named)


def test_memory_is_checked_before_the_prior_is_made(monkeypatch):
    vectors = Vectors(WORDS, NAMES)
    monkeypatch.setattr(LIMITS, "memory_bytes", 50_000)
    with pytest.raises(TooLargeError, match="prior"):
        vectors.prior(GAUSSIAN)


@pytest.mark.parametrize("name", ["k1", "score", "score-3"])
def test_kernels_take_no_vectors(name, named):
    with pytest.raises(InputError, match="answers alone"):
        nf.fit(named, name, features=WORDS)
    with pytest.raises(InputError, match="answers alone"):
        nf.analyse(named, name, features=WORDS)
    with pytest.raises(InputError, match="answers alone"):
        nf.compare(named, [name], features=WORDS)


def test_a_name_does_not_make_vectors_enter(named):
    with pytest.raises(InputError, match="'soe-2', and give the vectors"):
        nf.fit(named, "soe-2+features", features=WORDS)


def test_the_name_of_a_model_says_whether_vectors_enter():
    twin = Model("soe-2", "soe", 2).with_vectors(Vectors(WORDS, NAMES))
    assert twin.name == "soe-2+features"
