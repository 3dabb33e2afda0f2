"""Figures for print, by matplotlib: map, clusters, kernel matrix, tree. Results come in, a Figure goes out."""

from nearfar.report._print import FORMATS, need_matplotlib, save_figure
from nearfar.report.print_kernel import kernel_figure
from nearfar.report.print_map import map_figure
from nearfar.report.print_tree import tree_figure

__all__ = ["FORMATS", "kernel_figure", "map_figure", "need_matplotlib", "save_figure", "tree_figure"]
