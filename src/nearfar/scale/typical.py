"""The most typical object of every cluster, where objects and labels lie in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import InputError
from nearfar.kernel.factored import as_rows, informed_rows
from nearfar.methods import Medoids
from nearfar.methods.kernel_kmeans import cluster_centres
from nearfar.methods.medoids_outliers import spread_around
from nearfar.scale._cut import Cut, block_futures, cut_rows
from nearfar.scale._engine import Future, current_engine
from nearfar.scale._parts import add_all, uninformed_rows

__all__ = ["medoid"]

Found = tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]


def medoid(phi: Any, labels: Any) -> Medoids:
    """``nearfar.methods.medoid`` of a dask array in blocks of rows: the same objects.

    Parameters
    ----------
    phi : (n, p) dask array; rows are objects.
    labels : (n,) dask array, as ``KernelKMeans`` makes them; -1 is no cluster.
    """
    engine = current_engine()
    cut = cut_rows(engine, phi)
    blocks, many = _label_blocks(cut, labels), len(cut.blocks)
    tallies = engine.gather("clusters", engine.map("sizes", _tally, cut.blocks, blocks))
    clusters = np.unique(np.concatenate([names for names, _ in tallies]))
    sizes = np.zeros(len(clusters), np.int64)
    for names, counts in tallies:
        sizes[np.searchsorted(clusters, names)] += counts
    partial = engine.map("centres", _centres, cut.blocks, blocks, [clusters] * many, [sizes] * many)
    centres = engine.reduce("centres", add_all, partial)
    nearest = engine.map(
        "typical", _nearest, cut.blocks, blocks, [clusters] * many, [centres] * many, cut.starts
    )
    places, spread, likeness = (
        np.stack(column) for column in zip(*engine.gather("medoids", nearest), strict=True)
    )
    best = np.argmin(spread, axis=0), np.arange(len(clusters))  # of equals the one in the first block
    missing = engine.gather("uninformed", engine.map("uninformed", uninformed_rows, cut.blocks, cut.starts))
    return Medoids(clusters, places[best], likeness[best], np.concatenate(missing))


def _label_blocks(cut: Cut, labels: Any) -> list[Future]:
    if getattr(labels, "chunks", None) != (cut.sizes,) or labels.dtype.kind not in "iu":
        raise InputError(
            f"labels: expected a dask array of {cut.n_rows} whole numbers in the blocks of phi, as "
            "nearfar.scale.KernelKMeans makes them",
        )
    return block_futures(cut.engine, labels)


# -------------------------------------------------------------------- tasks


def _members(block: Any, labels: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Informed rows that are in a cluster, and which."""
    informed = informed_rows(block)
    members = informed[labels[informed] >= 0]
    return members, labels[members]


def _tally(block: Any, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    return np.unique(_members(block, labels)[1], return_counts=True)


def _centres(block: Any, labels: NDArray[Any], clusters: NDArray[Any], sizes: NDArray[np.int64]) -> Any:
    members, own = _members(block, labels)
    return cluster_centres(as_rows(block), members, np.searchsorted(clusters, own).astype(np.int32), sizes)


def _nearest(block: Any, labels: NDArray[Any], clusters: NDArray[Any], centres: Any, start: int) -> Found:
    """The best of a block for every cluster: where it is, its spread (infinite where there is none), its likeness."""
    members, own = _members(block, labels)
    codes = np.searchsorted(clusters, own)
    spread, likeness = spread_around(as_rows(block)[members], codes, centres)
    order = np.lexsort((spread, codes))
    places = np.zeros(len(clusters), np.intp)
    found = np.full(len(clusters), np.inf), np.zeros(len(clusters))
    here, first = np.unique(codes[order], return_index=True)
    chosen = order[first]
    places[here], found[0][here], found[1][here] = members[chosen] + start, spread[chosen], likeness[chosen]
    return places, *found
