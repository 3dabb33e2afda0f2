"""Musicians: which artist is most like another (Ellis et al. 2002)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nearfar.datasets._dataset import Dataset
from nearfar.datasets._download import Download, check_counts, obtain, read_npz
from nearfar.errors import FileError
from nearfar.triplets import Triplets

__all__ = ["fetch_musicians"]

DOWNLOAD = Download(
    url="https://www.labrosa.org/projects/musicsim/musicseer.org/results/musicseer-results-2002-04-29.txt",
    sha256="4506fc16a8f9a30a92207720bc599602b514de20e94494f67eb7a1e348401e2d",
    filename="musicseer-results-2002-04-29.txt",
)
ASET400 = {"objects": 412, "rows": 9_107}
MUSICSEER = {"objects": 448, "rows": 131_970}
SAME = "two of the three artists are the same"
NO_OTHER = "no other artist"
NO_JUDGEMENT = "not a judgement"


def fetch_musicians(data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Which artist is most like another: one choice out of a list gives several triplets.

    Two versions exist. The data folder may have ``musicians/triplets.npz`` (aset400: 412 artists, 9,107 rows,
    of which 17 name an artist twice and are set aside; it has no statement ids, so all rows with one
    (anchor, near) are taken as one statement). Otherwise the MusicSeer results of 2002-04-29 are fetched (448
    artists, 131,970 rows; statement = judgement, participant = user; artists go by number). ``set_aside`` counts
    the rows that are no answers.

    Parameters
    ----------
    data_dir : folder to look in and to download to, or the file itself. Default: $NEARFAR_DATA, else the
        user's cache folder.

    Raises
    ------
    UnreachableError : not at hand, and the server cannot be reached.
    FileError : wrong checksum, or not the published counts.

    Notes
    -----
    Licence: none stated. Cite: D. Ellis, B. Whitman, A. Berenzweig, S. Lawrence, The quest for ground truth in
    musical artist similarity, ISMIR 2002.

    Examples
    --------
    ::

        fetch_musicians().triplets  # Triplets(9090 answers, 412 objects)

    >>> fetch_musicians().triplets  # doctest: +SKIP
    """
    path = obtain(DOWNLOAD, data_dir, ("musicians/triplets.npz",))
    return _load(path, ASET400 if path.suffix == ".npz" else MUSICSEER)


def _load(path: Path, counts: dict[str, int]) -> Dataset:
    return _from_npz(path, counts) if path.suffix == ".npz" else _from_text(path, counts)


def _from_npz(path: Path, counts: dict[str, int]) -> Dataset:
    data = read_npz(path, "triplets", "names", "genre_matrix", "genres")
    rows = data["triplets"].astype(np.int64)
    good = _distinct(rows)
    choice = rows[good, 0] * len(data["names"]) + rows[good, 1]
    triplets = Triplets.from_array(rows[good], data["names"].tolist(), statement=choice)
    _check(triplets, len(rows), counts, path)
    genres = {"genres": data["genres"], "genre_matrix": data["genre_matrix"]}
    return Dataset("musicians", triplets, path, set_aside={SAME: int((~good).sum())}, details=genres)


def _from_text(path: Path, counts: dict[str, int]) -> Dataset:
    """Lines ``judgement S|G user target chosen other``; other may be missing, and header and trailer are none."""
    ids, statement, participant = [], [], []
    aside = {SAME: 0, NO_OTHER: 0, NO_JUDGEMENT: 0}
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise FileError(
            f"{path}: cannot be read ({error.strerror})",
        ) from error
    for line in lines:
        cells = line.split()
        if len(cells) not in (5, 6) or not all(cell.isdecimal() for cell in cells[3:]):
            aside[NO_JUDGEMENT] += bool(cells)
        elif len(cells) == 5:
            aside[NO_OTHER] += 1
        else:
            ids.append([int(cell) for cell in cells[3:]])
            statement.append(f"{cells[0]} {cells[2]}")
            participant.append(cells[2])
    numbers, rows = np.unique(np.array(ids, dtype=np.int64).reshape(-1, 3), return_inverse=True)
    rows = rows.reshape(-1, 3)
    good = _distinct(rows)
    aside[SAME] = int((~good).sum())
    triplets = Triplets.from_array(
        rows[good],
        [f"artist{number}" for number in numbers.tolist()],
        statement=np.array(statement)[good],
        participant=np.array(participant)[good],
    )
    _check(triplets, len(rows), counts, path)
    return Dataset("musicians", triplets, path, set_aside=aside)


def _distinct(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    a, n, f = rows.T
    good: NDArray[np.bool_] = (a != n) & (a != f) & (n != f)
    return good


def _check(triplets: Triplets, n_rows: int, counts: dict[str, int], path: Path) -> None:
    check_counts(triplets, {"objects": counts["objects"]}, path)
    if n_rows != counts["rows"]:
        raise FileError(
            f"{path}: found {n_rows:,} rows, the published data has {counts['rows']:,}; "
            "this is not the file it should be",
        )
