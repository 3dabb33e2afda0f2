"""Clusters of the objects of a space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nearfar.methods import KernelKMeans, Medoids

__all__ = ["Clusters", "as_clusters"]


@dataclass(frozen=True, eq=False)
class Clusters:
    """A partition of the objects.

    Attributes
    ----------
    labels : (n,) cluster of every object, numbered by size, the largest 0. An uninformed object gets the cluster
        nearest to the centre of the space; ``uninformed`` lists them.
    sizes : (k,) informed objects in every cluster.
    medoids : (k,) the most typical object of every cluster, -1 for an empty one.
    inertia : sum of squared distances of the informed objects to the centres of their clusters.
    uninformed : indices of the objects nothing is known about.

    Examples
    --------
    >>> from nearfar.space import Space
    >>> found = Space.of_points([[0.0], [1.0], [8.0]]).clusters(2)
    >>> found.labels, found.sizes
    (array([0, 0, 1], dtype=int32), array([2, 1]))
    """

    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    medoids: NDArray[np.intp]
    inertia: float
    uninformed: NDArray[np.intp]


def as_clusters(found: KernelKMeans, labels: NDArray[Any], medoids: Medoids) -> Clusters:
    """What a fitted KernelKMeans found; ``labels`` are its labels here, wherever the rows lie."""
    typical = np.full(len(found.sizes_), -1, dtype=np.intp)
    typical[medoids.clusters] = medoids.indices
    return Clusters(labels, found.sizes_, typical, float(found.inertia_), found.uninformed_)
