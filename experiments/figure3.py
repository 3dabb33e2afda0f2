"""Section 2.2, figure 3 and the supplement: do the kernels follow the distances? Five sets of 400 points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.stats import rankdata, spearmanr

from experiments import _plots
from experiments._data import Data
from experiments._experiment import Cell, Claim, Experiment, Figure, Row, Section, Verdict, seed_of, table
from nearfar import kernel_matrix
from nearfar.datasets import TOYS, Toy, make_toy
from nearfar.design import random_questions
from nearfar.simulate import SimulatedAnswers, answers

N, QUICK_N = 400, 100
QUICK_SETS = ("rings", "blocks")  # those that the page has a word about
SHARE = 0.1  # of all questions
KERNELS = ("k1", "k2", "score")
STRONG = 0.5  # a rank correlation from here on is called strong, by convention


def cells(quick: bool) -> list[Cell]:
    if quick:
        return [Cell({"set": name, "n": QUICK_N}, 0.2) for name in QUICK_SETS]
    return [Cell({"set": name, "n": N}, 6) for name in TOYS]


def collect(name: Any, n: int) -> tuple[Toy, SimulatedAnswers]:
    """A toy set and the answers to a tenth of all questions about it."""
    toy = make_toy(name, n, seed=seed_of("figure3", name))
    questions = random_questions(n, round(SHARE * n * (n - 1) * (n - 2) / 2), seed=seed_of("asked", name))
    return toy, answers(questions, distances=toy.distances)


def fixed(toy: Toy) -> int:
    """The object whose similarities are shown: in the middle of the first group."""
    group = np.flatnonzero(toy.labels == toy.labels[0])
    return int(group[np.argmin(toy.distances[np.ix_(group, group)].sum(axis=1))])


def compute(settings: Mapping[str, Any], data: Data) -> dict[str, Any]:
    toy, given = collect(settings["set"], settings["n"])
    result: dict[str, Any] = {"answers": len(given.triplets), "ties": given.ties}
    pairs = np.triu_indices(len(toy.distances), 1)
    together = (toy.labels[:, None] == toy.labels)[pairs]
    here = fixed(toy)
    result["best_rank"] = best_likeness(toy.distances[pairs])
    result["distance_groups"] = preference(-toy.distances[pairs], together)
    others = np.arange(len(toy.distances)) != here
    for kernel in KERNELS:
        K = kernel_matrix(given.triplets, kernel)
        result[f"{kernel}_rank"] = likeness(K[pairs], toy.distances[pairs])
        result[f"{kernel}_groups"] = preference(K[pairs], together)
        result[f"{kernel}_fixed"] = likeness(K[here, others], toy.distances[here, others])
    return result


def likeness(similar: NDArray[Any], distance: NDArray[Any]) -> float:
    """Spearman's rank correlation between similarity and nearness: 1 where the kernel falls with the distance."""
    return float(spearmanr(similar, -distance).statistic)


def best_likeness(distance: NDArray[Any]) -> float:
    """What ``likeness`` would be for the best kernel without ties: below 1 where distances tie."""
    order = np.argsort(np.argsort(-distance, kind="stable"))
    return likeness(order, distance)


def preference(similar: NDArray[Any], together: NDArray[np.bool_]) -> float | None:
    """Chance that a pair within a group is more similar than a pair across groups (1/2: no idea)."""
    inside, outside = int(together.sum()), int((~together).sum())
    if not outside:
        return None
    ranks = rankdata(similar)
    return float((ranks[together].sum() - inside * (inside + 1) / 2) / (inside * outside))


def section(rows: list[Row], data: Data) -> Section:
    strong = sum(row[f"{kernel}_rank"] >= STRONG for row in rows for kernel in ("k1", "k2"))
    low = {kernel: min(row[f"{kernel}_rank"] for row in rows) for kernel in ("k1", "k2")}
    text = (
        f"Five sets of {rows[0]['n']} objects, a tenth of all questions each, answered by distance: four in the plane and a graph, whose "
        "distances are numbers of edges and whose ties are left out. Rank: Spearman's correlation between kernel value and nearness "
        "over all pairs (ties of the distance bound it), and for one object's similarities to all others. Groups: how often a pair "
        "within a group is more similar than a pair across (1/2: no idea).\n\n" + _table(rows, ("k1", "k2"))
    )
    verdict: Verdict = (
        "holds" if strong == 2 * len(rows) else "holds in part" if strong >= len(rows) else "does not hold"
    )
    claim = Claim(
        "Apart from such constructions, both kernels reflect the structure of typical data sets: similarity falls with distance, and "
        "blocks of the distance matrix are blocks of the kernel matrices.",
        f"Lowest rank correlation of the {len(rows)} sets: k1 {low['k1']:.2f}, k2 {low['k2']:.2f}.",
        verdict,
        f"Rule: a rank correlation of {STRONG} or more; {strong} of {2 * len(rows)} have it. {_remarks(rows)}",
        short="kernels follow the distances",
    )
    return Section(text, [claim], {"figure3": Figure(lambda: draw(rows), caption())})


def _table(rows: list[Row], kernels: tuple[str, ...]) -> str:
    head = ["set", "answers", *(f"rank, {name}" for name in (*kernels, "best possible"))]
    head += [
        *(f"one object, {name}" for name in kernels),
        *(f"groups, {name}" for name in ("distance", *kernels)),
    ]
    lines = [
        [
            row["set"],
            f"{row['answers']:,}",
            *(f"{row[f'{name}_rank']:.2f}" for name in (*kernels, "best")),
            *(f"{row[f'{name}_fixed']:.2f}" for name in kernels),
            *(
                f"{row[f'{name}_groups']:.2f}" if row["distance_groups"] else "-"
                for name in ("distance", *kernels)
            ),
        ]
        for row in rows
    ]
    return table(head, lines)


