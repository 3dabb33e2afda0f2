"""One look for all figures: colours by method, thin axes, twice the resolution of a page."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from PIL import Image

__all__ = ["COLOURS", "DIGITS", "FAINT", "INK", "VALUES", "bare", "panels", "save", "thousands", "tile"]

INK, FAINT = "#22252b", "#b9bec7"
# Okabe and Ito's palette: told apart by colour-blind readers
COLOURS: Mapping[str, str] = {
    "k1": "#0072b2",
    "k2": "#d55e00",
    "score": "#009e73",
    "k1+k2": "#22252b",
    "GNMDS": "#cc79a7",
    "CKL": "#e69f00",
    "STE": "#56b4e9",
    "TSTE": "#8c6d31",
    "SOE": "#7f5fc7",
    "pixels": "#4a4f58",
    "chance": "#9aa0aa",
}
DIGITS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#22252b",
    "#7f5fc7",
    "#8c6d31",
    "#9aa0aa",
)
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.edgecolor": "#7d838d",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "xtick.color": "#4a4f58",
    "ytick.color": "#4a4f58",
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "figure.dpi": 100,
}
mpl.rcParams.update(STYLE)
RESOLUTION = 200  # dots per inch: twice what a page shows them at
VALUES = "viridis"  # colour map of similarities and distances; a reader who sees no red or green can read it


def panels(rows: int, columns: int, *, width: float, height: float, **options: Any) -> tuple[Any, Any]:
    """A figure of (rows, columns) axes, in inches over all."""
    return plt.subplots(
        rows, columns, figsize=(width, height), squeeze=False, layout="constrained", **options
    )


def bare(axis: Any) -> None:
    """No ticks and no frame: for maps, whose axes have no meaning."""
    axis.set_xticks([])
    axis.set_yticks([])
    for spine in axis.spines.values():
        spine.set_visible(False)


def tile(x: float, y: float, colour: str) -> Any:
    """A square of side 0.9 around (x, y)."""
    return plt.Rectangle((x - 0.45, y - 0.45), 0.9, 0.9, color=colour, linewidth=0)


def thousands(axis: Any, values: Sequence[int]) -> None:
    """Ticks at the values themselves, in thousands."""
    axis.set_xticks(values, [f"{value // 1000}k" for value in values])
    axis.minorticks_off()


def save(figure: Any, path: Path, *, draft: bool = False) -> None:
    """Write a PNG, all its colours kept, and let go of the figure; a draft is coarser and takes half the time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = io.BytesIO()
    figure.savefig(stream, dpi=RESOLUTION // 2 if draft else RESOLUTION, format="png", facecolor="white")
    plt.close(figure)
    if draft:
        path.write_bytes(stream.getvalue())
        return
    small = io.BytesIO()
    Image.open(stream).convert("RGB").save(small, "png", optimize=True)
    path.write_bytes(small.getvalue())
