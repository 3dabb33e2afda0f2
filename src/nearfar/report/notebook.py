"""A small notebook that redoes a report's analysis, step by step, from the answers in its own folder."""

from __future__ import annotations

import json
from inspect import signature
from typing import Any

from nearfar.errors import InputError
from nearfar.evaluate.analysis import Analysis
from nearfar.report.collect import Made
from nearfar.space.models import Model, parse_model

__all__ = ["ANSWERS", "OBJECTS", "notebook_json"]

ANSWERS, OBJECTS = "answers.csv", "objects.csv"  # beside the notebook


def notebook_json(made: Made) -> str:
    """The notebook as text: plain JSON, nbformat 4.5."""
    facts, own = made.facts, _own_models(made.analysis)
    cells = [
        _text(
            f"# {facts.title}\n\nThe analysis of the report, step by step, with nearfar {facts.versions['nearfar']}. "
            f"SHA-256 of the files it was made from: `{facts.answers.sha256}`."
        ),
        _code(READING),
    ]
    if own:
        lines = [f"    {name!r}: ...," for name in own]
        cells.append(_text("Models of your own, which this folder does not hold: put them here."))
        cells.append(_code("\n".join(["own = {", *lines, "}"])))
    cells += [
        _text("## Which model predicts answers it has not seen?"),
        _code(f"{_analysis(made.analysis, own)}\nprint(analysis)"),
        _text("## Space, map, tree, clusters"),
        _code(_structure(made)),
    ]
    if facts.curve is not None:
        cells += [_text("## Would more answers help?"), _code("print(analysis.curve)")]
    if facts.groups is not None and facts.groups.pairs:
        cells.append(_text("## Do the groups see the objects differently?"))
        cells.append(_code(f"groups = {_groups(made)!r}\nprint(analysis.groups(groups))"))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    book = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


READING = f"""\
import nearfar as nf

answers = nf.read_triplets({ANSWERS!r}, dialect="canonical", objects={OBJECTS!r})
answers"""


def _own_models(analysis: Analysis) -> list[str]:
    """The names of judged models that are not what these names mean to everybody."""

    def is_known(model: Model) -> bool:
        try:
            return bool(parse_model(model.name) == model)
        except InputError:
            return False

    return [model.name for model in analysis.models if not is_known(model)]


def _analysis(analysis: Analysis, own: list[str]) -> str:
    """The call that makes the analysis again, with every argument that is not the default."""

    def code(name: str) -> str:
        return f"own[{name!r}]" if name in own else repr(name)

    settings = analysis.settings
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


def _structure(made: Made) -> str:
    facts, asked = made.facts, made.options.n_clusters
    lines = ["space = analysis.shown_space", "K = space.kernel()"]
    if facts.judge.map:
        lines.append("points = analysis.plane.map(2)")
    if facts.tree is not None:
        wanted = "" if asked is None else str(asked)
        lines += [f"grouping = analysis.cluster_tree({wanted})", "tree = grouping.tree"]
        lines += ["labels = grouping.chosen.labels", "labels"]
    return "\n".join(lines)


def _groups(made: Made) -> dict[str, str]:
    """Who is in which group, under the names of the report."""
    people = made.analysis.answers.participant
    known = [] if people is None else [str(name) for name in people.names]
    groups = made.options.groups or {}
    return {made.people[name]: groups[name] for name in known if name in groups}


def _text(code: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": code}


def _code(code: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": code}
