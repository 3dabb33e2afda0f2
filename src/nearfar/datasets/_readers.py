"""How the files of each published study (a folder, a zip archive, an NPZ file) become answers; each reader checks the published counts."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.datasets._download import writable_folder
from nearfar.errors import FileError
from nearfar.triplets import Triplets

Root = Path | zipfile.Path
Counts = Mapping[str, int]
# the classes of the authors' README, 1-based
CAR_CLASSES = {
    "ordinary": "2 6 7 8 9 10 11 12 16 17 25 32 35 36 37 38 39 41 44 45 46 55 58 60",
    "sports": "15 19 20 28 40 42 47 48 49 50 51 52 54 56 59",
    "off-road": "1 3 4 5 13 14 18 22 24 26 27 29 31 33 34 43 57",
    "outlier": "21 23 30 53",
}
SAME = "two of the three artists are the same"
NO_OTHER = "no other artist"
NO_JUDGEMENT = "not a judgement"


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


def read_car(path: Path, counts: Counts) -> Dataset:
    """The authors' collection T_ALL, with round and response time from the survey."""
    path = path.parent if path.suffix == ".csv" else path
    root = open_root(path)
    chosen = _numbers(find(root, "ordinal_data_preprocessed/T_ALL.csv", "T_ALL.csv"))[:, :3].astype(np.int64)
    survey = _numbers(find(root, "survey_data.csv"), header=True)
    rows = _survey_rows(chosen, survey, path)
    group_of = {int(car): name for name, cars in CAR_CLASSES.items() for car in cars.split()}
    numbers = sorted(group_of)
    names, who = [f"car{car}" for car in numbers], survey[rows, 0].astype(np.int64)
    triplets = Triplets.from_most_central(chosen - 1, names, participant=who, seconds=survey[rows, 5])
    check_counts(triplets, counts, path)
    folders = ("images", "car_data_set_images")
    files = ([f"{folder}/{car}.jpg" for car in numbers] for folder in folders)
    own, others = (image_files(root, each, path, "car") for each in files)
    groups = tuple(group_of[car] for car in numbers)
    return Dataset("car", triplets, path, groups=groups, images=own or others)


def _numbers(file: Root, header: bool = False) -> NDArray[np.float64]:
    with file.open("r", encoding="utf-8") as stream:
        try:
            table: NDArray[np.float64] = np.loadtxt(stream, delimiter=",", skiprows=int(header), ndmin=2)
        except ValueError as error:
            raise FileError(f"{file}: expected a table of numbers ({error})") from error
    return table


def _survey_rows(chosen: NDArray[np.int64], survey: NDArray[np.float64], path: Path) -> list[int]:
    """Rows of the survey that T_ALL keeps: it is the survey in the same order with rounds left out."""
    rows: list[int] = []
    for row, (central, *shown) in enumerate(survey[:, 1:5].astype(int).tolist()):
        if len(rows) < len(chosen):
            others = sorted(car for car in shown if car != central)
            if [central, *others] == chosen[len(rows)].tolist():
                rows.append(row)
    if len(rows) < len(chosen):
        missing = f"statement {len(rows) + 1} of T_ALL.csv is not in survey_data.csv"
        raise FileError(f"{path}: {missing}; the two do not belong together")
    return rows


def read_food(path: Path, counts: Counts) -> Dataset:
    """Screens of an archive, its list of triplets where it has no screens, or an NPZ file of both."""
    images: tuple[Path, ...] = ()
    if path.suffix == ".npz":
        keys = ("triplets", "names", "statement", "participant", "time_ms")
        rows, names, *ids, ms = read_npz(path, *keys).values()
        columns: Any = {"statement": ids[0], "participant": ids[1], "seconds": ms / 1000}
        triplets = Triplets.from_array(rows, names.tolist(), **columns)
    else:
        root = open_root(path)
        listing = find(root, "raw-json", "all-triplets.csv")
        triplets = _food_screens(listing) if listing.is_dir() else _food_lines(listing)
        images = image_files(root, list(triplets.objects), path, "food")
    check_counts(triplets, counts, path)
    return Dataset("food", triplets, path, images=images)


