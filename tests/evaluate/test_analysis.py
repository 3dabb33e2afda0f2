"""One analysis: each thing once, chosen without the answers it is judged by, reproducible."""

from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import silhouette_score
from space_tools import PLANE, answers_about

import nearfar as nf
from nearfar.errors import InputError
from nearfar.evaluate import Analysis, analyse, auto, crossval
from nearfar.evaluate.counting import accuracy_per_object, count_answers
from nearfar.evaluate.splits import kfold
from nearfar.evaluate.uncertainty import Groups
from nearfar.space import fit, parse_models
from nearfar.triplets import Triplets


def noise(n, m, seed):
    rng = np.random.default_rng(seed)
    return Triplets.from_array(np.array([rng.permutation(n)[:3] for _ in range(m)]), n_objects=n)


# ---------------------------------------------------------------- choosing


def test_the_short_list_reaches_far_and_stops_at_the_objects():
    assert {"score", "k1", "soe-3", "soe-20"} <= set(auto.candidates(100))
    dimensions = {int(name.rpartition("-")[2]) for name in auto.candidates(100) if "-" in name}
    assert dimensions == {2, 3, 5, 8, 12, 20}
    assert auto.candidates(3) == ["score", "k1"]
    assert all("-" not in name or int(name.rpartition("-")[2]) <= 8 for name in auto.candidates(10))


def test_the_simplest_of_equals_is_picked():
    models = parse_models(["score", "soe-2", "soe-5"])
    rng = np.random.default_rng(0)
    base = (rng.random(4000) < 0.8).astype(float)
    worse = base * (rng.random(4000) < 0.9)
    almost = base.copy()
    almost[np.flatnonzero(base)[:4]] = 0  # .001 behind: less than is given up for a simpler model
    groups = Groups(None, np.arange(4000))
    assert auto.pick(models, np.stack([worse, base, base]), groups) == 1
    assert auto.pick(models, np.stack([worse, worse, base]), groups) == 2
    assert auto.pick(models, np.stack([base, base, base]), groups) == 0
    assert auto.pick(models, np.stack([worse, almost, base]), groups) in (1, 2)


def test_a_lead_that_rests_on_one_trio_is_not_told_apart():
    """Everybody is asked one trio: by people the lead is clear, by trios it is one trio."""
    models = parse_models(["score", "soe-2"])
    base = np.zeros(20_000)
    base[:12] = 1  # one trio, twelve people
    simple = np.zeros(20_000)
    simple[12:18] = 1  # another trio, six people
    person = np.arange(20_000)
    trio = np.concatenate([np.zeros(12), np.ones(6), np.arange(2, 19_984)]).astype(int)
    assert auto.pick(models, np.stack([simple, base]), Groups(None, person)) == 1
    assert auto.pick(models, np.stack([simple, base]), Groups(person, trio)) == 0


def test_inside_a_training_part_nothing_of_the_test_part_is_seen():
    """Credits under the key (f, .) are those of models fitted without fold f and without the fold they judge."""
    answers = answers_about(PLANE[:12], 900, 0, flip=0.2, people=5)
    splits = list(kfold(answers, 3, seed=1))
    models = parse_models(["score", "ste-2"])
    found = crossval.pair_credits(answers, models, splits)
    assert set(found) == {(f, g) for f in range(3) for g in range(3) if f != g}
    for (f, g), credits in found.items():
        train = np.setdiff1d(np.arange(900), np.union1d(splits[f].test, splits[g].test))
        test = answers[splits[g].test]
        for k, model in enumerate(models):
            assert np.array_equal(credits[k], fit(answers[train], model.name).credits(test).astype("f4"))


def test_the_accuracy_of_auto_is_that_of_choices_made_without_the_test_part():
    answers = answers_about(PLANE, 1500, 3, flip=0.2)
    analysis = Analysis(answers, models=["k1", "score", "soe-2", "soe-8"], cv=4, seed=2)
    best, names = analysis.best, analysis.credits.names
    assert len(best.picks) == 4 and set(best.picks) <= set(names)
    own = np.empty(1500)
    for pick, (_, test) in zip(best.picks, analysis.splits, strict=True):
        own[test] = analysis.credits.values[names.index(pick), test]
    assert best.accuracy == pytest.approx(own.mean()) and np.array_equal(best.credits, own.astype("f4"))
    assert best.second in names and best.second != best.name


def test_choosing_among_many_models_does_not_flatter_noise():
    """On answers without any structure the best of eleven models lies above one half, choosing does not."""
    chosen, hindsight = [], []
    for seed in range(12):
        analysis = Analysis(noise(12, 300, seed), cv=3, seed=seed)
        chosen.append(analysis.best.accuracy)
        hindsight.append(analysis.scores.best.accuracy)
    spread = np.std(chosen) / np.sqrt(len(chosen))
    assert abs(np.mean(chosen) - 0.5) < 4 * spread
    assert np.mean(hindsight) > np.mean(chosen) + 0.01


