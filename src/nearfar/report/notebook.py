"""A small notebook that redoes a report's analysis, step by step, from the same files."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearfar.report.facts import Facts

__all__ = ["Inputs", "notebook_json"]


@dataclass(frozen=True)
class Inputs:
    """The files a report was made from; "" or empty where there was none."""

    answers: tuple[str, ...] = ()
    objects: str = ""
    exclude: str = ""
    dialect: str = ""

    def beside(self, folder: Path) -> Inputs:
        """The same files, seen from a folder."""

        def seen(path: str) -> str:
            return Path(os.path.relpath(path, folder)).as_posix() if path else ""

        return Inputs(tuple(map(seen, self.answers)), seen(self.objects), seen(self.exclude), self.dialect)


def notebook_json(facts: Facts, inputs: Inputs) -> str:
    """The notebook as text: plain JSON, nbformat 4.5."""
    cells = [
        _text(
            f"# {facts.title}\n\nThe analysis of the report, step by step, with nearfar {facts.versions['nearfar']}. "
            f"SHA-256 of the input: `{facts.answers.sha256}`."
        ),
        _code(_reading(inputs)),
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


def _reading(inputs: Inputs) -> str:
    files: Any = inputs.answers[0] if len(inputs.answers) == 1 else list(inputs.answers)
    lines = ["import numpy as np", "", "import nearfar as nf", ""]
    if not inputs.answers:
        lines.append("# The report was made from answers in memory: name their file here.")
        files = "answers.csv"
    extra = f", dialect={inputs.dialect!r}" if inputs.dialect else ""
    extra += f", objects=nf.read_objects({inputs.objects!r})" if inputs.objects else ""
    lines.append(f"answers = nf.read_triplets({files!r}{extra}, on_bad='drop')")
    if inputs.exclude:
        lines += [
            "from pathlib import Path",
            "",
            f"out = {{name.strip() for name in Path({inputs.exclude!r}).read_text(encoding='utf-8').splitlines()}}",
            "answers = answers[np.array([str(name) not in out for name in np.asarray(answers.participant)])]",
        ]
    return "\n".join([*lines, "answers"])


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
