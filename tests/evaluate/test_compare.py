"""Models are judged on answers they were not fitted on."""

import io
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from space_tools import PLANE, answers_about

from nearfar import design, simulate
from nearfar._tools import progress
from nearfar._tools.progress import listen
from nearfar.embedding import TSTE
from nearfar.errors import InputError, NotConverged, ScreenWarning
from nearfar.evaluate import choose_dimension, compare, kfold
from nearfar.evaluate.bootstrap import Draws, make_draws
from nearfar.evaluate.crossval import pair_memory_credits
from nearfar.evaluate.metrics import answer_credits
from nearfar.features import FeatureMap
from nearfar.methods import KernelPCA
from nearfar.space import fit
from nearfar.triplets import Triplets

DATA = Path(__file__).parents[3] / "shared" / "data"


class Centred(BaseEstimator):
    """A model of one's own."""

    def __init__(self, n_components=2):
        self.n_components = n_components

    def fit_transform(self, answers):
        return KernelPCA(self.n_components).fit_transform(FeatureMap("score").fit_transform(answers))


def test_objects_are_judged_like_names():
    answers = answers_about(PLANE, 1500, 4)
    result = compare(answers, ["k1", "score-2", FeatureMap("k1"), Centred()])
    assert [s.name for s in result] == ["k1", "score-2", "FeatureMap()", "Centred()"]
    assert result["k1"].accuracy == result["FeatureMap()"].accuracy
    assert result["score-2"].accuracy == result["Centred()"].accuracy

    class Short:
        def fit_transform(self, answers):
            return np.zeros((3, 2))

    with pytest.raises(InputError, match=r"short gave an array of shape \(3, 2\) for 25 objects"):
        compare(answers, {"short": Short()})


# ------------------------------------------------------------------ compare


@pytest.mark.parametrize("people", [None, 12])
def test_compare_equals_the_definition(people):
    answers = answers_about(PLANE, 1200, 5, flip=0.1, people=people)
    comparison = compare(answers, ["k1", "score-2"], cv=4, seed=3)
    for name in ("k1", "score-2"):
        credit = np.empty(len(answers))
        for train, test in kfold(answers, 4, seed=3):
            space = fit(answers[train], name)
            given = {"points": space.rows} if space.kind == "points" else {"K": space.kernel("keep")}
            credit[test] = answer_credits(answers[test], **given)
        wanted = make_draws(answers, seed=3).estimate(credit)
        flattery = wanted.value - comparison[name].accuracy  # of the model that is chosen
        assert 0 <= flattery < (0.01 if name == comparison.best.name else 1e-9)
        assert comparison[name].low == pytest.approx(wanted.low - flattery)
        assert comparison[name].high == pytest.approx(wanted.high - flattery)
        assert comparison[name].ties == np.mean(credit == 0.5)
    best, worst = comparison.ranked()
    assert comparison.best is best and best.behind == 0 < worst.behind
    assert best.as_good_as_best and comparison.ranked()[0] is best
    assert comparison.pair_memory.accuracy == pair_memory_credits(answers, kfold(answers, 4, seed=3)).mean()
    assert comparison.scope.participants == ("unknown" if people is None else "new")


def test_a_comparison_prints_and_converts():
    answers = answers_about(PLANE, 800, 6)
    result = compare(answers, ["k1", "score", "ste-2"])
    text = str(result)
    assert "800 answers about 25 objects, held out in 5 folds by trio" in text
    assert text.index("ste-2") < text.index("score")  # best first
    frame = result.to_frame()
    assert frame["name"][0] == result.best.name and len(frame) == 3
    assert "ste-2" in result._repr_html_()
    assert frame["behind"].to_list() == sorted(frame["behind"].to_list())
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["best"] == result.best.name and plain["scores"][0]["seconds"] >= 0
    assert len(result) == 3 and "best" in repr(result)
    with pytest.raises(KeyError, match="k2"):
        result["k2"]


