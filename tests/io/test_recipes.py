"""The recipes of docs/files.md, on a small file in each tool's own layout; and files for other programs."""

import csv
import os
import shlex
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xlsxwriter
from io_tools import named

import nearfar as nf
from nearfar.cli._reading import named_columns
from nearfar.errors import FileError, NearfarWarning, RowsError

FILES = Path(__file__).parent / "files"
DOCS = Path(__file__).parents[2] / "docs" / "files.md"
RECIPES = [
    shlex.split(line)
    for line in DOCS.read_text().split("<!-- recipes -->")[1].split("<!-- end")[0].splitlines()
    if line.strip().startswith("nearfar check ")
]


def read_by(recipe, path):
    columns = named_columns([each for before, each in pairwise(recipe) if before == "--column"])
    return nf.read_answers(path, columns=columns, on_bad="drop")


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe[2])
def test_a_recipe_reads_its_file(recipe):
    result = read_by(recipe, FILES / recipe[2])
    second = ("fig", "plum", "kiwi") if recipe[2] == "qualtrics.csv" else ("plum", "lime", "fig")
    assert named(result.triplets) == [("fig", "kiwi", "plum"), second]
    assert not len(result.rejected)
    assert (result.triplets.participant is None) == (recipe[2] == "psytoolkit.txt")
    if recipe[2] not in ("qualtrics.csv", "spreadsheet.csv"):
        np.testing.assert_allclose(result.triplets.seconds, [1.83, 2.1], atol=0.01)


def test_the_header_rows_of_qualtrics_are_known_in_batches_of_one_row():
    recipe = next(recipe for recipe in RECIPES if recipe[2] == "qualtrics.csv")
    answers = read_by(recipe, FILES / "qualtrics.csv").triplets
    columns = {"anchor": "Q", "option": ["L", "R"], "choice": "QID1"}
    batches = list(nf.scan_triplets(FILES / "qualtrics.csv", columns=columns, batch_rows=1))
    assert [row for batch in batches for row in named(batch)] == named(answers)


def test_every_tool_has_a_recipe():
    assert sorted(recipe[2] for recipe in RECIPES) == sorted(path.name for path in FILES.iterdir())


def test_a_spreadsheet_as_a_workbook(tmp_path):
    recipe = next(recipe for recipe in RECIPES if recipe[2] == "spreadsheet.csv")
    pl.read_csv(FILES / "spreadsheet.csv", separator=";").write_excel(tmp_path / "answers.xlsx")
    assert named(read_by(recipe, tmp_path / "answers.xlsx").triplets)[0] == ("fig", "kiwi", "plum")
    answers = nf.Triplets([0], [1], [2], ["1", "02", "x"], participant=[7], seconds=[1.5])
    nf.write_triplets(answers, tmp_path / "back.xlsx")
    back = nf.read_triplets(tmp_path / "back.xlsx")
    assert named(back) == [("1", "02", "x")]
    seconds = [1.23456789012345, 1700000000.123456, 3.0, 0.0]
    some = nf.Triplets(
        [0] * 4, [1] * 4, [2] * 4, ["a", "b", "c"], seconds=seconds, participant=[10**16 + 2] * 4
    )
    nf.write_triplets(some, tmp_path / "times.xlsx")
    assert nf.read_triplets(tmp_path / "times.xlsx").seconds.tolist() == seconds
    assert (np.asarray(back.participant).tolist(), back.seconds.tolist()) == ([7], [1.5])


def workbook(path, *sheets):
    book = xlsxwriter.Workbook(path)
    for rows in sheets:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    book.close()
    return path


def test_a_workbook_as_people_keep_it(tmp_path):
    """Rows above the header, columns without a name, a name twice, other sheets: each is said or counted as Excel does."""
    rows = [["", ""], ["anchor", "near", "far", ""], ["a", "b", "c", "note"], ["a", "b", ""]]
    with pytest.raises(RowsError, match=r"one\.xlsx, row 4: blank cell: far ''"):
        nf.read_triplets(workbook(tmp_path / "one.xlsx", rows))
    twice = workbook(tmp_path / "twice.xlsx", [["anchor", "near", "far", "near"], ["a", "b", "c", "d"]])
    with pytest.raises(FileError, match=r"2 columns are called 'near'"):
        nf.read_triplets(twice)
    with pytest.raises(FileError, match=r"empty\.xlsx: the first sheet is empty"):
        nf.read_triplets(workbook(tmp_path / "empty.xlsx", []))
    several = workbook(tmp_path / "several.xlsx", rows[:3], [["more"]])
    with pytest.warns(NearfarWarning, match=r"only the first sheet is read, 'Sheet1'"):
        assert named(nf.read_triplets(several)) == [("a", "b", "c")]
    assert named(nf.read_triplets(several, sheet="Sheet1")) == [("a", "b", "c")]
    with pytest.raises(FileError, match=r"no sheet 'Data'; its sheets are 'Sheet1', 'Sheet2'"):
        nf.read_triplets(several, sheet="Data")
    titled = workbook(tmp_path / "titled.xlsx", [["My study"], [], rows[1], *rows[2:3] * 2])
    with pytest.warns(NearfarWarning, match="row 3"):
        assert named(nf.read_triplets(titled)) == [("a", "b", "c")] * 2


