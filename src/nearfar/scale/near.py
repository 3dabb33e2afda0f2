"""Nearest neighbours over many machines: every block of rows meets every other block once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.kernel.factored import as_rows, informed_rows
from nearfar.methods import Neighbours
from nearfar.methods.neighbours import check_k, join_nearest, nearest_among
from nearfar.scale._cut import cut_rows, dask_rows
from nearfar.scale._engine import Future, current_engine
from nearfar.scale._parts import uninformed_rows

__all__ = ["neighbours"]

Found = tuple[NDArray[np.intp], NDArray[np.float64]]


def neighbours(phi: Any, k: int = 10) -> Neighbours:
    """``nearfar.neighbours`` of a dask array in blocks of rows: the same neighbours, as dask arrays.

    Parameters
    ----------
    phi : (n, p) dask array; rows are objects.
    k : how many neighbours.

    All pairs of objects are compared, so this takes n^2 p steps on however many machines: a million objects
    are work for a cluster.
    """
    engine = current_engine()
    cut = cut_rows(engine, phi)
    many = len(cut.blocks)
    missing = engine.gather("neighbours", engine.map("informed", uninformed_rows, cut.blocks, cut.starts))
    uninformed = np.concatenate([np.zeros(0, np.intp), *missing])
    k = check_k(k, cut.n_rows - len(uninformed))
    joined: list[Future] = []
    for i in range(many):
        candidates = [
            engine.submit("candidates", _candidates, cut.blocks[i], cut.blocks[j], cut.starts[j], k, i == j)
            for j in range(many)
        ]
        joined.append(engine.submit("nearest", _join, cut.blocks[i], candidates, k))
    engine.wait("neighbours", joined)
    indices, values = (engine.map("nearest", _part, joined, [part] * many) for part in range(2))
    engine.wait("neighbours", [*indices, *values])
    return Neighbours(
        dask_rows(indices, cut.sizes, k, np.empty((0, 0), np.intp)),
        dask_rows(values, cut.sizes, k, np.empty((0, 0))),
        uninformed,
    )


# -------------------------------------------------------------------- tasks


def _candidates(block: Any, other: Any, start: int, k: int, itself: bool) -> Found:
    """The nearest in one other block for the informed rows of a block; places count from the first object of all."""
    rows, informed = as_rows(block)[informed_rows(block)], informed_rows(other)
    others = rows if itself else as_rows(other)[informed]
    places, values = nearest_among(rows, others, min(k, len(informed)), itself=itself)
    return informed[places] + start, values


def _join(block: Any, candidates: list[Found], k: int) -> Found:
    places, values = (np.concatenate(parts, axis=1) for parts in zip(*candidates, strict=True))
    found, near = join_nearest(places, values, k, block.dtype)
    indices, similarities = np.full((block.shape[0], k), -1, np.intp), np.full((block.shape[0], k), np.nan)
    informed = informed_rows(block)
    indices[informed], similarities[informed] = found, near
    return indices, similarities


def _part(found: Found, which: int) -> NDArray[Any]:
    return found[which]
