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
from nearfar.report.make import Report
from nearfar.report.notebook import ANSWERS, OBJECTS, notebook_json
from nearfar.report.tables import make_tables
from nearfar.triplets.ids import Ids

__all__ = ["write_bundle"]

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


def write_bundle(report: Report, folder: Path) -> Path:
    """Write the bundle into a folder, which is made if need be; every file appears whole or not at all."""
    try:
        for each in (folder, folder / "figures", folder / "tables"):
            each.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"{folder}: cannot be made, {reason}; name another folder") from error
    for name, table in make_tables(report.data).items():
        write_table(table, folder / "tables" / f"{name}.csv")
    _text(folder / "facts.json", report.json())
    _text(folder / "README.txt", READ_ME)
    _text(folder / "redo.ipynb", notebook_json(report))
    _answers(report, folder)
    _matrices(report, folder)
    from nearfar.report.figures import save_figure

    for name, draw in track(list(_figures(report).items()), "figures for print"):
        figure = draw()
        for suffix in (".svg", ".pdf"):
            save_figure(figure, folder / "figures" / f"{name}{suffix}")
    return folder


def _answers(report: Report, folder: Path) -> None:
    """The answers as they were analysed, without what could tell who gave them: names, ids, times of day."""
    answers = report.analysis.answers
    people = answers.participant
    shown = answers.replace(
        participant=None
        if people is None
        else Ids.from_codes(people.codes, [report.people.get(str(name), "") for name in people.names]),
        statement=None if answers.statement is None else answers.statement_ids,
        answered_at=None,
    )
    write_triplets(shown, folder / ANSWERS)
    write_table(pl.DataFrame({"object": answers.objects}, schema={"object": pl.String}), folder / OBJECTS)


def _matrices(report: Report, folder: Path) -> None:
    shown, space = report.analysis.shown_space, report.analysis.space
    with atomic_path(folder / "kernel.npz") as path:
        np.savez_compressed(path, K=shown.kernel(), objects=np.array(shown.objects, dtype=str))
    rows = space.rows.toarray() if hasattr(space.rows, "toarray") else space.rows
    with atomic_path(folder / "space.npz") as path:
        np.savez_compressed(
            path, rows=rows, objects=np.array(space.objects, dtype=str), informed=space.informed
        )


def _figures(report: Report) -> dict[str, Callable[[], Any]]:
    """Name -> a function that draws it."""
    from nearfar.report import figures as draw

    data, objects = report.data, report.data["objects"]
    names = [found["display_name"] for found in objects]
    images = {at: report.files[found["name"]] for at, found in enumerate(objects) if found["picture"]}
    grouping = report.analysis.cluster_tree(report.n_clusters)
    found: dict[str, Callable[[], Any]] = {}
    for drawn in data["maps"]:
        points = np.array([drawn["x"], drawn["y"]], dtype=np.float64).T
        found[f"map-{drawn['name'].replace(' ', '-')}"] = partial(
            draw.map_figure,
            points,
            names,
            groups=None
            if grouping is None
            else [f"cluster {c + 1}" if c >= 0 else "" for c in grouping.chosen.labels],
            images=images,
            uninformed=np.flatnonzero(~np.isfinite(points).all(axis=1)).tolist(),
            title=drawn["title"],
        )
    if grouping is not None:
        rows = grouping.rows.tolist()
        found["tree"] = partial(
            draw.tree_figure,
            grouping.tree,
            [names[x] for x in rows],
            labels=grouping.chosen.labels[rows],
            images={at: images[x] for at, x in enumerate(rows) if x in images},
            title=f"Complete linkage, {grouping.n_clusters} clusters",
        )
        kernel, title = report.analysis.shown_space.kernel(), f"Similarity, {data['models']['best']}"
        found["kernel"] = partial(draw.kernel_figure, kernel, names, order=grouping.leaves, title=title)
    if data["models"]["scores"]:
        found["models"] = partial(draw.models_figure, data["models"])
    if data["curve"]:
        found["learning-curve"] = partial(draw.curve_figure, data["curve"], data["models"]["ceiling"])
    if data["participants"]:
        found["participants"] = partial(draw.participants_figure, data["participants"]["rows"])
    for pair in data["groups"]["pairs"] if data["groups"] else ():
        parts = [re.sub(r"[^\w]+", "_", name)[:40] for name in pair["names"]]
        found["-".join(["groups", *parts])] = partial(draw.groups_figure, pair)
    if data["findings"]["stability"]:
        found["positions"] = partial(draw.positions_figure, objects)
    found["coverage"] = partial(draw.coverage_figure, objects)
    return found


def _text(path: Path, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
