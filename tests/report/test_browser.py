"""The page in a real browser: quiet, offline, hover and linked selection work, hostile names are inert."""

import json

import pytest
from browser_driver import Browser, find_browser
from report_tools import HOSTILE, answers, hostile_report, paint

from nearfar.datasets import fetch_car
from nearfar.report.make import make_report

pytestmark = pytest.mark.skipif(
    find_browser() is None,
    reason="NO BROWSER WAS TESTED: chromium is not installed; as root run  sh .ci/chromium  to get it",
)


@pytest.fixture(scope="module")
def browser():
    with Browser() as running:
        yield running


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A report of twelve objects, eleven of them with pictures."""
    folder = tmp_path_factory.mktemp("page")
    given = answers(m=600)
    pictures = paint(folder / "pictures", given.objects[:11])
    return make_report(given, title="Browser", n_clusters=3, images=pictures).write(folder / "report.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return hostile_report().write(tmp_path_factory.mktemp("hostile") / "report.html")


@pytest.fixture(scope="module")
def opened(browser, file):
    return browser.open(file)


@pytest.fixture
def page(opened):
    """The page with nothing selected; whatever a test does must not make it complain or ask for anything."""
    opened.call("Page.bringToFront")
    opened.key("Escape")
    opened.mouse("Moved", 1, 1)
    yield opened
    assert opened.complaints() == []
    assert opened.requests() == []


@pytest.fixture
def tab(browser):
    """Opens further tabs, closed after the test: a tab in the background does not draw."""
    tabs = []

    def open_tab(*arguments, **more):
        tabs.append(browser.open(*arguments, **more))
        return tabs[-1]

    yield open_tab
    for page in tabs:
        page.close()


def place(page, i):
    """Where picture or dot i of the map is on the screen."""
    page.show("#map")
    return page.js(
        f"(() => {{ const mark = document.querySelector('#map .spot[data-object=\"{i}\"]').lastElementChild.getBoundingClientRect();"
        " return [mark.x + mark.width / 2, mark.y + mark.height / 2]; })()"
    )


def chosen_everywhere(page):
    """What each view says is selected: the page's own state, map, tree, clusters."""
    return page.js(
        "[state.chosen, ...['#map .spot.on', '#tree .leaf.on', '#clusters .tile.on']"
        ".map((views) => [...document.querySelectorAll(views)].map((view) => Number(view.dataset.object)))]"
        ".map((list) => [...list].sort((a, b) => a - b))"
    )


def test_it_opens_quietly_and_asks_for_nothing(page):
    page.browser.wait(0.3)
    assert page.js("[...document.querySelectorAll('svg.chart, svg.matrix, #map svg')].length") >= 5
    assert page.js("document.querySelectorAll('#tree .leaf').length") == 12
    assert page.js("document.querySelectorAll('#tree image').length") == 11
    assert page.js("document.querySelectorAll('#clusters .cluster').length") == 3
    assert page.js(
        "['image', 'text'].map((tag) => document.querySelectorAll(`#map .spot ${tag}`).length)"
    ) == [11, 1]
    pictures = "[...document.querySelectorAll('img')].every((img) => img.complete && img.naturalWidth > 0)"
    assert page.js(pictures)


def test_hover_says_name_cluster_and_neighbours(page):
    page.move(*place(page, 3))
    tip = page.js("[document.getElementById('tip').hidden, document.getElementById('tip').textContent]")
    cluster = page.js("cutOf.get(state.k).labels[3] + 1")
    assert tip[0] is False
    assert f"thing 03cluster {cluster}" in tip[1]
    assert page.js("document.querySelectorAll('#tip .near > *').length") == 5
    page.move(2, 2)
    assert page.js("document.getElementById('tip').hidden")


def test_a_click_on_the_map_selects_everywhere(page):
    page.click(*place(page, 5))
    assert chosen_everywhere(page) == [[5]] * 4
    assert page.js("document.querySelector('#panel h3').textContent") == "thing 05"
    assert page.js("document.querySelectorAll('#panel .list li').length") == 10
    page.key("Escape")
    assert chosen_everywhere(page) == [[]] * 4


