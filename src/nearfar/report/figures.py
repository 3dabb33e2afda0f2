"""Figures as they are printed: ``nearfar.plot`` on a sheet of the wanted size, each with its caption as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nearfar import plot, words
from nearfar._tools.arrays import Floats
from nearfar._tools.records import plain
from nearfar.methods.trees import uninformed_leaves
from nearfar.plot.maps import MARGIN, shape
from nearfar.plot.placing import far_out
from nearfar.plot.style import Axes, Figure, Look, save_figure, settle, style
from nearfar.plot.trees import tree_height


class Printed(NamedTuple):
    """A figure and its caption."""

    figure: Figure
    caption: str

    def save(self, path: str | Path, look: Look) -> None:
        """Write the figure."""
        with style(look):
            save_figure(self.figure, path, dpi=look.dpi)


def print_map(
    look: Look,
    points: ArrayLike,
    names: Sequence[str],
    *,
    model: str,
    groups: Sequence[str] | None = None,
    images: Mapping[int, Path] | None = None,
    circles: ArrayLike | None = None,
    told: str = "",
    colours: str = "groups of objects",
) -> Printed:
    """A map of points, NaN for objects without a usable answer; with three coordinates one of every two of them.

    ``told`` : a sentence on the model, for the caption. ``colours`` : what ``groups`` are.
    """
    X = np.asarray(points, dtype=np.float64)
    known = [bool(here.all()) for here in np.isfinite(X)]
    options: dict[str, Any] = {
        "names": names,
        "groups": groups,
        "images": images,
        "circles": circles,
        "labels": look.labels,
    }
    without = [name for name, here in zip(names, known, strict=True) if not here]
    about: dict[str, Any] = {"drawn": sum(known), "without": without}
    about |= {"colours": f"Colours: {colours}." if groups is not None else ""}
    if circles is not None:
        told = _both(told, "Each circle contains the object's long-run position for 9 in 10 objects.")
    if X.shape[1] == 3:
        figure = _three_planes(look, X, options)
        read = "The planes of dimensions 1 and 2, 3 and 2, 1 and 3."
        return Printed(figure, words.map_caption(model, named=0, told=_both(told, read), **about))
    with look.figure(look.width * shape(X[:, :2])) as (figure, ax):
        plot.map(X, ax, **options)
    if X.shape[1] > 3:
        told = _both(told, f"The first two of {X.shape[1]} dimensions.")
    drawn = sum(bool(text.get_text()) for text in ax.texts) + sum(known[x] for x in images or ())
    return Printed(figure, words.map_caption(model, named=drawn, told=told, **about))


def _three_planes(look: Look, X: Floats, options: dict[str, Any]) -> Figure:
    """Dimension 2 against 1, 2 against 3, and 3 against 1, in one scale: the same dimension stands in line."""
    spans = np.nanmax(X, axis=0) - np.nanmin(X, axis=0) if np.isfinite(X).any() else np.ones(3)
    one, two, three = np.maximum(spans, max(0.4 * float(spans.max()), 1e-9))
    grid = {"width_ratios": [one, three], "height_ratios": [two, three]}
    height = look.width * float((two + three) / (one + three))
    with look.figure(height, 2, 2, gridspec_kw=grid) as (figure, axes):
        axes[1, 1].set_axis_off()
        planes = list(zip(axes.ravel(), ([0, 1], [2, 1], [0, 2]), strict=False))
        for ax, (x, y) in planes:
            ax.set(xticks=[], yticks=[], xlabel=f"dimension {x + 1}", ylabel=f"dimension {y + 1}")
        unit = max(float((spans[plane] / settle(ax)).max()) for ax, plane in planes)
        for ax, plane in planes:
            plot.map(X[:, plane], ax, unit=MARGIN * unit, **options)
            if ax.get_legend() is not None and ax is not axes[0, 1]:
                ax.get_legend().remove()
    return figure


def _both(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def print_tree(
    look: Look,
    tree: Any,
    names: Sequence[str],
    *,
    model: str,
    method: str = "complete",
    clusters: ArrayLike | None = None,
    images: Mapping[int, Path] | None = None,
    orientation: Literal["left", "top"] = "left",
) -> Printed:
    """A tree that fits a page; ``clusters`` : (n,) to colour by, -1 for none."""
    apart = uninformed_leaves(np.asarray(tree))
    drawn = len(names) - len(apart)
    k = None if clusters is None else int(np.max(clusters, initial=-1)) + 1
    height = tree_height(drawn, bool(images)) if orientation == "left" else 0.6 * look.width
    options: dict[str, Any] = {"images": images, "orientation": orientation, "labels": look.labels}
    with look.figure(height) as (figure, ax):
        plot.tree(tree, ax, names=names, clusters=clusters, n_clusters=k, **options)
    ticks = ax.get_yticklabels() if orientation == "left" else ax.get_xticklabels()
    told: dict[str, Any] = {
        "clusters": k,
        "named": bool(ticks) or not look.labels,
        "without": [names[x] for x in apart],
    }
    return Printed(figure, words.tree_caption(model, method, drawn=drawn, **told))


def print_matrix(
    look: Look,
    K: ArrayLike,
    names: Sequence[str],
    *,
    order: Sequence[int],
    model: str,
    without: Sequence[int] = (),
) -> Printed:
    """A kernel matrix in the order of the tree."""
    chosen = [x for x in order if x not in set(without)]
    with look.figure(0.85 * look.width) as (figure, ax):
        plot.matrix(K, ax, names=names, order=chosen, labels=look.labels)
    absent = [names[x] for x in without]
    return Printed(figure, words.matrix_caption(model, drawn=len(chosen), without=absent))


def print_chart(look: Look, draw: Callable[[Axes], Any], caption: str, height: float = 80.0) -> Printed:
    """A chart, ``height`` millimetres high unless asked otherwise."""
    with look.figure(height) as (figure, ax):
        draw(ax)
    return Printed(figure, caption)


def print_groups(
    look: Look, comparison: Any, number: int = 0, names: Mapping[str, str] | None = None
) -> Printed:
    """Two groups side by side."""
    pair = comparison.pairs[number]
    known = pair.maps[np.isfinite(pair.maps).all(axis=2)]
    height = look.width / 2 * shape(known[~far_out(known, known)] if len(known) else known) + 6
    with look.figure(height, 1, 2) as (figure, axes):
        plot.groups(comparison, axes, pair=number, names=names, labels=look.labels)
    far = far_out(pair.maps, known).any(axis=0) if len(known) else np.zeros(0, dtype=bool)
    beyond = [(names or {}).get(comparison.objects[x], comparison.objects[x]) for x in np.flatnonzero(far)]
    return Printed(figure, words.groups_caption(pair, words.group_pair(pair).text, beyond))


def print_comparison(look: Look, models: Any, chosen: Sequence[str]) -> Printed:
    """Models side by side, from a Comparison or its plain data."""
    data = plain(models)
    height = 4.2 * len(data["scores"]) + 14
    caption = words.comparison_caption(data)
    return print_chart(
        look, lambda ax: plot.comparison(data, ax, chosen=chosen, labels=True), caption, height
    )
