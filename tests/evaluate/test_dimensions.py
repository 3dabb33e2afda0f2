"""Dimensions that come back, their names, how many there are, and odd ones of three."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import nearfar as nf
from nearfar import words
from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.comparison import log_likelihood, odd_one_out_share
from nearfar.evaluate.dimensions import best_match
from nearfar.triplets import Triplets


def odd_ones(points, m, seed=0, s=None):
    rng = np.random.default_rng(seed)
    trios = np.argsort(rng.random((m, len(points))), axis=1)[:, :3]
    s = points @ points.T if s is None else s
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
    return nf.find_dimensions(odd_ones(truth, 3000), "nonneg-3", properties=properties)


def test_true_dimensions_come_back_and_go_with_a_property(found, truth):
    assert len(found.found) == 3 and found.halved_by == "participants"
    assert (best_match(truth, found.points()) > 0.8).all()
    at = int(np.argmax([each.correlation for each in found.dimensions]))
    assert found.dimensions[at].goes_with == "size" and found.dimensions[at].correlation > 0.8
    assert sum(each.share for each in found.dimensions) == pytest.approx(1.0)
    assert "(r = −0.50)" in words.dimension_facts(replace(found.dimensions[at], correlation=-0.5))
    assert "3 of 3" in str(found) and found.to_dict()["dimensions"][0]["comes_back"]


def test_a_dimension_that_a_half_splits_in_two_comes_back():
    """With twice as many columns for the halves alone, one of these three came back."""
    rng = np.random.default_rng(2)
    points = np.where(rng.random((30, 3)) < 0.35, rng.gamma(4.0, 0.5, size=(30, 3)), 0.0)
    found = nf.find_dimensions(odd_ones(points, 1200, seed=2))
    assert len(found.found) == 3 and (best_match(points, found.points()) > 0.8).all()


def test_one_dimension_stands_for_one():
    twice = np.array([[1.0, 1.0], [2.0, 2.1], [3.0, 3.0], [9.0, 9.0]])
    r = best_match(twice, np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [9.0, 0.0]]))
    assert r.max() > 0.99 and r.min() < 0.8
    answer = Triplets.from_odd_one_out([[0, 1, 2]])
    assert nf.find_dimensions(answer, "nonneg-1").found == ()  # one answer has no halves


def test_noise_has_no_dimension_that_comes_back():
    noise = odd_ones(np.zeros((20, 2)), 600)
    none = nf.find_dimensions(noise, "nonneg-3")
    assert none.found == () and "collect more" in str(none)


def test_what_predicts_no_other_question_is_no_dimension():
    """Halves of the answers to one question agree, and so do those to questions that each have an answer of their own."""
    again = nf.find_dimensions([[0, 1, 2]] * 5)
    assert again.dimensions[0].comes_back and not again.predicts and again.found == ()
    assert "collect more" in str(again) and not again.to_frame()["comes_back"].any()
    assert again.points().shape == (3, 0)
    rng = np.random.default_rng(1)
    asked = np.argsort(rng.random((60, 12)), axis=1)[:, :3]
    each = Triplets.from_array(np.repeat(asked, 24, axis=0), participant=np.tile(np.arange(24), 60))
    found = nf.find_dimensions(each)
    assert any(dimension.comes_back for dimension in found.dimensions) and found.found == ()


def test_names_follow_the_objects_of_a_dimension(found):
    table = found.to_frame().with_columns(name=pl.Series(["big", "", "red"]))
    named = found.named(list(reversed(table.rows(named=True))))
    assert [each.title for each in named.dimensions] == ["big", "dimension 2", "red"]
    assert "big" in str(named)
    others = [{"name": "other", **{f"top{k}": f"x{k}" for k in range(1, 9)}}]
    with pytest.warns(NearfarWarning, match="other"):
        assert found.named(others) == found
    top = {f"top{k}": name for k, name in enumerate(found.dimensions[0].top, 1)}
    with pytest.warns(NearfarWarning, match=": late"):
        twice = found.named([{"name": " first ", **top}, {"name": "late", **top}])
    assert twice.dimensions[0].name == "first"
    some = top | {"top7": "x7", "top8": "x8"}
    with pytest.warns(NearfarWarning, match=": some"):
        best = found.named([{"name": "some", **some}, {"name": "all\n of it", **top}])
    assert best.dimensions[0].name == "all of it"
    gone = replace(found, dimensions=(replace(found.dimensions[0], halves=0.5), *found.dimensions[1:]))
    with pytest.warns(NearfarWarning, match="comes back.*: first"):
        assert gone.named([{"name": "first", **top}]).dimensions[0].name == "first"
    for frame in (table, table.to_pandas()):
        assert found.named(frame).dimensions[0].name == "big"
    with pytest.warns(NearfarWarning, match="empty"):
        assert found.named(table.to_pandas().assign(name=np.nan)).dimensions == found.dimensions
    assert "big" in named._repr_html_()
    with pytest.warns(NearfarWarning, match="empty"):
        found.named([{"name": " ", **top}])


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
    assert "odd of 3" in str(analysis.scores) and "33" in words.accuracy(analysis).text
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


def chosen_in_simulations(width, m, seeds):
    """The models chosen for planes whose second axis has this width, 0 for a line."""
    for seed in range(seeds):
        x = np.random.default_rng(seed).normal(size=(20, 2)) * [2, 2 * width]
        asked = nf.design.random_questions(20, m, seed=seed)
        yield nf.analyse(nf.simulate.answers(asked, points=x, flip=0.1, seed=seed).triplets)


def test_a_plane_is_no_scale_however_few_the_answers():
    """While a scale needed only that more dimensions were not shown, 10 of these 20 were one."""
    drawn = [*chosen_in_simulations(0.7, 100, 10), *chosen_in_simulations(0.5, 330, 10)]
    assert sum(analysis.best.name.endswith("-1") for analysis in drawn) <= 1


def test_lines_are_scales_and_say_what_that_costs_at_most():
    drawn = list(chosen_in_simulations(0.0, 600, 8))
    scales = [each for each in drawn if each.best.name.endswith("-1")]
    assert len(scales) >= 6 and all(each.one_dimension.loss <= 0.03 for each in scales)
    limit = f"{100 * scales[0].one_dimension.loss:.1f}"
    assert limit in words.scale(scales[0]) and "not ruled out" not in words.dimensions(scales[0])
    few = next(each for each in chosen_in_simulations(0.0, 150, 9) if each.dimension == 1)
    assert not few.one_dimension.enough and few.space.n_components != 1 and few.scale is None
    assert f"{100 * few.one_dimension.loss:.1f} points" in words.dimensions(few)
    if few.scores.best.name == "ckl-1":
        assert "not ruled out" in words.choice(few) and (few.chosen.n_components or 0) <= 2


def test_noise_is_no_scale():
    """Where nothing is learnt, one dimension loses nothing."""
    noise = odd_ones(np.zeros((12, 1)), 6000)
    analysis = nf.analyse(noise)
    assert analysis.one_dimension.loss < 0.03 and not analysis.one_dimension.enough
    assert not analysis.best.name.endswith("-1")
    assert "asked for" in words.scale(nf.analyse(noise, "ckl-1", models=["ckl-1", "ckl-2"]))


def test_answers_by_another_law_than_the_embedding_are_a_scale_too():
    """By all embeddings in more dimensions, 2 of these 5 were a scale."""
    x = np.linspace(0, 3, 20)[:, None]
    answers = [odd_ones(x, 1000, seed, s=-3 * (x - x.T) ** 2) for seed in range(5)]
    assert sum(nf.analyse(each).best.name.endswith("-1") for each in answers) >= 4


def test_models_that_were_judged_already_count_as_if_they_were_judged_anew():
    """And only answers to random questions count, where there are others."""
    points = np.random.default_rng(0).normal(size=(14, 2))
    answers = odd_ones(points, 300)
    answers = answers.replace(rule=np.where(answers.statement_ids % 3 > 0, "random", "adaptive"))
    names = [f"{law}-{d}" for d in (1, 2, 3, 5, 8) for law in ("soe", "ckl")]
    reused, anew = nf.analyse(answers), nf.analyse(answers, models=names)
    assert reused.dimension == anew.dimension
    assert [each.name for each in reused.dimension_choice.comparison] == [
        each.name for each in anew.dimension_choice.comparison
    ]
    for each in reused.dimension_choice.comparison:
        assert each.accuracy == anew.scores[each.name].accuracy


def test_one_dimension_does_not_stand_for_several():
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=(20, 3)) * 2
        asked = nf.design.random_questions(20, 800, seed=seed)
        answers = nf.simulate.answers(asked, points=x, flip=0.1, seed=seed).triplets
        assert not nf.analyse(answers).best.name.endswith("-1")


def test_the_page_counts_dimensions_and_calls_none_certain_that_is_not():
    x = np.random.default_rng(0).normal(size=(20, 2)) * 2
    asked = nf.design.random_questions(20, 900, seed=0)
    answers = nf.simulate.answers(asked, points=x, flip=0.1, seed=0).triplets
    analysis = nf.analyse(answers, n_resamples=4)
    report = nf.report.make_report(analysis)
    rows = report.data["models"]["by_dimension"]
    names = [row["name"] for row in rows]
    assert [name.partition("-")[2] for name in names] == ["1", "2", "3", "5", "8"]
    assert 'id="number-of-dimensions"' in report.html() and ", ".join(names) in report.data["methods"]
    assert words.gloss("ckl-8", analysis.dimension).endswith("at most 8 dimensions")
    assert words.gloss("ckl-2", 2).endswith(", 2 dimensions")
    assert words.gloss("ckl-2", 0).endswith("at most 2 dimensions")
    named = nf.report.make_report(nf.analyse(answers, models=["soe-1", "soe-2"], n_resamples=4))
    assert named.data["models"]["by_dimension"] == [] and "number-of-dimensions" not in named.html()


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


def test_a_space_tells_its_dimensions():
    points = np.repeat(np.eye(3), 5, axis=0) * 2.5
    answers = nf.simulate.answers(nf.design.random_questions(15, 900, seed=0), points=points, seed=0).triplets
    found = nf.fit(answers, "nonneg-3").dimensions(seed=0)
    assert str(found) == str(nf.find_dimensions(answers, "nonneg-3", seed=0)) and len(found.found) == 3
    with pytest.raises(InputError, match="nonneg-20"):
        nf.fit(answers, "soe-2").dimensions()
