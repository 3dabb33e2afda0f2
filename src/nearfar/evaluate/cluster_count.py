"""How many groups the objects fall into, or whether they fall into groups at all.

Every cut of a tree into k clusters has a mean silhouette, and a best one always exists, in a cloud without any groups
as well. So the silhouettes are set against those of clouds without groups that have the same size and the same
lengths along their axes: a bell, a box, and a shell (objects on a ring, or unit rows of a kernel). Groups are there if
their silhouette stands out from all three, and if neighbouring groups have a gap between them: their middles are
further apart than those of the two halves of one even stretch (3.5 of their own standard deviations).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClusterCount", "count_clusters"]

Floats = NDArray[np.float64]
MOST = 12
REFERENCES = 12  # of each shape
AXES = 10
STANDS_OUT = 3.5  # standard deviations above clouds without groups
GAP = 4.5  # standard deviations between neighbouring groups; even stretches give 3.5, half rings 4.1
WIDE_STANDS_OUT, WIDE_GAP = 1.5, 5.5  # few groups of few objects stand out less, and show it by a wide gap
LEAST_OBJECTS = 9
MOST_OBJECTS = 300  # looked at, drawn at random


@dataclass(frozen=True)
class ClusterCount:
    """How many groups were found, and the evidence.

    Parameters
    ----------
    k : number of groups; 1 for none.
    silhouette : mean silhouette of the best cut.
    without_groups : the same in clouds without groups, where that comes closest.
    stands_out : by how many standard deviations it lies above those clouds.
    gap : mean over groups of the distance to the nearest one, in standard deviations along the line between them.
    best_cut : the number of clusters with the best silhouette, whether or not they are groups.
    """

    k: int
    silhouette: float
    without_groups: float
    stands_out: float
    gap: float
    best_cut: int

    @property
    def why(self) -> str:
        """The evidence in a sentence."""
        if self.best_cut == 1:
            return "There are too few objects to look for groups."
        seen = (
            f"the best cut, into {self.best_cut}, has a mean silhouette of {self.silhouette:.2f}, where objects without "
            f"groups give {self.without_groups:.2f}"
        )
        if self.k > 1:
            return f"{self.k} groups: {seen}, and neighbouring groups are {self.gap:.1f} standard deviations apart."
        reason = (
            f"but neighbouring clusters have no gap between them ({self.gap:.1f} standard deviations apart)"
            if self.stands_out >= STANDS_OUT
            else "which does not stand out from chance"
        )
        return (
            f"No groups: {seen}, {reason}; the objects change gradually, or the answers are too few to tell."
        )


def count_clusters(rows: NDArray[Any], *, most: int = MOST, seed: int = 0) -> ClusterCount:
    """Count the groups in the rows (n, p) of a space, one per informed object.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> three = np.repeat([[0, 0], [8, 0], [0, 8]], 10, axis=0) + rng.normal(size=(30, 2))
    >>> count_clusters(three).k, count_clusters(rng.normal(size=(30, 2))).k
    (3, 1)
    """
    rng = np.random.default_rng(seed)
    rows = np.array(rows, dtype=np.float64)
    if len(rows) > MOST_OBJECTS:
        rows = rows[np.sort(rng.permutation(len(rows))[:MOST_OBJECTS])]
    points = _axes(rows)
    most = min(most, len(rows) // 3)
    if len(rows) < LEAST_OBJECTS or most < 2 or points.shape[1] == 0:
        return ClusterCount(1, np.nan, np.nan, 0.0, np.nan, 1)
    own, cuts = _silhouettes(points, most)
    best = int(np.argmax(own))
    outs, means = [], []
    for clouds in _clouds(points.std(axis=0), len(points), rng):
        found = np.array([_silhouettes(cloud, most)[0] for cloud in clouds])
        expected = found.mean(axis=0)
        largest = (found - expected).max(axis=1)
        outs.append(((own - expected).max() - largest.mean()) / max(largest.std(), 1e-9))
        means.append(float(expected[best]))
    at = int(np.argmin(outs))
    gap = _gap(points, cuts[:, best])
    groups = (outs[at] >= STANDS_OUT and gap >= GAP) or (outs[at] >= WIDE_STANDS_OUT and gap >= WIDE_GAP)
    return ClusterCount(
        best + 2 if groups else 1, float(own[best]), means[at], float(outs[at]), gap, best + 2
    )


def _axes(rows: Floats) -> Floats:
    """The rows along their first principal axes."""
    left, lengths, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    kept = min(AXES, int((lengths > 1e-9 * max(lengths.max(initial=0.0), 1e-300)).sum()))
    return np.asarray(left[:, :kept] * lengths[:kept])


def _clouds(scale: Floats, n: int, rng: np.random.Generator) -> Iterator[list[Floats]]:
    """Clouds without groups, of every shape, with these standard deviations along their axes."""
    size = (REFERENCES, n, len(scale))
    yield list(rng.normal(size=size) * scale)
    yield list(rng.uniform(-1, 1, size=size) * scale * np.sqrt(3))
    way = rng.normal(size=size)
    yield list(way / np.linalg.norm(way, axis=2, keepdims=True) * scale * np.sqrt(len(scale)))


def _silhouettes(points: Floats, most: int) -> tuple[Floats, NDArray[np.int64]]:
    """Mean silhouettes of the cuts of Ward's tree into 2 to ``most``, and the (n, cuts) labels."""
    from scipy.cluster.hierarchy import cut_tree, ward
    from scipy.spatial.distance import pdist, squareform

    pairs = pdist(points)
    cuts = cut_tree(ward(pairs), n_clusters=np.arange(2, most + 1))
    distances = squareform(pairs)
    found = [_silhouette(distances, cuts[:, i], i + 2) for i in range(most - 1)]
    return np.array(found), cuts


def _silhouette(distances: Floats, labels: NDArray[np.integer], k: int) -> float:
    """Mean over objects of (b - a) / max(a, b): a to the own cluster, b to the nearest other; 0 for a single."""
    member = np.eye(k)[labels]
    sizes = member.sum(axis=0)
    sums = distances @ member
    at = np.arange(len(labels))
    a = sums[at, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[at, labels] = np.inf
    b = means.min(axis=1)
    widest = np.maximum(a, b)
    known = (sizes[labels] > 1) & (widest > 0)
    return float(np.mean(np.where(known, (b - a) / np.where(widest > 0, widest, 1), 0.0)))


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
