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


def pair_of(number: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs low < high with these numbers, in the order (0, 1), (0, 2), (1, 2), (0, 3), ..."""
    high = ((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0).astype(np.int64)
    high -= high * (high - 1) // 2 > number  # the root may be off by one
    high += high * (high + 1) // 2 <= number
    return number - high * (high - 1) // 2, high
