"""The data of a report as tables: one data frame for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

__all__ = ["make_tables"]


def make_tables(data: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """Name -> data frame; objects and participants go by the names that the page shows."""
    objects, tree = data["objects"], data["tree"]
    names = [found["name"] for found in objects]
    near = [
        {
            "object": found["name"],
            "rank": rank,
            "neighbour": names[other["object"]],
            "similarity": other["similarity"],
        }
        for found in objects
        for rank, other in enumerate(found["neighbours"], start=1)
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
        tables["group_moves"] = _frame(moves, ("group", "other", "object", "distance", "low", "high", "sure"))
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
            "object": [found["name"] for found in objects],
            "cluster": numbered[tree["n_clusters"]],
            "medoid": [x in medoids for x in range(len(objects))],
            "kept": [found["kept"] for found in objects],
            **{f"of {k}": labels for k, labels in numbered.items()},
        }
    )


def _agreement(found: dict[str, Any]) -> pl.DataFrame:
    people, columns = found["people"], ("share", "low", "high", "shared")
    rows = [
        (people[a], people[b], *(found[name][a][b] for name in columns))
        for a in range(len(people))
        for b in range(a + 1, len(people))
        if found["share"][a][b] is not None
    ]
    schema = {"participant": pl.String, "other": pl.String, "agreement": pl.Float64, "low": pl.Float64}
    return pl.DataFrame(rows, {**schema, "high": pl.Float64, "questions": pl.Int64}, orient="row")