def test_a_named_model_is_judged_beside_the_list():
    answers = answers_about(PLANE, 800, 1)
    analysis = analyse(answers, "gnmds-2")
    assert analysis.is_named and analysis.best.name == "gnmds-2" == analysis.space.model
    assert analysis.best.accuracy == analysis.scores["gnmds-2"].accuracy
    assert analysis.headline.startswith("gnmds-2 predicts") and "second is" in analysis.headline
    with pytest.raises(InputError, match="'nothing' is not known"):
        analyse(answers, "nothing")


def test_the_headline_never_shows_a_second_that_seems_better():
    best = auto.Choice("soe-2", 0.80, 0.01, (), "soe-5", 100, 100, np.zeros(0, dtype=np.float32))
    unknown = nf.noise_ceiling(np.array([[0, 1, 2], [1, 0, 2]]))
    assert auto.headline(best, unknown, 0.79, named=False).endswith("second is soe-5 with 79.0 %")
    assert auto.headline(best, unknown, 0.82, named=False).endswith("second is soe-5")
    assert auto.headline(best, unknown, 0.82, named=True).endswith("second is soe-5 with 82.0 %")


def test_the_headline_has_the_ceiling_with_its_uncertainty():
    """Answers that never contradict each other do not prove that all would agree."""
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(12)[:3] for _ in range(600)])
    apart = np.abs(rows[:, :1] - rows[:, 1:])
    rows[apart[:, 0] > apart[:, 1]] = rows[apart[:, 0] > apart[:, 1]][:, [0, 2, 1]]
    rows = rows[np.abs(apart[:, 0] - apart[:, 1]) > 0]
    analysis = nf.analyse(rows, "score", models=["score"])
    assert analysis.ceiling.bracket == (1.0, 1.0)
    least = 100 * analysis.ceiling.outer[0]
    assert least < 100
    assert (
        f"the best possible lies between {least:.1f} and 100.0 % (with 95 % certainty)" in analysis.headline
    )


def test_fit_and_kernel_matrix_take_every_model():
    answers = answers_about(PLANE, 900, 1)
    best = analyse(answers)
    assert nf.fit(answers).model == best.best.name
    assert np.allclose(nf.kernel_matrix(answers, "soe-2"), nf.fit(answers, "soe-2").kernel())
    assert np.allclose(nf.kernel_matrix(answers, "k1"), nf.fit(answers, "k1").kernel(), atol=1e-9)
    assert nf.kernel_matrix(answers, "score-3", dtype=np.float32).dtype == np.float32


# ---------------------------------------------------------------- once


class Counted(BaseEstimator):
    """An estimator that notes on how many answers it is fitted."""

    fitted: ClassVar[Counter] = Counter()

    def __init__(self, kernel="score"):
        self.kernel = kernel

    def fit_transform(self, answers):
        self.fitted[self.kernel, len(answers)] += 1
        return nf.FeatureMap(self.kernel).fit_transform(answers)


def test_every_model_is_fitted_once_per_part():
    fitted = Counted.fitted
    fitted.clear()
    models = [Counted("score"), Counted("k1+score")]
    analysis = Analysis(answers_about(PLANE, 600, 5), models=models, cv=3)
    for _ in range(2):
        assert analysis.scores.best and analysis.best and analysis.held_out is analysis.held_out
    # three outer fits and three without two folds, for each of two models
    assert sum(fitted.values()) == 2 * (3 + 3)
    assert analysis.space is analysis.space and analysis.ceiling is analysis.scores.ceiling
    assert analysis.resamples is analysis.resamples and analysis.curve is analysis.curve
    assert analysis.grouping() is analysis.grouping()


@pytest.mark.parametrize("seed", [lambda: 3, lambda: np.random.default_rng(3)])
def test_same_seed_same_analysis(seed):
    answers = answers_about(PLANE, 700, 2, flip=0.2, people=6)
    one, two = (analyse(answers, seed=seed()) for _ in range(2))
    assert one.best.name == two.best.name and one.best.accuracy == two.best.accuracy
    assert np.array_equal(one.stability().cloud, two.stability().cloud)


def test_compare_and_stability_are_views():
    answers = answers_about(PLANE, 700, 2, flip=0.2)
    names = ["score", "soe-2"]
    analysis = Analysis(answers, models=names, seed=1)
    assert [s.accuracy for s in nf.compare(answers, names, seed=1)] == [s.accuracy for s in analysis.scores]
    alone = Analysis(answers, "soe-2", models=["soe-2"], n_resamples=5, seed=1)
    view = nf.stability(answers, "soe-2", n_clusters=3, n_resamples=5, seed=1)
    assert np.array_equal(view.cloud, alone.stability(3).cloud)


# ---------------------------------------------------------------- samples, planes, held-out credits


