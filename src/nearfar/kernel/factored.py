"""The kernel without its matrix: over the informed rows of Phi, K = diag(own) + shared @ shared.T.

A column that only one object has adds to that object's own diagonal entry and to nothing else. In a
sparse collection almost all columns are such, so taking them out of the products makes those cheap.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nearfar._tools.arrays import Floats
from nearfar._tools.memory import check_square
from nearfar.blocks import LOCAL, RowBlocks, join
from nearfar.kernel.gram import gram
from nearfar.kernel.phi import (
    PhiLike,
    as_array,
    as_rows,
    check_finite,
    column_counts,
    informed_rows,
    is_crowded,
    is_sparse,
    row_squares,
    stored_bytes,
    uninformed,
)

BLOCK_BYTES = 1 << 26


class Factored:
    """K over the informed rows of Phi, as ``diag(own) + shared @ shared.T``, with rows in blocks.

    Sums over blocks are made where those lie; vectors with an entry per informed row come here.

    Attributes
    ----------
    phi : RowBlocks, all rows as they were given.
    shared : RowBlocks of the informed rows; of sparse ones the columns that at least two objects have.
    own : (N,) what the columns of a single object add to the diagonal.
    columns : (q,) indices of the columns of ``shared``.
    is_sparse, nbytes : of the shared rows.
    """

    def __init__(self, phi: RowBlocks) -> None:
        self.phi = phi
        if len(phi.blocks) == 1 and phi.backend is LOCAL:  # without an array as long as there are columns
            shared, self.own, self.columns = split(phi.blocks[0])
            self.shared = RowBlocks.of(shared)
            self.is_sparse, self.nbytes = is_sparse(shared), stored_bytes(shared)
            return
        facts = phi.gather("looking at the features", _facts, check=not phi.checked)
        sizes = [informed for informed, _, _ in facts]
        self.is_sparse = any(sparse_one for _, sparse_one, _ in facts)
        self.nbytes = sum(nbytes for _, _, nbytes in facts)
        counts = phi.total("columns", column_counts)
        (rows_per_column,) = phi.backend.gather("columns", [counts])
        self.columns = np.flatnonzero(rows_per_column > (1 if self.is_sparse else 0))
        blocks, own = list(phi.blocks), [np.broadcast_to(np.float64(0), (size,)) for size in sizes]
        whole = not self.is_sparse and len(self.columns) == phi.width
        changed = [i for i, size in enumerate(phi.sizes) if sizes[i] < size or not whole]
        pairs = phi.backend.store_pairs(
            "informed rows",
            lambda rows, counts: split(rows, counts)[:2],
            [blocks[i] for i in changed],
            counts=counts,
        )
        for i, block, alone in zip(changed, pairs[0], phi.backend.gather("diagonal", pairs[1]), strict=True):
            blocks[i], own[i] = block, alone
        self.own = np.concatenate([np.zeros(0), *own])
        self.shared = RowBlocks(phi.backend, blocks, sizes, len(self.columns), phi.dtype, checked=True)

    @property
    def size(self) -> int:
        """How many informed rows there are."""
        return self.shared.n_rows

    @property
    def width(self) -> int:
        """How many columns the shared rows have."""
        return len(self.columns)

    @cached_property
    def uninformed(self) -> NDArray[np.intp]:
        """Indices of the rows of Phi that are zero."""
        return np.zeros(0, dtype=np.intp) if self.size == self.phi.n_rows else uninformed(self.phi)

    @property
    def rows(self) -> NDArray[np.intp]:
        """(N,) indices of the informed rows of Phi."""
        return np.setdiff1d(np.arange(self.phi.n_rows), self.uninformed, assume_unique=True)

    @cached_property
    def diagonal(self) -> Floats:
        """(N,) the diagonal of K."""
        squares: Floats = join(self.shared.gather("diagonal", row_squares))
        return squares + self.own

    @cached_property
    def n_entries(self) -> int:
        """Stored entries of the shared rows."""
        if not self.is_sparse:
            return self.size * self.width
        return int(self.shared.sum("entries", lambda rows: rows.nnz))

    @cached_property
    def column_sums(self) -> Floats:
        """(q,) sum of the shared rows."""
        sums = self.shared.sum("sums", lambda rows: np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel())
        return np.asarray(sums)

    def product(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """Compute ``K @ vectors`` without K."""
        pieces = self.shared.cut(vectors)
        into = self.shared.total("product", lambda rows, own: rows.T @ own, pieces)
        images: NDArray[Any] = join(self.shared.gather("product", lambda rows, into: rows @ into, into=into))
        images += (self.own if vectors.ndim == 1 else self.own[:, None]) * vectors
        return images

    def matrix(self) -> Floats:
        """(N, N) K itself, in float64, here."""
        check_square(self.size, 8)
        if len(self.shared.blocks) == 1 and self.shared.backend is LOCAL:
            shared = self.shared.blocks[0]
            wide = not is_sparse(shared) and shared.dtype != np.float64
            K = _gram_of_float32(shared) if wide else gram(shared.astype(np.float64, copy=False))
            K[np.diag_indices_from(K)] += self.own
            return K
        edges = [*self.shared.starts, self.size]
        pairs = [(i, j) for i in range(len(edges) - 1) for j in range(i + 1)]
        left, right = ([self.shared.blocks[pair[side]] for pair in pairs] for side in (0, 1))
        backend = self.shared.backend
        K = np.empty((self.size, self.size))
        tiles = backend.gather("kernel matrix", backend.map("kernel matrix", _products, left, right))
        for (i, j), block in zip(pairs, tiles, strict=True):
            K[edges[i] : edges[i + 1], edges[j] : edges[j + 1]] = block
            K[edges[j] : edges[j + 1], edges[i] : edges[i + 1]] = block.T
        K[np.diag_indices_from(K)] = self.diagonal
        return K


def factor(phi: PhiLike) -> Factored:
    """Factor the kernel of the rows of Phi.

    >>> factored = factor(sparse.csr_array([[0.6, 0.8, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> factored.rows, factored.columns, factored.own
    (array([0, 1]), array([1]), array([0.36, 0.  ]))
    """
    return Factored(phi if isinstance(phi, RowBlocks) else RowBlocks.of(as_rows(phi)))


# -------------------------------------------------------------------- one block


def split(phi: Any, counts: NDArray[np.int64] | None = None) -> tuple[Any, Floats, NDArray[np.int64]]:
    """(shared, own, columns) of the informed rows of a block: ``counts`` are the ``column_counts`` of all blocks.

    Columns of a single object are folded into ``own``, empty ones dropped.
    """
    phi = as_rows(phi)
    rows = informed_rows(phi)
    if len(rows) < phi.shape[0]:
        phi = phi[rows]
    if not is_sparse(phi):
        columns = np.flatnonzero(phi.any(axis=0) if counts is None else counts > 0)
        shared = phi if len(columns) == phi.shape[1] else phi[:, columns]
        return shared, np.broadcast_to(np.float64(0), (len(rows),)), columns
    used = None
    if counts is None and not is_crowded(phi):  # number the columns that occur
        used, codes = np.unique(phi.indices, return_inverse=True)
        phi = sparse.csr_array((phi.data, codes, phi.indptr), shape=(phi.shape[0], len(used)))
    counts = column_counts(phi) if counts is None else counts
    squares = np.where(counts[phi.indices] == 1, phi.data, 0).astype(np.float64) ** 2
    own = np.add.reduceat(squares, phi.indptr[:-1]) if len(rows) else np.zeros(0)
    columns = np.flatnonzero(counts > 1)
    return phi[:, columns], own, columns if used is None else used[columns]


def _facts(block: Any, check: bool) -> tuple[int, bool, int]:
    """(informed rows, whether it is sparse, bytes) of a block."""
    if check:
        check_finite(block)
    return len(informed_rows(block)), is_sparse(block), stored_bytes(block)


def _products(block: Any, other: Any) -> Floats:
    return as_array(block @ other.T).astype(np.float64, copy=False)


def _gram_of_float32(block: NDArray[Any]) -> Floats:
    """X X' in float64, a block of columns at a time, so that X is never held twice."""
    n, p = block.shape
    K = np.zeros((n, n))
    width = max(64, BLOCK_BYTES // (8 * max(n, 1)))
    for start in range(0, p, width):
        K += gram(block[:, start : start + width].astype(np.float64))
    return K
