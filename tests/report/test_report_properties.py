"""Properties of the objects on the page: a section, colours and arrows, and only where there are properties."""

import pytest
from browser_driver import Browser, find_browser
from report_tools import HOSTILE, answers, small_report

from nearfar.report.bundle import _tables
from nearfar.report.make import make_report


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A report with a number that the map follows, one that it does not, and a category with a hostile name and value."""
    folder = tmp_path_factory.mktemp("properties")
    names = [f"thing {i:02d}" for i in range(12)]
    rows = [
        f"{name},{i + 20 * (i > 5)},{(i * 7) % 12},{'ab'[i > 5]}{HOSTILE[3].replace(',', '')}"
        for i, name in enumerate(names)
    ]
    heading = f"object,position,noise,kind {HOSTILE[3]}"
    (folder / "objects.csv").write_text("\n".join([heading, *rows]).replace('"', "") + "\n")
    report = make_report(answers(m=600), model="soe-2", objects=folder / "objects.csv")
    report.write(folder / "report.html")
    return folder, report


def test_properties_are_in_the_facts_and_the_bundle(folder):
    data = folder[1].data["explained"]
    found = {row["name"]: row for row in data["properties"]}
    assert found["position"]["p"] <= 0.05 < found["noise"]["p"]
    assert [set(each["arrows"]) for each in folder[1].data["maps"]] == [{"position"}] * len(
        folder[1].data["maps"]
    )
    assert [len(values) for values in data["categories"].values()] == [12]
    assert "R²" in folder[1].data["methods"]
    assert _tables(folder[1].data)["properties"]["name"].to_list() == list(found)


def test_without_properties_there_is_no_section():
    report = small_report()
    assert report.data["explained"] is None
    assert all(mark not in report.html() for mark in ('id="properties-section"', 'id="by"', 'id="arrows"'))


@pytest.mark.skipif(find_browser() is None, reason="NO BROWSER WAS TESTED: chromium is not installed")
def test_colours_and_arrows_in_a_browser(folder):
    with Browser() as browser:
        page = browser.open(folder[0] / "report.html")
        colours = "new Set([...document.querySelectorAll('#map .spot')].map((s) => s.style.getPropertyValue('--c'))).size"
        assert page.js(colours) == page.js("state.k")
        page.js(
            "(() => { const by = $('by'); by.selectedIndex = 1; by.dispatchEvent(new Event('change')); })()"
        )
        page.settle()
        assert page.js(colours) == 2
        assert page.js("$('legend').children.length") == 2
        assert page.js("document.querySelectorAll('.arrows path').length") == 0
        page.js("$('arrows').click()")
        page.settle()
        assert page.js("[...document.querySelectorAll('.arrows text')].map((t) => t.textContent)") == [
            "position"
        ]
        # the arrow of a line with a gap points from the first objects to the last, as they are drawn
        tip = page.js(
            "document.querySelector('.arrows path').getAttribute('d').match(/[\\d.-]+/g).slice(0, 4).map(Number)"
        )
        ends = page.js("[0, 11].map((i) => [data.maps[0].x[i], -data.maps[0].y[i]])")
        along = [end - start for start, end in zip(*ends, strict=True)]
        assert along[0] * (tip[2] - tip[0]) + along[1] * (tip[3] - tip[1]) > 0
        assert page.js("window.hacked") is None
        assert page.complaints() == []
        assert page.requests() == []
