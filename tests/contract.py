"""The contract: every public name with its parameters, and every option of every command, as text.

python tests/contract.py        write tests/contract.txt again, after a change that is meant
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any

import nearfar
from nearfar.cli._app import all_commands

FILE = Path(__file__).with_name("contract.txt")
ROOMS = (
    "datasets",
    "design",
    "embedding",
    "errors",
    "evaluate",
    "features",
    "io",
    "kernel",
    "methods",
    "metrics",
    "plot",
    "progress",
    "report",
    "scale",
    "simulate",
    "space",
)


def contract() -> str:
    """Names first, then the command line."""
    lines = ["# Python", "", *_names(), "", "# Shell", "", *_options()]
    return "\n".join(lines) + "\n"


def _names() -> Iterator[str]:
    for name in sorted(nearfar.__all__):
        yield from _described(f"nearfar.{name}", getattr(nearfar, name))
    for room in ROOMS:
        module = getattr(nearfar, room)
        for name in sorted(module.__all__):
            if getattr(nearfar, name, None) is not getattr(module, name):
                yield from _described(f"nearfar.{room}.{name}", getattr(module, name))


def _described(name: str, value: Any) -> Iterator[str]:
    if inspect.ismodule(value):
        yield f"{name}: module"
    elif inspect.isclass(value):
        own = {key for kind in value.__mro__ if kind.__module__.startswith("nearfar") for key in vars(kind)}
        yield f"class {name}{_signature(value) if own & {'__init__', '__new__'} else ''}"
        for member, attribute in sorted(_members(value)):
            yield f"    {member}{_signature(attribute) if callable(attribute) else ''}"
    elif callable(value):
        yield f"{name}{_signature(value)}"
    else:
        yield f"{name}: {'UnionType' if isinstance(value, UnionType) else type(value).__name__}"  # 3.14: Union


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and attributes that nearfar's classes define; what scikit-learn adds is its own affair."""
    own = {
        name for origin in kind.__mro__ if origin.__module__.startswith("nearfar") for name in vars(origin)
    }
    for name in own:
        attribute = inspect.getattr_static(kind, name)
        if not name.startswith("_") and not type(attribute).__module__.startswith("sklearn"):
            yield (
                name,
                attribute.__func__ if isinstance(attribute, (classmethod, staticmethod)) else attribute,
            )


def _signature(value: Any) -> str:
    """Parameters and their defaults; types are checked by mypy, and their spelling differs between Pythons."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()
    ]
    text = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _options() -> Iterator[str]:
    for path, command in all_commands():
        yield " ".join(["nearfar", *path])
        for parameter in command.params:
            names = "/".join(parameter.opts)
            if names not in ("--install-completion", "--show-completion"):
                yield f"    {names if parameter.param_type_name == 'option' else parameter.name.upper()}"


if __name__ == "__main__":
    FILE.write_text(contract(), encoding="utf-8")
    print(f"wrote {FILE}")