def ours(rows: list[Row], data: Data) -> Section:
    return Section("The score kernel on the same answers.\n\n" + _table(rows, ("score",)))


def _remarks(rows: list[Row]) -> str:
    by_set = {row["set"]: row for row in rows}
    ring, graph = by_set["rings"], by_set["blocks"]
    parts = []
    if ring["k2_rank"] < ring["k1_rank"] and ring["k2_groups"] > ring["distance_groups"]:
        parts.append(
            f"k2 is weakest on the rings ({ring['k2_rank']:.2f}) because it takes opposite points of the circle for more alike "
            f"than a point of the circle and one of the cloud. That helps a clustering: k2 tells the groups apart at "
            f"{ring['k2_groups']:.2f}, the distance itself at {ring['distance_groups']:.2f}."
        )
    if min(graph["k1_groups"], graph["k2_groups"]) > graph["distance_groups"]:
        parts.append(
            f"On the graph the kernels correlate least with the distance, but show its blocks better than the distance "
            f"does ({graph['k1_groups']:.2f} and {graph['k2_groups']:.2f} against {graph['distance_groups']:.2f})."
        )
    return " ".join(parts)


def caption() -> str:
    return (
        "From left: the data, coloured by group; distances; K1 and K2, objects sorted by group; the similarity of one object "
        "(the star) to all others by k1 and by k2. Colour bars are by panel, from the 1st to the 99th percentile, the diagonal "
        "left out. The graph is drawn by its distances (classical scaling)."
    )


def draw(rows: list[Row]) -> Any:
    figure, axes = _plots.panels(len(rows), 6, width=9.6, height=1.4 * len(rows) + 0.3)
    for line, row in zip(axes, rows, strict=True):
        toy, given = collect(row["set"], row["n"])
        K = [kernel_matrix(given.triplets, kernel) for kernel in ("k1", "k2")]
        here, places, order = fixed(toy), _places(toy), _shown_order(toy)
        line[0].scatter(*places.T, c=[_plots.DIGITS[label] for label in toy.labels], s=5, linewidths=0)
        line[0].set_ylabel(row["set"])
        _star(line[0], places[here])
        for axis, matrix, colours in zip(
            line[1:4], (toy.distances, *K), (f"{_plots.VALUES}_r", _plots.VALUES, _plots.VALUES), strict=True
        ):
            _matrix(axis, matrix[np.ix_(order, order)], colours)
        for axis, kernel in zip(line[4:], K, strict=True):
            _similarities(axis, places, kernel[here], here)
    titles = ("data", "distance", "$K_1$", "$K_2$", "$k_1(★, \\cdot)$", "$k_2(★, \\cdot)$")
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title)
    return figure


def _places(toy: Toy) -> NDArray[np.float64]:
    """Where objects are drawn: their points, or a map of the graph's distances."""
    if toy.points is not None:
        return np.asarray(toy.points, dtype=np.float64)
    squares = toy.distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    return np.asarray(vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]]))


def _shown_order(toy: Toy) -> NDArray[np.intp]:
    """By group, and within a group along it, so that the panels are smooth where the data is."""
    if toy.points is None:
        return np.argsort(toy.labels, kind="stable")
    x, y = toy.points.T
    along = np.where(toy.labels == 1, np.arctan2(y, x), x) if toy.name == "rings" else x
    return np.lexsort((along, toy.labels))


def _matrix(axis: Any, matrix: NDArray[Any], colours: str) -> None:
    shown = matrix.astype(float)
    np.fill_diagonal(shown, np.nan)
    low, high = np.nanpercentile(shown, (1, 99))
    picture = axis.imshow(_coarse(shown), cmap=colours, vmin=low, vmax=high, interpolation="nearest")
    _bar(axis, picture)


def _coarse(matrix: NDArray[np.float64], size: int = 100) -> NDArray[np.float64]:
    """A square matrix averaged over blocks, NaN left out, down to at most ``size`` rows."""
    step = -(-len(matrix) // size)
    if step == 1:
        return matrix
    n = len(matrix) // step * step
    return np.asarray(np.nanmean(matrix[:n, :n].reshape(n // step, step, n // step, step), axis=(1, 3)))


def _similarities(axis: Any, places: NDArray[Any], values: NDArray[Any], here: int) -> None:
    others = np.arange(len(values)) != here
    low, high = np.percentile(values[others], (1, 99))
    picture = axis.scatter(
        *places[others].T, c=values[others], s=5, cmap=_plots.VALUES, vmin=low, vmax=high, linewidths=0
    )
    _star(axis, places[here])
    _bar(axis, picture)


def _star(axis: Any, place: NDArray[Any]) -> None:
    axis.scatter(*place, marker="*", s=90, color="#d55e00", edgecolors="white", linewidths=0.8, zorder=4)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_box_aspect(1)
    _plots.bare(axis)


def _bar(axis: Any, picture: Any) -> None:
    bar = axis.figure.colorbar(picture, ax=axis, fraction=0.045, pad=0.02, aspect=14)
    bar.ax.tick_params(labelsize=6, length=2, pad=1)
    bar.outline.set_visible(False)
    bar.locator = MaxNLocator(3)
    bar.update_ticks()
    _plots.bare(axis)


EXPERIMENT = Experiment(
    "figure3",
    "Section 2.2, figure 3 and supplement: where the kernels follow them",
    cells,
    compute,
    section,
    ours,
)
