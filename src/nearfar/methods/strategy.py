"""Which way is cheapest: the n x n kernel matrix, the p x p scatter matrix, or products with Phi."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from nearfar.kernel.factored import Factored, is_sparse

__all__ = ["Path", "cheapest", "stored_bytes"]

SMALL = 1 << 27  # bytes; a direct method below this is never worth avoiding
ROOM = 3  # a matrix may take this many times what Phi itself takes


class Path(StrEnum):
    """A way to work on K = diag(own) + shared @ shared.T."""

    MATRIX = "n x n"
    COLUMNS = "p x p"
    PRODUCTS = "products"


def stored_bytes(block: Any) -> int:
    """Bytes that a dense or csr block takes."""
    if is_sparse(block):
        return int(block.data.nbytes + block.indices.nbytes + block.indptr.nbytes)
    return int(block.nbytes)


def cheapest(parts: Factored) -> Path:
    """The way with the smallest matrix; products alone where both matrices dwarf Phi.

    >>> import numpy as np
    >>> from nearfar.kernel.factored import factor
    >>> str(cheapest(split(np.ones((50, 3))))), str(cheapest(split(np.ones((3, 50)))))
    ('p x p', 'n x n')
    """
    n, q = parts.shared.shape
    limit = max(SMALL, ROOM * stored_bytes(parts.shared))
    # with columns of single objects the p x p matrix would need those too; n x n has no such trouble
    if q < n and not parts.own.any():
        direct, size = Path.COLUMNS, 8 * q * q
    else:
        direct, size = Path.MATRIX, 8 * n * n
    return direct if size <= limit else Path.PRODUCTS
