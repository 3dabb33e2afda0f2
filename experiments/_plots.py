"""One look for all figures: colours by method, thin axes, files of a reasonable size."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt
from PIL import Image

__all__ = ["COLOURS", "FAINT", "INK", "SHADES", "bare", "coarse", "method_legend", "panels", "save"]

INK, FAINT = "#22252b", "#b9bec7"
# Okabe and Ito's palette: told apart by colour-blind readers
COLOURS: Mapping[str, str] = {
    "k1": "#0072b2",
    "k2": "#d55e00",
    "score": "#009e73",
    "GNMDS": "#cc79a7",
    "CKL": "#e69f00",
    "STE": "#56b4e9",
    "TSTE": "#8c6d31",
    "SOE": "#7f5fc7",
    "pixels": "#22252b",
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
SHADES = mpl.colors.LinearSegmentedColormap.from_list(
    "shades", [(0.86,) * 3, (0.05,) * 3]
)  # grey on white paper
RESOLUTION = 150
PALETTES = (192, 96, 48, 24)  # colours of a saved picture, the first that keeps it below ...
BYTES = 150_000


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


def thousands(axis: Any, values: Sequence[int]) -> None:
    """Ticks at the values themselves, in thousands."""
    axis.set_xticks(values, [f"{value // 1000}k" for value in values])
    axis.minorticks_off()


def method_legend(figure: Any, axis: Any, references: Sequence[str] = ()) -> None:
    """One legend below all panels: kernels thick, embeddings thin, dashed where they start from the kernel.

    ``references`` are the dotted lines across: "pixels", "chance".
    """
    for method, colour in COLOURS.items():
        if method not in ("pixels", "chance"):
            width = 2.4 if method in ("k1", "k2", "score") else 1.2
            axis.plot([], [], color=colour, linewidth=width, label="t-STE" if method == "TSTE" else method)
    axis.plot([], [], "--", color="#7d838d", linewidth=1.2, label="dashed: our start")
    axis.plot(
        [], [], linestyle=(0, (5, 1, 1, 1)), color="#7d838d", linewidth=1.6, label="dash-dot: kernel PCA"
    )
    for name in references:
        label = {"pixels": "k-means on pixels", "chance": "random labels"}[name]
        axis.plot([], [], ":", color=COLOURS[name], linewidth=1.2, label=label)
    figure.legend(
        *axis.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=6 if figure.get_figwidth() > 7 else 4,
    )


def save(figure: Any, path: Path) -> None:
    """Write a PNG with as many colours as keep it small, and let go of the figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = io.BytesIO()
    figure.savefig(stream, dpi=RESOLUTION, format="png", facecolor="white")
    plt.close(figure)
    picture = Image.open(stream).convert("RGB")
    for colours in PALETTES:
        small = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(small, "png", optimize=True)
        if small.tell() < BYTES:
            break
    path.write_bytes(small.getvalue())


def coarse(matrix: Any, size: int) -> Any:
    """A square matrix averaged over blocks, down to at most ``size`` rows."""
    step = -(-len(matrix) // size)
    n = len(matrix) // step * step
    cut = np.asarray(matrix)[:n, :n]
    return cut.reshape(n // step, step, n // step, step).mean(axis=(1, 3))
