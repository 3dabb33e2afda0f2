"""The ``nearfar`` application: every command is a function in a file of the same name, read when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command

from nearfar import __version__
from nearfar.cli._help import App, Group

__all__ = ["COMMANDS", "all_commands", "app"]

COMMANDS = {  # the first line of each one's help, so that listing them reads none of their files
    "check": "Tell what was read: objects, answers, contradictions, participants, repeats, coverage, and what was no answer.",
    "convert": "Read answers and write them in another format or dialect; several files are joined, statements kept apart.",
    "plan": "Say how many questions to ask, or write the questions to ask.",
    "kernel": "Compute the kernel matrix: how alike every two objects were answered about.",
    "cluster": "Sort the objects into clusters by kernel k-means.",
    "map": "Put the objects on a map: alike ones lie close together.",
    "tree": "Grow a tree of the objects by agglomerative linkage on distances in the space of the model.",
    "compare": "Judge kernels, maps and embeddings by how many answers they predict that they were not fitted on.",
    "report": "Make one HTML page from answers: verdict, map, tree, clusters, data quality, learning curve, methods.",
    "demo": "Make the answers of twenty simulated people about a hundred colours, and the report of them.",
    "help": "Explain what is too long for the help of an option.",
    "ask": "Collect answers: serve a study file to people, and watch live whether the answers are enough.",
}


class _Commands(Group):
    """The commands: placeholders that carry one line of help each, until one is called."""

    listing = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command itself; its placeholder while commands are only listed."""
        if cmd_name not in self.commands or self.listing:
            return self.commands.get(cmd_name)
        return _load(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands by their placeholders."""
        self.listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self.listing = False


def _load(name: str) -> Any:
    """A command, or a group of commands, from its file."""
    found = getattr(importlib.import_module(f"nearfar.cli.{name}"), name)
    if not isinstance(found, App):
        alone = App(add_completion=False)
        alone.command(name)(found)
        found = alone
    return get_command(found)


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
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Read answers, compute, write: see  nearfar COMMAND --help  for an example of each."""


def _placeholder() -> None:
    raise NotImplementedError("the command itself takes the place of this one before it is called")


for _name, _summary in COMMANDS.items():
    app.command(_name, help=_summary)(_placeholder)


def all_commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group of commands with its path, the application itself first."""
    yield (), get_command(app)
    for name in COMMANDS:
        yield from _within(_load(name), (name,))


def _within(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _within(inner, (*path, name))
