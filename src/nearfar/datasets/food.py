"""Food: which dishes taste alike (Wilber et al. 2014)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from nearfar.datasets._dataset import Dataset, Root, find, image_files, open_root
from nearfar.datasets._download import Download, check_counts, obtain, read_npz
from nearfar.errors import FileError
from nearfar.triplets import Triplets
from nearfar.triplets.ids import Ids

__all__ = ["fetch_food"]

DOWNLOAD = Download(
    url="https://osf.io/download/6aa16bb1813a28b1e43f09bb/",
    sha256="18f5e210174dfdbf6a7b4ed7538cf8ba53fd65e0cbe193519231b8ab4ea8fc62",
    filename="food100-dataset.zip",
)
COUNTS = {"objects": 100, "answers": 250_320, "unique": 190_376, "contradictions": 9_349}


def fetch_food(data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Photos of 100 dishes: 250,320 answers, of which 190,376 are different.

    Crowd workers saw one dish and a grid of others and picked those that taste most like it; each picked dish
    is nearer than each one left. A statement is one grid screen, so it gives several triplets at once.
    ``seconds`` is the time of the whole screen.

    Parameters
    ----------
    data_dir : folder to look in and to download to, or the archive itself. Default: $NEARFAR_DATA, else the
        user's cache folder. Found there: ``food/triplets.npz``, ``food100-dataset/``, ``food100-dataset.zip``.

    Raises
    ------
    UnreachableError : not at hand, and the server cannot be reached.
    FileError : wrong checksum, or not the published counts.

    Notes
    -----
    Licence: the photos are copyrighted and shared under educational fair use; nothing is said about the
    answers. Cite: M. Wilber, I. Kwak, S. Belongie, Cost-effective HITs for relative similarity comparisons,
    HCOMP 2014 (arXiv:1404.3291).

    Examples
    --------
    ::

        fetch_food().triplets  # Triplets(250320 answers, 100 objects, 243 participants)

    >>> fetch_food().triplets  # doctest: +SKIP
    """
    path = obtain(DOWNLOAD, data_dir, ("food/triplets.npz", "food100-dataset"))
    return _load(path, COUNTS)


def _load(path: Path, counts: dict[str, int]) -> Dataset:
    images: tuple[Path, ...] = ()
    if path.suffix == ".npz":
        triplets = _from_npz(path)
    else:
        root = open_root(path)
        triplets = _from_screens(root) if _has_screens(root) else _from_lines(root)
        images = image_files(root, list(triplets.objects), path, "food")
    check_counts(triplets, counts, path)
    return Dataset("food", triplets, path, images=images)


def _from_npz(path: Path) -> Triplets:
    data = read_npz(path, "triplets", "names", "statement", "participant", "time_ms")
    return Triplets.from_array(
        data["triplets"],
        data["names"].tolist(),
        statement=data["statement"],
        participant=data["participant"],
        seconds=data["time_ms"] / 1000,
    )


def _has_screens(root: Root) -> bool:
    try:
        find(root, "raw-json")
    except FileError:
        return False
    return True


def _from_screens(root: Root) -> Triplets:
    """The raw answers: every screen gives near x far; catch trials are left out, as the authors do."""
    rows: list[tuple[str, str, str]] = []
    ids: list[tuple[int, int, float]] = []
    for number, (worker, screen) in enumerate(_screens(root)):
        near = sorted(set(screen["near_answer"]))
        far = sorted(set(screen["images"]) - set(near))
        rows += [(screen["probe"], n, f) for n, f in product(near, far)]
        ids += [(number, worker, screen["timer"] / 1000)] * (len(near) * len(far))
    statement, participant, seconds = np.array(ids).reshape(-1, 3).T
    return _named(rows).replace(
        statement=Ids.encode(statement.astype(np.int64)),
        participant=Ids.encode(participant.astype(np.int64)),
        seconds=seconds,
    )


def _screens(root: Root) -> Iterator[tuple[int, dict[str, Any]]]:
    files: list[Any] = [file for file in find(root, "raw-json").iterdir() if file.name.endswith(".json")]
    for file in sorted(files, key=lambda file: str(file.name)):
        for hit in json.loads(file.read_text(encoding="utf-8")):
            for screen in hit["HIT_screens"]:
                if not screen["is_catchtrial"]:
                    yield hit["worker_id"], screen


def _from_lines(root: Root) -> Triplets:
    """The list of triplets alone. It was written screen by screen, so a run of rows with one anchor is taken
    as one statement: two screens may be joined, none is cut."""
    text = find(root, "all-triplets.csv").read_text(encoding="utf-8")
    rows = [tuple(cell.strip() for cell in line.split(";")) for line in text.splitlines() if line.strip()]
    bad = next((i for i, row in enumerate(rows) if len(row) != 3), None)
    if bad is not None:
        raise FileError(
            f"{root}, line {bad + 1}: expected three image names separated by ;",
        )
    triplets = _named(rows)
    changes = np.flatnonzero(triplets.anchor[1:] != triplets.anchor[:-1]) + 1
    starts = np.zeros(len(triplets), dtype=np.int64)
    starts[changes] = 1
    return triplets.replace(statement=Ids.encode(np.cumsum(starts)))


def _named(rows: list[tuple[str, ...]] | list[tuple[str, str, str]]) -> Triplets:
    names = sorted({name for row in rows for name in row})
    index = {name: i for i, name in enumerate(names)}
    return Triplets.from_array([[index[name] for name in row] for row in rows], names)
