"""Rows of a space: which of them say anything, and one below the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["known_rows", "non_zero", "stack"]


def known_rows(rows: Any, kind: str, informed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """(n,) which objects are informed: as given, else those with a non-zero row of a kernel, else all."""
    if informed is not None:
        return np.asarray(informed, dtype=bool)
    return non_zero(rows) if kind == "kernel" else np.ones(rows.shape[0], dtype=bool)


def non_zero(rows: Any) -> NDArray[np.bool_]:
    """(n,) which rows are not zero.

    >>> non_zero(np.array([[0.0, 1.0], [0.0, 0.0]]))
    array([ True, False])
    """
    from nearfar.kernel.phi import informed_rows

    known = np.zeros(rows.shape[0], dtype=bool)
    known[informed_rows(rows)] = True
    return known


def stack(rows: Any, more: Any) -> Any:
    """Rows and more rows below them; sparse where one of both is."""
    from scipy import sparse

    if sparse.issparse(rows) or sparse.issparse(more):
        return sparse.csr_array(sparse.vstack([rows, more], format="csr"))
    return np.vstack([rows, more])
