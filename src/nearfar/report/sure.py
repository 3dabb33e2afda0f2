"""How sure places and clusters are: people (or statements) drawn again, map and tree made again."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import NearfarWarning
from nearfar.evaluate.uncertainty import dense_codes, speakers
from nearfar.evaluate.views import stability
from nearfar.features import FeatureMap
from nearfar.kernel.factored import factor
from nearfar.methods.trees import cut, pair_distances
from nearfar.progress import track
from nearfar.report.facts import Judge, Sure, Tree
from nearfar.report.words import number
from nearfar.triplets import Triplets

__all__ = ["certainty", "resamples_for"]

Floats = NDArray[np.float64]
WORK = 500_000  # answers that are fitted in all; fewer resamples where there are many answers
LEAST, MOST = 6, 30


def resamples_for(answers: Triplets) -> int:
    """As many resamples as a report has time for.

    >>> resamples_for(Triplets.from_array([[0, 1, 2]]))
    30
    """
    return int(np.clip(WORK // max(len(answers), 1), LEAST, MOST))


def certainty(
    answers: Triplets, judge: Judge, tree: Tree | None, shown: NDArray[np.intp], seed: int = 0
) -> tuple[Sure | None, Floats, dict[int, Floats]]:
    """The summary, the (n,) spread of places, and for every cut the (n,) share of resamples that keep the cluster."""
    n = len(shown)
    spread, kept = np.full(n, np.nan), dict[int, Floats]()
    if not judge.map or tree is None:
        return None, spread, kept
    resamples = resamples_for(answers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        places = stability(answers, judge.map, n_clusters=None, n_resamples=resamples, seed=seed)
        spread = places.spread[shown]
        kept = _kept_clusters(answers, judge.kernel, tree, shown, resamples, seed=seed)
    labels = np.array(tree.chosen.labels)
    clusters = tuple(_mean(kept[tree.k][labels == c]) for c in range(tree.k))
    known = spread[np.isfinite(spread)]
    sure = Sure(
        resamples=resamples,
        unit=places.resampled,
        model=judge.map,
        spread=float(np.median(known)) if len(known) else float("nan"),
        clusters=clusters,
        remark=_remark(resamples, places.resampled, len(answers)),
    )
    return sure, spread, kept


def _remark(resamples: int, unit: str, answers: int) -> str:
    text = f"{resamples} resamples of {unit}s, drawn with replacement; map and tree were made anew from each."
    if resamples < 2 * MOST // 3:
        text += f" With {number(answers)} answers a report has time for no more; shares are rough."
    return text


def _kept_clusters(
    answers: Triplets, kernel: str, tree: Tree, shown: NDArray[np.intp], resamples: int, *, seed: int
) -> dict[int, Floats]:
    """Cut by cut: how often an object is in the cluster that matches its own, where the resample knows it."""
    by_people = answers.participant is not None and len(answers.participant.present) > 1
    who = speakers(answers) if by_people else dense_codes(answers.statement_ids)
    size = int(who.max()) + 1
    rng = np.random.default_rng(seed)
    own = {found.k: np.array(found.labels) for found in tree.cuts}
    same = {k: np.zeros(len(shown)) for k in own}
    seen = np.zeros(len(shown))
    for _ in track(range(resamples), "resampling clusters"):
        drawn = np.bincount(rng.integers(size, size=size), minlength=size)
        sample = answers[np.repeat(np.arange(len(answers)), drawn[who])]
        merges, rows = _quick_tree(FeatureMap(kernel).fit_transform(sample), shown)
        if merges is None:
            continue
        known = np.zeros(len(shown), dtype=bool)
        known[rows] = True
        known &= own[tree.k] >= 0
        seen += known
        for k, labels in own.items():
            if k > len(rows):
                continue
            again = np.full(len(shown), -1)
            again[rows] = np.asarray(cut(merges, k))
            same[k][known] += _matched(labels[known], again[known], k)
    return {k: np.where(seen > 0, hits / np.maximum(seen, 1), np.nan) for k, hits in same.items()}


def _quick_tree(phi: Any, shown: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
    """A complete-linkage tree with its leaves in any order; the diagonal shift does not change its shape."""
    from scipy.cluster import hierarchy

    parts = factor(phi if len(shown) == phi.shape[0] else phi[shown])
    if parts.size < 3:
        return None, parts.rows
    return hierarchy.linkage(pair_distances(parts, 0.0), "complete"), parts.rows


def _matched(labels: NDArray[Any], again: NDArray[Any], k: int) -> NDArray[np.bool_]:
    """Whether each object's new cluster is the one matched to its old one, clusters matched one to one."""
    from scipy.optimize import linear_sum_assignment

    table = np.zeros((k, k))
    np.add.at(table, (labels, again), 1)
    old, new = linear_sum_assignment(-table)
    match = np.empty(k, dtype=np.int64)
    match[new] = old
    same: NDArray[np.bool_] = match[again] == labels
    return same


def _mean(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None
