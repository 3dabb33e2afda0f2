"""The objects to ask about: an object list, a text file, standard input or a folder of pictures."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from nearfar.cli._common import read_lines
from nearfar.errors import FileError

__all__ = ["Things", "read_names", "read_things"]

PICTURES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".tif", ".tiff", ".avif"}
LISTS = {".txt", ".text", ".list", ""}


@dataclass(frozen=True)
class Things:
    """The objects to ask about, and a picture of each or none at all."""

    names: tuple[str, ...]
    images: tuple[str, ...] = ()


def read_things(given: str) -> Things:
    """Objects from a folder of pictures, an object list, a text file, or - for standard input."""
    path = Path(given)
    if given == "-":
        return Things(_lines(sys.stdin.read()))
    if path.is_dir():
        return _pictures(path)
    if path.suffix.lower() in LISTS:
        return Things(tuple(read_lines(path, "name")))
    from nearfar.io import read_objects

    listed = read_objects(path)
    if not any(listed.images):
        return Things(listed.names)
    return Things(listed.names, tuple(_as_listed(image, path.parent) for image in listed.images))


def read_names(given: str) -> list[str]:
    """Names in a file, one a line, or listed with commas between them."""
    path = Path(given)
    return read_lines(path, "name") if path.is_file() else list(_lines(given.replace(",", "\n")))


def _as_listed(image: Path | None, folder: Path) -> str:
    """A picture's file as the object list names it: relative to the list."""
    if image is None:
        return ""
    return str(image.relative_to(folder) if image.is_relative_to(folder) else image)


def _pictures(folder: Path) -> Things:
    from nearfar.triplets.ids import order_names

    files = [file.name for file in folder.iterdir() if file.suffix.lower() in PICTURES and file.is_file()]
    if not files:
        raise FileError(
            f"{folder}: has no pictures; expected files ending in {' '.join(sorted(PICTURES))}",
        )
    stems = [Path(file).stem for file in files]
    by_name = dict(zip(stems if len(set(stems)) == len(stems) else files, files, strict=True))
    names = order_names(list(by_name))
    return Things(tuple(names), tuple(by_name[name] for name in names))


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
