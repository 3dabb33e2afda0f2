"""The pages in a real browser: by mouse, keys and touch, offline and back, on a phone, right to left, hostile names."""

import contextlib
import json
import time

import pytest
from ask_tools import opened, serving
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.keys import Keys

from nearfar.ask.guard import RateLimit, RateLimits
from nearfar.ask.store import researcher

OFTEN = RateLimits(RateLimit(1e9, 1e9), RateLimit(1e9, 1e9), RateLimit(1e9, 1e9))
SHORT = "per_person = 12\nagain = 0\nchecks = 1\neach = 3\npractice = 0\nbreak_every = 0"
OFFLINE = ("ERR_INTERNET_DISCONNECTED", "Failed to load resource")
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked=2'>",
    "تفاحة خضراء",
    "a" * 300,
    "{{ 7 * 7 }} ${1} {name}",
    "javascript:alert(1)",
    "Donaudampfschifffahrtsgesellschaftskapitän",
    "🍏 & <b>bold</b>",
]


@pytest.fixture
def study(tmp_path):
    """A function that opens and serves a study; all are closed in the end."""
    made = []

    def serve(**parts):
        ready = opened(tmp_path, **parts)
        running = serving(ready, limits=OFTEN)
        made.append((running, ready))
        return ready, f"http://127.0.0.1:{running.__enter__()}"

    yield serve
    for running, ready in reversed(made):
        running.__exit__(None, None, None)
        ready.close()


def stored(ready):
    return ready.store.read_now(researcher.answer_rows)


def wait_for_answers(ready, count):
    end = time.monotonic() + 30
    while len(stored(ready)) < count:
        assert time.monotonic() < end, f"{len(stored(ready))} of {count} answers came"
        time.sleep(0.05)


def ended(tab):
    tab.until("document.documentElement.dataset.ended === 'true'")
    return tab.js("document.getElementById('code').textContent")


def test_from_welcome_to_code_by_mouse_and_keys(tab, study):
    ready, url = study(
        questions="per_person = 12\nagain = 0\nchecks = 1\neach = 3\npractice = 1\nbreak_every = 8",
        people='code = "THE CODE"',
    )
    tab.open(url)
    tab.begin()
    tab.practise(1)
    assert len(stored(ready)) == 0
    for place in (0, 1):
        tab.choose(place)
    for key in ("1", "2", Keys.ARROW_LEFT, Keys.ARROW_RIGHT):
        tab.choose(key=key)
    tab.until("document.getElementById('where').textContent.startsWith('Question 7 of 12 ·')")
    tab.until("document.querySelector('.option:enabled') !== null")
    tab.driver.find_element("css selector", ".option").send_keys(Keys.ENTER)
    tab.until("document.getElementById('where').textContent.startsWith('Question 8 of 12 ·')")
    tab.choose(1)
    tab.until("document.getElementById('note-text').textContent.includes('8 of 12')")
    tab.click("note-go")
    for _ in range(4):
        tab.choose(0)
    assert ended(tab) == "THE CODE"
    rows = stored(ready)
    assert [json.loads(row[4])[0] for row in rows] == [0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0]
    assert all(0 < row[5] < 60_000 and row[6] == 0 for row in rows)
    assert tab.complaints() == []


@pytest.mark.parametrize(
    ("kind", "more", "choices"),
    [("odd", "", ("1", "2", Keys.ARROW_RIGHT)), ("central", "", (Keys.ARROW_LEFT, Keys.ARROW_DOWN, "3"))],
)
def test_one_of_three(tab, study, kind, more, choices):
    ready, url = study(top=f'kind = "{kind}"', questions=SHORT + more)
    tab.open(url)
    tab.begin()
    for number in range(12):
        tab.choose(key=choices[number % 3])
    ended(tab)
    assert [json.loads(row[4])[0] for row in stored(ready)] == [0, 1, 2] * 4
    assert tab.complaints() == []


def test_enter_on_cannot_tell_is_not_what_was_picked(tab, study):
    ready, url = study(
        top='kind = "grid"',
        questions=SHORT.replace("12", "3") + "\noptions = 6\npick = 2",
        people="aim = 4\n[screen]\ncannot_tell = true",
    )
    tab.open(url)
    tab.begin()
    tab.until("document.querySelector('.option:enabled') !== null")
    assert "0: I cannot tell" in tab.js("document.getElementById('keys').textContent")
    for key in "12":
        tab.driver.switch_to.active_element.send_keys(key)
    tab.driver.find_element("id", "cannot").send_keys(Keys.ENTER)
    tab.until("document.getElementById('where').textContent.startsWith('Question 2 of 3')")
    tab.until("document.documentElement.dataset.state === 'saved'")
    assert [row[4] for row in stored(ready)] == ["[]"]


