"""Diagonal dominance: the smallest eigenvalue s of K over the informed objects, and K without it.

K - s diag(informed) is still a kernel, and what objects have in common weighs more in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, eigsh

from nearfar._threads import one_blas_thread
from nearfar.errors import InputError, NotConverged
from nearfar.kernel.gram import gram
from nearfar.kernel.parts import Parts, Phi, as_rows, informed_rows, is_sparse, split
from nearfar.progress import step

__all__ = [
    "ShiftAndMatrix",
    "ShiftedKernel",
    "check_diagonal",
    "kernel_of_rows",
    "reduce_diagonal",
    "shift_and_matrix",
    "smallest_eigenvalue",
]

DIRECT_LIMIT = 500  # up to here all eigenvalues are computed, without further thought
MATRIX_LIMIT = 4_000  # up to here K is built and factorised: 128 MB and a second
BASIS_BYTES = 1 << 28
MAX_STEPS = 300
TOLERANCE = 1e-6
ROUGH = 1e-3
NEGLIGIBLE = (
    0.01  # an iterative search gives up on a shift below this share of the diagonal: it changes nothing
)

Product = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def check_diagonal(diagonal: object) -> bool:
    """Whether the diagonal is to be shifted; anything but "shift" and "keep" is an error."""
    if diagonal not in ("shift", "keep"):
        raise InputError(
            f"diagonal={diagonal!r} is not known; expected 'shift' or 'keep'",
        )
    return diagonal == "shift"


def smallest_eigenvalue(phi: Phi, K: NDArray[Any] | None = None) -> float:
    """Smallest eigenvalue s >= 0 of Phi Phi' over the informed (non-zero) rows.

    By rank where that settles it (s = 0), by factorising K for up to a few thousand objects, else by
    products with Phi: then the estimate minus its residual norm is returned, so that the shifted kernel
    stays positive semi-definite, and 0 where s is less than a hundredth of the diagonal.

    Parameters
    ----------
    phi : (n, p) ndarray or sparse; rows are objects.
    K : (n, n) Phi Phi', where it is at hand already; saves building it.

    Examples
    --------
    >>> round(smallest_eigenvalue(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 0.0]])), 6)
    0.4
    >>> smallest_eigenvalue(np.array([[1.0], [1.0]]))
    0.0
    """
    return smallest_of_parts(split(phi), K)


def smallest_of_parts(parts: Parts, K: NDArray[Any] | None = None) -> float:
    """As ``smallest_eigenvalue``, for rows that were split before."""
    return shift_and_matrix(parts, K).shift


class ShiftAndMatrix(NamedTuple):
    """shift : the smallest eigenvalue. matrix : (N, N) K over the informed rows, where finding it took that."""

    shift: float
    matrix: NDArray[np.float64] | None


def shift_and_matrix(parts: Parts, K: NDArray[Any] | None = None) -> ShiftAndMatrix:
    """The smallest eigenvalue, with K where it had to be built, for those who need it next."""
    if parts.size == 0 or _rank_settles(parts):
        return ShiftAndMatrix(0.0, None)
    if parts.shared.shape[1] == 0:
        return ShiftAndMatrix(float(parts.own.min()), None)
    # dense rows reach this line only when wide: then K is no larger than Phi, and worth its making
    if parts.size <= MATRIX_LIMIT or not is_sparse(parts.shared):
        if K is None or K.dtype != np.float64:
            K = parts.matrix()
        elif len(K) > parts.size:
            K = K[np.ix_(parts.rows, parts.rows)]
        return ShiftAndMatrix(smallest_of_matrix(K), K)
    with step("smallest eigenvalue"):
        return ShiftAndMatrix(_by_products(parts.product, parts.diagonal), None)


def _rank_settles(parts: Parts) -> bool:
    """More rows without a column of their own than columns: K restricted to those is singular, so s = 0."""
    without = int((parts.own == 0).sum())
    return bool(without > parts.shared.shape[1])


def smallest_of_matrix(K: NDArray[np.float64]) -> float:
    """Smallest eigenvalue of a symmetric positive semi-definite matrix, never below 0.

    A few products tell where it lies; the inverse of K minus a little less than that then has one eigenvalue that
    stands out, and a handful of solves finds it to machine precision.
    """
    with one_blas_thread(len(K)):
        if len(K) <= DIRECT_LIMIT:
            return max(0.0, float(linalg.eigvalsh(K)[0])) if len(K) else 0.0
        return _by_inverse(K)


def _by_inverse(K: NDArray[np.float64]) -> float:
    scale = float(K.diagonal().mean())
    rough = _lanczos(lambda v: K @ v, len(K), scale, ROUGH)
    near = max(0.0, rough.value - rough.residual - ROUGH * scale)
    factor = _factor(K, near)
    if factor is None and near > 0:
        near, factor = 0.0, _factor(K, 0.0)
    if factor is None:  # a pivot is not above rounding error: singular
        return 0.0
    shape = (len(K), len(K))
    inverse = LinearOperator(shape, matvec=lambda v: lapack.dpotrs(factor, v, lower=1)[0], dtype=np.float64)
    value, vector = eigsh(inverse, k=1, which="LM", v0=_start(len(K)), tol=1e-10, maxiter=100 * len(K))
    found, y = near + float(1 / value[0]), vector[:, 0]
    return max(0.0, found - float(np.linalg.norm(K @ y - found * y)))


def _factor(K: NDArray[np.float64], less: float) -> NDArray[np.float64] | None:
    """The lower Cholesky factor of K - less I; None where that is not positive definite."""
    reduced = np.array(K, order="F")
    reduced[np.diag_indices_from(reduced)] -= less
    factor, failed = lapack.dpotrf(reduced, lower=1, overwrite_a=1)
    return None if failed else factor


class _Estimate(NamedTuple):
    """An estimate of the smallest eigenvalue from above, its residual norm, and the products it took."""

    value: float
    residual: float
    products: int


def _by_products(product: Product, diagonal: NDArray[np.float64]) -> float:
    """The estimate by products minus its residual norm; 0 where it is negligible."""
    scale = float(diagonal.mean())
    found = _lanczos(product, len(diagonal), scale, TOLERANCE)
    if found.value <= NEGLIGIBLE * scale:
        return 0.0
    shift = max(0.0, found.value - found.residual)
    if found.residual > 0.01 * scale:
        warnings.warn(
            f"smallest eigenvalue: after {found.products} products the estimate is {found.value:.4g} with residual "
            f"{found.residual:.2g}; the shift used is {shift:.4g}",
            NotConverged,
            stacklevel=2,
        )
    return shift


def _lanczos(product: Product, n: int, scale: float, tolerance: float) -> _Estimate:
    """Lanczos' method with full orthogonalisation, until the residual is small or the estimate negligible."""
    most = min(n, MAX_STEPS, max(20, BASIS_BYTES // (8 * n)))
    basis = np.empty((most, n))
    alpha, beta = np.zeros(most), np.zeros(most)
    v = _start(n)
    for j in range(most):
        basis[j] = v
        w = product(v)
        alpha[j] = v @ w
        for _ in range(2):  # twice is enough, once is not
            w = w - (basis[: j + 1] @ w) @ basis[: j + 1]
        beta[j] = np.linalg.norm(w)
        done = beta[j] <= 1e-12 * scale
        if done or j == most - 1 or j % 10 == 9:
            bottom, weights = _bottom(alpha[: j + 1], beta[:j])
            # the estimate only falls: once negligible, it stays so
            if done or bottom <= NEGLIGIBLE * scale or beta[j] * abs(weights[-1]) <= tolerance * scale:
                break
        v = w / beta[j]
    y = weights @ basis[: len(weights)]
    y /= np.linalg.norm(y)
    Ky = product(y)
    value = float(y @ Ky)
    return _Estimate(value, float(np.linalg.norm(Ky - value * y)), len(weights))


def _bottom(alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Smallest eigenvalue of a tridiagonal matrix, and its eigenvector."""
    found: Any = linalg.eigh_tridiagonal(alpha, beta, select="i", select_range=(0, 0))
    return float(found[0][0]), found[1][:, 0]


def _start(n: int) -> NDArray[np.float64]:
    """A fixed start that has a part in every direction."""
    v = np.random.default_rng(0).standard_normal(n)
    return v / np.linalg.norm(v)


class ShiftedKernel(NamedTuple):
    """matrix (n, n): K - shift diag(informed); uninformed: indices of the zero rows."""

    matrix: NDArray[Any]
    shift: float
    uninformed: NDArray[np.intp]


def kernel_of_rows(phi: Phi, *, diagonal: str = "shift") -> ShiftedKernel:
    """The kernel matrix of the rows of Phi, with what was taken off its diagonal.

    >>> kernel_of_rows(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 0.0]])).matrix.round(6)
    array([[0.6, 0.6, 0. ],
           [0.6, 0.6, 0. ],
           [0. , 0. , 0. ]])
    """
    shifted = check_diagonal(diagonal)
    rows = as_rows(phi)
    K = gram(rows)
    shift = smallest_eigenvalue(rows, K) if shifted else 0.0
    informed = informed_rows(rows)
    K[informed, informed] -= shift
    return ShiftedKernel(K, shift, np.setdiff1d(np.arange(len(K)), informed))


def reduce_diagonal(K: Any) -> NDArray[Any]:
    """K - s diag(informed), s the smallest eigenvalue of K over its informed (non-zero) rows.

    Examples
    --------
    >>> reduce_diagonal(np.array([[1.0, 0.25, 0.0], [0.25, 1.0, 0.0], [0.0, 0.0, 0.0]])).round(6)
    array([[0.25, 0.25, 0.  ],
           [0.25, 0.25, 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    if is_sparse(K):
        K = K.toarray()
    reduced = np.array(K, dtype=np.result_type(K, np.float32))
    if reduced.ndim != 2 or reduced.shape[0] != reduced.shape[1]:
        raise InputError(
            f"K: expected a square kernel matrix, got shape {reduced.shape}; for Phi use kernel_matrix",
        )
    informed = np.flatnonzero(reduced.any(axis=1))
    inner = reduced[np.ix_(informed, informed)].astype(np.float64)
    reduced[informed, informed] -= smallest_of_matrix(inner)
    return reduced