def test_merged_cells_are_refused(tmp_path):
    """Only the first row of them has the value: people would lose their answers in silence."""
    book = xlsxwriter.Workbook(tmp_path / "merged.xlsx")
    for name in ("plain", "<merged> & more"):
        sheet = book.add_worksheet(name)
        for number, row in enumerate([["anchor", "near", "far", "participant"], *[["a", "b", "c"]] * 12]):
            sheet.write_row(number, 0, row)
    sheet.merge_range("D2:D13", "ann")
    book.close()
    assert len(nf.read_triplets(tmp_path / "merged.xlsx", sheet="plain")) == 12
    with pytest.raises(FileError, match=r"D2:D13 are merged"):
        nf.read_triplets(tmp_path / "merged.xlsx", sheet="<merged> & more")


OWN = Path(__file__).parents[2] / ".venv-cblearn" / "bin" / "python"
CBLEARN = os.environ.get("NEARFAR_CBLEARN_PYTHON") or (str(OWN) if OWN.exists() else None)
USE = """
import sys, numpy as np
from cblearn import utils
from cblearn.embedding import SOE
rows = np.load(sys.argv[1])
print(utils.check_query_response(rows, result_format="list-order").tolist())
print(SOE(n_components=1, n_init=1, random_state=0).fit(rows).embedding_.shape)
"""


@pytest.mark.skipif(
    CBLEARN is None,
    reason="NO TEST WITH CBLEARN: it has no environment; see .ci/cblearn, or name one in NEARFAR_CBLEARN_PYTHON",
)
def test_cblearn_reads_what_convert_writes(tmp_path):
    answers = nf.Triplets.from_array([[0, 1, 2], [2, 3, 0], [1, 0, 3], [3, 2, 1]], ["p", "q", "r", "s"])
    with pytest.warns(nf.errors.NearfarWarning, match="no room for the names"):
        nf.write_triplets(answers, tmp_path / "rows.npy", dialect="list-order")
    out = subprocess.run(
        [CBLEARN, "-c", USE, tmp_path / "rows.npy"], capture_output=True, text=True, check=True
    )
    assert out.stdout.splitlines() == [str(answers.array.tolist()), "(4, 1)"]


def some_answers(participant):
    rng = np.random.default_rng(4)
    rows = np.argsort(rng.random((60, 7)), axis=1)[:, :3]
    names = ["q.png", "Z.png", "a b.png", "10", "9", "\u00e9", "x,y"]
    who = [f"w{p}" for p in rng.integers(3, size=60)] if participant else None
    return nf.Triplets.from_array(rows, names, participant=who, near_side=rng.integers(2, size=60))


def test_salmon_learns_the_same_triplets(tmp_path):
    """As docs/source/offline.rst of Salmon 1.0.3 reads responses: X = head, winner, loser, of X.max() + 1 targets."""
    answers = some_answers(participant=True)
    nf.write_triplets(answers, tmp_path / "responses.csv", dialect="salmon")
    with (tmp_path / "responses.csv").open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    X = [[int(row[role]) for role in ("head", "winner", "loser")] for row in table]
    assert answers.array.tolist() == X and max(map(max, X)) + 1 == answers.n_objects
    for row in table:  # the numbers count the targets, whose file names stand beside them
        for role in ("head", "left", "right", "winner", "loser"):
            assert row[f"{role}_filename"] == answers.objects[int(row[role])]
        assert {row["winner"], row["loser"]} == {row["left"], row["right"]}


@pytest.mark.parametrize("participant", [True, False])
def test_triplettools_learns_the_same_triplets(tmp_path, participant):
    """As its get.combined and prepare_triplet_matrices read a file (R/get_combined.R, R/prepare_triplet_matrices.R)."""
    answers = some_answers(participant)
    nf.write_triplets(answers, tmp_path / "triplets.csv", dialect="tripletTools")
    with (tmp_path / "triplets.csv").open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    workers = list(dict.fromkeys(row["worker_id"] for row in table))
    assert workers == (
        list(dict.fromkeys(np.asarray(answers.participant).tolist())) if participant else ["all"]
    )
    by_worker = [[row for row in table if row["worker_id"] == worker] for worker in workers]
    learnt = []
    for row in (row for rows in by_worker for row in rows if row["sampleSet"] in ("train", "test")):
        winner = row["Left"] if row["Answer"] == row["Left"] else row["Right"]
        loser = row["Right"] if row["Answer"] == row["Left"] else row["Left"]
        learnt.append((row["Center"], winner, loser))
    assert Counter(learnt) == Counter(named(answers)) and len(learnt) == 60
    assert all(
        row["sampleAlg"] != "check" for row in table
    )  # these it takes for questions with a known answer


def test_the_columns_that_salmon_and_triplettools_need(tmp_path):
    answers = nf.Triplets(
        [0], [1], [2], ["p.png", "q.png", "r.png"], participant=["w"], seconds=[1.5], near_side=[1]
    )
    nf.write_triplets(answers, tmp_path / "salmon.csv", dialect="salmon")
    salmon = pl.read_csv(tmp_path / "salmon.csv")
    assert salmon.select("head", "left", "right", "winner", "loser", "puid").rows() == [(0, 2, 1, 1, 2, "w")]
    nf.write_triplets(answers, tmp_path / "tools.csv", dialect="tripletTools")
    tools = pl.read_csv(tmp_path / "tools.csv")
    assert tools.select(
        "worker_id", "rt", "Center", "Left", "Right", "Answer", "sampleAlg", "sampleSet"
    ).rows() == [("w", 1500.0, "p.png", "r.png", "q.png", "q.png", "random", "train")]
