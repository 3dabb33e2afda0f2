"""What the methods share: random numbers, checks of Phi and of counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfar.blocks import RowBlocks
from nearfar.checks import check_count, generator
from nearfar.errors import InputError
from nearfar.kernel.factored import Phi, as_rows, is_sparse
from nearfar.triplets import Triplets

__all__ = ["as_given", "check_count", "check_phi", "estimator_rows", "generator", "phi_rows"]

MAKE_PHI = "make Phi of them first: FeatureMap(...).fit_transform(answers)"


# -------------------------------------------------------------------- Phi


def estimator_rows(estimator: Any, X: Phi, *, reset: bool) -> RowBlocks:
    """The rows that an estimator was given: RowBlocks as they are, anything else checked as scikit-learn does."""
    if isinstance(X, RowBlocks):
        if reset:
            estimator.n_features_in_ = X.width
        elif X.width != estimator.n_features_in_:
            raise InputError(
                f"X has {X.width} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input; use the same FeatureMap"
            )
        return X
    from sklearn.utils.validation import validate_data

    _refuse_others(X, "X")
    checked = validate_data(estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
    return RowBlocks.of(as_rows(checked))


def phi_rows(phi: Phi) -> RowBlocks:
    """The rows that a function was given."""
    return phi if isinstance(phi, RowBlocks) else RowBlocks.of(check_phi(phi))


def as_given(X: Phi, found: RowBlocks) -> Any:
    """What was found for rows: in blocks where those were, else as an array."""
    return found if isinstance(X, RowBlocks) else found.to_array()


def check_phi(phi: Phi) -> Any:
    """Phi as a finite floating ndarray or canonical csr_array; for functions (estimators use scikit-learn's)."""
    _refuse_others(phi, "phi")
    if not is_sparse(phi):
        phi = np.asarray(phi)
    if phi.ndim != 2 or (phi.dtype.kind not in "fiub"):
        raise InputError(
            f"phi: expected a matrix of numbers, one row per object, got shape {phi.shape} of {phi.dtype}; "
            "make it with FeatureMap(...).fit_transform(answers)",
        )
    rows = as_rows(phi)
    values = rows.data if is_sparse(rows) else rows
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        raise InputError("phi: some values are not finite; every entry must be a number")
    return rows


def _refuse_others(given: Any, name: str) -> None:
    """One sentence with the right call where answers, K, text or a dask array are given instead of Phi."""
    if isinstance(given, Triplets):
        raise InputError(f"{name}: these are answers, not rows of numbers; {MAKE_PHI}")
    if hasattr(given, "__dask_graph__"):
        raise InputError(
            f"{name}: this is a dask array; give nearfar.scale.from_dask({name}), its rows in blocks"
        )
    if is_sparse(given):
        return
    values = (
        np.asarray(given)
        if isinstance(given, (list, tuple, np.ndarray)) or hasattr(given, "columns")
        else given
    )
    if not isinstance(values, np.ndarray) or values.ndim != 2 or not values.size:
        return
    if values.dtype.kind in "UST" or (values.dtype == object and isinstance(values[0, 0], str)):
        raise InputError(
            f"{name}: holds text such as {str(values[0, 0])!r}, expected rows of numbers; if these are names of objects "
            "in answers, read them with nearfar.read_triplets(...) and then use FeatureMap(...).fit_transform"
        )
    if _are_indices(values):
        raise InputError(f"{name}: these look like answers, three indices in a row; {MAKE_PHI}")
    if _is_kernel(values):
        raise InputError(
            f"{name}: this looks like a kernel matrix K, expected the rows of Phi; give "
            "FeatureMap(...).fit_transform(answers), or give K to a method with kernel='precomputed'"
        )


def _are_indices(values: Any) -> bool:
    """Three different indices in every one of several rows; the rows of Phi have unit length."""
    if values.dtype.kind not in "iu" or values.shape[1] != 3 or len(values) < 2:
        return False
    a, b, c = values.T
    return bool((values >= 0).all() and ((a != b) & (b != c) & (a != c)).all())


def _is_kernel(values: Any) -> bool:
    """Symmetric, one value on the diagonal (0 for zero rows) that no other exceeds, and rows longer than a unit."""
    n, p = values.shape
    if n != p or n < 3 or values.dtype.kind != "f":
        return False
    diagonal = values.diagonal()
    informed = diagonal != 0
    if not informed.any() or not np.allclose(diagonal[informed], diagonal[informed][0], rtol=1e-6):
        return False
    if not 0 < diagonal[informed][0] <= 1 + 1e-6 or np.abs(values).max() > 1 + 1e-6:
        return False
    if not np.allclose(values, values.T, rtol=0, atol=1e-6):
        return False
    lengths = np.linalg.norm(values, axis=1)
    return not np.allclose(lengths[informed], 1, atol=1e-3)
