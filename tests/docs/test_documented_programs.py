"""What the documentation tells readers to type besides ``nearfar`` and ``python -m``: make, pip and caddy really run.

``make`` runs in a folder that borrows this environment, ``pip`` installs into an environment that borrows its packages.
``.ci/run`` itself runs the targets that would run these tests again. What no test runs as it is written is listed, with the
reason, in ``NOT_RUN`` of docs_tools.py.
"""

import contextlib
import importlib.util
import os
import re
import shutil
import site
import subprocess
import sys
import tarfile
import time
import urllib.request
from pathlib import Path

import pytest
from ask_tools import free_port
from docs_tools import FOUND, NOT_RUN, PAGES, PROGRAMS, ROOT, fences

MADE = [words[1:] for words in FOUND if words[0] == "make"]
INSTALLED = [words for words in FOUND if words[:2] == ("pip", "install")]
BY_CI = {"check", "lint", "types", "test", "doctest", "docs"}
"""Targets that ``.ci/run`` runs."""
HERE = {"demo", "contract", "test", "test-lowest", "test-newest", "bench", "paper"}
"""Targets that are run below."""
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


def test_every_line_of_a_terminal_is_a_command_of_a_known_program():
    for page in PAGES:
        bare = [body for body in fences(page, "") if body.split()[0] in PROGRAMS]
        for line in "\n".join([*fences(page, "sh"), *bare]).splitlines():
            assert not line.strip() or line.split()[0] in PROGRAMS, f"{page.name}: {line}"
    assert {words[0] for words in FOUND} == set(PROGRAMS)
    assert len(MADE) > 8 and len(INSTALLED) > 3
    assert {words for words in FOUND if words[0] == "caddy"} == {("caddy", "run")}
    assert {words[1] for words in FOUND if words[0] == "python"} == {"-m"}


