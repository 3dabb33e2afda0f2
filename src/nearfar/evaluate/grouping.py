"""Groups of objects: the tree of a space, its cuts, and into how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import InputError
from nearfar.evaluate.cluster_count import MOST, ClusterCount, count_clusters
from nearfar.evaluate.counting_map import map_for_counting
from nearfar.evaluate.splits import Split, split_units
from nearfar.methods import cut
from nearfar.space.space import Space
from nearfar.triplets import Triplets

__all__ = ["Cut", "Grouping", "count_groups", "group_objects"]

LEAST_TRIPLETS = 10  # per object: with fewer a map has no gaps to see
# triplets per object with which separate groups are found in simulations: of questions that are drawn one by one from all objects, whatever the
# noise; of screens, and where few objects, the landmarks, are asked about all others
WANTED, WANTED_OTHERWISE, LANDMARKS = 120, 300, 0.1
READING_AID = 6  # clusters that are shown where there are no groups


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

    ``count`` : how many groups there are, with the evidence; None where a number was asked for.
    ``basis`` : why ``n_clusters`` was chosen: "asked",
    "groups" (that were found), or "none" (there are no groups: the clusters are a reading aid).
    """

    tree: Any
    rows: NDArray[np.intp]
    leaves: NDArray[np.intp]
    cuts: tuple[Cut, ...]
    n_clusters: int
    basis: Literal["asked", "groups", "none"]
    count: ClusterCount | None

    @property
    def chosen(self) -> Cut:
        """The cut into ``n_clusters``."""
        return next(found for found in self.cuts if found.n_clusters == self.n_clusters)

    @property
    def best(self) -> Cut:
        """The cut with the highest silhouette."""
        return max(self.cuts, key=lambda found: found.silhouette)


def group_objects(space: Space, count: ClusterCount | None, n_clusters: int | None = None) -> Grouping | None:
    """The complete-linkage tree of a space and its cuts into 2 to 12; None with fewer than three informed objects.

    It is cut into ``n_clusters``, or into as many as were counted; of the two one is given.
    """
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
    most = min(MOST, len(rows) - 1)
    asked = [] if n_clusters is None else [n_clusters]
    cuts = tuple(
        _cut(known, tree, k, order, distances, rows, len(space))
        for k in sorted({*range(2, most + 1), *asked})
    )
    chosen, basis = (n_clusters, "asked") if asked else _choose(cuts, count)
    return Grouping(tree, rows, rows[order], cuts, chosen, basis, count)  # type: ignore[arg-type]


def count_groups(
    answers: Triplets, judged: Triplets, splits: Sequence[Split], shown: NDArray[np.intp] | None = None
) -> ClusterCount:
    """Count the groups that objects (those ``shown``, or all) fall into.

    ``answers`` make the map that groups are counted in; its dimensions are those that predict the ``judged`` ones best, held out by
    ``splits``.
    """
    named = len(np.unique(np.concatenate([judged.anchor, judged.near, judged.far])))
    learnable = bool(splits) and all(len(train) for train, _ in splits)
    if not learnable or len(judged) < LEAST_TRIPLETS * named:
        return ClusterCount.unknown("There are too few answers to look for groups.")
    found = map_for_counting(answers, judged, splits)
    if found is None:
        return ClusterCount.unknown(
            "No groups were looked for: no map predicts the answers better than guessing does."
        )
    among = np.arange(answers.n_objects) if shown is None else shown
    counted = count_clusters(found.points[among[found.informed[among]]])
    alone = split_units(answers).kind == "trio" and found.landmarks < LANDMARKS
    return replace(
        counted, each=len(answers) / found.informed.sum(), wanted=WANTED if alone else WANTED_OTHERWISE
    )


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


def _choose(cuts: tuple[Cut, ...], count: ClusterCount | None) -> tuple[int, str]:
    if count is not None and count.k > 1 and any(found.n_clusters == count.k for found in cuts):
        return count.k, "groups"
    return cuts[min(len(cuts), READING_AID - 1) - 1].n_clusters, "none"
