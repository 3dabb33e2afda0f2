"""What commands share before they read: the options that several take, progress and warnings on stderr, remarks."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

import typer

from nearfar._tools.terminal import printable
from nearfar.errors import InputError, NearfarWarning

TABLE = ("dialect", "column", "wide", "sheet", "where", "join_names")
READING = ("answers", *TABLE, "objects", "on_bad", "exclude", "key", "quiet")
PRINTED = ("title", "width", "height", "font", "dpi", "no_labels")
METHOD = (*READING, "output", "model", "features", "landmarks", "diagonal", *PRINTED, "seed", "no_cache")
WRITTEN = ("output", "members", "rejected", "json")  # what is not read
FIRST = ("answers", "output", "model")  # in ``--help``; what several commands share stands last

FILES = "Reading the answers"
KERNELS = "Kernels"
LARGE = "More objects than memory holds"
PRINT = "Pictures"
Texts: TypeAlias = list[str] | None


def option(metavar: str | None, help: str, panel: str | None = None, default: Any = None, **more: Any) -> Any:
    """A field of ``Given`` that is an option of typer's; ``short`` : its second name."""
    kept: dict[str, Any] = {"default": default, "short": more.pop("short", ())}
    kept["typer"] = {"metavar": metavar, "help": help, "rich_help_panel": panel, **more}
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=kept)
    return field(default=default, metadata=kept)


def own(default: Any, help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """An option that one command has; a flag names itself, or typer adds one that switches it off."""
    return typer.Option(default, *names, help=help, rich_help_panel=panel, **more)


OutputOption = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - for stdout.")
]


@dataclass(frozen=True, kw_only=True)
class Given:
    """The shared options as they were given; those that a command does not take have their defaults."""

    answers: list[str] = option(
        "ANSWERS",
        "Files: .csv .tsv .txt .jsonl .json (each also .gz .zst) .xlsx .parquet .npz .npy .zip study.db; - is standard input.",
        default=[],
    )
    output: list[str] = option(
        "FILE", "Several: .csv .tsv .parquet .npz .png .svg .pdf; - for stdout.", default=["-"], short=["-o"]
    )
    model: str = option(
        "NAME",
        "auto (best on held-out answers), a kernel (k1, k2, k1+k2, score), its PCA (score-5), or an embedding "
        "(soe-8, ste-3, tste-2, ckl-5, gnmds-2, nonneg-12).",
        default="auto",
        short=["-m"],
    )
    landmarks: Path | None = option("FILE", "One per line; other questions do not count.", KERNELS)
    diagonal: Literal["shift", "keep"] = option(
        None, "Subtract the smallest eigenvalue, or not.", KERNELS, "shift"
    )
    images: Path | None = option("DIR", "Pictures, files named as objects.")
    title: str = option(
        None,
        "Heading of the picture or page.",
        None,
        "",
        callback=lambda title: printable(title),
        show_default=False,
    )
    width: str = option("LENGTH", "85mm, 3.3in, single (85mm), double (178mm).", PRINT, "double")
    height: str | None = option("LENGTH", "Default: what suits it, a page at most.", PRINT)
    font: str = option("FONT", "Family, size in points, or both: 'Arial 7'.", PRINT, "8")
    dpi: int = option(None, "Resolution of .png.", PRINT, 300, min=30, max=2400)
    no_labels: bool = option(None, "No names of objects.", PRINT, False)
    no_cache: bool = option(None, "Choose the model again, and remember nothing.", None, False)
    features: Texts = option("[NAME=]FILE", "Vectors per object: .npy .npz, or a table with a column object.")
    groups: str | None = option(
        "COLUMN|FILE",
        "Compare groups of participants: a column of the answers, or a table with columns participant and group.",
    )
    design: str | None = option(
        "NAME", "adaptive or blocked (booklets): accuracy then applies to such questions only."
    )
    seed: int = option(None, "Fixes everything random.", None, 0, min=0)
    quiet: bool = option(None, "No progress and no remarks; warnings still show.", None, False, short=["-q"])
    dialect: str | None = option(
        "NAME", "Layout, e.g. salmon, things; see docs/files.md.", FILES, short=["-d"]
    )
    column: Texts = option("ROLE=NAME", "What a column means; see  nearfar help columns.", FILES)
    wide: str | None = option("TEXT|FILE", "Questions as columns: '{anchor}: {option} or {option}?'", FILES)
    sheet: str | None = option("NAME", "Sheet of a workbook. Default: the first.", FILES)
    where: Texts = option("CONDITION", "Only such rows, e.g. 'block = main' or 'block != training'.", FILES)
    join_names: bool = option(None, "Names that differ by case or blanks are one object.", FILES, False)
    objects: Path | None = option("FILE", "Object list: object, optional display_name, image, group.", FILES)
    on_bad: Literal["error", "drop"] = option(
        None, "Rows that are not answers: stop, or drop.", FILES, "error"
    )
    exclude: Path | None = option("FILE", "People to leave out, one name or pseudonym per line.", FILES)
    key: Path | None = option("FILE", "Key of the pseudonyms. Default: a .key beside page or list.", FILES)
    dask: str | None = option("CLUSTER", "Use Dask: local, local:WORKERS or an address.", LARGE)
    scratch: Path | None = option("DIR", "Keep features in this folder.", LARGE)

    def tell(self, text: str) -> None:
        """A remark on stderr, e.g. what was written; not with ``--quiet``."""
        if text and not self.quiet:
            tell(text)


