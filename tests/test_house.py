"""The map of the house in CONTRIBUTING.md is that of the code."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from house import rooms_entered
from test_architecture import ROOMS
from typer.testing import CliRunner

import nearfar as nf
from nearfar import scale
from nearfar.cli._app import app

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
HELPERS = {"errors", "_tools", "triplets"}
WAYS = {
    name: way.split(", ")
    for name, way in re.findall(r"^- `(?:nearfar )?(\w+)`: ((?:\w+, )+\w+)$", TEXT, flags=re.MULTILINE)
}
pytestmark = pytest.mark.filterwarnings("ignore::nearfar.errors.NearfarWarning")


def test_the_map_lists_every_room_in_order():
    listed = re.findall(r"^\| `(\w+)` \| .+ \|$", TEXT, flags=re.MULTILINE)
    assert listed == [name for name in ROOMS if name != "__main__"]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """A file of answers about points in the plane."""
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(12, 2)), np.array([rng.permutation(12)[:3] for _ in range(600)])
    gaps = [((points[rows[:, 0]] - points[rows[:, i]]) ** 2).sum(axis=1) for i in (1, 2)]
    rows[gaps[0] > gaps[1]] = rows[gaps[0] > gaps[1]][:, [0, 2, 1]]
    path = tmp_path_factory.mktemp("study") / "answers.csv"
    names = {
        role: [f"o{x}" for x in column]
        for role, column in zip(("anchor", "near", "far"), rows.T, strict=True)
    }
    pl.DataFrame(names).write_csv(path)
    return path


def on_disk(path, folder):
    with scale.scratch(folder):
        phi = scale.FeatureMap("k1").fit_transform(scale.read_triplets([path]))
        nf.KernelPCA(2).fit(phi)


def mapped(path, folder):
    words = ["map", str(path), "--model", "score", "-o", str(folder / "map.csv")]
    assert CliRunner().invoke(app, words).exit_code == 0


@pytest.mark.parametrize("name", ["kernel_matrix", "map", "scale"])
def test_the_data_takes_the_way_that_the_map_shows(name, answers, tmp_path):
    triplets = nf.read_triplets(answers)
    work = {
        "kernel_matrix": lambda: nf.kernel_matrix(triplets, "k1"),
        "map": lambda: mapped(answers, tmp_path),
        "scale": lambda: on_disk(answers, tmp_path),
    }[name]
    work()  # names resolve on first use; that is not the way of the data
    assert [room for room in rooms_entered(work) if room not in HELPERS] == WAYS[name]
