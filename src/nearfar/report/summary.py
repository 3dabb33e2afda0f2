"""An analysis as a notebook shows it: one line, the judged models, and the map."""

from __future__ import annotations

import io
import warnings
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from nearfar._tools.text import percent
from nearfar.errors import MissingExtra, NearfarWarning
from nearfar.words import interval

if TYPE_CHECKING:
    from nearfar.evaluate.analysis import Analysis


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
            rows = []
            for score in analysis.scores.ranked()[:8]:
                chosen = " (chosen)" if score.name == analysis.best.name else ""
                cells = score.name + chosen, percent(score.accuracy), interval(score.low, score.high)
                rows.append(f"<tr><td>{'</td><td>'.join(map(escape, cells))}</td></tr>")
            head = "<tr><th>model</th><th>held-out answers predicted</th><th></th></tr>"
            blocks.append(f"<table>{head}{''.join(rows)}</table>")
        if analysis.space.informed.any():
            blocks.append(_map(analysis))
    return f"<div>{''.join(blocks)}</div>"


def _map(analysis: Analysis) -> str:
    """The map as SVG; nothing where matplotlib is not installed."""
    plane, text = analysis.plane, io.StringIO()
    try:
        from nearfar.plot.style import Look, style
        from nearfar.report.figures import print_map

        points, look = plane.map(2), Look()
        points[plane.uninformed] = np.nan
        printed = print_map(look, points, plane.objects, model=analysis.plane_name)
    except MissingExtra:
        return ""
    with style(look):
        printed.figure.savefig(text, format="svg", metadata={"Date": None})
    drawing = text.getvalue()[text.getvalue().index("<svg") :]
    return f"{drawing}<p>{escape(printed.caption)}</p>"
