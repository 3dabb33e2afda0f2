"""``--features``: vectors per object beside the answers, in every command that makes a space."""

import io
import json

import numpy as np
import polars as pl
import pytest
from cli_tools import run
from embedding_tools import answers_about

import nearfar as nf

N = 14
NAMES = [f"o{x}" for x in range(N)]
TRUTH = np.random.default_rng(4).normal(size=(N, 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """answers.csv about 12 of 14 objects, and their vectors in two files."""
    folder = tmp_path_factory.mktemp("features")
    answers = answers_about(TRUTH, 260, objects=NAMES, drawn=range(12))
    nf.write_triplets(answers, folder / "answers.csv")
    order = np.random.default_rng(0).permutation(N)
    frame = pl.DataFrame({"object": [NAMES[x] for x in order], "l": TRUTH[order, 0], "a": TRUTH[order, 1]})
    frame.write_csv(folder / "lab.csv")
    np.savez(folder / "other.npz", net=np.random.default_rng(1).normal(size=(N, 3)), names=NAMES)
    (folder / "none-yet.csv").write_text("anchor,near,far\n")
    frame.select("object").write_csv(folder / "objects.csv")
    return folder


@pytest.fixture
def nearfar(monkeypatch, capsys, folder):
    monkeypatch.chdir(folder)
    return lambda *words: run(monkeypatch, capsys, *words)


def test_compare_shows_what_they_are_worth(nearfar):
    code, out, _ = nearfar(
        "compare", "answers.csv", "--model", "soe-2,score", "--cv", 2, "--features", "lab=lab.csv"
    )
    assert code == 0 and "soe-2+features" in out and "vectors alone" in out and "lab 0." in out
    code, out, _ = nearfar(
        "compare", "answers.csv", "--model", "soe-2", "--cv", 2, "--features", "lab.csv", "--json"
    )
    found = json.loads(out)
    assert code == 0 and found["worth"]["both"]["name"] == "soe-2+features"
    assert list(found["worth"]["shares"]) == ["lab"]


def test_compare_without_them_says_nothing_of_vectors(nearfar):
    code, out, _ = nearfar("compare", "answers.csv", "--model", "soe-2", "--cv", 2, "--json")
    assert code == 0 and "worth" not in json.loads(out)


def test_a_map_places_objects_that_nobody_was_asked_about(nearfar):
    words = ("map", "answers.csv", "--objects", "objects.csv", "--model", "soe")
    assert "not combined" in nearfar(*words, "--features", "net=other.npz")[2]
    code, out, err = nearfar(*words, "--features", "lab.csv")
    assert "Share of the vectors in the prior: lab 0." in err
    with_them = pl.read_csv(io.StringIO(out))
    assert code == 0 and with_them["informed"].all() and len(with_them) == N
    code, out, _ = nearfar(*words)
    assert code == 0 and pl.read_csv(io.StringIO(out))["informed"].sum() == 12


def test_several_sources_have_their_names(nearfar):
    words = ("--features", "lab.csv", "--features", "net=other.npz")
    code, out, _ = nearfar("compare", "answers.csv", "--model", "soe-2", "--cv", 2, "--json", *words)
    assert code == 0 and "lab" in json.loads(out)["worth"]["shares"]
    code, _, err = nearfar(
        "compare", "answers.csv", "--features", "net=other.npz", "--features", "net=lab.csv"
    )
    assert code == 2 and "two sources" in err and len(err.splitlines()) == 1


def test_a_plan_tells_what_they_were_worth_in_the_pilot(nearfar):
    words = ("plan", "objects.csv", "--advise", "--budget", "200", "--features", "lab.csv")
    code, _, err = nearfar(*words, "--pilot", "answers.csv")
    assert code == 0 and "In the pilot:" in err and ("lab 0." in err or "not combined" in err)
    code, _, err = nearfar(*words)
    assert code == 2 and "--pilot" in err


def test_tree_and_cluster_take_them(nearfar, tmp_path):
    words = ("answers.csv", "--model", "soe-2", "--features", "lab.csv", "--quiet")
    code, out, _ = nearfar("cluster", *words, "-k", 2)
    assert code == 0 and len(out.splitlines()) > 12
    assert nearfar("tree", *words, "-o", tmp_path / "tree.nwk")[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("map", "answers.csv", "--model", "score", "--features", "lab.csv"), "answers alone"),
        (("compare", "answers.csv", "--model", "k1,score", "--features", "lab.csv"), "answers alone"),
        (("report", "answers.csv", "--model", "k1", "--features", "lab.csv"), "answers alone"),
        (("map", "answers.csv", "--scratch", ".", "--model", "k1", "--features", "lab.csv"), "kernels"),
        (("map", "answers.csv", "--features", "none.csv"), "none.csv"),
        (("compare", "answers.csv", "--dimensions", "--features", "lab.csv"), "--dimensions"),
        (("compare", "none-yet.csv", "--features", "lab.csv"), "collect more"),
        (("map", "answers.csv", "--features", "=lab.csv"), "NAME=FILE"),
        (("map", "answers.csv", "--features", "answers.csv"), "'object'"),
        (("plan", "objects.csv", "--budget", "20", "--features", "lab.csv"), "--advise"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(words, told, nearfar, folder):
    code, out, err = nearfar(*words)
    assert code == 2 and told in err and out == ""
    assert "Traceback" not in err and not (folder / "report.html").exists()


def test_report_shows_how_given_distances_correlate(nearfar, folder):
    apart = np.linalg.norm(TRUTH[:, None] - TRUTH[None], axis=2)
    order = np.random.default_rng(2).permutation(N)  # of the rows; columns go by their titles
    columns = {NAMES[x]: apart[order, x] for x in range(N)}
    pl.DataFrame({"object": [NAMES[x] for x in order], **columns}).write_csv(folder / "apart.csv")
    words = ("report", "answers.csv", "--model", "soe-2", "-o", "r.html", "--json", "r.json", "--distances")
    code, _, error = nearfar(*words, "truth=apart.csv")
    assert code == 0, error
    [told] = json.loads((folder / "r.json").read_text())["correlations"]
    assert "truth" in told and float(told.partition("correlate ")[2][:4]) > 0.7
    page = (folder / "r.html").read_text()
    assert told in page and "What explains the map?" in page
    code, _, error = nearfar(*words, "lab.csv")
    assert code == 2 and "symmetric" in error and "--features" in error
