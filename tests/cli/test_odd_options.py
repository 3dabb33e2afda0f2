"""Options that nobody means: one sentence and exit code 2, before memory is taken."""

import os
import shlex
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

import nearfar as nf
from nearfar._tools.memory import available_bytes
from nearfar.cli import main
from nearfar.errors import TooLargeError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers about six objects, and the list of them."""
    folder = tmp_path_factory.mktemp("odd")
    rows = [np.random.default_rng(seed).permutation(6)[:3] for seed in range(60)]
    nf.write_triplets(nf.Triplets.from_array(rows, list("abcdef")), folder / "answers.csv")
    (folder / "objects.txt").write_text("\n".join("abcdef") + "\n")
    return folder


@pytest.fixture
def refused(folder, monkeypatch, capsys):
    """Run a command; what it says when it refuses."""

    def run(*words):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["nearfar", *words])
        with pytest.raises(SystemExit, match=r"^2$"):
            main()
        said = capsys.readouterr().err
        assert "Traceback" not in said
        return said

    return run


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "plan objects.txt -b 9 --people 1000000000",
            "9 questions cannot be dealt out to 1,000,000,000 people",
        ),
        ("plan objects.txt -b 9 --people 999999999999999999999", "9 questions cannot be dealt out to"),
        (f"plan objects.txt -b {'9' * 5000}", "--budget: expected a number of questions"),
        (f"plan objects.txt -b 9 --landmarks {'9' * 5000}", "is not among the 6 objects"),
        ("plan objects.txt -b 9 --people 2 --checks 1000000000", "checks must be an integer from 0 to 1,000"),
        ("map answers.csv -m score -n 100000000000", "coordinates of 6 objects need 14400.0 GB"),
        ("map answers.csv -m score-9 -n 99999999999999999999999", "n_components: 99,999,999,"),
        ("map answers.csv -m score-100000000000", "is not known"),
        ("map answers.csv -m soe-100000000000", "is not known"),
        ("compare answers.csv -m tste-100000000000", "is not known"),
    ],
)
def test_numbers_that_would_take_all_memory_are_refused_before(refused, words, sentence):
    said = refused(*words.split())
    assert sentence in said and said.count("\nnearfar: ") + said.startswith("nearfar: ") == 1


@pytest.mark.parametrize("command", ["map answers.csv", "cluster answers.csv -k 2", "plan objects.txt -b 9"])
def test_a_seed_is_not_negative(refused, command):
    assert "--seed" in refused(*command.split(), "--seed", "-1")


def test_more_coordinates_than_objects_are_zero_where_they_fit():
    rows = [np.random.default_rng(seed).permutation(6)[:3] for seed in range(60)]
    space = nf.fit(nf.Triplets.from_array(rows), "score")
    assert space.map(9).shape == (6, 9) and not space.map(9)[:, 6:].any()
    with pytest.raises(TooLargeError, match="n_components: 10,000,000,000 coordinates of 6 objects"):
        space.map(10**10)


def test_an_embedding_counts_what_its_optimiser_keeps():
    """L-BFGS remembers twenty arrays: coordinates that would fit alone took all memory."""
    rows = [np.random.default_rng(seed).permutation(6)[:3] for seed in range(60)]
    fits_alone = available_bytes() // (6 * 8 * 16)
    with pytest.raises(TooLargeError, match=r"n_components: .* coordinates of 6 objects need"):
        nf.embedding.SOE(n_components=fits_alone).fit(np.array(rows))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no arguments that are not text")
def test_bytes_that_are_not_text_are_shown_or_refused(refused, folder, monkeypatch, capsys):
    odd = os.fsdecode(b"\xff")
    monkeypatch.setattr(
        sys, "argv", ["nearfar", "map", "answers.csv", "-m", "k1", "-o", "m.svg", "--title", odd]
    )
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit, match=r"^0$"):
        main()
    assert (folder / "m.svg").stat().st_size > 2000
    capsys.readouterr()
    (folder / "study.toml").write_text(
        'title = "T"\nobjects = ["a", "b", "c", "d"]\n[questions]\nper_person = 3\nagain = 0\nchecks = 0\n'
    )
    assert refused("ask", "erase", "study.toml", odd).count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="there is no such shell")
@pytest.mark.parametrize(
    ("command", "closed", "code", "said"),
    [
        ("check answers.csv", ">&-", 2, "nearfar: standard output: cannot be written, bad file descriptor"),
        (
            "convert answers.csv -",
            ">&-",
            2,
            "nearfar: standard output: cannot be written, bad file descriptor",
        ),
        ("--help", ">&-", 2, "nearfar: standard output: cannot be written, bad file descriptor"),
        ("convert answers.csv out.csv", ">&-", 0, ""),
        ("check -", "<&-", 2, "nearfar: standard input: is empty"),
        ("check nowhere.csv", "2>&-", 2, ""),
        ("check answers.csv", ">&- 2>&- <&-", 2, ""),
    ],
)
def test_closed_streams_are_no_traceback(folder, command, closed, code, said):
    line = f"{shlex.quote(sys.executable)} -m nearfar {command} {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr


def test_ctrl_c_while_the_commands_are_imported_is_no_traceback(monkeypatch, capsys):
    class Slow(ModuleType):
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "nearfar.cli._app", Slow("_app"))
    with pytest.raises(SystemExit, match=r"^130$"):
        main()
    assert capsys.readouterr().err == "nearfar: stopped; nothing half-written was left behind\n"


@pytest.mark.parametrize(
    "words",
    [
        "map answers.csv -m score -o answers.csv",
        "map answers.csv -m score -o map.csv -o ./answers.csv",
        "tree answers.csv -m score --clusters 2 --members link.csv",
        "compare answers.csv --model score -o answers.csv",
        "report answers.csv -o answers.csv",
        "report answers.csv --json answers.csv",
        "report answers.csv --bundle .",
        "check answers.csv --rejected answers.csv",
        "convert answers.csv answers.csv",
        "convert answers.csv answers.csv link.csv",
        "kernel answers.csv --model k1 --landmarks objects.txt -o objects.txt",
        "map answers.csv -m soe-2 --features a=vectors.csv -o vectors.csv",
        "plan objects.txt --budget 9 -o objects.txt",
        "demo .",
    ],
)
def test_no_file_that_is_read_is_replaced(refused, folder, words):
    if not (folder / "link.csv").exists():
        (folder / "link.csv").symlink_to("answers.csv")
        (folder / "vectors.csv").write_text("\n".join(["object,x", *(f"{name},1" for name in "abcdef")]))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert "another" in refused(*words.split())
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
