"""Figures for print, by matplotlib: map, clusters, kernel matrix, tree. Results come in, a Figure goes out."""

from nearfar.report.print.groups import groups_figure
from nearfar.report.print.kernel import kernel_figure
from nearfar.report.print.map import map_figure
from nearfar.report.print.sheet import FORMATS, need_matplotlib, save_figure
from nearfar.report.print.tree import tree_figure

__all__ = [
    "FORMATS",
    "groups_figure",
    "kernel_figure",
    "map_figure",
    "need_matplotlib",
    "save_figure",
    "tree_figure",
]
