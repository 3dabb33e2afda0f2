"""How sure locations and clusters are, in words."""

from __future__ import annotations

import numpy as np

from nearfar._tools.arrays import Floats
from nearfar.evaluate.analysis import MOST_RESAMPLES, Analysis
from nearfar.evaluate.map_stability import MIN_STATEMENTS, Stability
from nearfar.report.facts import Judge, Sure, TreeFacts
from nearfar.report.words import display_names, listed, number, percent

__all__ = ["Certainty", "make_certainty"]


class Certainty:
    """What resampling says about the objects on the page.

    summary : the facts; spread, circle : (n,) of locations; kept : for every cut, the (n,) share of resamples that keep
    an object's cluster.
    """

    def __init__(self, summary: Sure | None, spread: Floats, circle: Floats, kept: dict[int, Floats]) -> None:
        self.summary, self.spread, self.circle, self.kept = summary, spread, circle, kept


def make_certainty(analysis: Analysis, judge: Judge, tree: TreeFacts | None) -> Certainty:
    """Spread of the locations and how often clusters of every cut are kept, over the same resamples."""
    shown = analysis.shown
    if not judge.map or tree is None:
        unknown = np.full(len(shown), np.nan)
        return Certainty(None, unknown, unknown, {})
    found = analysis.stability(tree.k)
    spread = found.spread[shown]
    kept = {cut.k: analysis.resamples.kept(np.array(cut.labels), cut.k) for cut in tree.cuts}
    labels = np.array(tree.chosen.labels)
    known = spread[np.isfinite(spread)]
    summary = Sure(
        resamples=analysis.n_resamples,
        resampled=found.resampled,
        model=judge.map,
        spread=float(np.median(known)) if len(known) else float("nan"),
        clusters=tuple(_mean(kept[tree.k][labels == c]) for c in range(tree.k)),
        remark=_remark(analysis.n_resamples, found, len(analysis.answers)),
    )
    return Certainty(summary, spread, found.circle[shown], kept)


def _remark(resamples: int, found: Stability, answers: int) -> str:
    """What was done; objects that nothing can be said about come first."""
    text = ""
    if found.few.any():
        few = [name for name, little in zip(display_names(found.objects), found.few, strict=True) if little]
        text = f"Fewer than {MIN_STATEMENTS} statements, too few to say where they are: {listed(few)}. "
    text += f"{resamples} resamples of {found.resampled}s, drawn with replacement; map and tree were made anew from each."
    if resamples < 2 * MOST_RESAMPLES // 3:
        text += f" With {number(answers)} answers a report has time for no more; shares are rough."
    if found.kept_by_chance is not None and np.isfinite(found.kept_by_chance):
        text += f" Clusters of answers given at random are kept in {percent(found.kept_by_chance, 0)} of resamples (median)."
    if np.isfinite(found.circle).any():
        text += (
            " The circle of an object holds where it would lie with many more answers, for 9 in 10 objects; its radius is "
            f"{percent(float(np.nanmedian(found.circle)), 0)} of the map's (median; wider where few statements concern an object)."
        )
    return text


def _mean(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None
