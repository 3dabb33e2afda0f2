"""Notebooks: an analysis as they show it, and one that redoes a report, step by step, from the answers in its own folder."""

from __future__ import annotations

import io
import json
import warnings
from html import escape
from inspect import signature
from typing import Any

import numpy as np

from nearfar._tools.text import percent
from nearfar.errors import InputError, MissingExtra, NearfarWarning
from nearfar.evaluate.analysis import Analysis
from nearfar.report.make import Report
from nearfar.space.models import Model, parse_model
from nearfar.words import interval

ANSWERS, OBJECTS = "answers.csv", "objects.csv"  # beside the notebook
FEATURES = "features-{}.csv"  # one per source, numbered
READING = f"""\
import nearfar as nf

answers = nf.read_triplets({ANSWERS!r}, dialect="canonical", objects={OBJECTS!r})
answers"""


def analysis_html(analysis: Analysis) -> str:
    """The headline, a table of the best models, and the objects in the best plane.

    Examples
    --------
    >>> import nearfar as nf
    >>> html = analysis_html(nf.analyse([[0, 1, 2], [1, 0, 2], [2, 1, 0]]))
    >>> html[:4], "score" in html
    ('<div', True)
    """
    with warnings.catch_warnings(action="ignore", category=NearfarWarning):
        blocks = [f"<p><b>{escape(repr(analysis))}</b><br>{escape(analysis.headline)}</p>"]
        if analysis.splits:
            rows = []
            for score in analysis.scores.ranked()[:8]:
                chosen = " (chosen)" if score.name == analysis.best.name else ""
                cells = score.name + chosen, percent(score.accuracy), interval(score.low, score.high)
                rows.append(f"<tr><td>{'</td><td>'.join(map(escape, cells))}</td></tr>")
            head = "<tr><th>model</th><th>held-out answers predicted</th><th></th></tr>"
            blocks.append(f"<table>{head}{''.join(rows)}</table>")
        if analysis.space.informed.any():
            blocks.append(_map_svg(analysis))
    return f"<div>{''.join(blocks)}</div>"


def _map_svg(analysis: Analysis) -> str:
    """The map as SVG; nothing where matplotlib is not installed."""
    plane, text = analysis.plane, io.StringIO()
    try:
        from nearfar.plot.style import Look, style
        from nearfar.report.figures import print_map

        points, look = plane.map(2), Look()
        points[plane.uninformed] = np.nan
        placed = plane.placed.tolist()
        printed = print_map(look, points, plane.objects, model=analysis.plane_name, placed=placed)
    except MissingExtra:
        return ""
    with style(look):
        printed.figure.savefig(text, format="svg", metadata={"Date": None})
    drawing = text.getvalue()[text.getvalue().index("<svg") :]
    return f"{drawing}<p>{escape(printed.caption)}</p>"


def notebook_json(report: Report) -> str:
    """The notebook as text: plain JSON, nbformat 4.5."""
    data, own = report.data, _own_models(report.analysis)
    cells = [
        _text(
            f"# {data['title']}\n\nThe analysis of the report, step by step, with nearfar {data['versions']['nearfar']}. "
            f"SHA-256 of the files it was made from: `{data['collection']['sha256']}`."
        ),
        _code(READING),
    ]
    if own:
        listed = "\n".join(["own = {", *(f"    {name!r}: ...," for name in own), "}"])
        cells += [_text("Models of your own, which this folder does not hold: put them here."), _code(listed)]
    structure = ["space = analysis.shown_space", "K = space.kernel()"]
    structure += ["points = analysis.plane.map(2)"] if data["maps"] else []
    if data["tree"]:
        wanted = "" if report.n_clusters is None else str(report.n_clusters)
        structure += [f"grouping = analysis.cluster_tree({wanted})", "tree = grouping.tree"]
        structure += ["labels = grouping.chosen.labels", "labels"]
    cells += [
        _text("## Which model predicts held-out answers?"),
        _code(f"{_analysis(report.analysis, own)}\nprint(analysis)"),
        _text("## Space, map, tree, clusters"),
        _code("\n".join(structure)),
    ]
    if data["curve"]:
        cells += [_text("## Would more answers help?"), _code("print(analysis.curve)")]
    if data["groups"] and data["groups"]["pairs"]:
        of = report.groups
        groups = {shown: of[name] for name, shown in report.people.items() if name in of}
        cells.append(_text("## Do the groups see the objects differently?"))
        cells.append(_code(f"groups = {groups!r}\nprint(analysis.groups(groups))"))
    cells = [cell | {"id": f"cell-{number}"} for number, cell in enumerate(cells)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    book = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _own_models(analysis: Analysis) -> list[str]:
    """The names of judged models that are not what these names mean to everybody."""

    def is_known(model: Model) -> bool:
        try:
            return bool(parse_model(model.name) == model)
        except InputError:
            return False

    return [model.name for model in analysis._listed if not is_known(model)]


def _analysis(analysis: Analysis, own: list[str]) -> str:
    """The call that makes the analysis again, with every argument that is not the default."""

    def code(name: str) -> str:
        return f"own[{name!r}]" if name in own else repr(name)

    settings = analysis.settings
    if settings["features"] is not None:
        files = enumerate(settings["features"], 1)
        settings["features"] = {source: FEATURES.format(number) for number, source in files}
    usual = {name: given.default for name, given in signature(Analysis).parameters.items()}
    given = ["answers"]
    if settings["model"] != usual["model"]:
        given.append(code(settings["model"]))
    if settings["models"] is not None:
        listed = ", ".join(f"{name!r}: {code(name)}" for name in settings["models"])
        given.append(f"models={{{listed}}}")
    given += [
        f"{name}={value!r}"
        for name, value in settings.items()
        if name not in ("model", "models") and (name == "seed" or value != usual[name])
    ]
    return f"analysis = nf.analyse({', '.join(given)})"


def _text(code: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": code}


def _code(code: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": code}