def test_a_click_on_a_cluster_selects_on_the_map(page):
    left, top, width, height = page.show("#clusters .tile[data-object='7']")
    page.click(left + width / 2, top + height / 2)
    assert chosen_everywhere(page) == [[7]] * 4
    left, top, width, height = page.show("#panel .list button")
    neighbour = page.js("Number(document.querySelector('#panel .list button').dataset.object)")
    page.click(left + width / 2, top + height / 2)
    assert chosen_everywhere(page) == [[neighbour]] * 4


def test_a_lasso_selects_several(page):
    left, top, width, height = page.show("#map")
    page.js("document.getElementById('drag-lasso').click()")
    corners = [(0.03, 0.03), (0.97, 0.03), (0.97, 0.97), (0.03, 0.97), (0.03, 0.05)]
    at = [(left + width * x, top + height * y) for x, y in corners]
    page.mouse("Pressed", *at[0], button="left", buttons=1, clickCount=1)
    for x, y in at:
        page.mouse("Moved", x, y, button="left", buttons=1)
        page.browser.wait(0.03)
    page.mouse("Released", *at[-1], button="left", clickCount=1)
    page.settle()
    page.js("document.getElementById('drag-pan').click()")
    lists = chosen_everywhere(page)
    assert len(lists[0]) >= 6
    assert lists == [lists[0]] * 4
    assert f"{len(lists[0])} objects" in page.js("document.getElementById('panel').textContent")


def test_a_cluster_is_selected_by_its_number_in_the_tree(page):
    """By a click and by the keyboard; the panel then lists its objects and nothing else."""
    for cluster in range(3):
        members = page.js(f"data.objects.map((_, i) => i).filter((i) => clusterOf(i) === {cluster})")
        left, top, width, height = page.show(f"#tree .badge[data-cluster='{cluster}'] circle")
        page.click(left + width / 2, top + height / 2)
        assert chosen_everywhere(page) == [members] * 4
        words = page.js("document.getElementById('panel').innerText")
        if len(members) > 1:
            assert words.startswith(f"{len(members)} objects")
            assert words.split()[-2:] == ["cluster", str(cluster + 1)]
        assert "null" not in words
        page.key("Escape")
        page.js(f"document.querySelector('#tree .badge[data-cluster=\"{cluster}\"]').focus()")
        page.key("Enter")
        assert chosen_everywhere(page) == [members] * 4
        page.key("Escape")


def test_the_number_of_clusters_can_be_changed(page):
    slider = "(() => { const k = document.getElementById('k'); k.value = %d; k.dispatchEvent(new Event('input')); })()"
    page.js(slider % 3)  # the fourth of the cuts from 2 on
    page.settle()
    assert page.js("document.querySelectorAll('#clusters .cluster').length") == 5
    assert page.js("document.getElementById('k-out').textContent") == "5"
    assert (
        page.js(
            "new Set([...document.querySelectorAll('#map .spot')].map((spot) => spot.style.getPropertyValue('--c'))).size"
        )
        == 5
    )
    page.js(slider % 1)


def test_everything_is_reachable_by_keyboard(page):
    page.js("document.querySelector('#tree .leaf[tabindex=\"0\"]').focus()")
    page.key("ArrowRight")
    page.key("Enter")
    second = page.js("Number(document.querySelectorAll('#tree .leaf')[1].dataset.object)")
    assert chosen_everywhere(page) == [[second]] * 4
    page.js(
        "(() => { const f = document.getElementById('find'); f.value = 'thing 09'; f.dispatchEvent(new Event('change')); })()"
    )
    assert chosen_everywhere(page) == [[9]] * 4
    clickable = "[...document.querySelectorAll('[data-object]')].every((e) => e.tagName === 'BUTTON' || e.hasAttribute('tabindex'))"
    assert page.js(clickable)


