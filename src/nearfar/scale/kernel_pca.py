"""Kernel PCA over many machines: the axes are found here, the objects are placed where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from nearfar.errors import InputError
from nearfar.kernel.factored import informed_rows
from nearfar.kernel.shift import check_diagonal, shift_and_matrix
from nearfar.methods._blocks import add_scatter, into_columns, onto_columns
from nearfar.methods._common import check_count
from nearfar.methods._spectrum import leading, leading_axes, trace_of
from nearfar.methods.kernel_pca import fixed_signs, shifted_values, signs_of
from nearfar.methods.strategy import Path
from nearfar.scale._cut import Cut, cut_rows, dask_rows
from nearfar.scale._engine import Engine, Future, current_engine
from nearfar.scale._parts import CutParts, add_all, parts_of

__all__ = ["KernelPCA"]

Floats = NDArray[np.float64]


class KernelPCA(BaseEstimator):  # type: ignore[misc]
    """``nearfar.KernelPCA`` on a dask array in blocks of rows: the same coordinates.

    Where there are more objects than columns, only p x p numbers come to this process, and the coordinates stay
    with the workers. Otherwise eigenvectors, one number per object, are found here by products made there.

    Parameters
    ----------
    n_components, diagonal : as for ``nearfar.KernelPCA``.

    Attributes
    ----------
    embedding_ : (n, n_components) coordinates of the fitted rows, a dask array.
    eigenvalues_, explained_variance_ratio_, shift_, uninformed_ : as for ``nearfar.KernelPCA``.
    """

    def __init__(self, n_components: int = 2, *, diagonal: str = "shift") -> None:
        self.n_components = n_components
        self.diagonal = diagonal

    def fit(self, X: Any, y: object = None) -> KernelPCA:
        """Find the axes of the rows of X, a dask array."""
        count, shifted = check_count(self.n_components, "n_components"), check_diagonal(self.diagonal)
        cut = cut_rows(current_engine(), X)
        parts: Any = CutParts(cut)
        if parts.size == 0:
            raise InputError(
                f"X: none of its {cut.n_rows} rows is informed (all are zero); there is nothing to map",
            )
        self.uninformed_ = parts.uninformed
        self.shift_ = shift_and_matrix(parts).shift if shifted else 0.0
        if parts.path is Path.COLUMNS:
            self._by_columns(parts, cut, count)
        else:
            self._by_objects(parts, cut, count)
        self.n_features_in_ = cut.width
        return self

    def fit_transform(self, X: Any, y: object = None) -> Any:
        """``embedding_`` of the rows of X."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> Any:
        """(n, n_components) coordinates of rows, each taken as a new object: a dask array."""
        check_is_fitted(self, "embedding_")
        cut = cut_rows(current_engine(), X)
        if cut.width != self.n_features_in_:
            raise InputError(
                f"X: {cut.width} columns, but the map was fitted on {self.n_features_in_}; use the same FeatureMap",
            )
        return _points(cut, self._place(cut), len(self._origin))

    # ---------------------------------------------------------------- inside

    def _keep_values(self, values: Floats, total: float) -> None:
        self.eigenvalues_ = shifted_values(values, self.shift_)
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0 else np.zeros(len(values))

    def _place(self, cut: Cut) -> list[Future]:
        axes = cut.engine.submit("axes", _same, self._axes)
        return cut.engine.map(
            "points", _placed, cut.blocks, [axes] * len(cut.blocks), [self._origin] * len(cut.blocks)
        )

    def _by_columns(self, parts: CutParts, cut: Cut, count: int) -> None:
        """More objects than columns, so the shift is 0 and a fitted object lies where a new one would."""
        engine = parts.engine
        mean = parts.column_sums / parts.size
        partial = engine.map("scatter", _scatter, parts.blocks, [mean] * len(parts.blocks))
        scatter: Floats = engine.result("scatter", engine.reduce("scatter", add_all, partial))
        values, axes, *_ = leading_axes(scatter, count, cut.dtype)
        self._keep_values(values, float(np.trace(scatter)))
        axes = axes * _turned(engine, parts.blocks, axes, mean @ axes)
        counts = engine.result("columns", parts.counts)
        self._axes = np.zeros((cut.width, count))
        self._axes[counts > 0] = axes
        self._origin = mean @ axes
        self.embedding_ = _points(cut, self._place(cut), len(self._origin))

    def _by_objects(self, parts: Any, cut: Cut, count: int) -> None:
        engine = cut.engine
        spectrum = fixed_signs(leading(parts, count, parts.path))
        self._keep_values(
            spectrum.values,
            trace_of(parts.column_sums, parts.diagonal, parts.own) - self.shift_ * (parts.size - 1),
        )
        scale = np.sqrt(np.where(self.eigenvalues_ > 0, self.eigenvalues_, np.inf))
        weights = parts.pieces(spectrum.vectors / scale)
        partial = engine.map("axes", _block_axes, cut.blocks, weights)
        self._axes = engine.result("axes", engine.reduce("axes", add_all, partial))
        axes = engine.submit("axes", _same, self._axes)
        sums = engine.gather("axes", engine.map("origin", _sums_on, cut.blocks, [axes] * len(cut.blocks)))
        self._origin = np.sum(sums, axis=0) / parts.size
        places = parts.pieces(spectrum.vectors * np.sqrt(self.eigenvalues_))
        placed = engine.map("points", _fitted, cut.blocks, places, [self._origin] * len(places))
        self.embedding_ = _points(cut, placed, count)


