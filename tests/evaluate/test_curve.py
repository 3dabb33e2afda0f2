"""Accuracy against the number of answers, and what more would bring."""

import numpy as np
import pytest
from benchmarks.honesty.worlds_third import asked_third, make_third

from nearfar.errors import InputError
from nearfar.evaluate import Analysis, compare
from nearfar.evaluate._saturation import draw_curves
from nearfar.evaluate.curve import _growing, _said_together, learning_curve
from nearfar.evaluate.splits import split_units
from nearfar.evaluate.uncertainty import Covariance
from nearfar.triplets import Triplets


def answers_about(points, m, seed, flip=0.0):
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(len(points))[:3] for _ in range(m)])
    d = np.linalg.norm(points[rows[:, :1]] - points[rows[:, 1:]], axis=2)
    turned = (d[:, 0] > d[:, 1]) ^ (rng.random(m) < flip)
    rows[turned] = rows[turned][:, [0, 2, 1]]
    return Triplets.from_array(rows, n_objects=len(points))


SPACE = np.random.default_rng(3).normal(size=(60, 3))


def test_the_last_point_is_the_comparison():
    answers = answers_about(SPACE, 2000, 0, flip=0.1)
    curve = learning_curve(answers, "score", sizes=[0.25, 1.0], cv=4, seed=2)
    full = compare(answers, ["score"], cv=4, seed=2)["score"]
    last = curve.points[-1]
    # parts differ by a trio or so; each is cut to the smallest
    assert abs(last.accuracy - full.accuracy) < 0.01
    assert last.answers == pytest.approx(1500, abs=5)
    assert curve.now is None and curve.verdict == "unclear"
    assert "too few sizes" in str(curve)


def test_training_sets_are_nested_and_keep_units_whole():
    answers = Triplets.from_odd_one_out(
        np.array([np.random.default_rng(s).permutation(9)[:3] for s in range(300)])
    )
    units = split_units(answers).codes
    train = np.flatnonzero(units % 5 != 0)
    order, ends = _growing(units, train, [0, 1])
    assert sorted(order) == train.tolist() and ends[-1] == len(train)
    for end in ends[:-1]:
        assert not set(units[order[:end]]) & set(units[order[end:]])


def test_a_collection_grows_as_it_was_collected():
    """By statements; within sets, which several people go through, by questions; by (anchor, near) where ids are lost."""
    rng = np.random.default_rng(0)
    few = Triplets.from_array(np.array([[0, 1, 2], [1, 2, 3], [2, 0, 3]])[rng.integers(3, size=60)])
    assert len(np.unique(_said_together(few))) == 60
    odd = Triplets.from_odd_one_out(np.array([rng.permutation(9)[:3] for _ in range(100)]))
    assert len(np.unique(_said_together(odd))) == 100
    world = make_third(rng, n=40, geometry="circle", noise="heavy")
    booklets = asked_third(world, rng, design="booklets", m=2000, people=30)
    assert np.array_equal(_said_together(booklets), split_units(booklets).codes)


def test_more_answers_are_foreseen():
    """Forecasts from half of the answers, against what all of them give and against "nothing changes"."""
    off, unchanged = [], []
    for seed in range(4):
        answers = answers_about(SPACE, 16_000, seed, flip=0.1)
        half = learning_curve(answers[:8000], "score")
        now = learning_curve(answers, "score").now.accuracy
        assert half.doubled.low - 0.01 < now < half.doubled.high + 0.01
        assert half.doubled.accuracy == pytest.approx(half.now.accuracy + half.gain.accuracy)
        assert half.verdict == "still rising" and half.gain.accuracy > 0.01
        off.append(abs(half.doubled.accuracy - now))
        unchanged.append(abs(half.now.accuracy - now))
    assert np.mean(off) < 0.7 * np.mean(unchanged) and max(off) < 0.03


def test_verdicts():
    plane = np.random.default_rng(0).normal(size=(30, 2))
    flat = learning_curve(
        answers_about(plane, 8000, 0, flip=0.05), "ste-1", cv=3
    )  # a line is too little for a plane
    assert flat.verdict == "levelled off" and "levelled off: doubling would bring +0.00" in str(flat)
    guesses = learning_curve(answers_about(SPACE, 2000, 0, flip=0.5), "score")
    assert guesses.verdict == "at chance"
    assert "at chance" in str(guesses) and "best possible accuracy" in str(guesses)


