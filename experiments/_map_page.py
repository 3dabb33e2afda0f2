"""What the maps of 20,000 digits say: a figure, a table, a claim."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import _maps, _methods, _plots
from experiments._data import Data
from experiments._experiment import Claim, Figure, Row, Section, Verdict, table
from experiments._rows import matching

__all__ = ["TITLE", "section"]

TITLE = "MNIST: a map of 20,000 digits"
PAPER_SECONDS = {"k1": 900, "GNMDS": 6000}


def name_of(row: Row) -> str:
    """The method, its triplets, its start."""
    if _methods.is_kernel(row["method"]):
        return f"kernel PCA on {row['method']}, landmark triplets"
    kind = "landmark" if row["design"] == "landmark" else "random"
    return f"{row['method']}, {kind} triplets, {'our' if row['start'] == 'kernel' else 'random'} start"


def section(rows: list[Row], data: Data) -> Section:
    first = rows[0]
    text = (
        f"{first['n']:,} digits, 30 landmarks, {first['triplets']:,} triplets, flips 0.15, maps in the plane. Neighbours: share "
        "of digits whose class the ten nearest others on the map vote for (five folds; guessing gives .11). Accuracy: share "
        "of fresh, unflipped random triplets the map has right.\n\n"
    )
    lines = [
        [name_of(row), f"{row['seconds']:.2f}", f"{row['neighbours']:.3f}", f"{row['accuracy']:.3f}"]
        for row in rows
    ]
    text += table(["map", "CPU seconds", "neighbours", "accuracy"], lines)
    figure = Figure(lambda: draw(rows), "Maps of the same digits, 1,200 of them shown, coloured by class.")
    return Section(text, _claims(rows), {"mnist_map": figure})


def _claims(rows: list[Row]) -> list[Claim]:
    k1 = matching(rows, method="k1")[0]
    gnmds = matching(rows, method="GNMDS", design="rand", start="random")[0]
    ratio = gnmds["seconds"] / k1["seconds"]
    verdict: Verdict = (
        "holds"
        if ratio >= PAPER_SECONDS["GNMDS"] / PAPER_SECONDS["k1"]
        else "holds in part"
        if ratio > 1
        else "does not hold"
    )
    return [
        Claim(
            "MNIST, n = 20,000: kernel PCA on k1 took about 900 seconds, GNMDS in the plane over 6,000 (a factor of 7); both "
            "maps show the digits.",
            f"n = {k1['n']:,}: {k1['seconds']:.1f} s against {gnmds['seconds']:.1f} s, a factor of {ratio:.0f}. Neighbours "
            f"{k1['neighbours']:.2f} against {gnmds['neighbours']:.2f}, accuracy {k1['accuracy']:.2f} against "
            f"{gnmds['accuracy']:.2f}.",
            verdict,
            "Rule: at least the paper's factor. k1 needs neither the n x n kernel matrix nor an optimisation: kernel PCA is "
            "computed from Phi, which has 435 columns. GNMDS's map follows the distances better (accuracy): random triplets tell "
            "more than landmark triplets."
            if gnmds["accuracy"] > k1["accuracy"]
            else "Rule: at least the paper's factor.",
        )
    ]


def draw(rows: list[Row]) -> Any:
    chosen = [
        matching(rows, method="k1")[0],
        matching(rows, method="GNMDS", design="rand", start="random")[0],
        matching(rows, method="STE")[0],
    ]
    figure, axes = _plots.panels(1, len(chosen), width=9.0, height=3.5)
    for axis, row in zip(axes[0], chosen, strict=True):
        points = np.asarray(row["points"])
        _maps.spread(axis, points, row["digits"], size=5)
        low, high = np.percentile(points, (0.5, 99.5), axis=0)
        edge = 0.06 * (high - low)
        axis.set(xlim=(low[0] - edge[0], high[0] + edge[0]), ylim=(low[1] - edge[1], high[1] + edge[1]))
        axis.set_aspect("auto")
        axis.set_title(f"{name_of(row)}\n{row['seconds']:.1f} s", fontsize=8)
    for digit, colour in enumerate(_plots.DIGITS):
        axes[0, 0].scatter([], [], color=colour, s=22, label=str(digit))
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=10, handletextpad=0
    )
    return figure
