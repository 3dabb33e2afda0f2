"""Everything beside the page: figures for print, tables, matrices, facts, and a notebook that redoes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nearfar._tools.atomic import atomic_path, make_folder
from nearfar._tools.progress import track
from nearfar._tools.text import display_names
from nearfar.io import write_triplets
from nearfar.io.table_writing import write_table
from nearfar.methods.trees import joins
from nearfar.plot import charts
from nearfar.plot.style import Look
from nearfar.report import figures as draw
from nearfar.report.figures import GUESSING, Printed, possible
from nearfar.report.make import Report, write_page
from nearfar.report.notebook import ANSWERS, FEATURES, OBJECTS, notebook_json
from nearfar.triplets.ids import Ids

READ_ME = """\
What is in this folder
  figures/        every figure of the report, as SVG and PDF; captions.txt says what they show
  tables/         every table of the report, as CSV; objects.csv, map.csv, clusters.csv, tree.csv are the results
  kernel.npz      K, the kernel matrix of the objects in the report, with their names; the tree as SciPy's linkage matrix,
                  with the names of its leaves
  space.npz       the space of the chosen model: a row per object, and which of them are informed
  paper.txt       methods, results and references, to be pasted into a paper
  facts.json      everything the report says
  redo.ipynb      the analysis again, step by step, from the files below; start it in this folder
  answers.csv     the answers of the analysis; participants under the names of the report, statements numbered
  objects.csv     the names of all objects, in the order of the analysis; features-1.csv and so on: their vectors, if there are any
