"""What ``--help`` shows, and what short options mean, over all commands."""

from collections import defaultdict

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from nearfar.cli._app import app


def commands(command, path=()):
    """Every command and group with its path."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


ALL = list(commands(get_command(app)))


def test_there_are_commands_to_look_at():
    assert len(ALL) > 15
    assert ("ask", "serve") in [path for path, _ in ALL]


@pytest.mark.parametrize("path", [path for path, _ in ALL], ids=" ".join)
def test_a_flag_is_shown_without_a_value(path):
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"}).stdout
    assert "--help" in shown
    assert "bool" not in shown.lower()


def test_a_short_option_means_one_thing():
    meanings = defaultdict(set)
    for _, command in ALL:
        for param in command.params:
            for short in (name for name in param.opts if len(name) == 2):
                meanings[short].add(max(param.opts, key=len))
    assert meanings["-k"] == {"--clusters"}
    assert {short: names for short, names in meanings.items() if len(names) > 1} == {}
