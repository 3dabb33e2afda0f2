"""Object lists: the names in the answers, with labels, images and groups for people to see."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from nearfar.errors import FileError, InputError
from nearfar.io._open import open_sheet
from nearfar.io._report import rows_error
from nearfar.io._sheet import FAULTS, mark_blanks, read_with_care
from nearfar.io._source import find_sources
from nearfar.triplets import SoundNames, sound_names

__all__ = ["ObjectList", "as_count", "as_names", "read_objects"]


@dataclass(frozen=True)
class ObjectList:
    """Objects in their order.

    Attributes
    ----------
    names : the names used in the answers.
    labels : what to call them in pictures; the name where nothing else was given.
    images : the file of each one's picture, relative to the list itself; None where there is none.
    groups : the group of each; None where there is none.

    Examples
    --------
    >>> ObjectList.of(["red", "blue"])["blue"].label
    'blue'
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    images: tuple[Path | None, ...]
    groups: tuple[str | None, ...]

    @classmethod
    def of(cls, names: Sequence[str]) -> ObjectList:
        """A list that knows nothing but names."""
        nothing = (None,) * len(names)
        return cls(tuple(names), tuple(names), nothing, nothing)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.names)}

    def __getitem__(self, name: str) -> Entry:
        at = self._places[name]
        return Entry(self.names[at], self.labels[at], self.images[at], self.groups[at])


@dataclass(frozen=True)
class Entry:
    """One object of an object list."""

    name: str
    label: str
    image: Path | None
    group: str | None


def as_names(
    objects: ObjectList | Sequence[str] | str | os.PathLike[str] | int | None,
) -> tuple[str, ...] | None:
    """The names of an object list, however it was given; a number n stands for the names 0 to n - 1.

    >>> as_names(3)
    ('0', '1', '2')
    """
    if objects is None:
        return None
    if isinstance(objects, (int, np.integer)):
        return SoundNames(map(str, range(as_count(objects) or 0)))
    if isinstance(objects, ObjectList):
        return objects.names
    if isinstance(objects, (str, os.PathLike)):
        return read_objects(objects).names
    return sound_names(objects)


def as_count(objects: object) -> int | None:
    """How many objects there are where a number was given in place of their names; None where not."""
    if not isinstance(objects, (int, np.integer)):
        return None
    if objects < 0:
        raise InputError(
            f"objects: {objects} is no number of objects; expected 0 or more",
        )
    return int(objects)


def read_objects(path: str | os.PathLike[str]) -> ObjectList:
    """Read an object list: column ``object``, optional ``label``, ``image``, ``group``; any table format.

    Parameters
    ----------
    path : the file; images are taken relative to it.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "objects.csv"
    >>> _ = file.write_text("object,label,group\\n007,Bond,spies\\n008,,spies\\n")
    >>> listed = read_objects(file)
    >>> listed.names, listed.labels
    (('007', '008'), ('Bond', '008'))
    """
    source = find_sources(path)[0]
    sheet = open_sheet(source)
    at = sheet.header.find("object")
    if at is None:
        raise FileError(
            f"{source.name}: column 'object' is missing (it has {', '.join(sheet.header.cells)}); "
            "expected object, and if you like label, image, group",
        )
    sheet, cells, faults = read_with_care(
        sheet, True, lambda s: s.scan(True).with_columns(**mark_blanks(len(s.header)))
    )
    if faults is not None and len(faults):
        table = faults.select(pl.lit(sheet.name).alias("file"), *FAULTS)
        raise rows_error(sheet, table, len(cells) + len(faults))
    kept = cells.filter(~pl.col("blank"))
    columns: dict[str, list[str | None]] = {}
    for role in ("object", "label", "image", "group"):
        found = sheet.header.find(role)
        columns[role] = [None] * len(kept) if found is None else kept[f"c{found}"].cast(pl.String).to_list()
    names = _sound_names(source.name, columns["object"])
    folder = Path(source.name).parent if isinstance(source.data, Path) else Path()
    return ObjectList(
        tuple(names),
        tuple(label or name for label, name in zip(columns["label"], names, strict=True)),
        tuple(folder / image if image else None for image in columns["image"]),
        tuple(group or None for group in columns["group"]),
    )


def _sound_names(source: str, cells: list[str | None]) -> list[str]:
    seen: set[str] = set()
    for number, name in enumerate(cells, start=1):
        wrong = "is blank" if name is None or not name.strip() else "is there twice" if name in seen else None
        if name is None or wrong is not None:
            raise FileError(
                f"{source}: object {number} ({name or ''!r}) {wrong}; expected a name of its own for every object",
            )
        seen.add(name)
    return [name for name in cells if name is not None]
