"""``nearfar plan`` from every kind of object list, and what it says when something is wrong."""

import csv
import io
import shlex
from collections import Counter

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from nearfar import design, simulate
from nearfar.cli.plan import plan
from nearfar.errors import FileError, InputError
from nearfar.io import write_triplets
from nearfar.triplets import Triplets

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
    result = run(names, "--landmarks", "apple,egg,fig", "-b", "all")
    table = rows(result.stdout)
    marks = ["apple", "egg", "fig"]
    pairs = [(i, j) for i in marks for j in marks if i < j]
    wanted = {(x, i, j) for x in NAMES for i, j in pairs if x not in (i, j)}
    assert list(table[0]) == ["anchor", "one", "other"]
    assert as_set(table) == wanted and len(table) == len(wanted)
    assert "12 questions about 6 objects; landmarks: apple, egg, fig" in result.stderr


def test_k2_with_a_budget_into_a_file(run, names, tmp_path):
    out = tmp_path / "questions.csv"
    result = run(names, "--kernel", "k2", "-l", 3, "-b", 15, "--seed", 4, "-o", out)
    table = rows(out.read_text())
    assert len(as_set(table)) == 15 and result.stdout == ""
    marks = result.stderr.strip().split("landmarks: ")[1].split(", ")
    assert len(marks) == 3
    assert all(row["anchor"] in marks for row in table)
    assert all(row["one"] in marks or row["other"] in marks for row in table)


def test_random_questions_with_quoted_names(run, names):
    result = run(names, "--budget", 60, "-q")
    table = rows(result.stdout)
    assert result.stderr == ""
    assert len(as_set(table)) == len(table) == 60
    assert {name for row in table for name in row.values()} == set(NAMES)


def test_order_and_sides_are_shuffled_and_fixed_by_the_seed(run, names):
    first = run(names, "-b", "all", "-l", 4).stdout
    assert first == run(names, "-b", "all", "-l", 4).stdout
    assert first != run(names, "-b", "all", "-l", 4, "--seed", 1).stdout
    table = rows(first)
    assert [row["anchor"] for row in table] != sorted(row["anchor"] for row in table)
    ahead = sum(NAMES.index(row["one"]) < NAMES.index(row["other"]) for row in table)
    assert 0 < ahead < len(table)


def test_a_folder_of_pictures(run, tmp_path):
    for name in ("10.jpg", "9.JPG", "2.png", "1.png", "notes.txt"):
        (tmp_path / name).write_bytes(b"")
    table = rows(run(tmp_path, "-b", "ALL", "-l", 4, "-q").stdout)
    assert list(table[0]) == ["anchor", "one", "other", "anchor_image", "one_image", "other_image"]
    image = {row["anchor"]: row["anchor_image"] for row in table}
    assert image == {"1": "1.png", "2": "2.png", "9": "9.JPG", "10": "10.jpg"}
    assert all(image[row["other"]] == row["other_image"] for row in table)
    (tmp_path / "1.jpg").write_bytes(b"")  # two of one name keep their extension
    assert {"1.jpg", "1.png", "2.png"} <= {row["anchor"] for row in rows(run(tmp_path, "-b", "all").stdout)}


def test_standard_input_and_landmarks_from_a_file(run, tmp_path):
    marks = tmp_path / "marks.txt"
    marks.write_text("bread, brown\negg\n")
    table = rows(run("-", "-b", "all", "-l", marks, input="\n".join(NAMES)).stdout)
    assert as_set(table) == {(x, "bread, brown", "egg") for x in NAMES if x not in ("bread, brown", "egg")}


