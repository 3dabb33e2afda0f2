"""The leading eigenpairs of the centred kernel H K H (H = I - 11'/n), by one of three strategies.

All give the same: eigenvalues, largest first, and unit eigenvectors over the objects, or the axes they lie on.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from nearfar._tools.arrays import Floats
from nearfar._tools.threads import one_blas_thread
from nearfar.blocks import LOCAL
from nearfar.errors import InputError, NotConverged
from nearfar.kernel.factored import Factored
from nearfar.methods._columns import scatter_of

__all__ = ["check_solver", "choose_strategy", "leading", "leading_axes", "trace"]

SOLVERS = ("auto", "dense", "arpack")
STRATEGIES = ("auto", "matrix", "columns", "products")
RESTARTS = 300
SCATTERED = 8  # what a stored entry costs in a product with a sparse Phi beside one of a dense matrix
ALL_AT_ONCE = 1_000  # up to this size, or for many components, a dense solver is the quickest


def check_solver(eigen_solver: object) -> str:
    """``eigen_solver``, or an error where it is none."""
    if eigen_solver not in SOLVERS:
        raise InputError(f"eigen_solver={eigen_solver!r} is not known; expected {', '.join(SOLVERS)}")
    return str(eigen_solver)


def choose_strategy(factored: Factored, strategy: str) -> str:
    """The strategy that was asked for; for "auto" the smallest matrix, "products" where n x n and p x p dwarf Phi.

    >>> from nearfar.kernel.factored import factor
    >>> choose_strategy(factor(np.ones((50, 3))), "auto"), choose_strategy(factor(np.eye(3, 50)), "auto")
    ('columns', 'matrix')
    """
    if strategy not in STRATEGIES:
        raise InputError(f"strategy={strategy!r} is not known; expected {', '.join(STRATEGIES)}")
    # with columns of single objects the p x p matrix would need those too; n x n has no such trouble
    is_thin = not factored.own.any()
    if strategy == "columns" and not is_thin:
        raise InputError(
            "strategy='columns' needs rows without columns of a single object; use strategy='products'"
        )
    if strategy != "auto":
        return strategy
    direct = "columns" if is_thin and factored.width < factored.size else "matrix"
    needed = 8 * (factored.width if direct == "columns" else factored.size) ** 2
    limit = max(1 << 27, 3 * factored.nbytes)  # below 128 MB a direct method is never worth avoiding
    if factored.phi.backend is not LOCAL:
        limit = min(limit, 1 << 30)
    return direct if needed <= limit else "products"


def leading(
    factored: Factored, count: int, strategy: str, K: Floats | None = None, *, solver: str = "auto"
) -> tuple[Floats, Floats]:
    """The ``count`` largest eigenvalues of H K H and unit eigenvectors (n, count); zeros where K has fewer.

    ``K`` is the matrix over the informed rows, where it is at hand already; it is of no use afterwards.
    """
    n, most = factored.size, min(count, factored.size)
    # the same steps, each cheaper than one with K
    scattered = factored.is_sparse and SCATTERED * factored.n_entries < n * n
    if strategy == "products" or (K is None and scattered and _is_iterated(n, most, solver)):
        pairs = _by_products(factored, most, solver)
    else:
        K = factored.matrix() if K is None else K
        means = K.mean(axis=0)
        K -= means
        K -= (means - means.mean())[:, None]
        pairs = _top(K, most, solver)
    return _without_noise(*pairs, count, factored.phi.dtype)


def leading_axes(
    factored: Factored, count: int, *, solver: str = "auto"
) -> tuple[Floats, Floats, Floats, float]:
    """(values, axes, mean, trace): the ``count`` largest eigenvalues of H K H, and their axes (q, d) over columns.

    Eigenvectors are (X - mean) @ axes / sqrt(values); all comes from Xc'Xc, summed over blocks of rows.
    """
    mean = factored.column_sums / factored.size
    scatter: Floats = factored.shared.sum("scatter", scatter_of, mean=mean)
    total = float(np.trace(scatter))
    pairs = _top(scatter, min(count, len(scatter)), solver)
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


def _by_products(factored: Factored, count: int, solver: str) -> tuple[Floats, Floats]:
    def centred(v: Floats) -> Floats:
        image = factored.product(v - v.mean(axis=0))
        result: Floats = image - image.mean(axis=0)
        return result

    n = factored.size
    if count >= n - 1 or solver == "dense":
        return _top(centred(np.eye(n)), count, "dense")
    return _iterate(LinearOperator((n, n), matvec=centred, dtype=np.float64), count)


# ---------------------------------------------------------------- solvers


def _top(matrix: Floats, count: int, solver: str) -> tuple[Floats, Floats]:
    """Largest eigenpairs of a symmetric matrix."""
    n = len(matrix)
    if _is_iterated(n, count, solver):
        return _iterate(matrix, count)
    with one_blas_thread(n, ALL_AT_ONCE):
        values, vectors = linalg.eigh(matrix, subset_by_index=[n - count, n - 1])
    return np.maximum(values[::-1], 0), vectors[:, ::-1]


def _is_iterated(n: int, count: int, solver: str) -> bool:
    if solver == "auto":
        return n > ALL_AT_ONCE and count <= n // 50
    return solver == "arpack" and count < n - 1


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
