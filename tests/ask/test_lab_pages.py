"""Forms, sounds and ways out, in a real browser: by keyboard and touch, on a wide and a narrow screen, light and dark."""

import base64
import contextlib

import pytest
from ask_browser import needs_browser
from ask_tools import serving
from PIL import Image
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
least = 0
most = 10
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
    tab.driver.find_element("css selector", "[name=field-0]").click()
    tab.until("document.querySelectorAll('.wrong:not(:empty)').length === 2")
    steps = "[...document.querySelectorAll('.picks.scale .pick')]"
    assert len(set(tab.js(steps + ".map((one) => one.offsetTop)"))) == 1  # all in one row
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


def test_the_question_of_a_field_that_is_wrong_is_on_the_screen_with_it(tab, study):
    _, url = study(questions=SHORT, people="aim = 4\n" + FORM + MORE)
    tab.open(url, height=700)
    tab.begin()
    on(tab, "form")
    top = "document.querySelector('.field legend').getBoundingClientRect().top"
    for height in (300, 500, 600, 700):
        tab.resize(1280, height)
        tab.driver.find_element("css selector", "#form-itself .go").click()
        tab.until("document.querySelectorAll('.wrong:not(:empty)').length > 0")
        assert tab.js(top) >= 0


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
            if played == 3:  # a film stops before the page hears of its end
                tab.until("document.querySelectorAll('.option:enabled').length === 2")
            else:
                assert tab.js("document.querySelectorAll('.option:enabled').length") == 0
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
    assert [row[4] for row in rows] == ["[1]"] * 4  # choices
    assert [row[9] for row in rows] == [0, 0, 0, 1]  # replays


SIZES = "[...document.querySelectorAll('video')].flatMap((film) => [film.clientWidth, film.clientHeight])"


@pytest.mark.parametrize(
    ("width", "size", "kind"),
    [(1280, 0, "near"), (390, 0, "near"), (1280, 300, "near"), (1280, 0, "grid"), (390, 0, "grid"), (390, 120, "grid")],
)  # fmt: skip
def test_films_are_equally_large_or_of_the_size_given(tab, study, tmp_path, width, size, kind):
    (tmp_path / "films").mkdir()
    for number in range(8):
        (tmp_path / "films" / f"f{number}.webm").write_bytes(FILM + b"\xec\x81" + bytes([number]))
    people, grid = "aim = 4" + f"\n[screen]\nsize = {size}" * (size > 0), "\noptions = 4" * (kind == "grid")
    _, url = study(objects="films", top=f'kind = "{kind}"', questions=SHORT + grid, people=people)
    tab.open(url, width=width)
    tab.begin()
    shown = 5 if grid else 3
    tab.until(f"document.querySelectorAll('.play:enabled').length === {shown}")
    sides = tab.js(SIZES)
    assert min(sides) > (90 if grid else 120) and max(sides[::2]) < 1.1 * min(sides[::2])
    assert not size or sides == [size] * 2 * shown


@pytest.mark.parametrize("kind", ["odd", "grid"])
def test_a_finger_finds_the_sound_it_means_on_a_narrow_screen(tab, study, tmp_path, kind):
    (tmp_path / "sounds").mkdir()
    for number in range(9):
        sound(tmp_path / "sounds" / f"s{number}.wav", 200 + 100 * number)
    grid = "\noptions = 6\npick = 2" * (kind == "grid")
    _, url = study(objects="sounds", top=f'kind = "{kind}"', questions=SHORT + grid, people="aim = 4")
    tab.open(url, width=390)
    tab.begin()
    tab.until("document.querySelectorAll('.play:enabled').length > 2")
    edges = tab.js(
        "[...document.querySelectorAll('.playable')].map((one) => [one, one.querySelector('.play')]"
        ".map((each) => each.getBoundingClientRect()).flatMap(({left, right}) => [left, right]))"
    )
    assert all(left <= first and last <= right for left, right, first, last in edges)


@pytest.mark.parametrize("width", [390, 1280])
def test_options_of_a_set_size_stay_where_they_are_while_they_are_played(tab, study, tmp_path, width):
    (tmp_path / "things").mkdir()
    for number in range(3):
        sound(tmp_path / "things" / f"s{number}.wav", 200 + 100 * number)
        (tmp_path / "things" / f"f{number}.webm").write_bytes(FILM + b"\xec\x81" + bytes([number]))
    _, url = study(
        objects="things", top='kind = "odd"', questions=SHORT, people="aim = 4\n[screen]\nsize = 45"
    )
    boxes = "[...document.querySelectorAll('.playable')].flatMap((one) => [one.offsetLeft, one.offsetTop])"
    tab.open(url, width=width)
    tab.begin()
    tab.until("document.querySelectorAll('.play:enabled').length === 3")
    before = tab.js(boxes)
    for button in tab.driver.find_elements("css selector", ".play"):
        button.click()
        tab.until("arguments[0].textContent[0] === '↻'", button)
        assert tab.js(boxes) == pytest.approx(before, abs=2)
    assert len(set(before[1::2])) == 1


@pytest.mark.parametrize("width", [320, 360, 390, 700, 1280])
@pytest.mark.parametrize(("kind", "shown"), [("near", 3), ("grid", 6)])
def test_the_picture_above_is_as_large_as_those_below(tab, study, tmp_path, kind, shown, width):
    (tmp_path / "photos").mkdir()
    for shade in range(8):
        Image.new("RGB", (300, 200), (30 * shade, 0, 0)).save(tmp_path / "photos" / f"{shade}.png")
    grid = "\noptions = 5" * (kind == "grid")
    _, url = study(objects="photos", top=f'kind = "{kind}"', questions=SHORT + grid, people="aim = 4")
    tab.open(url, width=width)
    tab.begin()
    tab.until("document.querySelector('.option:enabled') !== null")
    scale = "Math.min(one.clientWidth / one.naturalWidth, one.clientHeight / one.naturalHeight)"
    sizes = tab.js(f"[...document.querySelectorAll('#question img')].map((one) => {scale})")
    assert len(sizes) == shown and max(sizes) < 1.02 * min(sizes)


