"""What commands share before they read: the options that several take, progress and warnings on stderr, remarks."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import Field, dataclass, field, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from nearfar._tools.terminal import printable
from nearfar.errors import NearfarWarning

TABLE = ("dialect", "column", "wide", "sheet", "where", "join_names")
READING = ("answers", *TABLE, "objects", "on_bad", "exclude", "key", "quiet")
PRINTED = ("title", "width", "height", "font", "dpi", "no_labels")
METHOD = (*READING, "output", "model", "features", "landmarks", "diagonal", *PRINTED, "seed", "no_cache")
FIRST = ("answers", "output", "model")  # in ``--help``; what several commands share stands last

FILES = "Reading the answers"
KERNELS = EMBEDDINGS = "Kernels, embeddings"
LARGE = "More objects than memory holds"
PRINT = "Pictures"


def option(metavar: str | None, help: str, panel: str | None = None, *names: str, **more: Any) -> Any:
    """An option of typer's, for ``Annotated``."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **more)


OPTIONS: dict[str, Any] = {
    "answers": typer.Argument(
        metavar="ANSWERS",
        help="Files: .csv .tsv .txt .jsonl .json (each also .gz .zst) .xlsx .parquet .npz .npy .zip study.db; - is standard input.",
    ),
    "output": option(
        "FILE", "Several: .csv .tsv .parquet .npz .png .svg .pdf; - for stdout.", None, "--output", "-o"
    ),
    "model": option(
        "NAME",
        "auto (best on held-out answers), a kernel (k1, k2, k1+k2, score), its PCA (score-5), or an embedding "
        "(soe-8, ste-3, tste-2, ckl-5, gnmds-2, nonneg-12).",
        None,
        *("--model", "-m"),
    ),
    "landmarks": option("FILE", "One per line; other questions do not count.", KERNELS),
    "diagonal": option(None, "Subtract the smallest eigenvalue, or not.", KERNELS),
    "images": option("DIR", "Pictures, files named as objects."),
    "title": option(
        None, "Heading of the picture or page.", callback=lambda title: printable(title), show_default=False
    ),
    "width": option("LENGTH", "85mm, 3.3in, single (85mm), double (178mm).", PRINT),
    "height": option("LENGTH", "Default: what suits it, a page at most.", PRINT),
    "font": option("FONT", "Family, size in points, or both: 'Arial 7'.", PRINT),
    "dpi": option(None, "Resolution of .png.", PRINT, min=30, max=2400),
    "no_labels": option(None, "No names of objects.", PRINT, "--no-labels"),
    "no_cache": option(None, "Choose the model again, and remember nothing.", None, "--no-cache"),
    "features": option("[NAME=]FILE", "Vectors per object: .npy .npz, or a table with a column object."),
    "groups": option(
        "COLUMN|FILE",
        "Compare groups of participants: a column of the answers, or a table with columns participant and group.",
    ),
    "design": option("NAME", "adaptive or blocked (booklets): accuracy then applies to such questions only."),
    "seed": option(None, "Fixes everything random.", min=0),
    "dialect": option("NAME", "Layout, e.g. salmon, things; see docs/files.md.", FILES, "--dialect", "-d"),
    "column": option("ROLE=NAME", "What a column means; see  nearfar help columns.", FILES),
    "wide": option("TEXT|FILE", "Questions as columns: '{anchor}: {option} or {option}?'", FILES),
    "sheet": option("NAME", "Sheet of a workbook. Default: the first.", FILES),
    "where": option("CONDITION", "Only such rows, e.g. 'block = main' or 'block != training'.", FILES),
    "join_names": option(None, "Names that differ by case or blanks are one object.", FILES, "--join-names"),
    "objects": option("FILE", "Object list: object, optional display_name, image, group.", FILES),
    "on_bad": option(None, "Rows that are not answers: stop, or drop.", FILES),
    "exclude": option("FILE", "People to leave out, one name or pseudonym per line.", FILES),
    "key": option("FILE", "Key of the pseudonyms. Default: a .key beside page or list.", FILES),
    "dask": option("CLUSTER", "Use Dask: local, local:WORKERS or an address.", LARGE),
    "scratch": option("DIR", "Keep features in this folder.", LARGE),
    "quiet": option(None, "No progress and no remarks; warnings still show.", None, "--quiet", "-q"),
}
OutputOption = Annotated[str, option("FILE", "Where to write; - for stdout.", None, "--output", "-o")]


@dataclass(frozen=True, kw_only=True)
class Given:
    """The shared options as they were given; those that a command does not take have their defaults."""

    answers: list[str]
    output: list[str] = field(default_factory=lambda: ["-"])
    model: str = "auto"
    landmarks: Path | None = None
    diagonal: Literal["shift", "keep"] = "shift"
    images: Path | None = None
    title: str = ""
    width: str = "double"
    height: str | None = None
    font: str = "8"
    dpi: int = 300
    no_labels: bool = False
    no_cache: bool = False
    features: list[str] | None = None
    groups: str | None = None
    design: str | None = None
    seed: int = 0
    quiet: bool = False
    dialect: str | None = None
    column: list[str] | None = None
    wide: str | None = None
    sheet: str | None = None
    where: list[str] | None = None
    join_names: bool = False
    objects: Path | None = None
    on_bad: Literal["error", "drop"] = "error"
    exclude: Path | None = None
    key: Path | None = None
    dask: str | None = None
    scratch: Path | None = None

    def tell(self, text: str) -> None:
        """A remark on stderr, e.g. what was written; not with ``--quiet``."""
        if text and not self.quiet:
            tell(text)


def takes(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take shared options, which come to it together as its first argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(signature(command, eval_str=True).parameters.values())[1:]
        hints, wanted = get_type_hints(Given), [each for each in fields(Given) if each.name in names]
        shared = {each.name: _parameter(each, hints[each.name]) for each in wanted}
        listed = sorted([*own, *shared.values()], key=lambda each: each.name not in FIRST)
        both = Signature(sorted(listed, key=lambda each: each.default is not Parameter.empty))

        @wraps(command)
        def run(*arguments: Any, **options: Any) -> None:
            bound = both.bind(*arguments, **options)
            bound.apply_defaults()
            given = Given(**{"answers": [], **{name: bound.arguments.pop(name) for name in shared}})
            with session(given.quiet):
                command(given, **bound.arguments)

        run.__signature__ = both  # type: ignore[attr-defined]
        return run

    return decorate


def _parameter(each: Field[Any], hint: Any) -> Parameter:
    """A shared option as a parameter of a command."""
    default = Parameter.empty if each.name == "answers" else ["-"] if each.name == "output" else each.default
    annotation = Annotated[hint, OPTIONS[each.name]]
    return Parameter(each.name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


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
