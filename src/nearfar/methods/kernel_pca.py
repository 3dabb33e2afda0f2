"""KernelPCA: maps of objects as an estimator of scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nearfar.blocks import RowBlocks
from nearfar.kernel.phi import PhiLike
from nearfar.methods._rows import estimator_rows
from nearfar.methods.principal_axes import PrincipalAxes


class KernelPCA(PrincipalAxes, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Coordinates of objects by kernel PCA on K = X X', shifted or not, without K where that is cheaper.

    With u_k, lambda_k the eigenpairs of the centred K over the informed rows and s its shift (0 with
    ``diagonal="keep"``), the fitted objects lie at ``u_k sqrt(lambda_k - s)``, and a new row x at
    ``(k_x - mean of K) . u_k / sqrt(lambda_k - s)``. Both are what scikit-learn's KernelPCA gives on the
    precomputed shifted K, up to sign.

    Parameters
    ----------
    n_components : how many coordinates; those that K does not have are 0.
    diagonal : "shift" or "keep".

    Attributes
    ----------
    embedding_ : (n, n_components) coordinates of the fitted rows. Uninformed (zero) rows lie where a new zero
        row would. RowBlocks where X is.
    eigenvalues_ : (n_components,) lambda_k - s.
    explained_variance_ratio_ : (n_components,) share of each component in the sum of all lambda - s.
    shift_ : s.
    uninformed_ : indices of the zero rows.

    Notes
    -----
    ``transform`` treats every row as a new object. For s > 0 the self-similarity of a fitted object is reduced by s,
    that of a new one is not, so ``transform(X)`` differs from ``fit_transform(X)``.
    Signs: the coordinate of largest size is positive in every component, so a rerun gives the same picture.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> KernelPCA(n_components=1).fit_transform(X).round(3)
    array([[ 0.757],
           [-0.099],
           [-0.657]])
    """

    def __sklearn_tags__(self) -> Any:
        """Sparse input is welcome, float32 stays float32."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _rows(self, X: PhiLike, *, reset: bool) -> RowBlocks:
        if not reset:
            check_is_fitted(self)
        return estimator_rows(self, X, reset=reset)

    # scikit-learn's set_output looks at methods that the class itself has
    fit_transform = PrincipalAxes.fit_transform
    transform = PrincipalAxes.transform