def test_maps_can_be_switched_zoomed_moved_and_fitted(page):
    start = place(page, 0)
    page.js("document.querySelectorAll('#map-which button')[1].click()")
    page.settle()
    assert place(page, 0) != start
    page.js("document.querySelectorAll('#map-which button')[0].click()")
    page.settle()
    drawn = page.js("document.querySelector('#map').innerHTML")
    spots = "Object.fromEntries([...document.querySelectorAll('#map .spot')].map((s) => [s.dataset.object, s.getBoundingClientRect().x]))"
    before = page.js(spots)
    page.js("document.getElementById('zoom-in').click()")
    page.settle()
    after = page.js(spots)
    one, *_, other = sorted(after, key=lambda i: before[i])
    assert abs(after[one] - after[other]) > 1.2 * abs(before[one] - before[other])
    page.js("document.getElementById('zoom-fit').click()")
    page.settle()
    left, top, width, height = page.show("#map")
    x, y = left + width / 2, top + height - 12
    page.mouse("Pressed", x, y, button="left", buttons=1, clickCount=1)
    page.mouse("Moved", x + 40, y, button="left", buttons=1)
    page.mouse("Released", x + 40, y, button="left", clickCount=1)
    page.settle()
    assert place(page, 0)[0] == pytest.approx(start[0] + 40, abs=2) and page.js("state.chosen") == []
    page.js("document.getElementById('zoom-fit').click()")
    page.settle()
    assert page.js("document.querySelector('#map').innerHTML") == drawn  # nothing is left of the zoomed map


def test_every_figure_can_be_taken_along(page):
    """As SVG that stands alone, without styles of the page, and as CSV."""
    names = page.js("[...document.querySelectorAll('.saves')].map((line) => line.previousElementSibling.id)")
    assert {"models", "map", "tree", "matrix", "positions", "people", "curve"} <= set(names)
    page.js("kept = []; save = (name, kind, text) => kept.push([name, text])")
    page.js("document.querySelectorAll('#models + .saves button').forEach((button) => button.click())")
    (drawn, text), (table, rows) = page.js("kept")
    assert (drawn, table) == ("models.svg", "models.csv") and not page.js(
        "document.querySelector('#models svg')"
    )
    scores = page.js("data.models.scores")
    assert rows.splitlines()[1].split(",")[:2] == [scores[0]["name"], str(scores[0]["accuracy"])]
    assert text.count("<circle") == len(scores) == rows.count("\n") - 1 and "var(--" not in text
    text = page.js("asSvg(document.querySelector('#curve svg'))")
    assert text.startswith("<svg") and "var(--" not in text and "fill:rgb" in text
    assert page.js("asCsv([['a,b', '=1+1', 2, null]])") == '"a,b",\'=1+1,2,\n'


def test_the_matrix_names_the_pair_under_the_pointer(page):
    left, top, width, height = page.show("#matrix image")
    page.move(left + width * 0.5 / 12, top + height * 1.5 / 12)
    first, second = page.js("data.matrix.order.slice(0, 2).map(nameOf)")
    assert page.js("document.querySelector('#tip strong').textContent") == f"{second} and {first}"
    page.click(left + width * 0.5 / 12, top + height * 1.5 / 12)
    assert sorted(page.js("state.chosen")) == sorted(page.js("data.matrix.order.slice(0, 2)"))


def test_dark_follows_the_system_and_the_button(tab, file):
    page = tab(file, dark=True)
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.js("document.documentElement.dataset.theme") == "dark"
    dark = page.js(ground)
    page.js("document.getElementById('theme').click()")
    page.settle()
    assert page.js("document.documentElement.dataset.theme") == "light"
    assert page.js(ground) != dark
    page.js("localStorage.clear()")
    assert page.complaints() == []


def test_a_telephone_can_read_it(tab, file):
    page = tab(file, width=390, height=800, mobile=True)
    assert page.js("document.documentElement.scrollWidth") <= 390
    assert page.js("document.querySelectorAll('svg.chart, #map svg').length") >= 4
    assert page.js("document.querySelector('tr.why span').getBoundingClientRect().width") < 390
    assert page.complaints() == []


def test_it_prints(page):
    paper = page.call("Page.printToPDF", printBackground=False)["data"]
    assert len(paper) > 50_000
    assert page.js("document.documentElement.dataset.theme") == "light"


