"""Everything beside the page: figures for print, tables, matrices, facts, and a notebook that redoes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
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
from nearfar.report.make import Report, write_page
from nearfar.report.notebook import ANSWERS, FEATURES, OBJECTS, notebook_json
from nearfar.triplets.ids import Ids

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
    for name, table in _tables(report.data).items():
        write_table(table, folder / "tables" / f"{name}.csv")
    write_page(folder / "facts.json", report.json())
    write_page(folder / "README.txt", READ_ME)
    write_page(folder / "redo.ipynb", notebook_json(report))
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
    vectors = report.analysis.vectors
    for number, table in enumerate([] if vectors is None else vectors.tables, 1):
        columns = list(table.columns) or [f"x{c + 1}" for c in range(table.values.shape[1])]
        rows = pl.DataFrame(table.values, schema=columns)
        names = pl.Series("object", table.objects or answers.objects, dtype=pl.String)
        write_table(rows.insert_column(0, names), folder / FEATURES.format(number))


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
    names = [row["display_name"] for row in objects]
    images = {at: report.files[row["name"]] for at, row in enumerate(objects) if row["picture"]}
    grouping = report.analysis.cluster_tree(report.n_clusters)
    clusters = None
    if grouping is not None:
        clusters = [f"cluster {c + 1}" if c >= 0 else "" for c in grouping.chosen.labels]
    drawings: dict[str, Callable[[], Any]] = {}
    for drawn in data["maps"]:
        points = np.array([drawn["x"], drawn["y"]], dtype=np.float64).T
        missing = np.flatnonzero(~np.isfinite(points).all(axis=1)).tolist()
        look = {"groups": clusters, "images": images, "uninformed": missing, "title": drawn["title"]}
        drawings[f"map-{drawn['name'].replace(' ', '-')}"] = partial(draw.map_figure, points, names, **look)
    if grouping is not None:
        rows = grouping.rows.tolist()
        drawings["tree"] = partial(
            draw.tree_figure,
            grouping.tree,
            [names[x] for x in rows],
            labels=grouping.chosen.labels[rows],
            images={at: images[x] for at, x in enumerate(rows) if x in images},
            title=f"Complete linkage, {grouping.n_clusters} clusters",
        )
        kernel, title = report.analysis.shown_space.kernel(), f"Similarity, {data['models']['best']}"
        drawings["kernel"] = partial(draw.kernel_figure, kernel, names, order=grouping.leaves, title=title)
    if data["models"]["scores"]:
        drawings["models"] = partial(draw.models_figure, data["models"])
    if data["curve"]:
        drawings["learning-curve"] = partial(draw.curve_figure, data["curve"], data["models"]["ceiling"])
    if data["participants"]:
        drawings["participants"] = partial(draw.participants_figure, data["participants"]["rows"])
    for pair in data["groups"]["pairs"] if data["groups"] else ():
        parts = [re.sub(r"[^\w]+", "_", name)[:40] for name in pair["names"]]
        drawings["-".join(["groups", *parts])] = partial(draw.groups_figure, pair)
    if data["findings"]["stability"]:
        drawings["positions"] = partial(draw.positions_figure, objects)
    drawings["coverage"] = partial(draw.coverage_figure, objects)
    return drawings


# ---------------------------------------------------------------- tables


def _tables(data: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """Name -> data frame; objects and participants go by the names that the page shows."""
    objects, tree = data["objects"], data["tree"]
    names = [row["name"] for row in objects]
    near = [
        {"object": row["name"], "rank": rank, "neighbour": names[other["object"]]}
        | {"similarity": other["similarity"]}
        for row in objects
        for rank, other in enumerate(row["neighbours"], start=1)
    ]
    disputed = [
        {**q, **{role: names[q[role]] for role in ("anchor", "one", "other")}} for q in data["disputed"]
    ]
    tables = {
        "objects": _frame(objects, without=("neighbours", "picture")).rename({"name": "object"}),
        "map": pl.DataFrame(
            {"object": names, **{f"{map['name']} {axis}": map[axis] for map in data["maps"] for axis in "xy"}}
        ),
        "neighbours": _frame(near, ("object", "rank", "neighbour", "similarity")),
        "models": _frame(data["models"]["scores"], without=("warned",)),
        "left_out": _frame(data["collection"]["left_out"], ("what", "count", "why")),
        "contradictions": _frame(disputed, ("anchor", "one", "other", "said_one", "said_other")),
    }
    if tree is not None:
        tables["clusters"] = _clusters(objects, tree)
        tables["tree"] = pl.DataFrame(tree["merges"], ["one", "other", "height", "size"], orient="row")
        tables["tree_leaves"] = pl.DataFrame(
            {"row": range(len(tree["rows"])), "object": [names[x] for x in tree["rows"]]}
        )
    if data["participants"]:
        tables["participants"] = _frame(data["participants"]["rows"], without=("reasons",)).rename(
            {"name": "participant"}
        )
    if data["groups"] and data["groups"]["pairs"]:
        moves = [
            {"group": pair["names"][0], "other": pair["names"][1], "object": move.pop("name"), **move}
            for pair in data["groups"]["pairs"]
            for move in map(dict, pair["moves"])
        ]
        tables["group_moves"] = _frame(moves, ("group", "other", "object", "distance", "sure"))
    if data["explained"]:
        tables["properties"] = _frame(data["explained"]["properties"], without=("predicted", "arrow"))
    if data["agreement"]:
        tables["agreement"] = _agreement(data["agreement"])
    if data["curve"]:
        tables["curve"] = _frame(data["curve"]["points"])
    return tables


def _frame(
    rows: Sequence[dict[str, Any]], columns: Sequence[str] = (), without: Sequence[str] = ()
) -> pl.DataFrame:
    """A data frame of rows, of records inside them one column for each field; ``columns`` where there may be no row."""
    flat = [dict(_flat(row, without)) for row in rows]
    return (
        pl.DataFrame(flat, infer_schema_length=None)
        if flat
        else pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    )


def _flat(row: dict[str, Any], without: Sequence[str]) -> Iterable[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from ((f"{name}_{inner}", held) for inner, held in value.items())
        elif name not in without:
            text = "; ".join(map(str, value)) if isinstance(value, list) else value
            yield name, text.replace("\xa0", " ") if isinstance(text, str) else text


def _clusters(objects: Sequence[dict[str, Any]], tree: dict[str, Any]) -> pl.DataFrame:
    """The chosen clusters, and one column per other cut; clusters are numbered from 1, as on the page."""
    numbered = {
        cut["n_clusters"]: [label + 1 if label >= 0 else None for label in cut["labels"]]
        for cut in tree["cuts"]
    }
    medoids = next(cut["medoids"] for cut in tree["cuts"] if cut["n_clusters"] == tree["n_clusters"])
    return pl.DataFrame(
        {
            "object": [row["name"] for row in objects],
            "cluster": numbered[tree["n_clusters"]],
            "medoid": [x in medoids for x in range(len(objects))],
            "kept": [row["kept"] for row in objects],
            **{f"of {k}": labels for k, labels in numbered.items()},
        }
    )


def _agreement(agreement: dict[str, Any]) -> pl.DataFrame:
    people, columns = agreement["people"], ("share", "shared")
    rows = [
        (people[a], people[b], *(agreement[name][a][b] for name in columns))
        for a in range(len(people))
        for b in range(a + 1, len(people))
        if agreement["share"][a][b] is not None
    ]
    schema = {"participant": pl.String, "other": pl.String, "agreement": pl.Float64, "questions": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")