def test_a_grid_of_which_one_is_chosen_asks_for_one(tab, study):
    ready, url = study(top='kind = "grid"', questions=SHORT.replace("12", "3") + "\noptions = 6\npick = 1")
    tab.open(url)
    tab.begin()
    tab.until("document.querySelector('.option:enabled') !== null")
    assert tab.js("document.getElementById('prompt').textContent.startsWith('Which one')")
    for _ in range(3):
        tab.choose(key="2")
    ended(tab)
    assert [row[4] for row in stored(ready)] == ["[1]"] * 3


def test_a_grid_by_touch_and_keys(tab, study):
    ready, url = study(top='kind = "grid"', questions=SHORT.replace("12", "3") + "\noptions = 6\npick = 2")
    tab.open(url, width=390, height=844)
    tab.begin()
    tab.until("document.querySelector('.option:enabled') !== null")
    assert tab.js("document.getElementById('done').disabled")
    for place in (4, 1, 2):  # the third is not taken: two are picked already
        tab.driver.find_elements("css selector", ".option")[place].click()
    pressed = tab.js("[...document.querySelectorAll('.option')].map((o) => o.getAttribute('aria-pressed'))")
    assert pressed == ["false", "true", "false", "false", "true", "false"]
    tab.driver.find_elements("css selector", ".option")[4].click()  # and taken back
    tab.driver.find_elements("css selector", ".option")[0].click()
    tab.click("done")
    for _ in range(2):
        tab.until("document.querySelector('.option:enabled') !== null")
        tab.driver.find_element("id", "prompt").send_keys("36")
        tab.click("done")
        tab.until(
            "document.querySelector('.option:enabled') !== null || document.getElementById('question').hidden"
        )
    ended(tab)
    assert [json.loads(row[4]) for row in stored(ready)] == [[1, 0], [2, 5], [2, 5]]
    assert tab.complaints() == []


def test_ten_answers_offline_then_a_reload_then_online(tab, study):
    """All ten arrive, once."""
    ready, url = study(questions=SHORT)
    tab.open(url)
    tab.begin()
    tab.choose()
    wait_for_answers(ready, 1)
    tab.offline(True)
    for _ in range(10):
        tab.choose()
    assert tab.until("document.getElementById('state').textContent.startsWith('Waiting for the network')")
    assert len(stored(ready)) == 1
    with contextlib.suppress(WebDriverException):
        tab.driver.refresh()
    assert tab.driver.find_elements("id", "question") == []  # the browser's own page: there is no network
    tab.offline(False)
    tab.driver.get(url)
    wait_for_answers(ready, 11)
    tab.until("document.getElementById('where').textContent.startsWith('Question 12 of 12 ·')")
    assert [row[1] for row in stored(ready)] == list(range(11))
    tab.choose()
    ended(tab)
    assert len(stored(ready)) == 12
    # they keep the time at which they were given, not that of their arrival
    assert all(row[7] <= row[8] for row in stored(ready))
    assert tab.complaints(but=OFFLINE) == []


def test_offline_for_a_while_without_a_reload(tab, study):
    ready, url = study(questions=SHORT)
    tab.open(url)
    tab.begin()
    tab.choose()
    tab.offline(True)
    for _ in range(11):
        tab.choose()
    tab.until("document.getElementById('note-text').textContent.startsWith('Sending your last answers')")
    assert tab.js("document.documentElement.dataset.ended") != "true"
    tab.offline(False)
    ended(tab)
    assert len(stored(ready)) == 12


def test_a_reload_goes_on_where_it_stopped(tab, study):
    ready, url = study(questions=SHORT)
    tab.open(url)
    tab.begin()
    for _ in range(3):
        tab.choose()
    wait_for_answers(ready, 3)
    tab.driver.get("about:blank")  # the tab is closed, and opened again another day
    tab.driver.get(url)
    assert tab.until("document.getElementById('where').textContent").startswith("Question 4 of 12 ·")
    for _ in range(9):
        tab.choose()
    code = ended(tab)
    tab.driver.refresh()
    assert ended(tab) == code
    assert len(ready.store.read_now(researcher.people_rows)) == 1
    tab.driver.get(url + "/?new")  # the next person at the same computer
    tab.until("!document.getElementById('welcome').hidden")


