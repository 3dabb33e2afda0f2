"""A study file that is wrong is one sentence with its line."""

import tomllib

import pytest
from ask_tools import study_file
from hypothesis import given
from hypothesis import strategies as st

from nearfar.ask._toml import read_toml
from nearfar.ask.objects import find_objects
from nearfar.ask.pool import make_pool, same_trio
from nearfar.ask.study import FIELDS, read_study
from nearfar.ask.texts import markdown, text_file
from nearfar.errors import FileError, NearfarWarning


def test_a_whole_study_is_read(tmp_path):
    (tmp_path / "hello.md").write_text("# Hello")
    path = study_file(
        tmp_path,
        top='kind = "odd"\nlanguage = "de"',
        questions="each = 4\nper_person = 40\nchecks = 2\nagain = 0.25",
        people='aim = 10\nrecruit = "prolific"\ncode = "ABC"',
        pages='welcome = "hello.md"',
    )
    study = read_study(path)
    assert (study.kind, study.language, study.questions.each, study.people.code) == ("odd", "de", 4, "ABC")
    assert (study.questions.n_new, study.questions.n_again) == (30, 8)
    assert study.pages["welcome"] == "# Hello"


WRONG = [
    ({"top": "colour = 1"}, r"line 3: colour: is not a known key; expected one of title"),
    ({"top": "each = 5"}, r"line 3: each: is not a known key; it belongs to \[questions\]"),
    ({"questions": 'title = "x"'}, r"line 5: questions.title: is not a known key; it belongs to the top"),
    ({"top": 'kind = "nearest"'}, r"line 3: kind: expected one of near, odd, central, grid, got 'nearest'"),
    ({"questions": "each = 0"}, r"line 5: questions.each: expected a whole number from 1 to 100,000, got 0"),
    ({"questions": "\n\neach = true"}, r"line 7: questions.each: expected a whole number"),
    ({"questions": 'each = "5"'}, r"line 5: questions.each: expected a whole number"),
    ({"questions": "random = 1.5"}, r"line 5: questions.random: expected a number from 0 to 1, got 1.5"),
    ({"questions": "random = nan"}, r"line 5: questions.random: expected a number from 0 to 1, got nan"),
    ({"questions": "per_person = 3"}, r"per_person: 3 questions leave no room"),
    ({"questions": "per_person = 14\nagain = 0.3"}, r"line 6: questions.again: 3 repeats at least 10 places"),
    ({"questions": "random = 0.5"}, r"questions.random: is only for design = .landmarks"),
    ({"people": 'assign = "random"'}, r"line 7: people.assign: needs conditions"),
    ({"people": 'recruit = "sona"\ncode = "A"\nreturn_link = "https://x.org/XXXX"'}, r"people.code: is not shown"),
    ({"people": 'recruit = "mturk"\nreturn_link = "https://x.org"'}, r"people.return_link: is not shown"),
    ({"questions": "options = 4"}, r'line 5: questions.options: is only for kind = "grid"'),
    ({"top": 'kind = "odd"', "questions": 'design = "landmarks:3"'}, r'landmarks are only for kind = "near"'),
    ({"top": 'kind = "grid"', "questions": "options = 4\npick = 4"}, r"pick: expected fewer than the 4 options"),
    ({"people": 'recruit = "facebook"'}, r"line 7: people.recruit: expected one of open, links, prolific"),
    ({"people": 'recruit = "prolific"'}, r"people.code: is missing"),
    ({"people": 'recruit = "sona"'}, r"people.return_link: is missing"),
    ({"people": 'return_link = "javascript:alert(1)"'}, r"return_link: expected an address that starts with https"),
    ({"people": "aim = 9\nlimit = 3"}, r"line 8: people.limit: expected at least the aim of 9"),
    ({"pages": 'welcome = "none.md"'}, r"line 9: pages.welcome: 'none.md' does not exist"),
    ({"pages": 'welcome = "../../etc/passwd"'}, r"pages.welcome: '../../etc/passwd' lies outside the folder"),
    ({"pages": 'welcome = "/etc/passwd"'}, r"lies outside the folder of the study file"),
    ({"people": "code = \"a\\u0000\""}, "people.code: expected text without a NUL"),
    ({"pages": 'welcome = "a\\u0000b"'}, "pages.welcome: expected text without a NUL"),
    ({"objects": "/etc"}, r"line 2: objects: '/etc' lies outside the folder"),
    ({"objects": ["a", "b"]}, r"line 2: objects: expected at least three different names"),
    ({"objects": ["a", "b", "b"]}, r"line 2: objects: expected at least three different names"),
    ({"top": "[extra]\nx = 1"}, r"line 3: \[extra\]: is not a known table; expected one of \[questions\]"),
    ({"top": "title ="}, r"study.toml, line 3, column \d+: is not valid TOML"),
    ({"top": 'title = "twice"'}, r"study.toml, line 3.*: is not valid TOML: Cannot overwrite"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "says"), WRONG, ids=[says[:40] for _, says in WRONG])
