"""Dimensions for print: the objects highest on each, as pictures or names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from nearfar import words
from nearfar.report.figures.sheet import (
    COLOURS,
    INK,
    QUIET,
    Figure,
    below,
    sheet,
    shortened,
    style,
    thumbnail,
)

if TYPE_CHECKING:
    from nearfar.evaluate.dimensions import Dimensions

TITLE, CELL, ROW = 1.9, 0.8, 1.05  # inches


@style()
def dimensions_figure(
    result: Dimensions, names: Mapping[str, str], images: Mapping[str, Path], title: str = ""
) -> Figure:
    """A row per dimension that comes back: its name and share, then its top objects, the highest first.

    ``names`` : object -> what to call it; ``images`` : object -> its picture.
    """
    found = result.found
    columns = max(len(each.top) for each in found)
    width, row = TITLE + CELL * columns, ROW if images else 0.62
    figure, axes = sheet(title, below(words.dimensions_found(result)), width + 0.4, row * len(found))
    axes.set(xlim=(0, width), ylim=(row * len(found), 0), aspect="equal")
    axes.axis("off")
    for at, each in enumerate(found):
        top = at * row
        axes.text(0, top + 0.2, shortened(each.title), size=9, weight="bold", color=INK, va="center")
        axes.text(0, top + 0.4, f"{100 * each.share:.0f} % of similarity", size=7.5, color=QUIET, va="center")
        for k, (name, value) in enumerate(zip(each.top, each.values, strict=True)):
            left, base = TITLE + k * CELL, top + row - 0.24
            picture = thumbnail(images[name], 72 * CELL) if name in images else None
            if picture is not None:
                high, wide = picture.shape[:2]
                size = 0.7 / max(high, wide)
                x, y = left + (0.7 - wide * size) / 2, base - 0.06
                axes.imshow(picture, extent=(x, x + wide * size, y, y - high * size), aspect="auto", zorder=1)
            axes.text(left, base + 0.05, shortened(names.get(name, name), 13), size=6, color=INK, va="center")
            length = 0.7 * value / each.values[0]
            axes.plot([left, left + length], [base + 0.16] * 2, color=COLOURS[0], lw=2, solid_capstyle="butt")
    axes.set(xlim=(0, width), ylim=(row * len(found), 0))
    return figure
