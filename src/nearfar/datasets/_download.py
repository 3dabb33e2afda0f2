"""Where data is: at hand in a folder, or fetched once with a checksum."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from nearfar._tools.progress import step
from nearfar.errors import FileError, UnreachableError

VARIABLE = "NEARFAR_DATA"
Folder = str | os.PathLike[str] | None
T = TypeVar("T")
PARAMETERS = """    Parameters
    ----------
    data_dir : folder to look in and to download to, or the file itself. Default: $NEARFAR_DATA, else a cache.

"""


@dataclass(frozen=True)
class Download:
    """A published file: its address, its checksum, the name it is kept under, and other forms that may be at hand."""

    url: str
    sha256: str
    filename: str
    at_hand: tuple[str, ...] = ()


def describes_folder(fetch: T) -> T:
    """Write what all loaders take into the description of one, before its example."""
    text, mark, example = (fetch.__doc__ or "").rpartition("    >>> ")
    fetch.__doc__ = f"{text}{PARAMETERS}{mark}{example}"
    return fetch


def data_folder(data_dir: Folder = None) -> Path:
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
            way = f"choose another folder with data_dir or {VARIABLE}"
            raise FileError(f"{candidate}: cannot be made ({error.strerror}); {way}") from error
        # The second test is for root, who may write where nobody is meant to.
        if os.access(candidate, os.W_OK) and candidate.stat().st_mode & 0o222:
            return candidate
    raise FileError(f"{folder}: cannot be written to; choose another folder with data_dir or {VARIABLE}")


def obtain(download: Download, data_dir: Folder) -> Path:
    """The path of a data set: a file given, another form at hand in the data folder, or the download.

    A copy of the published file in the data folder is used if its checksum is right. Where the folder is for reading
    only, downloads go to the user's cache folder.
    """
    folder = data_folder(data_dir)
    if folder.is_file():
        return folder
    for name in download.at_hand:
        if (folder / name).exists():
            return folder / name
    store = writable_folder(folder)
    for path in (folder / download.filename, store / download.filename):
        if path.exists():
            _check_sum(path, download)
            return path
    return _download(download, store)


def _check_sum(path: Path, download: Download) -> None:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from error
    if digest != download.sha256:
        way = "the file is damaged or another one: delete it to have it fetched again"
        raise FileError(f"{path}: checksum is sha256 {digest}, expected {download.sha256}; {way}")


def _download(download: Download, folder: Path) -> Path:
    import pooch

    path = folder / download.filename
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # a library does not print; progress goes through nearfar._tools.progress
    try:
        with step(f"downloading {download.filename}"):
            target = {
                "fname": download.filename,
                "path": folder,
                "downloader": pooch.HTTPDownloader(timeout=30),
            }
            pooch.retrieve(download.url, known_hash=f"sha256:{download.sha256}", **target)
    except ValueError as error:
        wrong = f"the download does not have the checksum sha256 {download.sha256} and was deleted"
        raise FileError(f"{download.url}: {wrong}; try again, or put the right file at {path}") from error
    except OSError as error:
        way = f"get the file another way and put it at {path}, or point {VARIABLE} to a folder that has the data"
        raise UnreachableError(f"{download.url} cannot be reached ({type(error).__name__}); {way}") from error
    finally:
        logger.setLevel(level)
    return path
