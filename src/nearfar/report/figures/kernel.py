"""The kernel matrix for print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nearfar.report.figures.sheet import INK, Figure, below, sheet, shortened, style

__all__ = ["kernel_figure"]

SIDE, SCALE = 6.0, 0.6  # inches


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
    limit = float(np.quantile(apart, 0.98)) if len(apart) else 1.0
    shown = [shortened(names[x], 24) for x in chosen] if len(chosen) <= 80 else []
    note = "Similarity of every two objects; the diagonal may lie beyond the scale."
    with style():
        figure, axes = sheet(title, below(note, names, uninformed), SIDE, SIDE)
        picture = axes.imshow(
            block,
            cmap="PuOr_r",
            vmin=-(limit or 1),
            vmax=limit or 1,
            interpolation="nearest",
            rasterized=True,
        )
        axes.set_xticks([])
        size = float(min(8.0, 0.8 * 72 * SIDE / max(len(chosen), 1)))
        axes.set_yticks(range(len(shown)), shown, size=size, color=INK)
        axes.tick_params(length=0, pad=2)
        _make_room(figure, axes)
        inner = axes.get_position()
        scale = figure.add_axes((inner.x1 + 0.012, inner.y0, 0.016, inner.height * 0.4))
        bar = figure.colorbar(picture, cax=scale)
        bar.outline.set_linewidth(0)
        bar.ax.tick_params(labelsize=7, length=2, colors=INK)
    return figure


def _make_room(figure: Any, axes: Any) -> None:
    """Widen the sheet by what names on the left and the scale on the right take."""
    figure.draw_without_rendering()
    widest = max((text.get_window_extent().width for text in axes.get_yticklabels()), default=0.0)
    left = widest / figure.dpi + 0.05
    width, height = figure.get_size_inches()
    box = axes.get_position()
    figure.set_size_inches(width + left + SCALE, height)
    whole = width + left + SCALE
    axes.set_position((box.x0 * width / whole + left / whole, box.y0, box.width * width / whole, box.height))
    for text in figure.texts:
        text.set_x(text.get_position()[0] * width / whole)
