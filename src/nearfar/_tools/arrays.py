"""Names of the arrays that every room hands on, so that a signature says what the numbers are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Codes", "Floats", "Indices", "Ints", "Labels"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
"""Objects by their index."""
Codes = NDArray[np.int64]
"""Which of several groups, questions or people something belongs to, from 0."""
Labels = NDArray[np.int32]
"""Which cluster an object belongs to, from 0; -1 for none."""
