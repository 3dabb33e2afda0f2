"""Designs that limit what accuracies speak of: blocked (booklets) and adaptive ones."""

import numpy as np
import pytest
from benchmarks.honesty.worlds import asked, make_world
from benchmarks.honesty.worlds_third import asked_third, make_third

from nearfar.errors import InputError
from nearfar.evaluate import Analysis
from nearfar.evaluate.collection import are_screens
from nearfar.evaluate.splits import design_of, is_blocked, split_units
from nearfar.triplets import Triplets


def blocked(answers):
    return is_blocked(answers, split_units(answers))


def test_overlapping_booklets_are_recognised_by_the_objects_of_each_person():
    """Ten of twelve objects: all pairs are compared, but by no person."""
    rng = np.random.default_rng(0)
    world = make_third(rng, n=12, geometry="traits", noise="own eyes")
    booklets = asked_third(world, rng, design="booklets", m=900, people=12)
    assert blocked(booklets)
    assert not blocked(booklets.replace(participant=None))
    assert not blocked(asked_third(world, rng, design="random", m=900, people=12))


@pytest.mark.parametrize("noise", ["jnd", "heavy"])
@pytest.mark.parametrize(("n", "m", "people"), [(30, 1500, 20), (50, 3000, 25), (100, 3000, 60)])
def test_booklets_are_sets_and_not_screens(n, m, people, noise):
    rng = np.random.default_rng(n)
    answers = asked_third(
        make_third(rng, n=n, geometry="tree", noise=noise), rng, design="booklets", m=m, people=people
    )
    assert blocked(answers) and not are_screens(answers)


@pytest.mark.parametrize("design", ["random", "fixed", "landmarks", "odd", "grid", "list"])
@pytest.mark.parametrize(("n", "m"), [(20, 600), (60, 6000)])
def test_other_designs_are_not_sets(design, n, m):
    rng = np.random.default_rng(n)
    answers = asked(make_world(rng, n=n), rng, design=design, m=m)
    assert not blocked(answers)
    bare = Triplets.from_array(answers.array, n_objects=n)
    assert split_units(bare).screens == (design in ("grid", "list"))


def test_an_analysis_says_that_it_is_within_the_sets():
    rng = np.random.default_rng(0)
    world = make_third(rng, n=40, geometry="circle", noise="jnd")
    booklets, random = (asked_third(world, rng, design=design, m=2000) for design in ("booklets", "random"))
    within, anywhere = (Analysis(answers, models=["score"]).scores for answers in (booklets, random))
    assert within.scope.questions == "within booklets" and "blocked" in str(within)
    assert anywhere.scope.questions == "new" and "blocked" not in str(anywhere)


def ruled(rules, m=900, n=15):
    """Answers on a line: random questions are answered right, others at random."""
    rng = np.random.default_rng(0)
    rows = np.argsort(rng.random((m, n)), axis=1)[:, :3]
    label = np.array(rules)[np.arange(m) % len(rules)]
    wrong = np.abs(rows[:, 0] - rows[:, 1]) > np.abs(rows[:, 0] - rows[:, 2])
    wrong = np.where(label == "random", wrong, rng.random(m) < 0.5)
    rows[wrong] = rows[wrong][:, [0, 2, 1]]
    return Triplets.from_array(rows, n_objects=n, participant=np.arange(m) % 20, rule=label), label


def test_accuracies_come_from_random_questions_and_the_map_from_all():
    answers, label = ruled(["random", "ARR"])
    analysis = Analysis(answers, models=["score"])
    assert analysis.design == "random" and analysis.scores.scope.questions == "new"
    drawn = analysis.held_out[label == "random"].mean()
    assert analysis.best.accuracy == pytest.approx(drawn) == pytest.approx(analysis.scores["score"].accuracy)
    assert drawn > analysis.held_out.mean() + 0.05
    assert analysis.curve.points[-1].accuracy == pytest.approx(drawn)
    assert "the 450 answers to random questions" in str(analysis.scores)
    declared = Analysis(answers, models=["score"], design="adaptive")  # which the random questions are not
    assert str(declared.scores) == str(analysis.scores)
    assert np.isfinite(analysis.held_out).all()


def test_adaptive_questions_speak_of_themselves():
    labelled, _ = ruled(["ARR", "uncertainty"])
    declared = Analysis(ruled(["random"])[0].replace(rule=None), models=["score"], design="adaptive")
    for analysis in (Analysis(labelled, models=["score"]), declared):
        assert analysis.scores.scope.questions == "adaptive" and "adaptive" in str(analysis.scores)
        assert analysis.curve.next_gain is None and analysis.curve.verdict == ""
    assert np.isfinite(declared.best.low)
    with pytest.raises(InputError, match="'clever' is not one of"):
        design_of(labelled, split_units(labelled), "clever")
