"""Facts -> Bokeh figures. No name of an object or a person goes into them: the page's own script adds those as text.

All figures about objects share one data source, so a selection in one is a selection in all. Colours are those of
the light page; the page's script sets them again from its style sheet, for light and dark.
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
    PanTool,
    Range1d,
    TapTool,
    WheelZoomTool,
)
from bokeh.models.annotations import Band, BoxAnnotation, Span, Whisker
from bokeh.plotting import figure

from nearfar.report.facts import Curve, Facts, Judge, Participant

__all__ = ["Plots", "make_plots"]

INK, FAINT, ACCENT = "#39424e", "#c9ced6", "#2457a6"
FEW_DOTS = 300
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
        figures["map"] = _map(objects)
    if facts.matrix is not None:
        figures["matrix"] = _matrix(facts)
    if facts.sure is not None:
        figures["sure"] = _sure(objects)
    figures["cover"] = _cover(objects, facts)
    if facts.quality.participants:
        figures["people"] = _people(facts.quality.participants, facts.quality.typical)
    if facts.curve is not None:
        figures["curve"] = _curve(facts.curve, facts.judge)
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


def _plain(name: str, **more: Any) -> Any:
    plot = figure(name=name, tools="", toolbar_location=None, sizing_mode="stretch_width", **more)
    plot.outline_line_color = None
    plot.background_fill_color = plot.border_fill_color = None  # the page shows through, light or dark
    plot.min_border = 4
    plot.grid.grid_line_alpha = 0.6
    for axis in plot.axis:
        axis.axis_label_text_font_style = "normal"
        axis.minor_tick_line_color = None
    return plot


def _map(source: ColumnDataSource) -> Any:
    """Pictures at their places (in a source of their own: only those there is room for), dots for the rest."""
    plot = _plain("map", height=620, x_range=Range1d(start=-2, end=2), y_range=Range1d(start=-2, end=2))
    plot.axis.visible = False
    plot.grid.visible = False
    plot.min_border = 0
    spread = ColumnDataSource(name="map-spread", data={"x": [], "y": [], "r": [], "colour": []})
    rings = plot.circle(
        "x", "y", radius="r", source=spread, fill_color="colour", fill_alpha=0.13, line_color="colour"
    )
    rings.visible, rings.name = False, "map-rings"
    style: dict[str, Any] = {
        "fill_color": "colour",
        "nonselection_fill_alpha": 0.25,
        "nonselection_line_alpha": 0.25,
    }
    ties = ColumnDataSource(
        name="map-ties", data={name: [] for name in ("x0", "y0", "x1", "y1", "colour", "alpha")}
    )
    plot.segment("x0", "y0", "x1", "y1", source=ties, line_color="colour", line_alpha="alpha")
    frames = plot.rect(
        "px",
        "py",
        width="wide",
        height="high",
        width_units="screen",
        height_units="screen",
        source=source,
        fill_color="colour",
        line_color=None,
        nonselection_fill_alpha=0,  # a faded picture must not take on the colour behind it
    )
    shown = ColumnDataSource(
        name="map-shown", data={"x": [], "y": [], "url": [], "w": [], "h": [], "alpha": []}
    )
    plot.image_url(
        "url",
        "x",
        "y",
        w="w",
        h="h",
        w_units="screen",
        h_units="screen",
        anchor="center",
        global_alpha="alpha",
        source=shown,
    )
    labels = ColumnDataSource(
        name="map-labels", data={name: [] for name in ("x", "y", "text", "alpha", "align", "shift")}
    )
    plot.text(
        "x",
        "y",
        text="text",
        source=labels,
        x_offset="shift",
        text_align="align",
        text_baseline="middle",
        text_font_size="12px",
        text_alpha="alpha",
        name="map-text",
    )
    few = len(source.data["x"]) <= FEW_DOTS
    dots = plot.scatter(
        "x", "y", size="dot", source=source, line_color="white", line_width=1.5 if few else 0.5, **style
    )
    dots.name = "map-dots"
    if not few:  # pictures cover dots rather than the other way round
        dots.level = "underlay"
    tap = TapTool(renderers=[frames, dots])
    lasso = LassoSelectTool(renderers=[frames, dots], continuous=False, name="lasso")
    pan = PanTool(name="pan")
    wheel = WheelZoomTool(modifiers="ctrl", name="wheel")
    plot.add_tools(pan, wheel, lasso, tap)
    plot.toolbar.active_drag, plot.toolbar.active_scroll, plot.toolbar.active_tap = pan, wheel, tap
    return plot


def _matrix(facts: Facts) -> Any:
    values = np.array(facts.matrix.values if facts.matrix else [], dtype=np.float32)
    cells = len(values)
    objects = len(facts.matrix.order) if facts.matrix else 0
    off = np.abs(values[~np.eye(cells, dtype=bool)])
    high = float(np.quantile(off, 0.995)) if off.size else 1.0
    plot = _plain(
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
    plot = _plain("sure", height=300, x_axis_type="log")
    plot.xaxis.axis_label = "answers about the object"
    plot.yaxis.axis_label = "how far its place moves"
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
    plot = _plain("cover", height=220, x_range=Range1d(start=0, end=n))
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


def _people(people: tuple[Participant, ...], typical: dict[str, float | None]) -> Any:
    """Agreement with the held-out prediction against agreement with others, or against the number of answers."""
    both = sum(p.with_others is not None for p in people) > len(people) / 2
    y = [p.with_others if both else p.answers for p in people]
    x = [math.nan if p.with_prediction is None else p.with_prediction for p in people]
    half = [1.96 * math.sqrt(max(v * (1 - v), 0) / max(p.answers, 1)) for v, p in zip(x, people, strict=True)]
    source = ColumnDataSource(
        name="of-people",
        data={
            "x": x,
            "y": [math.nan if value is None else value for value in y],
            "low": [v - h for v, h in zip(x, half, strict=True)],
            "high": [v + h for v, h in zip(x, half, strict=True)],
            "colour": [ACCENT] * len(people),
            "marker": ["diamond" if p.reasons else "circle" for p in people],
            "size": [13 if p.reasons else 9 for p in people],
        },
    )
    plot = _plain("people", height=300)
    plot.xaxis.axis_label = "agreement with the held-out prediction"
    plot.yaxis.axis_label = "agreement with others" if both else "answers"
    plot.xaxis.formatter = NumeralTickFormatter(format="0 %")
    plot.yaxis.formatter = NumeralTickFormatter(format="0 %" if both else "0,0")
    plot.add_layout(
        Span(location=0.5, dimension="height", line_color=FAINT, line_dash="dashed", name="people-half")
    )
    if typical.get("with_prediction"):
        plot.add_layout(
            Span(
                location=typical["with_prediction"], dimension="height", line_color=FAINT, name="people-usual"
            )
        )
    plot.segment("low", "y", "high", "y", source=source, line_color="colour", line_alpha=0.35, line_width=2)
    plot.scatter(
        "x",
        "y",
        size="size",
        marker="marker",
        source=source,
        fill_color="colour",
        line_color="white",
        name="people-dots",
    )
    plot.add_tools(TapTool())
    return plot


def _curve(curve: Curve, judge: Judge) -> Any:
    plot = _plain("curve", height=360)
    plot.xaxis.axis_label = "answers the model was fitted to"
    plot.yaxis.axis_label = "held-out accuracy"
    plot.yaxis.formatter = NumeralTickFormatter(format="0 %")
    plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    x = [p.answers for p in curve.points]
    y = [p.accuracy for p in curve.points]
    error = [p.error or 0.0 for p in curve.points]
    low, high = min(y), max(y)
    if judge.ceiling is not None:
        plot.add_layout(
            BoxAnnotation(
                bottom=judge.ceiling[0],
                top=judge.ceiling[1],
                fill_color=ACCENT,
                fill_alpha=0.12,
                name="curve-ceiling",
            )
        )
        high = max(high, judge.ceiling[1])
    source = ColumnDataSource(
        name="of-curve",
        data={
            "x": x,
            "y": y,
            "low": [a - e for a, e in zip(y, error, strict=True)],
            "high": [a + e for a, e in zip(y, error, strict=True)],
        },
    )
    plot.add_layout(
        Band(
            base="x",
            lower="low",
            upper="high",
            source=source,
            fill_color=ACCENT,
            fill_alpha=0.15,
            line_color=None,
        )
    )
    plot.line("x", "y", source=source, line_color=ACCENT, line_width=2.5, name="line")
    plot.scatter("x", "y", source=source, size=8, fill_color=ACCENT, line_color="white", name="solid")
    if curve.change is not None:
        high = max(high, _ahead(plot, curve))
        low = min(low, min(y))
    plot.y_range = Range1d(start=max(0.0, math.floor(20 * min(low, 0.5)) / 20), end=min(1.0, high + 0.03))
    plot.add_layout(
        Span(location=0.5, dimension="width", line_color=FAINT, line_dash="dashed", name="curve-half")
    )
    return plot


def _ahead(plot: Any, curve: Curve) -> float:
    """What all answers, and twice as many, are expected to reach; the highest value drawn."""
    if curve.change is None:
        return 0.0
    change, last = curve.change, curve.points[-1]
    steps = [(change.answers, change.now), (2 * change.answers, change.doubled)]
    known = [(m, part) for m, part in steps if math.isfinite(part.low) and math.isfinite(part.high)]
    source = ColumnDataSource(
        name="curve-ahead",
        data={
            "x": [m for m, _ in known],
            "low": [part.low for _, part in known],
            "high": [part.high for _, part in known],
        },
    )
    plot.line(
        [last.answers, *(m for m, _ in steps)],
        [last.accuracy, *(part.value for _, part in steps)],
        line_color=ACCENT,
        line_width=2,
        line_dash="dashed",
        name="line",
    )
    plot.add_layout(
        Whisker(
            base="x",
            lower="low",
            upper="high",
            source=source,
            line_color=ACCENT,
            line_width=1.5,
            name="curve-whisker",
        )
    )
    plot.scatter(
        [m for m, _ in steps],
        [part.value for _, part in steps],
        size=9,
        fill_color="white",
        line_color=ACCENT,
        line_width=2,
        name="open",
    )
    return max(min(1.0, part.high if math.isfinite(part.high) else part.value) for _, part in steps)