def test_two_tabs_give_one_answer_per_question(tab, study):
    ready, url = study(questions=SHORT)
    tab.open(url)
    tab.begin()
    tab.choose()
    first = tab.driver.current_window_handle
    tab.driver.switch_to.new_window("tab")
    try:
        tab.driver.get(url)
        for _ in range(5):
            tab.choose(1)
        wait_for_answers(ready, 6)
    finally:
        tab.driver.close()
        tab.driver.switch_to.window(first)
    for _ in range(11):
        tab.choose(0)
    ended(tab)
    assert [json.loads(row[4])[0] for row in stored(ready)] == [0, 1, 1, 1, 1, 1] + [0] * 6
    assert ready.store.read_now(researcher.counts, 0.0)["second_answers"] == 5


def test_the_server_says_that_the_disk_is_full_and_then_it_is_not(tab, study):
    ready, url = study(questions=SHORT)
    tab.open(url)
    tab.begin()
    tab.choose()
    wait_for_answers(ready, 1)
    ready.store.write_now(lambda tx: tx.rows("PRAGMA query_only = ON"))
    tab.choose()
    tab.until("document.getElementById('state').textContent.startsWith('Your answers cannot be saved')")
    assert len(stored(ready)) == 1  # the page keeps the second answer, and does not say that it is safe
    assert tab.js("document.getElementById('state').textContent") != "Saved"
    ready.store._writer.execute("PRAGMA query_only = OFF")
    wait_for_answers(ready, 2)
    tab.until("document.getElementById('state').textContent === 'Saved'")
    for _ in range(10):
        tab.choose()
    assert ended(tab)
    assert len(stored(ready)) == 12  # each answer once, also the one that was sent again and again


def test_hostile_long_and_foreign_names_are_text(tab, study):
    names = [name.replace("\\", "\\\\").replace('"', '\\"') for name in HOSTILE]
    _, url = study(
        objects=names,
        questions="per_person = 12\nagain = 0\nchecks = 0\neach = 1\npractice = 0",
        people="aim = 1",
    )
    tab.open(url, width=390, height=844)
    tab.begin()
    seen = set()
    for _ in range(12):
        tab.until("document.querySelector('.option:enabled') !== null")
        seen |= set(tab.js("[...document.querySelectorAll('.thing .name')].map((l) => l.textContent)"))
        assert tab.js("document.documentElement.scrollWidth") <= 390
        assert tab.js("document.querySelectorAll('.thing .name *, main script, main img').length") == 0
        tab.choose()
    ended(tab)
    assert seen <= set(HOSTILE) and len(seen) > 5
    assert tab.js("window.hacked") is None
    assert tab.complaints() == []


def test_right_to_left(tab, study, tmp_path):
    (tmp_path / "own.toml").write_text(
        'code = "ar"\ndirection = "rtl"\nnear = "أيهما أقرب؟"\n', encoding="utf-8"
    )
    ready, url = study(top='language = "own.toml"', questions=SHORT)
    tab.open(url)
    tab.begin()
    tab.until("document.querySelector('.option:enabled') !== null")
    assert tab.js("getComputedStyle(document.documentElement).direction") == "rtl"
    left, right = tab.js("[...document.querySelectorAll('.option')].map((o) => o.getBoundingClientRect().x)")
    assert left < right  # left is left in every language
    tab.choose(key=Keys.ARROW_LEFT)
    wait_for_answers(ready, 1)
    assert json.loads(stored(ready)[0][4]) == [0]


@pytest.mark.parametrize("width", [390, 1440])
def test_targets_are_large_and_nothing_is_cut_off(tab, study, tmp_path, width):
    from PIL import Image

    (tmp_path / "photos").mkdir()
    for number in range(8):
        Image.new("RGB", (300 + 40 * number, 400), (30 * number, 90, 200)).save(
            tmp_path / "photos" / f"thing {number}.png"
        )
    ready, url = study(objects="photos", questions=SHORT)
    tab.open(url, width=width, height=844)
    tab.begin()
    for _ in range(4):
        tab.until("document.querySelector('.option:enabled') !== null")
        boxes = tab.js(
            "[...document.querySelectorAll('button')].filter((b) => b.offsetParent).map((b) => { const r = b.getBoundingClientRect(); return [r.width, r.height]; })"
        )
        assert all(w >= 44 and h >= 44 for w, h in boxes)
        assert tab.js(
            "[...document.querySelectorAll('#question img')].every((i) => i.complete && i.naturalWidth > 0)"
        )
        assert tab.js("document.documentElement.scrollWidth") <= width
        bottom = tab.js(
            "Math.max(...[...document.querySelectorAll('.option')].map((o) => o.getBoundingClientRect().bottom))"
        )
        assert bottom <= 844  # everything that matters without scrolling
        tab.choose()
    wait_for_answers(ready, 4)
    assert tab.complaints() == []


