"""What a report says, as plain data: evaluate's records as they are, and what the page shows of the space."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar._tools.records import plain
from nearfar._tools.text import count, display_names, number
from nearfar.errors import InputError
from nearfar.evaluate.collection import controls_text, double_submits
from nearfar.evaluate.map_stability import align, along_axes, coordinates, radius
from nearfar.evaluate.properties import arrow, property_columns, rsa
from nearfar.io.sources import shown_path
from nearfar.report.groups import NOT_COMPARED, group_comparison
from nearfar.report.paragraph import citations, methods, results, versions
from nearfar.report.pictures import thumbnails

if TYPE_CHECKING:
    from nearfar.evaluate.analysis import Analysis
    from nearfar.evaluate.clusters import ClusterTree
    from nearfar.evaluate.dimensions import Dimensions
    from nearfar.evaluate.map_stability import Stability
    from nearfar.evaluate.properties import Explained
    from nearfar.io import ObjectList
    from nearfar.io.vectors import VectorTable
    from nearfar.report.pictures import Pictures
    from nearfar.triplets import Triplets

NINE_IN_TEN = 2.146  # standard deviations: a circle with this radius holds 9 in 10 points of a normal distribution in the plane


def report_data(
    analysis: Analysis,
    *,
    title: str,
    files: Sequence[str | os.PathLike[str]],
    left_out: Sequence[tuple[str, int, str]],
    objects: ObjectList | None,
    pictures: Pictures,
    people: Mapping[str, str],
    checks: Mapping[str, tuple[int, int]],
    n_clusters: int | None,
    groups: Mapping[str, str] | None,
    dimensions: Dimensions | None = None,
    distances: Sequence[VectorTable] = (),
) -> tuple[dict[str, Any], dict[str, tuple[str, int, int]]]:
    """Everything a report says, and its small pictures by object; parameters as for ``make_report``.

    ``left_out`` : (what, how many, why); ``people`` : participant -> the name shown; ``checks`` : participant -> check questions
    answered right, and of how many.
    """
    names, n = [analysis.answers.objects[x] for x in analysis.shown], analysis.answers.n_objects
    sampled = f"The page shows a random {number(len(names))} of the {number(n)} objects. Accuracy and data quality are those of all."
    small, unreadable = thumbnails({name: pictures.files[name] for name in names if name in pictures.files})
    missing = [name for name in names if name not in small] if pictures.files else []
    grouping, judged = analysis.cluster_tree(n_clusters), models(analysis)
    drawn = maps(analysis) if judged["map"] else []
    stability, kept, found = None, {}, grouping is not None and grouping.found
    if grouping is not None and drawn:
        stability = analysis.stability(grouping.n_clusters if found else None)
    if grouping is not None and drawn and found:
        kept = {cut.n_clusters: analysis.resamples.kept(cut.labels, cut.n_clusters) for cut in grouping.cuts}
    explained = analysis.explain(objects) if objects is not None and objects.properties else None
    drawn = _with_arrows(drawn, analysis, explained, objects, dimensions)
    known = analysis.answers.participant
    searched = groups is None and known is not None and len(known.known) > 1
    data: dict[str, Any] = {
        "title": title or f"Similarity of {count(n, 'object')}",
        "date": today(),
        "versions": versions(),
        "seed": analysis.seed,
        "collection": collection(analysis, files, left_out),
        "findings": {
            "collected": words.collected(analysis, left_out),
            "participants": words.participants(analysis.people, people),
            "subgroups": words.subgroups(analysis.subgroups) if searched else None,
            **_findings(analysis, grouping, stability, explained),
        },
        "models": judged,
        "worth": None if analysis.worth is None else words.worth_rows(analysis.worth, analysis.ceiling),
        "vector_correlation": words.correlation(analysis.vector_correlation),
        "correlations": [
            words.correlation(rsa(analysis, each, seed=analysis.seed), f"those of {each.name}")
            or f"The correlation with the distances of {each.name} is not known."
            for each in distances
        ],
        "sampled": sampled if len(analysis.shown) < n else "",
        "dimensions": None if dimensions is None else _dimensions(analysis, dimensions),
        "scale": _scale(analysis),
        "objects": object_rows(analysis, stability, objects, small),
        "maps": drawn,
        "explained": None if explained is None else properties(analysis, explained, objects),
        "tree": None if grouping is None else tree(grouping, kept, words.kept_by_chance(stability)),
        "matrix": grouping and matrix(1 - analysis.shown_space.distances("keep") ** 2 / 2, grouping.leaves),
        "participants": participants(analysis, people, checks),
        "curve": analysis.curve,
        "reliability": None if stability is None else analysis.reliability,
        "groups": None if groups is None else _groups(analysis, groups, objects),
        "pictures": {"shown": len(small), "missing": missing, "unused": pictures.unused},
    }
    data["pictures"]["unreadable"] = [*pictures.trouble, *unreadable]
    data = plain(data)
    return data | {"methods": methods(data), "results": results(data), "citations": citations(data)}, small


def _findings(
    analysis: Analysis, grouping: ClusterTree | None, stability: Stability | None, explained: Explained | None
) -> dict[str, Any]:
    """What is said of the answers and the objects; None of what was not looked at."""
    people, curve, worth = analysis.answers.participant, analysis.curve, analysis.worth
    reliability = None if stability is None else analysis.reliability
    if reliability is not None and np.isnan(reliability.correlation):
        reliability = None
    return {
        "accuracy": words.accuracy(analysis),
        "ceiling": words.ceiling(analysis.ceiling, 0 if people is None else len(people.known)),
        "enough": words.enough(analysis),
        "curve": curve and words.curve(curve, len(analysis.answers)),
        "clusters": grouping and words.clusters(grouping.count, grouping.n_clusters),
        "stability": stability and words.stability(stability),
        "reliability": reliability and words.reliability(reliability),
        "explained": explained and words.explained(explained),
        "worth": worth and words.worth(worth),
    }


def _dimensions(analysis: Analysis, result: Dimensions) -> dict[str, Any]:
    """The dimensions that come back; objects go by their index on the page."""
    index = {analysis.answers.objects[x]: at for at, x in enumerate(analysis.shown)}
    found = []
    for each in result.found:
        top = {index[name]: value for name, value in zip(each.top, each.values, strict=True) if name in index}
        facts = {"title": each.title, "text": words.dimension_facts(each)}
        found.append({**facts, "objects": list(top), "values": list(top.values())})
    return {"text": words.dimensions_found(result), "found": found}


def _scale(analysis: Analysis) -> list[dict[str, Any]] | None:
    """Names and values of a one-dimensional result, the highest first; None where it has more dimensions."""
    scale = analysis.scale if analysis.splits else None
    if scale is None:
        return None
    rows = zip(scale.order, scale.values, scale.low, scale.high, strict=True)
    names = display_names(analysis.answers.objects)
    return [{"name": names[x], "value": v, "low": low, "high": high} for x, v, low, high in rows][::-1]


def _groups(analysis: Analysis, groups: Mapping[str, str], objects: ObjectList | None) -> dict[str, Any]:
    """The groups compared, or why they are not: there are not two groups of enough people."""
    people = analysis.answers.participant
    shown_as = {} if objects is None else dict(zip(objects.names, objects.display_names, strict=True))
    try:
        return group_comparison(analysis.groups(groups), shown_as)
    except InputError:
        if people is None or set(map(str, people.names[people.known])).isdisjoint(map(str, groups)):
            raise
        return {"pairs": [], "left_out": 0, "reason": NOT_COMPARED}


def collection(
    analysis: Analysis, files: Sequence[str | os.PathLike[str]], gone: Sequence[tuple[str, int, str]]
) -> dict[str, Any]:
    """Where the answers came from, how many there are, and what was left out."""
    answers, counts, people = analysis.answers, analysis.counts, analysis.answers.participant
    counted = ("task", "statements", "triplets", "questions", "repeated", "contradicted")
    return {
        "files": [shown_path(Path(file).name) for file in files],
        "sha256": _hash(files, answers),
        "answers": len(answers),
        "objects": answers.n_objects,
        "participants": None if people is None else len(people.known),
        **{name: getattr(counts, name) for name in counted},
        "double_submits": int(double_submits(answers).sum()),
        "controls": controls_text(answers),
        "left_out": [{"what": what, "count": size, "why": why} for what, size, why in gone],
    }


def models(analysis: Analysis) -> dict[str, Any]:
    """The chosen model, the map, and all models on held-out answers."""
    best = analysis.best
    has_map = len(analysis.shown) > 2 and bool(analysis.space.informed.any())
    scores = analysis.scores if analysis.splits else None
    counted = analysis.dimension_choice
    if counted and scores and {each.name for each in counted.comparison} <= {each.name for each in scores}:
        counted = None  # they stand among the models already
    return {
        **({"scores": [], "ceiling": analysis.ceiling} if scores is None else scores.to_dict()),
        "unit": words.unit(scores.unit) if scores else "",
        "best": best.name,
        "gloss": words.gloss(best.name, analysis.dimension),
        "accuracy": best.accuracy,
        "odd_one_out": best.odd_one_out,
        "applies_to": words.applies_to(best, scores.scope) if scores else "",
        "why": words.choice(analysis),
        "rule": words.rule_of_choice(analysis) if scores and not analysis.is_named else "",
        "dimensions": words.dimensions(analysis),
        "scale": words.scale(analysis) if scores and analysis.space.n_components == 1 else "",
        "by_dimension": [replace(each, seconds=np.nan) for each in counted.comparison.scores]
        if counted
        else [],
        "map": analysis.plane_name if has_map else "",
        "map_why": words.plane(analysis) if has_map else "Too few objects for a map.",
        "judged": len(analysis.judged),
        "is_named": analysis.is_named,
        "warned": {s.name: words.warned(s, len(analysis.splits)) for s in scores or () if s.warned},
    }


def tree(grouping: ClusterTree, kept: Mapping[int, Floats], by_chance: str) -> dict[str, Any]:
    """The tree, its cuts, and how often resamples keep every object in its cluster, of random answers ``by_chance``."""
    cuts = [{**plain(c), "kept": np.round(kept[c.n_clusters], 3) if kept else None} for c in grouping.cuts]
    facts = {name: getattr(grouping, name) for name in ("n_clusters", "rows", "leaves", "found")}
    return {**facts, "merges": np.asarray(grouping.tree), "cuts": cuts, "kept_by_chance": by_chance}


def matrix(values: Floats, order: NDArray[np.intp], most_cells: int = 400) -> dict[str, Any]:
    """Similarities in the order of the tree; above ``most_cells`` objects every cell is a mean over block x block of them."""
    ordered = values[np.ix_(order, order)]
    block = -(-len(order) // most_cells)
    if block > 1:
        edges = np.arange(0, len(order), block)
        sizes = np.diff([*edges, len(order)])
        sums = np.add.reduceat(np.add.reduceat(ordered, edges, axis=0), edges, axis=1)
        ordered = sums / np.outer(sizes, sizes)
    return {"order": order, "block": block, "values": np.round(ordered, 3)}


def maps(analysis: Analysis) -> list[dict[str, Any]]:
    """The best plane first, then the next one and the first principal components of the chosen space, all turned the same way."""
    name, best = analysis.plane_name, analysis.best.name
    first = along_axes(coordinates(analysis.plane)[:, :2])
    planes = [(name, name, first)]
    scores = analysis.scores.ranked() if analysis.splits else []
    others = [score.name for score in scores if score.name.endswith("-2") and score.name != name]
    planes += [(each, each, coordinates(analysis.fit(each))[:, :2]) for each in others[:1]]
    if analysis.space.n_components != 2 and best != name:
        flat = analysis.space.map(2)
        flat[analysis.space.uninformed] = np.nan
        planes.append((f"{best} axes", f"PCA of {best}", flat))
    accuracy = {score.name: score.accuracy for score in scores}
    drawn = []
    for name, title, points in planes:
        turned = points if points is first else align(points, first)
        x, y = np.round(turned[analysis.shown], 5).T
        drawn.append({"name": name, "title": title, "accuracy": accuracy.get(name), "x": x, "y": y})
    return drawn


def _with_arrows(
    drawn: Sequence[Mapping[str, Any]],
    analysis: Analysis,
    explained: Explained | None,
    objects: ObjectList | None,
    dimensions: Dimensions | None,
) -> list[dict[str, Any]]:
    """Maps with ``arrows`` where predicted numbers and named dimensions increase."""
    values: dict[str, Any] = {}
    if explained is not None:
        columns = property_columns(objects, analysis.shown_space)
        sure = [each.name for each in explained.properties if each.is_numeric and each.p <= 0.05]
        values = {name: columns[name] for name in sure}
    for each in dimensions.found if dimensions is not None else ():
        if dimensions is not None and each.name:
            on = dict(zip(dimensions.space.objects, dimensions.space.rows[:, each.number - 1], strict=True))
            title = f"{each.name} ({each.number})" if each.name in values else each.name
            values[title] = np.array([on.get(analysis.answers.objects[x], np.nan) for x in analysis.shown])
    return [
        {**m, "arrows": {name: arrow(np.array([m["x"], m["y"]]).T, of) for name, of in values.items()}}
        for m in drawn
    ]


def properties(analysis: Analysis, explained: Explained, objects: ObjectList | None) -> dict[str, Any]:
    """What explains the space. ``categories`` : of every object on the page."""
    columns = property_columns(objects, analysis.shown_space)
    rows = [{**plain(each), "predicted": words.predicted(each)} for each in explained.properties]
    categories = {each.name: columns[each.name] for each in explained.properties if not each.is_numeric}
    return {**plain(explained), "properties": rows, "categories": categories}


def object_rows(
    analysis: Analysis, stability: Stability | None, objects: ObjectList | None, pictured: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """One row per object on the page; objects go by their index there.

    ``spread``, ``circle`` : how uncertain its position is. ``placed`` : nobody was asked about it; its position comes from its
    vector. ``kept`` : how often resamples leave it in its cluster. ``unusual`` : one minus the mean similarity to its neighbours.
    """
    space, shown, counts = analysis.shown_space, analysis.shown, analysis.counts
    names = [analysis.answers.objects[x] for x in shown]
    listed = ((), (), ()) if objects is None else (objects.names, objects.display_names, objects.groups)
    given, group = (dict(zip(listed[0], column, strict=True)) for column in listed[1:])
    spoken = dict(zip(names, display_names(names), strict=True))
    unknown = np.full(len(names), np.nan)
    near: list[list[dict[str, Any]]] = [[] for _ in names]
    unusual, flagged = unknown, np.zeros(0, dtype=int)
    circle = unknown if stability is None else stability.circle[shown]
    placed = space.placed
    if placed.any():
        left_open = getattr(analysis.plane.estimator, "spread_", np.full(analysis.answers.n_objects, np.nan))
        size = radius(coordinates(analysis.plane))  # circles are shares of it
        circle = np.where(placed, NINE_IN_TEN * left_open[shown] / size, circle)
    if int(space.informed.sum()) > 1:
        odd = space.outliers()
        nearest = space.nearest(odd.k)
        unusual, flagged = odd.scores, odd.flagged
        for own, indices, values in zip(near, nearest.indices, nearest.similarities, strict=True):
            known = zip(indices.tolist(), np.round(values, 4).tolist(), strict=True)
            own += [{"object": j, "similarity": s} for j, s in known if j >= 0]
    columns = {
        "name": names,
        "display_name": [given[name] if given.get(name, name) != name else spoken[name] for name in names],
        "group": [group.get(name) or "" for name in names],
        "picture": [name in pictured for name in names],
        "answers": counts.per_object[shown].tolist(),
        "informed": space.informed.tolist(),
        "placed": placed.tolist(),
        "spread": unknown if stability is None else np.round(stability.spread[shown], 5),
        "circle": np.round(circle, 5),
        "kept": unknown if stability is None or stability.kept is None else np.round(stability.kept, 5),
        "unusual": np.round(unusual, 5),
        "outlier": np.isin(np.arange(len(names)), flagged).tolist(),
        "neighbours": near,
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*map(plain, columns.values()), strict=True)]


def participants(
    analysis: Analysis, shown: Mapping[str, str], checks: Mapping[str, tuple[int, int]]
) -> dict[str, Any] | None:
    """Every participant under the name shown, those to check first; ``checks`` : right, and of how many."""
    people = analysis.people
    if people is None:
        return None
    rows = []
    for person in people.rows:
        right, of = checks.get(person.name, (0, 0))
        told = {"reason": words.reason(person, people), "checks_right": right, "checks": of}
        rows.append({**plain(replace(person, name=shown[person.name])), **told})
    return {"rows": rows, "usual": people.usual, "fast_below": people.fast_below}


def _hash(files: Sequence[str | os.PathLike[str]], answers: Triplets) -> str:
    """SHA-256 of the files one after the other; of the triplets themselves where a file cannot be read again."""
    digest = hashlib.sha256()
    if files and all(Path(file).is_file() for file in files):
        for file in files:
            with open(file, "rb") as stream:
                hashlib.file_digest(stream, lambda: digest)
    else:
        digest.update("\0".join(answers.objects).encode())
        digest.update(np.ascontiguousarray(answers.array, dtype="<i4").tobytes())
    return digest.hexdigest()


def today() -> str:
    """The date; ``SOURCE_DATE_EPOCH`` fixes it where builds must be the same."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return time.strftime("%Y-%m-%d", time.gmtime(int(fixed) if fixed.isdigit() else None))
