"""``--dask`` on kernel, map and cluster: the same files as without, and one sentence when it cannot be."""

import sys

import numpy as np
import polars as pl
import pytest
from scale_tools import made_answers
from typer.testing import CliRunner

import nearfar as nf
from nearfar.cli import main
from nearfar.cli._app import app
from nearfar.errors import FileError, InputError, MissingExtra
from nearfar.scale import _connect

distributed = pytest.importorskip("distributed")
RUN = CliRunner()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Answers about 60 objects, one of them listed but never asked about."""
    folder, answers = tmp_path_factory.mktemp("study"), made_answers()
    names = np.array([f"o{i}" for i in range(60)])
    roles = {role: names[getattr(answers, role)] for role in ("anchor", "near", "far")}
    pl.DataFrame(roles | {"participant": "ann"}).write_parquet(folder / "answers.parquet")
    groups = ["left", "right"] * 30
    pl.DataFrame({"object": names, "display_name": names, "group": groups}).write_csv(folder / "objects.csv")
    (folder / "landmarks.txt").write_text("\n".join(names[:8]))
    (folder / "nobody.txt").write_text("ann\n")
    return folder


@pytest.fixture(scope="module")
def address():
    """A scheduler with two worker processes, that the command knows by its address only."""
    with _connect.local_cluster(2) as cluster:
        yield cluster.scheduler_address


def run(study, command, *options):
    """Run a command that ends well, in a folder of its own; the text it said."""
    words = [command, study / "answers.parquet", "--objects", study / "objects.csv", *options]
    words += [] if "--model" in options else ["--model", "k1"]
    result = RUN.invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def both(study, tmp_path, address, name, *words):
    """The file that a command writes, without and with ``--dask``."""
    said = []
    for place, more in (("here", ()), ("there", ("--dask", address))):
        (tmp_path / place).mkdir()
        said.append(run(study, *words, "-o", tmp_path / place / name, *more))
    assert said[0].replace("/here/", "/there/") == said[1]
    return tmp_path / "here" / name, tmp_path / "there" / name


def test_map_writes_the_same(study, tmp_path, address):
    here, there = map(
        pl.read_csv, both(study, tmp_path, address, "map.csv", "map", "--model", "score", "-n", "3")
    )
    assert there.columns == here.columns
    assert there["object"].equals(here["object"]) and there["informed"].equals(here["informed"])
    points = [frame.select("x1", "x2", "x3").to_numpy() for frame in (here, there)]
    assert np.abs(points[0] - points[1]).max() < 1e-10


def test_cluster_writes_the_same(study, tmp_path, address):
    options = ("-k", "3", "--starts", "2", "--landmarks", study / "landmarks.txt", "--model", "score")
    here, there = map(pl.read_csv, both(study, tmp_path, address, "clusters.csv", "cluster", *options))
    assert there.equals(here) and here["medoid"].sum() == 3


def test_pictures_are_drawn_too(study, tmp_path, address):
    here, there = both(study, tmp_path, address, "map.svg", "map")
    assert there.stat().st_size > 10_000 and here.stat().st_size > 10_000


def test_kernel_writes_a_zarr_array(study, tmp_path, address):
    import zarr

    run(study, "kernel", "--diagonal", "keep", "-o", tmp_path / "K.zarr", "--dask", address, "-q")
    answers = nf.read_triplets(study / "answers.parquet", objects=study / "objects.csv")
    with pytest.warns(nf.errors.UninformedWarning, match="1 of 60"):
        K = nf.kernel_matrix(answers, "k1", diagonal="keep")
    written = zarr.open_array(tmp_path / "K.zarr", mode="r")
    assert np.abs(written[:] - K).max() < 1e-10 and written.attrs["whole"]
    assert written.attrs["objects"] == list(answers.objects) and written.attrs["uninformed"] == [59]


def test_a_local_cluster_comes_and_goes(study):
    assert "o59" in run(study, "map", "--dask", "local:1")
    with pytest.raises(ValueError, match="No clients found"):
        distributed.Client.current()


@pytest.mark.parametrize(
    ("words", "kind", "sentence"),
    [
        (["map", "--dask", "tcp//x"], InputError, "'tcp//x' is not a cluster; expected local, local:WORKERS"),
        (["map", "--dask", "local:0"], InputError, "'local:0' is not a cluster"),
        (
            ["kernel", "--dask", "local"],
            FileError,
            "-: with --dask or --scratch the kernel matrix is written in blocks",
        ),
        (["kernel", "-o", "K.npz", "--dask", "local"], FileError, "K.npz: .*one output that ends in .zarr"),
        (["kernel", "-o", "K.zarr", "--title", "x", "--dask", "local"], InputError, "--title does not work"),
        (
            ["kernel", "-o", "no/K.zarr", "--dask", "local"],
            FileError,
            "no/K.zarr: there is no directory 'no'",
        ),
    ],
)
def test_what_cannot_be_is_said_before_a_cluster_starts(study, words, kind, sentence):
    result = RUN.invoke(app, [words[0], str(study / "answers.parquet"), "--model", "k1", *words[1:]])
    with pytest.raises(kind, match=sentence):
        raise result.exception


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "answers.parquet --model k1 --exclude nobody.txt",
            "--exclude: not with --dask or --scratch",
        ),
        ("- --model k1", "not standard input"),
        ("answers.parquet --model auto", "--model auto: --dask and --scratch work with kernels; name one"),
        ("answers.parquet --model soe-2", "--model soe-2: --dask and --scratch work with kernels"),
        ("answers.parquet --model score-3", "--model score-3: --dask and --scratch work with kernels"),
    ],
)
def test_what_is_not_honoured_is_not_accepted(study, address, monkeypatch, words, said):
    monkeypatch.chdir(study)
    result = RUN.invoke(app, ["map", *words.split(), "--dask", address], input="anchor,near,far\na,b,c\n")
    with pytest.raises(InputError, match=said):
        raise result.exception


@pytest.mark.parametrize("words", [["map"], ["cluster", "-k", "2"], ["kernel", "-o", "K.zarr"]])
def test_files_without_answers_are_one_sentence(tmp_path, monkeypatch, address, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none.csv").write_text("anchor,near,far\n")
    result = RUN.invoke(app, [words[0], "none.csv", *words[1:], "--model", "k1", "--dask", address])
    with pytest.raises(FileError, match=r"none\.csv: there are no answers in it; at least one is needed"):
        raise result.exception
    assert [path.name for path in tmp_path.iterdir()] == ["none.csv"]


def test_an_absent_scheduler_is_one_sentence_and_exit_code_2(study, monkeypatch, capsys):
    monkeypatch.setenv("NEARFAR_DASK_REPLY_TIMEOUT", "0.5")
    words = ["nearfar", "map", str(study / "answers.parquet"), "--dask", "tcp://127.0.0.1:9"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit, match="2"):
        main()
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.startswith("nearfar: tcp://127.0.0.1:9: cannot reach a Dask scheduler, it does not reply")


def test_a_run_that_is_stopped_says_so(study, monkeypatch, capsys):
    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(_connect, "local_cluster", stop)
    monkeypatch.setattr(sys, "argv", ["nearfar", "map", str(study / "answers.parquet"), "--dask", "local"])
    with pytest.raises(SystemExit, match="130"):
        main()
    assert capsys.readouterr().err == "nearfar: stopped; nothing half-written was left behind\n"


def test_without_dask_the_extra_is_named(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = RUN.invoke(app, ["map", str(study / "answers.parquet"), "--dask", "local"])
    with pytest.raises(MissingExtra, match=r"pip install '\.\[dask\]'"):
        raise result.exception


@pytest.mark.parametrize("command", [["map", "-n", "3"], ["cluster", "-k", "3", "--starts", "2"]])
def test_rows_on_disk_write_the_same_as_rows_in_memory(study, tmp_path, command):
    (tmp_path / "scratch").mkdir()
    written = []
    for name, more in (("memory", ()), ("disk", ("--scratch", tmp_path / "scratch"))):
        run(study, *command, "--model", "score", "-o", tmp_path / f"{name}.csv", *more)
        written.append(pl.read_csv(tmp_path / f"{name}.csv"))
    for one, other in zip(written[0].iter_columns(), written[1].iter_columns(), strict=True):
        if one.dtype == pl.Float64:
            assert np.abs(one.to_numpy() - other.to_numpy()).max() < 1e-10
        else:
            assert one.equals(other)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_kernel_from_rows_on_disk_goes_to_zarr(study, tmp_path):
    import zarr

    run(study, "kernel", "--model", "k1", "-o", tmp_path / "K.zarr", "--scratch", tmp_path, "-q")
    answers = nf.read_triplets(study / "answers.parquet", objects=study / "objects.csv")
    with pytest.warns(nf.errors.UninformedWarning, match="1 of 60"):
        K = nf.kernel_matrix(answers, "k1")
    assert np.abs(zarr.open_array(tmp_path / "K.zarr", mode="r")[:] - K).max() < 1e-10


def test_dask_and_scratch_together_are_refused(study, tmp_path):
    words = ["map", str(study / "answers.parquet"), "--dask", "local", "--scratch", str(tmp_path)]
    with pytest.raises(InputError, match="--dask and --scratch do not go together; give one of them"):
        raise RUN.invoke(app, words).exception
