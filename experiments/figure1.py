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
ALIKE, OPPOSITE = "#0072b2", "#d55e00"


def cells(quick: bool) -> list[Cell]:
    return [Cell({"pair": list(pair)}, 0.1) for pair in PAIRS]


def distances() -> NDArray[np.float64]:
    return np.asarray(np.linalg.norm(POINTS[:, None] - POINTS[None], axis=2))


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    a, b = (number - 1 for number in settings["pair"])
    d, n = distances(), len(POINTS)
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
    return Fraction(int(same_side(d, a, b).sum()), d.size)


def same_side(d: NDArray[np.float64], a: int, b: int) -> NDArray[np.int64]:
    """(n, n) by (i, j): 1 where a and b are both nearer to i than j is, or both farther; -1 where not; 0 ties."""
    of_a, of_b = np.sign(d[:, a, None] - d), np.sign(d[:, b, None] - d)
    return np.asarray(of_a * of_b, dtype=np.int64)


def section(rows: list[Row], data: Data) -> Section:
    ours = {tuple(row["pair"]): (row["ideal_k1"], row["ideal_k2"]) for row in rows}
    same = sum(
        ours.get(pair, ())[i : i + 1] == values[i : i + 1] for pair, values in PAPER.items() for i in (0, 1)
    )
    head = [
        "pair",
        "k1's idea: paper",
        "ours",
        "k2's idea: paper",
        "ours",
        "k1, all triplets",
        "k2, all triplets",
    ]
    lines = []
    for row in rows:
        paper = PAPER[row["pair"][0], row["pair"][1]]
        name = "x{}, x{}".format(*row["pair"])
        values = [f"{row[kernel] + 0.0:.3f}" for kernel in ("k1", "k2")]
        lines.append([name, paper[0], row["ideal_k1"], paper[1], row["ideal_k2"], *values])
    text = (
        "The coordinates of the paper's seven points are not published; ours were found so as to reproduce all six numbers of "
        "the figure. The ideal scores rank all seven objects, the object itself first. Triplets never compare an object with "
        "itself, so the kernels computed from all triplets (last two columns) differ a little from the ideals.\n\n"
        + table(head, lines)
    )
    claim = Claim(
        "Similarity scores of three pairs: 1/3, -5/7, -3/7 by k1's idea, 15/49, 3/49, 1/49 by k2's.",
        f"{same} of 6 numbers are the same fractions.",
        "holds" if same == 6 else "does not hold",
        "Rule: equal, in exact arithmetic. Since the points were chosen by these numbers, this checks our reading of the two "
        "ideas (one set of points fits all six), not the paper's arithmetic on its own points.",
        short="six similarity scores of three pairs",
    )
    caption = (
        "What the kernels compare, for x1 and x7. Left: the points. Middle, k1: both rank all points by distance; crossing "
        "lines (orange) are pairs they order differently. Right, k2: for every i and j, are x1 and x7 on the same side of j "
        "as seen from i?"
    )
    return Section(text, [claim], {"figure1": Figure(draw, caption)})


def draw() -> Any:
    figure, axes = _plots.panels(1, 3, width=9.2, height=3.5, width_ratios=(1.15, 1, 1.1))
    a, b = 0, 6
    _draw_points(axes[0, 0])
    _draw_rankings(axes[0, 1], a, b)
    _draw_sides(axes[0, 2], a, b)
    return figure


def _draw_points(axis: Any) -> None:
    chosen = {number - 1 for pair in PAIRS for number in pair}
    for i, (x, y) in enumerate(POINTS):
        axis.scatter(x, y, s=42, color=_plots.INK if i in chosen else _plots.FAINT, zorder=3)
        axis.annotate(f"$x_{i + 1}$", (x, y), (6, 5), textcoords="offset points")
    axis.set_aspect("equal")
    axis.margins(0.16)
    axis.set_title("seven points")
    _plots.bare(axis)


def _draw_rankings(axis: Any, a: int, b: int) -> None:
    """The points in order of distance from a and from b; a line per point, orange where two lines cross."""
    d = distances()
    places = [np.argsort(np.argsort(d[anchor])) for anchor in (a, b)]
    n = len(d)
    for i, j in combinations(range(n), 2):
        if (places[0][i] - places[0][j]) * (places[1][i] - places[1][j]) < 0:
            t = (places[0][i] - places[0][j]) / (
                (places[0][i] - places[0][j]) - (places[1][i] - places[1][j])
            )
            height = places[0][i] + t * (places[1][i] - places[0][i])
            axis.scatter(t, -height, s=20, color=OPPOSITE, zorder=3, linewidths=0)
    for i in range(n):
        axis.plot((0, 1), (-places[0][i], -places[1][i]), color=_plots.FAINT, linewidth=1.2, zorder=1)
        axis.text(-0.06, -places[0][i], f"$x_{i + 1}$", ha="right", va="center")
        axis.text(1.06, -places[1][i], f"$x_{i + 1}$", ha="left", va="center")
    axis.text(-0.06, 0.75, f"seen from $x_{a + 1}$", ha="center", fontsize=8)
    axis.text(1.06, 0.75, f"seen from $x_{b + 1}$", ha="center", fontsize=8)
    axis.set(xlim=(-0.35, 1.35), ylim=(-n + 0.4, 1.3))
    axis.set_title(f"$k_1$: two rankings, $\\tau$ = {ideal_k1(d, a, b)}")
    _plots.bare(axis)


def _draw_sides(axis: Any, a: int, b: int) -> None:
    d = distances()
    signs = same_side(d, a, b)
    colours = {1: ALIKE, 0: "#e4e6ea", -1: OPPOSITE}
    n = len(d)
    for i, j in np.ndindex(n, n):
        axis.add_patch(_plots.tile(j, -i, colours[int(signs[i, j])]))
    ticks = [f"$x_{i + 1}$" for i in range(n)]
    axis.set_xticks(range(n), ticks)
    axis.set_yticks([-i for i in range(n)], ticks)
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)
    axis.set(xlim=(-0.6, n - 0.4), ylim=(-n + 0.4, 0.6), xlabel="compared with $j$", ylabel="seen from $i$")
    axis.set_aspect("equal")
    for sign, label in ((1, "same side"), (-1, "opposite"), (0, "tie")):
        axis.scatter([], [], marker="s", s=40, color=colours[sign], label=label)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, handletextpad=0.1, columnspacing=0.8)
    axis.set_title(f"$k_2$: mean of the tiles = {ideal_k2(d, a, b)}")


EXPERIMENT = Experiment("figure1", "Figure 1: what the kernels compare", cells, compute, section)
