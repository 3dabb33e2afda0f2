"""What ``--help`` shows, and what short options mean, over all commands."""

from collections import defaultdict

import pytest
from typer.testing import CliRunner

from nearfar.cli._app import all_commands, app

ALL = list(all_commands())


def test_the_list_of_commands_says_what_the_commands_say():
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout
    for path, command in ALL:
        if len(path) == 1:
            assert " ".join(command.help.split("\n")[0].split()) in " ".join(shown.split())


@pytest.mark.parametrize("path", [path for path, _ in ALL], ids=" ".join)
def test_help_has_an_example_and_flags_without_a_value(path):
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"}).stdout
    assert "--help" in shown
    assert "bool" not in shown.lower()
    assert not path or f"nearfar {path[0]}" in shown.partition("Example")[2]


@pytest.mark.parametrize("path", [path for path, _ in ALL], ids=" ".join)
def test_help_fits_on_a_tall_screen(path):
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "100"}).stdout.splitlines()
    assert len(shown) <= 68
    assert max(map(len, shown)) <= 100


def test_what_is_used_most_stands_first_and_columns_are_explained_elsewhere():
    shown = CliRunner().invoke(app, ["map", "--help"], env={"COLUMNS": "100"}).stdout
    assert shown.index("--output") < shown.index("--dimensions") < shown.index("--dialect")
    assert shown.index("─ Options") < shown.index("─ Reading the answers") < shown.index("─ More objects")
    assert "nearfar help columns" in shown and "choice_from_0" not in shown
    topic = CliRunner().invoke(app, ["help", "columns"]).stdout
    assert "choice_from_0" in topic and len(topic.splitlines()) <= 24


def test_a_short_option_means_one_thing():
    meanings = defaultdict(set)
    for _, command in ALL:
        for param in command.params:
            for short in (name for name in param.opts if len(name) == 2):
                meanings[short].add(max(param.opts, key=len))
    assert meanings["-k"] == {"--clusters"}
    assert {short: names for short, names in meanings.items() if len(names) > 1} == {}
