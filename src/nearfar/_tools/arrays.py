"""Names of the arrays that every room hands on, so that a signature says what the numbers are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
"""Objects by their index."""
Codes = NDArray[np.int64]
"""Which of several groups, questions or people something belongs to, from 0."""
Labels = NDArray[np.int32]
"""Which cluster an object belongs to, from 0; -1 for none."""


def dense_codes(ids: NDArray[Any]) -> Codes:
    """Ids numbered 0, 1, ... in their order.

    >>> dense_codes(np.array([7, 3, 7]))
    array([1, 0, 1])
    """
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def distinct(ids: NDArray[Any]) -> NDArray[Any]:
    """The different numbers among ids, ascending; ``np.unique`` hashes them, which takes up to 100 times as long.

    >>> distinct(np.array([7, 3, 7]))
    array([3, 7])
    """
    ordered = np.sort(ids, axis=None)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]])
