"""Where data is: at hand in a folder, or fetched once with a checksum. What is in it: counted before use."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.progress import step
from nearfar.errors import FileError, UnreachableError
from nearfar.triplets import Triplets

__all__ = [
    "Download",
    "check_counts",
    "contradicting_pairs",
    "data_folder",
    "obtain",
    "read_npz",
    "writable_folder",
]

VARIABLE = "NEARFAR_DATA"
PATIENCE = 30  # seconds until a silent server counts as absent
READ = 1 << 20


@dataclass(frozen=True)
class Download:
    """A published file: its address, its checksum, and the name it is kept under."""

    url: str
    sha256: str
    filename: str


def data_folder(data_dir: str | os.PathLike[str] | None = None) -> Path:
    """Where data is looked for and kept: ``data_dir``, else $NEARFAR_DATA, else the user's cache folder."""
    given = data_dir if data_dir is not None else os.environ.get(VARIABLE) or None
    if given is not None:
        return Path(given).expanduser()
    import pooch

    return Path(pooch.os_cache("nearfar"))


def writable_folder(folder: Path) -> Path:
    """The folder, made where it is not there; the user's cache folder where it is for reading only."""
    import pooch

    for candidate in (folder, Path(pooch.os_cache("nearfar"))):
        try:
            candidate.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(
                f"{candidate}: cannot be made ({error.strerror}); choose another folder with data_dir or {VARIABLE}",
            ) from error
        # The second test is for root, who may write where nobody is meant to.
        if os.access(candidate, os.W_OK) and candidate.stat().st_mode & 0o222:
            return candidate
    raise FileError(
        f"{folder}: cannot be written to; choose another folder with data_dir or {VARIABLE}",
    )


def obtain(
    download: Download, data_dir: str | os.PathLike[str] | None, at_hand: tuple[str, ...] = ()
) -> Path:
    """The path of a data set: a file given, one of ``at_hand`` in the data folder, or the download.

    Parameters
    ----------
    download : the published file; a copy of it in the data folder is used if its checksum is right.
    data_dir : folder to look in and to download to, or the file itself. Where the folder is for reading only,
        downloads go to the user's cache folder.
    at_hand : other forms of the same data, relative to the folder, the best first.
    """
    folder = data_folder(data_dir)
    if folder.is_file():
        return folder
    for name in at_hand:
        if (folder / name).exists():
            return folder / name
    store = writable_folder(folder)
    for path in (folder / download.filename, store / download.filename):
        if path.exists():
            _check_sum(path, download)
            return path
    return _download(download, store)


def _check_sum(path: Path, download: Download) -> None:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(READ):
                digest.update(chunk)
    except OSError as error:
        raise FileError(
            f"{path}: cannot be read ({error.strerror})",
        ) from error
    if digest.hexdigest() != download.sha256:
        raise FileError(
            f"{path}: checksum is sha256 {digest.hexdigest()}, expected {download.sha256}; "
            "the file is damaged or another one: delete it to have it fetched again",
        )


def _download(download: Download, folder: Path) -> Path:
    import pooch

    path = folder / download.filename
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # a library does not print; progress goes through nearfar._tools.progress
    try:
        with step(f"downloading {download.filename}"):
            pooch.retrieve(
                download.url,
                known_hash=f"sha256:{download.sha256}",
                fname=download.filename,
                path=folder,
                downloader=pooch.HTTPDownloader(timeout=PATIENCE),
            )
    except ValueError as error:
        raise FileError(
            f"{download.url}: the download does not have the checksum sha256 {download.sha256} and was deleted; "
            f"try again later, or put the right file at {path}",
        ) from error
    except OSError as error:
        raise UnreachableError(
            f"{download.url} cannot be reached ({type(error).__name__}); get the file another way and put it at "
            f"{path}, or point {VARIABLE} to a folder that has the data"
        ) from error
    finally:
        logger.setLevel(level)
    return path


def read_npz(path: Path, *keys: str) -> dict[str, NDArray[Any]]:
    """Arrays of an NPZ file, never unpickled; a missing one is an error."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in keys}
    except (OSError, ValueError, KeyError) as error:
        raise FileError(
            f"{path}: expected an NPZ file with {', '.join(keys)} ({error})",
        ) from error


def contradicting_pairs(triplets: Triplets) -> int:
    """How many questions got both answers: pairs (a, i, j) and (a, j, i).

    >>> contradicting_pairs(Triplets.from_array([[0, 1, 2], [0, 2, 1], [0, 2, 1], [1, 0, 2]]))
    1
    """
    unique = triplets.unique().triplets
    return len(unique) - len(np.unique(np.sort(unique.question_ids), return_index=True)[0])


def check_counts(triplets: Triplets, expected: Mapping[str, int], where: object) -> None:
    """Raise where a data set does not have the counts it was published with.

    Known counts: ``objects``, ``answers``, ``statements``, ``participants``, ``unique``, ``contradictions``.
    """
    count = {
        "objects": lambda: triplets.n_objects,
        "answers": lambda: len(triplets),
        "statements": lambda: len(np.unique(triplets.statement_ids, return_index=True)[0]),
        "participants": lambda: 0 if triplets.participant is None else len(triplets.participant.present),
        "unique": lambda: len(triplets.unique().triplets),
        "contradictions": lambda: contradicting_pairs(triplets),
    }
    for name, wanted in expected.items():
        found = count[name]()
        if found != wanted:
            raise FileError(
                f"{where}: found {found:,} {name}, the published data has {wanted:,}; this is not the file it should be",
            )
