"""Every command in the README, the pages and the examples does what it says: it is run."""

import shutil
import subprocess
import sys
import threading
from itertools import pairwise

import pytest
from ask_tools import free_port
from docs_tools import FOUND
from typer.testing import CliRunner

from nearfar.cli._app import all_commands, app

COMMANDS = {path for path, _ in all_commands()}
NAMED = [
    words for words in FOUND if words[0] == "nearfar" and words[1:] in COMMANDS
]  # by its name alone; tests/cli/test_demo.py runs the demo
OURS = [words for words in FOUND if words[0] == "nearfar" and words not in NAMED]
SERVED = [words for words in OURS if words[1] == "ask" and words[2] in ("study.toml", "--demo", "serve")]
pytestmark = pytest.mark.filterwarnings("ignore::nearfar.errors.NearfarWarning")


def test_the_pages_have_commands():
    assert len(OURS) > 40
    assert ("nearfar", "check", "answers.csv") in OURS


@pytest.mark.parametrize("words", [w for w in OURS if w not in SERVED], ids=" ".join)
def test_a_command_of_the_documentation_runs(words, furnished, tmp_path, monkeypatch):
    folder = shutil.copytree(furnished[0], tmp_path / "here")
    monkeypatch.chdir(folder)
    kept = list(words[1:])
    if ">" in kept:  # texts > texts.toml
        kept = kept[: kept.index(">")]
    if kept[:2] == ["ask", "links"]:  # which are for studies that say so
        study = (folder / "study.toml").read_text()
        (folder / "study.toml").write_text(study.replace("[people]", '[people]\nrecruit = "links"'))
    result = CliRunner().invoke(app, kept)
    assert result.exit_code == 0, result.output[-2000:]
    for option, name in pairwise(kept):
        if option in ("-o", "--output", "--json", "--bundle", "--rejected") and not name.startswith("-"):
            assert list(folder.glob(name.replace("{participant}", "*"))), f"{name} was not written"


@pytest.mark.parametrize("words", NAMED, ids=" ".join)
def test_a_command_that_is_only_named_exists(words):
    assert CliRunner().invoke(app, [*words[1:], "--help"]).exit_code == 0


@pytest.mark.parametrize("words", SERVED, ids=" ".join)
def test_a_study_of_the_documentation_is_served(words, furnished, tmp_path):
    folder = shutil.copytree(furnished[0], tmp_path / "here")
    if "--port" not in words:
        words = (*words, "--port", str(free_port()))
    running = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        watch = threading.Timer(120, running.kill)
        watch.start()
        told = next((line for line in running.stderr if "/admin" in line), "")
    finally:
        watch.cancel()
        running.terminate()
        running.wait(30)
        running.stderr.close()
    assert "/admin" in told
