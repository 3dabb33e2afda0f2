"""Tree and kernel matrix: objects in the order of the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import leaves_list

from nearfar._tools.arrays import Floats
from nearfar.errors import InputError
from nearfar.methods.trees import cut, uninformed_leaves
from nearfar.plot import style
from nearfar.plot.style import Axes

ROW, PICTURED_ROW = 3.6, 8.0  # millimetres that a leaf takes, where there is room for them
MOST_PICTURES = 400


def tree(
    tree: Any,
    ax: Axes = None,
    *,
    names: Sequence[str] | None = None,
    n_clusters: int | None = None,
    clusters: ArrayLike | None = None,
    images: Mapping[Any, str | Path] | None = None,
    orientation: Literal["left", "top"] = "left",
    labels: bool = True,
) -> Axes:
    """Draw a tree; branches inside one cluster have its colour. Uninformed objects are not drawn.

    Parameters
    ----------
    tree : a Space, or SciPy's linkage matrix.
    ax : matplotlib's axes to draw into; default: those of a new figure.
    names : what to call the objects; default: as the space does.
    n_clusters : to cut the tree into; a dashed line shows where.
    clusters : (n,) clusters to colour by, -1 for none; default: those of the cut, the largest first.
    images : name or index of an object -> picture file, drawn at its leaf.
    orientation : where the root is, as SciPy has it: "left", names beside the leaves, or "top", names below them.
    labels : whether names are drawn; those that would be smaller than 4 points are not.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> ax = tree([[0, 1, 0.5, 2], [2, 3, 1.0, 3]], names=["fig", "date", "lime"], n_clusters=2)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['lime', 'fig', 'date']
    """
    if orientation not in ("left", "top"):
        raise InputError(f"orientation: got {orientation!r}, expected 'left' or 'top'")
    matrix = np.asarray(tree.tree() if hasattr(tree, "tree") else tree, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != 4:
        raise InputError(f"tree: expected a Space or a linkage matrix (n - 1, 4), got shape {matrix.shape}")
    n = len(matrix) + 1
    if names is None:
        names = getattr(tree, "objects", None) or [str(x) for x in range(n)]
    style.one_each(names, n, "names")
    Z, leaves = _informed_part(matrix)
    if not len(leaves):
        raise InputError(f"tree: none can be drawn, because the model places none of the {n} objects")
    if clusters is None and n_clusters is not None:
        clusters = cut(matrix, n_clusters)
    codes = None if clusters is None else np.asarray(style.one_each(clusters, n, "clusters"))[leaves]
    drawn = style.by_index(images, names) if len(leaves) <= MOST_PICTURES else {}
    pictured = {at: drawn[int(x)] for at, x in enumerate(leaves) if int(x) in drawn}
    upright = orientation == "top"
    if upright:  # names hang below it
        longest = max(map(len, style.briefly([names[x] for x in leaves])))
        ax = style.axes_of(ax, 1.5 * longest + 12 * bool(pictured), 0.55)
    else:
        ax = style.axes_of(ax, max((PICTURED_ROW if pictured else ROW) * len(leaves) + 14, 45.0))
    _draw_branches(ax, Z, len(leaves), codes, upright)
    if n_clusters is not None and 1 < n_clusters < len(leaves):
        line = ax.axhline if upright else ax.axvline
        heights = np.sort(Z[:, 2])  # the line is between the joins that the cut keeps and undoes
        between = heights[-n_clusters : len(heights) - n_clusters + 2].mean()
        line(between, color=style.FAINT, lw=0.8, ls="--", zorder=0)
    order = _leaf_order(Z)
    called = style.briefly([names[leaves[x]] for x in order]) if labels else []
    _draw_leaves(ax, called, order, pictured, codes, upright)
    return ax


def _informed_part(Z: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """The tree below the joins of uninformed objects, its leaves renumbered; and what they are."""
    n = len(Z) + 1
    leaves = np.setdiff1d(np.arange(n), uninformed_leaves(Z))
    row = np.arange(2 * n) - n + len(leaves)  # of joins
    row[leaves] = np.arange(len(leaves))
    merges = Z[: max(len(leaves) - 1, 0)].copy()
    merges[:, :2] = row[merges[:, :2].astype(int)]
    return merges, leaves


def _leaf_order(Z: Floats) -> list[int]:
    """Leaves from top to bottom, or from left to right."""
    return leaves_list(Z).tolist() if len(Z) else [0]


def _colour(cluster: int, otherwise: str) -> str:
    return style.PALETTE[cluster % len(style.PALETTE)] if cluster >= 0 else otherwise


def _draw_branches(ax: Axes, Z: Floats, n: int, codes: NDArray[Any] | None, upright: bool) -> None:
    from matplotlib.collections import LineCollection

    at = np.zeros(max(2 * n - 1, 1))
    at[_leaf_order(Z)] = np.arange(n)
    heights = np.concatenate([np.zeros(n), Z[:, 2]])
    clusters = np.full(2 * n - 1, -1) if codes is None else np.concatenate([codes, np.full(n - 1, -1)])
    lines, colours = [], []
    for row in range(n - 1):
        a, b, node = int(Z[row, 0]), int(Z[row, 1]), n + row
        at[node] = (at[a] + at[b]) / 2
        clusters[node] = clusters[a] if clusters[a] == clusters[b] else -1
        for child in (a, b):
            line = [(heights[child], at[child]), (heights[node], at[child]), (heights[node], at[node])]
            lines.append([point[::-1] for point in line] if upright else line)
            colours.append(_colour(clusters[node], style.QUIET if codes is None else style.FAINT))
    ax.add_collection(LineCollection(lines, colors=colours, linewidths=0.9, capstyle="round"))
    top = max(heights.max(initial=0), 1e-9) * 1.03
    ax.set(ylim=(0, top), xlim=(-1, n)) if upright else ax.set(xlim=(top, 0), ylim=(n, -1))
    ax.tick_params(labelsize="small", colors=style.QUIET, length=2)
    ax.spines[["top", "right", "bottom" if upright else "left"]].set_visible(False)


def _draw_leaves(
    ax: Axes,
    names: Sequence[str],
    order: Sequence[int],
    images: Mapping[int, Any],
    codes: NDArray[Any] | None,
    upright: bool,
) -> None:
    """Names at the leaves, as large as there is room for, and pictures framed in the colour of the cluster.

    Where leaves are close together pictures stand in two columns, so that each may be twice as large.
    """
    along = 0 if upright else 1
    size, room = style.name_size(ax, len(order), along), style.settle(ax)[along] / max(len(order), 1)
    columns = 2 if room < 20 else 1
    side = float(np.clip(0.9 * columns * room, 3, 56)) if images else 0.0
    axis = ax.xaxis if upright else ax.yaxis
    if not upright:
        axis.tick_right()
    shown = list(names) if size else [" "] * len(order) if images else []  # which keeps room for pictures
    look = {"rotation": 90} if upright else {}
    axis.set_ticks(range(len(shown)), shown, size=size or 1, color=style.INK, parse_math=False, **look)
    axis.set_tick_params(length=0, pad=3 + (columns * side * 1.06 + 3 if images else 0))
    for row, x in enumerate(order):
        picture = style.thumbnail(images[x], side) if x in images else None
        if picture is not None:
            colour = _colour(-1 if codes is None else codes[x], style.FAINT)
            away = 3 + side * (0.5 + 1.06 * (row % columns))
            more = {"pad": 0, "arrowprops": style.tie(style.FAINT) if row % columns else None}
            at, offset = ((row, 0), (0, -away)) if upright else ((0, row), (away, 0))
            ax.add_artist(style.picture_box(picture, side, at, offset, colour, **more))
    style.settle(ax)


def matrix(
    space: Any,
    ax: Axes = None,
    *,
    names: Sequence[str] | None = None,
    order: ArrayLike | None = None,
    labels: bool = True,
) -> Axes:
    """Draw the kernel matrix, similar objects side by side.

    Parameters
    ----------
    space : a Space, whose uninformed objects are left out, or (n, n) kernel values.
    ax : matplotlib's axes to draw into; default: those of a new figure.
    names : what to call the objects.
    order : of the objects; default: that of the tree of a Space.
    labels : whether names are drawn; those that would be smaller than 4 points are not.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> ax = matrix([[1.0, 0.2], [0.2, 1.0]], names=["fig", "lime"], order=[1, 0])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['lime', 'fig']
    """
    hidden: set[int] = set()
    K = np.asarray(space.kernel() if hasattr(space, "kernel") else space, dtype=np.float64)
    if hasattr(space, "kernel"):
        names, hidden = space.objects if names is None else names, set(space.uninformed.tolist())
        order = _leaf_order(np.asarray(space.tree())) if order is None and len(K) > 1 else order
    if K.shape != (len(K), len(K)):
        raise InputError(f"space: expected a Space or (n, n) kernel values, got shape {K.shape}")
    if names is not None:
        style.one_each(names, len(K), "names")
    if order is not None and not set(np.asarray(order).tolist()) <= set(range(len(K))):
        raise InputError(f"order: expected numbers of objects from 0 to {len(K) - 1}")
    chosen = [x for x in (range(len(K)) if order is None else np.asarray(order).tolist()) if x not in hidden]
    if not chosen:
        raise InputError(f"matrix: none can be drawn, because the model places none of the {len(K)} objects")
    block = K[np.ix_(chosen, chosen)]
    apart = np.abs(block[~np.eye(len(block), dtype=bool)])
    limit = float(np.quantile(apart, 0.98) or apart.max()) if apart.any() else 1.0  # without the diagonal
    ax = style.axes_of(ax, 0.0, 0.85)
    look = {"cmap": "PuOr_r", "interpolation": "nearest", "rasterized": True, "vmin": -limit, "vmax": limit}
    picture = ax.imshow(block, **look)
    bar = ax.get_figure(root=True).colorbar(picture, ax=ax, shrink=0.4, aspect=25, anchor=(0, 0))
    ax.set_anchor("W")  # where names are, so that the layout makes room for them
    bar.outline.set_linewidth(0)
    bar.ax.tick_params(labelsize="small", length=2, colors=style.INK)
    shown = style.briefly([names[x] for x in chosen], 18) if names is not None and labels else []
    ax.set_xticks([])
    ax.tick_params(length=0, pad=2)
    for size in np.arange(style.font_size(), style.SMALLEST - 1, -0.5):  # long names leave rows less room
        shown = shown if size >= style.SMALLEST else []
        ax.set_yticks(range(len(shown)), shown, size=size, color=style.INK, parse_math=False)
        if style.name_size(ax, len(shown)) >= size:
            break
    return ax