def _food_screens(folder: Root) -> Triplets:
    """The raw answers: every screen gives near x far; catch trials are left out, as the authors do."""
    files: list[Any] = [file for file in folder.iterdir() if file.name.endswith(".json")]
    screens = [
        (hit["worker_id"], screen)
        for file in sorted(files, key=lambda file: str(file.name))
        for hit in json.loads(file.read_text(encoding="utf-8"))
        for screen in hit["HIT_screens"]
        if not screen["is_catchtrial"]
    ]
    rows: list[tuple[str, ...]] = []
    statement: list[int] = []
    for number, (_, screen) in enumerate(screens):
        near = sorted(set(screen["near_answer"]))
        rows += product([screen["probe"]], near, sorted(set(screen["images"]) - set(near)))
        statement += [number] * (len(rows) - len(statement))
    people = np.array([worker for worker, _ in screens])[statement]
    seconds = np.array([screen["timer"] / 1000 for _, screen in screens])[statement]
    ids: Any = {"statement": np.array(statement), "participant": people, "seconds": seconds}
    return Triplets.from_array(*_indices(rows), **ids)


def _food_lines(file: Root) -> Triplets:
    """The list of triplets alone. It was written screen by screen, so a run of rows with one anchor is taken
    as one statement: two screens may be joined, none is cut."""
    indices, names = _indices(_three_names(file, ";"))
    return Triplets.from_array(indices, names, statement=np.cumsum(np.diff(indices[:, 0], prepend=0) != 0))


def _three_names(file: Root, separator: str | None = None) -> list[list[str]]:
    """The three names in each line of a file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split(separator)] for line in lines if line.strip()]
    for number, row in enumerate(rows, start=1):
        if len(row) != 3:
            raise FileError(f"{file}, line {number}: expected three names, got {row}")
    return rows


def _indices(rows: Sequence[Sequence[str]]) -> tuple[NDArray[np.int64], list[str]]:
    """(m, 3) indices, and the names in their order."""
    names = sorted({name for row in rows for name in row})
    index = {name: i for i, name in enumerate(names)}
    return np.array([[index[name] for name in row] for row in rows], dtype=np.int64).reshape(-1, 3), names


def read_material(path: Path, counts: Counts) -> Dataset:
    """Votes of the training and of the test questions, one answer each."""
    root, folder = open_root(path), "data/havran1_ennis_298x298_LDR"
    files = sorted(image.name for image in find(root, folder).iterdir() if image.name.endswith(".jpg"))
    votes = [_votes(find(root, f"data/answers_processed_{half}.json")) for half in ("train", "test")]
    names = [file.removesuffix(".jpg") for file in files]
    triplets = Triplets.from_array(np.concatenate([rows for rows, _ in votes]), names)
    check_counts(triplets, counts, path, questions=sum(n for _, n in votes))
    test = np.arange(len(triplets)) >= len(votes[0][0])
    images = image_files(root, [f"{folder}/{file}" for file in files], path, "material")
    return Dataset("material", triplets, path, images=images, details={"test": test})


def _votes(file: Root) -> tuple[NDArray[np.int64], int]:
    """Triplets of one file and its number of questions.

    ``answers`` has rows (reference, one, other), ``agreement`` the votes for one and for other.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        shown = np.array(data["answers"], dtype=np.int64).reshape(-1, 3)
        votes = np.array(data["agreement"], dtype=np.int64).reshape(-1, 2)
        rows = [np.repeat(shown, votes[:, 0], axis=0), np.repeat(shown[:, [0, 2, 1]], votes[:, 1], axis=0)]
    except (ValueError, KeyError) as error:
        raise FileError(f"{file}: expected answers and agreement ({error})") from error
    return np.concatenate(rows), len(shown)


