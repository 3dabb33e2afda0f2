"""How many groups the objects fall into, or whether they fall into groups at all.

Every space can be cut into k clusters, and a best k always exists, in a cloud without any groups as well. Two marks tell
groups from a cloud.

The knee: with s2_k the variance within the k clusters of Ward's tree, e_k = (log s2_(k-1) - log s2_k) / (log k - log (k - 1))
says how fast clusters get tighter. In an even cloud of d dimensions it stays near 2/d whatever k is. With k groups it
is large up to k, and small after: a cluster that is one group gains little from being cut.

Where another number of clusters has a knee nearly as sharp, the answers do not tell which it is, and a range is stated.

The gap: the middles of neighbouring groups are further apart, in their own standard deviations, than those of the two
halves of one even stretch (3.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats

__all__ = ["MOST", "ClusterCount", "count_clusters"]

MOST = 12
AXES = 10
AFTER = 3  # cuts after the knee that are looked at
STEADY = 0.3  # exponents below it are not told from 0
NO_GAP, NO_KNEE = 3.5, 0.7  # of clouds without groups
ENOUGH = (
    1.3  # (gap - NO_GAP) (knee - NO_KNEE) of groups; simulated clouds exceed it in about 1 of 100, rings in 7
)
RIVAL = 0.65  # of the sharpest knee: a number of clusters with such a one is not distinguished from the best
LEAST_OBJECTS = 9
MOST_OBJECTS = 300  # looked at, drawn at random


@dataclass(frozen=True)
class ClusterCount:
    """How many groups were found, and the evidence.

    Parameters
    ----------
    k : number of groups, the likeliest of ``low`` to ``high``; 1 for none.
    low, high : numbers of groups that the answers do not distinguish; both ``k`` where it is clear.
    best_cut : the number of clusters with the sharpest knee, whether or not they are groups.
    knee : how many times faster clusters get tighter up to ``best_cut`` than after it; about 1 without groups.
    gap : mean over clusters of the distance to the nearest one, in standard deviations along the line between them;
        about 3.5 without groups.
    each, wanted : triplets per object, and with how many separate groups are found reliably; NaN where it is not known.
    not_looked : why no groups were looked for, where that is so.
    """

    k: int
    best_cut: int
    knee: float
    gap: float
    low: int = 1
    high: int = 1
    each: float = np.nan
    wanted: float = np.nan
    not_looked: str = ""

    @classmethod
    def unknown(cls, not_looked: str) -> ClusterCount:
        """None found, as none were looked for."""
        return cls(1, 1, np.nan, np.nan, not_looked=not_looked)

    @property
    def why(self) -> str:
        """The evidence in a sentence."""
        if self.not_looked:
            return self.not_looked
        seen = (
            f"in a map that allows for answers given at random, up to {self.best_cut} clusters each cut gathers {self.knee:.1f} times as much as further cuts do (objects "
            f"without groups give about 1), and neighbouring clusters are {self.gap:.1f} standard deviations apart "
            f"(without groups about {NO_GAP})"
        )
        if self.low < self.high:
            return (
                f"{self.low} to {self.high} groups, which of these the answers do not tell clearly; {self.k} is the likeliest: "
                f"{seen}."
            )
        if self.k > 1:
            return f"{self.k} groups: {seen}."
        few = ""
        if self.each < self.wanted:
            few = (
                f", or the answers are too few to tell: there are {self.each:.0f} triplets per object, and separate groups are found reliably "
                f"from about {self.wanted:.0f} on"
            )
        return f"No groups found: {seen}, which does not stand out from chance; the objects change gradually, or groups overlap{few}."


def count_clusters(rows: NDArray[Any], *, most: int = MOST, seed: int = 0) -> ClusterCount:
    """Count the groups in (n, p) points, one per informed object.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> three = np.repeat([[0, 0], [8, 0], [0, 8]], 10, axis=0) + rng.normal(size=(30, 2))
    >>> count_clusters(three).k, count_clusters(rng.normal(size=(30, 2))).k
    (3, 1)
    """
    from scipy.cluster.hierarchy import cut_tree, ward

    rows = np.array(rows, dtype=np.float64)
    if len(rows) > MOST_OBJECTS:
        rows = rows[np.sort(np.random.default_rng(seed).permutation(len(rows))[:MOST_OBJECTS])]
    points = _axes(rows)
    most = min(most, len(rows) // 3)
    if len(rows) < LEAST_OBJECTS or most < 2 or points.shape[1] == 0:
        return ClusterCount.unknown("There are too few objects to look for groups.")
    cuts = cut_tree(ward(points), n_clusters=np.arange(1, most + AFTER + 1))
    knees = _knees(np.array([_within(points, labels) for labels in cuts.T]), len(rows))[: most - 1]
    best = int(np.argmax(knees)) + 2
    knee, gap = float(knees[best - 2]), _gap(points, cuts[:, best - 1])
    groups = gap > NO_GAP and knee > NO_KNEE and (gap - NO_GAP) * (knee - NO_KNEE) >= ENOUGH
    if not groups:
        return ClusterCount(1, best, knee, gap)
    rivals = [
        k
        for k in range(2, most + 1)
        if knees[k - 2] >= RIVAL * knee and _gap(points, cuts[:, k - 1]) > NO_GAP
    ]
    return ClusterCount(best, best, knee, gap, min(rivals), max(rivals))


def _axes(rows: Floats) -> Floats:
    """The rows along their first principal axes."""
    left, lengths, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    kept = min(AXES, int((lengths > 1e-9 * max(lengths.max(initial=0.0), 1e-300)).sum()))
    return np.asarray(left[:, :kept] * lengths[:kept])


def _within(points: Floats, labels: NDArray[np.integer]) -> float:
    """Sum of squared distances to the middles of the clusters."""
    member = np.eye(int(labels.max()) + 1)[labels]
    middles = member.T @ points / member.sum(axis=0)[:, None]
    return float(np.sum((points - middles[labels]) ** 2))


def _knees(within: Floats, n: int) -> Floats:
    """The knee at k = 2, 3, ... from the sums of squares of the cuts into 1, 2, ... clusters of n objects."""
    k = np.arange(1, len(within) + 1)
    variance = np.maximum(within, 1e-9 * within[0]) / (n - k)  # equal rows have none
    exponents = np.maximum(-np.diff(np.log(variance)) / np.diff(np.log(k)), 0.0)
    after = np.array([exponents[i + 1 : i + 1 + AFTER].mean() for i in range(len(exponents) - AFTER)])
    return np.asarray(exponents[: len(after)] / (STEADY + after))


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
