"""``nearfar dimensions``, ``compare --dimensions`` and the section of the page."""

import json

import numpy as np
import polars as pl
import pytest
from cli_tools import run

import nearfar as nf

KINDS = np.repeat(np.eye(3), 6, axis=0) * 2.5 + np.random.default_rng(0).normal(size=(18, 3)) * 0.2


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    asked = nf.design.trio_questions(18, 800, seed=0)
    answers = nf.simulate.answers(asked, points=KINDS, seed=0).triplets
    path = tmp_path_factory.mktemp("answers") / "answers.csv"
    nf.write_triplets(answers, path)
    return path


def test_names_go_out_and_come_back(file, tmp_path, monkeypatch, capsys):
    table, picture, arrays = (tmp_path / f"d.{suffix}" for suffix in ("csv", "png", "npz"))
    outputs = [part for path in (table, picture, arrays) for part in ("-o", path)]
    code, out, _ = run(monkeypatch, capsys, "dimensions", file, "-m", "nonneg-3", "-q", *outputs)
    assert (code, out) == (0, "") and picture.stat().st_size > 1000
    rows = pl.read_csv(table)
    assert (
        rows["comes_back"].sum()
        == len(np.load(arrays)["dimensions"])
        == np.load(arrays)["points"].shape[1]
        > 0
    )
    rows.with_columns(name=pl.lit("kind ") + (pl.col("number") % 2).cast(pl.String)).write_csv(table)
    code, out, _ = run(monkeypatch, capsys, "dimensions", file, "-m", "nonneg-3", "--names", table)
    assert code == 0 and "kind 1" in out
    page = tmp_path / "page.html"
    outputs = ("-o", page, "--bundle", tmp_path / "bundle")
    code, _, _ = run(monkeypatch, capsys, "report", file, "-m", "score", "--names", table, *outputs, "-q")
    text = page.read_text()
    assert code == 0 and 'id="dimensions-section"' in text and "kind " in text
    assert (
        'id="arrows"' in text
        and '"arrows":{"kind 1":' in text.replace('": ', '":')
        and '"kind 1 (3)"' in text
    )
    highest = pl.read_csv(tmp_path / "bundle" / "tables" / "dimensions.csv")
    assert highest.columns == ["dimension", "object", "coordinate"] and set(highest["dimension"]) == {
        "kind 0",
        "kind 1",
    }


def test_vectors_are_a_prior(file, tmp_path, monkeypatch, capsys):
    vectors = tmp_path / "kinds.npy"
    np.save(vectors, KINDS)
    table = tmp_path / "d.csv"
    words = ("dimensions", file, "-m", "nonneg-3", "--features", vectors, "-o", table)
    code, out, err = run(monkeypatch, capsys, *words)
    assert (code, out) == (0, "") and pl.read_csv(table)["comes_back"].sum() > 0
    assert "vectors" in err.replace(str(table), "")


def test_properties_of_the_object_list_are_correlated(file, tmp_path, monkeypatch, capsys):
    listing = tmp_path / "objects.csv"
    names = nf.read_triplets(file).objects
    pl.DataFrame({"object": names, "size": KINDS[:, 0], "kind": ["a"] * 18}).write_csv(listing)
    for words in (("--objects", listing), ("--properties", listing)):
        code, out, _ = run(monkeypatch, capsys, "dimensions", file, "-m", "nonneg-3", "-q", *words)
        assert code == 0 and "correlates most with size (r = 0.9" in out


def test_what_dimensions_refuses(file, tmp_path, monkeypatch, capsys):
    code, _, err = run(monkeypatch, capsys, "dimensions", file, "--model", "soe-2")
    assert code == 2 and "nonneg" in err
    wrong = tmp_path / "names.csv"
    wrong.write_text("a,b\n1,2\n")
    code, _, err = run(monkeypatch, capsys, "dimensions", file, "--names", wrong)
    assert code == 2 and "'name'" in err


def test_the_number_of_dimensions_in_the_shell(file, monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, "compare", file, "--dimensions", "--cv", 2, "--json")
    told = json.loads(out)
    assert code == 0 and told["dimension"] in told["dimensions"] == [1, 2, 3, 5, 8]
    words = ("compare", file, "--dimensions", "--cv", 2, "--design", "adaptive", "--json")
    assert json.loads(run(monkeypatch, capsys, *words)[1])["comparison"]["scope"]["questions"] == "adaptive"
    code, out, _ = run(monkeypatch, capsys, "compare", file, "--dimensions", "-m", "ste,soe", "--json")
    assert code == 0 and len(json.loads(out)["comparison"]["scores"]) == 5


def test_answers_without_a_dimension_give_a_table_without_rows(tmp_path, monkeypatch, capsys):
    answers, table = tmp_path / "few.csv", tmp_path / "d.csv"
    answers.write_text("anchor,near,far\na,b,c\na,c,b\nb,a,c\nb,c,a\n")
    code, _, _ = run(monkeypatch, capsys, "dimensions", answers, "-o", table, "-o", tmp_path / "d.png", "-q")
    assert code == 0 and pl.read_csv(table).columns[:2] == ["number", "name"]
    code, out, err = run(monkeypatch, capsys, "dimensions", answers, "--names", table)
    assert code == 0 and "No dimension" in out and "name" in err
