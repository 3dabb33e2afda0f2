"""Kernel k-means on the rows of Phi, by the cheapest of n x n, rows and products."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from nearfar._tools.arrays import Labels
from nearfar._tools.progress import track
from nearfar.blocks import LOCAL, RowBlocks
from nearfar.errors import InputError, NotConverged
from nearfar.kernel.factored import Factored, as_split
from nearfar.kernel.phi import PhiLike, as_rows, informed_rows, is_sparse
from nearfar.kernel.shift import check_diagonal, shift_and_matrix
from nearfar.methods import _lloyd, _rows
from nearfar.methods._columns import onto_columns, row_slices
from nearfar.methods._common import as_given, check_count, estimator_rows, generator
from nearfar.methods._grams import MatrixGram, ProductGram
from nearfar.methods._lloyd import Run, Stop, best_run, lloyd
from nearfar.methods._rows import RowGram, bounded_lloyd
from nearfar.methods._seeding import plus_plus
from nearfar.methods.strategy import Strategy, cheapest, chosen

__all__ = ["KernelKMeans", "cluster_means"]

STRATEGIES = (Strategy.ROWS, Strategy.MATRIX, Strategy.PRODUCTS)


class KernelKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters of objects by kernel k-means on K = X X', shifted or not, without K where that is cheaper.

    With ``diagonal="shift"`` the kernel is K - s I, s its smallest eigenvalue over the informed rows. Every
    partition's objective falls by s(n - k), so the best partition is the same, but the search gets freer:
    objects let go of their own cluster more easily. Where s = 0 (more objects than columns, the usual case
    with landmarks) this is k-means on the rows of X.

    Parameters
    ----------
    n_clusters : how many clusters.
    n_init : starts by k-means++; the one with the lowest objective is kept.
    max_iter : steps per start.
    tol : a start has converged when a step lowers the objective by less than this share of it; 0: when no label
        changes.
    diagonal : "shift" or "keep".
    init : "k-means++", or (n,) starting labels 0..n_clusters-1 (then there is one start; labels of zero rows
        are not looked at).
    sample : how many rows starts are found on before they go on with all; "auto" takes a sample of 50,000 dense rows
        where there are more than twice as many (sparse: 20,000), else all.
    strategy : "auto" for the cheapest; "rows" works on the rows as they are (s = 0 only), "matrix" builds the n x n
        kernel matrix, "products" neither.
    random_state : int, Generator or None; fixes the starts.

    Attributes
    ----------
    labels_ : (n,) cluster of every object, numbered by size, the largest 0 (a given ``init`` keeps its numbers).
        Uninformed (zero) rows get that of a new zero row. RowBlocks where X is.
    inertia_ : the objective, sum of squared distances of the informed objects to their centres.
    n_iter_ : steps of the kept start.
    shift_ : s.
    sizes_ : (k,) informed objects in every cluster.
    centres_ : (k, p) means of the rows of every cluster, an ndarray or csr_array.
    uninformed_ : indices of the zero rows.

    Notes
    -----
    ``predict`` treats every row as a new object. For s > 0 a fitted object is nearer to its own cluster than
    a new object with the same row would be, so ``predict(X)`` need not equal ``labels_``.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    >>> KernelKMeans(n_clusters=2, random_state=0).fit_predict(X)
    array([0, 0, 1, 1], dtype=int32)
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
        sample: int | str = "auto",
        strategy: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.diagonal = diagonal
        self.init = init
        self.sample = sample
        self.strategy = strategy
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Sparse input is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: PhiLike, y: object = None) -> KernelKMeans:
        """Find clusters of the rows of X, an (n, p) ndarray, sparse matrix or RowBlocks."""
        k = check_count(self.n_clusters, "n_clusters")
        stop = Stop(check_count(self.max_iter, "max_iter"), float(self.tol))
        shifted = check_diagonal(self.diagonal)
        phi = estimator_rows(self, X, reset=True)
        factored = Factored(phi)
        if factored.size < k:
            raise InputError(
                f"n_clusters must be at most the number of informed objects, {factored.size} of {phi.n_rows}, got {k}"
            )
        self.shift_, K = shift_and_matrix(factored) if shifted else (0.0, None)
        start = self._given_start(factored, k)
        best = best_run(self._runs(factored, K, start, k, stop))
        self.labels_ = as_given(X, self._keep(factored, best, k, by_size=start is None))
        _warn_unsettled(self.sizes_, best, stacklevel=3)
        return self

    def fit_predict(self, X: PhiLike, y: object = None) -> Any:
        """``labels_`` of the rows of X."""
        return self.fit(X).labels_

    def predict(self, X: PhiLike) -> Any:
        """(n,) the nearest cluster of every row, taken as a new object."""
        check_is_fitted(self)
        phi = estimator_rows(self, X, reset=False)
        labels = phi.map("labels", _nearest_centres, centres=self.centres_, offsets=self._offsets)
        phi.backend.wait("labels", labels)
        return as_given(X, phi.like(labels, None, np.int32))

    # ---------------------------------------------------------------- inside

    def _given_start(self, factored: Factored, k: int) -> Labels | None:
        if isinstance(self.init, str) and self.init == "k-means++":
            check_count(self.n_init, "n_init")
            return None
        return _checked_start(self.init, factored.phi.n_rows, k)[factored.rows]

    def _runs(self, factored: Factored, K: Any, start: Labels | None, k: int, stop: Stop) -> list[Run]:
        """One run from every start; the labels of a run are in blocks."""
        rng = generator(self.random_state, "random_state")
        sample = None if self.sample == "auto" else check_count(self.sample, "sample")
        strategy = self._strategy(factored)
        cut = factored.shared.cut
        if strategy is Strategy.ROWS:
            rows = RowGram(_dense_rows(factored))
            if start is None:
                starts = _rows.sampled_starts(rows, k, self.n_init, stop, rng, sample)
            else:
                starts = [cut(start)]
            return [bounded_lloyd(rows, labels, k, stop) for labels in track(starts, "k-means starts")]
        gram: MatrixGram | ProductGram
        if strategy is Strategy.MATRIX:
            gram = MatrixGram(factored.matrix() if K is None else K, self.shift_)
            given = [start] if start is not None else plus_plus(gram, k, self.n_init, rng)
        else:
            gram = ProductGram(factored, self.shift_)
            given = (
                [start]
                if start is not None
                else _lloyd.sampled_starts(gram, k, self.n_init, stop, rng, sample)
            )
        runs = [lloyd(gram, labels, k, stop) for labels in track(given, "k-means starts")]
        return [run._replace(labels=cut(run.labels)) for run in runs]

    def _strategy(self, factored: Factored) -> Strategy:
        if self.strategy == "auto":
            if self.shift_ == 0 and _is_thin(factored):
                return Strategy.ROWS
            direct = cheapest(factored) is Strategy.MATRIX
            return Strategy.MATRIX if direct else Strategy.PRODUCTS
        strategy = chosen(factored, self.strategy, STRATEGIES)
        if strategy is Strategy.ROWS and self.shift_ > 0:
            raise InputError(
                f"strategy='rows' needs a shift of 0, but it is {self.shift_:.3g}; use diagonal='keep', or another "
                "strategy"
            )
        return strategy

    def _keep(self, factored: Factored, run: Run, k: int, *, by_size: bool) -> RowBlocks:
        """Store what was learnt; the labels of all rows, in blocks."""
        phi, backend = factored.phi, factored.phi.backend
        tallies = backend.gather(
            "labels", backend.map("labels", _label_tally, run.labels, factored.shared.starts, k=k)
        )
        sizes, first = (
            sum(tally.sizes for tally in tallies),
            np.min([tally.first for tally in tallies], axis=0),
        )
        numbers = _numbers_by_size(sizes, first) if by_size else np.arange(k, dtype=np.int32)
        self.sizes_ = np.empty(k, dtype=np.int64)
        self.sizes_[numbers] = sizes
        self.inertia_, self.n_iter_ = run.inertia, run.n_iter
        labels = backend.map("labels", _renumbered, run.labels, numbers=numbers)
        members = backend.map("labels", _with_uninformed, phi.blocks, labels, label=-1)
        self.centres_ = cluster_means(phi, members, self.sizes_)
        self._offsets = _offsets_of(self.centres_, self.sizes_, self.shift_)
        nearest = int(np.argmin(self._offsets))
        self.uninformed_ = factored.uninformed
        if len(self.uninformed_):
            members = backend.map("labels", _with_uninformed, phi.blocks, labels, label=nearest)
        backend.wait("labels", members)
        return phi.like(members, None, np.int32)


def cluster_means(phi: RowBlocks, labels: list[Any], sizes: NDArray[np.int64]) -> Any:
    """(k, p) mean row of every cluster, as dense or sparse as Phi; -1 labels rows of no cluster."""
    centres = phi.sum("centres", _block_means, labels, sizes=sizes)
    return sparse.csr_array(centres) if is_sparse(centres) else centres


def _is_thin(factored: Factored) -> bool:
    """Whether the shared rows make a dense array, or one not much larger, of more rows than columns."""
    n, q = factored.size, factored.width
    if q >= n or factored.own.any():
        return False
    return not factored.is_sparse or n * q * factored.phi.dtype.itemsize <= 2 * factored.nbytes


def _dense_rows(factored: Factored) -> RowBlocks:
    """The informed rows as dense blocks, row by row in memory."""
    shared = factored.shared
    must = factored.is_sparse or shared.backend is LOCAL  # which copies only what is not so
    blocks = shared.backend.store("rows", _dense, shared.blocks) if must else shared.blocks
    return shared.like(blocks, factored.width, factored.phi.dtype)


def _warn_unsettled(sizes: NDArray[np.int64], run: Run, *, stacklevel: int) -> None:
    """Warn of clusters that stayed empty and of a run that did not converge."""
    k, filled = len(sizes), int((sizes > 0).sum())
    if filled < k:
        warnings.warn(
            f"KernelKMeans: found only {filled} distinct rows, so {k - filled} of n_clusters={k} clusters stay "
            "empty; ask for fewer clusters",
            NotConverged,
            stacklevel=stacklevel,
        )
    if not run.converged:
        warnings.warn(
            f"KernelKMeans: labels were still changing after max_iter={run.n_iter} steps; raise max_iter",
            NotConverged,
            stacklevel=stacklevel,
        )


def _offsets_of(centres: Any, sizes: NDArray[np.int64], shift: float) -> NDArray[np.float64]:
    """(k,) |centre|^2 - s / |c|, all that a new object needs to know of K; infinite for an empty cluster."""
    squares: Any = centres * centres
    offsets = np.asarray(squares.sum(axis=1), dtype=np.float64) - shift / np.maximum(sizes, 1)
    offsets[sizes == 0] = np.inf
    return offsets


def _checked_start(init: Any, n: int, k: int) -> Labels:
    """Starting labels as they were given; an error where they are not n numbers of clusters."""
    labels = np.asarray(init)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= k:
        raise InputError(
            f"init: expected 'k-means++' or {n} integers from 0 to {k - 1}, one per row; "
            f"got {type(init).__name__} of shape {labels.shape}",
        )
    return labels.astype(np.int32)


def _numbers_by_size(sizes: NDArray[np.int64], first: NDArray[np.int64]) -> Labels:
    """(k,) the new number of every cluster: the largest is 0, of equals the one with the first object.

    >>> _numbers_by_size(np.array([1, 1, 2]), np.array([3, 0, 1]))
    array([2, 1, 0], dtype=int32)
    """
    number = np.empty(len(sizes), dtype=np.int32)
    number[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return number


# -------------------------------------------------------------------- one block


class _LabelTally(NamedTuple):
    """sizes (k,) of the clusters; first (k,) their first object, a very large number where there is none."""

    sizes: NDArray[np.int64]
    first: NDArray[np.int64]


def _label_tally(labels: Labels, start: int, k: int) -> _LabelTally:
    first = np.full(k, np.iinfo(np.int64).max)
    found, chosen = np.unique(labels, return_index=True)
    first[found] = chosen + start
    return _LabelTally(np.bincount(labels, minlength=k), first)


def _renumbered(labels: Labels, numbers: Labels) -> Labels:
    return numbers[labels]


def _with_uninformed(block: Any, labels: Labels, label: int) -> Labels:
    """The labels of all rows of a block; ``label`` for those that are zero."""
    if len(labels) == block.shape[0]:
        return labels
    result = np.full(block.shape[0], label, dtype=np.int32)
    result[informed_rows(block)] = labels
    return result


def _block_means(block: Any, labels: NDArray[Any], sizes: NDArray[np.int64]) -> Any:
    """What a block adds to the mean row of every cluster."""
    rows = as_rows(block)
    members = np.flatnonzero(labels >= 0)
    weights = 1 / np.maximum(sizes, 1)[labels[members]]
    means = sparse.csc_array((weights, (labels[members], members)), shape=(len(sizes), rows.shape[0]))
    if is_sparse(rows):
        return sparse.csr_array(means @ rows)
    centres = np.zeros((len(sizes), rows.shape[1]))
    for where, some in row_slices(rows):
        centres += means[:, where] @ some
    return centres


def _nearest_centres(block: Any, centres: Any, offsets: NDArray[np.float64]) -> Labels:
    """(n,) the nearest cluster of every row, taken as a new object."""
    rows = as_rows(block)
    products: Any = rows @ centres.T if is_sparse(centres) else onto_columns(rows, centres.T)
    products = products.toarray() if is_sparse(products) else products
    nearest: NDArray[np.intp] = np.argmin(offsets - 2 * products, axis=1)
    return nearest.astype(np.int32)


def _dense(block: Any) -> NDArray[Any]:
    shared = as_split(block).shared
    return np.ascontiguousarray(shared.toarray() if is_sparse(shared) else shared)
