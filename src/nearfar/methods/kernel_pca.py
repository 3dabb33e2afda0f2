"""Kernel PCA on the rows of Phi: maps of objects, by the cheapest of n x n, p x p and products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from nearfar.errors import InputError
from nearfar.kernel.factored import Factored, Phi, as_rows, factor, used_columns
from nearfar.kernel.shift import check_diagonal, shift_and_matrix
from nearfar.methods._blocks import into_columns, onto_columns
from nearfar.methods._common import check_count, take_columns
from nearfar.methods._spectrum import Spectrum, leading, trace
from nearfar.methods.strategy import cheapest
from nearfar.progress import step

__all__ = ["KernelPCA", "fixed_signs", "shifted_values", "signs_of"]


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
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
        row would.
    eigenvalues_ : (n_components,) lambda_k - s.
    explained_variance_ratio_ : (n_components,) share of each component in the sum of all lambda - s.
    shift_ : s.
    uninformed_ : indices of the zero rows.

    Notes
    -----
    ``transform`` treats every row as a new object. For s > 0 a fitted object has lost s of its likeness to
    itself, a new one has nothing to lose, so ``transform(X)`` differs from ``fit_transform(X)``.
    Signs: the coordinate of largest size is positive in every component, so a rerun gives the same picture.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> KernelPCA(n_components=1).fit_transform(X).round(3)
    array([[ 0.757],
           [-0.099],
           [-0.657]])
    """

    def __init__(self, n_components: int = 2, *, diagonal: str = "shift") -> None:
        self.n_components = n_components
        self.diagonal = diagonal

    def __sklearn_tags__(self) -> Any:
        """Sparse input is welcome, float32 stays float32."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Phi, y: object = None) -> KernelPCA:
        """Find the axes of the rows of X, an (n, p) ndarray or sparse matrix."""
        X = self._validate(X, reset=True)
        count = check_count(self.n_components, "n_components")
        shifted = check_diagonal(self.diagonal)
        parts = factor(X)
        if parts.size == 0:
            raise InputError(
                f"X: none of its {X.shape[0]} rows is informed (all are zero); there is nothing to map",
            )
        with step("kernel PCA"):
            self.shift_, K = shift_and_matrix(parts) if shifted else (0.0, None)
            spectrum = fixed_signs(leading(parts, count, cheapest(parts), K))
        total = trace(parts) - self.shift_ * (parts.size - 1)
        self.eigenvalues_ = shifted_values(spectrum.values, self.shift_)
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0 else np.zeros(count)
        self.uninformed_ = np.setdiff1d(np.arange(X.shape[0]), parts.rows, assume_unique=True)
        self._learn_axes(X, parts, spectrum)
        embedding = np.empty((X.shape[0], count), dtype=X.dtype)
        embedding[parts.rows] = spectrum.vectors * np.sqrt(self.eigenvalues_)
        embedding[self.uninformed_] = -self._origin
        self.embedding_ = embedding
        self._n_features_out = count
        return self

    def fit_transform(self, X: Phi, y: object = None) -> NDArray[Any]:
        """``embedding_`` of the rows of X."""
        embedding: NDArray[Any] = self.fit(X).embedding_
        return embedding

    def transform(self, X: Phi) -> NDArray[Any]:
        """(n, n_components) coordinates of rows, each taken as a new object."""
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        points = onto_columns(take_columns(X, self._columns), self._axes) - self._origin
        result: NDArray[Any] = points.astype(X.dtype, copy=False)
        return result

    # ---------------------------------------------------------------- inside

    def _validate(self, X: Phi, *, reset: bool) -> Any:
        return as_rows(
            validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
        )

    def _learn_axes(self, X: Any, parts: Factored, spectrum: Spectrum) -> None:
        """Axes X' u / sqrt(lambda - s) over the columns that occur; u sums to 0, so X needs no centring."""
        self._columns = used_columns(X)
        if spectrum.axes is not None and spectrum.mean is not None and self.shift_ == 0:
            self._axes = np.zeros((len(self._columns), len(self.eigenvalues_)))
            self._axes[np.searchsorted(self._columns, parts.columns)] = spectrum.axes
            self._origin = spectrum.mean @ spectrum.axes
            return
        rows = take_columns(X, self._columns)
        weights = np.zeros((X.shape[0], len(self.eigenvalues_)))  # 0 for rows that are 0: X needs no copy
        scale = np.sqrt(np.where(self.eigenvalues_ > 0, self.eigenvalues_, np.inf))
        weights[parts.rows] = spectrum.vectors / scale
        self._axes = into_columns(rows, weights)
        self._origin = onto_columns(rows, self._axes).sum(axis=0) / parts.size


def shifted_values(values: NDArray[np.float64], shift: float) -> NDArray[np.float64]:
    """lambda - s, where it is more than rounding error, else 0."""
    result: NDArray[np.float64] = np.maximum(values - shift, 0.0)
    result[result <= 1e-12 * values] = 0.0
    return result


def fixed_signs(spectrum: Spectrum) -> Spectrum:
    """Turn every vector so that its largest entry is positive; among equals the first counts."""
    signs = np.where(signs_of(spectrum.vectors, np.abs(spectrum.vectors).max(axis=0)) < 0, -1.0, 1.0)
    axes = None if spectrum.axes is None else spectrum.axes * signs
    return spectrum._replace(vectors=spectrum.vectors * signs, axes=axes)


def signs_of(vectors: NDArray[np.float64], largest: NDArray[np.float64]) -> NDArray[np.float64]:
    """(d,) sign of the first entry of every column that is as large as ``largest``; 0 where none is."""
    if not len(vectors):  # a block of rows may have no informed one
        return np.zeros(len(largest))
    hits = np.abs(vectors) >= (1 - 1e-6) * largest
    signs: NDArray[np.float64] = np.sign(vectors[np.argmax(hits, axis=0), np.arange(len(largest))])
    return np.where(hits.any(axis=0), signs, 0.0)
