"""Vectors on the page and in the bundle: the table of their worth, objects nobody was asked about, the notebook."""

import json

import numpy as np
import polars as pl
import pytest
from embedding_tools import answers_about
from report_tools import small_report
from test_notebook import redone

import nearfar as nf
from nearfar import words
from nearfar.errors import InputError
from nearfar.report.make import make_report
from nearfar.report.paragraph import methods

NAMES = [f"thing {x}" for x in range(11)] + ["=1+1"]
TRUTH = np.random.default_rng(6).normal(size=(12, 2))
TITLE = "What the vectors are worth"


@pytest.fixture(scope="module")
def report():
    answers = answers_about(TRUTH, 240, objects=NAMES, drawn=range(1, 12))
    features = {"lab": TRUTH, "more": TRUTH**2}
    analysis = nf.analyse(answers, models=["score", "soe-2"], cv=2, n_resamples=4, features=features)
    return make_report(analysis)


def test_the_table_stands_on_the_page_only_with_vectors(report):
    assert TITLE in report.html() and TITLE not in small_report().html()
    rows = dict(row[:2] for row in report.data["worth"])
    assert f"{100 * report.analysis.worth.alone.accuracy:.1f}" in rows["vectors alone"]
    assert small_report().data["worth"] is None


def test_the_methods_say_what_was_made_of_vectors(report):
    assert "Gaussian-process prior" in report.data["methods"]
    models = report.data["models"] | {"best": "soe-2", "map": "soe-2"}
    assert "In models with +features" in methods({**report.data, "models": models})
    models |= {"scores": [each for each in models["scores"] if "+" not in each["name"]]}
    told = methods({**report.data, "models": models})
    assert "were left out" in told and "features" not in told


def test_objects_nobody_was_asked_about_are_marked(report):
    placed = [row["name"] for row in report.data["objects"] if row["placed"]]
    assert placed == ["thing 0"] and "placed" in report.html()
    circle = report.data["objects"][0]["circle"]
    assert circle is None or circle > 0
    assert not any(row["placed"] for row in small_report().data["objects"])
    assert "thing 0" not in report.data["findings"]["stability"]["text"]
    json.dumps(report.data["objects"], allow_nan=False)


def test_the_notebook_makes_it_again(report, tmp_path, monkeypatch, capsys):
    again = redone(report, tmp_path, monkeypatch)["analysis"]
    assert again.settings == report.analysis.settings and again.vectors.sources == ("lab", "more")
    assert again.worth.to_dict()["gain"] == pytest.approx(report.analysis.worth.to_dict()["gain"], abs=0.01)
    written = pl.read_csv("features-1.csv")
    np.testing.assert_allclose(written.drop("object").to_numpy(), TRUTH)
    assert again.vectors.missing == () and again.vectors.extra == ()


def test_an_analysis_has_its_own_vectors(report):
    with pytest.raises(InputError, match="features"):
        make_report(report.analysis, features=TRUTH)


def test_dimensions_are_counted_without_vectors_and_that_is_said():
    answers = answers_about(TRUTH, 240, objects=NAMES)
    analysis = nf.analyse(answers, features=TRUTH)
    assert "features" in analysis.best.name
    assert "Without the vectors" in words.dimensions(analysis)
    assert "vectors" not in words.dimensions(nf.analyse(answers))


def test_every_map_of_the_space_draws_placed_objects_hollow(report):
    plane = report.analysis.plane
    assert plane.placed.tolist() == [True] + [False] * 11
    assert plane.take([3, 0]).placed.tolist() == [False, True]
    for placed, hollow in ((None, 1), ([False] * 12, 0)):
        dots = [each for each in nf.plot.map(plane, placed=placed).collections if hasattr(each, "get_sizes")]
        assert sum(len(each.get_offsets()) for each in dots if not len(each.get_facecolor())) == hollow
    assert "Hollow" in report.analysis._repr_html_()
    assert "Hollow" not in small_report().analysis._repr_html_()


def test_distances_are_looked_at_before_models_are_fitted(monkeypatch):
    monkeypatch.setattr(
        "nearfar.report.content.report_data", lambda *a, **k: pytest.fail("models were fitted")
    )
    unknown = pl.DataFrame({"object": ["x", "y"], "x": [0, 1], "y": [1, 0]})
    with pytest.raises(InputError, match="0 of them"):
        make_report(answers_about(TRUTH, 200), distances=unknown)


def test_distances_that_are_all_equal_are_said_to_tell_nothing():
    analysis = nf.analyse(answers_about(TRUTH, 200), "score", models=["score"], n_resamples=2)
    names = analysis.answers.objects
    same = pl.DataFrame({"object": names, **dict(zip(names, 1.0 - np.eye(len(names)), strict=True))})
    report = make_report(analysis, distances={"same": same})
    [told] = report.data["correlations"]
    assert "same is not known" in told and told in report.html()