WIDE = """
[[form]]
name = "pain"
ask = "How much?"
kind = "scale"
least = {least}
most = {most}
"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(("least", "most"), [(0, 20), (1, 2), (1990, 2010), (-1_000_000, -999_990)])
def test_the_steps_of_a_long_scale_look_alike_and_are_large_enough(tab, study, width, least, most):
    _, url = study(people="aim = 4" + WIDE.format(least=least, most=most))
    tab.open(url, width=width)
    tab.begin()
    on(tab, "form")
    steps = tab.js(
        "[...document.querySelectorAll('.picks .pick')].map((one) => [one.offsetWidth, one.scrollWidth])"
    )
    assert len(steps) == most - least + 1 and min(wide for wide, _ in steps) >= 24
    assert max(wide for wide, _ in steps) - min(wide for wide, _ in steps) <= 1
    assert all(inside <= wide for wide, inside in steps)
    assert tab.js("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("size", "begins"), [(100, True), (115, False)])
def test_films_of_a_set_size_stand_wholly_on_a_narrow_screen_or_nobody_begins(
    tab, study, tmp_path, size, begins
):
    (tmp_path / "films").mkdir()
    for number in range(4):
        (tmp_path / "films" / f"f{number}.webm").write_bytes(FILM + b"\xec\x81" + bytes([number]))
    people = f"aim = 4\n[screen]\nsize = {size}"
    _, url = study(objects="films", top='kind = "odd"', questions=SHORT, people=people)
    tab.open(url, width=390)
    tab.click("begin")
    tab.click("agree")
    on(tab, "question" if begins else "note")
    edges = "[...document.querySelectorAll('#options > *')].flatMap((one) => Object.values(one.getBoundingClientRect().toJSON()))"
    assert not begins or (min(tab.js(edges)) >= 0 and tab.js("document.documentElement.scrollWidth") <= 390)


def test_nobody_begins_where_objects_of_a_set_size_have_no_room(tab, study, tmp_path):
    (tmp_path / "photos").mkdir()
    for shade in range(5):
        Image.new("RGB", (30, 20), (shade, 0, 0)).save(tmp_path / "photos" / f"{shade}.png")
    ready, url = study(objects="photos", questions=SHORT, people="aim = 4\n[screen]\nsize = 200")
    tab.open(url, width=390)
    tab.begin()
    tab.click("note-go")
    on(tab, "note")
    assert ready.store.read_now(researcher.people_rows) == []
    tab.resize(500)
    tab.click("note-go")
    tab.choose()
    tab.until("document.getElementById('where').textContent.includes('2 of 4')")
    tab.until("document.querySelector('.option:enabled') !== null")
    tab.resize(390)  # turned while a question is open
    tab.choose()
    on(tab, "note")
    tab.resize(500)
    tab.click("note-go")
    for _ in range(2):
        tab.choose()
    tab.until("document.documentElement.dataset.ended === 'true'")


def test_a_sound_that_cannot_be_played_is_told_logged_and_skipped(tab, study, tmp_path):
    (tmp_path / "sounds").mkdir()
    for number in range(5):
        (tmp_path / "sounds" / f"s{number}.wav").write_bytes(b"RIFF\0\0\0\0WAVE" + bytes([number] * 99))
    ready, url = study(objects="sounds", questions=SHORT, people="aim = 4")
    tab.open(url)
    tab.begin()
    for number in range(4):
        tab.until(f"document.getElementById('where').textContent.startsWith('Question {number + 1} of')")
        tab.click("note-go")
    tab.until("document.documentElement.dataset.ended === 'true'")
    (row,) = ready.store.read_now(researcher.people_rows)
    assert row[12] == row[16] == 4  # cannot tell, not playable


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
    tab.until(
        "document.getElementById('where').textContent.startsWith('Question 3 of 4')"
    )  # the answers are kept
    assert ready.store.read_now(researcher.form_values) == {}
    tab.offline(False)
    tab.driver.refresh()
    for _ in range(2):
        tab.choose()
    fill(tab, "Remarks")
    tab.until("document.documentElement.dataset.ended === 'true'")
    (given,) = ready.store.read_now(researcher.form_values).values()
    assert given == {"group": "left", "understood": "the louder"}


def test_nothing_is_said_to_be_saved_where_practice_says_that_answers_are_not(tab, study):
    form = '\n[[form]]\nname = "age"\nask = "Age?"\nkind = "number"\n'
    background = '[screen]\nbackground = "#808080"\n'
    _, url = study(
        questions=SHORT.replace("practice = 0", "practice = 1"), people="aim = 4\n" + background + form
    )
    tab.open(url)
    tab.begin()
    fill(tab, "Age", "#field-0", text="30")
    on(tab, "note")
    tab.until("document.documentElement.dataset.state === 'saved'")  # that is the form
    assert tab.js("document.getElementById('state').textContent") == ""
    assert tab.js("getComputedStyle(document.getElementById('note-go')).color") == "rgb(255, 255, 255)"
    tab.practise(1)
    tab.choose()
    tab.until("document.getElementById('state').textContent === 'Saved'")


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
