"""What a release is made of: one version, a valid citation, a list of changes, and no package index in the texts."""

import re
import tomllib
from pathlib import Path

import pytest

import nearfar

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = (ROOT / "CITATION.cff").read_text()


def test_the_version_stands_in_one_place():
    assert re.fullmatch(r"\d+\.\d+\.\d+", nearfar.__version__)
    assert PROJECT["dynamic"] == ["version"] and "version" not in PROJECT
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["version"]
    assert f'__version__ = "{nearfar.__version__}"\n' in (ROOT / build["path"]).read_text()


def test_the_citation_is_of_this_version():
    assert re.search(r"^version: (.+)$", CITATION, re.MULTILINE)[1] == nearfar.__version__
    assert re.search(r"^license: (.+)$", CITATION, re.MULTILINE)[1] == PROJECT["license"]


def test_the_changes_of_this_version_come_first():
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first[1] == nearfar.__version__


def test_the_newest_python_that_is_named_is_tested():
    named = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: Python :: 3." in line]
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    assert named == re.findall(r'"(3\.\d+)"', re.search(r"^ +python: \[(.+)\]$", workflow, re.MULTILINE)[1])
    assert f">={named[0]}" == PROJECT["requires-python"]


@pytest.mark.parametrize("extra", sorted(set(PROJECT["optional-dependencies"]) - {"dev", "docs"}))
def test_an_extra_is_installed_from_the_checkout(extra):
    """Nothing is published yet, so no sentence names a package on an index."""
    assert f'".[{extra}]"' in (ROOT / "README.md").read_text()
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py")]
    wrong = [path.name for path in files if re.search(r"pip install '?\"?nearfar", path.read_text())]
    assert wrong == []


def test_every_dependency_has_a_floor():
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    listed = [line for group in groups for line in group]
    bare = [line for line in listed if not line.startswith("nearfar[") and ">=" not in line]
    assert bare == []
