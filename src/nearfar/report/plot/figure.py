"""What all Bokeh figures of the page share: a plain figure, and colours for the light page.

The page's script sets colours again from its style sheet, for light and dark.
"""

from __future__ import annotations

from typing import Any

from bokeh.plotting import figure

__all__ = ["ACCENT", "FAINT", "INK", "plain_figure"]

INK, FAINT, ACCENT = "#39424e", "#c9ced6", "#2457a6"


def plain_figure(name: str, **more: Any) -> Any:
    """A figure without tools or frame, as wide as the page leaves it."""
    plot = figure(name=name, tools="", toolbar_location=None, sizing_mode="stretch_width", **more)
    plot.outline_line_color = None
    plot.background_fill_color = plot.border_fill_color = None  # the page shows through, light or dark
    plot.min_border = 4
    plot.grid.grid_line_alpha = 0.6
    for axis in plot.axis:
        axis.axis_label_text_font_style = "normal"
        axis.minor_tick_line_color = None
    return plot
