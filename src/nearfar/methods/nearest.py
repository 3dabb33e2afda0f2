"""Nearest neighbours by kernel value."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nearfar._tools import threads
from nearfar._tools.checks import check_count
from nearfar._tools.compiled import compiled
from nearfar._tools.progress import track
from nearfar.errors import InputError
from nearfar.kernel.phi import PhiLike, as_array, as_rows, informed_rows, is_sparse, tie_decimals, uninformed
from nearfar.methods._rows import as_given, phi_rows

INSERTED = 1000  # neighbours; inserting into a longer list costs more than sorting all
IndicesAndValues = tuple[NDArray[np.intp], NDArray[np.float64]]


@dataclass(frozen=True)
class Neighbours:
    """The nearest neighbours of every object.

    Attributes
    ----------
    indices : (n, k) nearest first; -1 for an uninformed object.
    similarities : (n, k) kernel values K(x, y): agreement between -1 and 1, not distances; NaN where uninformed.
    uninformed : indices of objects with a zero row. They have no neighbours, and no object has them as neighbours.

    Of rows in blocks, ``indices`` and ``similarities`` are RowBlocks.

    Examples
    --------
    >>> near = neighbours(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), k=1)
    >>> near.indices.tolist(), near.similarities.ravel()
    ([[1], [0], [1]], array([0.8, 0.8, 0.6]))
    """

    indices: Any
    similarities: Any
    uninformed: NDArray[np.intp]


def neighbours(phi: PhiLike, k: int = 10) -> Neighbours:
    """Find the k objects with the largest kernel value to each object, itself left out.

    The diagonal shift changes no value between different objects, so there is no ``diagonal`` here.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.0, 0.0]])
    >>> near = neighbours(phi, k=1)
    >>> near.indices.ravel(), near.uninformed
    (array([ 1,  0,  1, -1]), array([3]))
    """
    rows = phi_rows(phi)
    backend, many = rows.backend, len(rows.blocks)
    missing = uninformed(rows)
    others = max(rows.n_rows - len(missing) - 1, 0)
    if check_count(k, "k") > others:
        raise InputError(f"k={k} neighbours are more than the {others} other informed objects; ask for fewer")
    joined = []
    for i, block in enumerate(rows.blocks):  # every block meets every other one
        itself = [i == j for j in range(many)]
        near = backend.map("neighbours", _candidates, [block] * many, rows.blocks, rows.starts, itself, k=k)
        joined.append(backend.submit("neighbours", _join, block, near, k))
    backend.wait("neighbours", joined)
    indices, values = (backend.map("neighbours", itemgetter(item), joined) for item in (0, 1))
    backend.wait("neighbours", [*indices, *values])
    found, similar = rows.like(indices, k, np.intp), rows.like(values, k, np.float64)
    return Neighbours(as_given(phi, found), as_given(phi, similar), missing)


def _candidates(block: Any, other: Any, start: int, itself: bool, k: int) -> IndicesAndValues:
    """The nearest in one other block for the informed rows of a block; indices count from the first object of all."""
    rows, informed = _informed(block), informed_rows(other)
    others = rows if itself else _informed(other)
    chosen, values = nearest_among(rows, others, min(k, max(len(informed) - itself, 0)), itself=itself)
    return informed[chosen] + start, values


def _informed(block: Any) -> Any:
    rows, informed = as_rows(block), informed_rows(block)
    return rows if len(informed) == rows.shape[0] else rows[informed]


def _join(block: Any, candidates: list[IndicesAndValues], k: int) -> IndicesAndValues:
    """The k nearest out of candidates (b, c) that were found in every block, for all rows of a block."""
    chosen, values = (np.concatenate(column, axis=1) for column in zip(*candidates, strict=True))
    if len(candidates) > 1:
        order = np.argsort(chosen, axis=1, kind="stable")  # of equals the first object is first
        chosen, values = (np.take_along_axis(each, order, axis=1) for each in (chosen, values))
        best = _largest(values, k, block.dtype)
        chosen, values = (np.take_along_axis(each, best, axis=1) for each in (chosen, values))
    indices, similarities = np.full((block.shape[0], k), -1, np.intp), np.full((block.shape[0], k), np.nan)
    informed = informed_rows(block)
    indices[informed], similarities[informed] = chosen, values
    return indices, similarities


def nearest_among(
    rows: Any, others: Any, k: int, *, itself: bool, block_bytes: int = 1 << 25
) -> IndicesAndValues:
    """(b, k) indices among ``others`` of the largest kernel values, and those values, largest first.

    ``itself`` says that the others are the rows themselves: then a row is not its own neighbour.

    Examples
    --------
    >>> phi = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> chosen, values = nearest_among(phi[:1], phi, 2, itself=False)
    >>> chosen, values
    (array([[0, 1]]), array([[1. , 0.8]]))
    """
    chosen = np.empty((rows.shape[0], k), dtype=np.intp)
    values = np.empty((rows.shape[0], k))
    columns = others.T.tocsr() if is_sparse(others) else others.T  # once, not once per block
    height = max(1, block_bytes // (8 * max(others.shape[0], 1)))
    for start in track(range(0, rows.shape[0], height), "neighbours"):
        where = slice(start, min(start + height, rows.shape[0]))
        similarity = as_array(rows[where] @ columns)
        if itself:
            similarity[np.arange(where.stop - where.start), np.arange(where.start, where.stop)] = -np.inf
        chosen[where] = _largest(similarity, k, rows.dtype)
        values[where] = np.take_along_axis(similarity, chosen[where], axis=1)
    return chosen, values


def _largest(similarity: NDArray[Any], k: int, dtype: DTypeLike) -> NDArray[np.intp]:
    """(b, k) indices of the k largest of every row, largest first; of equals, but for rounding, the first one first."""
    indices, scale = np.empty((len(similarity), k), dtype=np.intp), 10.0 ** tie_decimals(dtype)
    if k > INSERTED:
        return np.argsort(-np.rint(similarity.astype(np.float64) * scale), axis=1, kind="stable")[:, :k]
    if k:
        pieces = threads.blocks(len(similarity), threads.n_threads())
        threads.run(_keep_largest, [(similarity[a:b], scale, indices[a:b]) for a, b in pieces])
    return indices


@compiled()
def _keep_largest(similarity: Any, scale: float, indices: Any) -> None:
    """Every value that is larger than the k-th so far is inserted among those. Out: indices (b, k)."""
    k = indices.shape[1]
    values = np.empty(k)
    for row in range(similarity.shape[0]):
        values[:] = -np.inf
        for x in range(similarity.shape[1]):
            value = np.rint(np.float64(similarity[row, x]) * scale)
            if x < k or value > values[k - 1]:
                at = min(x, k - 1)
                while at > 0 and values[at - 1] < value:
                    values[at], indices[row, at] = values[at - 1], indices[row, at - 1]
                    at -= 1
                values[at], indices[row, at] = value, x
