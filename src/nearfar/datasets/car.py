"""Car: which of three cars is the most central one (Kleindessner and von Luxburg 2017)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nearfar.datasets._dataset import Dataset, Root, find, image_files, open_root
from nearfar.datasets._download import Download, check_counts, obtain
from nearfar.errors import FileError
from nearfar.triplets import Triplets

__all__ = ["fetch_car"]

DOWNLOAD = Download(
    url="http://www.tml.cs.uni-tuebingen.de/team/luxburg/code_and_data/60_cars_data.zip",
    sha256="5fa2ad932d48adf5cfe36bd16a08b25fd88d1519d974908f6ccbba769f629640",
    filename="60_cars_data.zip",
)
N_CARS = 60
COUNTS = {"objects": N_CARS, "statements": 6_757, "answers": 13_514, "unique": 12_502}
# the classes of the authors' README, 1-based
CLASSES = {
    "ordinary": "2 6 7 8 9 10 11 12 16 17 25 32 35 36 37 38 39 41 44 45 46 55 58 60",
    "sports": "15 19 20 28 40 42 47 48 49 50 51 52 54 56 59",
    "off-road": "1 3 4 5 13 14 18 22 24 26 27 29 31 33 34 43 57",
    "outlier": "21 23 30 53",
}


def fetch_car(data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Pictures of 60 cars: 6,757 statements "A is the most central of A, B, C", 13,514 triplets.

    This is the authors' collection T_ALL, which leaves out seven of 146 survey rounds. ``participant`` is the
    round: each was done by one person, but a person may have done several. ``seconds`` is the response time.
    ``groups`` are the authors' four classes.

    Parameters
    ----------
    data_dir : folder to look in and to download to, or the archive itself. Default: $NEARFAR_DATA, else the
        user's cache folder. Found there: ``car/``, ``60_cars_data/``, ``60_cars_data.zip``.

    Raises
    ------
    UnreachableError : not at hand, and the server cannot be reached.
    FileError : wrong checksum, or not the published counts.

    Notes
    -----
    Licence: the pictures were released into the public domain by their authors (Wikimedia Commons). Cite:
    M. Kleindessner, U. von Luxburg, Lens depth function and k-relative neighborhood graph: versatile tools
    for ordinal data analysis, JMLR 18(58), 2017.

    Examples
    --------
    ::

        fetch_car().triplets  # Triplets(13514 answers, 60 objects, 139 participants)

    >>> fetch_car().triplets  # doctest: +SKIP
    """
    path = obtain(DOWNLOAD, data_dir, ("car/survey_data.csv", "60_cars_data/survey_data.csv"))
    return _load(path.parent if path.suffix == ".csv" else path, COUNTS)


def _load(path: Path, counts: dict[str, int]) -> Dataset:
    root = open_root(path)
    chosen = _table(find(root, "ordinal_data_preprocessed/T_ALL.csv", "T_ALL.csv"))[:, :3].astype(np.int64)
    survey = _table(find(root, "survey_data.csv"), header=True)
    rows = _matching_rows(chosen, survey, path)
    triplets = Triplets.from_most_central(
        chosen - 1,
        [f"car{i}" for i in range(1, N_CARS + 1)],
        participant=survey[rows, 0].astype(np.int64),
        seconds=survey[rows, 5],
    )
    check_counts(triplets, counts, path)
    return Dataset("car", triplets, path, groups=_groups(), images=_images(root, path))


def _table(file: Root, header: bool = False) -> NDArray[np.float64]:
    with file.open("r", encoding="utf-8") as stream:
        try:
            table: NDArray[np.float64] = np.loadtxt(stream, delimiter=",", skiprows=int(header), ndmin=2)
        except ValueError as error:
            raise FileError(
                f"{file}: expected a table of numbers ({error})",
            ) from error
    return table


def _matching_rows(chosen: NDArray[np.int64], survey: NDArray[np.float64], path: Path) -> list[int]:
    """Rows of the survey that T_ALL keeps: it is the survey in the same order with rounds left out."""
    rows: list[int] = []
    for row, (central, *shown) in enumerate(survey[:, 1:5].astype(int).tolist()):
        if len(rows) < len(chosen):
            others = sorted(car for car in shown if car != central)
            if [central, *others] == chosen[len(rows)].tolist():
                rows.append(row)
    if len(rows) < len(chosen):
        raise FileError(
            f"{path}: statement {len(rows) + 1} of T_ALL.csv is not in survey_data.csv; the two do not belong together",
        )
    return rows


def _groups() -> tuple[str, ...]:
    names = [""] * N_CARS
    for group, cars in CLASSES.items():
        for car in map(int, cars.split()):
            names[car - 1] = group
    return tuple(names)


def _images(root: Root, path: Path) -> tuple[Path, ...]:
    for folder in ("images", "car_data_set_images"):
        names = [f"{folder}/{car}.jpg" for car in range(1, N_CARS + 1)]
        files = image_files(root, names, path, "car")
        if files:
            return files
    return ()
