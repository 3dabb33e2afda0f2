"""``nearfar map`` of an embedding: the same points as the library; warnings and errors in one line."""

import io

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import nearfar as nf
from nearfar.cli._app import app
from nearfar.triplets import Triplets

RUN = CliRunner()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Ten named objects on a line and 600 answers about them."""
    rng = np.random.default_rng(0)
    rows = np.argsort(rng.random((600, 10)), axis=1)[:, :3]
    apart = np.abs(rows[:, [0]] - rows[:, 1:])
    rows = np.where((apart[:, 0] > apart[:, 1])[:, None], rows[:, [0, 2, 1]], rows)
    file = tmp_path_factory.mktemp("map") / "answers.csv"
    nf.write_triplets(Triplets.from_array(rows, [f"o{i}" for i in range(10)]), file)
    return file


def run(path, *options, model="tste"):
    result = RUN.invoke(app, ["map", str(path), "--model", model, *map(str, options)])
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result


@pytest.mark.parametrize("method", ["tste", "ste", "ckl", "soe", "gnmds"])
def test_table_is_what_the_library_finds(path, method):
    result = run(path, "--dimensions", 3, model=method)
    frame = pl.read_csv(io.StringIO(result.stdout))
    model = getattr(nf.embedding, method.upper())(3).fit(nf.read_triplets(path))
    assert frame["object"].to_list() == list(model.objects_)
    np.testing.assert_allclose(frame.select("x1", "x2", "x3").to_numpy(), model.embedding_, atol=1e-12)
    assert frame["informed"].all()
    assert f"{method}-3: agrees with" in result.stderr


def test_coordinates_that_no_dimension_fills_are_counted(path):
    assert "soe-2 has 2 dimensions here: x3 and further are 0" in run(path, "-n", 5, model="soe-2").stderr
    assert "further" not in run(path, "-n", 2, model="soe-2").stderr


def test_arrays_and_picture(path, tmp_path):
    run(path, "-o", tmp_path / "points.npz", "-o", tmp_path / "points.svg", "--quiet")
    with np.load(tmp_path / "points.npz") as saved:
        np.testing.assert_allclose(saved["points"], nf.embedding.TSTE().fit_transform(nf.read_triplets(path)))
        assert saved["objects"].tolist() == [f"o{i}" for i in range(10)]
        assert saved["converged"]
    assert "<svg" in (tmp_path / "points.svg").read_text()


def test_objects_without_answers_are_marked(path, tmp_path):
    listing = tmp_path / "objects.csv"
    pl.DataFrame({"object": [*(f"o{i}" for i in range(10)), "ghost"]}).write_csv(listing)
    result = run(path, "--objects", listing)
    frame = pl.read_csv(io.StringIO(result.stdout))
    assert frame.row(10) == ("ghost", 0.0, 0.0, False)
    assert "1 of 11 objects have no answer (ghost)" in result.stderr


def test_answers_that_contradict_each_other_are_said(tmp_path):
    file = tmp_path / "two.csv"
    file.write_text("anchor,near,far\na,b,c\na,c,b\n")
    assert "contradict" in run(file, model="soe").stderr


def test_one_dimension_is_drawn_as_a_scale_with_intervals(path, tmp_path):
    run(path, "-n", 1, "-o", tmp_path / "scale.svg", "-o", tmp_path / "scale.csv", model="auto")
    assert "95 %" in (tmp_path / "scale.caption.txt").read_text()
    assert (
        "o9" in (tmp_path / "scale.svg").read_text() and pl.read_csv(tmp_path / "scale.csv")["x1"].len() == 10
    )
    run(path, "-n", 1, "-o", tmp_path / "axis.svg", model="score")
    assert "95 %" not in (tmp_path / "axis.caption.txt").read_text()