def test_a_sample_keeps_units_whole_and_judges_only_them():
    answers = Triplets.from_odd_one_out(
        np.array([np.random.default_rng(s).permutation(15)[:3] for s in range(400)])
    )
    analysis = Analysis(answers, models=["score"], max_judged=300, seed=0)
    judged = analysis.judged
    assert 250 < len(judged) <= 300
    inside = set(np.unique(judged.trio_ids))
    assert len(answers[[trio in inside for trio in answers.trio_ids]]) == len(judged)
    named = Analysis(answers, "score", models=["score"], max_judged=300, seed=0)
    assert np.isfinite(named.held_out).sum() == len(judged)
    assert "models were compared on a random" in analysis.headline


def test_a_choice_by_a_sample_is_judged_by_the_other_answers():
    answers = answers_about(PLANE, 3000, 4, flip=0.1)
    analysis = Analysis(answers, models=["score", "soe-2", "soe-5"], max_judged=800, seed=1)
    best, inside = analysis.best, np.isin(answers.trio_ids, analysis.judged.trio_ids)
    credit = np.empty(3000)
    for train, test in kfold(answers, 4, seed=1):
        credit[test] = fit(answers[train], best.name).credits(answers[test])
    assert best.accuracy == pytest.approx(credit[~inside].mean())
    assert np.array_equal(analysis.held_out, credit.astype("f4"))
    assert best.accuracy > analysis.scores[best.name].accuracy  # more answers to learn from


def test_held_out_credits_are_not_flattered():
    credit = Analysis(noise(9, 400, 0), models=["k1", "score", "soe-2"]).held_out
    assert set(np.unique(credit)) <= {0.0, 0.5, 1.0}
    assert 0.4 < credit.mean() < 0.6


def test_the_plane_is_the_best_with_two_dimensions():
    analysis = Analysis(
        answers_about(PLANE, 900, 0, flip=0.1), models=["score", "tste-2", "gnmds-2", "soe-5"]
    )
    planes = ["tste-2", "gnmds-2"]
    wanted = max(planes, key=lambda name: analysis.scores[name].accuracy)
    if analysis.best.name not in planes:
        assert analysis.plane_name == wanted
    assert analysis.plane.n_components == 2
    kernel = Analysis(answers_about(PLANE, 900, 0), "score", models=["score"])
    assert np.allclose(kernel.plane.rows, kernel.space.map(2))
    assert Analysis(answers_about(PLANE, 900, 0)).in_dimensions(3).n_components == 3


def test_too_few_questions_are_said():
    few = Analysis([[0, 1, 2], [0, 1, 2]])
    assert few.splits == () and few.curve is None
    assert few.headline == "score: too few different questions to judge it by"
    assert few.space.model == "score" and np.isnan(few.best.accuracy)
    with pytest.raises(InputError, match="too few different questions to hold any of them out"):
        _ = few.scores


# ---------------------------------------------------------------- groups and counts


def test_silhouettes_and_medoids_of_the_cuts():
    analysis = Analysis(answers_about(PLANE, 2000, 0), "soe-2", models=["soe-2"])
    grouping = analysis.grouping()
    distances = analysis.space.distances()
    for cut in grouping.cuts:
        assert cut.silhouette == pytest.approx(silhouette_score(distances, cut.labels, metric="precomputed"))
        assert [cut.labels[x] for x in cut.medoids] == list(range(cut.n_clusters))
    assert grouping.count is analysis.group_count
    assert analysis.grouping(7).n_clusters == 7 and analysis.grouping(7).basis == "asked"
    asked = Analysis(answers_about(PLANE, 2000, 0), "soe-2", models=["soe-2"])
    assert asked.grouping(7).count is None and "group_count" not in vars(asked)  # nothing is counted in vain
    with pytest.raises(
        InputError, match=r"n_clusters must be less than the number of informed objects, \d+, got 999"
    ):
        analysis.grouping(999)


def test_counts_of_questions():
    given = Triplets.from_array(
        [[0, 1, 2]] * 5 + [[0, 2, 1]] * 4 + [[1, 0, 2]] * 9 + [[1, 2, 0]] + [[2, 0, 1]]
    )
    counts = count_answers(given)
    assert (counts.questions, counts.repeated, counts.contradicted, counts.triplets) == (3, 2, 2, 5)
    assert counts.per_object.tolist() == [20, 20, 20] and counts.as_anchor.tolist() == [9, 10, 1]
    found = [(q.anchor, q.one, q.other, q.said_one, q.said_other) for q in counts.disputed()]
    assert found == [(0, 1, 2, 5, 4), (1, 0, 2, 9, 1)]  # the more evenly split one first
    credit = np.full(20, np.nan)
    credit[:10] = 1.0
    assert accuracy_per_object(given, credit).tolist() == [1.0, 1.0, 1.0]
    assert np.isnan(accuracy_per_object(given, np.full(20, np.nan))).all()
