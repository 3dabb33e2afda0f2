"""One analysis: each thing once, chosen without the answers it is judged by, reproducible."""

from collections import Counter
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import silhouette_score
from space_tools import PLANE, answers_about

import nearfar as nf
from nearfar import words
from nearfar.embedding.prior import as_vectors
from nearfar.errors import InputError
from nearfar.evaluate import Analysis, analyse
from nearfar.evaluate.bootstrap import Draws
from nearfar.evaluate.collection import AnswerCounts, task_of
from nearfar.evaluate.comparison import candidates, choose, judge_one_dimension
from nearfar.evaluate.crossval import Credits
from nearfar.evaluate.priors import VectorsAlone
from nearfar.space import parse_models
from nearfar.space.models import Model
from nearfar.triplets import Triplets


def noise(n, m, seed):
    rng = np.random.default_rng(seed)
    return Triplets.from_array(np.array([rng.permutation(n)[:3] for _ in range(m)]), n_objects=n)


# ---------------------------------------------------------------- choosing


def test_the_short_list_reaches_far_and_stops_at_the_objects():
    assert {"score", "k1", "ckl-2", "soe-20"} <= set(candidates(100))
    assert candidates(3) == ["score", "k1", "ckl-1"]
    assert all("-" not in name or int(name.rpartition("-")[2]) <= 8 for name in candidates(10))


def credits_of(values, names=("score", "soe-2", "soe-5")):
    values = np.asarray(values, dtype=np.float32)
    return Credits(
        tuple(parse_models(names[: len(values)])),
        values,
        values - 0.5,
        np.zeros((len(values), 1)),
        (Counter(),) * len(values),
    )


def test_the_most_accurate_is_picked_and_the_simplest_of_equals():
    rng = np.random.default_rng(0)
    base = (rng.random(4000) < 0.8).astype(float)
    worse = base * (rng.random(4000) < 0.9)
    a_little = base.copy()
    a_little[np.flatnonzero(base)[:40]] = 0  # .01 behind
    draws = Draws(np.arange(4000))
    assert choose(credits_of([worse, base, base]), draws)[0] == 1
    assert choose(credits_of([worse, worse, base]), draws)[0] == 2
    assert choose(credits_of([base, base, base]), draws)[0] == 0
    assert choose(credits_of([worse, a_little, base]), draws)[0] == 2


def test_one_dimension_stands_back_only_for_models_with_more():
    """It stood back for a kernel that was much worse, and for the first of the list where vectors alone were best."""
    rng = np.random.default_rng(0)
    good, bad = ((rng.random(4000) < share).astype(float) for share in (0.85, 0.6))
    a_little = good.copy()
    a_little[np.flatnonzero(good)[:80]] = 0  # .02 behind
    draws = Draws(np.arange(4000))
    assert choose(credits_of([bad, good], ["score", "ckl-1"]), draws)[0] == 1
    assert choose(credits_of([bad, good, a_little], ["score", "ckl-1", "soe-8"]), draws)[0] == 2
    assert (
        choose(credits_of([a_little, good, bad, a_little], ["k1", "ckl-1", "ckl-2", "soe-8"]), draws)[0] == 0
    )
    assert choose(credits_of([bad, good, a_little], ["score", "ckl-1", "soe-8"]), draws, True)[0] == 1
    vectors = as_vectors(np.eye(5), "abcde")
    alone = replace(credits_of([bad, good, bad, good], ["score", "ckl-1", "k1", "soe-8"]))
    alone.values[3], alone.values[2, :100] = np.maximum(good, rng.random(4000) < 0.01), 1.0
    models = (*parse_models(["score", "ckl-1", "ckl-2"]), Model("features", estimator=VectorsAlone(vectors)))
    assert models[choose(replace(alone, models=models), draws)[0]].name == "features"


def test_one_dimension_is_not_enough_where_more_make_answers_more_probable():
    """Both predict the same answers; one of them knows which of its predictions are wrong."""
    rng = np.random.default_rng(0)
    right = (rng.random(4000) < 0.8).astype(np.float32)
    draws = Draws(np.arange(4000))
    blind, knowing = rng.random(4000), np.where(right == 1, 1.0, 0.1) * rng.random(4000)
    for margins, enough in (((blind, knowing), False), ((knowing, blind), True), ((blind, blind), True)):
        credits = credits_of([right, right], ["ckl-1", "ckl-2"])
        credits = replace(credits, margins=(np.array(margins) * (2 * right - 1)).astype(np.float32))
        judged = judge_one_dimension(credits, draws)
        assert judged == (0.0, enough)
        assert credits.models[choose(credits, draws, judged.enough)[0]].name == f"ckl-{2 - enough}"


