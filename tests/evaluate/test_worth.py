"""What vectors are worth: whether they enter, what they add, and what is held out to measure it."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from embedding_tools import answers_about

import nearfar as nf
from nearfar import words
from nearfar.embedding.prior import Vectors
from nearfar.errors import FeatureWarning, InputError
from nearfar.evaluate import priors, worth
from nearfar.evaluate.bootstrap import Draws, Estimate
from nearfar.evaluate.crossval import Fit
from nearfar.evaluate.priors import choose_setting
from nearfar.evaluate.splits import split_units
from nearfar.evaluate.worth import left_out_objects
from nearfar.space.models import empty_space, parse_model
from nearfar.triplets import Triplets

N = 24
NAMES = [f"o{x}" for x in range(N)]
TRUTH = np.random.default_rng(0).normal(size=(N, 3))
NOISE = np.random.default_rng(1).normal(size=(N, 12))
SHUFFLED = TRUTH[np.random.default_rng(2).permutation(N)]


@pytest.fixture(scope="module")
def answers():
    return answers_about(TRUTH, 500, flip=0.1, objects=NAMES)


@pytest.fixture(scope="module")
def useful(answers):
    return nf.analyse(answers, models=["score", "soe-2", "soe-5"], cv=3, features={"lab": TRUTH})


# -------------------------------------------------------------------- whether they enter


def test_useful_vectors_improve_held_out_accuracy(useful):
    names = [model.name for model in useful.models]
    assert names == ["score", "soe-2", "soe-5", "soe-2+features", "soe-5+features", "features"]
    for name in ("soe-2", "soe-5"):
        assert useful.scores[f"{name}+features"].accuracy > useful.scores[name].accuracy + 0.01
    assert useful.worth.both.name in ("soe-2+features", "soe-5+features")
    assert useful.worth.gain.value > 0 and useful.worth.answers.name in ("score", "soe-2", "soe-5")
    assert list(useful.worth.shares) == ["lab"] and 0 < useful.worth.shares["lab"] < 1


def test_they_predict_answers_about_objects_left_out(useful):
    found = useful.worth.new_objects
    assert 0.6 < found.low < found.value < found.high < 1


def test_shuffled_vectors_change_nothing(answers):
    models = ["score", "soe-2", "soe-5"]
    with_them = nf.analyse(answers, models=models, cv=3, features=SHUFFLED)
    without = nf.analyse(answers, models=models, cv=3)
    assert [model.name for model in with_them.models] == [*models, "features"]
    assert with_them.chosen.name == without.chosen.name
    np.testing.assert_array_equal(with_them.credits.values[:3], without.credits.values)
    np.testing.assert_array_equal(with_them.space.map(2), without.space.map(2))
    found = with_them.worth
    assert found.shares == {} and found.times is None and found.new_objects is None
    assert found.both == found.answers and found.gain.value == 0
    assert "both" not in str(found) and with_them.without_vectors == with_them.chosen.name


def test_a_named_model_without_use_for_vectors_is_the_plain_one(answers):
    space, plain = nf.fit(answers, "soe-3", features=SHUFFLED), nf.fit(answers, "soe-3")
    assert space.model == "soe-3"
    np.testing.assert_array_equal(space.map(3), plain.map(3))


def test_a_named_model_takes_useful_vectors_whatever_its_dimensions(answers):
    assert nf.fit(answers, "ckl-3", features=TRUTH).model == "ckl-3+features"
    analysis = nf.analyse(answers, "ckl-3", cv=3, features=TRUTH)
    assert analysis.chosen.name == "ckl-3+features"


def test_a_source_of_noise_has_no_weight(answers):
    vectors = Vectors({"noise": NOISE, "lab": TRUTH}, NAMES)
    assert (setting := choose_setting(answers, vectors)).weights == (0.0, 1.0)
    assert vectors.prior(setting).shares["noise"] == 0
    assert choose_setting(answers, Vectors({"noise": NOISE, "more": SHUFFLED}, NAMES)) is None


def test_the_setting_of_a_fold_is_chosen_by_its_training_answers(answers, monkeypatch):
    seen = []

    def choose(train, vectors, **how):
        seen.append(set(train.trio_ids.tolist()))
        return choose_setting(train, vectors, **how)

    monkeypatch.setattr(priors, "choose_setting", choose)
    analysis = nf.analyse(answers, models=["soe-2"], cv=3, features=TRUTH)
    assert analysis.credits.values.shape == (3, len(answers))
    trios = answers.trio_ids
    assert len(seen) == 3
    for (_, test), known in zip(analysis.splits, seen, strict=True):
        assert not known & set(trios[test].tolist())


def test_too_few_answers_to_choose_by():
    three = Triplets.from_array([[0, 1, 2], [1, 2, 3], [2, 3, 4]], NAMES[:5])
    assert nf.fit(three, "soe-2", features=TRUTH[:5]).model == "soe-2"


@pytest.mark.parametrize("nothing", [{}, [], None])
def test_no_vectors_at_all(nothing, answers):
    assert nf.fit(answers, "soe-2", features=nothing).model == "soe-2"
    assert nf.analyse(answers, models=["soe-2"], features=nothing).worth is None


def test_vectors_alone_are_placed_too(answers):
    alone = nf.analyse(answers[:60], models=["soe-2"], cv=2, features={"lab": TRUTH}).fit("features")
    points = alone.estimator.fit_transform(answers)
    np.testing.assert_allclose(alone.place(TRUTH[:2]).points, points[:2], atol=1e-9)
    assert alone.place(TRUTH[:1]).points.shape == (1, 3)


# -------------------------------------------------------------------- objects left out


def screens(seed, statement):
    """The two most similar of six to an anchor: eight triplets a screen."""
    rng = np.random.default_rng(seed)
    rows, codes = [], []
    for number in range(60):
        anchor, *shown = rng.permutation(N)[:7]
        shown = sorted(shown, key=lambda x: np.linalg.norm(TRUTH[x] - TRUTH[anchor]))
        rows += [(anchor, near, far) for near in shown[:2] for far in shown[2:]]
        codes += [number] * 8
    return Triplets.from_array(rows, NAMES, **({"statement": codes} if statement else {}))


def odd(seed):
    trios = [np.random.default_rng([seed, t]).permutation(N)[:3] for t in range(150)]
    return Triplets.from_odd_one_out(trios, NAMES)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "made",
    [
        lambda seed: answers_about(TRUTH, 400, seed=seed, objects=NAMES),
        odd,
        lambda seed: screens(seed, True),
        lambda seed: screens(seed, False),
    ],
)
def test_no_training_answer_names_a_left_out_object(made, seed, monkeypatch):
    given, trained = made(seed), []

    def fit(model, train):
        trained.append(train)
        return Fit(empty_space(model.name, train, model.n_components))

    monkeypatch.setattr(worth, "fit_timed", fit)
    credits, rows, left_out = worth.left_out_objects(given, parse_model("soe-2"), seed=seed)
    units = split_units(given)
    assert len(credits) == len(rows) == len(left_out) and trained
    array, unit_of = given.array, {tuple(row): set() for row in given.array.tolist()}
    for row, code in zip(array.tolist(), units.codes.tolist(), strict=True):
        unit_of[tuple(row)].add(code)
    start = 0
    for train in trained:  # the tested rows of each fold follow each other
        gone = set(range(N)) - set(np.unique(train.array).tolist())
        ends = start
        while ends < len(rows) and left_out[ends] in gone:
            ends += 1
        tested = rows[start:ends]
        assert len(tested)
        known = {
            code
            for row in train.array.tolist()
            for code in unit_of[tuple(row)]
            if len(unit_of[tuple(row)]) == 1
        }
        assert not known & set(units.codes[tested].tolist())
        for row, code in zip(array[tested], left_out[start:ends], strict=True):
            assert code in row and code not in train.array
        start = ends
    assert start == len(rows)


def test_nothing_is_left_out_where_every_answer_would_go():
    star = [
        (0, *pair)
        for pair in np.random.default_rng(0).permutation([(b, c) for b in range(1, 8) for c in range(1, b)])
    ]
    assert worth.left_out_objects(Triplets.from_array(star), parse_model("soe-2"), least=0.99) is None


# -------------------------------------------------------------------- worth in answers


SIZES = np.array([100.0, 200.0, 400.0, 800.0])


@pytest.mark.parametrize(
    ("curve", "target", "times"),
    [
        ([0.6, 0.7, 0.8, 0.9], 0.7, 4.0),
        ([0.6, 0.7, 0.8, 0.9], 0.75, 2**1.5),
        ([0.6, 0.7, 0.8, 0.9], 0.5, np.inf),
        ([0.6, 0.7, 0.8, 0.9], 0.95, 1.0),
        ([0.6, 0.8, 0.7, 0.9], 0.85, 2**0.5),  # a curve that falls is held up
    ],
)
def test_times_of_an_artificial_curve(curve, target, times):
    found = worth._ratios(SIZES, np.array(curve)[:, None], np.array([target]))
    assert found == pytest.approx([times])


def test_times_and_their_interval():
    rng = np.random.default_rng(0)
    m = 4000
    shares = np.array([[0.6], [0.65], [0.7], [0.75]])
    credits = (rng.random(m) < shares).astype(float)
    without = (rng.random(m) < 0.675).astype(float)
    found = worth._times(SIZES, credits, without, Draws(np.arange(m)))
    assert found.low < found.value < found.high
    assert found.low < 2**1.5 < found.high and found.value == pytest.approx(2**1.5, rel=0.4)


def test_likelihoods_of_margins_have_the_slope_that_fits_and_leave_gaps():
    margins = np.random.default_rng(0).normal(size=4000)
    signs = np.where(np.random.default_rng(1).random(4000) < 1 / (1 + np.exp(-3 * margins)), 1.0, -1.0)
    gaps = np.append(margins * signs, np.nan)
    found = priors.log_likelihoods(gaps)
    assert np.isnan(found[-1]) and found[:-1].max() < 0
    slopes = np.log(1 / np.expm1(-found[:-1])) / gaps[:-1]
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-6)
    assert slopes[0] == pytest.approx(3, rel=0.1)


def test_times_are_measured_where_the_gain_is_clear():
    answers = answers_about(TRUTH, 150, objects=NAMES)
    found = nf.analyse(answers, models=["soe-5"], cv=3, features=TRUTH).worth
    assert found.gain.low > 0 and found.times.value > 1.2
    assert found.times.low <= found.times.value <= found.times.high and "times as many" in str(found)


def test_plain_json_and_text(useful):
    found = useful.worth.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["both"]["name"] == useful.worth.both.name and found["n_extra"] == 0
    text = str(useful.worth)
    assert f"{100 * useful.worth.alone.accuracy:.1f}" in text and "lab" in text


def test_infinite_times_are_none_in_json(useful):
    endless = replace(useful.worth, times=Estimate(np.inf, 5.0, np.inf), gain=Estimate(0.1, 0.05, 0.15))
    assert json.loads(json.dumps(endless.to_dict(), allow_nan=False))["times"]["value"] is None
    assert "more than 8 times as many answers (95 % interval 5.0 to more than 8)" in str(endless)
    assert "inf" not in str(replace(endless, times=Estimate(np.inf, np.inf, np.inf)))
    assert "worth" not in str(replace(endless, times=None))


def test_an_analysis_says_which_objects_have_no_vector(answers):
    frame = pl.DataFrame({"object": [*NAMES[:20], "zebra"], "x": np.arange(21) ** 2.0, "y": NOISE[:21, 0]})
    with pytest.warns(FeatureWarning, match="4 of 24 objects have no vector: o20.*1 vector"):
        found = nf.analyse(answers, models=["soe-2"], cv=2, features=frame).worth
    assert found.missing == tuple(NAMES[20:]) and found.n_extra == 1
    assert "o20" in str(found)


def test_vectors_without_an_object_are_counted_where_every_object_has_one(answers):
    frame = pl.DataFrame({"object": [*NAMES, "zebra", "yak"], "x": np.arange(26) ** 2.0})
    with pytest.warns(FeatureWarning, match="2 vectors belong to no object of the answers"):
        nf.fit(answers, "soe-2", features=frame)


def test_names_that_differ_by_case_alone_are_counted(answers):
    frame = pl.DataFrame({"object": [*NAMES[:20], "O20", " o21"], "x": NOISE[:22, 0]})
    with pytest.warns(FeatureWarning, match=r"4 of 24 objects .*\(2 by case"):
        nf.fit(answers, "soe-2", features=frame)


def test_only_objects_with_a_vector_are_left_out(answers):
    half = Vectors(pl.DataFrame({"object": NAMES[:12], "x": TRUTH[:12, 0], "y": TRUTH[:12, 1]}), NAMES)
    left_out = left_out_objects(answers, parse_model("soe-2").with_vectors(half))
    assert left_out is not None and left_out[2].max() < 12


def test_an_estimator_takes_vectors_as_its_name_does(answers):
    one, other = (nf.fit(answers, model, features=TRUTH) for model in (nf.embedding.SOE(2), "soe-2"))
    np.testing.assert_array_equal(one.rows, other.rows)
    assert one.shares == other.shares and list(one.shares) == ["features"]
    found = nf.compare(answers, {"mine": nf.embedding.SOE(2)}, cv=2, features=TRUTH)
    assert [score.name for score in found] == ["mine", "mine+features", "features"]
    assert nf.fit(answers, nf.embedding.SOE(2), features=NOISE).shares == {}


def test_vectors_that_are_all_equally_far_apart_correlate_with_nothing(answers):
    analysis = nf.analyse(answers, models=["soe-2"], cv=2, n_resamples=2, features=np.eye(len(NAMES)))
    assert np.isnan(analysis.vector_correlation.value)
    assert words.correlation(analysis.vector_correlation) == ""


def test_properties_are_predicted_without_vectors_that_may_hold_them(answers):
    extra = NOISE[:, 0]
    analysis = nf.analyse(
        answers, models=["soe-2", "soe-5"], cv=3, features=np.column_stack([TRUTH, 2 * extra])
    )
    assert analysis.chosen.name.endswith("+features")
    found = analysis.explain({"extra": extra, "first": TRUTH[:, 0]})
    assert found.model == analysis.worth.answers.name
    assert [each.p <= 0.05 for each in found.properties] == [True, False]


def test_correlations_have_one_zero_and_a_minus():
    assert "−0.20 to 0.00" in words.correlation(Estimate(-0.1, -0.2, -0.001))


def test_vectors_that_alone_predict_best_are_not_called_uncertain(useful):
    best, worse = (replace(useful.worth.alone, behind=at, as_good_as_best=not at) for at in (0.0, 0.1))
    found = replace(useful.worth, alone=best, answers=worse, both=worse, gain=Estimate(0.01, -0.01, 0.03))
    assert words.worth(found).short == "Vectors alone predict best"
    assert words.worth(replace(found, shares={})).short == "Vectors alone predict best"
    assert words.worth(replace(found, alone=worse, both=best)).short != "Vectors alone predict best"


def test_the_reason_for_a_choice_holds_where_vectors_alone_predict_best(useful):
    ranked = [replace(useful.scores["soe-2"], name=name) for name in ("features", "soe-5+features", "soe-2")]
    scores = SimpleNamespace(best=ranked[0], ranked=lambda: ranked)
    models = [SimpleNamespace(name=each.name, n_components=5) for each in ranked]
    facts = {"splits": [0], "is_named": False, "models": models, "dimension": 2, "scores": scores}
    chosen = SimpleNamespace(best=ranked[1], space=SimpleNamespace(n_components=5), **facts)
    told = words.choice(chosen)
    assert "simpler" not in told and "vectors alone" in told and "soe-5+features" in told


def test_a_scale_is_resampled_with_the_chosen_vectors():
    line = TRUTH[:, :1]
    answers = answers_about(line, 150, flip=0.15, objects=NAMES)
    analysis = nf.analyse(answers, "soe-1", models=["soe-1"], cv=2, n_resamples=4, features=line)
    assert analysis.chosen.name == "soe-1+features" and analysis.scale is not None


def test_vectors_of_other_objects_are_refused(answers):
    with pytest.raises(InputError, match="rows"):
        nf.compare(answers, features=TRUTH[:5])