def test_curve_rises_and_prints_and_converts():
    curve = learning_curve(answers_about(SPACE, 3000, 2), "score", seed=1)
    accuracies = [p.accuracy for p in curve.points]
    assert len(curve.points) == 9 and accuracies[-1] > accuracies[0] + 0.1
    assert [p.answers for p in curve.points] == sorted(p.answers for p in curve.points)
    frame = curve.to_frame()
    assert frame.columns == ["answers", "accuracy", "standard_error", "ties"]
    assert frame["accuracy"].to_list() == accuracies
    assert "doubling would bring" in str(curve) and "score" in repr(curve)
    again = learning_curve(answers_about(SPACE, 3000, 2), "score", seed=1)
    assert again.points == curve.points and again.gain == curve.gain


def test_a_generator_is_a_seed():
    answers = answers_about(SPACE, 600, 3)
    one, two = (learning_curve(answers, "score", cv=2, seed=np.random.default_rng(5)) for _ in range(2))
    assert one.points == two.points and one.gain == two.gain


def test_sizes_by_number_and_by_share():
    answers = answers_about(SPACE, 1000, 3)
    by_number = learning_curve(answers, "score", sizes=[100, 400])
    by_share = learning_curve(answers, "score", sizes=[0.125, 0.5])
    assert (
        [round(p.answers) for p in by_number.points]
        == [round(p.answers) for p in by_share.points]
        == [100, 400]
    )
    with pytest.raises(InputError, match=r"900 answers are more than the \d+ that a fold leaves"):
        learning_curve(answers, "score", sizes=[900])
    with pytest.raises(InputError, match=r"sizes: got .*, expected numbers of answers or shares"):
        learning_curve(answers, "score", sizes=[0, 0.5])


def test_participants_widen_the_interval():
    """Half of the people guess: how well answers are predicted depends on who is drawn."""
    rng = np.random.default_rng(0)
    parts = [answers_about(SPACE[:15], 600, p, flip=rng.choice([0.0, 0.5])) for p in range(10)]
    rows = np.concatenate([part.array for part in parts])
    known = Triplets.from_array(rows, n_objects=15, participant=np.repeat(np.arange(10), 600))
    by_person, by_trio = (learning_curve(a, "score").now for a in (known, known.replace(participant=None)))
    assert by_person.high - by_person.low > 1.5 * (by_trio.high - by_trio.low)


@pytest.mark.parametrize("steepness", [0.8, 1.2, 3.0])
@pytest.mark.parametrize("turn", [100, 250, 600])
@pytest.mark.parametrize("rise", [0.25, 0.35, 0.45])
def test_a_saturating_curve_is_found_again(rise, turn, steepness):
    m = 2000 * 2.0 ** np.arange(-2.5, 0.25, 0.5)

    def truth(size):
        return 0.5 + rise * (1 + turn / (steepness * size)) ** -steepness

    curves = draw_curves(m, Covariance(truth(m), np.eye(6) * 1e-8, 50.0), 1.0, 0.0, np.random.default_rng(0))
    gained = truth(4000) - truth(2000)
    assert abs(np.median(curves.at(2000)) - truth(2000)) < 0.01
    assert abs(np.median(curves.gain(2000, 4000)) - gained) < 0.2 * gained + 0.003
    assert np.all(curves.at(1e9) <= 1.0) and curves.accelerates(2000) < 0.3


def test_where_a_curve_accelerates_it_is_too_early_to_say():
    m = 1000 * 2.0 ** np.arange(-2.5, 0.25, 0.5)
    early = 0.5 + 0.4 / (1 + (4000 / m) ** 1.5)  # every doubling brings more than the one before
    curves = draw_curves(m, Covariance(early, np.eye(6) * 1e-6, 50.0), 1.0, 0.0, np.random.default_rng(0))
    assert curves.accelerates(1000) > 0.4
    assert (
        draw_curves(m, Covariance(early, np.full((6, 6), np.nan), 0.0), 1.0, 0.0, np.random.default_rng(0))
        is None
    )


def test_no_curve_exceeds_the_most_that_is_possible():
    m = 1000 * 2.0 ** np.arange(-2.5, 0.25, 0.5)
    rising = Covariance(0.5 + 0.08 * np.log2(m / 100), np.eye(6) * 1e-4, 20.0)
    free, capped = (draw_curves(m, rising, most, 0.0, np.random.default_rng(0)) for most in (1.0, 0.8))
    assert free.at(8000).max() > 0.85 and capped.at(1e9).max() <= 0.8


