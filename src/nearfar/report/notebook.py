"""A small notebook that redoes a report's analysis, step by step, from the answers in its own folder."""

from __future__ import annotations

import json
from typing import Any

from nearfar.report.facts import Facts

__all__ = ["ANSWERS", "OBJECTS", "notebook_json"]

ANSWERS, OBJECTS = "answers.csv", "objects.csv"  # beside the notebook


def notebook_json(facts: Facts) -> str:
    """The notebook as text: plain JSON, nbformat 4.5."""
    cells = [
        _text(
            f"# {facts.title}\n\nThe analysis of the report, step by step, with nearfar {facts.versions['nearfar']}. "
            f"SHA-256 of the files it was made from: `{facts.answers.sha256}`."
        ),
        _code(READING),
        _text("## Which model predicts answers it has not seen?"),
        _code(
            f"analysis = nf.analyse(answers, seed={facts.seed})\nprint(analysis)"
            if facts.judge.models
            else "print(nf.noise_ceiling(answers))"
        ),
        _text("## Space, map, tree, clusters"),
        _code(_analysis(facts)),
    ]
    if facts.curve is not None:
        cells.append(_text("## Would more answers help?"))
        cells.append(
            _code(f"print(nf.learning_curve(answers, {facts.curve.model!r}, cv=3, seed={facts.seed}))")
        )
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


def _analysis(facts: Facts) -> str:
    lines = [f"space = nf.fit(answers, {facts.judge.best!r})", "K = space.kernel()"]
    if facts.judge.map:
        lines.append(f"points = nf.fit(answers, {facts.judge.map!r}).map(2)")
    if facts.tree is not None:
        lines += ["tree = space.tree()", f"labels = nf.methods.cut(tree, {facts.tree.k})", "labels"]
    return "\n".join(lines)


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
