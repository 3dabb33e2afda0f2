"""The leading eigenpairs of the centred kernel H K H (H = I - 11'/n), by the cheapest of three ways.

All give the same: eigenvalues, largest first, and unit eigenvectors over the objects.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from nearfar.errors import NotConverged
from nearfar.kernel.factored import Factored, is_sparse
from nearfar.methods._blocks import add_scatter, column_sums, onto_columns, row_blocks
from nearfar.methods.strategy import Path
from nearfar.threads import one_blas_thread

__all__ = ["Spectrum", "leading", "leading_axes", "trace", "trace_of"]

Floats = NDArray[np.float64]
RESTARTS = 300
SCATTERED = 8  # what a stored entry costs in a product with a sparse Phi beside one of a dense matrix
ALL_AT_ONCE = 1_000  # up to this size, or for many components, a dense solver is the quickest


class Spectrum(NamedTuple):
    """values (d,) largest first; vectors (n, d) with unit columns, zero where the value is.

    Where they were found by columns, also axes (q, d), with vectors = (X - mean) @ axes / sqrt(values), and mean (q,).
    """

    values: Floats
    vectors: Floats
    axes: Floats | None = None
    mean: Floats | None = None


def leading(parts: Factored, count: int, path: Path, K: Floats | None = None) -> Spectrum:
    """The ``count`` largest eigenpairs of H K H; zeros where K has fewer.

    ``K`` is the matrix over the informed rows, where it is at hand already; it is of no use afterwards.
    """
    most = min(count, parts.size)
    if path is Path.MATRIX:
        found = _by_matrix(parts, most, K)
    else:
        found = _by_columns(parts, most) if path is Path.COLUMNS else _by_products(parts, most)
    return _without_noise(found, count, parts.shared.dtype)


def leading_axes(scatter: Floats, count: int, dtype: Any) -> Spectrum:
    """The ``count`` largest eigenvalues of H K H and their axes over columns, from Xc'Xc of rows in ``dtype``."""
    return _without_noise(_top(scatter, min(count, len(scatter))), count, dtype)


def _without_noise(found: Spectrum, count: int, dtype: Any) -> Spectrum:
    """``count`` pairs, those that are nothing but rounding error set to zero."""
    noise = 1e-12 if dtype == np.float64 else 1e-6
    rank = int((found.values > noise * found.values.max(initial=0.0)).sum())
    values = _first(found.values[None], rank, count)[0]
    axes = None if found.axes is None else _first(found.axes, rank, count)
    return Spectrum(values, _first(found.vectors, rank, count), axes, found.mean)


def _first(vectors: Floats, rank: int, count: int) -> Floats:
    """``count`` columns: the first ``rank``, then zeros."""
    kept = np.zeros((len(vectors), count))
    kept[:, :rank] = vectors[:, :rank]
    return kept


def trace(parts: Factored) -> float:
    """Sum of all eigenvalues of H K H: trace of K minus n times the squared length of the mean row."""
    return trace_of(column_sums(parts.shared), parts.diagonal, parts.own)


def trace_of(sums: Floats, diagonal: Floats, own: Floats) -> float:
    """As ``trace``, from the column sums of the shared part."""
    n = max(len(diagonal), 1)
    return float(diagonal.sum() - sums @ sums / n - own.sum() / n)


# ---------------------------------------------------------------- n x n


def _by_matrix(parts: Factored, count: int, K: Floats | None) -> Spectrum:
    n, X = parts.size, parts.shared
    if _is_iterated(n, count) and is_sparse(X) and SCATTERED * X.nnz < n * n:
        return _by_products(parts, count)  # the same steps, each cheaper than one with K
    K = parts.matrix() if K is None else K
    means = K.mean(axis=0)
    K -= means
    K -= (means - means.mean())[:, None]
    return _top(K, count)


# ---------------------------------------------------------------- p x p


def _by_columns(parts: Factored, count: int) -> Spectrum:
    """Xc'Xc summed over blocks of rows; its eigenvectors v give those of K as Xc v / sqrt(value)."""
    X = parts.shared
    n, q = X.shape
    mean = column_sums(X) / n
    scatter = np.zeros((q, q))
    for _, block in row_blocks(X):
        add_scatter(block, mean, scatter)
    values, axes, *_ = _top(scatter, min(count, q))
    scale = np.sqrt(np.where(values > 0, values, np.inf))
    return Spectrum(values, (onto_columns(X, axes) - mean @ axes) / scale, axes, mean)


# ---------------------------------------------------------------- products


def _by_products(parts: Factored, count: int) -> Spectrum:
    def centred(v: Floats) -> Floats:
        image = parts.product(v - v.mean(axis=0))
        result: Floats = image - image.mean(axis=0)
        return result

    n = parts.size
    if count >= n - 1:
        return _top(centred(np.eye(n)), count)
    return _iterate(LinearOperator((n, n), matvec=centred, dtype=np.float64), count)


# ---------------------------------------------------------------- solvers


def _top(matrix: Floats, count: int) -> Spectrum:
    """Largest eigenpairs of a symmetric matrix."""
    n = len(matrix)
    if _is_iterated(n, count):
        return _iterate(matrix, count)
    with one_blas_thread(n, ALL_AT_ONCE):
        values, vectors = linalg.eigh(matrix, subset_by_index=[n - count, n - 1])
    return Spectrum(np.maximum(values[::-1], 0), vectors[:, ::-1])


def _is_iterated(n: int, count: int) -> bool:
    return n > ALL_AT_ONCE and count <= n // 50


def _iterate(operator: Any, count: int) -> Spectrum:
    """Lanczos from a fixed start, to machine precision, so that all ways give the same picture.

    Where eigenvalues lie too close for that, to a thousandth; a map of such a kernel shows noise, and is said to.
    """
    start = np.random.default_rng(0).standard_normal(operator.shape[0])
    start -= start.mean()
    with one_blas_thread(len(start)):
        try:
            found = eigsh(operator, k=count, which="LA", v0=start, maxiter=RESTARTS)
        except ArpackNoConvergence:
            warnings.warn(
                f"kernel PCA: the {count} largest eigenvalues are too close to the next ones to be told apart after "
                f"{RESTARTS} restarts; the coordinates are good to a thousandth only and may show nothing but noise",
                NotConverged,
                stacklevel=2,
            )
            found = eigsh(operator, k=count, which="LA", v0=start, tol=1e-3, maxiter=operator.shape[0])
    values, vectors = found
    order = np.argsort(-values, kind="stable")
    return Spectrum(np.maximum(values[order], 0), vectors[:, order])
