"""Forms, sounds and ways out, in a real browser: by keyboard and touch, on a wide and a narrow screen, light and dark."""

import base64
import contextlib

import pytest
from ask_browser import needs_browser
from ask_tools import serving
from test_lab import CONDITIONS, FORM, sound

from nearfar.ask.store import researcher

pytestmark = needs_browser
SHORT = "per_person = 4\nagain = 0\nchecks = 0\neach = 2\npractice = 0\nbreak_every = 0"
MORE = """
[[form]]
name = "languages"
ask = "Which languages?"
kind = "choices"
options = ["English", "Deutsch"]
[[form]]
name = "tired"
ask = "How tired?"
kind = "scale"
least = 1
most = 7
labels = ["not at all", "very"]
"""
# 16 by 16 red pixels for .4 seconds, VP8:  ffmpeg -f lavfi -i color=c=red:s=16x16:d=0.4:r=5 -c:v libvpx -b:v 20k -f webm
FILM = base64.b64decode(
    "GkXfo59ChoEBQveBAULygQRC84EIQoKEd2VibUKHgQJChYECGFOAZwEAAAAAAAHWEU2bdLpNu4tTq4QVSalmU6yBoU27i1OrhBZUrmtTrIHG"
    "TbuMU6uEElTDZ1OsggEMTbuMU6uEHFO7a1OsggHA7AEAAAAAAABZAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAVSalmoCrXsYMPQkBNgIRMYXZmV0GETGF2ZkSJiEB5AAAA"
    "AAAAFlSua8GuAQAAAAAAADjXgQFzxYgAAAAAAAAAAZyBACK1nIN1bmSIgQCGhVZfVlA4g4EBI+ODhAvrwgDgibCBELqBEJqBAhJUw2fRc3PO"
    "Y8CLY8WIAAAAAAAAAAFnyJhFo4dFTkNPREVSRIeLTGF2YyBsaWJ2cHhnyKJFo4hEVVJBVElPTkSHlDAwOjAwOjAwLjQwMDAwMDAwMAAAH0O2"
    "ddnngQCjvYEAAIDwAgCdASoQABAAAEcIhYWIhYSIAgICdaoD+AP6Ag1NGAD+/W7z/+OZNzDE/45t//FhPA4oyP/xUQCjlYEAyACxAQABEBAA"
    "GAAYWC/0AAgAABxTu2uRu4+zgQC3iveBAfGCAWLwgQM="
)


@pytest.fixture
def study(make):
    with contextlib.ExitStack() as stack:

        def serve(**parts):
            ready = make(**parts)
            return ready, f"http://127.0.0.1:{stack.enter_context(serving(ready))}/"

        yield serve


def on(tab, section):
    tab.until(f"!document.getElementById('{section}').hidden")


def fill(tab, first, *selectors, text=None):
    """Fill and send the page of the form that begins with a question."""
    on(tab, "form")
    tab.until("document.querySelector('#fields .field > *')?.textContent.startsWith(arguments[0])", first)
    for selector in selectors:
        tab.driver.find_element("css selector", selector).click()
    if text:
        tab.driver.switch_to.active_element.send_keys(text)
    assert tab.hard_to_read() == []
    tab.driver.find_element("css selector", "#form-itself .go").click()


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_form_of_every_kind_and_sounds_by_keyboard_and_touch(tab, study, tmp_path, width, dark):
    (tmp_path / "sounds").mkdir()
    for number in range(6):
        sound(tmp_path / "sounds" / f"s{number}.wav", 200 + 100 * number)
    screen = (
        '[screen]\ncannot_tell = true\nleast_seconds = 0.2\nbackground = "#404040"\nsize = 40\nunit = "mm"\n'
    )
    ready, url = study(objects="sounds", questions=SHORT, people="aim = 4\n" + screen + FORM + MORE)
    tab.open(url, width=width, dark=dark)
    tab.begin()
    tab.click("card-done")
    fill(tab, "Which hand")  # nothing given: the first wrong field has the focus
    tab.until("document.querySelectorAll('.wrong:not(:empty)').length === 3")
    assert tab.js("document.activeElement.name") == "field-0"
    fill(tab, "Which hand", "[name=field-0]", "[name=field-2]", "[name=field-3][value='5']")
    fill(tab, "What do you", "[value='the louder']")  # understood wrongly: it comes again
    tab.click("note-go")
    fill(tab, "What do you", "[value='the nearer']")
    for number in range(4):
        tab.until(f"document.getElementById('where').textContent.startsWith('Question {number + 1} of')")
        tab.until("document.querySelectorAll('.play:enabled').length === 3")
        assert tab.js("document.querySelectorAll('.option:enabled').length") == 0
        for played in range(3):
            if number:
                tab.driver.find_element("css selector", "body").send_keys(" ")
            else:
                tab.driver.find_elements("css selector", ".play")[played].click()
            tab.until(
                f"[...document.querySelectorAll('.play')].filter((b) => b.textContent[0] === '↻').length > {played}"
            )
        tab.until("document.querySelector('.option:enabled') !== null")
        if number == 1:
            assert tab.hard_to_read() == []
        if number == 2:
            tab.click("cannot")
        else:
            tab.choose(key="1" if number else None)
    fill(tab, "Remarks", "#field-0", text="nice")
    tab.until("document.documentElement.dataset.ended === 'true'")
    assert tab.hard_to_read() == [] and tab.complaints() == []
    (given,) = ready.store.read_now(researcher.form_values).values()
    assert given.pop("px_per_mm") == pytest.approx(96 / 25.4, abs=0.02)
    assert given == {
        "group": "left", "languages": ["English"], "tired": 5, "understood": "the nearer", "practice_tries": 2,
        "remarks": "nice",
    }  # fmt: skip
    (row,) = ready.store.read_now(researcher.people_rows)
    assert row[3] == 4 and row[12] == 1 and row[14] == 0  # answers, cannot tell, replays


