"""Figure 1: the ideas behind k1 and k2, on seven points in the plane."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import _plots
from experiments._data import Data
from experiments._experiment import Cell, Claim, Experiment, Figure, Row, Section, table
from nearfar import kernel_matrix
from nearfar.design import random_questions
from nearfar.simulate import answers

POINTS = np.array([(-28, 27), (2, -3), (-7, 14), (-41, -37), (44, 5), (34, -18), (7, -74)], dtype=float)
PAIRS = ((1, 2), (1, 7), (2, 7))
# what the figure says: tau, and the share of agreement minus disagreement that k2 is after
PAPER = {(1, 2): ("1/3", "15/49"), (1, 7): ("-5/7", "3/49"), (2, 7): ("-3/7", "1/49")}


def cells(quick: bool) -> list[Cell]:
    return [Cell({"pair": list(pair)}, 0.1) for pair in PAIRS]


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    a, b = (number - 1 for number in settings["pair"])
    d = np.linalg.norm(POINTS[:, None] - POINTS[None], axis=2)
    n = len(POINTS)
    complete = answers(random_questions(n, n * (n - 1) * (n - 2) // 2), distances=d).triplets
    return {
        "ideal_k1": str(ideal_k1(d, a, b)),
        "ideal_k2": str(ideal_k2(d, a, b)),
        "k1": kernel_matrix(complete, "k1", diagonal="keep")[a, b],
        "k2": kernel_matrix(complete, "k2", diagonal="keep")[a, b],
    }


def ideal_k1(d: NDArray[np.float64], a: int, b: int) -> Fraction:
    """Kendall's tau between the rankings of all objects, a and b included, by distance from a and from b."""
    pairs = list(combinations(range(len(d)), 2))
    agreement = sum(np.sign(d[a, i] - d[a, j]) * np.sign(d[b, i] - d[b, j]) for i, j in pairs)
    return Fraction(int(agreement), len(pairs))


def ideal_k2(d: NDArray[np.float64], a: int, b: int) -> Fraction:
    """Over all (i, j): do a and b lie on the same side of j, as seen from i? Agreement minus disagreement."""
    of_a, of_b = np.sign(d[:, a, None] - d), np.sign(d[:, b, None] - d)
    return Fraction(int((of_a * of_b).sum()), d.size)


def section(rows: list[Row], data: Data) -> Section:
    ours = {tuple(row["pair"]): (row["ideal_k1"], row["ideal_k2"]) for row in rows}
    same = sum(
        ours.get(pair, ())[i : i + 1] == values[i : i + 1] for pair, values in PAPER.items() for i in (0, 1)
    )
    lines = []
    for row in rows:
        pair = tuple(row["pair"])
        name = f"x{pair[0]}, x{pair[1]}"
        lines.append(
            [
                name,
                PAPER[pair][0],
                row["ideal_k1"],
                PAPER[pair][1],
                row["ideal_k2"],
                f"{row['k1']:.3f}",
                f"{row['k2'] + 0.0:.3f}",
            ]
        )
    head = [
        "pair",
        "k1's idea, paper",
        "ours",
        "k2's idea, paper",
        "ours",
        "k1 from all triplets",
        "k2 from all triplets",
    ]
    text = (
        "Seven points that reproduce the figure. The ideal scores rank all seven objects, the object itself first; "
        "triplets never compare an object with itself, so the kernels computed from all triplets (last two columns) "
        "differ from the ideals a little.\n\n" + table(head, lines)
    )
    claim = Claim(
        "Figure 1: similarity scores of three pairs by k1's idea (1/3, -5/7, -3/7) and by k2's (15/49, 3/49, 1/49).",
        f"{same} of 6 numbers are the same fractions.",
        "holds" if same == 6 else "does not hold",
        "Exact arithmetic on the same points.",
    )
    return Section(text, [claim], {"figure1": Figure(draw, "The seven points of figure 1.")})


def draw() -> Any:
    figure, axes = _plots.panels(1, 1, width=3.6, height=3.4)
    axis = axes[0, 0]
    chosen = {number - 1 for pair in PAIRS for number in pair}
    for i, (x, y) in enumerate(POINTS):
        axis.scatter(x, y, s=42, color=_plots.INK if i in chosen else _plots.FAINT, zorder=3)
        axis.annotate(f"$x_{i + 1}$", (x, y), (6, 5), textcoords="offset points")
    axis.set_aspect("equal")
    axis.margins(0.14)
    _plots.bare(axis)
    return figure


EXPERIMENT = Experiment("figure1", "Figure 1: what the kernels are after", cells, compute, section)
