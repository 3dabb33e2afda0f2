"""Tree and kernel matrix for print: objects in the order of the tree."""

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
    lay_out,
    picture_box,
    sheet,
    shortened,
    style,
    thumbnail,
)


@style()
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
    height = float(np.clip((0.36 if pictured else 0.145) * n, 2.0, 40.0))
    note = "A join stands at the distance between the two branches it joins."
    figure, axes = sheet(title, below(note, names, uninformed), 7.4, height + 0.4)
    _draw_tree(axes, Z, n, codes)
    size = float(np.clip(72 * height * 0.75 / max(n, 1), 1.0, 8))
    order = _leaf_order(Z, n)
    side = float(np.clip(0.84 * 72 * height / max(n, 1), 4, 60)) if pictured else 0.0  # points
    axes.yaxis.tick_right()
    axes.set_yticks(range(n), [shortened(names[leaves[x]]) for x in order], size=size, color=INK)
    axes.tick_params(axis="y", length=0, pad=3 + side * 1.2)
    axes.tick_params(axis="x", labelsize=7, colors=QUIET, length=2)
    axes.spines[["top", "left", "right"]].set_visible(False)
    lay_out(figure)
    _draw_images(axes, order, pictured, codes, side)
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
    axes: Any, order: list[int], images: Mapping[int, Path], codes: NDArray[Any] | None, side: float
) -> None:
    """Pictures beside their leaves, ``side`` points long, framed in the colour of the cluster."""
    for row, x in enumerate(order):
        picture = thumbnail(images[x], side * axes.figure.dpi / 72) if x in images else None
        if picture is not None:
            colour = FAINT if codes is None or codes[x] < 0 else COLOURS[codes[x] % len(COLOURS)]
            offset = {"xybox": (4 + side / 2, 0), "boxcoords": "offset points", "pad": 0}
            axes.add_artist(picture_box(picture, side / max(picture.shape[:2]), (0, row), colour, **offset))


@style()
def kernel_figure(
    K: ArrayLike,
    names: Sequence[str],
    *,
    order: ArrayLike | None = None,
    uninformed: Sequence[int] = (),
    title: str = "",
) -> Figure:
    """The kernel matrix as a picture, objects in the given order (of a tree, say), without uninformed ones."""
    K = np.asarray(K, dtype=np.float64)
    hidden = set(map(int, uninformed))
    every = range(len(K)) if order is None else np.asarray(order).tolist()
    chosen = [x for x in every if x not in hidden]
    block = K[np.ix_(chosen, chosen)]
    apart = np.abs(block[~np.eye(len(block), dtype=bool)])
    limit = (float(np.quantile(apart, 0.98)) if len(apart) else 1.0) or 1.0
    shown = [shortened(names[x], 24) for x in chosen] if len(chosen) <= 80 else []
    note = "Similarity of every two objects; the diagonal may lie beyond the scale."
    figure, axes = sheet(title, below(note, names, uninformed), 7.4, 6.2)
    look = {"cmap": "PuOr_r", "interpolation": "nearest", "rasterized": True}
    picture = axes.imshow(block, vmin=-limit, vmax=limit, **look)
    axes.set_xticks([])
    axes.set_yticks(range(len(shown)), shown, size=float(min(8.0, 345 / max(len(chosen), 1))), color=INK)
    axes.tick_params(length=0, pad=2)
    bar = figure.colorbar(picture, ax=axes, shrink=0.4, aspect=25, anchor=(0, 0))
    bar.outline.set_linewidth(0)
    bar.ax.tick_params(labelsize=7, length=2, colors=INK)
    return figure
