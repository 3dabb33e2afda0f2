"""Dimensions that come back, their names, how many there are, and odd ones of three."""

import numpy as np
import polars as pl
import pytest

import nearfar as nf
from nearfar import words
from nearfar.errors import InputError
from nearfar.evaluate.comparison import log_likelihood, odd_one_out_share
from nearfar.evaluate.dimensions import best_match
from nearfar.triplets import Triplets


def odd_ones(points, m, seed=0):
    rng = np.random.default_rng(seed)
    trios = np.argsort(rng.random((m, len(points))), axis=1)[:, :3]
    s = points @ points.T
    pairs = np.stack([s[trios[:, i], trios[:, j]] for i, j in ((0, 1), (0, 2), (1, 2))], axis=1)
    kept = np.argmax(pairs + rng.gumbel(size=pairs.shape), axis=1)
    rows = np.take_along_axis(trios, np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0]])[kept], axis=1)
    names = [f"o{x:02}" for x in range(len(points))]
    return Triplets.from_odd_one_out(rows, names, participant=rng.integers(20, size=m))


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(0)
    return np.where(rng.random((30, 3)) < 0.35, rng.gamma(4.0, 0.5, size=(30, 3)), 0.0)


@pytest.fixture(scope="module")
def found(truth):
    properties = pl.DataFrame(
        {"object": [f"o{x:02}" for x in range(30)], "size": truth[:, 1], "word": ["a"] * 30}
    )
    return nf.find_dimensions(odd_ones(truth, 3000), "nonneg-3", properties=properties.drop("word"))


def test_true_dimensions_come_back_and_go_with_a_property(found, truth):
    assert len(found.found) == 3 and found.halved_by == "participants"
    assert (best_match(truth, found.points()) > 0.8).all()
    at = int(np.argmax([each.correlation for each in found.dimensions]))
    assert found.dimensions[at].goes_with == "size" and found.dimensions[at].correlation > 0.8
    assert sum(each.share for each in found.dimensions) == pytest.approx(1.0)
    assert "3 of 3" in str(found) and found.to_dict()["dimensions"][0]["comes_back"]


def test_noise_has_no_dimension_that_comes_back():
    noise = odd_ones(np.zeros((20, 2)), 600)
    none = nf.find_dimensions(noise, "nonneg-3")
    assert none.found == () and "collect more" in str(none)


def test_names_follow_the_objects_of_a_dimension(found):
    table = found.to_frame().with_columns(name=pl.Series(["big", "", "red"]))
    named = found.named(list(reversed(table.rows(named=True))))
    assert [each.title for each in named.dimensions] == ["big", "dimension 2", "red"]
    assert "big" in str(named)
    others = [{"name": "other", **{f"top{k}": f"x{k}" for k in range(1, 9)}}]
    assert found.named(others) == found


def test_only_non_negative_models_have_dimensions_to_name(truth):
    with pytest.raises(InputError, match="nonneg"):
        nf.find_dimensions(odd_ones(truth, 50), "soe-3")


def test_odd_ones_of_three_are_those_of_both_triplets(truth):
    answers = odd_ones(truth, 900)
    analysis = nf.analyse(answers, models=["nonneg-3", "score"])
    right = []
    for train, test in analysis.splits:
        space = nf.fit(answers[train], "nonneg-3")
        s = space.rows @ space.rows.T
        for a, b, odd in answers[test].array[::2]:
            pairs = np.array([s[a, b], s[a, odd], s[b, odd]])
            best = pairs >= pairs.max() - 1e-12
            right.append(best[0] / best.sum())
    score = analysis.scores["nonneg-3"]
    assert score.odd_one_out == pytest.approx(np.mean(right), abs=1e-6)
    assert "odd of 3" in str(analysis.scores) and "33" in words.accuracy(analysis).details
    plain = nf.compare(Triplets(answers.anchor, answers.near, answers.far, answers.objects), ["score"])
    assert np.isnan(plain["score"].odd_one_out) and "odd of 3" not in str(plain)
    assert odd_one_out_share(np.array([0.5, 0.5]), (np.array([0]), np.array([1]))) == pytest.approx(1 / 3)


def test_likelihood_by_ranks_does_not_know_the_scale_of_margins():
    margins = np.random.default_rng(0).normal(0.5, 1.0, 400)
    one, other = log_likelihood(margins), log_likelihood(np.sign(margins) * margins**2 * 7)
    np.testing.assert_allclose(one, other, atol=1e-4)
    assert log_likelihood(margins).mean() > np.log(0.5)


def test_a_line_is_a_scale_with_intervals():
    points = np.linspace(0, 4, 12)[:, None]
    asked = nf.design.random_questions(12, 600, seed=0)
    answers = nf.simulate.answers(asked, points=points, flip=0.1, seed=0).triplets
    analysis = nf.analyse(answers, n_resamples=8)
    assert analysis.best.name.endswith("-1") and analysis.dimension == 1
    scale = analysis.scale
    assert abs(np.corrcoef(scale.order, np.arange(12))[0, 1]) > 0.97
    assert (scale.low <= scale.values).all() and (scale.values <= scale.high).all()
    assert scale.values[0] == 0 and scale.values[-1] == 1
    report = nf.report.make_report(analysis)
    assert [row["value"] for row in report.data["scale"]] == sorted(scale.values.tolist(), reverse=True)
    assert 'id="scale-section"' in report.html()
    assert nf.analyse(answers, "soe-2", models=["soe-2"]).scale is None


def test_a_fold_of_a_line_is_undone_by_starting_from_a_plane():
    """From the rank-based start alone this line had an accuracy of .76 in one dimension."""
    points = np.sort(np.random.default_rng(3).normal(size=(12, 1)), axis=0) * 2
    asked = nf.design.random_questions(12, 240, seed=3)
    answers = nf.simulate.answers(asked, points=points, flip=0.1, seed=3).triplets
    scores = nf.compare(answers, ["ckl-1", "ckl-2"])
    assert scores["ckl-1"].accuracy > scores["ckl-2"].accuracy - 0.03


def test_vectors_enter_where_they_help():
    kinds = np.repeat(np.eye(3), 20, axis=0) * 2.5
    answers, fresh, rng = odd_ones(kinds, 200), odd_ones(kinds, 2000, seed=1), np.random.default_rng(0)
    vectors = kinds + rng.normal(size=kinds.shape) * 0.2
    without = nf.find_dimensions(answers, "nonneg-3")
    informed = nf.find_dimensions(answers, "nonneg-3", features=vectors)
    assert informed.space.model == "nonneg-3+features" and without.space.model == "nonneg-3"
    assert informed.space.score(fresh) > without.space.score(fresh) + 0.02
    assert len(informed.found) == 3 > len(without.found)
    useless = nf.find_dimensions(answers, "nonneg-3", features=rng.normal(size=kinds.shape))
    assert useless.space.model == "nonneg-3" and useless.dimensions == without.dimensions


def test_a_dimension_that_answers_do_not_support_stays_empty(truth):
    points = nf.embedding.NonNegative(12).fit_transform(odd_ones(truth, 3000))
    assert points.any(axis=0).sum() in (3, 4) and points[:, :3].max(axis=0).min() > 1
