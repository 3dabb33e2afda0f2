"""Nearest neighbours by kernel value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import InputError
from nearfar.kernel.factored import Phi, informed_rows, is_sparse
from nearfar.methods._common import check_count, check_phi, true_decimals
from nearfar.progress import track

__all__ = ["Neighbours", "check_k", "join_nearest", "nearest_among", "neighbours"]

BLOCK_BYTES = 1 << 25


@dataclass(frozen=True)
class Neighbours:
    """The nearest neighbours of every object.

    Attributes
    ----------
    indices : (n, k) nearest first; -1 for an uninformed object.
    similarities : (n, k) kernel values K(x, y): agreement between -1 and 1, no distances; NaN where uninformed.
    uninformed : indices of objects with a zero row. They have no neighbours and are nobody's.
    """

    indices: NDArray[np.intp]
    similarities: NDArray[np.float64]
    uninformed: NDArray[np.intp]


def neighbours(phi: Phi, k: int = 10) -> Neighbours:
    """The k objects with the largest kernel value to each object, itself left out.

    The diagonal shift changes no value between different objects, so there is no ``diagonal`` here.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.0, 0.0]])
    >>> found = neighbours(phi, k=1)
    >>> found.indices.ravel(), found.uninformed
    (array([ 1,  0,  1, -1]), array([3]))
    """
    rows = check_phi(phi)
    n = rows.shape[0]
    informed = informed_rows(rows)
    k = check_k(k, len(informed))
    indices = np.full((n, k), -1, dtype=np.intp)
    values = np.full((n, k), np.nan)
    known = rows if len(informed) == n else rows[informed]
    places, values[informed] = nearest_among(known, known, k, itself=True)
    indices[informed] = informed[places]
    return Neighbours(indices, values, np.setdiff1d(np.arange(n), informed, assume_unique=True))


def nearest_among(
    rows: Any, others: Any, k: int, *, itself: bool, block_bytes: int = BLOCK_BYTES
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """(b, k) places among ``others`` of the largest kernel values, and those values, largest first.

    ``itself`` says that the others are the rows themselves: then a row is not its own neighbour.
    """
    places = np.empty((rows.shape[0], k), dtype=np.intp)
    values = np.empty((rows.shape[0], k))
    columns = others.T.tocsr() if is_sparse(others) else others.T  # once, not once per block
    for where in track(_row_slices(rows.shape[0], others.shape[0], block_bytes), "neighbours"):
        similarity = _products(rows[where], columns)
        if itself:
            similarity[np.arange(where.stop - where.start), np.arange(where.start, where.stop)] = -np.inf
        places[where] = _largest(similarity, k, true_decimals(rows))
        values[where] = np.take_along_axis(similarity, places[where], axis=1)
    return places, values


def join_nearest(
    places: NDArray[np.intp], values: NDArray[np.float64], k: int, dtype: Any
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The k nearest out of candidates (b, c) that were found among parts of the objects."""
    order = np.argsort(places, axis=1, kind="stable")  # of equals the first object is first
    places, values = np.take_along_axis(places, order, axis=1), np.take_along_axis(values, order, axis=1)
    best = _largest(values, k, true_decimals(np.empty(0, dtype)))
    return np.take_along_axis(places, best, axis=1), np.take_along_axis(values, best, axis=1)


def check_k(k: int, n_informed: int) -> int:
    """``k``, or an error where there are not so many others."""
    if check_count(k, "k") > n_informed - 1:
        raise InputError(
            f"k={k} neighbours are more than the {max(n_informed - 1, 0)} other informed objects; ask for fewer",
        )
    return k


def _row_slices(n_rows: int, n_others: int, block_bytes: int) -> list[slice]:
    """Blocks of rows whose kernel values with all others fit a few megabytes."""
    height = max(1, block_bytes // (8 * max(n_others, 1)))
    return [slice(start, min(start + height, n_rows)) for start in range(0, n_rows, height)]


def _products(block: Any, columns: Any) -> NDArray[np.float64]:
    products: Any = block @ columns
    dense = products.toarray() if is_sparse(products) else products
    return np.asarray(dense, dtype=np.float64)


def _largest(similarity: NDArray[np.float64], k: int, decimals: int) -> NDArray[np.intp]:
    """(b, k) places of the k largest of every row, largest first; of equals, but for rounding, the first one first."""
    values = np.round(similarity, decimals)
    bar = -np.partition(-values, k - 1, axis=1)[:, k - 1 : k]
    above, level = values > bar, values == bar
    missing = k - above.sum(axis=1, keepdims=True)
    chosen = above | (level & (np.cumsum(level, axis=1) <= missing))
    places = np.nonzero(chosen)[1].reshape(len(values), k)
    order = np.argsort(-np.take_along_axis(values, places, axis=1), axis=1, kind="stable")
    return np.take_along_axis(places, order, axis=1)
