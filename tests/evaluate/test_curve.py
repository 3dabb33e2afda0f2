"""Accuracy against the number of answers, and what more would bring."""

import numpy as np
import pytest
from space_tools import PLANE, answers_about

from nearfar.errors import InputError
from nearfar.evaluate import Analysis, compare, learning_curve
from nearfar.evaluate.bootstrap import make_draws
from nearfar.evaluate.crossval import _growing
from nearfar.evaluate.splits import split_units
from nearfar.triplets import Triplets

SPACE = np.random.default_rng(3).normal(size=(60, 3))


def test_the_last_point_is_the_comparison():
    answers = answers_about(SPACE, 2000, 0, flip=0.1)
    curve = learning_curve(answers, "score", sizes=[0.25, 1.0], cv=4, seed=2)
    full = compare(answers, ["score"], cv=4, seed=2)["score"]
    last = curve.points[-1]
    assert (last.accuracy, last.low, last.high) == (full.accuracy, full.low, full.high)
    assert last.answers == pytest.approx(1500, abs=5)
    assert curve.last_gain is None and curve.next_gain is None and curve.verdict == ""


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


def test_more_answers_are_foreseen():
    """The gain expected from half of the answers, against what the other half brings."""
    inside = []
    for seed in range(4):
        answers = answers_about(SPACE, 16_000, seed, flip=0.1)
        half, whole = (learning_curve(answers[:m], "score") for m in (8000, 16_000))
        gained = whole.points[-1].accuracy - half.points[-1].accuracy
        inside.append(half.next_gain.low < gained < half.next_gain.high)
        assert abs(half.next_gain.value - gained) < 0.02
        assert half.last_gain.low < half.last_gain.value < half.last_gain.high
        assert half.verdict == "still rising"
    assert sum(inside) >= 3


def test_verdicts():
    flat = learning_curve(
        answers_about(PLANE, 20_000, 0, flip=0.05), "ste-1"
    )  # a line is too little for a plane
    assert flat.verdict == "levelled off"
    guesses = learning_curve(answers_about(SPACE, 2000, 0, flip=0.5), "score")
    assert guesses.verdict == ""


def test_curve_rises_and_prints_and_converts():
    curve = learning_curve(answers_about(SPACE, 3000, 2), "score", seed=1)
    accuracies = [p.accuracy for p in curve.points]
    assert len(curve.points) == 4 and accuracies[-1] > accuracies[0] + 0.1
    assert [p.answers for p in curve.points] == sorted(p.answers for p in curve.points)
    frame = curve.to_frame()
    assert frame.columns == ["answers", "accuracy", "low", "high", "ties"]
    assert frame["accuracy"].to_list() == accuracies
    assert "Twice the answers" in str(curve) and "score" in repr(curve)
    assert curve.to_dict()["next_gain"]["value"] == curve.next_gain.value
    again = learning_curve(answers_about(SPACE, 3000, 2), "score", seed=1)
    assert again.points == curve.points and again.next_gain == curve.next_gain


def test_sizes_by_number_and_by_share():
    answers = answers_about(SPACE, 1000, 3)
    by_number = learning_curve(answers, "score", sizes=[100, 400])
    by_share = learning_curve(answers, "score", sizes=[0.125, 0.5])
    for curve in (by_number, by_share):
        assert [round(p.answers) for p in curve.points] == [100, 400]
    with pytest.raises(InputError, match=r"900 answers are more than the \d+ left"):
        learning_curve(answers, "score", sizes=[900])
    with pytest.raises(InputError, match=r"sizes: got .*, expected numbers of answers or shares"):
        learning_curve(answers, "score", sizes=[0, 0.5])


def people_who_differ(people, each):
    """Half of the people guess: how well answers are predicted depends on who is drawn."""
    parts = [answers_about(SPACE[:15], each, p, flip=0.5 * (p % 2)) for p in range(people)]
    rows = np.concatenate([part.array for part in parts])
    return Triplets.from_array(rows, n_objects=15, participant=np.repeat(np.arange(people), each))


def test_more_participants_narrow_the_interval_where_they_differ():
    curve = learning_curve(people_who_differ(20, 200), "score")
    now, twice, four = curve.precision
    assert (now.participants, twice.participants, four.participants) == (20, 40, 80)
    last = curve.points[-1]
    assert now.half_width == pytest.approx((last.high - last.low) / 2)
    assert twice.half_width == pytest.approx(now.half_width / np.sqrt(2), rel=0.15) and four[1] < twice[1]
    alone = learning_curve(people_who_differ(20, 200).replace(participant=None), "score")
    assert alone.precision == ()


def test_the_error_of_the_level_does_not_affect_the_gain():
    curve = learning_curve(people_who_differ(20, 300), "score")
    last = curve.points[-1]
    assert last.high - last.low > 2 * (curve.next_gain.high - curve.next_gain.low)


def test_few_people_speak_for_themselves():
    answers = answers_about(SPACE[:15], 3000, 0, flip=0.1)
    eight, many = (learning_curve(answers.replace(participant=np.arange(3000) % k), "score") for k in (8, 20))
    nobody = learning_curve(answers, "score")
    assert eight.scope.participants == "same" and eight.points == nobody.points
    assert "10 participants" in str(eight) and "10 participants" not in str(many)
    assert nobody.scope.participants == "unknown" and many.scope.participants == "new"
    # ten who gave nearly as many answers each are ten
    uneven = np.arange(3000) % 10
    uneven[:200:10] = 1
    assert make_draws(answers.replace(participant=uneven)).scope.participants == "new"


def test_by_default_the_curve_is_of_the_model_that_an_analysis_chooses():
    answers = answers_about(SPACE, 1500, 2)
    analysis = Analysis(answers, seed=1)
    curve = learning_curve(answers, seed=1)
    assert curve.model == analysis.best.name and curve.points == analysis.curve.points