def test_hostile_names_are_inert(tab, hostile):
    page = tab(hostile)
    for i, name in enumerate(HOSTILE):
        page.js(f"choose([{i}])")
        page.settle()
        assert page.js("document.querySelector('#panel h3').textContent") == name
        page.js(f"showTip(100, 100, ...tipFor({i}))")
        assert page.js("document.querySelector('#tip strong').textContent") == name
    page.js("document.querySelectorAll('#map-which button')[1].click()")
    page.move(*place(page, 0))
    page.browser.wait(0.3)
    assert page.js("typeof window.hacked") == "undefined"
    assert page.js("document.querySelector('h1').textContent") == HOSTILE[0]
    assert page.js("document.title") == HOSTILE[0]
    words = page.js(
        "[...document.querySelectorAll('#tree .leaf')].map((leaf) => leaf.getAttribute('aria-label'))"
    )
    assert len(words) == len(HOSTILE)
    assert page.js("data.objects.map((o) => o.name)") == HOSTILE
    assert page.complaints() == []
    assert page.requests() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_long_names_fit_their_tiles(tab, hostile, width):
    """A name lies inside its tile; only one that is too long for any tile ends in an ellipsis."""
    page = tab(hostile, width=width, height=800, mobile=width < 600)
    assert page.js("document.documentElement.scrollWidth") <= width
    tiles = page.js(
        "[...document.querySelectorAll('.tile .noimg')].filter((tile) => tile.offsetWidth).map((tile) => {"
        " const words = tile.firstElementChild; const [a, b] = [tile, words].map((e) => e.getBoundingClientRect());"
        " return [words.textContent, Math.max(a.left - b.left, a.top - b.top, b.right - a.right, b.bottom - a.bottom),"
        " words.scrollHeight - words.clientHeight, words.scrollWidth - words.clientWidth]; })"
    )
    assert {name for name, *_ in tiles} == set(HOSTILE)
    assert (
        page.js("Math.min(...[...document.querySelectorAll('#matrix text')].map((text) => text.getBBox().x))")
        >= 0
    )
    for name, beyond, hidden, aside in tiles:
        assert beyond <= 0.5, name
        if len(name) < 60:
            assert max(hidden, aside) <= 1, name


def test_the_policy_would_stop_what_escaping_missed(tab, file, tmp_path):
    """Were a tag to slip through after all, the browser refuses to run or fetch it."""
    tags = (
        "<script>window.hacked = 1</script><img src='https://example.org/x.png' onerror='window.hacked = 2'>"
    )
    broken = tmp_path / "broken.html"
    broken.write_text(file.read_text(encoding="utf-8").replace("<main>", f"<main>{tags}"), encoding="utf-8")
    page = tab(broken)
    page.browser.wait(0.3)
    assert page.js("typeof window.hacked") == "undefined"
    assert any("Content Security Policy" in text for text in page.complaints())


def test_real_cars_open_quietly(tab, shared_data, tmp_path):
    car = fetch_car(shared_data)
    rows = [f"{name},{path.name}" for name, path in zip(car.triplets.objects, car.images, strict=True)]
    (tmp_path / "objects.csv").write_text("\n".join(["object,image", *rows]) + "\n")
    report = make_report(
        car.triplets, objects=tmp_path / "objects.csv", images=shared_data / "car" / "images"
    )
    page = tab(report.write(tmp_path / "car.html"))
    assert report.data["pictures"]["shown"] == 60
    assert (
        page.js("document.querySelector('#legend bdi').textContent") == "Branch 1"
    )  # no clusters were found
    assert page.js("document.querySelectorAll('#tree image').length") == 60
    wide = page.js(
        "[...document.querySelectorAll('#map image')].map((picture) => picture.getBoundingClientRect().width)"
    )
    assert len(wide) >= 57 and min(wide) >= 32  # large enough to be told apart
    assert json.loads(page.js("JSON.stringify(data.objects.length)")) == 60
    assert (page.complaints(), page.requests()) == ([], [])
    assert (tmp_path / "car.html").stat().st_size < 7e6
