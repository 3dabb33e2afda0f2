"""``nearfar convert``: formats, dialects, joins, bad rows, pipes."""

import subprocess
import sys

import numpy as np
import pytest
from io_tools import assert_same
from test_cli_check import run

from nearfar.io import read_triplets, write_triplets
from nearfar.triplets import Triplets


@pytest.fixture
def odd(tmp_path):
    answers = Triplets.from_odd_one_out(
        [[0, 1, 2], [3, 1, 0]], ["a,b", "é", "007", 'q"'], statement=["s1", "s2"]
    )
    write_triplets(answers, tmp_path / "odd.csv", dialect="odd-one-out")
    return answers


def test_convert_between_formats(monkeypatch, capsys, tmp_path, odd):
    code, out, err = run(monkeypatch, capsys, "convert", tmp_path / "odd.csv", tmp_path / "answers.parquet")
    assert (code, out) == (0, "")
    assert err == f"{tmp_path / 'answers.parquet'}: 4 answers about 4 objects\n"
    back = read_triplets(tmp_path / "answers.parquet")
    assert_same(back, odd, objects=False)


@pytest.mark.parametrize("dialect", ["canonical", "odd-one-out", "salmon", "next", "tripletTools"])
def test_convert_between_dialects_keeps_statements(monkeypatch, capsys, tmp_path, odd, dialect):
    code, _, _ = run(
        monkeypatch, capsys, "convert", tmp_path / "odd.csv", tmp_path / "x.csv", "--to", dialect
    )
    assert code == 0
    assert_same(read_triplets(tmp_path / "x.csv"), odd, objects=False, columns=["statement"])


def test_convert_names_the_dialect_of_a_bare_file(monkeypatch, capsys, tmp_path):
    (tmp_path / "bare.csv").write_text("4,1,2\n")
    code, _, err = run(monkeypatch, capsys, "convert", tmp_path / "bare.csv", tmp_path / "x.csv")
    assert code == 2
    assert "no dialect has the columns '4', '1', '2'" in err
    run(
        monkeypatch,
        capsys,
        "convert",
        tmp_path / "bare.csv",
        tmp_path / "x.csv",
        "--from",
        "most-central",
        "-q",
    )
    assert (tmp_path / "x.csv").read_text() == "anchor,near,far,statement\n1,4,2,0\n2,4,1,0\n"


def test_milliseconds_are_written_as_the_shortest_seconds_and_back(monkeypatch, capsys, tmp_path):
    times = ["1662", "1001", "333", "1662.4", "NA"]
    lines = [f"ann,{time},a,c,b{i},b{i},random,train" for i, time in enumerate(times)]
    source = tmp_path / "answers.csv"
    source.write_text("\n".join(["worker_id,rt,Center,Left,Right,Answer,sampleAlg,sampleSet", *lines, ""]))
    _, out, _ = run(monkeypatch, capsys, "convert", source, "-")
    assert [line.split(",")[4] for line in out.splitlines()[1:]] == ["1.662", "1.001", "0.333", "1.6624", ""]
    _, out, _ = run(monkeypatch, capsys, "convert", source, "-", "--to", "tripletTools")
    assert [line.split(",")[1] for line in out.splitlines()[1:]] == [
        "1662.0",
        "1001.0",
        "333.0",
        "1662.4",
        "",
    ]


def test_convert_joins_files_and_counts_what_it_dropped(monkeypatch, capsys, tmp_path):
    (tmp_path / "1.csv").write_text("anchor,near,far,statement\na,b,c,0\na,b,b,1\n")
    (tmp_path / "2.csv").write_text("anchor,near,far,statement\na,b,d,0\n")
    target = tmp_path / "both.jsonl"
    code, _, err = run(monkeypatch, capsys, "convert", tmp_path / "1.csv", tmp_path / "2.csv", target)
    assert code == 2
    assert not target.exists()
    assert "1.csv, line 3: two equal objects" in err
    code, _, err = run(
        monkeypatch, capsys, "convert", tmp_path / "1.csv", tmp_path / "2.csv", target, "--on-bad", "drop"
    )
    assert (code, err) == (0, f"{target}: 2 answers about 4 objects, 1 row rejected\n")
    assert np.asarray(read_triplets(target).statement).tolist() == [0, 1]


def test_convert_says_why_not(monkeypatch, capsys, tmp_path, odd):
    code, _, err = run(
        monkeypatch, capsys, "convert", tmp_path / "odd.csv", tmp_path / "x.csv", "--to", "most-central"
    )
    assert code == 2
    assert err.startswith("nearfar: not all answers are most-central statements")
    code, _, err = run(
        monkeypatch, capsys, "convert", tmp_path / "odd.csv", tmp_path / "x.csv", "--to", "klingon"
    )
    assert (code, err[:42]) == (2, "nearfar: dialect: 'klingon' is not known; ")


def test_convert_without_a_file_to_write(monkeypatch, capsys, tmp_path, odd):
    code, _, err = run(monkeypatch, capsys, "convert", "odd.csv")
    assert code == 2
    assert err == (
        "nearfar: OUT is missing; expected the file to write, e.g. nearfar convert odd.csv answers.parquet\n"
    )


def test_convert_in_a_pipe(tmp_path, odd):
    command = [sys.executable, "-m", "nearfar", "convert", "-", "-", "--format", "jsonl", "-q"]
    done = subprocess.run(command, input=(tmp_path / "odd.csv").read_bytes(), capture_output=True, check=True)
    assert done.stderr == b""
    assert len(done.stdout.splitlines()) == 4
    (tmp_path / "piped.jsonl").write_bytes(done.stdout)
    assert_same(read_triplets(tmp_path / "piped.jsonl"), odd, objects=False)


def test_convert_warns_of_what_is_lost(monkeypatch, capsys, tmp_path, odd):
    code, _, err = run(
        monkeypatch, capsys, "convert", tmp_path / "odd.csv", tmp_path / "x.csv", "--to", "things", "-q"
    )
    assert code == 0
    assert err == (
        "nearfar: warning: things: bare rows of indices have no room for the names of objects, statement; left out\n"
    )
