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
FIRST = (
    "answers",
    "output",
    "model",
)  # what stands first in ``--help``; what several commands share stands last

FILES = "Reading the answers"
KERNELS = EMBEDDINGS = "Kernels, embeddings"
LARGE = "More objects than memory holds"
PRINT = "Pictures"
OPTIONS: dict[str, Any] = {
    "answers": typer.Argument(
        metavar="ANSWERS",
        help="Files: .csv .tsv .txt .jsonl .json (each also .gz .zst) .xlsx .parquet .npz .npy .zip study.db; - is standard input.",
    ),
    "output": typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Several: .csv .tsv .parquet .npz .png .svg .pdf; - for stdout.",
    ),
    "model": typer.Option(
        "--model",
        "-m",
        metavar="NAME",
        help="auto (best on held-out answers), a kernel (k1, k2, k1+k2, score), its PCA (score-5), or an embedding "
        "(soe-8, ste-3, tste-2, ckl-5, gnmds-2, nonneg-12).",
    ),
    "landmarks": typer.Option(
        metavar="FILE",
        help="One per line; other questions do not count.",
        rich_help_panel=KERNELS,
    ),
    "diagonal": typer.Option(help="Subtract the smallest eigenvalue, or not.", rich_help_panel=KERNELS),
    "images": typer.Option(metavar="DIR", help="Pictures, files named as objects."),
    "title": typer.Option(
        help="Heading of the picture or page.", callback=lambda title: printable(title), show_default=False
    ),
    "width": typer.Option(
        metavar="LENGTH",
        help="85mm, 3.3in, single (85mm), double (178mm).",
        rich_help_panel=PRINT,
    ),
    "height": typer.Option(
        metavar="LENGTH", help="Default: what suits it, a page at most.", rich_help_panel=PRINT
    ),
    "font": typer.Option(
        metavar="FONT", help="Family, size in points, or both: 'Arial 7'.", rich_help_panel=PRINT
    ),
    "dpi": typer.Option(min=30, max=2400, help="Resolution of .png.", rich_help_panel=PRINT),
    "no_labels": typer.Option("--no-labels", help="No names of objects.", rich_help_panel=PRINT),
    "no_cache": typer.Option("--no-cache", help="Choose the model again, and remember nothing."),
    "features": typer.Option(
        metavar="[NAME=]FILE",
        help="Vectors per object, once or more: .npy .npz, or a table with a column object.",
    ),
    "groups": typer.Option(
        metavar="COLUMN|FILE",
        help="Compare groups of participants: a column of the answers, or a table with columns participant and group.",
    ),
    "design": typer.Option(
        metavar="NAME", help="adaptive or blocked (booklets): accuracy then applies to such questions only."
    ),
    "seed": typer.Option(min=0, help="Fixes everything random."),
    "dialect": typer.Option(
        "--dialect",
        "-d",
        metavar="NAME",
        help="Layout, e.g. salmon, things, pile-sort; see docs/files.md.",
        rich_help_panel=FILES,
    ),
    "column": typer.Option(
        metavar="ROLE=NAME", help="What a column means; see  nearfar help columns.", rich_help_panel=FILES
    ),
    "wide": typer.Option(
        metavar="TEXT|FILE",
        help="Questions as columns: '{anchor}: {option} or {option}?'",
        rich_help_panel=FILES,
    ),
    "sheet": typer.Option(
        metavar="NAME", help="Sheet of a workbook. Default: the first.", rich_help_panel=FILES
    ),
    "where": typer.Option(
        metavar="CONDITION",
        help="Only such rows, e.g. 'block = main' or 'block != training'.",
        rich_help_panel=FILES,
    ),
    "join_names": typer.Option(
        "--join-names", help="Names that differ by case or blanks are one object.", rich_help_panel=FILES
    ),
    "objects": typer.Option(
        metavar="FILE",
        help="Object list: object, optional display_name, image, group.",
        rich_help_panel=FILES,
    ),
    "on_bad": typer.Option(help="Rows that are not answers: stop, or drop.", rich_help_panel=FILES),
    "exclude": typer.Option(
        metavar="FILE",
        help="People to leave out, one name or pseudonym per line.",
        rich_help_panel=FILES,
    ),
    "key": typer.Option(
        metavar="FILE",
        help="Key of the pseudonyms. Default: a .key beside page or list.",
        rich_help_panel=FILES,
    ),
    "dask": typer.Option(
        metavar="CLUSTER", help="Use Dask: local, local:WORKERS or an address.", rich_help_panel=LARGE
    ),
    "scratch": typer.Option(metavar="DIR", help="Keep features in this folder.", rich_help_panel=LARGE),
    "quiet": typer.Option("--quiet", "-q", help="No progress and no remarks; warnings still show."),
}
OutputOption = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - for standard output.")
]


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
        hints = get_type_hints(Given)
        shared = {
            each.name: _parameter(each, hints[each.name]) for each in fields(Given) if each.name in names
        }
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
