"""Files and folders appear whole or not at all, and are on the disk before they have their name."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from nearfar import scale
from nearfar._tools import atomic
from nearfar._tools.atomic import atomic_path
from nearfar.cli import main
from nearfar.errors import FileError
from nearfar.report import make_report
from nearfar.triplets import Triplets

NO_SIGNALS = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals that end a process politely")


@pytest.fixture
def order(monkeypatch, tmp_path):
    """What is synced and renamed there, in turn; numba renames files of its cache meanwhile."""
    seen = []

    def watched(what, function):
        def call(*paths):
            if Path(paths[-1]).is_relative_to(tmp_path):
                seen.append((what, Path(paths[-1]).name))
            function(*paths)

        return call

    monkeypatch.setattr(atomic, "_sync", watched("sync", atomic._sync))
    monkeypatch.setattr(os, "replace", watched("name", os.replace))
    monkeypatch.setattr(os, "rename", watched("name", os.rename))
    return seen


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, order):
    with atomic_path(tmp_path / "a.txt") as path:
        path.write_text("whole")
    assert [what for what, _ in order] == [
        "sync",
        "name",
        "sync",
    ]  # the last one: the folder that holds the name
    assert order[0][1].endswith(".tmp.a.txt") and order[1][1] == "a.txt"


def test_a_folder_is_on_the_disk_before_it_has_its_name(tmp_path, order):
    with atomic_path(tmp_path / "k.zarr") as path:
        (path / "c").mkdir(parents=True)
        (path / "c" / "0").write_text("tile")
        (path / "zarr.json").write_text("{}")
    assert {"c", "0", "zarr.json"} < {name for what, name in order[:-2] if what == "sync"}
    assert order[-2:] == [("name", "k.zarr"), ("sync", tmp_path.name)]


def test_a_report_and_a_kernel_in_zarr_are_on_the_disk_before_they_have_their_names(tmp_path, order):
    rows = np.array([np.random.default_rng(seed).permutation(6)[:3] for seed in range(200)])
    answers = Triplets.from_array(rows, n_objects=6)
    make_report(answers).write(tmp_path / "report.html")
    assert [what for what, _ in order] == ["sync", "name", "sync"]
    order.clear()
    with scale.scratch(tmp_path):
        scale.kernel_matrix(answers, "score", to=tmp_path / "K.zarr")
    assert order[-2] == ("name", "K.zarr")
    assert {"zarr.json", "0"} <= {name for what, name in order if what == "sync"}


def half_done(work):
    work()
    Path("gone").read_text()


def test_what_fails_leaves_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match="gone"), atomic_path(tmp_path / "k") as path:
        half_done(path.mkdir)
    with pytest.raises(FileNotFoundError, match="gone"), atomic_path(tmp_path / "a") as path:
        half_done(path.touch)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize(
    "words",
    [
        "convert {} loop.csv",
        "check {} --rejected loop.csv",
        "map {} --model score -o loop.csv",
        "check loop.csv",
        "check {} --objects loop.csv",
        "compare {} --groups loop.csv --model score",
    ],
)
def test_a_link_to_itself_is_written_over_or_refused_in_one_sentence(
    answers_file, tmp_path, words, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("loop.csv").symlink_to("loop.csv")
    monkeypatch.setattr(sys, "argv", ["nearfar", *words.format(answers_file).split()])
    with pytest.raises(SystemExit) as end:
        main()
    written = words.endswith(("{} loop.csv", "-o loop.csv", "--rejected loop.csv"))
    assert end.value.code == (0 if written else 2)
    assert Path("loop.csv").is_symlink() != written
    refusals = [line for line in capsys.readouterr().err.splitlines() if "loop.csv: cannot be read" in line]
    assert len(refusals) == (0 if written else 1)
    assert os.listdir() == ["loop.csv"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
def test_a_full_disk_names_the_file(tmp_path, number):
    with (
        pytest.raises(FileError, match=r"a\.csv: cannot be written, .+; choose another path"),
        atomic_path(tmp_path / "a.csv"),
    ):
        raise OSError(number, os.strerror(number))
    assert list(tmp_path.iterdir()) == []


def test_faults_of_other_files_are_their_own(tmp_path):
    with pytest.raises(FileNotFoundError, match="other"), atomic_path(tmp_path / "a.csv"):
        (tmp_path / "other").read_text()


@pytest.fixture(scope="module")
def answers_file(tmp_path_factory):
    """Answers about points in the plane."""
    path = tmp_path_factory.mktemp("study") / "answers.csv"
    rng = np.random.default_rng(0)
    rows = [rng.permutation(30)[:3] for _ in range(3000)]
    path.write_text("anchor,near,far\n" + "".join(f"o{a},o{b},o{c}\n" for a, b, c in rows))
    return path


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("kind", ["csv", "parquet", "npz", "xlsx", "jsonl.gz"])
def test_a_device_without_room_is_one_sentence(answers_file, kind):
    done = nearfar("convert", str(answers_file), "/dev/full", "--format", kind)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
    assert done.stderr.startswith("nearfar: /dev/full: cannot be written, no space left on device")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("words", [["check", "{}"], ["convert", "{}", "-"]], ids=lambda words: words[0])
def test_standard_output_without_room_is_one_sentence(answers_file, words):
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "nearfar", *(word.format(answers_file) for word in words)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "nearfar: standard output: cannot be written, no space left on device; make room there\n"
    )


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (MemoryError("Unable to allocate 9 GiB"), "there is too little memory (Unable to allocate 9 GiB); "),
        (MemoryError(), "there is too little memory (nothing is left); "),
        (
            PermissionError(13, "Permission denied", "odd\x1b[31m.csv"),
            "odd\\x1b[31m.csv: permission denied\n",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_a_fault_of_the_system_is_one_sentence(fault, sentence, monkeypatch, capsys):
    def app():
        raise fault

    monkeypatch.setattr("nearfar.cli._app.app", app)
    with pytest.raises(SystemExit, match=r"^2$"):
        main()
    said = capsys.readouterr().err
    assert said.startswith(f"nearfar: {sentence}") and said.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limits of a process")
@pytest.mark.parametrize(
    "words",
    [
        "map {} --model score -o map.svg",
        "map {} --model score -o map.npz",
        "kernel {} --model score -o kernel.csv",
        "convert {} out.csv",
        "convert {} out.parquet",
    ],
)
def test_a_file_that_grows_too_large_is_named_and_leaves_nothing(answers_file, tmp_path, words):
    resource = pytest.importorskip("resource")

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))

    done = nearfar(*words.format(answers_file).split(), cwd=tmp_path, preexec_fn=small, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 2, done.stderr
    assert f"nearfar: {words.split()[-1]}: cannot be written, file too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir() if not path.name.endswith(".npz.tmp")] == []


def nearfar(*words, cwd=None, preexec_fn=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "nearfar", *words],
        capture_output=True,
        text=True,
        cwd=cwd,
        preexec_fn=preexec_fn,
        env=os.environ | environment,
    )


COMMAND = """
import os, signal, time, weakref
from nearfar import cli
from nearfar._tools.atomic import atomic_path
import nearfar.cli._app as application

