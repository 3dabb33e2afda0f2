"""Section 2.2, figure 2: a chain of points on which k1 contradicts the distances."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import _plots
from experiments._data import Data
from experiments._experiment import Cell, Claim, Experiment, Figure, Row, Section, table
from nearfar import kernel_matrix
from nearfar.design import random_questions
from nearfar.simulate import answers

SIZES = (6, 10, 20, 50, 100, 200)
QUICK = (6, 10, 20, 50)
CLOSE = 0.05  # of the limit, at the largest n


def points(n: int) -> NDArray[np.float64]:
    """Two far points x1, x2 in front of a dense chain x3, ..., xn, all on a line."""
    return np.concatenate([[-10.0, 0.0], 100 + 0.01 * np.arange(n - 2)])[:, None]


def cells(quick: bool) -> list[Cell]:
    return [Cell({"n": n}, n**3 / 2e6) for n in (QUICK if quick else SIZES)]


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    n = settings["n"]
    questions = random_questions(n, n * (n - 1) * (n - 2) // 2)
    complete = answers(questions, points=points(n)).triplets
    result: dict[str, Any] = {"triplets": len(complete)}
    for kernel in ("k1", "k2", "score"):
        K = kernel_matrix(complete, kernel, diagonal="keep")
        result |= {f"{kernel}_x1_x2": K[0, 1], f"{kernel}_x3_xn": K[2, n - 1]}
    return result


def section(rows: list[Row], data: Data) -> Section:
    names = ["k1_x1_x2", "k1_x3_xn", "k2_x1_x2", "k2_x3_xn", "score_x1_x2", "score_x3_xn"]
    heads = ["k1(x1,x2)", "k1(x3,xn)", "k2(x1,x2)", "k2(x3,xn)", "score(x1,x2)", "score(x3,xn)"]
    lines = [[row["n"], f"{row['triplets']:,}", *(f"{row[name]:.3f}" for name in names)] for row in rows]
    last = rows[-1]
    grows = all(a["k1_x1_x2"] < b["k1_x1_x2"] and a["k1_x3_xn"] > b["k1_x3_xn"] for a, b in pairwise(rows))
    near = last["k1_x1_x2"] > 1 - CLOSE - 5e-4 and last["k1_x3_xn"] < -1 + CLOSE + 5e-4
    text = (
        "x1 and x2 lie far in front of a dense chain x3, ..., xn (here at -10, 0 and 100, 100.01, ...). All triplets are "
        "given and all are right. x1 and x2 see the chain in the same order, x3 and xn in opposite orders, and as the "
        "chain grows nothing else counts: k1 calls the far pair alike and the two ends of the short chain opposite.\n\n"
        + table(["n", "triplets", *heads], lines)
    )
    verdict = "holds" if grows and near else "holds in part" if grows else "does not hold"
    claim = Claim(
        "Section 2.2: with complete and correct triplets, k1(x1,x2) → 1 and k1(x3,xn) → -1 as n grows, although x3 and "
        "xn are much closer than x1 and x2: k1 need not be monotone in the distance.",
        f"n = {last['n']}: k1(x1,x2) = {last['k1_x1_x2']:.3f}, k1(x3,xn) = {last['k1_x3_xn']:.3f}; both move "
        f"towards the limit at every step: {'yes' if grows else 'no'}.",
        verdict,
        f"Rule: both within {CLOSE} of the limit at the largest n, and nearer at every step. k2 calls the far pair as alike "
        f"({last['k2_x1_x2']:.2f}) and sees nothing in the ends of the chain ({abs(last['k2_x3_xn']):.2f}); the score kernel "
        f"has them opposite, too ({last['score_x3_xn']:.2f}): being monotone in the distance is not what any of them promises.",
    )
    return Section(
        text,
        [claim],
        {"figure2": Figure(lambda: draw(rows), "k1 on the chain, from complete and correct triplets.")},
    )


def draw(rows: list[Row]) -> Any:
    figure, axes = _plots.panels(1, 1, width=5.2, height=3.2)
    axis = axes[0, 0]
    n = [row["n"] for row in rows]
    for name, label, colour in (
        ("k1_x1_x2", "$k_1(x_1, x_2)$, far apart", "k1"),
        ("k1_x3_xn", "$k_1(x_3, x_n)$, close", "k2"),
    ):
        values = [row[name] for row in rows]
        axis.plot(n, values, marker="o", color=_plots.COLOURS[colour])
        axis.annotate(
            label,
            (n[-1], values[-1]),
            (0, -18 if values[-1] > 0 else 16),
            textcoords="offset points",
            ha="right",
        )
    for limit in (-1, 1):
        axis.axhline(limit, color=_plots.FAINT, linewidth=1, linestyle=":")
    axis.axhline(0, color=_plots.FAINT, linewidth=1)
    axis.set(xscale="log", xlabel="number of points n", ylabel="kernel value", ylim=(-1.15, 1.15))
    axis.set_xticks(n, [str(value) for value in n])
    axis.minorticks_off()
    return figure


EXPERIMENT = Experiment(
    "figure2", "Section 2.2, figure 2: where k1 contradicts the distances", cells, compute, section
)
