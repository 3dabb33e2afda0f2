"""Groups of people in the report: words, two maps, tables, a figure."""

import json
from dataclasses import replace

import numpy as np
import pytest
from groups_tools import NAMES, N, two_groups

from nearfar.evaluate.analysis import Analysis
from nearfar.report.groups_section import groups_facts
from nearfar.report.make import make_report
from nearfar.report.print.groups import groups_figure


@pytest.fixture(scope="module")
def study():
    return two_groups()


@pytest.fixture(scope="module")
def report(study):
    answers, groups = study
    return make_report(Analysis(answers, "soe-2", models=["soe-2"], n_resamples=6), groups=groups)


def test_the_page_compares_groups_and_tells_how_alike_people_are(report):
    page = report.html()
    assert 'id="people-section"' in page and 'href="#people-section"' in page
    pair = report.facts.groups.pairs[0]
    assert pair.names == ("experts", "novices") and pair.people == (6, 6)
    assert (
        "experts and novices see the objects differently (p = 0.00" in pair.verdict and pair.verdict in page
    )
    assert len(pair.spots) == N and {spot.name for spot in pair.spots if spot.moves} <= set(NAMES[:3])
    assert all(0 <= v <= 1 for spot in pair.spots for v in (*spot.first, *spot.second))
    assert "<thing>" not in page and "&lt;thing&gt; 0" in page
    assert len(report.facts.alike.people) == 12 and report.facts.alike.groups in (1, 2)
    assert not {"1", "2"} & set(report.facts.alike.people)  # pseudonyms
    facts = json.loads(report.facts.to_json())
    assert facts["groups"]["pairs"][0]["accuracy"][0]["what"] == "answers of experts by the map of experts"


def test_a_difference_that_may_be_one_of_care_is_called_so(study):
    answers, groups = study
    found = Analysis(answers, "soe-2", models=["soe-2"], n_resamples=6).groups(groups)
    (pair,) = found.pairs
    behind = replace(pair, lead=(replace(pair.lead[0], value=0.0), pair.lead[1]))
    (told,) = groups_facts(replace(found, pairs=(behind,)), {}).pairs
    assert told.level == "fair"
    assert (
        "experts and novices see the objects differently, or one of them answers with more noise (p"
        in told.verdict
    )


def test_without_groups_the_page_says_only_how_alike_people_are(study):
    made = make_report(Analysis(study[0][:600], "soe-2", models=["soe-2"], n_resamples=6))
    assert made.facts.groups is None and made.facts.alike is not None
    assert 'class="groups"' not in made.html()
    bare = make_report(
        Analysis(study[0].replace(participant=None)[:300], "soe-2", models=["soe-2"], n_resamples=6)
    )
    assert bare.facts.alike is None and 'id="people-section"' not in bare.html()


def test_the_bundle_has_the_figure_and_the_tables(report, tmp_path):
    report.write_bundle(tmp_path / "bundle")
    figure = tmp_path / "bundle" / "figures" / "groups-experts-novices.svg"
    assert "experts (6 people)" in figure.read_text() or figure.stat().st_size > 2000
    assert (
        (tmp_path / "bundle" / "tables" / "group_moves.csv")
        .read_text()
        .startswith("group,other,object,distance")
    )
    assert (
        (tmp_path / "bundle" / "tables" / "agreement.csv")
        .read_text()
        .startswith("participant,other,agreement")
    )


def test_names_on_the_two_maps_lie_inside_and_apart(report):
    pair = report.facts.groups.pairs[0]
    assert 0.5 <= pair.height <= 1
    for places in zip(*((spot.first_name_at, spot.second_name_at) for spot in pair.spots), strict=True):
        assert all(0 < place[0] < 1 and 0 < place[1] < pair.height for place in places if place)
        assert len({place for place in places if place}) == sum(place is not None for place in places)
    assert all(spot.first_name_at and spot.second_name_at for spot in pair.spots if spot.moves)
    page = report.html()
    assert "points</td>" in page and "within less between" in page


def test_two_objects_far_out_do_not_squeeze_the_others_together(study):
    """They stand at the border, with an arrow and their name, where the others keep the room that they had without them."""
    answers, groups = study
    found = Analysis(answers, "soe-2", models=["soe-2"], n_resamples=6).groups(groups)
    far = found.pairs[0].maps.copy()
    far[0, 3], far[1, 4] = (40.0, 9.0), (-2.0, -60.0)
    pair = groups_facts(replace(found, pairs=(replace(found.pairs[0], maps=far),)), {}).pairs[0]
    first = {spot.name: spot for spot in pair.spots}
    east, south = first[NAMES[3]], first[NAMES[4]]
    assert (east.first_beyond, south.second_beyond) == (
        pytest.approx(-12.7, abs=6),
        pytest.approx(92, abs=6),
    )
    assert east.first[0] > 0.95 and south.second[1] > pair.height - 0.05
    assert east.first_name_at is not None and south.second_name_at is not None
    assert east.second_beyond is None and sum(s.first_beyond is not None for s in pair.spots) == 1
    inside = np.array([spot.first for spot in pair.spots if spot.first_beyond is None])
    assert np.ptp(inside[:, 0]) > 0.5
    assert pair.beyond == (
        f"Arrows at the border: objects that lie far beyond it, {NAMES[3]} (experts); {NAMES[4]} (novices)."
    )
    axes = groups_figure(pair).axes
    assert [len(line.get_marker()) for line in axes[0].lines if not isinstance(line.get_marker(), str)] == [5]


def test_no_arrow_where_no_object_is_far_out(report):
    pair = report.facts.groups.pairs[0]
    assert pair.beyond == "" and "Arrows at the border" not in report.html()
    assert all(spot.first_beyond is spot.second_beyond is None for spot in pair.spots)
