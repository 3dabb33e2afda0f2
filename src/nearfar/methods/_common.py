"""What the methods share: random numbers, checks of Phi and of counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfar._tools.checks import check_count, generator
from nearfar.blocks import RowBlocks
from nearfar.errors import InputError
from nearfar.kernel.phi import PhiLike, as_rows, check_phi, refuse_others

__all__ = ["as_given", "check_count", "estimator_rows", "generator", "phi_rows"]


# -------------------------------------------------------------------- Phi


def estimator_rows(estimator: Any, X: PhiLike, *, reset: bool) -> RowBlocks:
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

    refuse_others(X, "X")
    checked = validate_data(estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
    return RowBlocks.of(as_rows(checked))


def phi_rows(phi: PhiLike) -> RowBlocks:
    """The rows that a function was given."""
    return phi if isinstance(phi, RowBlocks) else RowBlocks.of(check_phi(phi))


def as_given(X: PhiLike, result: RowBlocks) -> Any:
    """A result with an entry per row: in blocks where the rows were, else as an array."""
    return result if isinstance(X, RowBlocks) else result.to_array()
