"""Kernel k-means over many machines: labels and rows stay with the workers, sums over clusters come here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from nearfar.errors import InputError
from nearfar.kernel.factored import Factored, as_rows, informed_rows, is_sparse
from nearfar.kernel.shift import check_diagonal, shift_and_matrix
from nearfar.methods import _lloyd, _rows
from nearfar.methods._common import check_count, generator
from nearfar.methods._lloyd import Stop, best_run
from nearfar.methods._seeding import plus_plus
from nearfar.methods._spaces import ProductSpace, by_label
from nearfar.methods.kernel_kmeans import (
    check_enough,
    check_start,
    cluster_centres,
    first_members,
    nearest_centres,
    numbers_by_size,
    offsets_of,
    warn_unsettled,
)
from nearfar.methods.strategy import Path, cheapest
from nearfar.progress import track
from nearfar.scale._bounded import CutRows
from nearfar.scale._cut import Cut, cut_rows, dask_rows
from nearfar.scale._engine import Future, current_engine
from nearfar.scale._kmeans import CutSpace, cut_lloyd, nearest_in_block, nearest_to_sample
from nearfar.scale._parts import CutParts, add_all

__all__ = ["KernelKMeans"]


class KernelKMeans(BaseEstimator):  # type: ignore[misc]
    """``nearfar.KernelKMeans`` on a dask array in blocks of rows: the same clusters.

    Parameters
    ----------
    n_clusters, n_init, max_iter, tol, diagonal, init, random_state : as for ``nearfar.KernelKMeans``.

    Attributes
    ----------
    labels_ : (n,) cluster of every object, a dask array.
    inertia_, n_iter_, shift_, sizes_, centres_, uninformed_ : as for ``nearfar.KernelKMeans``.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 5,
        max_iter: int = 100,
        tol: float = 1e-7,
        diagonal: str = "shift",
        init: Any = "k-means++",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.diagonal = diagonal
        self.init = init
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> KernelKMeans:
        """Find clusters of the rows of X, a dask array."""
        k = check_count(self.n_clusters, "n_clusters")
        stop = Stop(check_count(self.max_iter, "max_iter"), float(self.tol))
        shifted = check_diagonal(self.diagonal)
        cut = cut_rows(current_engine(), X)
        parts = CutParts(cut)
        check_enough(k, parts.size, cut.n_rows)
        self.shift_ = shift_and_matrix(parts).shift if shifted else 0.0  # type: ignore[arg-type]
        given = self._given_start(parts, cut, k)
        starts = [given] if given is not None else self._starts(parts, k, stop)
        iterate: Any = cut_lloyd
        space: Any = CutSpace(parts, self.shift_)
        if parts.is_thin and self.shift_ == 0:
            iterate, space = _rows.bounded_lloyd, CutRows(parts)
        runs = [iterate(space, start, k, stop) for start in track(starts, "k-means starts")]
        best = best_run(runs)
        self._keep(cut, parts, best, k, by_size=given is None)
        return self

    def fit_predict(self, X: Any, y: object = None) -> Any:
        """``labels_`` of the rows of X."""
        return self.fit(X).labels_

    def predict(self, X: Any) -> Any:
        """(n,) the nearest cluster of every row, taken as a new object: a dask array."""
        check_is_fitted(self, "labels_")
        cut = cut_rows(current_engine(), X)
        if cut.width != self.centres_.shape[1]:
            raise InputError(
                f"X: {cut.width} columns, but the clusters were found on {self.centres_.shape[1]}; use the same "
                "FeatureMap",
            )
        many = len(cut.blocks)
        labels = cut.engine.map(
            "labels", _predict, cut.blocks, [self.centres_] * many, [self._offsets] * many
        )
        cut.engine.wait("labels", labels)
        return _dask_labels(cut, labels)

    # ---------------------------------------------------------------- inside

    def _given_start(self, parts: CutParts, cut: Cut, k: int) -> list[Future] | None:
        if isinstance(self.init, str) and self.init == "k-means++":
            check_count(self.n_init, "n_init")
            return None
        labels = check_start(self.init, cut.n_rows, k)
        pieces = np.split(labels, np.cumsum(cut.sizes)[:-1])
        return parts.engine.map("labels", _of_informed, cut.blocks, pieces)

    def _starts(self, parts: CutParts, k: int, stop: Stop) -> list[list[Future]]:
        """Starting labels, as futures of blocks; drawn as on one machine, from a sample where that takes one."""
        rng, engine, many = generator(self.random_state), parts.engine, len(parts.blocks)
        space: Any = CutSpace(parts, self.shift_)
        n, q = parts.shared.shape
        if parts.is_thin and self.shift_ == 0:
            chosen = _rows.draw_sample(n, rng)
            if chosen is not None:
                rows = space.rows_of(chosen)
                sample = _rows.RowSpace(rows.toarray() if is_sparse(rows) else rows)
                return [
                    engine.map("labels", nearest_in_block, parts.blocks, [centres] * many)
                    for centres in _rows.sample_centres(sample, k, self.n_init, stop, rng)
                ]
        elif cheapest(parts) is not Path.MATRIX:  # type: ignore[arg-type]
            chosen = _lloyd.draw_sample(n, parts.n_entries / max(q, 1) if parts.is_sparse else n, rng)
            if chosen is not None:
                rows = space.rows_of(chosen)
                part = Factored(chosen, np.arange(q), rows, parts.own[chosen])
                found = _lloyd.sample_clusters(ProductSpace(part, self.shift_), k, self.n_init, stop, rng)
                return [
                    engine.map(
                        "labels",
                        nearest_to_sample,
                        parts.blocks,
                        [engine.submit("sums", by_label, rows, rested, k)] * many,
                        [clusters] * many,
                    )
                    for rested, clusters in found
                ]
        labels = plus_plus(space, k, self.n_init, rng)
        return [engine.map("labels", _same, parts.pieces(each)) for each in labels]

    def _keep(self, cut: Cut, parts: CutParts, run: Any, k: int, *, by_size: bool) -> None:
        engine, many = cut.engine, len(cut.blocks)
        numbers = np.arange(k, dtype=np.int32)
        sizes = np.sum(engine.gather("labels", engine.map("sizes", _sizes, run.labels, [k] * many)), axis=0)
        if by_size:
            first = _first_of_all(
                engine.gather("labels", engine.map("first", _first, run.labels, [k] * many)), parts
            )
            numbers = numbers_by_size(sizes, first)
            sizes = sizes[np.argsort(numbers)]
        self.inertia_, self.n_iter_, self.sizes_ = run.inertia, run.n_iter, sizes
        labels = engine.map("labels", _renumber, run.labels, [numbers] * many)
        partial = engine.map("centres", _block_centres, cut.blocks, labels, [sizes] * many)
        centres = engine.result("centres", engine.reduce("centres", add_all, partial))
        self.centres_ = sparse.csr_array(centres) if is_sparse(centres) else centres
        self._offsets = offsets_of(self.centres_, sizes, self.shift_)
        nobody = np.int32(np.argmin(self._offsets))
        all_labels = engine.map("labels", _with_uninformed, cut.blocks, labels, [nobody] * many)
        engine.wait("labels", all_labels)
        self.labels_ = _dask_labels(cut, all_labels)
        self.uninformed_ = parts.uninformed
        warn_unsettled(sizes, run, stacklevel=4)


