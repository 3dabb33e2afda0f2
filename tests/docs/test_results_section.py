"""The tutorial about a results section: its numbers are those that its commands print, and its commands print them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs_tools import ROOT

FOLDER = ROOT / "examples" / "tutorials"
PAGE = (FOLDER / "t7_results_section.md").read_text()
STEPS = re.findall(r"^```sh\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"−?\d[\d,]*(?:\.\d+)?")


def numbers(text):
    return [float(found.replace(",", "").replace("−", "-")) for found in NUMBER.findall(text)]


def flat(text):
    return " ".join(text.split())


def test_every_number_of_the_section_is_printed_by_a_command():
    section = PAGE[PAGE.index("> **Results.**") :]
    section = re.sub(r"!\[.*?\}|Figure \d|et al\., \d{4}|Tutorial \d", "", section, flags=re.DOTALL)
    printed = {value for _, output in STEPS for value in numbers(output)}
    said = numbers(re.sub(r"\w+-\d+", "", section))
    assert len(said) > 25 and [value for value in said if value not in printed] == []


def test_every_figure_of_the_section_is_drawn_by_a_command():
    drawn = re.findall(r"-o (figure\d)\.png", " ".join(command for command, _ in STEPS))
    assert re.findall(r"\(t7_(figure\d)\.png\)", PAGE) == drawn == ["figure1", "figure2", "figure3"]


def test_the_commands_print_what_the_page_shows(shared_data, tmp_path, monkeypatch):
    if not shutil.which("sed") or not shutil.which("grep"):
        pytest.skip("the page uses sed and grep")
    from PIL import Image

    shutil.copy(shared_data / "car" / "survey_data.csv", tmp_path / "cars.csv")
    shutil.copytree(shared_data / "car" / "images", tmp_path / "images")
    monkeypatch.setenv("NEARFAR_CACHE", str(tmp_path / "choices"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    for command, shown in STEPS:
        done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
        printed = flat(done.stdout + done.stderr)
        assert NUMBER.sub("#", printed) == NUMBER.sub("#", flat(shown))
        # another processor may round the last digit otherwise
        assert numbers(printed) == pytest.approx(numbers(shown), rel=0.01, abs=0.11)
    for number in (1, 2, 3):
        with (
            Image.open(tmp_path / f"figure{number}.png") as new,
            Image.open(FOLDER / f"t7_figure{number}.png") as kept,
        ):
            assert new.size == pytest.approx(kept.size, abs=3)