tree.csv has a row per join, lowest first, as that of  nearfar tree  has.
"""


def write_bundle(report: Report, folder: Path, look: Look) -> Path:
    """Write the bundle into a folder, which is made if need be; every file appears whole or not at all."""
    for each in (folder, folder / "figures", folder / "tables"):
        make_folder(each)
    for name, table in _tables(report.data).items():
        write_table(table, folder / "tables" / f"{name}.csv")
    write_page(folder / "facts.json", report.json())
    write_page(folder / "README.txt", READ_ME)
    paper = [report.data["methods"], report.data["results"], *report.data["citations"]]
    write_page(folder / "paper.txt", "\n\n".join(paper).replace("\xa0", " ") + "\n")
    write_page(folder / "redo.ipynb", notebook_json(report))
    _answers(report, folder)
    _matrices(report, folder)
    captions = []
    for name, make in track(list(_figures(report, look).items()), "figures for print"):
        printed = make()
        captions.append(f"{name}: {printed.caption}\n")
        for suffix in (".svg", ".pdf"):
            printed.save(folder / "figures" / f"{name}{suffix}", look)
    write_page(folder / "figures" / "captions.txt", "\n".join(captions))
    return folder


def _answers(report: Report, folder: Path) -> None:
    """The answers as they were analysed, without what could tell who gave them: names, ids, times of day."""
    answers = report.analysis.answers
    people = answers.participant
    if people is not None:
        people = Ids.from_codes(people.codes, [report.people.get(str(name), "") for name in people.names])
    statement = None if answers.statement is None else answers.statement_ids
    shown = answers.replace(participant=people, statement=statement, answered_at=None)
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
    arrays = {"K": shown.kernel(), "objects": np.array(shown.objects, dtype=str)}
    if (grouping := report.analysis.cluster_tree(report.n_clusters)) is not None:
        leaves = [shown.objects[x] for x in grouping.rows]
        arrays |= {"linkage": np.asarray(grouping.tree), "leaves": np.array(leaves, dtype=str)}
    with atomic_path(folder / "kernel.npz") as path:
        np.savez_compressed(path, allow_pickle=False, **arrays)
    rows = space.rows.toarray() if hasattr(space.rows, "toarray") else space.rows
    with atomic_path(folder / "space.npz") as path:
        names = np.array(space.objects, dtype=str)
        np.savez_compressed(path, rows=rows, objects=names, informed=space.informed)


def _figures(report: Report, look: Look) -> dict[str, Callable[[], Printed]]:
    """Name -> a function that draws it."""
    data, objects = report.data, report.data["objects"]
    names, best = [row["display_name"] for row in objects], data["models"]["best"]
    images = {at: report.files[row["name"]] for at, row in enumerate(objects) if row["picture"]}
    grouping = report.analysis.cluster_tree(report.n_clusters)
    clusters = grouping and [f"cluster {c + 1}" if c >= 0 else "" for c in grouping.chosen.labels]
    drawings: dict[str, Callable[[], Printed]] = {}
    for drawn in data["maps"]:
        points = np.array([drawn["x"], drawn["y"]], dtype=np.float64).T
        known = {"groups": clusters, "images": images, "model": drawn["title"], "colours": "clusters"}
        known["placed"] = [row["placed"] for row in objects]
        known["arrows"] = {name: tip for name, tip in drawn["arrows"].items() if tip and None not in tip}
        name = f"map-{drawn['name'].replace(' ', '-')}"
        drawings[name] = partial(draw.print_map, look, points, names, **known)
    if data["scale"]:
        scale, answers = report.analysis.scale, report.analysis.answers
        spoken, points = display_names(answers.objects), np.full(len(answers.objects), np.nan)
        drawings["scale"] = partial(draw.print_scale, look, points, scale, spoken, model=best)
    if grouping is not None:
        rows = grouping.rows.tolist()
        given: dict[str, Any] = {"model": best, "clusters": grouping.chosen.labels[rows]}
        given["images"] = {at: images[x] for at, x in enumerate(rows) if x in images}
        drawings["tree"] = partial(draw.print_tree, look, grouping.tree, [names[x] for x in rows], **given)
        kernel, order = report.analysis.shown_space.kernel(), grouping.leaves.tolist()
        drawings["kernel"] = partial(draw.print_matrix, look, kernel, names, order, best)
    chart, ceiling = partial(draw.print_chart, look), data["models"]["ceiling"]
    if curve := data["curve"]:
        told = f"Learning curve of {curve['model']}. Open dot: expected with twice the answers. {GUESSING} {possible(ceiling)}"
        drawings["learning-curve"] = partial(chart, partial(charts.curve, curve, ceiling=ceiling), told)
    if data["participants"]:
        told = f"Agreement of participants with the model, on held-out answers. Orange: to check. {GUESSING}"
        drawings["participants"] = partial(
            chart, partial(charts.participants, data["participants"]["rows"]), told
        )
    if data["findings"]["stability"]:
        told = "Uncertainty of positions: radius of an object's circle as a share of the map's radius."
        drawings["positions"] = partial(chart, partial(charts.positions, objects), told)
    if data["models"]["scores"]:
        chosen = best, data["models"]["map"]
        drawings["models"] = partial(draw.print_comparison, look, data["models"], chosen)
    if data["groups"] and data["groups"]["pairs"]:
        compared = report.analysis.groups(report.groups)
        shown = {row["name"]: row["display_name"] for row in objects}
        for number, pair in enumerate(compared.pairs):
            parts = [re.sub(r"[^\w]+", "_", name)[:40] for name in pair.names]
            drawings["-".join(["groups", *parts])] = partial(draw.print_groups, look, compared, number, shown)
    return drawings


def _tables(data: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """Name -> data frame; objects and participants go by the names that the page shows."""
    objects, tree = data["objects"], data["tree"]
    names = [row["name"] for row in objects]
    near = [
        (row["name"], rank, names[other["object"]], other["similarity"])
        for row in objects
        for rank, other in enumerate(row["neighbours"], start=1)
    ]
    columns = ("object", "rank", "neighbour", "similarity")
    placed = {f"{drawn['name']} {axis}": drawn[axis] for drawn in data["maps"] for axis in "xy"}
    tables = {
        "objects": _frame(objects, without=("neighbours", "picture")).rename({"name": "object"}),
        "map": pl.DataFrame({"object": names, **placed}),
        "neighbours": pl.DataFrame(near, columns, orient="row", infer_schema_length=None),
        "models": _frame(data["models"]["scores"], without=("warned",)),
        "left_out": _frame(data["collection"]["left_out"], ("what", "count", "why")),
    }
    if tree is not None:
        tables["clusters"] = _clusters(objects, tree)
        tables["tree"] = joins(tree["merges"], [names[x] for x in tree["rows"]])
    if data["participants"]:
        people = _frame(data["participants"]["rows"], without=("reasons",))
        tables["participants"] = people.rename({"name": "participant"})
    if data["groups"] and data["groups"]["pairs"]:
        moves = [
            {"group": pair["names"][0], "other": pair["names"][1], **move}
            for pair in data["groups"]["pairs"]
            for move in pair["moves"]
        ]
        moved = _frame(moves, ("group", "other", "name", "distance", "sure"))
        tables["group_moves"] = moved.rename({"name": "object"})
    if data["explained"]:
        tables["properties"] = _frame(data["explained"]["properties"], without=("predicted", "arrow"))
    if data["dimensions"]:
        highest = [
            {"dimension": each["title"], "object": names[x], "coordinate": value}
            for each in data["dimensions"]["found"]
            for x, value in zip(each["objects"], each["values"], strict=True)
        ]
        tables["dimensions"] = _frame(highest, ("dimension", "object", "coordinate"))
    if data["curve"]:
        tables["curve"] = _frame(data["curve"]["points"])
    return tables


def _frame(
    rows: Sequence[dict[str, Any]], columns: Sequence[str] = (), without: Sequence[str] = ()
) -> pl.DataFrame:
    """A data frame of rows, of records inside them one column for each field; ``columns`` where there may be no row."""
    flat: list[dict[str, Any]] = []
    for row in rows:
        flat.append({})
        for name, value in row.items():
            if isinstance(value, dict):
                flat[-1] |= {f"{name}_{inner}": held for inner, held in value.items()}
            elif name not in without:
                text = "; ".join(map(str, value)) if isinstance(value, list) else value
                flat[-1][name] = text.replace("\xa0", " ") if isinstance(text, str) else text
    schema = None if flat else dict.fromkeys(columns, pl.String)
    return pl.DataFrame(flat, schema, infer_schema_length=None)


def _clusters(objects: Sequence[dict[str, Any]], tree: dict[str, Any]) -> pl.DataFrame:
    """The chosen clusters, and one column per other cut; clusters are numbered from 1, as on the page."""
    cuts = {cut["n_clusters"]: cut for cut in tree["cuts"]}
    of = {k: [label + 1 if label >= 0 else None for label in cut["labels"]] for k, cut in cuts.items()}
    columns = {"object": [row["name"] for row in objects], "cluster": of[tree["n_clusters"]]}
    columns["medoid"] = [x in cuts[tree["n_clusters"]]["medoids"] for x in range(len(objects))]
    columns["kept"] = [row["kept"] for row in objects]
    return pl.DataFrame(columns | {f"of {k}": labels for k, labels in of.items()})
