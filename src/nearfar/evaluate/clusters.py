"""Clusters of objects: the tree of a space and its cuts, and how many clusters there are, if any.

A best number of clusters always exists, among unclustered objects as well. Two marks tell clusters from objects that vary gradually.

The elbow: with s2_k the variance within the k clusters of Ward's tree, e_k = (log s2_(k-1) - log s2_k) / (log k - log (k - 1))
says how fast the k-th cut reduces it. Among unclustered objects in d dimensions it stays near 2/d; with k clusters it is large up
to k, and small after. The gap: the centres of neighbouring clusters are further apart, in their own standard deviations, than those
of the two halves of one even stretch (3.5).

Both are read off a map that allows for lapses: where some answers are given at random, most losses draw clusters together, and
every dimension too many fills the gaps with noise. Its number of dimensions is the one that makes held-out answers likeliest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, leaves_list, ward

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar._tools.progress import track
from nearfar._tools.records import Record
from nearfar.embedding.estimators import fit_lapses
from nearfar.errors import InputError
from nearfar.evaluate.bootstrap import Draws
from nearfar.evaluate.splits import Split
from nearfar.methods import cut
from nearfar.space.space import Space
from nearfar.triplets import Triplets

if TYPE_CHECKING:
    from nearfar.evaluate.judging import Judging

MAX_CLUSTERS = 12
AFTER = 3  # cuts after the elbow that are looked at
NO_GAP, NO_ELBOW = 3.5, 0.7  # of unclustered objects


@dataclass(frozen=True)
class ClusterCount(Record):
    """How many clusters were found, and the evidence.

    Parameters
    ----------
    k : number of clusters, the likeliest of ``low`` to ``high``; 1 for none.
    best_cut : the number of clusters with the sharpest elbow, whether or not they are separate.
    elbow : how many times more the last cut into ``best_cut`` reduces within-cluster variance than the next ones do; about 1
        among unclustered objects.
    gap : mean over clusters of the distance to the nearest one, in standard deviations along the line between them;
        about 3.5 among unclustered objects.
    low, high : numbers of clusters that the answers do not distinguish; both ``k`` where it is clear.
    per_object, wanted : triplets per object, and with how many separate clusters are found reliably; NaN where not known.
    unknown : why none were looked for: "few answers", "few objects", or "noise" (no map predicts better than guessing).
    """

    k: int = 1
    best_cut: int = 1
    elbow: float = np.nan
    gap: float = np.nan
    low: int = 1
    high: int = 1
    per_object: float = np.nan
    wanted: float = np.nan
    unknown: Literal["", "few answers", "few objects", "noise"] = ""

    @property
    def outcome(self) -> Literal["none", "clear", "unclear", "unknown"]:
        """None found, a clear number, clusters but of unclear number, or not enough data to tell."""
        if self.unknown or (self.k == 1 and self.per_object < self.wanted):
            return "unknown"
        return "none" if self.k == 1 else "clear" if self.low == self.high else "unclear"

    def __str__(self) -> str:
        return str(words.clusters(self, self.k))


@dataclass(frozen=True, eq=False)
class Cut(Record):
    """The tree cut into ``n_clusters``: ``labels`` of all objects (-1: none), ``medoids``, mean ``silhouette``."""

    n_clusters: int
    labels: NDArray[np.intp]
    medoids: NDArray[np.intp]
    silhouette: float


@dataclass(frozen=True, eq=False)
class ClusterTree(Record):
    """The tree over the informed objects ``rows``, its ``leaves`` in the order drawn, and its cuts.

    ``count`` : how many clusters there are, with the evidence; None where a number was asked for.
    """

    tree: Any
    rows: NDArray[np.intp]
    leaves: NDArray[np.intp]
    cuts: tuple[Cut, ...]
    n_clusters: int
    count: ClusterCount | None

    @property
    def chosen(self) -> Cut:
        """The cut into ``n_clusters``."""
        return next(each for each in self.cuts if each.n_clusters == self.n_clusters)

    @property
    def found(self) -> bool:
        """Whether these are clusters that were found or asked for; else they only help to read the tree."""
        return self.count is None or self.count.outcome in ("clear", "unclear")


def cluster_tree(
    space: Space, count: ClusterCount | None, n_clusters: int | None = None
) -> ClusterTree | None:
    """The complete-linkage tree of a space and its cuts into 2 to 12; None with fewer than three informed objects.

    It is cut into ``n_clusters``, or into as many as were counted; of the two one is given.
    """
    from sklearn.metrics import silhouette_score

    rows = np.flatnonzero(space.informed)
    if len(rows) < 3:
        return None
    if n_clusters is not None and n_clusters >= len(rows):
        expected = f"expected fewer than the {len(rows)} objects that can be clustered"
        raise InputError(f"n_clusters: {n_clusters} are too many; {expected}")
    known = space.take(rows)
    tree, distances = known.tree(), known.distances()
    order = leaves_list(np.asarray(tree))
    most = min(MAX_CLUSTERS, len(rows) - 1)
    if n_clusters is None:  # six help to read the tree where none were found
        n_clusters = count.k if count is not None and 1 < count.k <= most else min(most, 6)
    cuts = []
    for k in sorted({*range(2, most + 1), n_clusters}):
        flat = np.asarray(cut(tree, k))
        _, first = np.unique(flat[order], return_index=True)
        own = np.argsort(np.argsort(first))[flat]  # cluster 1 stands first in the tree
        labels = np.full(len(space), -1)
        labels[rows] = own
        width = float(silhouette_score(distances, own, metric="precomputed"))
        cuts.append(Cut(k, labels, rows[known.medoids(own).indices], width))
    return ClusterTree(tree, rows, rows[order], tuple(cuts), n_clusters, count)


def count_object_clusters(of: Judging, shown: NDArray[np.intp]) -> ClusterCount:
    """Count the clusters of the objects ``shown``, in the map of all answers that predicts those of the first fold best."""
    if not of.splits or not len(of.splits[0].train) or len(of.judged) < 10 * len(np.unique(of.judged.array)):
        return ClusterCount(unknown="few answers")
    dimension = likeliest_dimension(of.judged, of.splits[0], of.draws)
    if not dimension:
        return ClusterCount(unknown="noise")
    lapses = fit_lapses(of.answers, dimension)
    counted = count_clusters(lapses.points[shown[lapses.informed[shown]]])
    # with so many triplets per object separate clusters are found in simulations: of questions drawn one by one from all
    # objects; of screens, and where few objects, the landmarks, are asked about all others
    alone = of.units.kind == "trio" and lapses.landmarks < 0.1
    per_object = float(len(of.answers) / lapses.informed.sum())
    return replace(counted, per_object=per_object, wanted=120.0 if alone else 300.0)


def likeliest_dimension(answers: Triplets, split: Split, draws: Draws) -> int:
    """The number of dimensions, tried upwards, that makes held-out answers likeliest; 0 where none clearly beats guessing."""
    known, held_out = answers[split.train], answers[split.test]
    best, likeliest = 0, np.full(len(held_out), -np.inf)
    # one dimension is hard to search: objects cannot pass each other
    for dimension in track((2, 3, 5, 8), "looking for clusters"):
        own = fit_lapses(known, dimension).log_probability(held_out)
        if own.mean() <= likeliest.mean():
            break
        best, likeliest = dimension, own
    gains = np.full(len(answers), np.nan)
    gains[split.test] = likeliest - math.log(0.5)
    gain = draws.difference(gains, np.zeros(len(answers)))
    return best if gain.low > 0 else 0


def count_clusters(rows: NDArray[Any], *, seed: int = 0) -> ClusterCount:
    """Count the clusters of (n, p) points, one per informed object."""
    rows = np.array(rows, dtype=np.float64)
    if len(rows) > 300:  # so many are looked at
        rows = rows[np.sort(np.random.default_rng(seed).permutation(len(rows))[:300])]
    points = rows - rows.mean(axis=0) if len(rows) else rows
    most = min(MAX_CLUSTERS, len(rows) // 3)
    if len(rows) < 9 or not points.any():
        return ClusterCount(unknown="few objects")
    tree, k = ward(points), np.arange(1, most + AFTER + 1)
    cuts = cut_tree(tree, n_clusters=k)
    within = np.cumsum(tree[:, 2] ** 2 / 2)  # sum of squares after each of Ward's merges
    elbows = _elbows(np.append(0.0, within)[len(rows) - k], len(rows))[: most - 1]
    best = int(np.argmax(elbows)) + 2
    elbow, gap = float(elbows[best - 2]), _gap(points, cuts[:, best - 1])
    # unclustered simulated objects exceed 1.3 in about 1 of 100, rings in 7
    if not (gap > NO_GAP and elbow > NO_ELBOW and (gap - NO_GAP) * (elbow - NO_ELBOW) >= 1.3):
        return ClusterCount(1, best, elbow, gap)
    # a number with an elbow nearly as sharp is not distinguished from the best
    sharp = np.flatnonzero(elbows >= 0.65 * elbow) + 2
    rivals = [k for k in sharp.tolist() if _gap(points, cuts[:, k - 1]) > NO_GAP]
    return ClusterCount(best, best, elbow, gap, min(rivals), max(rivals))


def _elbows(within: Floats, n: int) -> Floats:
    """The elbow at k = 2, 3, ... from the sums of squares of the cuts into 1, 2, ... clusters of n objects."""
    k = np.arange(1, len(within) + 1)
    variance = np.maximum(within, 1e-9 * within[0]) / (n - k)  # equal rows have none
    exponents = np.maximum(-np.diff(np.log(variance)) / np.diff(np.log(k)), 0.0)
    after = np.array([exponents[i + 1 : i + 1 + AFTER].mean() for i in range(len(exponents) - AFTER)])
    return np.asarray(exponents[: len(after)] / (0.3 + after))  # exponents below .3 are not told from 0


def _gap(points: Floats, labels: NDArray[np.integer]) -> float:
    """Mean over clusters of the distance to the nearest other, in standard deviations along the line between them."""
    members = [points[labels == label] for label in np.unique(labels)]
    nearest = np.full(len(members), np.inf)
    for i, one in enumerate(members):
        for j, other in enumerate(members[:i]):
            between = one.mean(axis=0) - other.mean(axis=0)
            length = float(np.linalg.norm(between))
            if len(one) + len(other) < 4 or length == 0:
                continue
            a, b = one @ between / length, other @ between / length
            spread = np.sqrt((len(a) * a.var() + len(b) * b.var()) / (len(a) + len(b) - 2))
            apart = length / max(float(spread), 1e-9 * length)
            nearest[i], nearest[j] = min(nearest[i], apart), min(nearest[j], apart)
    known = nearest[np.isfinite(nearest)]
    return float(known.mean()) if len(known) else 0.0
