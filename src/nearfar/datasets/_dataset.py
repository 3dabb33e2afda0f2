"""What a loader of crowd answers returns, and how it looks into a folder or a zip archive alike."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nearfar.datasets._download import writable_folder
from nearfar.errors import FileError
from nearfar.triplets import Triplets

__all__ = ["Dataset", "find", "image_files", "open_root"]

Root = Path | zipfile.Path


@dataclass(frozen=True, eq=False)
class Dataset:
    """Answers of a published study.

    Parameters
    ----------
    name : short name, e.g. "food".
    triplets : the answers; statements, participants and seconds are set where the source has them.
    source : the file or folder they were read from.
    groups : one class name per object, or empty where none is published.
    images : one picture per object, in the order of the objects, or empty where none is at hand.
    set_aside : reason -> how many rows of the source were no answers.
    details : whatever else the source says about the objects.

    Examples
    --------
    >>> found = Dataset("mine", Triplets.from_array([[0, 1, 2]], ["fig", "plum", "lime"]), Path("mine.csv"))
    >>> found.name, found.triplets, found.groups
    ('mine', Triplets(1 answers, 3 objects), ())
    """

    name: str
    triplets: Triplets
    source: Path
    groups: tuple[str, ...] = ()
    images: tuple[Path, ...] = ()
    set_aside: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)


def open_root(path: Path) -> Root:
    """A folder as it is, a zip archive as a tree of its members."""
    if path.is_dir():
        return path
    if not zipfile.is_zipfile(path):
        raise FileError(
            f"{path}: expected a folder or a zip archive",
        )
    return zipfile.Path(path)


def find(root: Root, name: str, *more: str) -> Root:
    """The first of some relative names that exists below root or below its only folder."""
    below = [child for child in root.iterdir() if child.is_dir()]
    for folder in (root, *below):
        for wanted in (name, *more):
            candidate = folder.joinpath(*wanted.split("/"))
            if candidate.exists():
                return candidate
    raise FileError(
        f"{root}: has no {name}",
    )


def image_files(root: Root, names: list[str], path: Path, name: str) -> tuple[Path, ...]:
    """Files of the images ``names`` (relative) below root, the contents of ``path``.

    Those of an archive are taken out into a folder NAME-images beside it. Empty where an image is missing or
    cannot be taken out: pictures are welcome, not needed.
    """
    try:
        found = [find(root, image) for image in names]
        if not isinstance(root, zipfile.Path):
            return tuple(Path(str(image)) for image in found)
        store = writable_folder(path.parent) / f"{name}-images"
        store.mkdir(exist_ok=True)
        files = [store / image.name for image in found]
        for image, file in zip(found, files, strict=True):
            if not file.exists():
                file.write_bytes(image.read_bytes())
    except (FileError, OSError):
        return ()
    return tuple(files)
