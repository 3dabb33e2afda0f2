"""Material: which of two materials looks more like a third (Lagunas et al. 2019)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from nearfar.datasets._dataset import Dataset, Root, find, image_files, open_root
from nearfar.datasets._download import Download, check_counts, obtain
from nearfar.errors import FileError
from nearfar.triplets import Triplets

__all__ = ["fetch_material"]

DOWNLOAD = Download(
    url="https://github.com/mlagunas/material-appearance-similarity/archive/refs/heads/master.zip",
    sha256="f0be4d573829fd5e5a7e7b332989545cbf6584eaf25e2555371703a9264f5937",
    filename="material-appearance-similarity-master.zip",
)
IMAGES = "data/havran1_ennis_298x298_LDR"
COUNTS = {"objects": 100, "questions": 25_801}


def fetch_material(data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Renderings of 100 materials: 25,801 questions, most of them answered by several people.

    The source gives votes per question and not who cast them, so participants are not known and every vote is a
    statement of its own. The authors' training and test questions are joined; ``details["test"]`` marks the
    answers to test questions.

    Parameters
    ----------
    data_dir : folder to look in and to download to, or the archive itself. Default: $NEARFAR_DATA, else the
        user's cache folder. Found there: ``material-appearance-similarity-master/`` or its ``.zip``.

    Raises
    ------
    UnreachableError : not at hand, and the server cannot be reached.
    FileError : wrong checksum, or not the published counts.

    Notes
    -----
    Licence: none stated. Cite: M. Lagunas, S. Malpica, A. Serrano, E. Garces, D. Gutierrez, B. Masia, A
    similarity measure for material appearance, ACM Transactions on Graphics 38(4), 2019.

    Examples
    --------
    ::

        fetch_material().triplets.n_objects  # 100

    >>> fetch_material().triplets  # doctest: +SKIP
    """
    path = obtain(DOWNLOAD, data_dir, ("material-appearance-similarity-master",))
    return _load(path, COUNTS)


def _load(path: Path, counts: dict[str, int]) -> Dataset:
    root = open_root(path)
    files = sorted(image.name for image in find(root, IMAGES).iterdir() if image.name.endswith(".jpg"))
    names = [file.removesuffix(".jpg") for file in files]
    votes = [_votes(find(root, f"data/answers_processed_{half}.json")) for half in ("train", "test")]
    questions = sum(n for _, n in votes)
    triplets = Triplets.from_array(np.concatenate([rows for rows, _ in votes]), names)
    check_counts(triplets, {"objects": counts["objects"]}, path)
    if questions != counts["questions"]:
        raise FileError(
            f"{path}: found {questions:,} questions, the published data has {counts['questions']:,}; "
            "this is not the file it should be",
        )
    test = np.arange(len(triplets)) >= len(votes[0][0])
    images = image_files(root, [f"{IMAGES}/{file}" for file in files], path, "material")
    return Dataset("material", triplets, path, images=images, details={"test": test})


def _votes(file: Root) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.int64]], int]:
    """Triplets of one file and its number of questions.

    ``answers`` has rows (reference, one, other), ``agreement`` the votes for one and for other.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        shown = np.array(data["answers"], dtype=np.int64).reshape(-1, 3)
        votes = np.array(data["agreement"], dtype=np.int64).reshape(-1, 2)
        rows = np.concatenate(
            [np.repeat(shown, votes[:, 0], axis=0), np.repeat(shown[:, [0, 2, 1]], votes[:, 1], axis=0)]
        )
    except (ValueError, KeyError) as error:
        raise FileError(
            f"{file}: expected answers and agreement ({error})",
        ) from error
    return rows, len(shown)
