"""A dendrogram that fits on a page: clusters by colour, pictures at the leaves where there are some."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.transforms import offset_copy
from PIL import Image
from scipy.cluster.hierarchy import dendrogram, fcluster

from experiments import _plots

__all__ = ["colours_of", "draw", "thumbnail"]

DARK = 40  # grey value up to which a pixel counts as black


def draw(merges: Any, clusters: int, names: Sequence[str], images: Sequence[Path] = ()) -> Any:
    """The tree, cut into ``clusters``: at the leaves pictures in three rows or names, below them the clusters' sizes."""
    Z = np.asarray(merges, dtype=float)
    height = (Z[-clusters, 2] + Z[-clusters + 1, 2]) / 2
    labels = fcluster(Z, clusters, "maxclust")
    figure, axes = _plots.panels(1, 1, width=10.0, height=4.4)
    axis = axes[0, 0]
    kinds = colours_of(labels)
    colours = _link_colours(Z, labels, kinds)
    shown = dendrogram(Z, ax=axis, no_labels=True, link_color_func=lambda node: colours[node])
    axis.axhline(height, color=_plots.FAINT, linestyle=":", linewidth=1)
    axis.set_ylabel("distance in the kernel's space")
    axis.spines["bottom"].set_visible(False)
    floor = max(0.0, float(Z[0, 2] - 0.25 * (Z[-1, 2] - Z[0, 2])))  # nothing merges below
    axis.set(xlim=(-4, 10 * len(labels) + 4), ylim=(floor, 1.04 * Z[-1, 2]))
    depth = _draw_leaves(axis, shown["leaves"], names, images, [kinds[label] for label in labels])
    _name_clusters(axis, labels[shown["leaves"]], kinds, -depth)
    return figure


def colours_of(labels: Any) -> dict[int, str]:
    """A colour per cluster, in the order of their first members."""
    order = {label: number for number, label in enumerate(dict.fromkeys(np.asarray(labels).tolist()))}
    return {label: _plots.DIGITS[number % len(_plots.DIGITS)] for label, number in order.items()}


def _draw_leaves(
    axis: Any, leaves: Sequence[int], names: Sequence[str], images: Sequence[Path], colours: Sequence[str]
) -> float:
    """Pictures or names below the leaves; how many points deep they reach."""
    floor = axis.get_ylim()[0]
    for place, leaf in enumerate(leaves):
        at = (10 * place + 5, floor)
        if len(images):
            picture = OffsetImage(thumbnail(images[leaf], 40), zoom=0.32)
            below = (0, -12 - 15 * (place % 3))
            axis.add_artist(
                AnnotationBbox(
                    picture, at, below, boxcoords="offset points", frameon=False, annotation_clip=False
                )
            )
        else:
            axis.annotate(
                names[leaf], at, (0, -3), textcoords="offset points", rotation=90, ha="center", va="top",
                fontsize=4.6, color=colours[leaf], annotation_clip=False,
            )  # fmt: skip
    return 52.0 if len(images) else 30.0


def _link_colours(Z: Any, labels: Any, kinds: dict[int, str]) -> dict[int, str]:
    """Colour of every merge: its cluster's, or grey above the cut."""
    n = len(labels)
    members: dict[int, list[int]] = {i: [i] for i in range(n)}
    colours = {}
    for number, (left, right, *_) in enumerate(Z):
        members[n + number] = members[int(left)] + members[int(right)]
        below = {labels[i] for i in members[n + number]}
        colours[n + number] = kinds[below.pop()] if len(below) == 1 else _plots.FAINT
    return colours


def _name_clusters(axis: Any, labels: Any, kinds: dict[int, str], below: float) -> None:
    """A bar in the colour of every cluster and its size, so many points below its leaves."""
    floor = axis.get_ylim()[0]
    at_leaves = offset_copy(axis.transData, axis.figure, 0, below, units="points")
    for label in dict.fromkeys(labels.tolist()):
        first, last = np.flatnonzero(labels == label)[[0, -1]]
        ends = [10 * first + 1, 10 * last + 9]
        axis.plot(
            ends,
            [floor, floor],
            color=kinds[label],
            linewidth=3,
            clip_on=False,
            solid_capstyle="butt",
            transform=at_leaves,
        )
        axis.annotate(
            str(last - first + 1), (sum(ends) / 2, floor), (0, below - 4), textcoords="offset points",
            ha="center", va="top", fontsize=8, annotation_clip=False,
        )  # fmt: skip


def thumbnail(path: Path, side: int) -> Any:
    """A picture no larger than ``side`` pixels, as an array."""
    with Image.open(path) as picture:
        small = _without_bars(picture.convert("RGB"))
        small.thumbnail((side, side), Image.Resampling.LANCZOS)
        return np.asarray(small)


def _without_bars(picture: Any) -> Any:
    """The picture without black bars at its edges."""
    seen = np.asarray(picture).max(axis=2) > DARK
    rows, columns = np.flatnonzero(seen.mean(axis=1) > 0.1), np.flatnonzero(seen.mean(axis=0) > 0.1)
    if len(rows) and len(columns):
        return picture.crop((int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1))
    return picture
