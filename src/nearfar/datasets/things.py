"""THINGS: which of three things is the odd one (Hebart et al. 2020)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from nearfar.datasets._dataset import Dataset
from nearfar.datasets._download import Download, check_counts, data_folder, obtain, read_npz
from nearfar.errors import FileError
from nearfar.triplets import Triplets

__all__ = ["fetch_things"]

DOWNLOAD = Download(
    url="https://osf.io/download/sd3f7/",
    sha256="789fb927c87538d29e0cf294793280cf5a77d45dc5fdd87cf8c726993397adb8",
    filename="things_data1854_batch5_test10.txt",
)
NAMES = Download(
    url="https://osf.io/download/sz2ux/",
    sha256="03dbe77972f9466ff8baa0da604d9f5104f677bf77cc602faebfa03a290fb51c",
    filename="things_items1854names.tsv",
)
UNIQUE_ID = 5  # column of the names file with names that occur once
WITH_PARTICIPANTS = {"objects": 1_854, "statements": 127_304, "answers": 254_608}
PUBLISHED = {"objects": 1_854, "statements": 146_012, "answers": 292_024}


def fetch_things(data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """1,854 things: odd-one-out statements, the 10 % test split of the study.

    Two versions exist. The data folder may have ``things/things_test10.npz`` (127,304 statements, with
    participants). Otherwise the file of the 2020 paper is fetched (146,012 statements, without). In both the
    odd one stands last.

    Parameters
    ----------
    data_dir : folder to look in and to download to, or the NPZ file itself. Default: $NEARFAR_DATA, else the
        user's cache folder.

    Raises
    ------
    UnreachableError : not at hand, and the server cannot be reached.
    FileError : wrong checksum, or not the published counts.

    Notes
    -----
    Licence: CC BY 4.0. Cite: M. Hebart, C. Zheng, F. Pereira, C. Baker, Revealing the multidimensional mental
    representations of natural objects underlying human similarity judgements, Nature Human Behaviour 4, 2020.

    Examples
    --------
    ::

        fetch_things().triplets  # Triplets(254608 answers, 1854 objects, 264 participants)

    >>> fetch_things().triplets  # doctest: +SKIP
    """
    path = obtain(DOWNLOAD, data_dir, ("things/things_test10.npz",))
    if path.suffix == ".npz":
        return _from_npz(path, WITH_PARTICIPANTS)
    folder = path.parent if data_folder(data_dir).is_file() else data_folder(data_dir)
    return _from_text(path, obtain(NAMES, folder), PUBLISHED)


def _from_npz(path: Path, counts: dict[str, int]) -> Dataset:
    data = read_npz(path, "odd_one_out", "participant", "names")
    triplets = Triplets.from_odd_one_out(
        data["odd_one_out"], data["names"].tolist(), participant=data["participant"]
    )
    check_counts(triplets, counts, path)
    return Dataset("things", triplets, path)


def _from_text(path: Path, names: Path, counts: dict[str, int]) -> Dataset:
    lines = names.read_text(encoding="utf-8").splitlines()[1:]
    try:
        objects = [line.split("\t")[UNIQUE_ID] for line in lines if line.strip()]
        trios = np.loadtxt(path, ndmin=2).astype(np.int64)
    except (IndexError, ValueError) as error:
        raise FileError(
            f"{path} or {names.name}: expected three numbers a line, and names in column {UNIQUE_ID + 1} ({error})",
        ) from error
    triplets = Triplets.from_odd_one_out(trios, objects)
    check_counts(triplets, counts, path)
    return Dataset("things", triplets, path)
