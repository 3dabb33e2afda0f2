"""Figures for print, by matplotlib: results come in, a Figure goes out."""

from nearfar.report.figures.charts import (
    coverage_figure,
    curve_figure,
    models_figure,
    participants_figure,
    positions_figure,
)
from nearfar.report.figures.groups import groups_figure
from nearfar.report.figures.map import map_figure
from nearfar.report.figures.sheet import FORMATS, need_matplotlib, save_figure
from nearfar.report.figures.tree import kernel_figure, tree_figure

__all__ = [
    "FORMATS",
    "coverage_figure",
    "curve_figure",
    "groups_figure",
    "kernel_figure",
    "map_figure",
    "models_figure",
    "need_matplotlib",
    "participants_figure",
    "positions_figure",
    "save_figure",
    "tree_figure",
]
