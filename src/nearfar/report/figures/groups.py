"""Two groups for print: their maps side by side, objects that differ joined to where the other group sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfar.report.figures.sheet import COLOURS, FAINT, INK, QUIET, Figure, below, need_matplotlib, style


def groups_figure(pair: dict[str, Any], side: float = 3.4) -> Figure:
    """The maps of two groups (a pair of ``group_comparison``), turned onto each other; coloured: objects that clearly differ."""
    need_matplotlib()
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(2 * side + 0.3, side + 0.9))
        for which, axes in enumerate(figure.subplots(1, 2, sharex=True, sharey=True)):
            _panel(axes, pair, which)
        told = (
            f"{pair['finding']['text']} Lines lead to where the other group sees the object. {pair['beyond']}"
        )
        figure.text(0.02, 0.02, below(told.rstrip()), size=7, color=QUIET, wrap=True)
        figure.subplots_adjust(left=0.02, right=0.98, top=0.86, bottom=0.12, wspace=0.04)
    return figure


def _panel(axes: Any, pair: dict[str, Any], which: int) -> None:
    few = len(pair["spots"]) <= 60
    for spot in pair["spots"]:
        here, there, beyond = spot["at"][which], spot["at"][1 - which], spot["beyond"][which]
        if here is None:
            continue
        moves = spot["moves"]
        if moves and there is not None:
            axes.plot([here[0], there[0]], [-here[1], -there[1]], color=COLOURS[which], lw=0.8, alpha=0.7)
        marker, size = ("o", 4 if moves else 3) if beyond is None else (_arrow(beyond), 8 if moves else 6)
        axes.plot(here[0], -here[1], marker=marker, ms=size, color=COLOURS[which] if moves else FAINT)
        if few or moves or beyond is not None:
            look = {"size": 6.5 if moves else 5.5, "color": INK if moves else QUIET}
            beside = spot["name_at"][which]
            if beside is not None:
                axes.text(beside[0], -beside[1], spot["name"], ha="center", va="center", **look)
            else:
                axes.annotate(
                    spot["name"], (here[0], -here[1]), xytext=(3, 2), textcoords="offset points", **look
                )
    axes.set_title(f"{pair['names'][which]} ({pair['people'][which]} people)", size=9, color=INK)
    axes.set(xlim=(0, 1), ylim=(-pair["height"], 0), aspect="equal", xticks=[], yticks=[])
    for edge in axes.spines.values():
        edge.set_color(FAINT)


def _arrow(degrees: float) -> Any:
    """The outline of a marker that points in a direction, clockwise from the right."""
    turn = np.radians(-degrees)
    outline = np.array([[1.0, 0.0], [-0.7, 0.6], [-0.4, 0.0], [-0.7, -0.6], [1.0, 0.0]])
    return outline @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
