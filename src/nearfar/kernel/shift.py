"""Diagonal dominance: the smallest eigenvalue s of K over the informed objects, and K without it.

K - s diag(informed) is still a kernel, and what objects have in common weighs more in it. ``shifted_kernel`` is the
one route to such a matrix.
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

from nearfar._tools.memory import check_square
from nearfar._tools.progress import step
from nearfar._tools.threads import one_blas_thread
from nearfar.errors import InputError, NotConverged
from nearfar.kernel.factored import Factored, factor
from nearfar.kernel.gram import gram
from nearfar.kernel.phi import PhiLike, as_floats, as_rows

DIRECT_LIMIT = 500  # up to here all eigenvalues are computed, without further thought
MATRIX_LIMIT = 4_000  # up to here K is built and factorised: 128 MB and a second
BASIS_BYTES = 1 << 28
MAX_STEPS = 300
TOLERANCE = 1e-6
ROUGH = 1e-3
NEGLIGIBLE = 0.01  # an iterative search ends at a shift below this share of the diagonal: it changes nothing

Product = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class ShiftedKernel(NamedTuple):
    """The kernel matrix of some rows, and what was taken off its diagonal.

    matrix : (n, n) K - shift diag(informed). shift : s, 0 where the diagonal is kept. uninformed : indices of the
    zero rows.

    Examples
    --------
    >>> kernel = shifted_kernel(np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> round(kernel.shift, 2), kernel.matrix.round(2).tolist()
    (0.4, [[0.6, 0.6], [0.6, 0.6]])
    """

    matrix: NDArray[Any]
    shift: float
    uninformed: NDArray[np.intp]


def shifted_kernel(phi: PhiLike, *, diagonal: str = "shift") -> ShiftedKernel:
    """Compute the kernel matrix of the rows of Phi, by default without its smallest eigenvalue on the diagonal.

    Parameters
    ----------
    phi : (n, p) ndarray or sparse (csr or csc); rows are objects.
    diagonal : "shift" takes s, the smallest eigenvalue of K over the informed rows, off their diagonal entries;
        "keep" leaves K = Phi Phi' as it is.

    Raises
    ------
    TooLargeError : where the matrix does not fit into memory; before it is made.

    Examples
    --------
    >>> shifted_kernel(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 0.0]])).matrix.round(6)
    array([[0.6, 0.6, 0. ],
           [0.6, 0.6, 0. ],
           [0. , 0. , 0. ]])
    """
    shifted = check_diagonal(diagonal)
    rows = as_rows(as_floats(phi))
    check_square(rows.shape[0], rows.dtype.itemsize, copies=2 if shifted else 1)
    K = gram(rows)
    informed = np.flatnonzero(K.diagonal())  # the squared lengths of the rows
    shift = smallest_eigenvalue(rows, K) if shifted else 0.0
    K[informed, informed] -= shift
    return ShiftedKernel(K, shift, np.setdiff1d(np.arange(len(K)), informed, assume_unique=True))


def check_diagonal(diagonal: object) -> bool:
    """Whether the diagonal is to be shifted; anything but "shift" and "keep" is an error."""
    if diagonal not in ("shift", "keep"):
        raise InputError(f"diagonal={diagonal!r} is not known; expected 'shift' or 'keep'")
    return diagonal == "shift"


def smallest_eigenvalue(phi: PhiLike | Factored, K: NDArray[Any] | None = None) -> float:
    """Compute the smallest eigenvalue s >= 0 of Phi Phi' over the informed (non-zero) rows.

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
    factored = phi if isinstance(phi, Factored) else factor(phi)
    return shift_and_matrix(factored, K)[0]


