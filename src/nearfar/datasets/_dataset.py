"""What a loader of crowd answers returns, and how it looks into a folder, a zip archive or an NPZ file."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.datasets._download import writable_folder
from nearfar.errors import FileError
from nearfar.triplets import Triplets

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
    set_aside : reason -> how many rows of the source were not answers.
    details : whatever else the source says about the objects.

    Examples
    --------
    >>> data = Dataset("mine", Triplets.from_array([[0, 1, 2]], ["fig", "plum", "lime"]), Path("mine.csv"))
    >>> data.name, data.triplets, data.groups
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
        raise FileError(f"{path}: expected a folder or a zip archive")
    return zipfile.Path(path)


def find(root: Root, *names: str) -> Root:
    """The first of some relative names that exists below root or below one of its folders."""
    for folder in (root, *(child for child in root.iterdir() if child.is_dir())):
        for name in names:
            if (candidate := folder.joinpath(*name.split("/"))).exists():
                return candidate
    raise FileError(f"{root}: has no {names[0]}")


def image_files(root: Root, names: list[str], path: Path, name: str) -> tuple[Path, ...]:
    """Files of the images ``names`` (relative) below root, the contents of ``path``.

    Those of an archive are taken out into a folder NAME-images beside it. Empty where an image is missing or
    cannot be taken out: pictures are welcome, not needed.
    """
    try:
        images = [find(root, image) for image in names]
        if not isinstance(root, zipfile.Path):
            return tuple(Path(str(image)) for image in images)
        store = writable_folder(path.parent) / f"{name}-images"
        store.mkdir(exist_ok=True)
        files = [store / image.name for image in images]
        for image, file in zip(images, files, strict=True):
            if not file.exists():
                file.write_bytes(image.read_bytes())
    except (FileError, OSError):
        return ()
    return tuple(files)


def read_npz(path: Path, *keys: str) -> dict[str, NDArray[Any]]:
    """Arrays of an NPZ file, never unpickled; a missing one is an error."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in keys}
    except (OSError, ValueError, KeyError) as error:
        raise FileError(f"{path}: expected an NPZ file with {', '.join(keys)} ({error})") from error


def check_counts(triplets: Triplets, published: Mapping[str, int], where: object, **more: int) -> None:
    """Raise where a data set does not have the counts it was published with.

    Known counts: ``objects``, ``answers``, ``statements``, ``unique``, ``contradictions`` (questions that got both
    answers), and those given as ``more``.
    """
    counts = {
        "objects": triplets.n_objects,
        "answers": len(triplets),
        "statements": len(set(triplets.statement_ids.tolist())),
    } | more
    if {"unique", "contradictions"} & set(published):
        unique = triplets.unique().triplets
        counts["unique"] = len(unique)
        counts["contradictions"] = len(unique) - len(set(unique.question_ids.tolist()))
    for name, wanted in published.items():
        if counts[name] != wanted:
            found = f"found {counts[name]:,} {name}, the published data has {wanted:,}"
            raise FileError(f"{where}: {found}; this is not the file it should be")
