"""An analysis as a notebook shows it: one line, the judged models, and the map, in plain HTML and SVG."""

from __future__ import annotations

import warnings
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from nearfar.errors import NearfarWarning

if TYPE_CHECKING:
    from nearfar.evaluate.analysis import Analysis

__all__ = ["analysis_html"]

TOP_MODELS = 8
WIDTH, HEIGHT, EDGE = 560, 400, 36
MOST_NAMES = 120


def analysis_html(analysis: Analysis) -> str:
    """The headline, a table of the best models, and the objects in the best plane.

    Examples
    --------
    >>> import nearfar as nf
    >>> html = analysis_html(nf.analyse([[0, 1, 2], [1, 0, 2], [2, 1, 0]]))
    >>> html[:4], "score" in html
    ('<div', True)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        blocks = [f"<p><b>{escape(repr(analysis))}</b><br>{escape(analysis.headline)}</p>"]
        if analysis.splits:
            blocks.append(_table(analysis))
        if analysis.space.informed.any():
            blocks.append(_map(analysis))
    return f'<div style="max-width:{WIDTH}px">{"".join(blocks)}</div>'


def _table(analysis: Analysis) -> str:
    rows = []
    for score in analysis.scores.ranked()[:TOP_MODELS]:
        interval = "" if np.isnan(score.low) else f" ({100 * score.low:.1f} to {100 * score.high:.1f})"
        mark = " (chosen)" if score.name == analysis.best.name else ""
        rows.append(
            f"<tr><td>{escape(score.name)}{mark}</td><td>{100 * score.accuracy:.1f} %{interval}</td></tr>"
        )
    head = "<tr><th>model</th><th>held-out answers predicted</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _map(analysis: Analysis) -> str:
    points, names = analysis.plane.map(2), analysis.answers.objects
    shown = np.flatnonzero(analysis.plane.informed)
    at = points[shown]
    low, size = at.min(axis=0), np.ptp(at, axis=0).max() or 1.0
    pixels = (at - low) / size * [HEIGHT - 2 * EDGE, HEIGHT - 2 * EDGE] + EDGE
    dots = []
    for (x, y), index in zip(pixels, shown, strict=True):
        text = ""
        if len(shown) <= MOST_NAMES:
            text = (
                f'<text x="{x + 5:.1f}" y="{HEIGHT - y + 3:.1f}" font-size="9">{escape(names[index])}</text>'
            )
        dots.append(
            f'<circle cx="{x:.1f}" cy="{HEIGHT - y:.1f}" r="3"><title>{escape(names[index])}</title></circle>{text}'
        )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="Map of the objects by {escape(analysis.plane_name)}" fill="currentColor">{"".join(dots)}</svg>'
    )
