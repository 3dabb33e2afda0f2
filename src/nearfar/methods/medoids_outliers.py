"""Medoids, the most typical object of every cluster, and outliers, objects that resemble no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.checks import check_count
from nearfar.blocks import RowBlocks, join
from nearfar.errors import InputError
from nearfar.kernel.phi import PhiLike, as_rows, entries_per_row, is_sparse, rounded, row_squares, uninformed
from nearfar.methods._rows import cluster_sums, means, phi_rows
from nearfar.methods.nearest import Neighbours, neighbours

MAD_TO_SD = 1.4826  # median absolute deviation -> standard deviation, for a bell curve
Z_THRESHOLD = 3.0


@dataclass(frozen=True)
class Medoids:
    """The medoid of every cluster.

    Attributes
    ----------
    clusters : (k,) labels, ascending; objects with -1 are in no cluster and left out.
    indices : (k,) the medoid of each: the object with the smallest mean squared distance to its fellows.
    similarities : (k,) mean kernel value of the medoid with the objects of its cluster, itself included.
    uninformed : indices of objects with a zero row; never a medoid.

    Examples
    --------
    >>> typical = medoid(np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8]]))
    >>> typical.clusters, typical.indices, typical.similarities.round(2)
    (array([0]), array([1]), array([0.92]))
    """

    clusters: NDArray[np.int64]
    indices: NDArray[np.intp]
    similarities: NDArray[np.float64]
    uninformed: NDArray[np.intp]


def medoid(phi: PhiLike, labels: Any = None) -> Medoids:
    """Find the object at the heart of every cluster (of the whole collection, without ``labels``).

    The mean squared distance of x to cluster c is K(x,x) - 2 x.m_c up to a constant, m_c the mean row of c, so
    products with the centres are all it takes; the diagonal shift does not change which is smallest.

    Parameters
    ----------
    phi : (n, p) ndarray, sparse or RowBlocks; rows are objects.
    labels : (n,) cluster of every object, an array or RowBlocks; -1 for no cluster.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 0.0]])
    >>> medoid(phi).indices, medoid(phi, [0, 0, 1, 1]).indices
    (array([1]), array([0, 2]))
    """
    rows = phi_rows(phi)
    given, missing = _checked_labels(rows, labels), uninformed(rows)
    given[missing] = -1
    clusters, members, sizes = np.unique(given[given >= 0], return_inverse=True, return_counts=True)
    codes = np.full(rows.n_rows, -1, dtype=np.intp)  # the number of every object's cluster, -1 for none
    codes[given >= 0] = members
    centres = means(rows.sum("centres", cluster_sums, rows.cut(codes), k=len(sizes)), sizes)
    best_of_blocks = rows.gather("medoids", _most_typical, rows.cut(codes), rows.starts, centres=centres)
    chosen, spread, similarity = (np.stack(column) for column in zip(*best_of_blocks, strict=True))
    best = np.argmin(spread, axis=0), np.arange(len(clusters))  # of equals the one in the first block
    return Medoids(clusters, chosen[best], similarity[best], missing)


def _checked_labels(rows: RowBlocks, labels: Any) -> NDArray[np.int64]:
    """(n,) labels, a copy; an error where they are not integers, one per row."""
    if labels is None:
        return np.zeros(rows.n_rows, dtype=np.int64)
    given = labels.to_array() if isinstance(labels, RowBlocks) else np.asarray(labels)
    if given.shape != (rows.n_rows,) or given.dtype.kind not in "iu":
        raise InputError(
            f"labels: expected {rows.n_rows} integers, one per row of phi, got shape {given.shape} of {given.dtype}"
        )
    return np.array(given, dtype=np.int64)


def _most_typical(block: Any, codes: NDArray[np.intp], start: int, centres: Any) -> tuple[Any, Any, Any]:
    """The best of a block for every cluster: its index, its spread (infinite where there is none), its similarity."""
    members = np.flatnonzero(codes >= 0)
    rows, codes = as_rows(block), codes[members]
    known = rows if len(members) == rows.shape[0] else rows[members]
    own = centres[codes]
    sums = known.multiply(own).sum(axis=1) if is_sparse(known) else np.einsum("ij,ij->i", known, own)
    similarity = np.asarray(sums, dtype=np.float64).ravel()
    spread = rounded(row_squares(known) - 2 * similarity, known.dtype)
    order = np.lexsort((spread, codes))
    here, first = np.unique(codes[order], return_index=True)
    chosen = order[first]
    count = centres.shape[0]
    best, least, likeness = np.zeros(count, np.intp), np.full(count, np.inf), np.zeros(count)
    best[here], least[here], likeness[here] = members[chosen] + start, spread[chosen], similarity[chosen]
    return best, least, likeness


@dataclass(frozen=True)
class Outliers:
    """How little every object is like even its nearest ones.

    Attributes
    ----------
    scores : (n,) 1 - mean kernel value with the k nearest neighbours: 0 has twins, 1 resembles none; NaN for
        uninformed objects.
    order : informed objects, the oddest first.
    threshold : median + 3 robust standard deviations of the scores.
    flagged : the objects above the threshold, the oddest first.
    columns : (n,) columns of Phi that each object has. An object with few is odd for want of answers.
    k : how many neighbours were looked at.
    uninformed : indices of objects with a zero row; never outliers.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [-1.0, 0.0]])
    >>> odd = outliers(phi, k=1)
    >>> odd.order, odd.scores.round(2)
    (array([3, 0, 1, 2]), array([0.2 , 0.04, 0.04, 1.6 ]))
    """

    scores: NDArray[np.float64]
    order: NDArray[np.intp]
    threshold: float
    flagged: NDArray[np.intp]
    columns: NDArray[np.int64]
    k: int
    uninformed: NDArray[np.intp]


def outliers(phi: PhiLike, k: int = 10) -> Outliers:
    """Find the objects that resemble no other: 1 minus the mean kernel value with the k nearest neighbours.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.98, 0.199], [0.96, 0.28], [-0.6, 0.8]])
    >>> odd = outliers(phi, k=2)
    >>> odd.order[0], odd.scores.round(2)
    (np.int64(3), array([0.03, 0.01, 0.02, 1.39]))
    """
    rows = phi_rows(phi)
    n_informed = rows.n_rows - len(uninformed(rows))
    near = neighbours(rows, min(check_count(k, "k"), max(n_informed - 1, 1)))
    return find_outliers(near, join(rows.gather("outliers", entries_per_row)))


def find_outliers(near: Neighbours, columns: NDArray[Any]) -> Outliers:
    """Find outliers from the nearest neighbours of every object, whatever their similarity is measured by.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [-1.0, 0.0]])
    >>> find_outliers(neighbours(phi, k=1), np.count_nonzero(phi, axis=1)).order[0]
    np.int64(3)
    """
    given = near.similarities
    blocks = given if isinstance(given, RowBlocks) else RowBlocks.of(given)
    scores = 1 - join(blocks.gather("outliers", lambda similarities: similarities.mean(axis=1)))
    known = np.setdiff1d(np.arange(len(scores)), near.uninformed, assume_unique=True)
    order = known[np.argsort(-scores[known], kind="stable")]
    threshold = np.nan
    if len(known):
        middle = float(np.median(scores[known]))
        threshold = middle + Z_THRESHOLD * MAD_TO_SD * float(np.median(np.abs(scores[known] - middle)))
    flagged = order[scores[order] > threshold]
    n_columns, k = columns.astype(np.int64), near.indices.shape[1]
    return Outliers(scores, order, threshold, flagged, n_columns, k, near.uninformed)
