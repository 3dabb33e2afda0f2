"""Nature and vogue: which of three pictures is the odd one (Heikinheimo and Ukkonen 2013)."""

from __future__ import annotations

import os
from pathlib import Path

from nearfar.datasets._dataset import Dataset, Root, find, open_root
from nearfar.datasets._download import Download, check_counts, obtain
from nearfar.errors import FileError
from nearfar.triplets import Triplets

__all__ = ["fetch_nature", "fetch_vogue"]

DOWNLOAD = Download(
    url="https://osf.io/download/6aa16bbfb7c3003e08af94fa/",
    sha256="db4718bb742a2492dee87e94daead3070b2afa3a9174aa717be336940e47e3cc",
    filename="nature_and_vogue_triplets.zip",
)
NATURE = {"objects": 120, "statements": 3_355, "answers": 6_710, "unique": 2_994, "contradictions": 636}
VOGUE = {"objects": 60, "statements": 1_107, "answers": 2_214}


def fetch_nature(data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Photos of 120 natural scenes: 3,355 odd-one-out statements, 6,710 triplets, 2,994 different.

    The file has three names per line and does not say which is the odd one. The last is taken, and the paper's
    2,994 different triplets and 636 contradicting pairs confirm it; where they do not, the column that
    reproduces them is taken, and none is an error.

    Parameters
    ----------
    data_dir : folder to look in and to download to, or the archive itself. Default: $NEARFAR_DATA, else the
        user's cache folder. Found there: ``nature_and_vogue_triplets/`` or its ``.zip``.

    Raises
    ------
    UnreachableError : not at hand, and the server cannot be reached.
    FileError : wrong checksum, or not the published counts.

    Notes
    -----
    Licence: none stated. Cite: H. Heikinheimo, A. Ukkonen, The crowd-median algorithm, HCOMP 2013.

    Examples
    --------
    ::

        fetch_nature().triplets  # Triplets(6710 answers, 120 objects)

    >>> fetch_nature().triplets  # doctest: +SKIP
    """
    return _load(_path(data_dir), "nature", NATURE)


def fetch_vogue(data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Covers of 60 Vogue magazines: 1,107 odd-one-out statements, 2,214 triplets.

    The odd one stands in the column that ``fetch_nature`` confirms for the same archive.

    Parameters
    ----------
    data_dir : as for ``fetch_nature``.

    Raises
    ------
    UnreachableError : not at hand, and the server cannot be reached.
    FileError : wrong checksum, or not the published counts.

    Notes
    -----
    Licence: none stated. Cite: H. Heikinheimo, A. Ukkonen, The crowd-median algorithm, HCOMP 2013.

    Examples
    --------
    ::

        fetch_vogue().triplets  # Triplets(2214 answers, 60 objects)

    >>> fetch_vogue().triplets  # doctest: +SKIP
    """
    return _load(_path(data_dir), "vogue", VOGUE)


def _path(data_dir: str | os.PathLike[str] | None) -> Path:
    return obtain(DOWNLOAD, data_dir, ("nature_and_vogue_triplets",))


def _load(path: Path, name: str, counts: dict[str, int], nature: dict[str, int] = NATURE) -> Dataset:
    root = open_root(path)
    odd = _odd_column(_rows(root, "nature"), nature, path)
    triplets = _triplets(_rows(root, name), odd)
    check_counts(triplets, counts, path)
    return Dataset(name, triplets, path, details={"odd_column": odd})


def _rows(root: Root, name: str) -> list[list[str]]:
    file = find(root, f"{name}/{name}_triplets.txt", f"{name}_triplets.txt")
    rows = [line.split() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    for number, row in enumerate(rows, start=1):
        if len(row) != 3:
            raise FileError(
                f"{file}, line {number}: expected three names, got {row}",
            )
    return rows


def _odd_column(rows: list[list[str]], counts: dict[str, int], path: Path) -> int:
    problem: FileError | None = None
    for odd in (2, 0, 1):
        try:
            check_counts(_triplets(rows, odd), counts, path)
        except FileError as error:
            problem = problem or error
        else:
            return odd
    raise problem or FileError(f"{path}: no column of nature_triplets.txt can be the odd one")


def _triplets(rows: list[list[str]], odd: int) -> Triplets:
    names = sorted({name for row in rows for name in row})
    index = {name: i for i, name in enumerate(names)}
    others = [column for column in range(3) if column != odd]
    trios = [[index[row[column]] for column in (*others, odd)] for row in rows]
    return Triplets.from_odd_one_out(trios, names)
