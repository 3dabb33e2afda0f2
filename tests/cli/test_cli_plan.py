"""``nearfar plan`` from every kind of object list, and what it says when something is wrong."""

import csv
import io

import pytest
import typer
from typer.testing import CliRunner

from nearfar.cli.plan import plan
from nearfar.errors import FileError, InputError

NAMES = ["apple", "bread, brown", "cheese", "dill", "egg", "fig"]


@pytest.fixture
def run():
    app = typer.Typer()
    app.command()(plan)

    def call(*arguments, **options):
        result = CliRunner().invoke(app, [str(a) for a in arguments], **options)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result

    return call


@pytest.fixture
def names(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\n".join(NAMES) + "\n\n")
    return path


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def as_set(table):
    return {(row["anchor"], *sorted((row["one"], row["other"]))) for row in table}


def test_all_k1_questions_of_given_landmarks(run, names):
    result = run(names, "--landmarks", "apple,egg,fig")
    table = rows(result.stdout)
    marks = ["apple", "egg", "fig"]
    pairs = [(i, j) for i in marks for j in marks if i < j]
    wanted = {(x, i, j) for x in NAMES for i, j in pairs if x not in (i, j)}
    assert list(table[0]) == ["anchor", "one", "other"]
    assert as_set(table) == wanted and len(table) == len(wanted)
    assert "12 questions about 6 objects; landmarks: apple, egg, fig" in result.stderr


def test_k2_with_a_budget_into_a_file(run, names, tmp_path):
    out = tmp_path / "questions.csv"
    result = run(names, "-k", "k2", "-l", 3, "-b", 15, "--seed", 4, "-o", out)
    table = rows(out.read_text())
    assert len(as_set(table)) == 15 and result.stdout == ""
    marks = result.stderr.strip().split("landmarks: ")[1].split(", ")
    assert len(marks) == 3
    assert all(row["anchor"] in marks for row in table)
    assert all(row["one"] in marks or row["other"] in marks for row in table)


def test_random_questions_with_quoted_names(run, names):
    table = rows(run(names, "--kernel", "random", "--budget", 60).stdout)
    assert len(as_set(table)) == len(table) == 60
    assert {name for row in table for name in row.values()} == set(NAMES)


def test_order_and_sides_are_shuffled_and_fixed_by_the_seed(run, names):
    first = run(names, "-l", 4).stdout
    assert first == run(names, "-l", 4).stdout
    assert first != run(names, "-l", 4, "--seed", 1).stdout
    table = rows(first)
    assert [row["anchor"] for row in table] != sorted(row["anchor"] for row in table)
    ahead = sum(NAMES.index(row["one"]) < NAMES.index(row["other"]) for row in table)
    assert 0 < ahead < len(table)


def test_a_folder_of_pictures(run, tmp_path):
    for name in ("10.jpg", "9.JPG", "2.png", "1.png", "notes.txt"):
        (tmp_path / name).write_bytes(b"")
    table = rows(run(tmp_path, "-l", 4, "-q").stdout)
    assert list(table[0]) == ["anchor", "one", "other", "anchor_image", "one_image", "other_image"]
    image = {row["anchor"]: row["anchor_image"] for row in table}
    assert image == {"1": "1.png", "2": "2.png", "9": "9.JPG", "10": "10.jpg"}
    assert all(image[row["other"]] == row["other_image"] for row in table)


def test_pictures_of_one_name_keep_their_extension(run, tmp_path):
    for name in ("a.jpg", "a.png", "b.png"):
        (tmp_path / name).write_bytes(b"")
    table = rows(run(tmp_path).stdout)
    assert {row["anchor"] for row in table} == {"a.jpg", "a.png", "b.png"}


def test_standard_input_and_landmarks_from_a_file(run, tmp_path):
    marks = tmp_path / "marks.txt"
    marks.write_text("bread, brown\negg\n")
    table = rows(run("-", "-l", marks, input="\n".join(NAMES)).stdout)
    assert as_set(table) == {(x, "bread, brown", "egg") for x in NAMES if x not in ("bread, brown", "egg")}


def test_quiet_says_nothing(run, names):
    assert run(names, "-q").stderr == ""


def test_an_object_list(run, tmp_path):
    path = tmp_path / "objects.csv"
    path.write_text("object,image,group\n" + "".join(f"{n},{n}.png,g\n" for n in ("red", "blue", "pink")))
    table = rows(run(path).stdout)
    assert {row["anchor"]: row["anchor_image"] for row in table} == {
        n: f"{n}.png" for n in ("red", "blue", "pink")
    }
    path.write_text("object\nred\nblue\npink\n")
    assert list(rows(run(path).stdout)[0]) == ["anchor", "one", "other"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-b", "1000"], "1,000 questions were asked for, but there are 60 in all"),
        (["-l", "apple,eggs"], "'eggs' is none of the 6 objects"),
        (["-l", "1"], "at least two distinct objects"),
        (["-k", "random"], "--budget: is needed with --kernel random"),
    ],
)
def test_wrong_options_get_one_sentence(run, names, arguments, message):
    with pytest.raises(InputError, match=message):
        run(names, *arguments)


def test_wrong_lists_get_one_sentence(run, tmp_path):
    with pytest.raises(FileError, match=r"nothere.txt: cannot be read, no such file"):
        run(tmp_path / "nothere.txt")
    with pytest.raises(FileError, match="has no pictures; expected files ending in"):
        run(tmp_path)
    (tmp_path / "two.txt").write_text("a\nb\n")
    with pytest.raises(InputError, match="has 2 objects; a question needs three"):
        run(tmp_path / "two.txt")
    (tmp_path / "latin.txt").write_bytes("caf\xe9\n".encode("latin-1"))
    with pytest.raises(FileError, match="is not UTF-8 text; expected one name per line"):
        run(tmp_path / "latin.txt")
    (tmp_path / "twice.txt").write_text("a\nb\na\n")
    with pytest.raises(InputError, match="'a' is listed twice"):
        run(tmp_path / "twice.txt")
