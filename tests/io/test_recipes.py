"""The recipes of docs/files.md, on a small file in each tool's own layout; and files for other programs."""

import os
import shlex
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from io_tools import named

import nearfar as nf
from nearfar.cli._common import named_columns

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


def test_every_tool_has_a_recipe():
    recipes = [*(recipe[2] for recipe in RECIPES), "qualtrics_loop.csv", "qualtrics_plan.csv"]
    assert sorted(recipes) == sorted(path.name for path in FILES.iterdir())


def test_a_survey_with_a_column_per_question(monkeypatch):
    code = DOCS.read_text().split("<!-- recipes -->")[1].split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(FILES)
    found = {}
    exec(code, found)
    assert named(found["answers"]) == [("fig", "kiwi", "plum"), ("plum", "lime", "fig")]
    assert np.asarray(found["answers"].participant).tolist() == ["R_1", "R_1"]


def test_a_spreadsheet_as_a_workbook(tmp_path):
    recipe = next(recipe for recipe in RECIPES if recipe[2] == "spreadsheet.csv")
    pl.read_csv(FILES / "spreadsheet.csv", separator=";").write_excel(tmp_path / "answers.xlsx")
    assert named(read_by(recipe, tmp_path / "answers.xlsx").triplets)[0] == ("fig", "kiwi", "plum")
    answers = nf.Triplets([0], [1], [2], ["1", "02", "x"], participant=[7], seconds=[1.5])
    nf.write_triplets(answers, tmp_path / "back.xlsx")
    back = nf.read_triplets(tmp_path / "back.xlsx")
    assert named(back) == [("1", "02", "x")]
    assert (np.asarray(back.participant).tolist(), back.seconds.tolist()) == ([7], [1.5])


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
