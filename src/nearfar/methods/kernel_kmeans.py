"""Kernel k-means on the rows of Phi, by the cheapest of n x n, rows and products."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from nearfar.errors import InputError, NotConverged
from nearfar.kernel.factored import Factored, Phi, as_rows, factor, is_sparse
from nearfar.kernel.shift import check_diagonal, shift_and_matrix
from nearfar.methods import _lloyd, _rows
from nearfar.methods._blocks import onto_columns, row_blocks
from nearfar.methods._common import check_count, generator
from nearfar.methods._lloyd import Run, Stop, best_run, lloyd
from nearfar.methods._rows import RowSpace, bounded_lloyd
from nearfar.methods._seeding import plus_plus
from nearfar.methods._spaces import MatrixSpace, ProductSpace
from nearfar.methods.strategy import Path, cheapest, stored_bytes
from nearfar.progress import track

__all__ = [
    "KernelKMeans",
    "check_enough",
    "check_start",
    "cluster_centres",
    "first_members",
    "nearest_centres",
    "numbers_by_size",
    "offsets_of",
    "warn_unsettled",
]

Matrix = Any  # ndarray or csr_array


class KernelKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters of objects by kernel k-means on K = X X', shifted or not, without K where that is cheaper.

    With ``diagonal="shift"`` the kernel is K - s I, s its smallest eigenvalue over the informed rows. Every
    partition's objective falls by s(n - k), so the best partition is the same, but the search gets freer:
    objects let go of their own cluster more easily. Where s = 0 (more objects than columns, the usual case
    with landmarks) this is k-means on the rows of X.

    Parameters
    ----------
    n_clusters : how many clusters.
    n_init : starts by k-means++; the one with the lowest objective is kept. With very many rows (100,000
        dense, 40,000 sparse) starts are taken to rest on a sample first.
    max_iter : steps per start.
    tol : a start rests when a step lowers the objective by less than this share of it; 0: when no label changes.
    diagonal : "shift" or "keep".
    init : "k-means++", or (n,) starting labels 0..n_clusters-1 (then there is one start; labels of zero rows
        are not looked at).
    random_state : fixes the starts.

    Attributes
    ----------
    labels_ : (n,) cluster of every object, numbered by size, the largest 0 (a given ``init`` keeps its numbers).
        Uninformed (zero) rows get that of a new zero row.
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
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.diagonal = diagonal
        self.init = init
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Sparse input is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Phi, y: object = None) -> KernelKMeans:
        """Find clusters of the rows of X, an (n, p) ndarray or sparse matrix."""
        X = self._validate(X, reset=True)
        k = check_count(self.n_clusters, "n_clusters")
        stop = Stop(check_count(self.max_iter, "max_iter"), float(self.tol))
        parts = factor(X)
        check_enough(k, parts.size, X.shape[0])
        self.shift_, K = shift_and_matrix(parts) if check_diagonal(self.diagonal) else (0.0, None)
        starts = self._given_start(parts, X.shape[0], k)
        best = best_run(self._runs(parts, K, starts, k, stop))
        if starts is None:
            best = best._replace(labels=_by_size(best.labels, k))
        self._keep(X, parts, best, k)
        return self

    def predict(self, X: Phi) -> NDArray[np.int32]:
        """(n,) the nearest cluster of every row, taken as a new object."""
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        return nearest_centres(X, self.centres_, self._offsets)

    # ---------------------------------------------------------------- inside

    def _validate(self, X: Phi, *, reset: bool) -> Matrix:
        return as_rows(
            validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
        )

    def _given_start(self, parts: Factored, n: int, k: int) -> list[NDArray[np.int32]] | None:
        if isinstance(self.init, str) and self.init == "k-means++":
            check_count(self.n_init, "n_init")
            return None
        return [check_start(self.init, n, k)[parts.rows]]

    def _runs(
        self,
        parts: Factored,
        K: NDArray[np.float64] | None,
        starts: list[NDArray[np.int32]] | None,
        k: int,
        stop: Stop,
    ) -> list[Run]:
        rng = generator(self.random_state)
        if (rows := _thin_rows(parts)) is not None and self.shift_ == 0:
            thin = RowSpace(rows)
            starts = starts or _rows.sampled_starts(thin, k, self.n_init, stop, rng)
            return [bounded_lloyd(thin, start, k, stop) for start in track(starts, "k-means starts")]
        space: MatrixSpace | ProductSpace
        if cheapest(parts) is Path.MATRIX:
            space = MatrixSpace(parts.matrix() if K is None else K, self.shift_)
            starts = starts or plus_plus(space, k, self.n_init, rng)
        else:
            space = ProductSpace(parts, self.shift_)
            starts = starts or _lloyd.sampled_starts(space, k, self.n_init, stop, rng)
        return [lloyd(space, start, k, stop) for start in track(starts, "k-means starts")]

    def _keep(self, X: Matrix, parts: Factored, run: Run, k: int) -> None:
        """Store what was learnt."""
        informed = parts.rows
        self.inertia_, self.n_iter_ = run.inertia, run.n_iter
        self.sizes_ = np.bincount(run.labels, minlength=k)
        self.centres_ = cluster_centres(X, informed, run.labels, self.sizes_)
        self._offsets = offsets_of(self.centres_, self.sizes_, self.shift_)
        self.labels_ = np.full(X.shape[0], np.argmin(self._offsets), dtype=np.int32)
        self.labels_[informed] = run.labels
        self.uninformed_ = np.setdiff1d(np.arange(X.shape[0]), informed, assume_unique=True)
        warn_unsettled(self.sizes_, run, stacklevel=5)


def warn_unsettled(sizes: NDArray[np.int64], run: Run, *, stacklevel: int) -> None:
    """Warn of clusters that stayed empty and of a run that did not come to rest."""
    k, filled = len(sizes), int((sizes > 0).sum())
    if filled < k:
        warnings.warn(
            f"KernelKMeans: the kernel tells only {filled} places apart, so {k - filled} of "
            f"n_clusters={k} clusters stay empty; ask for fewer clusters",
            NotConverged,
            stacklevel=stacklevel,
        )
    if not run.converged:
        warnings.warn(
            f"KernelKMeans: labels were still changing after max_iter={run.n_iter} steps; raise max_iter",
            NotConverged,
            stacklevel=stacklevel,
        )


def offsets_of(centres: Matrix, sizes: NDArray[np.int64], shift: float) -> NDArray[np.float64]:
    """(k,) |centre|^2 - s / |c|, all that a new object needs to know of K; infinite for an empty cluster."""
    squares: Any = centres * centres
    offsets = np.asarray(squares.sum(axis=1), dtype=np.float64) - shift / np.maximum(sizes, 1)
    offsets[sizes == 0] = np.inf
    return offsets


def nearest_centres(X: Matrix, centres: Matrix, offsets: NDArray[np.float64]) -> NDArray[np.int32]:
    """(n,) the nearest cluster of every row, taken as a new object."""
    products: Any = X @ centres.T if is_sparse(centres) else onto_columns(X, centres.T)
    products = products.toarray() if is_sparse(products) else products
    nearest: NDArray[np.intp] = np.argmin(offsets - 2 * products, axis=1)
    return nearest.astype(np.int32)


def check_start(init: Any, n: int, k: int) -> NDArray[np.int32]:
    """Starting labels as they were given; an error where they are not n numbers of clusters."""
    labels = np.asarray(init)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= k:
        raise InputError(
            f"init: expected 'k-means++' or {n} whole numbers from 0 to {k - 1}, one per row; "
            f"got {type(init).__name__} of shape {labels.shape}",
        )
    return labels.astype(np.int32)


def check_enough(k: int, n_informed: int, n_samples: int) -> None:
    """An error where there are fewer informed rows than clusters."""
    if n_informed < k:
        raise InputError(
            f"n_clusters={k} is more than the {n_informed} informed rows of n_samples={n_samples}; "
            "ask for fewer clusters",
        )


def _thin_rows(parts: Factored) -> NDArray[Any] | None:
    """The informed rows as a dense array, where it has more rows than columns and is not much larger."""
    n, q = parts.shared.shape
    if q >= n or parts.own.any():
        return None
    if not is_sparse(parts.shared):
        return np.asarray(parts.shared)
    affordable = n * q * parts.shared.dtype.itemsize <= 2 * stored_bytes(parts.shared)
    return np.asarray(parts.shared.toarray()) if affordable else None


def _by_size(labels: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """Number the clusters by size, the largest 0; of equals the one that comes first is first.

    >>> _by_size(np.array([1, 2, 2, 0]), 3)
    array([1, 0, 0, 2], dtype=int32)
    """
    return numbers_by_size(np.bincount(labels, minlength=k), first_members(labels, k))[labels]


def first_members(labels: NDArray[np.int32], k: int) -> NDArray[np.int64]:
    """(k,) the first object of every cluster; past the last where there is none."""
    first = np.full(k, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return first


def numbers_by_size(sizes: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.int32]:
    """(k,) the new number of every cluster: the largest is 0, of equals the one with the first object."""
    place = np.empty(len(sizes), dtype=np.int32)
    place[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return place


def cluster_centres(
    X: Matrix, informed: NDArray[np.intp], labels: NDArray[np.int32], sizes: ArrayLike
) -> Matrix:
    """(k, p) mean row of every cluster, as dense or sparse as X."""
    weights = 1 / np.maximum(sizes, 1)[labels]
    means = sparse.csc_array((weights, (labels, informed)), shape=(len(np.asarray(sizes)), X.shape[0]))
    if is_sparse(X):
        return sparse.csr_array(means @ X)
    centres = np.zeros((means.shape[0], X.shape[1]))
    for where, block in row_blocks(X):
        centres += means[:, where] @ block
    return centres
