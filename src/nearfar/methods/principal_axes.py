"""Kernel PCA on the rows of Phi: maps of objects, by the cheapest of n x n, p x p and products.

``KernelPCA`` is this with scikit-learn's manners; who only computes, takes what is here, and need not wait for
scikit-learn to be imported.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar._tools.memory import check_points
from nearfar._tools.progress import step
from nearfar.blocks import RowBlocks
from nearfar.errors import InputError
from nearfar.kernel.factored import Factored
from nearfar.kernel.phi import PhiLike, column_counts, used_columns
from nearfar.kernel.shift import check_diagonal, shift_and_matrix
from nearfar.methods._columns import into_columns, onto_columns, take_columns
from nearfar.methods._common import as_given, check_count, phi_rows
from nearfar.methods._spectrum import check_solver, choose_strategy, leading, leading_axes, trace

__all__ = ["PrincipalAxes"]


class PrincipalAxes:
    """Kernel PCA of the rows of Phi; ``KernelPCA`` describes it.

    >>> PrincipalAxes(1).fit_transform(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])).round(3).ravel().tolist()
    [0.757, -0.099, -0.657]
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        diagonal: str = "shift",
        strategy: str = "auto",
        eigen_solver: str = "auto",
    ) -> None:
        self.n_components = n_components
        self.diagonal = diagonal
        self.strategy = strategy
        self.eigen_solver = eigen_solver

    def fit(self, X: PhiLike, y: object = None) -> Self:
        """Find the axes of the rows of X, an (n, p) ndarray, sparse matrix or RowBlocks."""
        count, solver = check_count(self.n_components, "n_components"), check_solver(self.eigen_solver)
        shifted = check_diagonal(self.diagonal)
        phi = self._rows(X, reset=True)
        check_points(phi.n_rows, count)
        factored = Factored(phi)
        if factored.size == 0:
            raise InputError(
                f"X: none of its {phi.n_rows} rows is informed (all are zero); there is nothing to map",
            )
        with step("kernel PCA"):
            self.shift_, K = shift_and_matrix(factored) if shifted else (0.0, None)
            self.uninformed_ = factored.uninformed
            self._columns = _columns_of(phi)
            strategy = choose_strategy(factored, self.strategy)
            if strategy == "columns":
                blocks = self._by_columns(factored, count, solver)
            else:
                blocks = self._by_objects(factored, count, solver, strategy, K)
        self.embedding_ = as_given(X, phi.like(blocks, count, phi.dtype))
        self._n_features_out = count
        return self

    def fit_transform(self, X: PhiLike, y: object = None) -> Any:
        """``embedding_`` of the rows of X."""
        return self.fit(X).embedding_

    def transform(self, X: PhiLike) -> Any:
        """(n, n_components) coordinates of rows, each taken as a new object."""
        phi = self._rows(X, reset=False)
        points = phi.map("points", _coordinates, axes=self._axes, columns=self._columns, origin=self._origin)
        phi.backend.wait("placing objects", points)
        return as_given(X, phi.like(points, len(self._origin), phi.dtype))

    # ---------------------------------------------------------------- inside

    def _rows(self, X: PhiLike, *, reset: bool) -> RowBlocks:
        """The rows given, checked; ``reset`` where they are the ones to learn from."""
        return phi_rows(X)

    def _keep_values(self, values: Floats, total: float, n: int) -> None:
        total -= self.shift_ * (n - 1)
        self.eigenvalues_ = _shifted_values(values, self.shift_)
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0 else np.zeros(len(values))

    def _by_columns(self, factored: Factored, count: int, solver: str) -> list[Any]:
        """Blocks of coordinates, from axes over the columns: (X - mean) @ axes is u sqrt(lambda)."""
        phi = factored.phi
        values, found, mean, total = leading_axes(factored, count, solver=solver)
        self._keep_values(values, total, factored.size)
        axes = np.zeros((len(self._columns), count))
        axes[np.searchsorted(self._columns, factored.columns)] = found
        points = phi.map("points", _centred, axes=axes, columns=self._columns, origin=mean @ found)
        signs = _signs(factored, points)
        # for s > 0 fitted objects lie nearer to the centre, and new ones farther out
        shrink = np.sqrt(np.divide(self.eigenvalues_, values, out=np.zeros(count), where=values > 0))
        stretch = np.divide(1.0, shrink, out=np.zeros(count), where=shrink > 0)
        self._axes, self._origin = axes * (signs * stretch), (mean @ found) * signs * stretch
        missing, backend = _missing(factored), phi.backend
        factors = {"factor": signs * shrink, "unreachable": -self._origin, "dtype": phi.dtype}
        blocks = backend.map("points", _fitted, points, missing, **factors)
        backend.wait("placing objects", blocks)
        return blocks

    def _by_objects(
        self, factored: Factored, count: int, solver: str, strategy: str, K: Floats | None
    ) -> list[Any]:
        """Blocks of coordinates, from eigenvectors over the objects."""
        phi, informed = factored.phi, factored.rows
        values, vectors = leading(factored, count, strategy, K, solver=solver)
        vectors *= np.where(_extremes(vectors, np.zeros(0, np.intp)) < 0, -1.0, 1.0)
        self._keep_values(values, trace(factored), factored.size)
        scale = np.sqrt(np.where(self.eigenvalues_ > 0, self.eigenvalues_, np.inf))
        # X' u / sqrt(lambda - s) over the columns that occur; u sums to 0, so X needs no centring
        weights = np.zeros((phi.n_rows, count))
        weights[informed] = vectors / scale
        self._axes = phi.sum("axes", _axes_of, phi.cut(weights), columns=self._columns)
        sums: Floats = phi.sum("origin", _sums_on, axes=self._axes, columns=self._columns)
        self._origin = sums / factored.size
        points = np.empty((phi.n_rows, count), dtype=phi.dtype)
        points[informed] = vectors * np.sqrt(self.eigenvalues_)
        points[self.uninformed_] = -self._origin
        return phi.backend.map("points", _same, phi.cut(points))


