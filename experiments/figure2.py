"""Section 2.2, figure 2: a chain of points on which k1 contradicts the distances."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import _plots
from experiments._data import Data
from experiments._experiment import Cell, Claim, Experiment, Figure, Row, Section, Verdict, turned
from nearfar import kernel_matrix
from nearfar.design import random_questions
from nearfar.simulate import answers

SIZES = (6, 10, 20, 50, 100, 200)
QUICK = (6, 10, 20, 50)
CLOSE = 0.06  # of the limit, at the largest n
FAR_PAIR = ((-0.5, 1.2), (-0.5, -1.35))  # x1 and x2, in lengths of the chain


def points(n: int) -> NDArray[np.float64]:
    """x1 and x2 on opposite sides of the evenly spaced chain x3, ..., xn, in units of its steps.

    d(x1,x2) > d(x2,xn) > d(x1,xn) > d(x2,x3) > d(x1,x3) > d(x3,xn). The chain lies on whole numbers, so that
    equal distances on it are equal in the computer, too.
    """
    chain = np.stack([np.arange(n - 2.0), np.zeros(n - 2)], axis=1)
    return np.concatenate([np.array(FAR_PAIR) * (n - 3), chain])


def cells(quick: bool) -> list[Cell]:
    return [Cell({"n": n, "chain": "opposite sides"}, n**3 / 2e6) for n in (QUICK if quick else SIZES)]


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    n = settings["n"]
    questions = random_questions(n, n * (n - 1) * (n - 2) // 2)
    given = answers(questions, points=points(n))
    result: dict[str, Any] = {"triplets": len(given.triplets), "ties": given.ties}
    for kernel in ("k1", "k2", "score"):
        K = kernel_matrix(given.triplets, kernel, diagonal="keep")
        result |= {f"{kernel}_x1_x2": K[0, 1], f"{kernel}_x3_xn": K[2, n - 1]}
    return result


def section(rows: list[Row], data: Data) -> Section:
    names = [f"{kernel}_{pair}" for kernel in ("k1", "k2") for pair in ("x1_x2", "x3_xn")]
    heads = [f"{kernel}({pair})" for kernel in ("k1", "k2") for pair in ("x1,x2", "x3,xn")]
    lines = [
        [row["n"], f"{row['triplets']:,}", *(f"{row[name] + 0.0:.3f}" for name in names)] for row in rows
    ]
    last = rows[-1]
    grows = all(a["k1_x1_x2"] < b["k1_x1_x2"] and a["k1_x3_xn"] > b["k1_x3_xn"] for a, b in pairwise(rows))
    near = last["k1_x1_x2"] > 1 - CLOSE and last["k1_x3_xn"] < -1 + CLOSE
    text = (
        "The paper's configuration: a chain x3, ..., xn of length 1, evenly spaced, and x1, x2 on opposite sides of it, farthest "
        "apart of all: d(x1,x2) > d(x2,xn) > d(x1,xn) > d(x2,x3) > d(x1,x3) > 1 = d(x3,xn). All triplets are given and all are "
        "right (equal distances on the chain give none). x1 and x2 see the chain in the same order, x3 and xn in opposite "
        "orders, and as the chain gets denser nothing else counts.\n\n"
        + turned(["n", "triplets", *heads], lines)
    )
    verdict: Verdict = "holds" if grows and near else "holds in part" if grows else "does not hold"
    claim = Claim(
        "With complete and correct triplets, k1(x1,x2) → 1 and k1(x3,xn) → -1 as n grows, although x3 and xn are much closer "
        "than x1 and x2: k1 need not be monotone in the distance.",
        f"n = {last['n']}: k1(x1,x2) = {last['k1_x1_x2']:.3f}, k1(x3,xn) = {last['k1_x3_xn']:.3f}; both move towards the limit at "
        f"every step: {'yes' if grows else 'no'}.",
        verdict,
        f"Rule: both within {CLOSE} of the limit at the largest n, and nearer at every step.",
        short="k1 is not monotone",
    )
    caption = "Left: the configuration, n = 12. Right: k1 from complete and correct triplets."
    return Section(text, [claim], {"figure2": Figure(lambda: draw(rows), caption)})


def draw(rows: list[Row]) -> Any:
    figure, axes = _plots.panels(1, 2, width=8.6, height=3.4, width_ratios=(1, 1.35))
    _draw_geometry(axes[0, 0], 12)
    _draw_values(axes[0, 1], rows)
    return figure


def _draw_geometry(axis: Any, n: int) -> None:
    X = points(n) / (n - 3)
    axis.plot(*X[2:].T, color=_plots.COLOURS["k2"], linewidth=1, zorder=1)
    axis.scatter(*X[2:].T, s=26, color=_plots.COLOURS["k2"], zorder=3)
    axis.plot(*X[:2].T, color=_plots.COLOURS["k1"], linewidth=1, linestyle=":", zorder=1)
    axis.scatter(*X[:2].T, s=36, color=_plots.COLOURS["k1"], zorder=3)
    for i, label, shift in (
        (0, "$x_1$", (-15, 2)),
        (1, "$x_2$", (-15, -6)),
        (2, "$x_3$", (2, -15)),
        (n - 1, "$x_n$", (4, 2)),
    ):
        axis.annotate(label, X[i], shift, textcoords="offset points")
    for i in (0, 1):
        for j in (2, n - 1):
            axis.plot(*X[[i, j]].T, color=_plots.FAINT, linewidth=0.8, zorder=0)
            middle = X[i] + 0.42 * (X[j] - X[i])
            axis.annotate(
                f"{np.linalg.norm(X[i] - X[j]):.2f}",
                middle,
                ha="center",
                va="center",
                fontsize=7.5,
                color="#4a4f58",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            )
    axis.annotate(
        f"{np.linalg.norm(X[0] - X[1]):.2f}",
        X[:2].mean(axis=0),
        (-5, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=7.5,
        color=_plots.COLOURS["k1"],
    )
    axis.annotate("length 1", (0.52, -0.17), fontsize=7.5, ha="center", color=_plots.COLOURS["k2"])
    axis.set_aspect("equal")
    axis.margins(0.16)
    _plots.bare(axis)


def _draw_values(axis: Any, rows: list[Row]) -> None:
    n = [row["n"] for row in rows]
    for name, label, colour in (
        ("k1_x1_x2", "$k_1(x_1, x_2)$, far apart", "k1"),
        ("k1_x3_xn", "$k_1(x_3, x_n)$, close", "k2"),
    ):
        values = [row[name] for row in rows]
        axis.plot(n, values, marker="o", color=_plots.COLOURS[colour])
        shift = -18 if values[-1] > 0 else 16
        axis.annotate(label, (n[-1], values[-1]), (0, shift), textcoords="offset points", ha="right")
    for limit in (-1, 1):
        axis.axhline(limit, color=_plots.FAINT, linewidth=1, linestyle=":")
    axis.axhline(0, color=_plots.FAINT, linewidth=1)
    axis.set(xscale="log", xlabel="number of points n", ylabel="kernel value", ylim=(-1.15, 1.15))
    axis.set_xticks(n, [str(value) for value in n])
    axis.minorticks_off()


EXPERIMENT = Experiment(
    "figure2", "Section 2.2, figure 2: where k1 contradicts the distances", cells, compute, section
)
