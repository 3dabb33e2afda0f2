"""What commands share before they read: the options that several take, progress and warnings on stderr, remarks."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from nearfar._tools.terminal import printable
from nearfar.errors import NearfarWarning

__all__ = [
    "METHOD",
    "READING",
    "Diagonal",
    "Given",
    "OnBad",
    "OutputOption",
    "many",
    "session",
    "takes",
    "tell",
]

READING = ("answers", "dialect", "column", "objects", "on_bad", "exclude", "quiet")
METHOD = (*READING, "output", "model", "landmarks", "diagonal", "title", "seed")


class OnBad(StrEnum):
    """What to do with a row that is not an answer."""

    error = "error"
    drop = "drop"


class Diagonal(StrEnum):
    """What to do with the diagonal of the kernel."""

    shift = "shift"
    keep = "keep"


def _readable(title: str) -> str:
    """A heading without what no font and no page can show; bytes that are not UTF-8 stand as escapes."""
    return printable(title)


OutputOption = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - for standard output.")
]


@dataclass(frozen=True, kw_only=True)
class Given:
    """The shared options as they were given; those that a command does not take have their defaults."""

    answers: Annotated[
        list[str],
        typer.Argument(
            metavar="ANSWERS",
            help="Files of answers (.csv .tsv .jsonl .parquet .npz, also .gz or .zst), or - for standard input; "
            "several are joined.",
        ),
    ]
    output: Annotated[
        list[str],
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write, by extension: .csv .tsv .parquet .npz, or a picture .png .svg .pdf; - for CSV on "
            "standard output. May be given several times.",
        ),
    ] = ("-",)  # type: ignore[assignment]  # typer makes a list of it
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="What turns answers into a space: auto, the model that predicts held-out answers best; a kernel (k1, "
            "k2, k1+k2, score), its PCA (score-5), or an embedding (soe-8, tste-2, ckl-5, ste-3, gnmds-2).",
        ),
    ] = "auto"
    landmarks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Landmark objects, one per line: only questions built on them count."
        ),
    ] = None
    diagonal: Annotated[
        Diagonal,
        typer.Option(help="Take the smallest eigenvalue off the diagonal of the kernel, or keep it."),
    ] = Diagonal.shift
    images: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of pictures; a file belongs to the object of its name."),
    ] = None
    title: Annotated[
        str,
        typer.Option(
            help="Heading of the picture or page.",
            callback=_readable,
            show_default=False,
        ),
    ] = ""
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|FILE",
            help="Compare groups of people: a column of the answers that names each participant's group, or a table "
            "with the columns participant and group.",
        ),
    ] = None
    design: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How questions were chosen, where it is known: adaptive, or blocked (booklets). Accuracies then speak of "
            "such questions only.",
        ),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Fixes everything random.")] = 0
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            "-d",
            metavar="NAME",
            help="What the columns mean: canonical, odd-one-out, most-central, salmon, tripletTools, next, things. "
            "Default: recognised by the header.",
        ),
    ] = None
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME", help="What a column means, once per column; see  nearfar help columns."
        ),
    ] = None
    objects: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Object list: column object, optional display_name, image, group."),
    ] = None
    on_bad: Annotated[
        OnBad, typer.Option(help="A row that is not an answer: stop with an error, or drop it and count.")
    ] = OnBad.error
    exclude: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Participants to leave out, one per line, by name or by the pseudonym of a report whose key (a file "
            "that ends in .key) lies beside this file or here.",
        ),
    ] = None
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="CLUSTER",
            help="Work on Dask: local or local:WORKERS for processes of this machine, or the address of a scheduler, "
            "such as tcp://10.0.0.1:8786. Answers are then Parquet or CSV files that all workers see.",
        ),
    ] = None
    scratch: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep the features in files of this folder instead of memory, for more objects than memory holds; it "
            "needs room for about two copies of them. Answers are then Parquet or CSV files.",
        ),
    ] = None
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress and no remarks; warnings still show.")
    ] = False

    def tell(self, text: str) -> None:
        """A remark on stderr, e.g. what was written; not with ``--quiet``."""
        if text and not self.quiet:
            tell(text)


def takes(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take shared options: they come behind its own in ``--help``, and to it as its first argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(signature(command, eval_str=True).parameters.values())[1:]
        hints = get_type_hints(Given, include_extras=True)
        shared = [
            Parameter(each.name, Parameter.POSITIONAL_OR_KEYWORD, annotation=hints[each.name])
            if each.name == "answers"
            else Parameter(
                each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name]
            )
            for each in fields(Given)
            if each.name in names
        ]
        both = Signature(sorted([*own, *shared], key=lambda each: each.default is not Parameter.empty))

        @wraps(command)
        def run(*arguments: Any, **options: Any) -> None:
            bound = both.bind(*arguments, **options)
            bound.apply_defaults()
            values = {"answers": [], **{each.name: bound.arguments.pop(each.name) for each in shared}}
            given = Given(**values)
            with session(given.quiet):
                command(given, **bound.arguments)

        run.__signature__ = both  # type: ignore[attr-defined]
        return run

    return decorate


@contextmanager
def session(quiet: bool = False) -> Iterator[None]:
    """Around the body of a command: progress is drawn and nearfar's warnings are one line each, on stderr."""
    from nearfar._tools.progress import show as draw

    with warnings.catch_warnings():
        warnings.simplefilter("always", NearfarWarning)
        seen: set[str] = set()
        elsewhere = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, NearfarWarning):
                elsewhere(message, category, *where, **more)
            elif str(message) not in seen:
                seen.add(str(message))
                tell(f"nearfar: warning: {message}")

        warnings.showwarning = show
        if quiet or not sys.stderr.isatty():
            yield
            return
        with draw():
            yield


def tell(text: str) -> None:
    """A line on stderr."""
    sys.stderr.write(f"{printable(text)}\n")


def many(number: int, thing: str) -> str:
    """A number of things.

    >>> many(1, "row"), many(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