def _points(cut: Cut, blocks: list[Future], count: int) -> Any:
    cut.engine.wait("placing objects", blocks)
    return dask_rows(blocks, cut.sizes, count, np.empty((0, 0), cut.dtype))


def _turned(engine: Engine, blocks: list[Future], axes: Floats, origin: Floats) -> Floats:
    """(d,) 1 or -1, so that the largest coordinate on every axis is positive."""
    placed = engine.map("signs", _coordinates, blocks, [axes] * len(blocks), [origin] * len(blocks))
    largest = np.max(engine.gather("signs", engine.map("signs", _largest, placed)), axis=0)
    signs = engine.gather("signs", engine.map("signs", signs_of, placed, [largest] * len(blocks)))
    for block in signs[1:]:  # the first block that has such an entry counts
        signs[0] = np.where(signs[0] == 0, block, signs[0])
    return np.where(signs[0] < 0, -1.0, 1.0)


# -------------------------------------------------------------------- tasks


def _same(value: Any) -> Any:
    return value


def _scatter(block: Any, mean: Floats) -> Floats:
    shared = parts_of(block).shared
    scatter = np.zeros((shared.shape[1], shared.shape[1]))
    add_scatter(shared, mean, scatter)
    return scatter


def _coordinates(block: Any, axes: Floats, origin: Floats) -> Floats:
    return onto_columns(parts_of(block).shared, axes) - origin


def _largest(vectors: Floats) -> Floats:
    result: Floats = np.abs(vectors).max(axis=0, initial=0.0)
    return result


def _placed(block: Any, axes: Floats, origin: Floats) -> NDArray[Any]:
    return (onto_columns(block, axes) - origin).astype(block.dtype, copy=False)


def _block_axes(block: Any, weights: Floats) -> Floats:
    return into_columns(block[informed_rows(block)], weights)


def _sums_on(block: Any, axes: Floats) -> Floats:
    result: Floats = onto_columns(block[informed_rows(block)], axes).sum(axis=0)
    return result


def _fitted(block: Any, places: Floats, origin: Floats) -> NDArray[Any]:
    placed = np.empty((block.shape[0], len(origin)), dtype=block.dtype)
    placed[:] = -origin
    placed[informed_rows(block)] = places
    return placed
