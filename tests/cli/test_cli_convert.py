"""``nearfar convert``: formats, dialects, joins, bad rows, pipes."""

import subprocess
import sys

import numpy as np
import pytest
from cli_tools import run
from io_tools import assert_same

from nearfar.io import read_triplets, write_triplets
from nearfar.triplets import Triplets


@pytest.fixture
def convert(monkeypatch, capsys, tmp_path):
    """Run the command in a folder; its exit code, what it printed, and what it said."""

    def call(*words):
        monkeypatch.chdir(tmp_path)
        return run(monkeypatch, capsys, "convert", *words)

    return call


@pytest.fixture
def odd(tmp_path):
    answers = Triplets.from_odd_one_out(
        [[0, 1, 2], [3, 1, 0]], ["a,b", "é", "007", 'q"'], statement=["s1", "s2"]
    )
    write_triplets(answers, tmp_path / "odd.csv", dialect="odd-one-out")
    return answers


def test_convert_between_formats(convert, odd):
    assert convert("odd.csv", "answers.parquet") == (0, "", "answers.parquet: 4 answers about 4 objects\n")
    assert_same(read_triplets("answers.parquet"), odd, objects=False)


@pytest.mark.parametrize("dialect", ["canonical", "odd-one-out", "salmon", "next", "tripletTools"])
def test_convert_between_dialects_keeps_statements(convert, odd, dialect):
    assert convert("odd.csv", "x.csv", "--to", dialect)[0] == 0
    assert_same(read_triplets("x.csv"), odd, objects=False, columns=["statement"])


def test_convert_names_the_dialect_of_a_bare_file(convert, tmp_path):
    (tmp_path / "bare.csv").write_text("4,1,2\n")
    code, _, err = convert("bare.csv", "x.csv")
    assert code == 2 and "the columns '4', '1' and '2' are not known" in err
    convert("bare.csv", "x.csv", "--from", "most-central", "-q")
    assert (tmp_path / "x.csv").read_text() == "anchor,near,far,statement\n1,4,2,0\n2,4,1,0\n"


def test_milliseconds_are_written_as_the_shortest_seconds_and_back(convert, tmp_path):
    times = ["1662", "1001", "333", "1662.4", "NA"]
    lines = [f"ann,{time},a,c,b{i},b{i},random,train" for i, time in enumerate(times)]
    header = "worker_id,rt,Center,Left,Right,Answer,sampleAlg,sampleSet"
    (tmp_path / "answers.csv").write_text("\n".join([header, *lines, ""]))
    _, out, _ = convert("answers.csv", "-")
    assert [line.split(",")[4] for line in out.splitlines()[1:]] == ["1.662", "1.001", "0.333", "1.6624", ""]
    _, out, _ = convert("answers.csv", "-", "--to", "tripletTools")
    wanted = ["1662.0", "1001.0", "333.0", "1662.4", ""]
    assert [line.split(",")[1] for line in out.splitlines()[1:]] == wanted


def test_convert_joins_files_and_counts_what_it_dropped(convert, tmp_path):
    (tmp_path / "1.csv").write_text("anchor,near,far,statement\na,b,c,0\na,b,b,1\n")
    (tmp_path / "2.csv").write_text("anchor,near,far,statement\na,b,d,0\n")
    code, _, err = convert("1.csv", "2.csv", "both.jsonl")
    assert code == 2 and "1.csv, line 3: the same object twice" in err
    assert not (tmp_path / "both.jsonl").exists()
    code, _, err = convert("1.csv", "2.csv", "both.jsonl", "--on-bad", "drop")
    assert (code, err) == (0, "both.jsonl: 2 answers about 4 objects, 1 row rejected\n")
    assert np.asarray(read_triplets("both.jsonl").statement).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("odd.csv x.csv --to most-central", "not all answers are most-central statements"),
        ("odd.csv x.csv --to klingon", "dialect: 'klingon' is not known; "),
        (
            "odd.csv",
            "OUT is missing",
        ),
    ],
)
def test_convert_says_why_not(convert, odd, words, said):
    code, _, err = convert(*words.split())
    assert code == 2 and err.startswith(f"nearfar: {said}")


def test_convert_in_a_pipe(tmp_path, odd):
    command = [sys.executable, "-m", "nearfar", "convert", "-", "-", "--format", "jsonl", "-q"]
    done = subprocess.run(command, input=(tmp_path / "odd.csv").read_bytes(), capture_output=True, check=True)
    assert done.stderr == b"" and len(done.stdout.splitlines()) == 4
    (tmp_path / "piped.jsonl").write_bytes(done.stdout)
    assert_same(read_triplets(tmp_path / "piped.jsonl"), odd, objects=False)


def test_convert_warns_of_what_is_lost(convert, odd):
    code, _, err = convert("odd.csv", "x.csv", "--to", "things", "-q")
    assert code == 0 and err.startswith("nearfar: warning: things: ") and "names of objects, statement" in err
