"""Figures of data quality: participants and the learning curve, as Bokeh figures."""

from __future__ import annotations

import math
from typing import Any

from bokeh.models import ColumnDataSource, NumeralTickFormatter, Range1d, TapTool
from bokeh.models.annotations import Band, BoxAnnotation, Span, Whisker

from nearfar.report.facts import Curve, Judge, Participant
from nearfar.report.plot.figure import ACCENT, FAINT, plain_figure

__all__ = ["curve_plot", "people_plot"]


def people_plot(people: tuple[Participant, ...], usual: dict[str, float | None]) -> Any:
    """Agreement with the held-out prediction against agreement with others, or against the number of answers."""
    both = sum(p.with_others is not None for p in people) > len(people) / 2
    y = [p.with_others if both else p.answers for p in people]
    x = [math.nan if p.with_prediction is None else p.with_prediction for p in people]
    source = ColumnDataSource(
        name="of-people",
        data={
            "x": x,
            "y": [math.nan if value is None else value for value in y],
            "low": [math.nan if p.low is None else p.low for p in people],
            "high": [math.nan if p.high is None else p.high for p in people],
            "colour": [ACCENT] * len(people),
            "marker": ["diamond" if p.reasons else "circle" for p in people],
            "size": [13 if p.reasons else 9 for p in people],
        },
    )
    plot = plain_figure("people", height=300)
    plot.xaxis.axis_label = "agreement with the held-out prediction"
    plot.yaxis.axis_label = "agreement with others" if both else "answers"
    plot.xaxis.formatter = NumeralTickFormatter(format="0 %")
    plot.yaxis.formatter = NumeralTickFormatter(format="0 %" if both else "0,0")
    plot.add_layout(
        Span(location=0.5, dimension="height", line_color=FAINT, line_dash="dashed", name="people-half")
    )
    if usual.get("with_prediction"):
        plot.add_layout(
            Span(location=usual["with_prediction"], dimension="height", line_color=FAINT, name="people-usual")
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


def curve_plot(curve: Curve, judge: Judge) -> Any:
    """Accuracy against the number of answers, the ceiling behind it, what more answers would bring ahead of it."""
    plot = plain_figure("curve", height=360)
    plot.xaxis.axis_label = "answers the model was fitted to"
    plot.yaxis.axis_label = "held-out accuracy"
    plot.yaxis.formatter = NumeralTickFormatter(format="0 %")
    plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    y = [p.accuracy for p in curve.points]
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
    _measured(plot, curve)
    if curve.change is not None:
        high = max(high, _ahead(plot, curve))
        low = min(low, min(y))
    plot.y_range = Range1d(start=max(0.0, math.floor(20 * min(low, 0.5)) / 20), end=min(1.0, high + 0.03))
    plot.add_layout(
        Span(location=0.5, dimension="width", line_color=FAINT, line_dash="dashed", name="curve-half")
    )
    return plot


def _measured(plot: Any, curve: Curve) -> None:
    x = [p.answers for p in curve.points]
    y = [p.accuracy for p in curve.points]
    error = [p.error or 0.0 for p in curve.points]
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


def _ahead(plot: Any, curve: Curve) -> float:
    """What all answers, and twice as many, are expected to reach; the highest value drawn."""
    if curve.change is None:
        return 0.0
    change, last = curve.change, curve.points[-1]
    steps = [(change.answers, change.now), (2 * change.answers, change.doubled)]
    known = [
        (m, forecast) for m, forecast in steps if math.isfinite(forecast.low) and math.isfinite(forecast.high)
    ]
    source = ColumnDataSource(
        name="curve-ahead",
        data={
            "x": [m for m, _ in known],
            "low": [forecast.low for _, forecast in known],
            "high": [forecast.high for _, forecast in known],
        },
    )
    plot.line(
        [last.answers, *(m for m, _ in steps)],
        [last.accuracy, *(forecast.value for _, forecast in steps)],
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
        [forecast.value for _, forecast in steps],
        size=9,
        fill_color="white",
        line_color=ACCENT,
        line_width=2,
        name="open",
    )
    return max(
        min(1.0, forecast.high if math.isfinite(forecast.high) else forecast.value) for _, forecast in steps
    )
