"""Kernel k-means on the rows of Phi, without the kernel matrix where that is cheaper."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from nearfar._tools.arrays import Labels
from nearfar._tools.checks import check_count, generator
from nearfar._tools.progress import track
from nearfar.blocks import RowBlocks, join
from nearfar.errors import InputError, NotConverged
from nearfar.kernel.factored import Factored
from nearfar.kernel.phi import PhiLike
from nearfar.kernel.shift import check_diagonal, shift_and_matrix
from nearfar.methods._lloyd import Gram, Run, lloyd, nearest, plus_plus
from nearfar.methods._rows import as_given, cluster_sums, estimator_rows, means, too_many_clusters

SAMPLE = 50_000  # rows on which starts are found, before they go on with all, where there are more than twice as many


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

    def fit(self, X: PhiLike, y: object = None) -> KernelKMeans:
        """Find clusters of the rows of X, an (n, p) ndarray, sparse matrix or RowBlocks."""
        k, max_iter = check_count(self.n_clusters, "n_clusters"), check_count(self.max_iter, "max_iter")
        shifted = check_diagonal(self.diagonal)
        factored = Factored(estimator_rows(self, X, reset=True))
        if factored.size < k:
            raise too_many_clusters(k, factored.size, factored.phi.n_rows)
        self.shift_, K = shift_and_matrix(factored) if shifted else (0.0, None)
        is_plain = self.shift_ == 0 and not factored.is_sparse
        if is_plain or K is None:
            rows, mean = factored.shared, factored.column_sums / factored.size
            if is_plain and factored.diagonal.mean() < 1.01 * (mean @ mean):  # products would lose digits
                centred = rows.backend.store("rows", np.subtract, rows.blocks, [mean] * len(rows.blocks))
                rows = rows.like(centred, rows.width, np.float64)
            gram = Gram(rows, None if is_plain else factored.own - self.shift_)
        else:
            gram = Gram(RowBlocks.of(K), np.full(factored.size, -self.shift_), is_kernel=True)
        starts = track(self._starts(gram, factored, k, max_iter), "k-means starts")
        runs = [lloyd(gram, start, k, max_iter, self.tol) for start in starts]
        lowest = min(run.inertia for run in runs)  # of equals, but for rounding, the first
        best = next(run for run in runs if run.inertia <= lowest + 1e-9 * abs(lowest) + 1e-12)
        self.labels_ = as_given(X, self._keep(factored, best))
        filled = np.count_nonzero(self.sizes_)
        unfilled = f"found only {filled} distinct rows, so {k - filled} of n_clusters={k} clusters stay empty; ask for fewer"
        early = f"labels were still changing after max_iter={max_iter} steps; raise max_iter"
        for message, holds in ((unfilled, filled < k), (early, not best.converged)):
            if holds:
                warnings.warn(f"KernelKMeans: {message}", NotConverged, stacklevel=2)
        return self

    def fit_predict(self, X: PhiLike, y: object = None) -> Any:
        """``labels_`` of the rows of X."""
        return self.fit(X).labels_

    def predict(self, X: PhiLike) -> Any:
        """(n,) the nearest cluster of every row, taken as a new object.

        For s > 0 a fitted object is nearer to its own cluster than a new object with the same row would be, so
        ``predict(X)`` need not equal ``labels_``.
        """
        check_is_fitted(self)
        phi = estimator_rows(self, X, reset=False)
        labels = phi.map("labels", nearest, centres=self._centres)
        phi.backend.wait("labels", labels)
        return as_given(X, phi.like(labels, None, np.int32))

    def _starts(self, gram: Gram, factored: Factored, k: int, max_iter: int) -> list[Labels]:
        """Labels as given, or by k-means++; of very many objects, those that k-means on a sample settles on."""
        if not isinstance(self.init, str) or self.init != "k-means++":
            n, labels = factored.phi.n_rows, np.asarray(self.init)
            if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= k:
                raise InputError(
                    f"init: expected 'k-means++' or {n} integers from 0 to {k - 1}, one per row; "
                    f"got {type(self.init).__name__} of shape {labels.shape}"
                )
            return [labels.astype(np.int32)[factored.rows]]
        n_starts, rng = check_count(self.n_init, "n_init"), generator(self.random_state, "random_state")
        rows, n = gram.rows, gram.rows.n_rows
        is_sampled = n > 2 * SAMPLE and not gram.is_kernel
        if is_sampled and factored.is_sparse:  # columns must occur often enough in a sample
            is_sampled = factored.n_entries / max(factored.width, 1) * SAMPLE / n >= 20
        if not is_sampled:
            return plus_plus(gram, k, n_starts, rng)
        drawn = np.sort(rng.choice(n, SAMPLE, replace=False))
        sample = Gram(RowBlocks.of(rows.take(drawn)), None if gram.is_bounded else gram.own[drawn])
        runs = (lloyd(sample, start, k, max_iter, self.tol) for start in plus_plus(sample, k, n_starts, rng))
        return [join(rows.gather("labels", nearest, centres=run.centres)) for run in runs]

    def _keep(self, factored: Factored, run: Run) -> RowBlocks:
        """Store what was learnt; the labels of all rows, in blocks."""
        phi, sizes, labels = factored.phi, run.centres.sizes, run.labels
        if isinstance(self.init, str):  # the largest is 0, of equals the one with the first object
            first = [np.argmax(labels == c) for c in range(len(sizes))]
            order = np.lexsort((first, -sizes))
            sizes, labels = sizes[order], np.argsort(order).astype(np.int32)[labels]
        self.sizes_, self.inertia_, self.n_iter_ = sizes, run.inertia, run.n_iter
        self.uninformed_ = factored.uninformed
        members = np.full(phi.n_rows, -1, np.int32)
        members[factored.rows] = labels
        centres = means(phi.sum("centres", cluster_sums, phi.cut(members), k=len(sizes)), sizes)
        self.centres_ = sparse.csr_array(centres) if factored.is_sparse else centres
        # all that a new object needs to know of K', seen from among the rows, where products keep their digits
        origin: Any = 0 if factored.is_sparse else sizes @ centres / sizes.sum()
        points = self.centres_ - origin
        offsets = (points * (self.centres_ + origin)).sum(axis=1) - self.shift_ / np.maximum(sizes, 1)
        offsets[sizes == 0] = np.inf
        self._centres = run.centres._replace(means=points, is_kernel=False, offsets=offsets, sizes=sizes)
        members[self.uninformed_] = np.argmin(offsets)
        return phi.like(phi.backend.map("labels", np.asarray, phi.cut(members)), None, np.int32)
