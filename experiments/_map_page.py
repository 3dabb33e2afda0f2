"""What the maps of 20,000 digits say: a figure, a table, a claim."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import _maps, _methods, _plots
from experiments._data import Data
from experiments._experiment import Claim, Figure, Row, Section, Verdict, table, unjudged
from experiments._rows import matching, on_one_machine

__all__ = ["TITLE", "ours", "section"]

TITLE = "MNIST: a map of 20,000 digits"
PAPER_SECONDS = {"k1": 900, "GNMDS": 6000}
GUESSING = 0.11
CLAIM = {
    "faster at n = 20,000, both maps show digits": "n = 20,000: kernel PCA on k1 took about 900 seconds, GNMDS in the plane over 6,000 (a factor "
    "of 7); both maps show the digits.",
}


def name_of(row: Row) -> str:
    """The method, its triplets, its program."""
    kind = "landmark" if row["design"] == "landmark" else "random"
    if _methods.is_kernel(row["method"]):
        return f"kernel PCA on {row['method']}, {kind} triplets"
    return f"{row['method']} ({'published' if row['start'] == 'published' else 'ours'}), {kind} triplets"


def section(rows: list[Row], data: Data) -> Section:
    shown = [row for row in rows if row["method"] == "k1" or row.get("start") == "published"]
    first = rows[0]
    text = (
        f"{first['n']:,} digits, 30 landmarks, {first['triplets']:,} triplets, flips 0.15, maps in the plane. Neighbours: share of digits "
        f"whose class the ten nearest others on the map vote for (five folds; guessing gives {GUESSING:.2f}). Accuracy: share of "
        "fresh, unflipped random triplets that the map predicts. k1's time includes its 20,000 x 20,000 matrix (in single precision).\n\n"
        + _table(shown)
    )
    figure = Figure(
        lambda: draw(shown),
        "Maps of the same digits, 1,200 of them shown, coloured by class. On landmark triplets GNMDS puts almost all of them into "
        "one heap.",
    )
    return Section(text, _claims(rows), {"mnist_map": figure} if shown else {})


def _table(rows: list[Row]) -> str:
    lines = [
        [name_of(row), f"{row['seconds']:.2f}", f"{row['neighbours']:.3f}", f"{row['accuracy']:.3f}"]
        for row in rows
    ]
    return table(["map", "CPU seconds", "neighbours", "accuracy"], lines)


def _claims(rows: list[Row]) -> list[Claim]:
    program = {"method": "GNMDS", "design": "rand", "start": "published"}
    compared = on_one_machine(rows, program, {"method": "k1"})
    if not compared:
        return unjudged(CLAIM)
    k1, gnmds = matching(compared, method="k1")[0], matching(compared, **program)[0]
    ratio = gnmds["seconds"] / k1["seconds"]
    paper = PAPER_SECONDS["GNMDS"] / PAPER_SECONDS["k1"]
    digits = min(k1["neighbours"], gnmds["neighbours"]) > 2 * GUESSING
    verdict: Verdict = (
        "holds" if ratio >= paper and digits else "holds in part" if ratio > 1 else "does not hold"
    )
    return [
        Claim(
            CLAIM["faster at n = 20,000, both maps show digits"],
            f"n = {k1['n']:,}: {k1['seconds']:.1f} s against {gnmds['seconds']:.0f} s, a factor of {ratio:.1f}. Neighbours "
            f"{k1['neighbours']:.2f} against {gnmds['neighbours']:.2f}, accuracy {k1['accuracy']:.2f} against {gnmds['accuracy']:.2f}.",
            verdict,
            f"Rule: at least the paper's factor, and on both maps neighbours vote more than twice as well as guessing ({GUESSING:.2f}).",
            short="faster at n = 20,000, both maps show digits",
        )
    ]


def draw(rows: list[Row]) -> Any:
    figure, axes = _plots.panels(1, len(rows), width=3.3 * len(rows), height=3.95)
    figure.get_layout_engine().set(wspace=0.08)
    for axis, row in zip(axes[0], rows, strict=True):
        points = np.asarray(row["points"])
        _maps.spread(axis, points, row["digits"], size=5)
        low, high = points.min(axis=0), points.max(axis=0)
        middle, half = (low + high) / 2, 0.54 * (high - low).max()  # the same scale along both axes
        axis.set_aspect("equal", adjustable="box")
        axis.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half))
        axis.set_title(f"{name_of(row)}\n{row['seconds']:.1f} s", fontsize=8)
        for spine in axis.spines.values():
            spine.set(visible=True, color=_plots.FAINT)
    for digit, colour in enumerate(_plots.DIGITS):
        axes[0, 0].scatter([], [], color=colour, s=22, label=str(digit))
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=10, handletextpad=0
    )
    return figure


def ours(rows: list[Row], data: Data) -> Section:
    shown = [row for row in rows if row.get("start") != "published"]
    k1 = matching(rows, method="k1")
    more = (
        f" Kernel PCA on k1 from Phi, without the matrix, takes {k1[0]['feature_seconds']:.2f} s."
        if k1
        else ""
    )
    text = "The score kernel and our embeddings." + more + "\n\n" + _table(shown)
    figure = Figure(
        lambda: draw([row for row in shown if row["method"] != "k1"]), "The same 1,200 digits on our maps."
    )
    return Section(text, (), {"mnist_map_ours": figure})
