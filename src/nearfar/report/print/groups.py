"""Two groups for print: their maps side by side, the objects that move joined to where the other group sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfar.report.groups_section import PairFacts, Spot
from nearfar.report.print.sheet import COLOURS, FAINT, INK, QUIET, Figure, below, need_matplotlib, style

__all__ = ["groups_figure"]

SIDE = 3.4  # inches of each map
MOST_NAMES = 60


def groups_figure(pair: PairFacts, title: str = "") -> Figure:
    """The maps of two groups, turned onto each other; filled and named: objects that clearly move."""
    need_matplotlib()
    from matplotlib.figure import Figure as Made

    with style():
        figure = Made(figsize=(2 * SIDE + 0.3, SIDE + 0.9))
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
        for which, axes in enumerate(panels):
            _panel(axes, pair, which)
        told = f"{pair.verdict} Lines lead to where the other group sees the object. {pair.beyond}"
        note = below(told.rstrip(), [], [])
        figure.text(0.02, 0.02, note, size=7, color=QUIET, wrap=True)
        if title:
            figure.text(0.02, 0.97, title, size=10, color=INK, va="top", weight="bold")
        figure.subplots_adjust(left=0.02, right=0.98, top=0.86, bottom=0.12, wspace=0.04)
    return figure


def _panel(axes: Any, pair: PairFacts, which: int) -> None:
    named = len(pair.spots) <= MOST_NAMES
    for spot in pair.spots:
        here, there = (spot.first, spot.second) if which == 0 else (spot.second, spot.first)
        beyond = spot.first_beyond if which == 0 else spot.second_beyond
        if here is None:
            continue
        if spot.moves and there is not None:
            axes.plot([here[0], there[0]], [-here[1], -there[1]], color=COLOURS[which], lw=0.8, alpha=0.7)
        colour = COLOURS[which] if spot.moves else FAINT
        size = 4 if spot.moves else 3
        if beyond is None:
            axes.plot(here[0], -here[1], "o", ms=size, color=colour)
        else:
            axes.plot(here[0], -here[1], marker=_arrow(beyond), ms=2 * size, color=colour)
        if named or spot.moves or beyond is not None:
            _name(axes, spot, here, spot.first_name_at if which == 0 else spot.second_name_at)
    axes.set_title(f"{pair.names[which]} ({pair.people[which]} people)", size=9, color=INK)
    axes.set_xlim(0, 1)
    axes.set_ylim(-pair.height, 0)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for edge in axes.spines.values():
        edge.set_color(FAINT)


def _arrow(degrees: float) -> Any:
    """The outline of a marker that points in a direction, clockwise from the right."""
    turn = np.radians(-degrees)
    outline = np.array([[1.0, 0.0], [-0.7, 0.6], [-0.4, 0.0], [-0.7, -0.6], [1.0, 0.0]])
    return outline @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]


def _name(axes: Any, spot: Spot, here: tuple[float, float], beside: tuple[float, float] | None) -> None:
    """The name of an object, where there is room for it, else close to it."""
    look = {"size": 6.5 if spot.moves else 5.5, "color": INK if spot.moves else QUIET}
    if beside is not None:
        axes.text(beside[0], -beside[1], spot.name, ha="center", va="center", **look)
    else:
        axes.annotate(spot.name, (here[0], -here[1]), xytext=(3, 2), textcoords="offset points", **look)