def shift_and_matrix(
    factored: Factored, K: NDArray[Any] | None = None
) -> tuple[float, NDArray[np.float64] | None]:
    """The smallest eigenvalue, and (N, N) K over the informed rows where it had to be built, for those who need it."""
    # more rows without a column of their own than columns: K restricted to those is singular, so s = 0
    if factored.size == 0 or np.count_nonzero(factored.own == 0) > factored.width:
        return 0.0, None
    if factored.width == 0:
        return float(factored.own.min()), None
    # dense rows reach this line only when wide: then K is not larger than Phi, and worth computing
    if factored.size > MATRIX_LIMIT and factored.is_sparse:
        with step("smallest eigenvalue"):
            return _by_products(factored.product, factored.diagonal), None
    if K is None or K.dtype != np.float64:
        K = factored.matrix()
    elif len(K) > factored.size:
        K = K[np.ix_(factored.rows, factored.rows)]
    with one_blas_thread(len(K)):
        smallest = float(linalg.eigvalsh(K)[0]) if len(K) <= DIRECT_LIMIT else _by_inverse(K)
    return max(0.0, smallest), K


def _by_inverse(K: NDArray[np.float64]) -> float:
    """The smallest eigenvalue, minus its residual norm, by the inverse of K minus a little less than it.

    A few products tell where it lies. In that inverse it stands out, and a handful of solves finds it to machine precision.
    """
    scale = float(K.diagonal().mean())
    rough, residual, _ = _lanczos(lambda v: K @ v, len(K), scale, ROUGH)
    near = max(0.0, rough - residual - ROUGH * scale)
    factor = _factor(K, near)
    if factor is None and near > 0:
        near, factor = 0.0, _factor(K, 0.0)
    if factor is None:  # a pivot is not above rounding error: singular
        return 0.0
    shape = (len(K), len(K))
    inverse = LinearOperator(shape, matvec=lambda v: lapack.dpotrs(factor, v, lower=1)[0], dtype=np.float64)
    value, vector = eigsh(inverse, k=1, which="LM", v0=_start(len(K)), tol=1e-10, maxiter=100 * len(K))
    smallest, y = near + float(1 / value[0]), vector[:, 0]
    return smallest - float(np.linalg.norm(K @ y - smallest * y))


def _factor(K: NDArray[np.float64], less: float) -> NDArray[np.float64] | None:
    """The lower Cholesky factor of K - less I; None where that is not positive definite."""
    reduced = np.array(K, order="F")
    reduced[np.diag_indices_from(reduced)] -= less
    factor, failed = lapack.dpotrf(reduced, lower=1, overwrite_a=1)
    return None if failed else factor


def _by_products(product: Product, diagonal: NDArray[np.float64]) -> float:
    """The estimate by products minus its residual norm; 0 where it is negligible."""
    scale = float(diagonal.mean())
    value, residual, products = _lanczos(product, len(diagonal), scale, TOLERANCE)
    if value <= NEGLIGIBLE * scale:
        return 0.0
    shift = max(0.0, value - residual)
    if residual > 0.01 * scale:
        warnings.warn(
            f"smallest eigenvalue: after {products} products the estimate is {value:.4g} with residual "
            f"{residual:.2g}; the shift used is {shift:.4g}",
            NotConverged,
            stacklevel=2,
        )
    return shift


def _lanczos(product: Product, n: int, scale: float, tolerance: float) -> tuple[float, float, int]:
    """(estimate of the smallest eigenvalue from above, its residual norm, products) by Lanczos' method.

    It ends where the residual is small or the estimate negligible; SciPy's ``eigsh`` cannot end by the latter, and
    takes 15 times as long there (score, 20,000 objects), and as long elsewhere.
    """
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
            pair: Any = linalg.eigh_tridiagonal(alpha[: j + 1], beta[:j], select="i", select_range=(0, 0))
            bottom, weights = float(pair[0][0]), pair[1][:, 0]
            # the estimate only falls: once negligible, it stays so
            if done or bottom <= NEGLIGIBLE * scale or beta[j] * abs(weights[-1]) <= tolerance * scale:
                break
        v = w / beta[j]
    y = weights @ basis[: len(weights)]
    y /= np.linalg.norm(y)
    Ky = product(y)
    value = float(y @ Ky)
    return value, float(np.linalg.norm(Ky - value * y)), len(weights)


def _start(n: int) -> NDArray[np.float64]:
    """A fixed start that has a component in every direction."""
    v = np.random.default_rng(0).standard_normal(n)
    return v / np.linalg.norm(v)