def test_a_model_that_is_clearly_worse_is_not_taken_for_being_simpler():
    base = np.ones(20_000)
    behind = base.copy()
    behind[:19] = 0  # .00095 behind, on 19 answers of different people about different trios
    assert choose(credits_of([behind, base]), Draws(np.arange(20_000)))[0] == 1
    together = np.minimum(np.arange(20_000), 19_981)[::-1].copy()  # all of them about one trio
    together[:19] = together[0]
    assert choose(credits_of([behind, base]), Draws(together))[0] == 0


def test_the_accuracy_of_auto_is_corrected_for_choosing():
    """Of one model it is its own; of equally good ones, less than that of the best."""
    rng = np.random.default_rng(0)
    draws = Draws(np.arange(400))
    same = (rng.random((1, 400)) < 0.7).astype(float)
    assert choose(credits_of(same), draws)[1] == draws.estimate(same[0])
    flattered = []
    for _ in range(40):
        values = rng.random((3, 400)) < 0.7
        chosen, estimate = choose(credits_of(values), draws)
        flattered.append((values[chosen].mean(), estimate.value))
    raw, corrected = np.mean(flattered, axis=0)
    assert raw > 0.71 and abs(corrected - 0.7) < 0.006


def test_the_table_has_one_kind_of_number_and_the_headline_the_corrected_one():
    analysis = Analysis(answers_about(PLANE, 300, 2, flip=0.3), models=["k1", "score", "soe-2", "soe-8"])
    means = analysis.credits.accuracies
    shown = [analysis.scores[model.name].accuracy for model in analysis.models]
    assert (
        shown == pytest.approx(means)
        and [s.accuracy for s in analysis.scores.ranked()] == sorted(shown)[::-1]
    )
    assert analysis.best.accuracy < analysis.scores[analysis.best.name].accuracy
    assert f"{100 * analysis.best.accuracy:.1f} %" in analysis.headline and "corrected" in analysis.headline


@pytest.mark.parametrize("dimensions", [1, 2])
def test_the_number_of_dimensions_is_the_one_of_choose_dimension(dimensions):
    points = np.random.default_rng(0).normal(size=(20, dimensions))
    answers = answers_about(points, 2500, 3, flip=0.1)
    analysis = Analysis(answers)
    assert analysis.dimension == dimensions == int(nf.choose_dimension(answers, "ckl", (1, 2, 5)))
    assert f"{dimensions} dimension" in words.dimensions(analysis)
    assert words.dimensions(Analysis(answers, "soe-2", models=["soe-2"])) == ""


def test_choosing_among_many_models_does_not_flatter_noise():
    """On answers without any structure the best of the list lies above one half, choosing does not."""
    chosen, hindsight = [], []
    for seed in range(12):
        analysis = Analysis(noise(12, 300, seed), cv=3, seed=seed)
        chosen.append(analysis.best.accuracy)
        hindsight.append(analysis.credits.accuracies.max())
    spread = np.std(chosen) / np.sqrt(len(chosen))
    assert abs(np.mean(chosen) - 0.5) < 4 * spread
    assert np.mean(hindsight) > np.mean(chosen) + 0.01


def test_a_named_model_is_judged_beside_the_list():
    answers = answers_about(PLANE, 800, 1)
    analysis = analyse(answers, "gnmds-2")
    assert analysis.is_named and analysis.best.name == "gnmds-2" == analysis.space.model
    assert analysis.best.accuracy == analysis.scores["gnmds-2"].accuracy
    assert analysis.headline.startswith("gnmds-2 (") and "corrected" not in analysis.headline
    with pytest.raises(InputError, match="'nothing' is not known"):
        analyse(answers, "nothing")


