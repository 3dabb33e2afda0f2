"""Nearest neighbours by kernel value."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nearfar._tools import threads
from nearfar._tools.compiled import compiled
from nearfar._tools.progress import track
from nearfar.errors import InputError
from nearfar.kernel.phi import PhiLike, as_rows, informed_rows, is_sparse, uninformed
from nearfar.kernel.ties import tie_decimals
from nearfar.methods._common import as_given, check_count, phi_rows

__all__ = ["Neighbours", "nearest_among", "neighbours"]

BLOCK_BYTES = 1 << 25
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
    >>> found = neighbours(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), k=1)
    >>> found.indices.tolist(), found.similarities.ravel()
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
    >>> found = neighbours(phi, k=1)
    >>> found.indices.ravel(), found.uninformed
    (array([ 1,  0,  1, -1]), array([3]))
    """
    rows = phi_rows(phi)
    backend, many = rows.backend, len(rows.blocks)
    missing = uninformed(rows)
    k = _check_k(k, rows.n_rows - len(missing))
    joined = []
    for i, block in enumerate(rows.blocks):  # every block meets every other one
        itself = [i == j for j in range(many)]
        found = backend.map("neighbours", _candidates, [block] * many, rows.blocks, rows.starts, itself, k=k)
        joined.append(backend.submit("neighbours", _join, block, found, k))
    backend.wait("neighbours", joined)
    indices, values = (backend.map("neighbours", itemgetter(item), joined) for item in (0, 1))
    backend.wait("neighbours", [*indices, *values])
    return Neighbours(
        as_given(phi, rows.like(indices, k, np.intp)),
        as_given(phi, rows.like(values, k, np.float64)),
        missing,
    )


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
    chosen: Any
    values: Any
    chosen, values = candidates[0]
    if len(candidates) > 1:
        chosen, values = (np.concatenate(column, axis=1) for column in zip(*candidates, strict=True))
        order = np.argsort(chosen, axis=1, kind="stable")  # of equals the first object is first
        chosen, values = (np.take_along_axis(found, order, axis=1) for found in (chosen, values))
        best = _largest(values, k, block.dtype)
        chosen, values = (np.take_along_axis(found, best, axis=1) for found in (chosen, values))
    indices, similarities = np.full((block.shape[0], k), -1, np.intp), np.full((block.shape[0], k), np.nan)
    informed = informed_rows(block)
    indices[informed], similarities[informed] = chosen, values
    return indices, similarities


def nearest_among(
    rows: Any, others: Any, k: int, *, itself: bool, block_bytes: int = BLOCK_BYTES
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
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
    for where in track(_row_slices(rows.shape[0], others.shape[0], block_bytes), "neighbours"):
        similarity = _products(rows[where], columns)
        if itself:
            similarity[np.arange(where.stop - where.start), np.arange(where.start, where.stop)] = -np.inf
        chosen[where] = _largest(similarity, k, rows.dtype)
        values[where] = np.take_along_axis(similarity, chosen[where], axis=1)
    return chosen, values


def _check_k(k: int, n_informed: int) -> int:
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


def _products(block: Any, columns: Any) -> NDArray[Any]:
    products: Any = block @ columns
    return np.asarray(products.toarray() if is_sparse(products) else products)


def _largest(similarity: NDArray[Any], k: int, dtype: DTypeLike) -> NDArray[np.intp]:
    """(b, k) indices of the k largest of every row, largest first; of equals, but for rounding, the first one first."""
    scale = 10.0 ** tie_decimals(dtype)
    if k > 500:  # inserting into a long list costs more than sorting
        return np.argsort(-np.rint(similarity * scale), axis=1, kind="stable")[:, :k]
    indices = np.empty((len(similarity), k), dtype=np.intp)
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