def test_the_ceiling_stands_beside_the_accuracies():
    rows = np.array([[a, b, c] for a in range(6) for b in range(a) for c in range(b)])
    once = compare(rows, ["k1"], cv=2)
    assert once.ceiling.unknown == "nothing repeated" and "answered twice" in str(once)
    people = Triplets.from_array(np.concatenate([rows[:10], rows]), participant=["ann"] * 20 + ["bob"] * 10)
    assert compare(people, ["score"], cv=2).ceiling.unknown == "nobody else"
    twice = compare(np.concatenate([rows, rows]), ["score"], cv=2)
    best = twice.ceiling.best_possible
    assert twice.best.accuracy <= best.value <= best.high == 1 and "best possible" in str(twice)


def test_what_is_not_known_is_said():
    noise = np.array([np.random.default_rng(s).permutation(9)[:3] for s in range(300)])
    two = compare(Triplets.from_array(noise, participant=np.arange(300) % 2), ["score", "k1"])
    assert two.scope.participants == "same" and two.scope.n_participants == 2 and not two.above_guessing
    assert "fewer than 10 participants" in str(two) and "guessing (p" in str(two)
    clear = compare(answers_about(PLANE, 1500, 1, flip=0.1, people=20), ["score", "soe-2"])
    assert clear.above_guessing and "guessing (p" not in str(clear)


def test_pairs_that_are_remembered_are_named():
    """One list per anchor, its nearest always the same: nothing to learn but the pair."""
    rng = np.random.default_rng(0)
    rows = [
        [a, (a + 17) % 40, f]
        for a in range(40)
        for f in rng.permutation(40)[:12]
        if f not in (a, (a + 17) % 40)
    ]
    answers = Triplets.from_array(rows, n_objects=40)
    answers = answers[rng.permutation(len(answers))]
    with pytest.warns(ScreenWarning, match="lost their statement ids"):
        comparison = compare(answers, ["score", "k1"], cv=4)
    assert comparison.unit == "pair" and "by pair of anchor and near" in str(comparison)
    leaking = pair_memory_credits(answers, kfold(answers, 4, by="trio")).mean()
    assert leaking > 0.9 and comparison.pair_memory.accuracy < 0.6


def test_one_participant_alone_speaks_for_themselves():
    result = compare(answers_about(PLANE, 300, 8, people=1), ["score"])
    assert result.scope.participants == "same" and result.best.low < result.best.accuracy < result.best.high


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
    assert result["lazy"].warned == (("NotConverged", 3),)
    assert "lazy: stopped before it converged in 3 of 3 fits" in str(result)
    with pytest.warns(UserWarning, match="something else"):
        compare(answers, {"loud": Loud()}, cv=3)


def test_progress_is_announced():
    steps = {}
    with listen(lambda step: steps.update({step.name: step})):
        compare(answers_about(PLANE, 200, 0), ["k1", "score"], cv=3)
    step = steps["comparing 2 models"]
    assert (step.total, step.done, step.over) == (6, 6, True)


def test_a_bar_is_drawn_on_request(monkeypatch):
    """``show`` is what a notebook needs; steps that are over at once are not drawn, so there is no delay here."""
    import rich.console
    import rich.progress  # noqa: F401, so that a busy machine does not spend the time of the step on this

    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    compare(answers_about(PLANE, 400, 0), ["score", "ste-2"], cv=2)
    assert not terminal.getvalue()
    with progress.show(delay=0.0):
        compare(answers_about(PLANE, 400, 0), {"slow": Slow(), "score": "score"}, cv=2)
    assert "comparing 2 models" in terminal.getvalue()


class Slow:
    """A model that takes its time."""

    def fit_transform(self, answers):
        time.sleep(0.1)
        return fit(answers, "score-2").rows


# ------------------------------------------------------------------ how many dimensions