def test_what_is_not_run_is_named_by_the_documentation_and_run_elsewhere():
    written = [" ".join(words) for words in FOUND]
    assert [command for command in NOT_RUN if command not in written] == []
    workflows = "\n".join(path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    for target in [command.removeprefix("make ") for command in NOT_RUN if command.startswith("make ")]:
        assert re.search(rf"make .*\b{target}\b|\[.*\b{target}\b.*\]", workflows), target


# ---------------------------------------------------------------- pip


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """An environment that sees the packages of this one, but into which nothing was installed."""
    pytest.importorskip("pip", reason="environments of uv have none")
    pytest.importorskip("hatchling", reason="it builds the project; the extra dev brings it")
    folder = tmp_path_factory.mktemp("empty") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    own = next(folder.rglob("site-packages"))
    own.joinpath("borrowed.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return folder / ("Scripts" if os.name == "nt" else "bin")


@pytest.mark.parametrize("words", INSTALLED, ids=" ".join)
def test_what_is_installed_can_be(words, empty):
    """Really, without a network: what the project needs must be here, and it is built with what is here."""
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_FORCE_REINSTALL": "0"}
    done = subprocess.run(
        [str(empty / "python"), "-m", *words],
        cwd=ROOT,
        env=os.environ | offline,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Successfully installed nearfar" in done.stdout
    assert "does not provide the extra" not in done.stdout + done.stderr
    said = subprocess.run(
        [str(empty / "nearfar"), "--version"], capture_output=True, text=True, check=True, cwd=empty
    )
    assert re.search(r"\d+\.\d+\.\d+", said.stdout)


# ---------------------------------------------------------------- caddy


def test_caddy_runs_with_the_file_that_is_written(tmp_path):
    """The file as it is written is valid; with this machine in the place of the study's address it lets people through."""
    if shutil.which("caddy") is None:
        pytest.skip("NO CADDY WAS TESTED: caddy is not installed; as root run  sh .ci/caddy  to get it")
    from nearfar.ask.serve import caddyfile

    own = os.environ | {
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    behind, front = free_port(), free_port()
    path = tmp_path / "Caddyfile"
    path.write_text(caddyfile("https://study.example.org", behind))
    valid = subprocess.run(
        ["caddy", "validate"], cwd=tmp_path, env=own, capture_output=True, text=True, check=False
    )
    assert valid.returncode == 0, valid.stderr
    here = f"http://localhost:{front}"
    local = path.read_text().replace("study.example.org", here)
    path.write_text(local.replace("{", "{\n    admin off", 1))
    (tmp_path / "index.html").write_text("behind caddy")
    served = subprocess.Popen(
        [sys.executable, "-m", "http.server", str(behind), "--bind", "127.0.0.1"],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
    )
    running = subprocess.Popen(["caddy", "run"], cwd=tmp_path, env=own, stderr=subprocess.DEVNULL)
    try:
        assert _opened(here + "/index.html") == "behind caddy"
    finally:
        for process in (running, served):
            process.terminate()
            process.wait(30)


def _opened(address):
    """What stands at an address, once it is served."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(600):
        with contextlib.suppress(OSError), opener.open(address, timeout=5) as page:
            return page.read().decode()
        time.sleep(0.1)
    raise TimeoutError(address)


# ---------------------------------------------------------------- make


@pytest.fixture
def borrowed(tmp_path):
    """A checkout whose environments are this one: set up, so that make has nothing to install."""
    for name in ("Makefile", "pyproject.toml", ".ci"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "src").symlink_to(ROOT / "src")
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "contract.py", tmp_path / "tests")
    for name in (".venv", ".venv-python3.13", ".venv-tools"):
        _environment(tmp_path / name)
    return tmp_path


def _environment(folder: Path) -> None:
    """What make expects of an environment: programs that tell what they were called with, and the real python."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    for name in ("nearfar", "python", "uv"):
        program = programs / name
        words = {
            "nearfar": f'exec "{sys.executable}" -m nearfar "$@"',
            "python": f'exec "{sys.executable}" "$@"',
        }
        program.write_text(f"#!/bin/sh\n{words.get(name, UV)}\n")
        program.chmod(0o755)
    (folder / ".ready").touch()


UV = """echo "uv $*"
case $1 in venv) for last; do :; done; mkdir -p "$last/bin"; cp "$(dirname "$0")/python" "$last/bin/python";; esac"""


def make(folder, *words, **environment):
    """Run make, without the variables that a make around these tests hands on."""
    handed_on = ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "PYTHON", "TESTS", "PAPER")
    own = {name: value for name, value in os.environ.items() if name not in handed_on}
    done = subprocess.run(
        ["make", "-C", str(folder), *words],
        env=own | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_make
def test_ci_runs_what_must_hold():
    """And ``make check`` is exactly what it runs, the site apart."""
    words = {word for line in _lines(".ci/run") if line.startswith("make ") for word in line.split()[1:]}
    ran = {word for word in words if word.isalpha()} - {"install"}
    assert ran == BY_CI - {"check"}
    check = re.search(r"^check: (.+)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)[1].split()
    assert set(check) | {"docs"} == ran


def _lines(name):
    return [line.strip() for line in (ROOT / name).read_text().splitlines()]


@needs_make
def test_make_demo(borrowed):
    make(borrowed, "demo")
    assert (borrowed / "demo" / "report.html").stat().st_size > 100_000


@needs_make
def test_make_contract(borrowed):
    make(borrowed, "contract")
    assert (borrowed / "tests" / "contract.txt").read_text() == (ROOT / "tests" / "contract.txt").read_text()


@needs_make
@pytest.mark.parametrize(
    "words", [w for w in MADE if w[0] in ("test", "test-lowest", "test-newest")], ids=" ".join
)
def test_make_test(words, borrowed):
    (borrowed / "tests" / "test_one.py").write_text("def test_one():\n    assert True\n")
    said = make(borrowed, *words, "TESTS=-n 0 -q -p no:cacheprovider tests/test_one.py")
    assert "1 passed" in said
    if words[0] != "test":
        kind = {"test-lowest": "lowest-direct", "test-newest": "highest"}[words[0]]
        assert re.search(rf"uv pip install .*--resolution {kind} .*\.\[dev\]", said)


@needs_make
@pytest.mark.skipif(sys.platform == "win32", reason="benchmarks measure memory as POSIX does")
def test_make_bench(borrowed, tmp_path):
    """Small: see benchmarks/_measure.py."""
    (borrowed / "benchmarks").symlink_to(ROOT / "benchmarks")
    said = make(borrowed, "bench", NEARFAR_BENCHMARKS_SMALL=str(tmp_path / "kept"))
    assert all(f"== {name}" in said for name in ("core", "reading", "methods"))
    assert {path.stem for path in (tmp_path / "kept").glob("*.json")} == {"core", "reading", "methods"}


@needs_make
def test_make_paper(borrowed):
    """Small, and two figures of it: all of it takes an hour."""
    shutil.copytree(
        ROOT / "experiments",
        borrowed / "experiments",
        ignore=shutil.ignore_patterns("results", "quick", "__pycache__"),
    )
    make(borrowed, "paper", "PAPER=--quick figure1 figure2")
    page = (borrowed / "experiments" / "quick" / "results" / "paper-details.md").read_text()
    assert "6 of 6 numbers are the same fractions." in page


def test_the_distributions_are_built_and_hold_what_is_committed(tmp_path):
    """The first half of ``make dist``; the second tries them in environments of their own."""
    pytest.importorskip("hatchling", reason="it builds the project; the extra dev brings it")
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is not a checkout")
    committed = subprocess.run(
        ["git", "-C", str(ROOT), "archive", "HEAD"], capture_output=True, check=True
    ).stdout
    (tmp_path / "committed.tar").write_bytes(committed)
    with tarfile.open(tmp_path / "committed.tar") as archive:
        filtered = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.4 has it
        archive.extractall(tmp_path / "committed", **filtered)
        kept = [member.name for member in archive if member.isfile()]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path / "dist")],
        cwd=tmp_path / "committed",
        capture_output=True,
        check=True,
    )
    (wheel,), (sdist,) = (tmp_path / "dist").glob("*.whl"), (tmp_path / "dist").glob("*.tar.gz")
    spec = importlib.util.spec_from_file_location("dist", ROOT / ".ci" / "dist.py")
    dist = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dist)
    dist.check_contents(wheel, sdist, kept)
    with pytest.raises(SystemExit, match=r"the sdist lacks \['no such file'\]"):
        dist.check_contents(wheel, sdist, [*kept, "no such file"])


def test_every_target_of_the_documentation_is_run_somewhere():
    named = {" ".join(("make", *words)): words[0] for words in MADE}
    assert [
        command for command, target in named.items() if target not in HERE | BY_CI and command not in NOT_RUN
    ] == []
