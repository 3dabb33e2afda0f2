"""The ``nearfar`` application: every command is a function in a file of the same name, read when it is called.

Its ``--help`` is short: typer writes <bool> behind a flag, braces, and a line for each default.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from nearfar import __version__

COMMANDS = (
    "check", "convert", "plan", "kernel", "cluster", "map", "tree", "dimensions", "compare", "report", "demo", "ask", "help",
)  # fmt: skip
METAVARS: dict[Any, str] = {int: "N", float: "X", str: "TEXT"}


class _Plain:
    """What has plain flags and arguments."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters as ``--help`` shows them: no types where they say nothing, defaults within the text."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            elif param.param_type_name == "argument":
                param.display_type_rich = lambda ctx: None
            elif param.metavar is None:
                kind = getattr(param, "type_descriptor", None)  # not in every version of typer
                param.metavar = METAVARS.get(getattr(kind, "annotation", None))
            if param.show_default and not isinstance(param.default, bool) and param.default is not None:
                if param.default not in ("-", ["-"]):  # the text says what it is
                    param.help += f" Default: {param.default}."
                param.show_default = False
        return params


class Command(_Plain, TyperCommand):
    """A command with plain flags and arguments."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line; an argument of several words says itself which of them may come again."""
        pieces = (piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx))
        return [piece.removesuffix("...") if " " in piece else piece for piece in pieces]


class Group(_Plain, TyperGroup):
    """A group of commands with plain flags."""


class App(typer.Typer):
    """An application of such commands."""

    def __init__(self, *, cls: type[TyperGroup] = Group, **settings: Any) -> None:
        names = {"help_option_names": ["-h", "--help"]}
        plain: Any = {"no_args_is_help": True, "pretty_exceptions_enable": False}
        super().__init__(cls=cls, context_settings=names, rich_markup_mode="markdown", **plain, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Register a function as a command."""
        return super().command(name, **{"cls": Command, **settings})


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