@pytest.mark.parametrize(("width", "dark", "touch"), [(1280, True, False), (390, False, True)])
def test_films_are_played_to_the_end_by_keyboard_and_by_touch(tab, study, tmp_path, width, dark, touch):
    (tmp_path / "films").mkdir()
    for number in range(6):  # an element that players skip makes them differ
        (tmp_path / "films" / f"f{number}.webm").write_bytes(FILM + b"\xec\x81" + bytes([number]))
    ready, url = study(objects="films", questions=SHORT, people='aim = 4\n[screen]\nsize = 120\nunit = "px"')
    tab.open(url, width=width, dark=dark)
    tab.begin()
    for number in range(4):
        tab.until(f"document.getElementById('where').textContent.startsWith('Question {number + 1} of')")
        tab.until("document.querySelectorAll('.play:enabled').length === 3")
        for played in range(3 + (number == 3)):  # the first of the last question is played twice
            assert tab.js("document.querySelectorAll('.option:enabled').length") == (2 if played == 3 else 0)
            if touch:
                tab.tap(".play", played % 3)
            else:
                tab.driver.find_element("css selector", "body").send_keys(" ")
            tab.until("[...document.querySelectorAll('video')].some((film) => !film.paused)")
            tab.until("[...document.querySelectorAll('video')].every((film) => film.paused)")
        tab.until("document.querySelectorAll('.option:enabled').length === 2")
        shown = tab.js(
            "[...document.querySelectorAll('video')].map((film) => [film.videoWidth, film.clientWidth])"
        )
        assert [width for width, _ in shown] == [16] * 3 and all(80 <= wide <= 120 for _, wide in shown)
        assert tab.js("document.documentElement.scrollWidth") <= width and tab.hard_to_read() == []
        if touch:
            tab.tap(".option", 1)
        else:
            tab.choose(key="2")
    tab.until("document.documentElement.dataset.ended === 'true'")
    assert tab.complaints() == []
    rows = ready.store.read_now(researcher.answer_rows)
    assert [row[4] for row in rows] == ["[1]"] * 4 and [row[9] for row in rows] == [
        0,
        0,
        0,
        1,
    ]  # choices, replays


@pytest.mark.parametrize("width", [1280, 390])
def test_films_are_equally_large_without_a_size(tab, study, tmp_path, width):
    (tmp_path / "films").mkdir()
    for number in range(4):
        (tmp_path / "films" / f"f{number}.webm").write_bytes(FILM + b"\xec\x81" + bytes([number]))
    _, url = study(objects="films", questions=SHORT, people="aim = 4")
    tab.open(url, width=width)
    tab.begin()
    tab.until("document.querySelectorAll('.play:enabled').length === 3")
    wide = tab.js("[...document.querySelectorAll('video')].map((film) => film.getBoundingClientRect().width)")
    assert min(wide) > 120 and max(wide) < 1.1 * min(wide)


def test_a_form_filled_without_a_connection_is_sent_later_and_not_asked_again(tab, study):
    ready, url = study(questions=SHORT, people="aim = 4\n" + FORM.replace('when = "practice"', "").replace(
        'right = "the nearer"', "") + CONDITIONS)  # fmt: skip
    tab.open(url)
    tab.begin()
    on(tab, "form")
    tab.offline(True)
    fill(tab, "Which hand", "[name=field-0]", "[name=field-2]")
    for _ in range(2):
        tab.choose()
    assert ready.store.read_now(researcher.form_values) == {}
    tab.offline(False)
    tab.driver.refresh()
    for _ in range(2):
        tab.choose()
    fill(tab, "Remarks")
    tab.until("document.documentElement.dataset.ended === 'true'")
    (given,) = ready.store.read_now(researcher.form_values).values()
    assert given == {"group": "left", "understood": "the louder"}


def test_who_does_not_agree_leaves_nothing(tab, study, tmp_path):
    (tmp_path / "welcome.md").write_text("# Hello\nThere.")
    ready, url = study(questions=SHORT, pages='welcome = "welcome.md"')
    tab.open(url)
    tab.click("begin")
    assert tab.js("document.querySelectorAll('#welcome h1').length") == 1
    tab.click("disagree")
    on(tab, "note")
    assert tab.hard_to_read() == [] and ready.store.read_now(researcher.people_rows) == []
    tab.driver.refresh()
    tab.until("document.getElementById('begin').offsetParent !== null")


def test_who_answers_very_fast_is_told_and_it_is_logged(tab, study):
    ready, url = study(questions=SHORT.replace("4", "8"), people="aim = 4\n[screen]\nfast_seconds = 30")
    tab.open(url)
    tab.begin()
    for _ in range(5):
        tab.choose()
    tab.click("note-go")
    tab.choose()
    tab.until("document.documentElement.dataset.state === 'saved'")
    (row,) = ready.store.read_now(researcher.people_rows)
    assert row[15] == 1
