"""A dendrogram that fits on a page: clusters by colour, pictures at the leaves where there are some."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from PIL import Image
from scipy.cluster.hierarchy import dendrogram, fcluster

from experiments import _plots

__all__ = ["draw", "thumbnail"]

DARK = 40  # grey value up to which a pixel counts as black


def draw(merges: Any, clusters: int, images: Sequence[Path] = ()) -> Any:
    """The tree, cut into ``clusters``: their sizes below, and pictures at the leaves in three rows."""
    Z = np.asarray(merges, dtype=float)
    height = (Z[-clusters, 2] + Z[-clusters + 1, 2]) / 2
    labels = fcluster(Z, clusters, "maxclust")
    figure, axes = _plots.panels(1, 1, width=9.5, height=4.3 if len(images) else 3.3)
    axis = axes[0, 0]
    order = {label: number for number, label in enumerate(dict.fromkeys(labels.tolist()))}
    kinds = {label: _plots.DIGITS[number % len(_plots.DIGITS)] for label, number in order.items()}
    colours = _link_colours(Z, labels, kinds)
    shown = dendrogram(Z, ax=axis, no_labels=True, link_color_func=lambda node: colours[node])
    axis.axhline(height, color=_plots.FAINT, linestyle=":", linewidth=1)
    axis.set_ylabel("distance in the kernel's space")
    axis.spines["bottom"].set_visible(False)
    _name_clusters(axis, labels[shown["leaves"]], kinds, 0.02 * Z[-1, 2])
    for place, leaf in enumerate(shown["leaves"]):
        if len(images):
            picture = OffsetImage(thumbnail(images[leaf], 40), zoom=0.32)
            below = AnnotationBbox(
                picture,
                (10 * place + 5, 0),
                (0, -28 - 15 * (place % 3)),
                boxcoords="offset points",
                frameon=False,
            )
            axis.add_artist(below)
    return figure


def _link_colours(Z: Any, labels: Any, kinds: dict[int, str]) -> dict[int, str]:
    """Colour of every merge: its cluster's, or grey above the cut."""
    n = len(labels)
    members: dict[int, list[int]] = {i: [i] for i in range(n)}
    colours = {}
    for number, (left, right, *_) in enumerate(Z):
        members[n + number] = members[int(left)] + members[int(right)]
        found = {labels[i] for i in members[n + number]}
        colours[n + number] = kinds[found.pop()] if len(found) == 1 else _plots.FAINT
    return colours


def _name_clusters(axis: Any, labels: Any, kinds: dict[int, str], below: float) -> None:
    """A bar in the colour of every cluster and its size, below its leaves."""
    for label in dict.fromkeys(labels.tolist()):
        first, last = np.flatnonzero(labels == label)[[0, -1]]
        ends = [10 * first + 1, 10 * last + 9]
        axis.plot(ends, [-below] * 2, color=kinds[label], linewidth=3, clip_on=False, solid_capstyle="butt")
        axis.text(sum(ends) / 2, -2.2 * below, str(last - first + 1), ha="center", va="top", fontsize=8)


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
