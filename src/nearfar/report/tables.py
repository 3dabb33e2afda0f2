"""Facts -> tables: one data frame per table of the report."""

from __future__ import annotations

from typing import Any

import polars as pl

from nearfar.report.facts import Curve, Facts, TreeFacts
from nearfar.report.groups_section import Alike, GroupsFacts

__all__ = ["make_tables"]


def make_tables(facts: Facts) -> dict[str, pl.DataFrame]:
    """Name -> data frame; objects and participants go by the names that the page shows."""
    tables = {
        "objects": _objects(facts),
        "map": _maps(facts),
        "neighbours": _neighbours(facts),
        "models": _models(facts),
        "left_out": _left_out(facts),
        "contradictions": _contradictions(facts),
    }
    if facts.tree is not None:
        tables["clusters"] = _clusters(facts, facts.tree)
        tables["tree"] = _merges(facts.tree)
        tables["tree_leaves"] = _leaves(facts, facts.tree)
    if facts.quality.participants:
        tables["participants"] = _participants(facts)
    if facts.groups is not None and facts.groups.pairs:
        tables["group_moves"] = _group_moves(facts.groups)
    if facts.alike is not None:
        tables["agreement"] = _agreement(facts.alike)
    if facts.curve is not None:
        tables["curve"] = _curve(facts.curve)
    return tables


def _objects(facts: Facts) -> pl.DataFrame:
    fields = (
        "name display_name group answers as_anchor accuracy informed spread circle sure unusual outlier".split()  # noqa: SIM905
    )
    return pl.DataFrame([{name: getattr(found, name) for name in fields} for found in facts.objects]).rename(
        {"name": "object"}
    )


def _maps(facts: Facts) -> pl.DataFrame:
    columns: dict[str, Any] = {"object": [found.name for found in facts.objects]}
    for drawn in facts.maps:
        columns[f"{drawn.name} x"] = list(drawn.x)
        columns[f"{drawn.name} y"] = list(drawn.y)
    return pl.DataFrame(columns)


def _neighbours(facts: Facts) -> pl.DataFrame:
    rows = [
        (found.name, rank, facts.objects[near.object].name, near.similarity)
        for found in facts.objects
        for rank, near in enumerate(found.neighbours, start=1)
    ]
    schema = {"object": pl.String, "rank": pl.Int64, "neighbour": pl.String, "similarity": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _models(facts: Facts) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "model": m.name,
                "accuracy": m.accuracy,
                "standard_error": m.error,
                "ties": m.ties,
                "seconds": m.seconds,
                "as_good_as_best": m.as_good_as_best,
                "remarks": "; ".join(m.remarks),
            }
            for m in facts.judge.models
        ]
    )


def _left_out(facts: Facts) -> pl.DataFrame:
    rows = [(each.what, each.count, each.why) for each in facts.answers.left_out]
    return pl.DataFrame(rows, {"what": pl.String, "count": pl.Int64, "why": pl.String}, orient="row")


def _merges(tree: TreeFacts) -> pl.DataFrame:
    schema = {"one": pl.Int64, "other": pl.Int64, "height": pl.Float64, "size": pl.Int64}
    return pl.DataFrame(list(tree.merges), schema, orient="row")


def _leaves(facts: Facts, tree: TreeFacts) -> pl.DataFrame:
    names = [facts.objects[x].name for x in tree.members]
    return pl.DataFrame({"row": range(len(names)), "object": names})


def _group_moves(groups: GroupsFacts) -> pl.DataFrame:
    rows = [
        (*pair.names, m.name, m.distance, m.low, m.high, m.sure) for pair in groups.pairs for m in pair.moves
    ]
    return pl.DataFrame(rows, ["group", "other", "object", "distance", "low", "high", "sure"], orient="row")


def _agreement(alike: Alike) -> pl.DataFrame:
    rows = [(alike.people[a], alike.people[b], *rest) for a, b, *rest in alike.cells if a < b]
    return pl.DataFrame(rows, ["participant", "other", "agreement", "low", "high", "questions"], orient="row")


def _curve(curve: Curve) -> pl.DataFrame:
    rows = [(p.answers, p.accuracy, p.error) for p in curve.points]
    schema = {"answers": pl.Float64, "accuracy": pl.Float64, "standard_error": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


def _clusters(facts: Facts, tree: TreeFacts) -> pl.DataFrame:
    """The chosen clusters, and one column per other cut; clusters are numbered from 1, as on the page."""
    chosen = tree.chosen
    columns: dict[str, Any] = {
        "object": [found.name for found in facts.objects],
        "cluster": [label + 1 if label >= 0 else None for label in chosen.labels],
        "medoid": [x in chosen.medoids for x in range(len(facts.objects))],
        "kept": [found.sure for found in facts.objects],
    }
    for cut in tree.cuts:
        columns[f"of {cut.k}"] = [label + 1 if label >= 0 else None for label in cut.labels]
    return pl.DataFrame(columns)


def _participants(facts: Facts) -> pl.DataFrame:
    rows = [
        {**vars(person), "reasons": "; ".join(person.reasons).replace("\xa0", " ")}
        for person in facts.quality.participants or ()
    ]
    return pl.DataFrame(rows, infer_schema_length=None).rename({"name": "participant"})


def _contradictions(facts: Facts) -> pl.DataFrame:
    rows = [
        (
            facts.objects[q.anchor].name,
            facts.objects[q.one].name,
            facts.objects[q.other].name,
            q.said_one,
            q.said_other,
        )
        for q in facts.quality.contradictions
    ]
    schema = {
        "anchor": pl.String,
        "one": pl.String,
        "other": pl.String,
        "said_one": pl.Int64,
        "said_other": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
