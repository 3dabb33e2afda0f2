"""Answers or Phi -> K, the kernel matrix; and kernels between two collections of rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from nearfar._tools.memory import check_square
from nearfar.errors import InputError
from nearfar.features import TripletMap
from nearfar.kernel.phi import as_floats, refuse_others
from nearfar.kernel.shift import check_diagonal, shifted_kernel
from nearfar.triplets import Triplets, as_triplets

__all__ = ["cross_kernel", "kernel_matrix"]


def kernel_matrix(
    answers: Triplets | ArrayLike,
    kernel: str = "k1",
    *,
    landmarks: Any = None,
    diagonal: Literal["shift", "keep"] = "shift",
    dtype: DTypeLike = np.float64,
) -> NDArray[Any]:
    """Compute the (n, n) kernel matrix of a collection of answers: Phi Phi', its diagonal shifted unless kept.

    Parameters
    ----------
    answers : Triplets, or an (m, 3) array of indices.
    kernel, landmarks, dtype : as for ``FeatureMap``.
    diagonal : "shift" takes the smallest eigenvalue over informed objects off their diagonal, against diagonal
        dominance (section 2.1 of the paper); "keep" leaves ones there.

    Kernel values say how alike two objects were answered about; they are not distances.

    Examples
    --------
    >>> line = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 0, 2], [1, 0, 3], [1, 2, 3]]
    >>> line += [[2, 3, 1], [2, 3, 0], [2, 1, 0], [3, 2, 1], [3, 2, 0], [3, 1, 0]]  # points at 0, 1, 5, 6
    >>> kernel_matrix(line, "k1", diagonal="keep").round(2)[0]
    array([ 1.  ,  0.33, -0.33, -0.33])
    """
    shifted = check_diagonal(diagonal)
    answers = as_triplets(answers)
    check_square(answers.n_objects, np.dtype(dtype).itemsize, copies=2 if shifted else 1)
    feature_map = TripletMap(kernel, landmarks=landmarks, dtype=dtype)
    K, shift, _ = shifted_kernel(feature_map._fit_by_columns(answers), diagonal=diagonal)
    informed = feature_map._informed
    K[informed, informed] = 1.0 - shift  # exactly: the rows of Phi have unit length
    return K


def cross_kernel(phi: Any, other: Any) -> NDArray[Any]:
    """(n, m) inner products between the rows of two Phi with the same columns, e.g. new and fitted objects.

    >>> cross_kernel(np.eye(2), np.array([[0.6, 0.8]]))
    array([[0.6],
           [0.8]])
    """
    for given in (phi, other):
        refuse_others(given, "phi")
    phi, other = as_floats(phi), as_floats(other)
    if phi.shape[1] != other.shape[1]:
        raise InputError(
            f"cross_kernel: {phi.shape[1]} columns against {other.shape[1]}; both must come from one fitted FeatureMap",
        )
    product = phi @ other.T
    return np.asarray(product.toarray() if hasattr(product, "toarray") else product)