def takes(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take shared options, which come to it together as its first argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(signature(command, eval_str=True).parameters.values())[1:]
        hints, wanted = get_type_hints(Given), [each for each in fields(Given) if each.name in names]
        shared = {each.name: _parameter(each.name, hints[each.name], each.metadata) for each in wanted}
        listed = sorted([*own, *shared.values()], key=lambda each: each.name not in FIRST)
        both = Signature(sorted(listed, key=lambda each: each.default is not Parameter.empty))

        @wraps(command)
        def run(*arguments: Any, **options: Any) -> None:
            bound = both.bind(*arguments, **options)
            bound.apply_defaults()
            _check_distinct(bound.arguments)
            given = Given(**{name: bound.arguments.pop(name) for name in shared})
            with session(given.quiet):
                command(given, **bound.arguments)

        run.__signature__ = both  # type: ignore[attr-defined]
        return run

    return decorate


def _check_distinct(arguments: Mapping[str, Any]) -> None:
    """No command replaces a file that it reads: a slip of the hand would cost the answers."""
    several = {name: each if isinstance(each, list) else [each] for name, each in arguments.items()}
    paths = {name: [str(x) for x in each if isinstance(x, (str, Path))] for name, each in several.items()}
    files, folders = paths.pop("files", []), paths.pop("bundle", [])  # of convert the last is written
    written = [*files[-1:], *chain.from_iterable(paths.pop(name, []) for name in WRITTEN)]
    for path in (*files[:-1], *chain.from_iterable(paths.values())):
        file = path if os.path.isfile(path) else path.partition("=")[2]
        there = os.path.realpath(file)
        if os.path.isfile(file) and there in map(os.path.realpath, written):
            raise InputError(f"{file}: is read by this command, which would replace it; write another file")
        if os.path.isfile(file) and os.path.dirname(there) in map(os.path.realpath, folders):
            where = "lies in the folder of --bundle, whose files are replaced"
            raise InputError(f"{file}: {where}; name another")


def _parameter(name: str, hint: Any, kept: Mapping[str, Any]) -> Parameter:
    """A shared option as a parameter of a command."""
    made = typer.Option(f"--{name.replace('_', '-')}", *kept["short"], **kept["typer"])
    default = kept["default"]
    if name == "answers":
        made, default = typer.Argument(**kept["typer"]), Parameter.empty
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=Annotated[hint, made])


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
        with nullcontext() if quiet or not sys.stderr.isatty() else draw():
            yield


def tell(text: str) -> None:
    """A line on stderr."""
    sys.stderr.write(f"{printable(text)}\n")
