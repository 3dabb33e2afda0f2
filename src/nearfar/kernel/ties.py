"""When two kernel values are equal: where they differ by no more than the rounding of the rows they come from.

Kernel values are often fractions, and equal ones come out a little different however products are summed. One rule,
used by neighbours, medoids, trees and predictions alike, says which are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["rounded", "tie_decimals", "tie_tolerance"]


def tie_decimals(dtype: DTypeLike) -> int:
    """Digits of a kernel value that are not rounding error, for rows of this dtype.

    >>> tie_decimals(np.float32), tie_decimals(np.float64)
    (5, 12)
    """
    return 5 if np.dtype(dtype) in (np.float32, np.float16) else 12


def tie_tolerance(dtype: DTypeLike) -> float:
    """Values of about 1 that differ by less are equal, for rows of this dtype."""
    return float(10.0 ** -tie_decimals(dtype))


def rounded(values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Values as they are compared: equal ones are equal to the last bit."""
    return np.round(values, tie_decimals(dtype))
