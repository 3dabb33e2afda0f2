"""Facts -> Bokeh figures. No name of an object or a person goes into them: the page's own script adds those as text.

All figures about objects share one ColumnDataSource, so a selection in one is a selection in all.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.models import (
    ColumnDataSource,
    LassoSelectTool,
    LinearColorMapper,
    NumeralTickFormatter,
    Range1d,
    TapTool,
)

from nearfar.report.facts import Facts
from nearfar.report.plot.figure import ACCENT, INK, plain_figure
from nearfar.report.plot.map import map_plot
from nearfar.report.plot.quality import curve_plot, people_plot

__all__ = ["Plots", "make_plots"]

COLD_HOT = ("#1f4e79", "#ffffff", "#b35806")


class Plots:
    """The figures of a page by name, and the one document that holds them."""

    def __init__(self, figures: dict[str, Any]) -> None:
        self.figures = figures

    def json(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Bokeh's document and, for every figure's name, the id of its root."""
        document = Document(title="")
        for root in self.figures.values():
            document.add_root(root)
        written: Any = document.to_json(deferred=False)
        return written, {name: root.id for name, root in self.figures.items()}


def make_plots(facts: Facts) -> Plots:
    """Every figure that these facts have something for."""
    objects = _objects(facts)
    figures: dict[str, Any] = {}
    if facts.maps:
        figures["map"] = map_plot(objects)
    if facts.matrix is not None:
        figures["matrix"] = _matrix(facts)
    if facts.sure is not None:
        figures["sure"] = _sure(objects)
    figures["cover"] = _cover(objects, facts)
    if facts.quality.participants:
        figures["people"] = people_plot(facts.quality.participants, facts.quality.usual)
    if facts.curve is not None:
        figures["curve"] = curve_plot(facts.curve, facts.judge)
    return Plots(figures)


def _objects(facts: Facts) -> ColumnDataSource:
    """One row per object on the page."""
    n = len(facts.objects)
    answers = np.array([found.answers for found in facts.objects])
    first = facts.maps[0] if facts.maps else None
    x = np.array(first.x if first else [None] * n, dtype=float)
    y = np.array(first.y if first else [None] * n, dtype=float)
    return ColumnDataSource(
        name="objects",
        data={
            "x": x,
            "y": y,
            "px": x,
            "py": y,
            "colour": [INK] * n,
            "wide": np.zeros(n),
            "high": np.zeros(n),
            "dot": np.full(n, 9.0),
            "answers": answers,
            "rank": np.argsort(np.argsort(answers, kind="stable")) + 0.5,
            "spread": np.array([math.nan if o.spread is None else o.spread for o in facts.objects]),
        },
    )


def _matrix(facts: Facts) -> Any:
    values = np.array(facts.matrix.values if facts.matrix else [], dtype=np.float32)
    cells = len(values)
    objects = len(facts.matrix.order) if facts.matrix else 0
    off = np.abs(values[~np.eye(cells, dtype=bool)])
    high = float(np.quantile(off, 0.995)) if off.size else 1.0
    plot = plain_figure(
        "matrix", x_range=Range1d(start=0, end=objects), y_range=Range1d(start=objects, end=0), aspect_ratio=1
    )
    plot.sizing_mode = "scale_width"
    plot.axis.visible = False
    plot.grid.visible = False
    plot.min_border = 0
    mapper = LinearColorMapper(
        palette=_blend(COLD_HOT), low=-high or -1.0, high=high or 1.0, name="matrix-colours"
    )
    plot.image([values], x=0, y=0, dw=objects, dh=objects, color_mapper=mapper)
    marks = ColumnDataSource(name="matrix-marks", data={"at": []})
    for name, spec in (
        ("matrix-rows", {"y": "at", "x": objects / 2, "width": objects, "height": 1}),
        ("matrix-columns", {"x": "at", "y": objects / 2, "width": 1, "height": objects}),
    ):
        plot.rect(source=marks, fill_color=None, line_color=ACCENT, line_width=1.5, name=name, **spec)
    return plot


def _blend(colours: tuple[str, str, str], steps: int = 128) -> list[str]:
    """A palette from one colour over the middle to the other."""
    corners = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours])
    at = np.linspace(0, 2, 2 * steps + 1)
    mixed = np.stack([np.interp(at, [0, 1, 2], corners[:, k]) for k in range(3)], axis=1)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in np.round(mixed).astype(int).tolist()]


def _sure(source: ColumnDataSource) -> Any:
    plot = plain_figure("sure", height=300, x_axis_type="log")
    plot.xaxis.axis_label = "answers about the object"
    plot.yaxis.axis_label = "how far its location moves"
    plot.yaxis.formatter = NumeralTickFormatter(format="0 %")
    plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    plot.scatter(
        "answers",
        "spread",
        size=8,
        source=source,
        fill_color="colour",
        line_color="white",
        nonselection_fill_alpha=0.2,
        nonselection_line_alpha=0.2,
        name="sure-dots",
    )
    plot.y_range.start = 0
    plot.add_tools(TapTool(), LassoSelectTool(continuous=False))
    return plot


def _cover(source: ColumnDataSource, facts: Facts) -> Any:
    n = len(facts.objects)
    plot = plain_figure("cover", height=220, x_range=Range1d(start=0, end=n))
    plot.y_range.start = 0
    plot.xaxis.axis_label = "objects, least covered first"
    plot.yaxis.axis_label = "answers"
    plot.yaxis.formatter = NumeralTickFormatter(format="0,0")
    plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    plot.xgrid.visible = False
    plot.vbar(
        "rank",
        width=0.86 if n <= 300 else 1.0,
        top="answers",
        source=source,
        fill_color=ACCENT,
        line_color=None,
        nonselection_fill_alpha=0.25,
        name="bars",
    )
    plot.add_tools(TapTool())
    return plot
