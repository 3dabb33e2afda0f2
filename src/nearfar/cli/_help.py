"""Commands whose ``--help`` is short: typer writes <bool> behind a flag, braces, and a line for each default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

METAVARS = {int: "N", float: "X", str: "TEXT"}


def _plain(params: list[Any]) -> list[Any]:
    """Parameters as ``--help`` shows them: no types where they say nothing, defaults within the text."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
        elif param.param_type_name == "argument":
            param.display_type_rich = lambda ctx: None
        elif param.metavar is None:
            param.metavar = METAVARS.get(param.type_descriptor.annotation)
        if param.show_default and not isinstance(param.default, bool) and param.default is not None:
            if param.default not in ("-", ["-"]):  # the text says what it is
                param.help += f" Default: {param.default}."
            param.show_default = False
    return params


class _Plain:
    """What has plain flags and arguments."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, ``--help`` included."""
        return _plain(super().get_params(ctx))  # type: ignore[misc]


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
        plain: Any = {
            "no_args_is_help": True,
            "rich_markup_mode": "markdown",
            "pretty_exceptions_enable": False,
        }
        super().__init__(cls=cls, context_settings=names, **plain, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Register a function as a command."""
        return super().command(name, **{"cls": Command, **settings})
