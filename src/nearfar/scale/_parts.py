"""The kernel of a Phi in blocks: what ``nearfar.kernel.factored`` is for one machine, every block a Factored of its own."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import InputError
from nearfar.kernel.factored import Factored, column_counts, factor, informed_rows, is_sparse
from nearfar.kernel.matrix import cross_kernel
from nearfar.methods._blocks import column_sums
from nearfar.methods.strategy import Path, cheapest, stored_bytes
from nearfar.scale._cut import Cut
from nearfar.scale._engine import Future

__all__ = ["CutParts", "Shared", "add_all", "block_diagonal", "parts_of", "uninformed_rows"]

Floats = NDArray[np.float64]
MATRIX_HERE = 1 << 30  # bytes of the largest n x n or p x p matrix that this process is given


class Shared(NamedTuple):
    """What the choice of a way needs to know of the shared columns."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    nbytes: int


class CutParts:
    """K over the informed rows, ``diag(own) + shared @ shared.T``, with rows in blocks.

    It has what the functions of one machine ask of Factored, so they work on it: sums over blocks are made by the
    workers, vectors with one entry per object come here.

    Parameters
    ----------
    cut : Phi in blocks.
    """

    def __init__(self, cut: Cut) -> None:
        self.engine, self.cut = cut.engine, cut
        per_block = self.engine.map("columns", column_counts, cut.blocks)
        counts = self.engine.reduce("columns", add_all, per_block)
        del per_block
        facts = self.engine.map("facts", _facts, cut.blocks)
        found = self.engine.gather(
            "looking at the features", [*facts, self.engine.submit("facts", _levels, counts)]
        )
        shared, used = found.pop()
        self.is_sparse = any(fact.is_sparse for fact in found)
        self.sizes = [fact.informed for fact in found]
        width = shared if self.is_sparse else used
        self.shared = Shared((sum(self.sizes), width), cut.dtype, sum(fact.nbytes for fact in found))
        self.counts = counts
        whole = not self.is_sparse and used == cut.width
        self.blocks: list[Future] = [
            block if whole and informed == size else self.engine.submit("split", factor, block, counts)
            for block, informed, size in zip(cut.blocks, self.sizes, cut.sizes, strict=True)
        ]

    @cached_property
    def n_entries(self) -> int:
        """Stored entries of a sparse shared part."""
        return sum(self.engine.gather("entries", self.engine.map("entries", _entries, self.blocks)))

    @property
    def is_thin(self) -> bool:
        """Whether the shared rows make a dense array, or one not much larger, of more rows than columns."""
        n, q = self.shared.shape
        if q >= n or self.own.any():
            return False
        return not self.is_sparse or n * q * self.shared.dtype.itemsize <= 2 * self.shared.nbytes

    @property
    def path(self) -> Path:
        """The cheapest way whose matrix this process can hold."""
        small = self.shared._replace(nbytes=min(self.shared.nbytes, MATRIX_HERE // 3))
        return cheapest(Factored(np.empty(0, np.intp), np.empty(0, np.int64), small, self.own))

    @property
    def width(self) -> int:
        """How many columns the shared part has."""
        return self.shared.shape[1]

    @property
    def size(self) -> int:
        """How many informed rows there are."""
        return self.shared.shape[0]

    @cached_property
    def uninformed(self) -> NDArray[np.intp]:
        """Indices of the rows that are zero."""
        found = self.engine.map("uninformed", uninformed_rows, self.cut.blocks, self.cut.starts)
        return np.concatenate([np.zeros(0, np.intp), *self.engine.gather("uninformed", found)])

    @cached_property
    def own(self) -> Floats:
        """(N,) what the columns of a single object add to the diagonal."""
        if not self.is_sparse:
            return np.broadcast_to(np.float64(0), (self.size,))
        return self._join("diagonal", self.engine.map("diagonal", _own, self.blocks))

    @cached_property
    def diagonal(self) -> Floats:
        """(N,) the diagonal of K."""
        return self._join("diagonal", self.engine.map("diagonal", block_diagonal, self.blocks))

    @cached_property
    def column_sums(self) -> Floats:
        """(q,) sum of all rows of the shared part."""
        partial = self.engine.map("sums", _column_sums, self.blocks)
        total: Floats = self.engine.result("sums", self.engine.reduce("sums", add_all, partial))
        return total

    def product(self, vectors: Floats) -> Floats:
        """``K @ vectors`` without K."""
        pieces = self.pieces(vectors)
        into = self.engine.reduce("product", add_all, self.engine.map("product", _into, self.blocks, pieces))
        out = self.engine.map("product", _out_of, self.blocks, pieces, [into] * len(pieces))
        return self._join("product", out)

    def matrix(self) -> Floats:
        """(N, N) K itself, in float64, here."""
        edges = np.concatenate([[0], np.cumsum(self.sizes)])
        pairs = [(i, j) for i in range(len(self.blocks)) for j in range(i + 1)]
        left, right = [self.blocks[i] for i, _ in pairs], [self.blocks[j] for _, j in pairs]
        K = np.empty((self.size, self.size))
        found = self.engine.gather("kernel matrix", self.engine.map("kernel", _products, left, right))
        for (i, j), block in zip(pairs, found, strict=True):
            K[edges[i] : edges[i + 1], edges[j] : edges[j + 1]] = block
            K[edges[j] : edges[j + 1], edges[i] : edges[i + 1]] = block.T
        K[np.diag_indices_from(K)] = self.diagonal
        return K

    def pieces(self, vectors: NDArray[Any]) -> list[NDArray[Any]]:
        """One entry per informed object, cut as the blocks are."""
        return np.split(vectors, np.cumsum(self.sizes)[:-1])

    def _join(self, name: str, futures: list[Future]) -> Floats:
        return np.concatenate(self.engine.gather(name, futures))


# -------------------------------------------------------------------- tasks


class _Fact(NamedTuple):
    informed: int
    is_sparse: bool
    nbytes: int


def parts_of(block: Any) -> Factored:
    """A block as Factored; one that needed no splitting is all shared."""
    if isinstance(block, Factored):
        return block
    rows, width = block.shape
    return Factored(np.arange(rows), np.arange(width), block, np.zeros(rows))


def add_all(terms: list[Any]) -> Any:
    """The sum of arrays, in order."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def block_diagonal(block: Any) -> Floats:
    """The diagonal of K of a block."""
    return parts_of(block).diagonal


def _facts(block: Any) -> _Fact:
    _check_finite(block)
    return _Fact(len(informed_rows(block)), is_sparse(block), stored_bytes(block))


def _levels(counts: NDArray[np.int64]) -> tuple[int, int]:
    return int((counts > 1).sum()), int((counts > 0).sum())


def uninformed_rows(block: Any, start: int) -> NDArray[np.intp]:
    """Indices of the zero rows of a block whose first row is ``start``."""
    _check_finite(block)
    return np.setdiff1d(np.arange(block.shape[0]), informed_rows(block), assume_unique=True) + start


def _check_finite(block: Any) -> None:
    if not np.isfinite(block.data if is_sparse(block) else block).all():
        raise InputError(
            "X: holds NaN or infinity; expected finite numbers",
        )


def _entries(block: Any) -> int:
    return int(parts_of(block).shared.nnz)


def _own(block: Any) -> Floats:
    return parts_of(block).own


def _column_sums(block: Any) -> Floats:
    return column_sums(parts_of(block).shared)


def _into(block: Any, vectors: Floats) -> NDArray[Any]:
    return parts_of(block).into_columns(vectors)


def _out_of(block: Any, vectors: Floats, columns: NDArray[Any]) -> NDArray[Any]:
    return parts_of(block).out_of_columns(vectors, columns)


def _products(block: Any, other: Any) -> Floats:
    return cross_kernel(parts_of(block).shared, parts_of(other).shared).astype(np.float64, copy=False)