def test_errors_are_clustered_by_people_and_by_trios():
    """Everybody answers the same forty trios: by people alone a point would look five times as sure."""
    rng = np.random.default_rng(0)
    few = np.array([rng.permutation(15)[:3] for _ in range(40)])[np.tile(np.arange(40), 30)]
    d = np.linalg.norm(SPACE[few[:, :1]] - SPACE[few[:, 1:]], axis=2)
    turned = (d[:, 0] > d[:, 1]) ^ (rng.random(len(few)) < 0.1)
    few[turned] = few[turned][:, [0, 2, 1]]
    answers = Triplets.from_array(few, n_objects=15, participant=np.repeat(np.arange(30), 40))
    point = learning_curve(answers, "score", cv=4).points[-1]
    assert point.standard_error > 4 * np.sqrt(point.accuracy * (1 - point.accuracy) / len(answers))


def test_too_early_to_say_where_hardly_anything_is_known():
    thin = learning_curve(answers_about(SPACE, 8 * len(SPACE), 0, flip=0.1), "score")
    assert thin.early and thin.gain is None and thin.doubled is None
    assert thin.verdict in ("too early to say", "at chance") and "too early to say" in str(thin)


def test_no_forecast_is_above_the_ceiling():
    """Every question is asked of several people, who agree in eight of ten: nobody forecasts more than is possible."""
    once = answers_about(SPACE[:12], 3000, 1)
    rng = np.random.default_rng(0)
    rows = once.array.copy()
    turned = rng.random(len(rows)) < 0.2
    rows[turned] = rows[turned][:, [0, 2, 1]]
    curve = learning_curve(
        Triplets.from_array(rows, n_objects=12, participant=np.arange(len(rows)) % 20), "soe-2"
    )
    most = max(curve.ceiling.outer[1], curve.points[-1].accuracy)
    assert most < 0.95 and curve.doubled.high <= most and curve.now.high <= most


def test_few_people_speak_for_themselves():
    """With eight people the forecast is about their own answers, and errors are those of trios alone."""
    answers = answers_about(SPACE[:15], 3000, 0, flip=0.1)
    eight = learning_curve(answers.replace(participant=np.arange(3000) % 8), "score")
    nobody, many = (
        learning_curve(answers, "score"),
        learning_curve(answers.replace(participant=np.arange(3000) % 20), "score"),
    )
    assert eight.few_people == 8 and nobody.few_people == many.few_people == 0
    assert eight.points == nobody.points and eight.gain == pytest.approx(nobody.gain, abs=1e-3)
    assert "8 people are too few to speak of others" in str(eight) and "too few" not in str(many)
    assert nobody.unknown_people and "accuracies for the same people" in str(nobody)
    assert not many.unknown_people and "accuracies for the same people" not in str(many)


@pytest.mark.parametrize("model", ["k1", "k1+k2", "score-2"])
def test_nothing_is_forecast_of_models_that_the_law_was_not_shown_for(model):
    curve = learning_curve(answers_about(SPACE, 3000, 0, flip=0.1), model, cv=3)
    assert not curve.known_law and curve.now is curve.doubled is curve.gain is None
    assert curve.verdict == "unclear" and f"would bring {model} is not forecast" in str(curve)


def test_the_error_of_the_height_is_not_in_the_gain():
    """Half of the people guess: the height depends on whom was asked, what twice the answers bring hardly does."""
    parts = [answers_about(SPACE[:15], 300, p, flip=0.5 * (p % 2)) for p in range(20)]
    rows = np.concatenate([part.array for part in parts])
    known = Triplets.from_array(rows, n_objects=15, participant=np.repeat(np.arange(20), 300))
    curve = learning_curve(known, "score")
    assert curve.now.high - curve.now.low > 3 * (curve.gain.high - curve.gain.low)


def test_by_default_the_curve_is_of_the_model_that_an_analysis_chooses():
    answers = answers_about(SPACE, 3000, 2)
    chosen = Analysis(answers, seed=1).best.name
    found = learning_curve(answers, sizes=[0.5, 1.0], cv=3, seed=1)
    named = learning_curve(answers, chosen, sizes=[0.5, 1.0], cv=3, seed=1)
    assert found.model == chosen and found.points == named.points
