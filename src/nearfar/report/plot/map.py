"""The map of the page as a Bokeh figure: pictures, names and dots, filled by the page's script."""

from __future__ import annotations

from typing import Any

from bokeh.models import (
    ColumnDataSource,
    LassoSelectTool,
    PanTool,
    Range1d,
    TapTool,
    WheelZoomTool,
)

from nearfar.report.plot.figure import plain_figure

__all__ = ["map_plot"]

FEW_DOTS = 300
FADED = 0.25  # what is not selected


def map_plot(source: ColumnDataSource) -> Any:
    """Pictures where their objects lie (in a ColumnDataSource of their own: only those there is room for), dots for the rest.

    From back to front: circles of how sure, ties to locations, frames, pictures, names, dots.
    """
    span = {"x_range": Range1d(start=-2, end=2), "y_range": Range1d(start=-2, end=2)}
    plot = plain_figure("map", height=620, **span)
    plot.axis.visible = plot.grid.visible = False
    plot.min_border = 1  # Bokeh does not clear the outermost pixels of its canvas: keep pictures off them
    _rings_and_ties(plot)
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
    _pictures_and_names(plot)
    dots = _dots(plot, source)
    tap = TapTool(renderers=[frames, dots])
    lasso = LassoSelectTool(renderers=[frames, dots], continuous=False, name="lasso")
    pan = PanTool(name="pan")
    wheel = WheelZoomTool(modifiers="ctrl", name="wheel")
    plot.add_tools(pan, wheel, lasso, tap)
    plot.toolbar.active_drag, plot.toolbar.active_scroll, plot.toolbar.active_tap = pan, wheel, tap
    return plot


def _empty(name: str, *columns: str) -> ColumnDataSource:
    return ColumnDataSource(name=name, data={column: [] for column in columns})


def _rings_and_ties(plot: Any) -> None:
    spread = _empty("map-spread", "x", "y", "r", "colour")
    rings = plot.circle(
        "x", "y", radius="r", source=spread, fill_color="colour", fill_alpha=0.13, line_color="colour"
    )
    rings.visible, rings.name = False, "map-rings"
    ties = _empty("map-ties", "x0", "y0", "x1", "y1", "colour", "alpha")
    plot.segment("x0", "y0", "x1", "y1", source=ties, line_color="colour", line_alpha="alpha")


def _pictures_and_names(plot: Any) -> None:
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
        source=_empty("map-shown", "x", "y", "url", "w", "h", "alpha"),
    )
    plot.text(
        "x",
        "y",
        text="text",
        source=_empty("map-names", "x", "y", "text", "alpha", "align", "shift"),
        x_offset="shift",
        text_align="align",
        text_baseline="middle",
        text_font_size="12px",
        text_alpha="alpha",
        name="map-text",
    )


def _dots(plot: Any, source: ColumnDataSource) -> Any:
    few = len(source.data["x"]) <= FEW_DOTS
    dots = plot.scatter(
        "x",
        "y",
        size="dot",
        source=source,
        fill_color="colour",
        line_color="white",
        line_width=1.5 if few else 0.5,
        nonselection_fill_alpha=FADED,
        nonselection_line_alpha=FADED,
        name="map-dots",
    )
    if not few:  # pictures cover dots rather than the other way round
        dots.level = "underlay"
    return dots