def test_an_object_list(run, tmp_path):
    path = tmp_path / "objects.csv"
    path.write_text("object,image,group\n" + "".join(f"{n},{n}.png,g\n" for n in ("red", "blue", "pink")))
    table = rows(run(path, "-b", "all").stdout)
    assert {row["anchor"]: row["anchor_image"] for row in table} == {
        n: f"{n}.png" for n in ("red", "blue", "pink")
    }
    path.write_text("object\nred\nblue\npink\n")
    assert list(rows(run(path, "-b", "all").stdout)[0]) == ["anchor", "one", "other"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-b", "1000"], "1,000 questions were asked for, but there are 60 in all"),
        (["-b", "some"], "--budget: expected a number of questions or 'all', got 'some'"),
        (["-l", "apple,eggs"], "'eggs' is not among the 6 objects"),
        (["-l", "1"], "landmarks must be at least 2, got 1"),
        (["-l", "7", "-b", "10"], "7 landmarks cannot be chosen from 6 objects"),
        (["-l", "3", "--kind", "odd"], "the landmark design of k1 asks 'near' questions, not 'odd'"),
        (["--kind", "grid"], "8 options and an anchor need 9 objects, got 6"),
        (["-b", "10", "--each", "2"], "--each: needs --people"),
        (
            ["-b", "9", "--people", "3", "--per-person", "4", "--each", "1"],
            "give two of them, the third follows",
        ),
        (
            ["-b", "9", "--people", "3", "--per-person", "2"],
            "3 people with 2 new questions each answer 6, but",
        ),
        (["-b", "9", "-o", "plan.docx"], "plan.docx: is not a table; expected a name ending in .csv"),
        (["-b", "9", "-o", "{participant}.csv"], "is one file for each person, .* add --people"),
        (["-b", "9", "--minutes", "20"], "--minutes: questions are drawn without it"),
        (["-b", "9", "--people", "3", "--pay", "20"], "--pay: questions are drawn without it"),
        (["--dialect", "salmon"], "--dialect: is about a pilot"),
        (["--on-bad", "drop"], "--on-bad: is about a pilot"),
        (["--people", "4", "--each", "0"], "each must be an integer >= 1, got 0"),
        (["--people", "4", "--again", "-1"], "again must be a share from 0 to 1, got -1"),
        (["--adaptive", "--people", "4", "-o", "lists.csv"], "--output: goes without --adaptive"),
        (["--adaptive", "--people", "4", "--pay", "9"], "--pay: goes without --adaptive"),
        (["--adaptive", "--people", "4", "--per-person", "0"], "per_person must be an integer >= 1, got 0"),
        (["--adaptive"], "--adaptive: needs --people"),
        (["--agreement", "0.4"], "agreement must be between 0.5 and 1, got 0.4"),
        (["--minutes", "0"], "minutes must be a number > 0, got 0"),
    ],
)
def test_wrong_options_get_one_sentence_and_leave_nothing(
    run, names, tmp_path, monkeypatch, arguments, message
):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(InputError, match=message):
        run(names, *arguments)
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        (None, FileError, r"list.txt: cannot be read, there is no such file"),
        (b"a\nb\n", InputError, "has 2 objects; a question needs three"),
        (
            "caf\xe9\n".encode("latin-1"),
            FileError,
            "is not UTF-8 text .*; expected a text file with one name",
        ),
        (b"a\nb\na\n", InputError, "'a' is listed twice"),
    ],
)
def test_wrong_lists_get_one_sentence(run, tmp_path, content, kind, said):
    if content is not None:
        (tmp_path / "list.txt").write_bytes(content)
    with pytest.raises(kind, match=said):
        run(tmp_path / "list.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="has no pictures; expected files ending in"):
        run(tmp_path / "empty")


# ---------------------------------------------------------------- lists for people


@pytest.fixture
def many_names(tmp_path):
    path = tmp_path / "many.txt"
    path.write_text("\n".join(f"thing {i}" for i in range(30)))
    return path


OPTIONS = {"near": ["one", "other"], "odd": ["a", "b", "c"], "central": ["a", "b", "c"]}


@pytest.mark.parametrize("kind", ["near", "odd", "central"])
def test_lists_for_people(run, many_names, kind):
    arguments = ["--kind", kind, "-b", 100, "--people", 20, "--each", 4, "--again", 0.1, "--checks", 2]
    result = run(many_names, *arguments)
    table = rows(result.stdout)
    assert (
        "100 questions about 30 objects in 20 lists: 400 places for new questions, 40 for repeats"
        in result.stderr
    )
    per_person = Counter(row["participant"] for row in table)
    assert len(per_person) == 20 and set(per_person.values()) == {24}
    new = Counter(row["question"] for row in table if row["role"] == "new")
    assert len(new) == 100 and set(new.values()) == {4}
    columns = OPTIONS[kind]
    for row in table:
        shown = [row[c] for c in columns] + ([row["anchor"]] if kind == "near" else [])
        assert bool(row["check"]) == (row["role"] == "check")
        assert row.get("kind", "near") == kind
        if row["role"] == "check":
            assert row["question"] == "" and len(set(shown)) == 2 and row["check"] in shown
        else:
            assert len(set(shown)) == 3


def test_grids_of_pictures_in_one_file_for_each_person(run, tmp_path):
    for i in range(40):
        (tmp_path / f"{i}.png").write_bytes(b"")
    result = run(
        tmp_path, "--kind", "grid", "--size", 4, "--pick", 1, "-b", 40, "--people", 10, "-o",
        tmp_path / "lists" / "list-{participant}.csv",
    )  # fmt: skip
    files = sorted((tmp_path / "lists").iterdir())
    assert [file.name for file in files] == [f"list-{i:02d}.csv" for i in range(1, 11)]
    assert "written to 10 files" in result.stderr
    table = [row for file in files for row in rows(file.read_text())]
    assert len(table) == 40
    for row in table:
        assert row["option_3_image"] == f"{row['option_3']}.png"
        assert len({row["anchor"], *(row[f"option_{i}"] for i in range(1, 5))}) == 5


def test_every_format_holds_the_same_table(run, many_names, tmp_path):
    arguments = [many_names, "-b", 60, "--people", 3, "--checks", 1]
    wanted = [list(row.values()) for row in rows(run(*arguments).stdout)]
    for suffix, read in {
        "csv": pl.read_csv,
        "json": pl.read_json,
        "jsonl": pl.read_ndjson,
        "xlsx": lambda file: pl.read_excel(file, infer_schema_length=None),
        "tsv": lambda file: pl.read_csv(file, separator="\t"),
    }.items():
        file = tmp_path / f"plan.{suffix}"
        run(*arguments, "-o", file)
        table = read(file)
        assert ",".join(table.columns) == "participant,place,question,role,anchor,one,other,check"
        assert [["" if v is None else str(v) for v in row] for row in table.rows()] == wanted


def test_places_without_a_budget_say_how_many_questions(run, many_names):
    table = rows(run(many_names, "--people", 10, "--per-person", 22, "--checks", 2, "--each", 2).stdout)
    assert len({row["question"] for row in table if row["question"]}) == 100
    assert set(Counter(row["participant"] for row in table).values()) == {22}


def test_repeats_in_a_single_list(run, many_names):
    table = rows(run(many_names, "--kind", "odd", "-b", 50, "--again", 0.2).stdout)
    assert Counter(row["role"] for row in table) == {"new": 50, "again": 10}
    first = {}
    for row in table:
        at, shown = first.setdefault(row["question"], (int(row["place"]), [row[c] for c in "abc"]))
        if row["role"] == "again":
            assert int(row["place"]) - at >= 10
            assert all(row[c] != before for c, before in zip("abc", shown, strict=True))


# ---------------------------------------------------------------- advice


def test_without_a_budget_it_advises(run, names):
    said = run(names, "--dimension", 1, "--agreement", 0.9, "--pay", 20, "--seconds", 36).stdout
    assert "Assumed: Objects are random points in 1 dimension (normal distribution)" in said
    assert "Two attentive people give the same answer to 90% of random questions" in said
    table = [line.split() for line in said.split("\n\n")[1].splitlines()[1:]]
    questions = [int(row[0].replace(",", "")) for row in table]
    assert questions == [30 * 2**k for k in range(len(questions))]
    hours, cost = float(table[-1][2]), float(table[-1][3])
    assert hours == pytest.approx(questions[-1] * 36 / 3600, abs=0.06)
    assert cost == pytest.approx(questions[-1] * 36 / 3600 * 20, abs=0.6)
    assert "Recommended: " in said and "Twice as many would add" in said
    assert sum("<- recommended" in line for line in said.splitlines()) == 1


def test_advice_on_a_budget_and_as_a_table(run, names, tmp_path):
    file = tmp_path / "advice.json"
    result = run(names, "--kind", "odd", "-b", 5, "--advise", "--dimension", 1, "-o", file)
    assert "Your budget of 5 is not enough: twice as many would add 0." in result.stderr
    table = pl.read_json(file)
    assert 5 in table["answers"].to_list()
    assert table["accuracy"].is_between(0.4, 1).all()


def test_advice_from_a_pilot(run, names, tmp_path):
    questions = design.random_questions(NAMES, 60)
    points = np.array([[0.0], [1.0], [2.2], [3.1], [4.6], [5.2]])
    pilot = tmp_path / "pilot.csv"
    answers = [simulate.answers(questions, points=points, noise=0.3, seed=s).triplets for s in range(4)]
    write_triplets(Triplets.concatenate(answers), pilot)
    said = run(names, "--pilot", pilot).stdout
    assert "As in the pilot of 240 answers: predicted best in " in said
    other = tmp_path / "other.csv"
    other.write_text(pilot.read_text().replace("anchor,near,far", "Q,Picked,Other", 1))
    columns = [part for column in ("anchor=Q", "near=Picked", "far=3") for part in ("--column", column)]
    assert run(names, "--pilot", other, *columns, "--join-names", "--where", "Q != x").stdout == said
    times = Triplets.concatenate(answers).replace(seconds=np.arange(240) / 10)
    write_triplets(times, tmp_path / "timed.csv")
    assert "3 s a question, " in said
    assert "12 s a question (median of the pilot)" in run(names, "--pilot", tmp_path / "timed.csv").stdout
    assert "2 s a question, " in run(names, "--pilot", tmp_path / "timed.csv", "--seconds", 2).stdout
    pilot.write_text("\n".join(pilot.read_text().splitlines()[:50]))
    with pytest.raises(
        InputError, match="pilot: expected at least 100 answers, got 49, which say too little"
    ):
        run(names, "--pilot", pilot)


def test_bad_rows_of_a_pilot_can_be_dropped(run, names, tmp_path):
    """As the error about them advises."""
    asked = [
        f"{a},{b},{c}"
        for a, b, c in np.random.default_rng(0).permuted(np.tile(range(6), (90, 1)), axis=1)[:, :3]
    ]
    (tmp_path / "pilot.csv").write_text("\n".join(["anchor,near,far", *asked, "1,1,2"]) + "\n")
    with pytest.raises(InputError, match="--on-bad drop"):
        run(names, "--pilot", tmp_path / "pilot.csv")
    with pytest.raises(InputError, match="got 90"):  # the others are too few for advice
        run(names, "--pilot", tmp_path / "pilot.csv", "--on-bad", "drop")


def test_which_landmarks_are_asked_about_makes_no_difference_to_advice(run, names):
    advice = ["--dimension", 1, "--agreement", 0.99999, "--seconds", 36]
    assert run(names, "-l", "fig,egg,dill", *advice).stdout == run(names, "-l", 3, *advice).stdout


def test_a_pilot_is_not_ignored_where_questions_are_drawn(run, names, tmp_path):
    with pytest.raises(InputError, match="--advise"):
        run(names, "--budget", 10, "--pilot", tmp_path / "pilot.csv")


@pytest.mark.parametrize(
    "words",
    [
        ["-b", 10, "--size", 5], ["--kind", "odd", "--pick", 1], ["-b", 10, "--kernel", "k1"], ["--again", 0.1], ["--checks", 0],
        ["-b", 10, "--pay", 0], ["-b", 10, "--advise", "--again", 0.1], ["-b", 10, "--each", 0],
    ],
)  # fmt: skip
def test_an_option_that_would_be_ignored_is_refused(run, names, words):
    with pytest.raises(InputError, match=f"{words[-2]}: "):
        run(names, *words)


@pytest.mark.parametrize("people", [0, -1])
def test_lists_for_nobody_are_refused(run, names, people):
    with pytest.raises(InputError, match="people"):
        run(names, "-b", 10, "--people", people)


def test_people_and_minutes_are_answered_and_the_command_that_is_printed_runs(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my names.txt").write_text("\n".join(f"o{i}" for i in range(12)))
    told = run("my names.txt", "--people", "6", "--minutes", "2", "--kind", "odd").stdout
    assert "<- yours" in told and "30 questions" in told
    words = shlex.split(told.splitlines()[-1].partition("nearfar plan ")[2])
    run(*words)
    lists = pl.read_csv("lists.csv")
    counts = lists.group_by("participant").len()["len"]
    assert len(counts) == 6 and set(counts) == {30}
    assert Counter(lists["role"])["check"] == 18 and Counter(lists["role"])["again"] > 0
    with pytest.raises(InputError, match="output"):
        run("my names.txt", "--people", "6", "-o", "x.csv")


def test_lists_that_ask_nothing_twice_warn(run, names, tmp_path):
    few = ["--budget", "12", "--people", "4", "-o", tmp_path / "lists.csv"]
    assert "unknown" in run(names, *few).stderr and "unknown" in run(names, *few, "--checks", "2").stderr
    assert "unknown" not in run(names, *few, "--each", "2").stderr
    many = ["--budget", "40", "--people", "2", "--again", "0.1", "-o", tmp_path / "lists.csv"]
    assert "unknown" not in run(names, *many).stderr


def test_what_adaptive_questions_would_save(run, tmp_path):
    (tmp_path / "names.txt").write_text("\n".join(f"object {i}" for i in range(9)))
    told = run(str(tmp_path / "names.txt"), "--adaptive", "--people", "4", "--per-person", "12")
    assert "48 answers" in told.stdout
