"""Which strategy is cheapest: the n x n kernel matrix, the p x p scatter matrix, or products with Phi."""

from __future__ import annotations

from enum import StrEnum

from nearfar.blocks import LOCAL
from nearfar.errors import InputError
from nearfar.kernel.factored import Factored

__all__ = ["Strategy", "cheapest", "chosen"]

SMALL = 1 << 27  # bytes; a direct method below this is never worth avoiding
ROOM = 3  # a matrix may take this many times what Phi itself takes
MATRIX_HERE = 1 << 30  # bytes of the largest matrix that this process is given where Phi lies elsewhere


class Strategy(StrEnum):
    """A way to work on K = diag(own) + shared @ shared.T."""

    MATRIX = "matrix"  # n x n
    COLUMNS = "columns"  # p x p
    PRODUCTS = "products"  # neither, only products with Phi
    ROWS = "rows"  # k-means on the rows themselves


def cheapest(factored: Factored) -> Strategy:
    """The strategy with the smallest matrix; products alone where both matrices dwarf Phi.

    >>> import numpy as np
    >>> from nearfar.kernel.factored import factor
    >>> str(cheapest(factor(np.ones((50, 3))))), str(cheapest(factor(np.eye(3, 50))))
    ('columns', 'matrix')
    """
    n, q = factored.size, factored.width
    limit = max(SMALL, ROOM * factored.nbytes)
    if factored.phi.backend is not LOCAL:
        limit = min(limit, MATRIX_HERE)
    # with columns of single objects the p x p matrix would need those too; n x n has no such trouble
    if q < n and not factored.own.any():
        direct, size = Strategy.COLUMNS, 8 * q * q
    else:
        direct, size = Strategy.MATRIX, 8 * n * n
    return direct if size <= limit else Strategy.PRODUCTS


def chosen(factored: Factored, strategy: str, known: tuple[Strategy, ...]) -> Strategy:
    """The strategy that was asked for, or the cheapest one for "auto"."""
    if strategy == "auto":
        return cheapest(factored)
    if strategy not in known:
        raise InputError(f"strategy={strategy!r} is not known; expected auto, {', '.join(known)}")
    if strategy in (Strategy.COLUMNS, Strategy.ROWS) and factored.own.any():
        raise InputError(
            f"strategy={strategy!r} needs rows without columns of a single object; use strategy='products'"
        )
    return Strategy(strategy)