def _columns_of(phi: RowBlocks) -> NDArray[Any]:
    """The columns that occur in any block; all of them where rows are dense."""
    if len(phi.blocks) == 1:
        (columns,) = phi.gather("columns", used_columns)
        return np.asarray(columns)
    if not any(phi.gather("columns", _is_sparse)):
        return np.arange(phi.width or 0)
    return np.flatnonzero(phi.sum("columns", column_counts))


def _missing(factored: Factored) -> list[NDArray[np.intp]]:
    """The uninformed rows of every block."""
    edges = [*factored.phi.starts, factored.phi.n_rows]
    ends = np.searchsorted(factored.uninformed, edges)
    return [factored.uninformed[ends[b] : ends[b + 1]] - edges[b] for b in range(len(factored.phi.blocks))]


def _signs(factored: Factored, points: list[Any]) -> Floats:
    """(d,) 1 or -1, so that the largest coordinate of the informed objects is positive on every axis."""
    backend = factored.phi.backend
    extremes = np.stack(backend.gather("signs", backend.map("signs", _extremes, points, _missing(factored))))
    sizes = np.abs(extremes)
    first = np.argmax(sizes >= (1 - 1e-6) * sizes.max(axis=0), axis=0)  # of equals the one in the first block
    return np.where(extremes[first, np.arange(len(first))] < 0, -1.0, 1.0)


def _shifted_values(values: Floats, shift: float) -> Floats:
    """lambda - s, where it is more than rounding error, else 0."""
    result: Floats = np.maximum(values - shift, 0.0)
    result[result <= 1e-12 * values] = 0.0
    return result


# -------------------------------------------------------------------- one block


def _extremes(points: Floats, missing: NDArray[np.intp]) -> Floats:
    """(d,) the first of the coordinates of informed rows that are as large as any, on every axis; 0 where there is none."""
    known = np.delete(points, missing, axis=0) if len(missing) else points
    if not len(known):  # a block of rows may have no informed one
        return np.zeros(points.shape[1])
    sizes = np.abs(known)
    first = np.argmax(sizes >= (1 - 1e-6) * sizes.max(axis=0), axis=0)
    return np.asarray(known[first, np.arange(known.shape[1])])


def _is_sparse(block: Any) -> bool:
    return hasattr(block, "indptr")


def _same(value: Any) -> Any:
    return value


def _centred(block: Any, axes: Floats, columns: NDArray[Any], origin: Floats) -> Floats:
    return onto_columns(take_columns(block, columns), axes) - origin


def _coordinates(block: Any, axes: Floats, columns: NDArray[Any], origin: Floats) -> NDArray[Any]:
    return _centred(block, axes, columns, origin).astype(block.dtype, copy=False)


def _fitted(
    points: Floats, missing: NDArray[np.intp], factor: Floats, unreachable: Floats, dtype: Any
) -> NDArray[Any]:
    """Coordinates of fitted objects: turned, shrunk, and uninformed ones where a new zero row lies."""
    coordinates = (points * factor).astype(dtype, copy=False)
    coordinates[missing] = unreachable
    return coordinates


def _axes_of(block: Any, weights: Floats, columns: NDArray[Any]) -> Floats:
    return into_columns(take_columns(block, columns), weights)


def _sums_on(block: Any, axes: Floats, columns: NDArray[Any]) -> Floats:
    result: Floats = onto_columns(take_columns(block, columns), axes).sum(axis=0)
    return result