def test_the_dimension_is_found():
    space = np.random.default_rng(1).normal(size=(30, 3))
    choice = choose_dimension(answers_about(space, 6000, 0, flip=0.1), dimensions=(1, 2, 3, 5))
    assert int(choice) == choice.dimension == 3
    assert "At least 3" in str(choice) and choice.comparison.cv == 4  # the folds of a report
    line = choose_dimension(answers_about(space[:, :1], 3000, 0, flip=0.1), "soe", (1, 2, 4))
    assert int(line) == 1 and "1 dimension may be enough" in str(line)
    short = choose_dimension(answers_about(space, 4000, 0), dimensions=(1, 2), cv=2)
    assert int(short) == 2 and "not tried" in str(short)


def test_no_more_dimensions_than_objects_allow_are_tried_unasked():
    six = answers_about(np.random.default_rng(0).normal(size=(6, 2)), 300, 0)
    assert choose_dimension(six, "ste", cv=2).dimensions == (1, 2, 3)
    assert choose_dimension(six, "ste", (1, 8), cv=2).dimensions == (1, 8)


def test_the_dimension_rule():
    answers = answers_about(PLANE, 1500, 3, flip=0.15)
    choice = choose_dimension(answers, "score", (5, 1, 2, 8), cv=3)
    scores = choice.comparison.scores
    assert choice.dimensions == (1, 2, 5, 8) and [s.name for s in scores] == ["1", "2", "5", "8"]
    assert choice.dimension in choice.dimensions
    assert choice.dimension <= int(min(scores, key=lambda s: s.behind).name)
    same = choose_dimension(answers, Centred(), (1, 2), cv=3).comparison
    assert same["1"].ties == scores[0].ties and same["1"].high == pytest.approx(scores[0].high, abs=0.01)


def test_a_line_seen_with_noise_has_one_dimension():
    """People who see each distance with a factor of error answer by the ratio of two, not by their difference."""
    line = np.random.default_rng(0).normal(size=(20, 1))
    questions = design.random_questions(20, 2000, seed=0)
    answers = simulate.answers(questions, points=line, noise=0.5, seed=0).triplets
    assert int(choose_dimension(answers, "ste")) > 1
    both = choose_dimension(answers)
    assert int(both) == 1 and both.comparison.scores[0].name == "ckl-1"
    assert [score.name.partition("-")[2] for score in both.comparison.scores] == ["1", "2", "3", "5", "8"]


def test_noise_has_no_dimensions():
    noise = np.array([np.random.default_rng(s).permutation(12)[:3] for s in range(600)])
    choice = choose_dimension(noise, "soe", (1, 2, 3), cv=3)
    assert int(choice) == 0 and "noise: no number of dimensions" in str(choice)


def test_dimensions_that_cannot_be():
    answers = answers_about(PLANE, 100, 0)
    with pytest.raises(InputError, match="dimensions must be an integer >= 1, got 0"):
        choose_dimension(answers, dimensions=(0, 2))
    with pytest.raises(InputError, match="dimensions: got an empty list"):
        choose_dimension(answers, dimensions=())
    for settled in ("auto", "soe-3", "k1+k2-5"):
        with pytest.raises(InputError, match="has dimensions of its own"):
            choose_dimension(answers, settled)
    with pytest.raises(InputError, match="has no parameter n_components"):
        choose_dimension(answers, object())
    for tste in ("tste", TSTE()):
        with pytest.raises(InputError, match="t-STE"):
            choose_dimension(answers, tste)
    with pytest.raises(InputError, match=r"is not known.* Models: auto"):
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
    best = result.ceiling.best_possible
    assert result["ste-2"].accuracy <= best.value < best.high < 0.95


def test_a_model_that_predicts_every_answer_is_above_guessing():
    """Draws of answers that are all predicted have no spread, which was taken for not knowing."""
    values = np.ones((2, 400))
    values[1, :200] = 0
    draws = Draws(np.arange(400))
    assert draws.p_guessing(values) < 0.001 and draws.p_guessing(values[1:]) > 0.3
    assert Draws(np.arange(3)).p_guessing(np.ones((1, 3))) > 0.05
