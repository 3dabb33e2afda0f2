"""The most typical object of every cluster, and those that are like nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from nearfar.errors import InputError
from nearfar.kernel.factored import Phi, informed_rows, is_sparse, row_squares
from nearfar.methods._common import check_count, check_phi
from nearfar.methods.neighbours import Neighbours, neighbours

__all__ = ["Medoids", "Outliers", "find_outliers", "medoid", "outliers", "spread_around"]

USUAL = 1.4826  # median absolute deviation -> standard deviation, for a bell curve
CUT = 3.0


@dataclass(frozen=True)
class Medoids:
    """The medoid of every cluster.

    Attributes
    ----------
    clusters : (k,) labels, ascending; -1 is no cluster and left out.
    indices : (k,) the medoid of each: the object with the smallest mean squared distance to its fellows.
    similarities : (k,) mean kernel value of the medoid with the objects of its cluster, itself included.
    uninformed : indices of objects with a zero row; never a medoid.
    """

    clusters: NDArray[np.int64]
    indices: NDArray[np.intp]
    similarities: NDArray[np.float64]
    uninformed: NDArray[np.intp]


def medoid(phi: Phi, labels: ArrayLike | None = None) -> Medoids:
    """The object at the heart of every cluster (of the whole collection, without ``labels``).

    The mean squared distance of x to cluster c is K(x,x) - 2 x.m_c up to a constant, m_c the mean row of c, so
    products with the centres are all it takes; the diagonal shift does not change which is smallest.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 0.0]])
    >>> medoid(phi).indices, medoid(phi, [0, 0, 1, 1]).indices
    (array([1]), array([0, 2]))
    """
    rows = check_phi(phi)
    n = rows.shape[0]
    given = np.zeros(n, dtype=np.int64) if labels is None else np.asarray(labels)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise InputError(
            f"labels: expected {n} whole numbers, one per row of phi, got shape {given.shape} of {given.dtype}",
        )
    informed = informed_rows(rows)
    members = informed[given[informed] >= 0]
    clusters, codes, sizes = np.unique(given[members], return_inverse=True, return_counts=True)
    known = rows[members]
    weights = (1 / sizes[codes], (codes, np.arange(len(members))))
    centres: Any = sparse.csr_array(weights, shape=(len(clusters), len(members))) @ known
    spread, likeness = spread_around(known, codes, centres)
    order = np.lexsort((spread, codes))
    first = order[np.searchsorted(codes[order], np.arange(len(clusters)))]
    uninformed = np.setdiff1d(np.arange(n), informed, assume_unique=True)
    return Medoids(clusters, members[first], likeness[first], uninformed)


def spread_around(
    rows: Any, codes: NDArray[np.intp], centres: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(b,) mean squared distance of every row to its cluster, up to a constant, and its likeness to the centre.

    In: rows (b, p), the cluster of each, centres (k, p). Equal but for rounding is equal.
    """
    own = centres[codes]
    likeness: Any = rows.multiply(own).sum(axis=1) if is_sparse(rows) else (rows * own).sum(axis=1)
    likeness = np.asarray(likeness, dtype=np.float64).ravel()
    return np.round(row_squares(rows) - 2 * likeness, 12), likeness


@dataclass(frozen=True)
class Outliers:
    """How little every object is like even its nearest ones.

    Attributes
    ----------
    scores : (n,) 1 - mean kernel value with the k nearest neighbours: 0 has twins, 1 is like nobody; NaN for
        uninformed objects.
    order : informed objects, the oddest first.
    threshold : median + 3 robust standard deviations of the scores.
    flagged : the objects above the threshold, the oddest first.
    columns : (n,) columns of Phi that each object has. An object with few is odd for want of answers.
    k : how many neighbours were looked at.
    uninformed : indices of objects with a zero row; never outliers.
    """

    scores: NDArray[np.float64]
    order: NDArray[np.intp]
    threshold: float
    flagged: NDArray[np.intp]
    columns: NDArray[np.int64]
    k: int
    uninformed: NDArray[np.intp]

    def explain(self, x: int, names: Sequence[str] | None = None) -> str:
        """One sentence about object x."""
        name = repr(names[x]) if names is not None else f"object {x}"
        if np.isnan(self.scores[x]):
            return f"{name} is uninformed: no usable answer speaks about it."
        known = self.scores[self.order]
        return (
            f"{name} agrees with its {self.k} nearest objects by {1 - self.scores[x]:.2f} on average, where "
            f"{1 - np.median(known):.2f} is usual; it has {self.columns[x]:,} columns, where "
            f"{int(np.median(self.columns[self.order])):,} are usual."
        )


def outliers(phi: Phi, k: int = 10) -> Outliers:
    """Objects that are like nobody: 1 minus the mean kernel value with the k nearest neighbours.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.98, 0.199], [0.96, 0.28], [-0.6, 0.8]])
    >>> found = outliers(phi, k=2)
    >>> found.order[0], found.scores.round(2)
    (np.int64(3), array([0.03, 0.01, 0.02, 1.39]))
    """
    rows = check_phi(phi)
    n_informed = len(informed_rows(rows))
    near = neighbours(rows, min(check_count(k, "k"), max(n_informed - 1, 1)))
    columns = np.diff(rows.indptr) if is_sparse(rows) else np.count_nonzero(rows, axis=1)
    return find_outliers(near, columns)


def find_outliers(near: Neighbours, columns: NDArray[Any]) -> Outliers:
    """Outliers from the nearest neighbours of every object, whatever their similarity is measured by."""
    scores = 1 - near.similarities.mean(axis=1)
    known = np.setdiff1d(np.arange(len(scores)), near.uninformed, assume_unique=True)
    order = known[np.argsort(-scores[known], kind="stable")]
    middle = float(np.median(scores[known])) if len(known) else np.nan
    threshold = (
        middle + CUT * USUAL * float(np.median(np.abs(scores[known] - middle))) if len(known) else np.nan
    )
    flagged = order[scores[order] > threshold]
    return Outliers(
        scores, order, threshold, flagged, columns.astype(np.int64), near.indices.shape[1], near.uninformed
    )
