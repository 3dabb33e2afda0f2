"""Groups of objects: the tree of a space, its cuts, and into how many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import InputError
from nearfar.evaluate.cluster_count import ENOUGH_OF_A_KERNEL, ClusterCount, count_clusters
from nearfar.methods import cut
from nearfar.space.space import Space

__all__ = ["Cut", "Grouping", "count_groups", "group_objects"]

MOST_CLUSTERS = 12
READING_AID = 6  # clusters that are shown where there are no groups
AXES = 10  # of a kernel, that groups are looked for along


@dataclass(frozen=True, eq=False)
class Cut:
    """The tree cut into ``n_clusters``: ``labels`` of all objects (-1: none), ``medoids``, mean ``silhouette``."""

    n_clusters: int
    labels: NDArray[np.intp]
    medoids: NDArray[np.intp]
    silhouette: float


@dataclass(frozen=True, eq=False)
class Grouping:
    """The tree over the informed objects ``rows``, its ``leaves`` in the order drawn, and its cuts.

    ``count`` : how many groups there are, with the evidence. ``basis`` : why ``n_clusters`` was chosen: "asked",
    "groups" (that were found), or "none" (there are no groups: the clusters are a reading aid).
    """

    tree: Any
    rows: NDArray[np.intp]
    leaves: NDArray[np.intp]
    cuts: tuple[Cut, ...]
    n_clusters: int
    basis: Literal["asked", "groups", "none"]
    count: ClusterCount

    @property
    def chosen(self) -> Cut:
        """The cut into ``n_clusters``."""
        return next(found for found in self.cuts if found.n_clusters == self.n_clusters)

    @property
    def best(self) -> Cut:
        """The cut with the highest silhouette."""
        return max(self.cuts, key=lambda found: found.silhouette)


def group_objects(space: Space, n_clusters: int | None = None) -> Grouping | None:
    """The complete-linkage tree of a space and its cuts into 2 to 12; None with fewer than three informed objects."""
    from scipy.cluster.hierarchy import leaves_list

    rows = np.flatnonzero(space.informed)
    if len(rows) < 3:
        return None
    if n_clusters is not None and n_clusters >= len(rows):
        raise InputError(
            f"n_clusters must be less than the number of informed objects, {len(rows)}, got {n_clusters}"
        )
    known = space.take(rows)
    tree, distances = known.tree(), known.distances()
    order = leaves_list(np.asarray(tree))
    most = min(MOST_CLUSTERS, len(rows) - 1)
    asked = [] if n_clusters is None else [n_clusters]
    cuts = tuple(
        _cut(known, tree, k, order, distances, rows, len(space))
        for k in sorted({*range(2, most + 1), *asked})
    )
    count = count_groups(known, most)
    chosen, basis = (n_clusters, "asked") if asked else _choose(cuts, count)
    return Grouping(tree, rows, rows[order], cuts, chosen, basis, count)  # type: ignore[arg-type]


def count_groups(known: Space, most: int = MOST_CLUSTERS) -> ClusterCount:
    """Count the groups in a space of informed objects: in its points, or along the first axes of a kernel."""
    if known.kind == "points":
        return count_clusters(np.asarray(known.rows, dtype=np.float64), most=most)
    return count_clusters(known.map(min(AXES, len(known) - 1)), most=most, enough=ENOUGH_OF_A_KERNEL)


def _cut(
    known: Space,
    tree: Any,
    k: int,
    order: NDArray[Any],
    distances: NDArray[Any],
    rows: NDArray[np.intp],
    n: int,
) -> Cut:
    """Labels in the order of the leaves, so that cluster 1 stands first in the tree."""
    from sklearn.metrics import silhouette_score

    found = np.asarray(cut(tree, k))
    _, first = np.unique(found[order], return_index=True)
    own = np.argsort(np.argsort(first))[found]
    labels = np.full(n, -1)
    labels[rows] = own
    silhouette = float(silhouette_score(distances, own, metric="precomputed"))
    return Cut(k, labels, rows[known.medoids(own).indices], silhouette)


def _choose(cuts: tuple[Cut, ...], count: ClusterCount) -> tuple[int, str]:
    if count.k > 1 and any(found.n_clusters == count.k for found in cuts):
        return count.k, "groups"
    return cuts[min(len(cuts), READING_AID - 1) - 1].n_clusters, "none"
