"""What kernel, cluster, map and tree share: their options, Phi from answers, and writing by extension."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfar._tools.terminal import write_out
from nearfar.cli._common import Loaded, load, many, read_lines, readable, tell
from nearfar.cli._model import ModelOption, make_space
from nearfar.errors import FileError, InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "DiagonalChoice",
    "DiagonalOption",
    "ImagesOption",
    "LandmarksOption",
    "ModelOption",
    "OutputsOption",
    "Prepared",
    "TitleOption",
    "Written",
    "check_outputs",
    "draws",
    "find_images",
    "need_answers",
    "need_two",
    "prepare",
    "write_all",
    "write_bytes",
]

TABLES = (".csv", ".tsv", ".parquet", ".npz")
PICTURES = (".png", ".svg", ".pdf")


class DiagonalChoice(StrEnum):
    """What to do with the diagonal of the kernel."""

    shift = "shift"
    keep = "keep"


LandmarksOption = Annotated[
    Path | None,
    typer.Option(
        "--landmarks",
        metavar="FILE",
        help="Landmark objects, one per line: only questions built on them count.",
        show_default=False,
    ),
]
DiagonalOption = Annotated[
    DiagonalChoice,
    typer.Option(
        "--diagonal", help="Take the smallest eigenvalue off the diagonal of the kernel, or keep it."
    ),
]
ImagesOption = Annotated[
    Path | None,
    typer.Option(
        "--images",
        metavar="DIR",
        help="Folder of pictures; a file belongs to the object of its name.",
        show_default=False,
    ),
]
TitleOption = Annotated[
    str, typer.Option("--title", help="Heading of the picture.", callback=readable, show_default=False)
]
OutputsOption = Annotated[
    list[str],
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write, by extension: .csv .tsv .parquet .npz, or a picture .png .svg .pdf; - for CSV on "
        "standard output. May be given several times.",
    ),
]


@dataclass(frozen=True)
class Prepared:
    """The space of answers (on a cluster: Phi), one line about its model, and how to call the objects."""

    loaded: Loaded
    space: Any
    headline: str = ""
    images: dict[int, Path] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the objects, as in the answers."""
        return self.loaded.triplets.objects

    @cached_property
    def display_names(self) -> tuple[str, ...]:
        """What to call the objects in pictures."""
        listing = self.loaded.objects
        return self.names if listing is None else tuple(listing[name].display_name for name in self.names)

    @property
    def groups(self) -> list[str] | None:
        """The group of every object, where the object list has groups."""
        listing = self.loaded.objects
        if listing is None or not any(listing.groups):
            return None
        return [listing[name].group or "no group" for name in self.names]

    def columns(self) -> dict[str, Any]:
        """The columns that every table of objects begins with."""
        first: dict[str, Any] = {"object": list(self.names)}
        if self.display_names != self.names:
            first["display_name"] = list(self.display_names)
        return first


@dataclass(frozen=True)
class Written:
    """What a command can write: a table for people, arrays for programs, a picture; made when asked for.

    table : one frame. arrays : name -> array, for .npz. picture : a matplotlib figure. other : extension -> text.
    """

    table: Callable[[], pl.DataFrame]
    arrays: Callable[[], Mapping[str, Any]]
    picture: Callable[[], Any]
    other: Mapping[str, Callable[[], str]] = field(default_factory=dict)


def draws(outputs: Sequence[str]) -> bool:
    """Whether one of the outputs is a picture."""
    return any(Path(path).suffix.lower() in PICTURES for path in outputs)


def check_outputs(outputs: Sequence[str], others: Sequence[str] = ()) -> None:
    """Fail before the work where a file could not be written after it."""
    known = (*TABLES, *PICTURES, *others)
    for path in outputs:
        if path == "-":
            continue
        suffix = Path(path).suffix.lower()
        if suffix not in known:
            raise FileError(
                f"{path}: {suffix or 'no extension'} is not a format; expected {', '.join(known)}",
            )
        if not Path(os.path.realpath(path)).parent.is_dir():
            raise FileError(
                f"{path}: there is no directory {str(Path(path).parent)!r}; make it first",
            )
        if Path(path).is_dir():
            raise FileError(
                f"{path}: this is a directory; give the name of a file",
            )
        if suffix in PICTURES:
            from nearfar.report.figures import need_matplotlib

            need_matplotlib()


