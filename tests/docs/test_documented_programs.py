"""What the documentation tells readers to type besides ``nearfar``: make, pip and ``python -m`` really run.

Benchmarks run small (tests/small_benchmarks.py), simulations and experiments on the rows that are kept, ``make`` in a folder that borrows
this environment. ``.ci/run`` itself runs the targets that would run these tests again, and the workflows those that
need a network; here their recipes run with a stand-in for uv.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs_tools import PAGES, ROOT, SCRIPTS, commands
from small_benchmarks import SMALL, run_small

FOUND = sorted({words for page in [*PAGES, *SCRIPTS] for words in commands(page)})
MODULES = sorted({words[2] for words in FOUND if words[:2] == ("python", "-m")})
EXPERIMENTS = [words[3:] for words in FOUND if words[:3] == ("python", "-m", "experiments")]
MADE = [words[1:] for words in FOUND if words[0] == "make"]
INSTALLED = [words for words in FOUND if words[0] == "pip"]
BY_CI = {"lint", "types", "test", "doctest", "docs"}
"""Targets that ``.ci/run`` runs."""
ELSEWHERE = {"caddy"}
"""Programs of others that this project does not install; the file that caddy is given is an example of nearfar.ask.serve."""
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
pytestmark = pytest.mark.filterwarnings("ignore::nearfar.errors.NearfarWarning")


def test_no_other_program_is_named():
    assert {words[0] for words in FOUND} == {"nearfar", "make", "pip", "python"} | ELSEWHERE
    assert len(MODULES) > 15 and len(MADE) > 8 and len(INSTALLED) > 3
    assert {words[1] for words in FOUND if words[0] == "python"} == {"-m"}


# ---------------------------------------------------------------- python -m


def test_every_benchmark_has_a_small_size():
    assert set(MODULES) - {"experiments"} <= set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_of_the_documentation_runs(name, tmp_path, monkeypatch, capfd, quick):
    if sys.platform == "win32" and name in ("benchmarks.ask", "benchmarks.ask_faults"):
        pytest.skip("servers are forked")
    run_small(name, tmp_path, monkeypatch)
    kept = [path for path in tmp_path.rglob("*") if path.suffix in (".json", ".md")]
    assert kept or capfd.readouterr().out.strip()


def test_the_tables_of_the_documentation_are_those_of_the_benchmarks(tmp_path, monkeypatch):
    run_small("benchmarks.honesty.tables", tmp_path, monkeypatch)
    assert (tmp_path / "honesty.md").read_text() == (ROOT / "docs" / "honesty.md").read_text()


@pytest.mark.parametrize("words", EXPERIMENTS, ids=" ".join)
def test_experiments_of_the_documentation_run(words, tmp_path, monkeypatch, capsys):
    """On the rows that are kept, so that nothing is computed; tests/experiments draw the pages, and compute small rows."""
    from experiments import __main__ as command

    written = []
    monkeypatch.setattr(command, "write_pages", lambda *given, **named: written.append(given) or [])
    monkeypatch.setattr(command, "run", lambda chosen, *given, **named: _kept(chosen, written))
    assert command.main([*words, "--output", str(tmp_path)]) == 0
    chosen, pages = written
    assert chosen and pages
    assert set(words) - {"--quick", "--peers"} <= set(chosen)
    assert ("peers" in chosen) == ("--peers" in words)
    assert "0 cells computed" in capsys.readouterr().err


def _kept(chosen, written):
    """What a run finds: the names of what was chosen, each with rows that are kept."""
    from experiments._runner import Outcome

    written.append([experiment.name for experiment in chosen])
    rows = ROOT / "experiments" / "results"
    stored = sum((rows / f"{experiment.name}.jsonl").read_text().count("\n") for experiment in chosen)
    return Outcome(computed=0, stored=stored, absent=0, failed=0)


# ---------------------------------------------------------------- pip


@pytest.mark.parametrize("words", INSTALLED, ids=" ".join)
def test_what_is_installed_can_be(words):
    """As far as without a network: the project is built, and has the extras that are asked for."""
    pytest.importorskip("pip", reason="environments of uv have none")
    pytest.importorskip("hatchling", reason="it builds the project; the extra dev brings it")
    assert words[1] == "install" and len(words) == 3
    done = subprocess.run(
        [sys.executable, "-m", *words, "--dry-run", "--no-deps", "--no-build-isolation"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Would install nearfar" in done.stdout
    assert "does not provide the extra" not in done.stdout + done.stderr


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


def make(folder, *words):
    done = subprocess.run(
        ["make", "-C", str(folder), *words], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_make
def test_ci_runs_what_must_hold():
    """And ``make check`` is exactly what it runs, the site apart."""
    ran = {word for line in _lines(".ci/run") if line.startswith("make ") for word in line.split()[1:]}
    assert ran == BY_CI
    check = re.search(r"^check: (.+)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)[1].split()
    assert set(check) | {"docs"} == BY_CI


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
@pytest.mark.parametrize("target", ["bench", "paper"])
def test_make_runs_a_module(target, borrowed):
    module = {"bench": "benchmarks", "paper": "experiments"}[target]
    (borrowed / module).mkdir()
    (borrowed / module / "__main__.py").write_text("print('this is', __package__)\n")
    assert f"this is {module}" in make(borrowed, target)


def test_workflows_run_the_targets_that_need_a_network():
    """dist and workflows build and install; they are run before a release, and by the workflows."""
    text = "\n".join(path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    for target in ("dist", "workflows", "test-lowest", "test-newest"):
        assert re.search(rf"make .*\b{target}\b|\[.*\b{target}\b.*\]", text), target


def test_every_target_of_the_documentation_is_run_somewhere():
    here = {"demo", "contract", "test", "test-lowest", "test-newest", "bench", "paper"}
    assert {words[0] for words in MADE} <= here | BY_CI | {"check", "dist", "workflows"}