def _dask_labels(cut: Cut, blocks: list[Future]) -> Any:
    return dask_rows(blocks, cut.sizes, None, np.empty(0, np.int32))


def _first_of_all(blocks: list[NDArray[np.int64]], parts: CutParts) -> NDArray[np.int64]:
    """(k,) the first object of every cluster, from those of every block."""
    starts = np.concatenate([[0], np.cumsum(parts.sizes)])
    shifted = [
        np.where(first < size, first + start, starts[-1])
        for first, size, start in zip(blocks, parts.sizes, starts[:-1], strict=True)
    ]
    return np.asarray(np.min(shifted, axis=0))


# -------------------------------------------------------------------- tasks


def _same(value: Any) -> Any:
    return value


def _predict(block: Any, centres: Any, offsets: NDArray[np.float64]) -> NDArray[np.int32]:
    return nearest_centres(as_rows(block), centres, offsets)


def _of_informed(block: Any, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    return labels[informed_rows(block)]


def _sizes(labels: NDArray[np.int32], k: int) -> NDArray[np.int64]:
    return np.bincount(labels, minlength=k)


def _first(labels: NDArray[np.int32], k: int) -> NDArray[np.int64]:
    return first_members(labels, k)


def _renumber(labels: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    return numbers[labels]


def _block_centres(block: Any, labels: NDArray[np.int32], sizes: NDArray[np.int64]) -> Any:
    return cluster_centres(as_rows(block), informed_rows(block), labels, sizes)


def _with_uninformed(block: Any, labels: NDArray[np.int32], nobody: np.int32) -> NDArray[np.int32]:
    result = np.full(block.shape[0], nobody, dtype=np.int32)
    result[informed_rows(block)] = labels
    return result
