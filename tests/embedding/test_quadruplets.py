"""Quadruplets, d(a, b) < d(c, d): the loop by hand, points found again, files, and one sentence where an anchor is needed."""

import shlex
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli_tools import run

import nearfar as nf
from nearfar import embedding
from nearfar.embedding.loop import Loop, PairLoop, halves, merge
from nearfar.errors import FileError, InputError, TripletError
from nearfar.io import Quadruplets, read_quadruplets
from nearfar.triplets import Triplets

N = 20
POINTS = np.random.default_rng(0).normal(size=(N, 2))


def quadruplets(m, seed, flip=0.0):
    rng = np.random.default_rng(seed)
    rows = np.array([rng.choice(N, 4, replace=False) for _ in range(m)])
    gaps = [((POINTS[rows[:, i]] - POINTS[rows[:, j]]) ** 2).sum(axis=1) for i, j in ((0, 1), (2, 3))]
    swap = (gaps[0] > gaps[1]) ^ (rng.random(m) < flip)
    rows[swap] = rows[swap][:, [2, 3, 0, 1]]
    return rows


@pytest.mark.parametrize(("kind", "parameter"), [(0, 0.0), (1, 0.1), (2, 0.0), (3, 2.0), (4, 1.0), (5, 0.1)])
def test_with_one_anchor_the_loop_is_that_of_triplets(kind, parameter):
    rng = np.random.default_rng(1)
    rows = np.array([rng.choice(N, 3, replace=False) for _ in range(300)])
    points = rng.normal(size=(N, 3))
    four = Quadruplets(rows[:, [0, 1, 0, 2]].astype(np.int32), tuple(map(str, range(N))))
    total, gradient = Loop(merge(Triplets.from_array(rows, n_objects=N)), kind, parameter, 3)(points)
    again, slopes = PairLoop(halves(four, None), kind, parameter, 3)(np.vstack([points, np.zeros(3)]))
    np.testing.assert_allclose(again, total)
    np.testing.assert_allclose(slopes, np.vstack([gradient, np.zeros(3)]), atol=1e-10)


@pytest.mark.parametrize("name", ["SOE", "STE", "TSTE", "CKL", "GNMDS"])
def test_points_are_found_again(name):
    fitted = getattr(embedding, name)(2).fit(quadruplets(1500, 1, flip=0.1))
    assert fitted.embedding_.shape == (N, 2) and fitted.converged_
    assert fitted.score(quadruplets(1500, 2)) > 0.85
    again = getattr(embedding, name)(2).fit(quadruplets(1500, 1, flip=0.1))
    np.testing.assert_array_equal(fitted.embedding_, again.embedding_)


def test_a_weight_of_two_is_a_quadruplet_given_twice():
    rows = quadruplets(200, 3)
    twice = embedding.SOE(2).fit(np.vstack([rows, rows[:50]]))
    weighted = embedding.SOE(2).fit(rows, sample_weight=np.where(np.arange(200) < 50, 2, 1))
    np.testing.assert_allclose(weighted.loss_, twice.loss_, rtol=1e-6)


@pytest.mark.parametrize("model", ["k1", "score-2", "nonneg-2", "auto"])
def test_what_needs_an_anchor_refuses_in_one_sentence(model):
    with pytest.raises(InputError, match=r"anchor|auto") as caught:
        nf.fit(quadruplets(50, 4), model)
    assert "\n" not in str(caught.value)


def test_files_are_read_and_drawn(tmp_path, monkeypatch, capsys):
    rows, file = quadruplets(400, 5), tmp_path / "pairs.csv"
    pl.DataFrame({c: [f"o{x:02d}" for x in rows[:, at]] for at, c in enumerate("abcd")}).write_csv(file)
    np.save(tmp_path / "pairs.npy", rows)
    read, plain = read_quadruplets(file), read_quadruplets(tmp_path / "pairs.npy")
    assert read.array.tolist() == plain.array.tolist() == rows.tolist() and read.objects[3] == "o03"
    options = ("--dialect", "quadruplets", "-m", "soe-2")
    code, _, err = run(monkeypatch, capsys, "map", file, *options, "-o", tmp_path / "map.csv")
    assert code == 0 and "agrees with" in err
    table = pl.read_csv(tmp_path / "map.csv")
    assert table["object"].to_list() == list(read.objects) and table["informed"].all()
    for words in (
        ("map", file, *options[:2]),
        ("kernel", file, *options[:2], "-m", "k1"),
        ("check", file, *options[:2]),
    ):
        code, _, err = run(monkeypatch, capsys, *words)
        assert code == 2 and "quadruplets" in err and err.count("\n") == 1
    code, _, err = run(monkeypatch, capsys, "map", file, *options, "--where", "a = o01")
    assert code == 2 and "--where" in err
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("pairs 1.zip", "w") as archive:
        archive.write(file, "pairs.csv")
    for given in (str(file), "pairs 1.zip"):
        with pytest.raises(FileError, match="--dialect quadruplets") as caught:
            nf.read_triplets(given)
        command = str(caught.value).partition("try  ")[2]
        assert run(monkeypatch, capsys, *shlex.split(command)[1:])[0] == 0 and Path("map.png").is_file()


def test_rows_that_are_no_quadruplets(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("a,b,c,d\nfig,fig,plum,lime\n")
    with pytest.raises(TripletError, match="itself"):
        read_quadruplets(file)
    file.write_text("a,b,c,d\nfig,plum,,lime\n")
    with pytest.raises(FileError, match="blank"):
        read_quadruplets(file)
    np.save(tmp_path / "pairs.npy", np.zeros((4, 5), int))
    with pytest.raises(FileError, match="m, 4"):
        read_quadruplets(tmp_path / "pairs.npy")