def read_musicians(path: Path, counts: Counts) -> Dataset:
    """The NPZ file of aset400, or MusicSeer's lines ``judgement S|G user target chosen other``.

    In these, other may be missing; header and trailer are not judgements.
    """
    columns: Any
    details, aside = {}, {}
    if path.suffix == ".npz":
        data = read_npz(path, "triplets", "names", "genre_matrix", "genres")
        rows, names = data["triplets"].astype(np.int64), data["names"].tolist()
        columns = {"statement": rows[:, 0] * len(names) + rows[:, 1]}
        details = {"genres": data["genres"], "genre_matrix": data["genre_matrix"]}
    else:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise FileError(f"{path}: cannot be read ({error.strerror})") from error
        lines = [line.split() for line in text.splitlines() if line.strip()]
        judged = [c for c in lines if len(c) in (5, 6) and all(cell.isdecimal() for cell in c[3:])]
        whole = [cells for cells in judged if len(cells) == 6]
        aside = {NO_OTHER: len(judged) - len(whole), NO_JUDGEMENT: len(lines) - len(judged)}
        ids = np.array([[int(cell) for cell in cells[3:]] for cells in whole], np.int64).reshape(-1, 3)
        numbers, rows = np.unique(ids, return_inverse=True)
        rows, names = rows.reshape(-1, 3), [f"artist{number}" for number in numbers.tolist()]
        statement, participant = [f"{c[0]} {c[2]}" for c in whole], [c[2] for c in whole]
        columns = {"statement": np.array(statement), "participant": np.array(participant)}
    a, n, f = rows.T
    good = (a != n) & (a != f) & (n != f)
    columns = {name: values[good] for name, values in columns.items()}
    triplets = Triplets.from_array(rows[good], names, **columns)
    check_counts(triplets, counts, path, rows=len(rows))
    aside[SAME] = int((~good).sum())
    return Dataset("musicians", triplets, path, set_aside=aside, details=details)


def read_scenes(path: Path, counts: Mapping[str, Counts], name: str) -> Dataset:
    """Nature or vogue: the odd one stands in the column that reproduces the counts of nature."""
    root = open_root(path)
    files = {key: find(root, f"{key}/{key}_triplets.txt", f"{key}_triplets.txt") for key in {"nature", name}}
    nature = _three_names(files["nature"])
    problem: FileError | None = None
    for odd in (2, 0, 1):
        try:
            check_counts(_odd_one_out(nature, odd), counts["nature"], path)
        except FileError as error:
            problem = problem or error
            continue
        triplets = _odd_one_out(_three_names(files[name]), odd)
        check_counts(triplets, counts[name], path)
        return Dataset(name, triplets, path, details={"odd_column": odd})
    raise problem or FileError(f"{path}: no column of nature_triplets.txt can be the odd one")


def _odd_one_out(rows: list[list[str]], odd: int) -> Triplets:
    indices, names = _indices(rows)
    return Triplets.from_odd_one_out(indices[:, sorted(range(3), key=lambda column: column == odd)], names)


def read_things(path: Path, counts: Counts, names: Path | None = None) -> Dataset:
    """An NPZ file with participants, or the published lines of three numbers with a file of names."""
    if names is None:
        data = read_npz(path, "odd_one_out", "participant", "names")
        trios, objects, participant = data["odd_one_out"], data["names"].tolist(), data["participant"]
    else:
        lines = names.read_text(encoding="utf-8").splitlines()[1:]
        try:
            objects = [line.split("\t")[5] for line in lines if line.strip()]  # names that occur once
            trios, participant = np.loadtxt(path, ndmin=2).astype(np.int64), None
        except (IndexError, ValueError) as error:
            expected = f"expected three numbers a line, and names in column 6 ({error})"
            raise FileError(f"{path} or {names.name}: {expected}") from error
    triplets = Triplets.from_odd_one_out(trios, objects, participant=participant)
    check_counts(triplets, counts, path)
    return Dataset("things", triplets, path)