def prepare(
    answers: Sequence[str],
    model: str,
    landmarks: Path | None,
    *,
    diagonal: str = "shift",
    dimensions: int | None = None,
    settings: dict[str, Any] | None = None,
    seed: int = 0,
    images: Path | None = None,
    pictures: bool = False,
    **reading: Any,
) -> Prepared:
    """Read answers and make their space; find pictures of the objects where they will be drawn."""
    loaded = load(answers, **reading)
    need_answers(loaded, answers)
    chosen = None if landmarks is None else read_lines(landmarks, "object")
    made = make_space(
        loaded.triplets, model, landmarks=chosen, dimensions=dimensions, settings=settings, seed=seed
    )
    made.space.diagonal = diagonal  # type: ignore[assignment]
    found = find_images(loaded, images, reading.get("objects")) if pictures else {}
    return Prepared(loaded, made.space, made.headline, found)


def find_images(loaded: Loaded, folder: Path | None, listing: Path | None) -> dict[int, Path]:
    """Index of an object -> its picture: from the folder, else as the object list says."""
    from nearfar.report.pictures import find_pictures

    names = loaded.triplets.objects
    listed = (
        {} if loaded.objects is None else dict(zip(loaded.objects.names, loaded.objects.images, strict=True))
    )
    base = None if listing is None else listing.parent
    found = find_pictures(names, folder, listed=listed, base=base)
    return {x: found.files[name] for x, name in enumerate(names) if name in found.files}


def write_all(outputs: Sequence[str], written: Written, *, quiet: bool) -> None:
    """Write every output by its extension; each appears whole or not at all."""
    for path in outputs:
        suffix = ".csv" if path == "-" else Path(path).suffix.lower()
        if suffix in written.other:
            write_bytes(path, written.other[suffix]().encode())
        elif suffix in PICTURES:
            from nearfar.report.figures import save_figure

            save_figure(written.picture(), path)
        elif suffix == ".npz":
            write_bytes(path, _npz(written.arrays()))
        else:
            write_bytes(path, _table(written.table(), suffix))
        if path != "-":
            tell(f"wrote {path}", quiet=quiet)


def _table(frame: pl.DataFrame, suffix: str) -> bytes:
    stream = io.BytesIO()
    if suffix == ".parquet":
        frame.write_parquet(stream)
    else:
        from nearfar.io.table_writing import guard_formulas

        guard_formulas(frame).write_csv(stream, separator="\t" if suffix == ".tsv" else ",")
    return stream.getvalue()


def _npz(arrays: Mapping[str, Any]) -> bytes:
    import numpy as np

    stream = io.BytesIO()
    np.savez_compressed(
        stream, allow_pickle=False, **{name: np.asarray(value) for name, value in arrays.items()}
    )
    return stream.getvalue()


def write_bytes(path: str, data: bytes) -> None:
    """To a file that appears whole or not at all, or to standard output for ``-``."""
    from nearfar._tools.atomic import atomic_path

    if path == "-":
        write_out(data)
        return
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def need_answers(loaded: Loaded, answers: Sequence[str]) -> None:
    """An error where there is nothing to work on."""
    if len(loaded.triplets):
        return
    where = ", ".join(answers)
    why = "there are no answers in it" if len(answers) == 1 else "there are no answers in them"
    if any(loaded.excluded.values()):
        why = f"no answer is left without those of the {many(len(loaded.excluded), 'participant')} to be excluded"
    raise FileError(
        f"{where}: {why}; at least one is needed",
    )


def need_two(outputs: Sequence[str], dimensions: int) -> None:
    """A picture of a map needs two coordinates."""
    if draws(outputs) and dimensions < 2:
        raise InputError(
            "a picture of the map needs two dimensions; give --dimensions 2",
        )
