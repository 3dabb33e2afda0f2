"""Kernel PCA on the rows of Phi: maps of objects, by the cheapest of n x n, p x p and products.

``KernelPCA`` is this with scikit-learn's manners; who only computes, takes what is here, and need not wait for
scikit-learn to be imported.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from nearfar._tools.arrays import Floats
from nearfar._tools.checks import check_count
from nearfar._tools.memory import check_points
from nearfar._tools.progress import step
from nearfar._tools.threads import one_blas_thread
from nearfar.blocks import LOCAL, RowBlocks, join
from nearfar.errors import InputError, NotConverged
from nearfar.kernel.factored import Factored
from nearfar.kernel.phi import PhiLike, column_counts, is_sparse, used_columns
from nearfar.kernel.shift import check_diagonal, shift_and_matrix
from nearfar.methods._rows import as_given, into_columns, onto_columns, phi_rows, scatter_of, take_columns

RESTARTS = 300
SPARSE_COST = 8  # what a stored entry costs in a product with a sparse Phi beside one of a dense matrix
DENSE_LIMIT = 1_000  # up to this size, or for many components, a dense solver is the quickest


class PrincipalAxes:
    """Kernel PCA of the rows of Phi; ``KernelPCA`` describes it.

    >>> PrincipalAxes(1).fit_transform(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])).round(3).ravel().tolist()
    [0.757, -0.099, -0.657]
    """

    def __init__(self, n_components: int = 2, *, diagonal: str = "shift") -> None:
        self.n_components = n_components
        self.diagonal = diagonal

    def fit(self, X: PhiLike, y: object = None) -> Self:
        """Find the axes of the rows of X, an (n, p) ndarray, sparse matrix or RowBlocks."""
        count, shifted = check_count(self.n_components, "n_components"), check_diagonal(self.diagonal)
        phi = self._rows(X, reset=True)
        check_points(phi.n_rows, count)
        factored = Factored(phi)
        if factored.size == 0:
            what = f"X: none of its {phi.n_rows} rows is informed (all are zero)"
            raise InputError(f"{what}; there is nothing to map")
        with step("kernel PCA"):
            self.shift_, K = shift_and_matrix(factored) if shifted else (0.0, None)
            self.uninformed_ = factored.uninformed
            self._columns = _columns_of(phi)
            strategy = choose_strategy(factored)
            if strategy == "columns":
                points = self._by_columns(factored, count)
            else:
                points = self._by_objects(factored, count, strategy, K)
            points[self.uninformed_] = -self._origin
            blocks = phi.backend.map("points", np.asarray, phi.cut(points))
        self.embedding_ = as_given(X, phi.like(blocks, count, phi.dtype))
        self._n_features_out = count
        return self

    def fit_transform(self, X: PhiLike, y: object = None) -> Any:
        """``embedding_`` of the rows of X."""
        return self.fit(X).embedding_

    def transform(self, X: PhiLike) -> Any:
        """(n, n_components) coordinates of rows, each taken as a new object."""
        phi = self._rows(X, reset=False)
        fitted = {"axes": self._axes, "columns": self._columns, "origin": self._origin}
        points = phi.map(
            "points",
            lambda rows, **given: _coordinates(rows, **given).astype(rows.dtype, copy=False),
            **fitted,
        )
        phi.backend.wait("placing objects", points)
        return as_given(X, phi.like(points, len(self._origin), phi.dtype))

    # ---------------------------------------------------------------- inside

    def _rows(self, X: PhiLike, *, reset: bool) -> RowBlocks:
        """The rows given, checked; ``reset`` where they are the ones to learn from."""
        return phi_rows(X)

    def _keep_values(self, values: Floats, total: float, n: int) -> None:
        total -= self.shift_ * (n - 1)
        left = np.maximum(values - self.shift_, 0.0)
        self.eigenvalues_ = np.where(left > 1e-12 * values, left, 0.0)  # what is more than rounding error
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0 else np.zeros(len(values))

    def _by_columns(self, factored: Factored, count: int) -> NDArray[Any]:
        """(n, count) coordinates, from axes over the columns: (X - mean) @ axes is u sqrt(lambda)."""
        phi = factored.phi
        values, shared_axes, mean, total = leading_axes(factored, count)
        self._keep_values(values, total, factored.size)
        axes, origin = np.zeros((len(self._columns), count)), mean @ shared_axes
        axes[np.searchsorted(self._columns, factored.columns)] = shared_axes
        given = {"axes": axes, "columns": self._columns, "origin": origin}
        points: NDArray[Any] = join(phi.gather("points", _coordinates, **given))
        signs = _signs(points[factored.rows])
        # for s > 0 fitted objects lie nearer to the centre, and new ones farther out
        shrink = np.sqrt(np.divide(self.eigenvalues_, values, out=np.zeros(count), where=values > 0))
        stretch = np.divide(1.0, shrink, out=np.zeros(count), where=shrink > 0)
        self._axes, self._origin = axes * (signs * stretch), origin * signs * stretch
        return (points * (signs * shrink)).astype(phi.dtype, copy=False)

    def _by_objects(self, factored: Factored, count: int, strategy: str, K: Floats | None) -> NDArray[Any]:
        """(n, count) coordinates, from eigenvectors over the objects."""
        phi, informed = factored.phi, factored.rows
        values, vectors = leading(factored, count, strategy, K)
        vectors *= _signs(vectors)
        self._keep_values(values, trace(factored), factored.size)
        scale = np.sqrt(np.where(self.eigenvalues_ > 0, self.eigenvalues_, np.inf))
        # X' u / sqrt(lambda - s) over the columns that occur; u sums to 0, so X needs no centring
        weights = np.zeros((phi.n_rows, count))
        weights[informed] = vectors / scale
        self._axes = phi.sum(
            "axes",
            lambda rows, own, columns: into_columns(take_columns(rows, columns), own),
            phi.cut(weights),
            columns=self._columns,
        )
        onto = {"axes": self._axes, "columns": self._columns, "origin": 0.0}
        sums: Floats = phi.sum(
            "origin", lambda rows, **given: _coordinates(rows, **given).sum(axis=0), **onto
        )
        self._origin = sums / factored.size
        points = np.empty((phi.n_rows, count), dtype=phi.dtype)
        points[informed] = vectors * np.sqrt(self.eigenvalues_)
        return points


def _columns_of(phi: RowBlocks) -> NDArray[Any]:
    """The columns that occur in any block; all of them where rows are dense."""
    if len(phi.blocks) == 1:
        (columns,) = phi.gather("columns", used_columns)
        return np.asarray(columns)
    if not any(phi.gather("columns", is_sparse)):
        return np.arange(phi.width or 0)
    return np.flatnonzero(phi.sum("columns", column_counts))


def _signs(points: Floats) -> Floats:
    """(d,) 1 or -1, so that on every axis the first of the coordinates that are as large as any is positive."""
    sizes = np.abs(points)
    first = np.argmax(sizes >= (1 - 1e-6) * sizes.max(axis=0), axis=0)
    return np.where(points[first, np.arange(len(first))] < 0, -1.0, 1.0)


# -------------------------------------------------------------------- one block


def _coordinates(block: Any, axes: Floats, columns: NDArray[Any], origin: Floats | float) -> Floats:
    return onto_columns(take_columns(block, columns), axes) - origin


# -------------------------------------------------------------------- eigenpairs of the centred kernel H K H (H = I - 11'/n)


def choose_strategy(factored: Factored) -> str:
    """The smallest matrix, "columns" (p x p) or "matrix" (n x n); "products" where both dwarf Phi.

    >>> from nearfar.kernel.factored import factor
    >>> choose_strategy(factor(np.ones((50, 3)))), choose_strategy(factor(np.eye(3, 50)))
    ('columns', 'matrix')
    """
    # with columns of single objects the p x p matrix would need those too; n x n has no such trouble
    is_thin = not factored.own.any()
    direct = "columns" if is_thin and factored.width < factored.size else "matrix"
    needed = 8 * (factored.width if direct == "columns" else factored.size) ** 2
    limit = max(1 << 27, 3 * factored.nbytes)  # below 128 MB a direct method is never worth avoiding
    if factored.phi.backend is not LOCAL:
        limit = min(limit, 1 << 30)
    return direct if needed <= limit else "products"


def leading(factored: Factored, count: int, strategy: str, K: Floats | None = None) -> tuple[Floats, Floats]:
    """The ``count`` largest eigenvalues of H K H and unit eigenvectors (n, count); zeros where K has fewer.

    ``K`` is the matrix over the informed rows, where it is at hand already; it is of no use afterwards.
    """
    n, most = factored.size, min(count, factored.size)
    # the same steps, each cheaper than one with K
    scattered = factored.is_sparse and SPARSE_COST * factored.n_entries < n * n
    if strategy == "products" or (K is None and scattered and _is_iterated(n, most)):
        pairs = _by_products(factored, most)
    else:
        K = factored.matrix() if K is None else K
        means = K.mean(axis=0)
        K -= means
        K -= (means - means.mean())[:, None]
        pairs = _top(K, most)
    return _without_noise(*pairs, count, factored.phi.dtype)


def leading_axes(factored: Factored, count: int) -> tuple[Floats, Floats, Floats, float]:
    """(values, axes, mean, trace): the ``count`` largest eigenvalues of H K H, and their axes (q, d) over columns.

    Eigenvectors are (X - mean) @ axes / sqrt(values); all comes from Xc'Xc, summed over blocks of rows.
    """
    mean = factored.column_sums / factored.size
    scatter: Floats = factored.shared.sum("scatter", scatter_of, mean=mean)
    total = float(np.trace(scatter))
    pairs = _top(scatter, min(count, len(scatter)))
    values, axes = _without_noise(*pairs, count, factored.phi.dtype)
    return values, axes, mean, total


def trace(factored: Factored) -> float:
    """Sum of all eigenvalues of H K H: trace of K minus n times the squared length of the mean row."""
    sums, n = factored.column_sums, max(factored.size, 1)
    return float(factored.diagonal.sum() - sums @ sums / n - factored.own.sum() / n)


def _without_noise(values: Floats, vectors: Floats, count: int, dtype: Any) -> tuple[Floats, Floats]:
    """``count`` pairs, those that are nothing but rounding error set to zero."""
    noise = 1e-12 if dtype == np.float64 else 1e-6
    rank = int((values > noise * values.max(initial=0.0)).sum())
    kept, axes = np.zeros(count), np.zeros((len(vectors), count))
    kept[:rank], axes[:, :rank] = values[:rank], vectors[:, :rank]
    return kept, axes


def _by_products(factored: Factored, count: int) -> tuple[Floats, Floats]:
    def centred(v: Floats) -> Any:
        image = factored.product(v - v.mean(axis=0))
        return image - image.mean(axis=0)

    n = factored.size
    if count >= n - 1:
        return _top(centred(np.eye(n)), count)
    return _iterate(LinearOperator((n, n), matvec=centred, dtype=np.float64), count)


# ---------------------------------------------------------------- solvers


def _top(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """Largest eigenpairs of a symmetric matrix."""
    n = len(matrix)
    if _is_iterated(n, count):
        return _iterate(matrix, count)
    with one_blas_thread(n, DENSE_LIMIT):
        values, vectors = linalg.eigh(matrix, subset_by_index=[n - count, n - 1])
    return np.maximum(values[::-1], 0), vectors[:, ::-1]


def _is_iterated(n: int, count: int) -> bool:
    return n > DENSE_LIMIT and count <= n // 50


def _iterate(operator: Any, count: int) -> tuple[Floats, Floats]:
    """Lanczos from a fixed start, to machine precision, so that all strategies give the same picture.

    Where eigenvalues lie too close for that, to a thousandth; a map of such a kernel shows noise, and a warning says so.
    """
    start = np.random.default_rng(0).standard_normal(operator.shape[0])
    start -= start.mean()
    with one_blas_thread(len(start)):
        try:
            values, vectors = eigsh(operator, k=count, which="LA", v0=start, maxiter=RESTARTS)
        except ArpackNoConvergence:
            warnings.warn(
                f"kernel PCA: the {count} largest eigenvalues are too close to the next ones to be separated after "
                f"{RESTARTS} restarts; the coordinates are good to a thousandth only and may show nothing but noise",
                NotConverged,
                stacklevel=2,
            )
            rough = {"tol": 1e-3, "maxiter": operator.shape[0]}
            values, vectors = eigsh(operator, k=count, which="LA", v0=start, **rough)
    order = np.argsort(-values, kind="stable")
    return np.maximum(values[order], 0), vectors[:, order]
