"""How sure places and clusters are, in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearfar.evaluate.analysis import MOST_RESAMPLES, Analysis
from nearfar.report.facts import Judge, Sure, Tree
from nearfar.report.words import number

__all__ = ["Certainty", "make_certainty"]

Floats = NDArray[np.float64]


class Certainty:
    """What resampling says about the objects on the page.

    summary : the facts; spread : (n,) of places; kept : for every cut, the (n,) share of resamples that keep an
    object's cluster.
    """

    def __init__(self, summary: Sure | None, spread: Floats, kept: dict[int, Floats]) -> None:
        self.summary, self.spread, self.kept = summary, spread, kept


def make_certainty(analysis: Analysis, judge: Judge, tree: Tree | None) -> Certainty:
    """Spread of the places and how often clusters of every cut are kept, over the same resamples."""
    shown = analysis.shown
    if not judge.map or tree is None:
        return Certainty(None, np.full(len(shown), np.nan), {})
    found = analysis.stability(None)
    spread = found.spread[shown]
    kept = {cut.k: analysis.resamples.kept(np.array(cut.labels), cut.k) for cut in tree.cuts}
    labels = np.array(tree.chosen.labels)
    known = spread[np.isfinite(spread)]
    summary = Sure(
        resamples=analysis.n_resamples,
        unit=found.resampled,
        model=judge.map,
        spread=float(np.median(known)) if len(known) else float("nan"),
        clusters=tuple(_mean(kept[tree.k][labels == c]) for c in range(tree.k)),
        remark=_remark(analysis.n_resamples, found.resampled, len(analysis.answers)),
    )
    return Certainty(summary, spread, kept)


def _remark(resamples: int, unit: str, answers: int) -> str:
    text = f"{resamples} resamples of {unit}s, drawn with replacement; map and tree were made anew from each."
    if resamples < 2 * MOST_RESAMPLES // 3:
        text += f" With {number(answers)} answers a report has time for no more; shares are rough."
    return text


def _mean(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None
