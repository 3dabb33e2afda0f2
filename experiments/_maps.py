"""Maps of objects: as dots, or with their pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from experiments import _plots
from experiments._trees import thumbnail

__all__ = ["dots", "pictures", "spread"]

SIDE = 72  # pixels of a picture


def dots(maps: Mapping[str, Any], labels: Any = None) -> Any:
    """Maps side by side under their titles, points coloured by label where there are some."""
    figure, axes = _plots.panels(1, len(maps), width=3.6 * len(maps) + 0.4, height=3.7)
    for axis, (title, points) in zip(axes[0], maps.items(), strict=True):
        spread(axis, np.asarray(points), labels, size=16)
        axis.set_title(title)
    return figure


def spread(axis: Any, points: Any, labels: Any = None, size: float = 9) -> None:
    """Dots on an axis; no ticks, since a map's axes have no meaning."""
    colours = _plots.INK if labels is None else [_plots.DIGITS[int(label)] for label in labels]
    axis.scatter(points[:, 0], points[:, 1], s=size, c=colours, linewidths=0)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_box_aspect(1)
    _plots.bare(axis)


def pictures(points: Any, images: Sequence[Path], groups: Sequence[str]) -> Any:
    """Pictures at their places, framed in the colour of their group; dots where there are no pictures."""
    places = np.asarray(points)
    kinds = list(dict.fromkeys(groups))
    if not images:
        return dots({"": places}, [kinds.index(group) for group in groups])
    figure, axes = _plots.panels(1, 1, width=7.4, height=6.8)
    axis = axes[0, 0]
    axis.scatter(places[:, 0], places[:, 1], s=1, alpha=0)
    for place, image, group in zip(places, images, groups, strict=True):
        colour = _plots.DIGITS[kinds.index(group)]
        frame = {"edgecolor": colour, "linewidth": 1.4, "boxstyle": "square,pad=0"}
        axis.add_artist(
            AnnotationBbox(OffsetImage(thumbnail(image, SIDE), zoom=0.56), place, pad=0, bboxprops=frame)
        )
    for kind in kinds:
        axis.scatter([], [], marker="s", s=40, color=_plots.DIGITS[kinds.index(kind)], label=kind)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=len(kinds))
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.06)
    _plots.bare(axis)
    return figure
