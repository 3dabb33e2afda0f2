"""What a command does not use it does not import; seen in a process of its own, by what is in ``sys.modules``."""

import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

HEAVY = {
    "bokeh", "dask", "distributed", "jinja2", "joblib", "matplotlib", "narwhals", "numba", "numpy", "pandas", "PIL",
    "polars", "pooch", "psutil", "pyarrow", "requests", "scipy", "scipy.stats", "sklearn", "starlette", "uvicorn", "zarr",
}  # fmt: skip
TABLES = {"numpy", "polars"}
KERNELS = TABLES | {"numba", "scipy"}
SHOW = """
import json, sys
from nearfar.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
sys.stderr.write("\\nLOADED " + json.dumps(sorted(sys.modules)))
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder with answers about points in the plane, and the list of the objects."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(10, 2)), np.array([rng.permutation(10)[:3] for _ in range(300)])
    gaps = [((points[rows[:, 0]] - points[rows[:, i]]) ** 2).sum(axis=1) for i in (1, 2)]
    rows[gaps[0] > gaps[1]] = rows[gaps[0] > gaps[1]][:, [0, 2, 1]]
    names = np.array([f"o{x}" for x in range(10)])
    pl.DataFrame(dict(zip(("anchor", "near", "far"), names[rows.T], strict=True))).write_csv(
        folder / "answers.csv"
    )
    (folder / "objects.csv").write_text("\n".join(["object", *names]) + "\n")
    return folder


def loaded(folder, *words):
    """The heavy modules that a command imports."""
    environment = os.environ | {"NEARFAR_TRACEBACK": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SHOW, *words], cwd=folder, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return HEAVY & set(json.loads(done.stderr.rpartition("\nLOADED ")[2]))


@pytest.mark.parametrize("words", ["--help", "--version", "map --help", "ask --help", "report --help"])
def test_help_imports_nothing_heavy(study, words):
    assert loaded(study, *words.split()) == set()


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ("check answers.csv", TABLES),
        ("check answers.csv --objects objects.csv --json", TABLES),
        ("convert answers.csv out.parquet", TABLES),
        ("convert answers.csv out.jsonl", TABLES),
        ("plan objects.csv --budget 30 -o plan.csv", TABLES),
        ("plan objects.csv --kind odd --budget 30 --people 3 -o lists.csv", TABLES),
        ("plan objects.csv --landmarks 4 --budget 30 -o marks.csv", TABLES),
        ("map answers.csv --model score -o map.csv", KERNELS),
        ("map answers.csv --model k1 -o map.npz", KERNELS),
        ("tree answers.csv --model score -o tree.csv", KERNELS),
        ("kernel answers.csv --model k2 -o kernel.npz", KERNELS),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_command_imports_what_it_uses(study, words, allowed):
    assert loaded(study, *words.split()) == allowed


def test_clusters_and_pictures_import_what_they_are_made_with(study):
    """The list above would be true of a command that imports nothing at all; this one needs the rest."""
    assert "sklearn" in loaded(study, "cluster", "answers.csv", "--model", "score", "-k", "3", "-o", "c.csv")
    drawn = loaded(study, "map", "answers.csv", "--model", "score", "-o", "map.svg")
    assert "matplotlib" in drawn and drawn.isdisjoint({"bokeh", "sklearn", "dask"})
