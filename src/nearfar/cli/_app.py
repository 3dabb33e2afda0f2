"""The ``nearfar`` application: every command is a function in a file of the same name, read when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command

from nearfar import __version__
from nearfar.cli._help import App, Group

COMMANDS = (
    "check", "convert", "plan", "kernel", "cluster", "map", "tree", "dimensions", "compare", "report", "demo", "ask", "help",
)  # fmt: skip


class _Commands(Group):
    """The commands, each read from its file when it is asked for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": dict.fromkeys(COMMANDS)})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name."""
        return _load(cmd_name) if cmd_name in COMMANDS else None


def _load(name: str) -> Any:
    """A command, or a group of commands, from its file."""
    made = getattr(importlib.import_module(f"nearfar.cli.{name}"), name)
    if isinstance(made, App):
        return get_command(made)
    alone = App(add_completion=False)
    alone.command(name)(made)
    return get_command(alone)


app = App(
    name="nearfar",
    cls=_Commands,
    help="Kernels, clusters, maps and trees from answers of the form 'A is nearer to B than to C'.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nearfar {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="The version."),
) -> None:
    """Read answers, compute, write: see  nearfar COMMAND --help  for an example of each."""


def all_commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group of commands with its path, the application itself first."""
    yield (), get_command(app)
    for name in COMMANDS:
        command = _load(name)
        yield (name,), command
        for inner, below in getattr(command, "commands", {}).items():
            yield (name, inner), below
