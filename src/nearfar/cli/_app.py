"""The ``nearfar`` application: every command is a function in a file of the same name."""

from __future__ import annotations

import importlib

import typer

import nearfar
from nearfar.cli._help import App

COMMANDS = (
    "check",
    "convert",
    "plan",
    "kernel",
    "cluster",
    "map",
    "tree",
    "compare",
    "report",
    "demo",
)

app = App(
    name="nearfar",
    help="Kernels, clusters, maps and trees from answers of the form 'A is nearer to B than to C'.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nearfar {nearfar.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Read answers, compute, write: see  nearfar COMMAND --help  for an example of each."""


GROUPS = ("ask",)  # commands with commands of their own

for _name in GROUPS:
    app.add_typer(getattr(importlib.import_module(f"nearfar.cli.{_name}"), _name))
for _name in COMMANDS:
    app.command(_name)(getattr(importlib.import_module(f"nearfar.cli.{_name}"), _name))