def app():
    {}
application.app = app
cli.main()
"""
WRITE = COMMAND.format("""
    with atomic_path("a.csv") as path, atomic_path("k.zarr") as folder:
        path.write_text("half")
        folder.mkdir()
        print("writing", flush=True)
        for _ in range(600):  # a signal between two instructions would be noticed after one long sleep only
            time.sleep(0.1)
""")
# a compiled module takes the end of the program for a fault of its own
WHILE_IMPORTED = COMMAND.format("""
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except SystemExit as end:
        raise ImportError("initialization failed") from end
""")
# it was lost, under load: a server that had been told to stop ran on
WHILE_NOTHING_CAN_BE_RAISED = COMMAND.format("""
    dropped = type("Dropped", (), {})()
    watch = weakref.ref(dropped, lambda gone: os.kill(os.getpid(), signal.SIGTERM))
    del dropped
    time.sleep(60)
""")


@NO_SIGNALS
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_signals_leave_no_temporary_file(tmp_path, name, code):
    number = getattr(signal, name)
    started = subprocess.Popen(
        [sys.executable, "-c", WRITE],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # whatever the tests themselves run under
    )
    assert started.stdout.readline() == "writing\n"
    assert len(list(tmp_path.iterdir())) == 2
    started.send_signal(number)
    _, said = started.communicate(timeout=60)
    assert said == "nearfar: stopped; nothing half-written was left behind\n"
    assert started.returncode == code
    assert list(tmp_path.iterdir()) == []


@NO_SIGNALS
@pytest.mark.parametrize(
    "code", [WHILE_IMPORTED, WHILE_NOTHING_CAN_BE_RAISED], ids=["imported", "not raised"]
)
def test_a_signal_at_an_odd_moment_is_neither_lost_nor_a_traceback(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert done.stderr == "nearfar: stopped; nothing half-written was left behind\n"
    assert done.returncode == 143


@NO_SIGNALS
def test_nohup_is_respected(tmp_path):
    """A command that was told to outlive its terminal does."""
    started = subprocess.Popen(
        [sys.executable, "-c", WRITE.replace("range(600)", "range(10)")],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert started.stdout.readline() == "writing\n"
    started.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    started.communicate(timeout=60)
    assert started.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "k.zarr"]
