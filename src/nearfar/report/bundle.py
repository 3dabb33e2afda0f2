"""Everything beside the page: figures for print, tables, matrices, facts, and a notebook that redoes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nearfar._tools.atomic import atomic_path
from nearfar._tools.progress import track
from nearfar.errors import FileError
from nearfar.io import write_triplets
from nearfar.io.table_writing import write_table
from nearfar.report.collect import Made
from nearfar.report.facts import MapFacts
from nearfar.report.notebook import ANSWERS, OBJECTS, notebook_json
from nearfar.report.tables import make_tables
from nearfar.triplets.ids import Ids

__all__ = ["write_bundle"]

FORMATS = (".svg", ".pdf")
READ_ME = """\
What is in this folder
  figures/        every figure of the report, as SVG and PDF
  tables/         every table of the report, as CSV; objects.csv, map.csv, clusters.csv, tree.csv are the results
  kernel.npz      K, the kernel matrix of the objects in the report, with their names
  space.npz       the space of the chosen model: a row per object, and which of them are informed
  facts.json      everything the report says
  redo.ipynb      the analysis again, step by step, from the two files below; start it in this folder
  answers.csv     the answers of the analysis; participants under the names of the report, statements numbered
  objects.csv     the names of all objects, in the order of the analysis
tree.csv is a linkage matrix in SciPy's format; tree_leaves.csv names its first rows.
"""


def write_bundle(made: Made, folder: Path) -> Path:
    """Write the bundle into a folder, which is made if need be; every file appears whole or not at all."""
    try:
        for each in (folder, folder / "figures", folder / "tables"):
            each.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(
            f"{folder}: cannot be made, {reason}; name another folder",
        ) from error
    facts = made.facts
    for name, table in make_tables(facts).items():
        write_table(table, folder / "tables" / f"{name}.csv")
    _text(folder / "facts.json", facts.to_json())
    _text(folder / "README.txt", READ_ME)
    _text(folder / "redo.ipynb", notebook_json(made))
    _answers(made, folder)
    _matrices(made, folder)
    from nearfar.report.figures import save_figure

    for name, draw in track(list(_figures(made).items()), "figures for print"):
        figure = draw()
        for suffix in FORMATS:
            save_figure(figure, folder / "figures" / f"{name}{suffix}")
    return folder


def _answers(made: Made, folder: Path) -> None:
    """The answers as they were analysed, without what could tell who gave them: names, ids, times of day."""
    answers = made.analysis.answers
    people = answers.participant
    shown = answers.replace(
        participant=None
        if people is None
        else Ids.from_codes(people.codes, [made.people.get(str(name), "") for name in people.names]),
        statement=None if answers.statement is None else answers.statement_ids,
        answered_at=None,
    )
    write_triplets(shown, folder / ANSWERS)
    write_table(pl.DataFrame({"object": answers.objects}, schema={"object": pl.String}), folder / OBJECTS)


def _matrices(made: Made, folder: Path) -> None:
    names = np.array([found.name for found in made.facts.objects], dtype=str)
    with atomic_path(folder / "kernel.npz") as path:
        np.savez_compressed(path, K=made.space.space.kernel(), objects=names)
    space = made.analysis.space
    rows = space.rows.toarray() if hasattr(space.rows, "toarray") else space.rows
    with atomic_path(folder / "space.npz") as path:
        np.savez_compressed(
            path, rows=rows, objects=np.array(space.objects, dtype=str), informed=space.informed
        )


def _figures(made: Made) -> dict[str, Callable[[], Any]]:
    """Name -> a function that draws it."""
    from nearfar.report.figures import groups_figure, kernel_figure, tree_figure
    from nearfar.report.print import facts as other

    facts = made.facts
    names = [found.display_name for found in facts.objects]
    found: dict[str, Callable[[], Any]] = {
        f"map-{drawn.name.replace(' ', '-')}": partial(_map, made, drawn) for drawn in facts.maps
    }
    if facts.tree is not None:
        tree = facts.tree
        leaves = [names[x] for x in tree.members]
        labels = np.array(tree.chosen.labels)[list(tree.members)]
        found["tree"] = lambda: tree_figure(
            np.array(tree.merges),
            leaves,
            labels=labels,
            images={
                at: made.files[facts.objects[x].name]
                for at, x in enumerate(tree.members)
                if facts.objects[x].picture
            },
            title=f"Complete linkage, {tree.k} clusters",
        )
        found["kernel"] = lambda: kernel_figure(
            made.space.space.kernel(), names, order=tree.leaves, title=f"Similarity, {facts.judge.best}"
        )
    if facts.judge.models:
        found["models"] = lambda: other.judge_figure(facts.judge)
    if facts.curve is not None:
        curve = facts.curve
        found["learning-curve"] = lambda: other.curve_figure(curve, facts.judge)
    if facts.quality.participants:
        people = facts.quality.participants
        found["participants"] = lambda: other.people_figure(people)
    for pair in facts.groups.pairs if facts.groups else ():
        found["-".join(["groups", *map(_file_part, pair.names)])] = partial(groups_figure, pair)
    if facts.sure is not None:
        found["certainty"] = lambda: other.sure_figure(facts.objects)
    found["coverage"] = lambda: other.coverage_figure(facts.objects)
    return found


def _map(made: Made, drawn: MapFacts) -> Any:
    from nearfar.report.figures import map_figure

    points = np.array([drawn.x, drawn.y], dtype=np.float64).T
    objects = made.facts.objects
    return map_figure(
        points,
        [found.display_name for found in objects],
        groups=_groups(made),
        images={at: made.files[found.name] for at, found in enumerate(objects) if found.picture},
        uninformed=np.flatnonzero(~np.isfinite(points).all(axis=1)).tolist(),
        title=drawn.title,
    )


def _file_part(name: str) -> str:
    """A name of a group as part of a file's name."""
    return re.sub(r"[^\w]+", "_", name)[:40]


def _groups(made: Made) -> list[str] | None:
    tree = made.facts.tree
    return (
        None
        if tree is None
        else [f"cluster {label + 1}" if label >= 0 else "" for label in tree.chosen.labels]
    )


def _text(path: Path, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
