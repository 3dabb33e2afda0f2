"""Rows -> docs/paper.md and its figures."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments import _plots
from experiments._data import Data
from experiments._experiment import Absent, Claim, Experiment, Figure, Section, table
from experiments._runner import Places
from experiments._store import Store
from nearfar.atomic import atomic_path

__all__ = ["write_page"]

HEAD = """# The paper, redone

*Kernel functions based on triplet comparisons*, M. Kleindessner and U. von Luxburg, NIPS 2017, figure by figure: its
claims, our numbers, and whether they hold. This page is generated from the rows in
`{rows}` by `python -m experiments`; do not edit it.
"""
READING = """Claims are close paraphrases of the paper's text, with its own figures where it gives some. Verdicts are computed from
the rows by the rule stated beside them. Times of the paper are from its Matlab code on a 2017 laptop; ours are CPU
seconds of one thread on the machine above, so only ratios within one column mean something.

    python -m experiments              # all of it; cells that are stored are not computed again, a killed run goes on
    python -m experiments usps mnist   # some of it
    python -m experiments --quick      # small, in minutes, into experiments/quick
    python -m experiments peers --peers  # cblearn's embeddings, in an environment of their own
"""
MARKS = {
    "holds": "holds",
    "holds in part": "holds in part",
    "does not hold": "**does not hold**",
    "no data": "no data",
}


def write_page(experiments: Sequence[Experiment], places: Places, data: Data, *, quick: bool = False) -> Path:
    """Draw every experiment that has rows, judge its claims, and write the page whole or not at all."""
    sections = []
    for experiment in experiments:
        store = Store(places.rows, experiment.name)
        found = experiment.section(store.rows(), data) if len(store) else _not_run(experiment, data)
        sections.append((experiment, found, len(store), len(experiment.cells(quick))))
    parts = [
        HEAD.format(rows=_relative(places.rows, places.page.parent)),
        _machine(places.rows, quick),
        READING,
    ]
    parts += ["## Claims at a glance\n", _glance(sections)]
    for experiment, found, stored, wanted in sections:
        parts += [f"## {experiment.title}\n", *_body(experiment, found, places, stored, wanted)]
    places.page.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(places.page) as path:
        path.write_text("\n".join(part.rstrip("\n") + "\n" for part in parts), encoding="utf-8")
    return places.page


def _not_run(experiment: Experiment, data: Data) -> Section:
    if experiment.absent is not None:
        return Section(experiment.absent(data))
    extra = " --peers" if experiment.needs_peers else ""
    return Section(f"Not run yet: `python -m experiments {experiment.name}{extra}`.")


def _machine(folder: Path, quick: bool) -> str:
    path = folder / "machine.json"
    if not path.exists():
        return ""
    facts = json.loads(path.read_text(encoding="utf-8"))
    line = f"Measured on {facts['cores']} cores of {facts['processor']}, Python {facts['python']}, numpy {facts['numpy']}, {facts['date']}."
    if facts["load"] and facts["load"] > 1.5 * facts["cores"]:
        line += (
            f" Others used the machine at the same time (load {facts['load']}): CPU seconds do not count waiting, but "
            "caches are shared, so single times may be up to twice those of an idle machine."
        )
    return (
        line + (" **This is a quick run: few runs, small sizes; do not quote it.**" if quick else "") + "\n"
    )


def _glance(sections: Sequence[tuple[Experiment, Section, int, int]]) -> str:
    rows = [
        [f"[{experiment.name}](#{_anchor(experiment.title)})", claim.paper, claim.ours, MARKS[claim.verdict]]
        for experiment, found, *_ in sections
        for claim in found.claims
    ]
    return table(["where", "the paper", "ours", "verdict"], rows).replace("---:", "---")


def _anchor(title: str) -> str:
    """The id that a heading gets on the usual hosts.

    >>> _anchor("Figure 1: what the kernels are after")
    'figure-1-what-the-kernels-are-after'
    """
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def _body(experiment: Experiment, found: Section, places: Places, stored: int, wanted: int) -> list[str]:
    parts = [found.text]
    if 0 < stored < wanted:
        parts.append(f"*{stored:,} of {wanted:,} cells are computed so far.*")
    for name, figure in found.figures.items():
        path = places.figures / f"{name}.png"
        if _draw(figure, path, Store(places.rows, experiment.name).path):
            parts.append(f"![{figure.caption}]({_relative(path, places.page.parent)})")
            parts.append(f"*{figure.caption}*")
    parts += [_claim(claim) for claim in found.claims]
    return parts


def _draw(figure: Figure, path: Path, rows: Path) -> bool:
    """Draw what is older than its rows or than the code; True where there is a picture afterwards."""
    code = max(file.stat().st_mtime for file in Path(__file__).parent.glob("*.py"))
    if not path.exists() or path.stat().st_mtime < max(code, rows.stat().st_mtime):
        try:
            _plots.save(figure.draw(), path)
        except Absent as reason:
            print(f"{path.name} is not drawn again: {reason}", file=sys.stderr)
    return path.exists()


def _claim(claim: Claim) -> str:
    why = f" {claim.why}" if claim.why else ""
    return f"> **The paper:** {claim.paper}\n>\n> **Ours:** {claim.ours}\n>\n> **{claim.verdict.capitalize()}.**{why}"


def _relative(path: Path, start: Path) -> str:
    return Path(os.path.relpath(path, start)).as_posix()
