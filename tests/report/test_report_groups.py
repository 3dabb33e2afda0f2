"""Groups of people in the report: words, two maps, tables, a figure."""

import json
from dataclasses import replace

import numpy as np
import pytest
from groups_tools import NAMES, N, two_groups

from nearfar.evaluate.analysis import Analysis
from nearfar.report.groups import group_comparison
from nearfar.report.make import make_report


@pytest.fixture(scope="module")
def study():
    return two_groups()


@pytest.fixture(scope="module")
def report(study):
    answers, groups = study
    return make_report(Analysis(answers, "soe-2", models=["soe-2"], n_resamples=6), groups=groups)


def test_the_page_compares_groups(report):
    page = report.html()
    assert 'id="groups-section"' in page and 'href="#groups-section"' in page
    pair = report.data["groups"]["pairs"][0]
    assert pair["names"] == ["experts", "novices"] and pair["people"] == [6, 6]
    told = pair["finding"]
    assert (
        "differ (p = 0.00" in told["short"] and "different positions" in told["text"] and told["text"] in page
    )
    assert "experts and novices" in report.data["results"]
    assert len(pair["spots"]) == N and {spot["name"] for spot in pair["spots"] if spot["moves"]} <= set(
        NAMES[:3]
    )
    assert all(0 <= v <= 1 for spot in pair["spots"] for at in spot["at"] for v in at)
    assert "<thing>" not in page and "&lt;thing&gt; 0" in page
    sure = [move["name"] for move in pair["moves"] if move["sure"]]
    listed = [pair["moved"].index(f"{name} ") for name in sure]  # all of them, the surest first
    assert told["text"].startswith(f"{len(sure)} object") and listed == sorted(listed)
    assert report.data["findings"]["subgroups"] is None  # searched only without groups
    shares = json.loads(report.json())["groups"]["pairs"][0]["shares"]
    assert (
        shares[3]["what"] == "Answers of experts, predicted by the map of experts"
        and shares[3]["value"] > 0.5
    )


def test_without_groups_there_is_no_such_section(study):
    made = make_report(Analysis(study[0][:600], "soe-2", models=["soe-2"], n_resamples=6))
    assert made.data["groups"] is None and made.data["findings"]["subgroups"]
    assert 'id="groups-section"' not in made.html()


def test_the_bundle_has_the_figure_and_the_tables(report, tmp_path):
    report.write_bundle(tmp_path / "bundle")
    figure = tmp_path / "bundle" / "figures" / "groups-experts-novices.svg"
    assert "experts (6 people)" in figure.read_text() or figure.stat().st_size > 2000
    assert (
        (tmp_path / "bundle" / "tables" / "group_moves.csv")
        .read_text()
        .startswith("group,other,object,distance")
    )


def test_names_on_the_two_maps_lie_inside_and_apart(report):
    pair = report.data["groups"]["pairs"][0]
    assert 0.5 <= pair["height"] <= 1
    for which in (0, 1):
        places = [tuple(spot["name_at"][which]) for spot in pair["spots"] if spot["name_at"][which]]
        assert all(0 < x < 1 and 0 < y < pair["height"] for x, y in places)
        assert len(set(places)) == len(places)
    assert all(all(spot["name_at"]) for spot in pair["spots"] if spot["moves"])
    page = report.html()
    assert "points</td>" in page and "Own map of experts" in page
    assert pair["beyond"] == "" and "Arrows at the border" not in page  # no object is far out
    assert all(spot["beyond"] == [None, None] for spot in pair["spots"])


def test_two_objects_far_out_do_not_squeeze_the_others_together(study):
    """They stand at the border, with an arrow and their name, where the others keep the room that they had without them."""
    answers, groups = study
    found = Analysis(answers, "soe-2", models=["soe-2"], n_resamples=6).groups(groups)
    far = found.pairs[0].maps.copy()
    far[0, 3], far[1, 4] = (40.0, 9.0), (-2.0, -60.0)
    pair = group_comparison(replace(found, pairs=(replace(found.pairs[0], maps=far),)), {})["pairs"][0]
    spots = {spot["name"]: spot for spot in pair["spots"]}
    east, south = spots[NAMES[3]], spots[NAMES[4]]
    assert east["beyond"] == [pytest.approx(-12.7, abs=6), None]
    assert south["beyond"] == [None, pytest.approx(92, abs=6)]
    assert east["at"][0][0] > 0.95 and south["at"][1][1] > pair["height"] - 0.05
    assert east["name_at"][0] is not None and south["name_at"][1] is not None
    inside = np.array([spot["at"][0] for spot in pair["spots"] if spot["beyond"][0] is None])
    assert len(inside) == len(spots) - 1 and np.ptp(inside[:, 0]) > 0.5
    assert f"{NAMES[3]} (experts); {NAMES[4]} (novices)" in pair["beyond"]
