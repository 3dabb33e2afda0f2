"""Trees for print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.report.figures.sheet import (
    COLOURS,
    FAINT,
    INK,
    QUIET,
    Figure,
    below,
    picture_box,
    sheet,
    shortened,
    style,
    thumbnail,
)

__all__ = ["tree_figure"]


def tree_figure(
    tree: ArrayLike,
    names: Sequence[str],
    *,
    labels: ArrayLike | None = None,
    images: Mapping[int, Path] | None = None,
    uninformed: Sequence[int] = (),
    title: str = "",
) -> Figure:
    """A tree with its leaves at the right; branches inside one cluster have its colour.

    Parameters
    ----------
    tree : SciPy's linkage matrix of all objects, uninformed ones joined last.
    names : n display names.
    labels : (n,) clusters to colour by, 0 the largest; -1 in none.
    images : object index -> picture file, drawn between a leaf and its name.
    uninformed : objects left out of the picture and named below it.
    """
    Z, leaves = _informed_part(np.asarray(tree), np.asarray(uninformed, dtype=np.intp))
    n = len(leaves)
    codes = None if labels is None else np.asarray(labels)[leaves]
    drawn = images if images and n <= 400 else {}
    pictured = {at: drawn[int(x)] for at, x in enumerate(leaves) if int(x) in drawn}
    with style():
        height = float(np.clip((0.36 if pictured else 0.145) * n, 2.0, 40.0))
        note = "A join stands at the distance between the two branches it joins."
        figure, axes = sheet(title, below(note, names, uninformed), 7.0, height)
        _draw_tree(axes, Z, n, codes)
        size = float(np.clip(72 * height * 0.75 / max(n, 1), 1.0, 8))
        order = _leaf_order(Z, n)
        axes.set_yticks(range(n), [shortened(names[leaves[x]]) for x in order], size=size, color=INK)
        room = _draw_images(figure, axes, order, pictured, codes)
        _tidy(figure, axes, room)
    return figure


def _informed_part(Z: NDArray[Any], uninformed: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The tree below the joins of uninformed objects, its leaves renumbered; and what they are."""
    n = len(Z) + 1
    leaves = np.setdiff1d(np.arange(n), uninformed)
    row = np.full(2 * n, -1)
    row[leaves] = np.arange(len(leaves))
    row[n : n + max(len(leaves) - 1, 0)] = len(leaves) + np.arange(max(len(leaves) - 1, 0))
    merges = Z[: max(len(leaves) - 1, 0)].copy()
    merges[:, :2] = row[merges[:, :2].astype(int)]
    return merges, leaves


def _leaf_order(Z: NDArray[Any], n: int) -> list[int]:
    """Leaves from top to bottom."""
    order, waiting = [], [2 * n - 2]
    while waiting:
        node = waiting.pop()
        if node < n:
            order.append(node)
        else:
            waiting += [int(Z[node - n, 1]), int(Z[node - n, 0])]
    return order


def _draw_tree(axes: Any, Z: NDArray[Any], n: int, codes: NDArray[Any] | None) -> None:
    from matplotlib.collections import LineCollection

    at = np.zeros(2 * n - 1)
    at[_leaf_order(Z, n)] = np.arange(n)
    heights = np.concatenate([np.zeros(n), Z[:, 2]])
    clusters = np.full(2 * n - 1, -1) if codes is None else np.concatenate([codes, np.full(n - 1, -1)])
    lines, colours = [], []
    for row in range(n - 1):
        a, b, node = int(Z[row, 0]), int(Z[row, 1]), n + row
        at[node] = (at[a] + at[b]) / 2
        clusters[node] = clusters[a] if clusters[a] == clusters[b] else -1
        for child in (a, b):
            lines.append([(heights[child], at[child]), (heights[node], at[child]), (heights[node], at[node])])
            inside = clusters[node] >= 0
            colours.append(COLOURS[clusters[node] % len(COLOURS)] if inside else FAINT)
    axes.add_collection(LineCollection(lines, colors=colours, linewidths=0.9, capstyle="round"))
    axes.set_xlim(max(heights.max(), 1e-9) * 1.03, 0)
    axes.set_ylim(n - 0.4, -0.6)


def _draw_images(
    figure: Any, axes: Any, order: list[int], images: Mapping[int, Path], codes: NDArray[Any] | None
) -> float:
    """Pictures beside their leaves, framed in the colour of the cluster; the width they take, in points."""
    points = 72 / figure.dpi
    high = axes.get_window_extent().height * points / max(len(order), 1)
    side = float(np.clip(0.84 * high, 4, 60))  # points
    found = {x: picture for x in images if (picture := thumbnail(images[x], side / points)) is not None}
    for row, x in enumerate(order):
        if x not in found:
            continue
        colour = FAINT if codes is None or codes[x] < 0 else COLOURS[codes[x] % len(COLOURS)]
        offset = {"xybox": (4 + side / 2, 0), "boxcoords": "offset points", "pad": 0}
        axes.add_artist(picture_box(found[x], side / max(found[x].shape[:2]), (0, row), colour, **offset))
    return side + 5 if found else 0.0


def _tidy(figure: Any, axes: Any, room: float) -> None:
    """Names at the right with as much room as they need, ``room`` points from the leaves; the scale below."""
    axes.yaxis.tick_right()
    axes.tick_params(axis="y", length=0, pad=3 + room)
    axes.tick_params(axis="x", labelsize=7, colors=QUIET, length=2)
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    figure.draw_without_rendering()
    widest = max((text.get_window_extent().width for text in axes.get_yticklabels()), default=0.0)
    box = axes.get_position()
    lift = 0.2 / figure.get_figheight()  # the numbers of the scale stand below the axes
    beside = widest + room * figure.dpi / 72
    width = max(box.width - beside / figure.bbox.width - 0.01, 0.3)
    axes.set_position((box.x0, box.y0 + lift, width, box.height - lift))