def test_time_in_another_tab_is_kept_apart(tab, study):
    ready, url = study(questions=SHORT)
    tab.open(url)
    tab.begin()
    tab.until("document.querySelector('.option:enabled') !== null")
    first = tab.driver.current_window_handle
    tab.driver.switch_to.new_window("tab")
    time.sleep(0.7)
    tab.driver.close()
    tab.driver.switch_to.window(first)
    tab.until("!document.hidden")
    tab.choose()
    wait_for_answers(ready, 1)
    milliseconds, away = stored(ready)[0][5:7]
    assert milliseconds > away > 300


def test_what_people_see_who_cannot_take_part(tab, study):
    ready, url = study(questions=SHORT, people='recruit = "mturk"\naim = 1\nlimit = 1')
    tab.open(url + "/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
    assert tab.until("document.getElementById('note-title').textContent") == "This is a preview"
    tab.open(url)
    assert tab.until("document.getElementById('note-title').textContent") == "This link is incomplete"
    for worker, title in (("a", None), ("b", "The study is complete")):
        tab.open(url + f"/?workerId={worker}&assignmentId=1&hitId=2&turkSubmitTo=https://www.mturk.com")
        tab.begin()
        if title is None:
            tab.until("document.querySelector('.option:enabled') !== null")
        else:
            assert tab.until("document.getElementById('note-title').textContent") == title
    ready.store.write_now(researcher.set_state, "paused")
    tab.open(url + "/?workerId=c&assignmentId=1")
    tab.begin()
    assert tab.until("document.getElementById('note-title').textContent") == "The study is paused"


def test_german(tab, study):
    _, url = study(top='language = "de"', questions=SHORT)
    tab.open(url)
    assert (
        tab.until(
            "document.getElementById('begin').offsetParent && document.getElementById('begin').textContent"
        )
        == "Beginnen"
    )
    tab.begin()
    assert tab.until("document.getElementById('where').textContent").startswith("Frage 1 von 12 ·")


# ---------------------------------------------------------------- the researcher's page


def test_the_live_page(tab, study):
    """Log in, see figures, pause, erase a person, log out; by keyboard too, at both widths, without a complaint."""
    from ask_tools import answer, arrive, places

    ready, url = study(questions="per_person = 24\nagain = 0.1\nchecks = 1\neach = 3", people="aim = 12")
    for number in range(5):
        arrive(ready, f"t{number}")
        for place in places(ready, f"t{number}"):
            anchor, one, other = place["shown"]
            answer(ready, f"t{number}", [place], choice=(int(abs(anchor - other) < abs(anchor - one)),))
    tab.open(url + "/admin")
    tab.driver.find_element("id", "password").send_keys("wrong" + Keys.ENTER)
    assert tab.until("document.getElementById('wrong').textContent") == "That is not the password."
    field = tab.driver.find_element("id", "password")
    field.clear()
    field.send_keys(ready.password + Keys.ENTER)
    tab.until("document.getElementById('answer-count')?.textContent === '120'")
    end = time.monotonic() + 300  # compiled first, at low priority
    while json.loads(ready.store.read_now(researcher.get_view) or '{"answers": 0}')["answers"] < 115:
        assert time.monotonic() < end  # an earlier view may be of those who had answered by then
        time.sleep(0.2)
    looks = int(tab.js("document.documentElement.dataset.looks"))
    tab.until(f"Number(document.documentElement.dataset.looks) > {looks + 1}", patience=120)
    tab.until("document.querySelectorAll('#map circle').length === 12")
    view = json.loads(ready.store.read_now(researcher.get_view))
    tab.until("document.getElementById('enough').textContent === arguments[0]", view["curve"]["short"])
    assert tab.js("document.getElementById('looks').hidden") is (view["accuracy"] is None)
    assert tab.js("document.getElementById('failed').hidden")
    assert "2 of 12" not in tab.js("document.getElementById('people-count').textContent")
    before = tab.js("document.getElementById('map').innerHTML")
    looks = int(tab.js("document.documentElement.dataset.looks"))
    tab.until(f"Number(document.documentElement.dataset.looks) > {looks + 1}", patience=120)
    assert tab.js("document.getElementById('map').innerHTML") == before  # a map that stands still
    tab.click("pause")
    tab.until("document.getElementById('state').textContent === 'paused'")
    tab.click("pause")
    tab.until("document.getElementById('state').textContent === 'open'")
    tab.js("document.querySelector('[aria-label=\"Erase pt3\"]').click()")
    tab.until("document.getElementById('erase').open")
    tab.driver.switch_to.active_element.send_keys(Keys.ENTER)  # the dialog took the focus
    tab.until(
        "!document.getElementById('erase').open && document.getElementById('answer-count').textContent === '96'"
    )
    for width in (390, 1440):
        tab.open(url + "/admin", width=width, height=900)
        tab.until("document.querySelectorAll('#people tr').length === 4")
        assert tab.js("document.documentElement.scrollWidth") <= width
    unnamed = tab.js(
        "[...document.querySelectorAll('button, a, input, svg')].filter((e) => e.checkVisibility() && "
        "!(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML)"
    )
    assert unnamed == []
    tab.click("logout")
    tab.until("document.getElementById('password') !== null")
    assert tab.complaints(but=("admin/login",)) == []  # the wrong password itself


def test_the_band_of_the_curve_stays_within_its_axes(tab, study):
    _, url = study()
    tab.open(url + "/admin")
    points = [{"answers": n, "accuracy": 0.5, "low": 0.1, "high": 0.9} for n in (50, 100)]
    drawn = tab.driver.execute_async_script(
        "const done = arguments[1]; import('/static/charts.js').then(({curve}) => { curve(document.body, arguments[0], null, 'x');"
        "done(document.querySelector('.band').getAttribute('points').split(' ').map((at) => Number(at.split(',')[1]))); })",
        {"points": points},
    )
    axis = tab.js(
        "Math.max(...[...document.querySelectorAll('line.axis')].map((line) => line.getAttribute('y1')))"
    )
    assert len(drawn) == 4 and max(drawn) <= axis + 20 and min(drawn) >= 0
    assert "50 triplets" in tab.js("document.body.textContent")  # an odd one out gives two


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_of_the_pages_has_contrast(tab, study, dark):
    """At least 4.5 to 1 with what is behind it, also the link that gets people paid."""
    ready, url = study(
        questions=SHORT.replace("practice = 0", "practice = 1").replace("12", "3"),
        people='code = "THE CODE"\nrecruit = "prolific"',
    )
    tab.open(url + "/?PROLIFIC_PID=a", dark=dark)
    for button in ("begin", "agree"):
        tab.until(f"document.getElementById('{button}')?.offsetParent !== null")
        assert tab.hard_to_read() == []
        tab.click(button)
    tab.practise(1)
    for _ in range(3):
        tab.until("document.querySelector('.option:enabled') !== null")
        assert tab.hard_to_read() == []
        tab.choose()
    assert ended(tab) == "THE CODE"
    tab.until("document.getElementById('return').offsetParent !== null")
    assert tab.hard_to_read() == []
    tab.open(url + "/admin", dark=dark)
    assert tab.hard_to_read() == []
    tab.driver.find_element("id", "password").send_keys(ready.password, Keys.ENTER)
    tab.until("document.getElementById('more') && !document.getElementById('more').hidden")
    assert tab.js("document.getElementById('looks').hidden")  # there is no interval to be told about
    tab.click("more")  # nobody has a reason to be listed
    tab.until("document.getElementById('people')?.children.length > 0")
    assert tab.hard_to_read() == []


def test_adaptive_questions_come_a_few_at_a_time(tab, study):
    """A reload goes on, and offline one answers what is settled, then waits."""
    asked = 'design = "adaptive"\nper_person = 20\nagain = 0\nchecks = 1\npractice = 0\nbreak_every = 0\ncontrol = 0'
    ready, url = study(questions=asked)
    tab.open(url)
    tab.begin()
    for _ in range(4):
        tab.choose()
    wait_for_answers(ready, 4)
    tab.driver.refresh()
    for _ in range(3):
        tab.choose()
    wait_for_answers(ready, 7)
    tab.until("document.documentElement.dataset.state === 'saved'")
    tab.offline(True)
    for _ in range(2):
        tab.choose(1)
    tab.until("document.documentElement.dataset.state === 'waiting'")
    tab.offline(False)
    for _ in range(11):
        tab.choose()
    assert len(ended(tab)) == 8
    rules = [row[12] for row in stored(ready)]
    assert len(rows := stored(ready)) == 20 and len({row[1] for row in rows}) == 20
    assert rules.count("random") >= round(0.2 * 19) and None in rules  # None: the check
    assert tab.js("document.getElementById('bar').style.width") == "100%"
