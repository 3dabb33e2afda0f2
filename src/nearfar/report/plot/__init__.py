"""Figures of the page, by Bokeh."""