def test_the_headline_has_the_ceiling_with_its_uncertainty():
    """Answers that never contradict each other do not prove that all would agree."""
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(12)[:3] for _ in range(600)])
    apart = np.abs(rows[:, :1] - rows[:, 1:])
    rows[apart[:, 0] > apart[:, 1]] = rows[apart[:, 0] > apart[:, 1]][:, [0, 2, 1]]
    rows = rows[np.abs(apart[:, 0] - apart[:, 1]) > 0]
    analysis = nf.analyse(rows, "score", models=["score"])
    best = analysis.ceiling.best_possible
    assert best.low < 1 == best.value == best.high
    assert f"95 % interval {100 * best.low:.0f} to 100)" in analysis.headline.replace(
        "\N{NO-BREAK SPACE}", " "
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
    assert sum(fitted.values()) == 2 * 3
    assert analysis.curve.points[-1].accuracy == pytest.approx(analysis.held_out.mean())
    assert sum(fitted.values()) == 2 * 3 + 3 * 3  # the largest size is known already
    assert analysis.space is analysis.space and analysis.ceiling is analysis.scores.ceiling
    assert analysis.resamples is analysis.resamples and analysis.curve is analysis.curve
    assert analysis.cluster_tree() is analysis.cluster_tree()


@pytest.mark.parametrize("seed", [lambda: 3, lambda: np.random.default_rng(3)])
def test_same_seed_same_analysis(seed):
    answers = answers_about(PLANE, 700, 2, flip=0.2, people=6)
    one, two = (analyse(answers, seed=seed()) for _ in range(2))
    assert one.best.name == two.best.name and one.best.accuracy == two.best.accuracy
    assert np.array_equal(one.stability().positions, two.stability().positions)


def test_compare_is_a_view():
    answers = answers_about(PLANE, 700, 2, flip=0.2)
    names = ["score", "soe-2"]
    analysis = Analysis(answers, models=names, seed=1)
    assert [s.accuracy for s in nf.compare(answers, names, seed=1)] == [s.accuracy for s in analysis.scores]


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


def test_the_plane_is_the_best_with_two_dimensions():
    analysis = Analysis(
        answers_about(PLANE, 900, 0, flip=0.1), models=["score", "tste-2", "gnmds-2", "soe-5"]
    )
    planes = ["tste-2", "gnmds-2"]
    wanted = min(planes, key=lambda name: analysis.scores[name].behind)
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
    tree = analysis.cluster_tree()
    distances = analysis.space.distances()
    for cut in tree.cuts:
        assert cut.silhouette == pytest.approx(silhouette_score(distances, cut.labels, metric="precomputed"))
        assert [cut.labels[x] for x in cut.medoids] == list(range(cut.n_clusters))
    assert tree.count is analysis.cluster_count
    assert analysis.cluster_tree(7).n_clusters == 7
    asked = Analysis(answers_about(PLANE, 2000, 0), "soe-2", models=["soe-2"])
    assert asked.cluster_tree(7).count is None and "cluster_count" not in vars(
        asked
    )  # nothing is counted in vain
    with pytest.raises(InputError, match="999 are too many"):
        analysis.cluster_tree(999)


def test_counts_of_questions():
    given = Triplets.from_array(
        [[0, 1, 2]] * 5 + [[0, 2, 1]] * 4 + [[1, 0, 2]] * 9 + [[1, 2, 0]] + [[2, 0, 1]]
    )
    counts = AnswerCounts(given)
    assert (counts.questions, counts.repeated, counts.contradicted, counts.triplets) == (3, 2, 2, 5)
    assert counts.per_object.tolist() == [20, 20, 20] and (counts.by_several, counts.by_same) == (0, 0)
    known = AnswerCounts(given.replace(participant=["ann"] * 6 + ["bob"] * 13 + [""]))
    assert (known.by_several, known.by_same) == (1, 3)


def screens(rows):
    return Triplets.from_array([row for screen in rows for row in screen], n_objects=9, statement=np.repeat(
        np.arange(len(rows)), list(map(len, rows))))  # fmt: skip


@pytest.mark.parametrize(
    ("answers", "task", "told"),
    [
        (Triplets.from_array([[0, 1, 2], [1, 2, 0]]), "near", "2 trials about 3 objects"),
        (Triplets.from_odd_one_out([[0, 1, 2], [3, 0, 2]]), "odd", "2 odd-one-out trials"),
        (Triplets.from_most_central([[0, 1, 2], [3, 0, 2]]), "central", "2 most-central trials"),
        (screens([[[0, 1, 3], [0, 2, 3]], [[4, 5, 6]]]), "grid", "most similar to A"),
        (screens([[[0, 1, 2], [0, 1, 3], [0, 2, 3]], [[4, 5, 6]]]), "ranking", "Rank these"),
        (screens([[[0, 1, 3], [4, 2, 3]], [[4, 5, 6]]]), "mixed", "2 trials"),
    ],
)
def test_the_task_is_named_where_answers_are_counted(answers, task, told):
    assert task_of(answers) == task and AnswerCounts(answers).statements == 2
    methods = nf.report.make_report(analyse(answers, "score", models=["score"])).data["methods"]
    assert told in methods and ("These" in methods or "these" in methods) == (task != "near")


def test_screens_without_their_ids_are_no_trials():
    many = np.argsort(np.random.default_rng(0).random((60, 30)))[:, :9]
    lost = Triplets.from_array([[a, near, far] for a, near, *rest in many for far in rest], n_objects=30)
    assert task_of(lost) == "screens"
