"""``nearfar plan``: which questions to ask, as a CSV file for any survey tool."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from nearfar.cli._common import Output, Quiet, Seed, session, tell, text_output
from nearfar.errors import FileError, InputError

if TYPE_CHECKING:
    from nearfar.design import Questions

__all__ = ["plan"]

PICTURES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".tif", ".tiff", ".avif"}
LISTS = {".txt", ".text", ".list", ""}
CHUNK = 100_000


class Kernel(StrEnum):
    """What the questions are for."""

    k1 = "k1"
    k2 = "k2"
    random = "random"


@dataclass(frozen=True)
class _Things:
    """The objects to ask about, and a picture of each or none at all."""

    names: tuple[str, ...]
    images: tuple[str, ...] = ()


def plan(
    objects: Annotated[
        str,
        typer.Argument(
            metavar="OBJECTS",
            help="An object list (objects.csv), a text file with one name a line (or - for standard input), "
            "or a folder of pictures.",
            show_default=False,
        ),
    ],
    kernel: Annotated[
        Kernel,
        typer.Option(
            "--kernel",
            "-k",
            help="k1: is the object nearer to this landmark or to that one? k2: is the landmark nearer to the object "
            "or to another landmark? random: any question about any three objects.",
        ),
    ] = Kernel.k1,
    landmarks: Annotated[
        str,
        typer.Option(
            "--landmarks",
            "-l",
            metavar="N|NAMES",
            help="How many landmarks to draw, or which: names with commas between them, or a file with one a line.",
        ),
    ] = "10",
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            "-b",
            min=1,
            help="Questions in total, spread evenly over the objects. Default: all there are.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    output: Output = "-",
    quiet: Quiet = False,
) -> None:
    """Write the questions to ask: columns anchor, one, other, in random order with random sides.

    Where the objects have pictures, anchor_image, one_image and other_image follow.

    Example:  nearfar plan photos/ --landmarks 12 --budget 3000 -o questions.csv
    """
    from nearfar import design

    with session(quiet):
        things = _things(objects)
        if len(things.names) < 3:
            raise InputError(
                f"{objects}: has {len(things.names)} objects; a question needs three",
            )
        if kernel is Kernel.random:
            if budget is None:
                raise InputError(
                    "--budget: is needed with --kernel random, where all questions are too many to ask",
                )
            questions = design.random_questions(things.names, budget, seed)
            remark = ""
        else:
            marks = _landmarks(landmarks, things.names, seed)
            which: Literal["k1", "k2"] = "k2" if kernel is Kernel.k2 else "k1"
            questions = design.landmark_questions(things.names, marks, which, budget=budget, seed=seed)
            remark = f"; landmarks: {', '.join(marks)}"
        with text_output(output) as stream:
            _write(questions.shuffled(seed), things.images, stream)
        tell(
            f"{len(questions):,} questions about {len(things.names):,} objects"
            + ("" if output == "-" else f" in {output}")
            + remark,
            quiet=quiet,
        )


def _things(given: str) -> _Things:
    path = Path(given)
    if given == "-":
        return _Things(_lines(sys.stdin.read()))
    if path.is_dir():
        return _pictures(path)
    if path.suffix.lower() in LISTS:
        return _Things(_lines(_text(path)))
    from nearfar.io import read_objects

    listed = read_objects(path)
    if not any(listed.images):
        return _Things(listed.names)
    return _Things(listed.names, tuple(_as_listed(image, path.parent) for image in listed.images))


def _as_listed(image: Path | None, folder: Path) -> str:
    """A picture's file as the object list names it: relative to the list."""
    if image is None:
        return ""
    return str(image.relative_to(folder) if image.is_relative_to(folder) else image)


def _pictures(folder: Path) -> _Things:
    from nearfar.labels import order_names

    files = [file.name for file in folder.iterdir() if file.suffix.lower() in PICTURES and file.is_file()]
    if not files:
        raise FileError(
            f"{folder}: has no pictures; expected files ending in {' '.join(sorted(PICTURES))}",
        )
    stems = [Path(file).stem for file in files]
    by_name = dict(zip(stems if len(set(stems)) == len(stems) else files, files, strict=True))
    names = order_names(list(by_name))
    return _Things(tuple(names), tuple(by_name[name] for name in names))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(
            f"{path}: cannot be read, {reason}",
        ) from error
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path}: is not UTF-8 text; expected one name per line",
        ) from error


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _landmarks(given: str, names: Sequence[str], seed: int) -> list[str]:
    """Names of the landmarks: so many drawn, those in a file, or those listed."""
    from nearfar import design

    if given.strip().isdecimal():
        return [names[i] for i in design.random_landmarks(names, min(int(given), len(names)), seed)]
    path = Path(given)
    return list(_lines(_text(path)) if path.is_file() else _lines(given.replace(",", "\n")))


def _write(questions: Questions, images: Sequence[str], stream: TextIO) -> None:
    import csv

    from nearfar.progress import step

    roles = ("anchor", "one", "other")
    table = csv.writer(stream, lineterminator="\n")
    table.writerow([*roles, *(f"{role}_image" for role in roles if images)])
    names = questions.objects
    with step("writing questions", total=len(questions)) as advance:
        for start in range(0, len(questions), CHUNK):
            rows = questions[start : start + CHUNK].array.tolist()
            if images:
                table.writerows([*(names[i] for i in row), *(images[i] for i in row)] for row in rows)
            else:
                table.writerows([names[i] for i in row] for row in rows)
            advance(len(rows))