def test_what_is_wrong_is_one_sentence_with_its_line(tmp_path, parts, says):
    with pytest.raises(FileError, match=says) as caught:
        read_study(study_file(tmp_path, **parts))
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_missing_keys(tmp_path):
    with pytest.raises(FileError, match=r"none.toml: cannot be read, there is no such file"):
        read_study(tmp_path / "none.toml")
    (tmp_path / "s.toml").write_text('title = "x"')
    with pytest.raises(FileError, match=r"objects: is missing; every study needs it"):
        read_study(tmp_path / "s.toml")
    (tmp_path / "s.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(FileError, match="is not UTF-8 text"):
        read_study(tmp_path / "s.toml")


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_one_sentence(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "study.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    with pytest.raises(FileError, match=r"study\.toml") as caught:
        read_study(path)
    assert "\n" not in str(caught.value)


VALUES = st.one_of(
    st.integers(-5, 200), st.floats(allow_nan=True), st.booleans(), st.text(max_size=8), st.lists(st.integers(), max_size=2)
)  # fmt: skip


@given(
    table=st.sampled_from(["questions", "people", "pages"]),
    data=st.data(),
)
def test_any_value_of_any_key_is_taken_or_refused_with_its_line(tmp_path_factory, table, data):
    key = data.draw(st.sampled_from(sorted(FIELDS[table])))
    value = data.draw(VALUES)
    text = str(value).lower() if isinstance(value, (bool, float)) else repr(value)
    if isinstance(value, str):
        text = (
            '"'
            + "".join(c if c.isalnum() and c.isascii() else f"\\u{ord(c) % 0xD800:04x}" for c in value)
            + '"'
        )
    path = study_file(tmp_path_factory.mktemp("any"), **{table: f"{key} = {text}"})
    said = refusal(path)
    assert said == "" or ("\n" not in said and (f"{path}, line " in said or "is missing" in said))


def refusal(path):
    """What is said against a study file, or nothing."""
    try:
        read_study(path)
    except FileError as error:
        return str(error)
    return ""


def test_lines_are_found_behind_long_texts_and_lists(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'title = """\n[people]\naim = 3\n"""\nobjects = [\n  "a", # ]\n  "b]",\n  \'c\',\n]\n[ people ]\n"aim" = 3\n'
    )
    assert read_toml(path).lines() == {
        ("", "title"): 1,
        ("", "objects"): 5,
        ("people", ""): 10,
        ("people", "aim"): 11,
    }


# ---------------------------------------------------------------- objects and pools


def test_objects_come_from_pictures_lists_and_text(tmp_path):
    from PIL import Image

    (tmp_path / "photos").mkdir()
    for name in ("10.png", "9.png", "note.txt"):
        Image.new("RGB", (4, 4)).save(tmp_path / "photos" / name, "PNG")
    Image.new("RGB", (4, 4)).save(tmp_path / "photos" / "11.jpg")
    with pytest.warns(NearfarWarning, match=r"note\.txt"):
        pictures = find_objects(read_study(study_file(tmp_path, objects="photos")))
    assert pictures.names == ("9", "10", "11")
    (tmp_path / "names.txt").write_text("fig\n\nplum\npear\n")
    assert find_objects(read_study(study_file(tmp_path, objects="names.txt"))).names == (
        "fig",
        "plum",
        "pear",
    )
    (tmp_path / "objects.csv").write_text(
        "object,display_name,image\na,Ape,photos/9.png\nb,,photos/10.png\nc,,\n"
    )
    listed = find_objects(read_study(study_file(tmp_path, objects="objects.csv")))
    assert listed.display_names == ("Ape", "b", "c") and listed.files[2] is None


@pytest.mark.parametrize("image", ["../outside.png", "/etc/hostname", "photos/../../outside.png"])
def test_pictures_outside_of_the_folder_are_refused(tmp_path, image):
    inner = tmp_path / "study"
    (inner / "photos").mkdir(parents=True)
    (tmp_path / "outside.png").write_bytes(b"x")
    (inner / "objects.csv").write_text(f"object,image\na,{image}\nb,\nc,\n")
    with pytest.raises(FileError, match="lies outside the folder of the study file"):
        find_objects(read_study(study_file(inner, objects="objects.csv")))


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    inner = tmp_path / "study"
    (inner / "photos").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(b"x")
    (inner / "photos" / "a.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(FileError, match="lies outside the folder of the study file"):
        find_objects(read_study(study_file(inner, objects="photos")))


def test_pictures_are_encoded_anew_without_remarks(tmp_path):
    import io

    from PIL import Image

    from nearfar.ask.objects import encode_picture

    picture = Image.effect_noise((900, 300), 80).convert("RGB")
    exif = Image.Exif()
    exif[0x010E] = "SECRET place"  # a description
    exif[0x0112] = 6  # lying on its side
    picture.save(tmp_path / "a.jpg", exif=exif, comment=b"SECRET too")
    made = encode_picture(tmp_path / "a.jpg")
    assert b"SECRET" in (tmp_path / "a.jpg").read_bytes() and b"SECRET" not in made.data
    again = Image.open(io.BytesIO(made.data))
    assert again.size == (267, 800) and not again.getexif()
    (tmp_path / "b.png").write_bytes(b"<svg onload=alert(1)>")
    with pytest.raises(FileError, match=r"b\.png: is not a picture that can be read"):
        encode_picture(tmp_path / "b.png")


def pool_of(tmp_path, n=12, **parts):
    study = read_study(study_file(tmp_path, objects=[f"o{i}" for i in range(n)], **parts))
    return make_pool(study, find_objects(study).names)


def test_the_pool_is_as_large_as_the_people_can_answer(tmp_path):
    pool = pool_of(
        tmp_path, questions="per_person = 30\nagain = 0.2\nchecks = 4\neach = 4", people="aim = 12"
    )
    assert len(pool.questions) == 12 * 22 // 4
    assert len({same_trio(tuple(row)) for row in pool.questions.array.tolist()}) == len(pool.questions)


def test_landmark_questions_and_random_ones(tmp_path):
    pool = pool_of(
        tmp_path,
        n=30,
        questions='design = "landmarks:6"\nrandom = 0.25\nper_person = 33\neach = 3',
        people="aim = 20",
    )
    assert (
        pool.origin.count("random") == round(0.25 * len(pool.questions))
        and len(pool.questions) == 20 * 27 // 3
    )
    assert len({tuple(row) for row in pool.questions.array.tolist()}) == len(pool.questions)


@pytest.mark.parametrize(("kind", "width"), [("odd", 3), ("central", 3), ("grid", 6)])
def test_pools_of_the_other_kinds(tmp_path, kind, width):
    more = "\noptions = 5\npick = 2" if kind == "grid" else ""
    pool = pool_of(
        tmp_path, top=f'kind = "{kind}"', questions="per_person = 20\nagain = 0\nchecks = 0" + more
    )
    assert pool.questions.kind == kind and pool.questions.array.shape[1] == width


def test_questions_of_a_file(tmp_path):
    (tmp_path / "q.csv").write_text("anchor,one,other\no1,o2,o3\no4,o2,o3\n")
    pool = pool_of(tmp_path, questions='design = "q.csv"\nper_person = 2\nagain = 0\nchecks = 0')
    assert pool.questions.array.tolist() == [[1, 2, 3], [4, 2, 3]] and pool.origin == ("file", "file")
    (tmp_path / "q.csv").write_text("anchor,one,other\no1,o2,o3\no4,o2,ghost\n")
    with pytest.raises(FileError, match=r"q.csv, line 3: 'ghost' is not an object of the study"):
        pool_of(tmp_path, questions='design = "q.csv"\nper_person = 2\nagain = 0\nchecks = 0')
    (tmp_path / "q.csv").write_text("anchor,one\no1,o2\n")
    with pytest.raises(FileError, match=r"q\.csv: expected a table with columns .*other"):
        pool_of(tmp_path, questions='design = "q.csv"\nper_person = 2\nagain = 0\nchecks = 0')


def test_more_questions_per_person_than_trios_are_refused(tmp_path):
    with pytest.raises(
        FileError, match=r"60 questions need 52 about different objects, but the design has only 10"
    ):
        pool_of(tmp_path, n=5)


# ---------------------------------------------------------------- texts


def test_both_languages_have_every_text_with_the_same_gaps():
    import string

    english, german = (tomllib.loads(text_file(language)) for language in ("en", "de"))
    assert english.keys() == german.keys()
    for key, text in english.items():
        gaps = [{name for _, name, _, _ in string.Formatter().parse(t) if name} for t in (text, german[key])]
        assert gaps[0] == gaps[1], key


def test_a_file_of_texts_replaces_some(tmp_path):
    (tmp_path / "own.toml").write_text('direction = "rtl"\ncode = "ar"\nnext = "التالي"\n')
    texts = read_study(study_file(tmp_path, top='language = "own.toml"')).texts
    assert texts["next"] == "التالي" and texts["agree"] == tomllib.loads(text_file("en"))["agree"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nxt = 'x'", r"own.toml, line 1: nxt: is not the name of a text"),
        ("\nnext = 3", r"own.toml, line 2: next: expected text that is not blank, got 3"),
        ("progress = '{number} {secret}'", r"progress: has \{secret\}; what can be filled in here"),
        ("progress = '{number'", r"progress: has a brace without its partner"),
        ("direction = 'up'", r"direction: expected ltr or rtl"),
    ],
)
def test_texts_that_cannot_be(tmp_path, text, says):
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(FileError, match=says):
        read_study(study_file(tmp_path, top='language = "own.toml"'))
    with pytest.raises(FileError, match=r"language: expected en, de or a file of texts"):
        read_study(study_file(tmp_path, top='language = "klingon"'))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "<img src=x onerror=alert(1)>",
        "![x](http://evil/x.png)",
    ],
)
def test_markdown_never_becomes_a_script_or_a_request(text):
    made = markdown(text)
    assert "<script" not in made and "<img" not in made and 'href="javascript' not in made


def test_the_example_study_is_sound():
    from pathlib import Path

    from nearfar.ask.pool import overview

    study = read_study(Path(__file__).parents[2] / "examples" / "study" / "study.toml")
    assert dict(overview(study))["booklet"] == "35 new questions, 3 repeats, 2 checks"
