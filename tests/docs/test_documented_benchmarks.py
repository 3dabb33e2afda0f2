"""Every ``python -m`` of the documentation really runs, in a process of its own: the command as it is written.

Benchmarks get the environment that makes them small, experiments the option ``--quick``; what they compute with is theirs.
"""

import os
import subprocess
import sys

import pytest
from docs_tools import FOUND, NOT_RUN, ROOT

RUN = [words for words in FOUND if words[:2] == ("python", "-m") and " ".join(words) not in NOT_RUN]
BENCHMARKS = [words for words in RUN if words[2].startswith("benchmarks.")]
EXPERIMENTS = [words for words in RUN if words[2] == "experiments"]
SLOW = {
    "python -m experiments",
    "python -m experiments prior",
}
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")


def run(words, **environment):
    """Run a documented command, with the Python of these tests."""
    return subprocess.run(
        [sys.executable, *words[1:]],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | NO_NETWORK | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )


def test_there_are_such_commands():
    assert {" ".join(words) for words in EXPERIMENTS} >= SLOW
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    assert 'NEARFAR_SLOW_TESTS: "1"' in workflow
    assert BENCHMARKS
    assert [words for words in RUN if words not in BENCHMARKS + EXPERIMENTS] == []


@pytest.mark.parametrize("words", BENCHMARKS, ids=" ".join)
def test_a_benchmark_of_the_documentation_runs(words, tmp_path):
    if sys.platform == "win32":
        pytest.skip("benchmarks measure memory as POSIX does")
    done = run(words, NEARFAR_BENCHMARKS_SMALL=str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    kept = [
        path
        for path in tmp_path.rglob("*")
        if path.suffix in (".json", ".jsonl", ".md") and path.stat().st_size
    ]
    assert kept, "a benchmark keeps its rows"
    if words[2] == "benchmarks.honesty.tables":  # it reads the rows that are committed
        assert kept == [tmp_path / "honesty.md"]
        assert kept[0].read_text() == (ROOT / "docs" / "honesty.md").read_text()


@pytest.mark.parametrize("words", EXPERIMENTS, ids=" ".join)
def test_an_experiment_of_the_documentation_runs(words, tmp_path_factory):
    """Where the data is absent it says so and goes on. All write into one folder, so that no cell is computed twice."""
    if " ".join(words) in SLOW and not os.environ.get("NEARFAR_SLOW_TESTS"):
        pytest.skip(
            "NOT RUN HERE: together they take a minute and a half; set NEARFAR_SLOW_TESTS=1, as the workflow test does"
        )
    folder = tmp_path_factory.getbasetemp() / "quick"
    quick = () if "--quick" in words else ("--quick",)
    done = run((*words, *quick, "--output", str(folder), "--jobs", "1"))
    assert done.returncode == 0, done.stderr[-3000:]
    assert " 0 failed" in done.stderr
    pages = [folder / "paper.md", *(folder / "results" / f"paper-{name}.md" for name in ("details", "ours"))]
    assert done.stdout.split() == [str(page) for page in pages]
    for name in words[3:]:
        assert (
            name.startswith("-") or (folder / "results" / f"{name}.jsonl").exists() or "absent" in done.stderr
        )
    assert "quick run" in pages[0].read_text()
