"""Maps for print: points with names or pictures, coloured by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.report.figures.placing import place_names, spread
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

MARKERS = "osD^vP*X<>"
WIDTH = 7.0  # inches


@style()
def map_figure(
    points: ArrayLike,
    names: Sequence[str],
    *,
    groups: Sequence[object] | None = None,
    images: Mapping[int, Path] | None = None,
    uninformed: Sequence[int] = (),
    title: str = "",
    note: str = "",
) -> Figure:
    """A map of objects with their names or pictures, coloured by group.

    Parameters
    ----------
    points : (n, 2) coordinates.
    names : n display names.
    groups : n groups or clusters to colour by, e.g. "cluster 1".
    images : object index -> picture file, drawn in place of the point.
    uninformed : objects that are not drawn but named below the map: nothing is known about them.
    title, note : above and below the map.
    """
    points = np.asarray(points, dtype=np.float64)
    shown = np.setdiff1d(np.arange(len(points)), np.asarray(uninformed, dtype=np.intp))
    pictured = images if images and len(shown) <= 400 else {}
    bare = np.array([x for x in shown if int(x) not in pictured], dtype=np.intp)
    colours, markers, legend = _kinds(groups, len(points), shown)
    figure, axes = sheet(title, below(note, names, uninformed), WIDTH, _height(points[shown]))
    if legend:
        _draw_legend(figure, legend)
    axes.set(xticks=[], yticks=[])  # numbers mean nothing here
    lay_out(figure)
    _frame_points(axes, points[shown])
    _draw_images(figure, axes, points, shown, pictured, colours)
    _draw_points(axes, points, bare, colours, markers)
    if len(bare) <= 2000:
        _draw_names(figure, axes, points, bare, names)
    return figure


def _height(points: NDArray[np.float64]) -> float:
    """Inches that suit the shape of the map."""
    spans = np.ptp(points, axis=0) if len(points) else np.ones(2)
    return float(WIDTH * np.clip(spans[1] / max(spans[0], 1e-12), 0.55, 1.1))


def _kinds(
    groups: Sequence[object] | None, n: int, shown: NDArray[np.intp]
) -> tuple[list[str], list[str], list[tuple[str, str, str]]]:
    """Colour and marker of every object, and (group, colour, marker) of the groups shown."""
    colours, markers, legend = [COLOURS[0]] * n, [MARKERS[0]] * n, []
    order = [] if groups is None else sorted({str(groups[x]) for x in shown}, key=_number_or_text)
    for end, group in enumerate(order):
        colour, marker = COLOURS[end % len(COLOURS)], MARKERS[end // len(COLOURS) % len(MARKERS)]
        members = [x for x in shown if groups is not None and str(groups[x]) == group]
        legend.append((f"{group}  ({len(members)})", colour, marker))
        for x in members:
            colours[x], markers[x] = colour, marker
    return colours, markers, legend


def _number_or_text(text: str) -> tuple[str, int, str]:
    """Sorts "cluster 10" behind "cluster 9"."""
    head = text.rstrip("0123456789")
    tail = text[len(head) :]
    return (head, int(tail) if tail else -1, text)


def _frame_points(axes: Any, points: NDArray[np.float64]) -> None:
    """One scale for both axes, since distances on the map are to be read."""
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(2), np.ones(2))
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-9) * 1.12
    size = axes.get_window_extent()
    scale = max(half[0] / size.width, half[1] / size.height)
    axes.set_xlim(middle[0] - scale * size.width, middle[0] + scale * size.width)
    axes.set_ylim(middle[1] - scale * size.height, middle[1] + scale * size.height)


def _draw_points(
    axes: Any, points: Any, chosen: NDArray[np.intp], colours: list[str], markers: list[str]
) -> None:
    size = float(np.clip(3000 / max(len(chosen), 1), 5, 28)) if len(chosen) < 10_000 else 2.0
    many = len(chosen) > 5000
    look: dict[str, Any] = {"s": size, "linewidths": 0, "alpha": 0.5 if many else 0.9, "rasterized": many}
    for marker in dict.fromkeys(markers):
        mine = [x for x in chosen if markers[x] == marker]
        axes.scatter(*points[mine].T, marker=marker, c=[colours[x] for x in mine], **look)


def _draw_names(figure: Any, axes: Any, points: Any, chosen: NDArray[np.intp], names: Sequence[str]) -> None:
    """Names beside their points, as many as fit without lying on each other; a line where one stands off."""
    size = 8 if len(chosen) <= 60 else 6.5 if len(chosen) <= 150 else 5.5
    texts = [
        axes.text(0, 0, shortened(names[x]), size=size, color=INK, ha="center", va="center") for x in chosen
    ]
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in texts]
    frame = axes.get_window_extent(renderer)
    corner = np.array([frame.x0, frame.y0])
    pixels = axes.transData.transform(points[chosen]) - corner
    sizes = np.array([(box.width + 2, box.height) for box in boxes]).reshape(-1, 2)
    centres = place_names(pixels, sizes, gap=5.0, frame=(frame.width, frame.height))
    back = axes.transData.inverted()
    for text, pixel, centre, (width, height) in zip(texts, pixels, centres, sizes, strict=True):
        if np.isnan(centre[0]):
            text.remove()
            continue
        text.set_position(back.transform(centre + corner))
        half = np.array([width / 2, height / 2])
        if (np.abs(centre - pixel) - half).max() > 8:
            edge = np.clip(pixel, centre - half, centre + half)
            ends = back.transform(np.array([pixel, edge]) + corner)
            axes.plot(ends[:, 0], ends[:, 1], color=FAINT, linewidth=0.5, zorder=0)
    placed = int(np.isfinite(centres[:, 0]).sum())
    if placed < len(chosen):
        remark = f"names of {placed} of {len(chosen)} objects fit"
        axes.text(
            0.99, 0.01, remark, transform=axes.transAxes, size=6.5, color=QUIET, ha="right", va="bottom"
        )


def _draw_images(
    figure: Any,
    axes: Any,
    points: Any,
    shown: NDArray[np.intp],
    images: Mapping[int, Path],
    colours: list[str],
) -> None:
    """Pictures, moved apart where they would hide each other, each tied to its point by a line."""
    chosen = [int(x) for x in shown if int(x) in images]
    if not chosen:
        return
    frame = axes.get_window_extent()
    corner = np.array([frame.x0, frame.y0])
    side = float(np.clip(np.sqrt(0.22 * frame.width * frame.height / max(len(shown), 1)), 14, 90))
    pictures = {x: picture for x in chosen if (picture := thumbnail(images[x], side)) is not None}
    pixels = axes.transData.transform(points[list(pictures)]) - corner
    sizes = np.array([(p.shape[1], p.shape[0]) for p in pictures.values()]).reshape(-1, 2) / 3 + 6
    centres = spread(pixels, sizes, frame=(frame.width, frame.height))
    back = axes.transData.inverted()
    for (x, picture), pixel, centre in zip(pictures.items(), pixels, centres, strict=True):
        start, end = back.transform(np.array([pixel, centre]) + corner)
        if np.abs(centre - pixel).max() > side / 4:
            axes.plot(*zip(start, end, strict=True), color=colours[x], linewidth=0.7, zorder=1)
            axes.scatter(*start, s=6, color=colours[x], linewidths=0, zorder=2)
        zoom = 72 / figure.dpi / 3
        axes.add_artist(picture_box(picture, zoom, end, colours[x], pad=0.08, zorder=3))


def _draw_legend(figure: Any, kinds: list[tuple[str, str, str]], most: int = 30) -> None:
    """Beside the map, where it hides nothing; the map makes room."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", markersize=5, label=group)
        for group, colour, marker in kinds[:most]
    ]
    if len(kinds) > most:
        handles.append(Line2D([], [], linestyle="", label=f"and {len(kinds) - most} more"))
    look = {"frameon": False, "fontsize": 8, "labelcolor": INK, "handletextpad": 0.2}
    figure.legend(handles=handles, loc="outside right upper", **look)
