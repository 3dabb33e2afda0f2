"""The kernel without its matrix: over the informed rows of Phi, K = diag(own) + shared @ shared.T.

A column that only one object has adds to that object's own diagonal entry and to nothing else. In a
sparse collection almost all columns are such, so taking them out of the products makes those cheap.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nearfar._tools.arrays import Floats
from nearfar._tools.memory import check_square
from nearfar.blocks import LOCAL, RowBlocks, join
from nearfar.kernel.gram import gram
from nearfar.kernel.phi import (
    PhiLike,
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

__all__ = ["Factored", "SharedAndOwn", "as_split", "factor", "split"]

BLOCK_BYTES = 1 << 26


class SharedAndOwn(NamedTuple):
    """The informed rows of a sparse block; those of a dense one are a plain matrix.

    shared : (b, q) csr_array, the columns that at least two objects have.
    own : (b,) what the columns of a single object add to the diagonal.
    """

    shared: Any
    own: Floats


class Factored:
    """K over the informed rows of Phi, as ``diag(own) + shared @ shared.T``, with rows in blocks.

    Sums over blocks are made where those lie; vectors with an entry per informed row come here.

    Attributes
    ----------
    phi : RowBlocks, all rows as they were given.
    shared : RowBlocks of the informed rows: ``SharedAndOwn`` where they are sparse, plain matrices where they are dense.
    columns : (q,) indices of the columns of ``shared``.
    is_sparse, nbytes : of the shared rows.
    """

    def __init__(self, phi: RowBlocks) -> None:
        self.phi = phi
        alone = len(phi.blocks) == 1 and phi.backend is LOCAL
        blocks, sizes = self._split_alone() if alone else self._split_blocks()
        self.shared = RowBlocks(phi.backend, blocks, sizes, len(self.columns), phi.dtype, checked=True)

    def _split_alone(self) -> tuple[list[Any], list[int]]:
        """The only block, without an array as long as there are columns: those may be billions."""
        ((block, self.columns),) = self.phi.gather("informed rows", split)
        shared = as_split(block).shared
        self.is_sparse, self.nbytes = is_sparse(shared), stored_bytes(shared)
        return [block], [shared.shape[0]]

    def _split_blocks(self) -> tuple[list[Any], list[int]]:
        phi = self.phi
        facts = phi.gather("looking at the features", _facts, check=not phi.checked)
        counts = phi.total("columns", column_counts)
        (found,) = phi.backend.gather("columns", [counts])
        self.is_sparse = any(fact.is_sparse for fact in facts)
        self.nbytes = sum(fact.nbytes for fact in facts)
        self.columns = np.flatnonzero(found > (1 if self.is_sparse else 0))
        whole = not self.is_sparse and len(self.columns) == phi.width
        blocks, sizes = list(phi.blocks), [fact.informed for fact in facts]
        changed = [
            i for i, (left, size) in enumerate(zip(sizes, phi.sizes, strict=True)) if left < size or not whole
        ]
        new = phi.backend.store("informed rows", _split_of, [blocks[i] for i in changed], counts=counts)
        for i, block in zip(changed, new, strict=True):
            blocks[i] = block
        return blocks, sizes

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
    def own(self) -> Floats:
        """(N,) what the columns of a single object add to the diagonal."""
        if not self.is_sparse:
            return np.broadcast_to(np.float64(0), (self.size,))
        found: Floats = join(self.shared.gather("diagonal", _own))
        return found

    @cached_property
    def diagonal(self) -> Floats:
        """(N,) the diagonal of K."""
        found: Floats = join(self.shared.gather("diagonal", _diagonal))
        return found

    @cached_property
    def n_entries(self) -> int:
        """Stored entries of the shared rows."""
        return int(self.shared.sum("entries", _entries)) if self.is_sparse else self.size * self.width

    @cached_property
    def column_sums(self) -> Floats:
        """(q,) sum of the shared rows."""
        found: Floats = self.shared.sum("sums", _column_sums)
        return found

    def product(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """Compute ``K @ vectors`` without K.

        >>> factor(np.eye(2)).product(np.array([1.0, 2.0]))
        array([1., 2.])
        """
        pieces = self.shared.cut(vectors)
        into = self.shared.total("product", _into_columns, pieces)
        found: NDArray[Any] = join(self.shared.gather("product", _out_of_columns, pieces, columns=into))
        return found

    def matrix(self) -> Floats:
        """(N, N) K itself, in float64, here."""
        check_square(self.size, 8)
        if len(self.shared.blocks) == 1 and self.shared.backend is LOCAL:
            ((shared, own),) = self.shared.gather("kernel matrix", as_split)
            wide = not is_sparse(shared) and shared.dtype != np.float64
            K = _gram_of_float32(shared) if wide else gram(shared.astype(np.float64, copy=False))
            K[np.diag_indices_from(K)] += own
            return K
        edges = [*self.shared.starts, self.size]
        pairs = [(i, j) for i in range(len(edges) - 1) for j in range(i + 1)]
        left, right = ([self.shared.blocks[pair[side]] for pair in pairs] for side in (0, 1))
        backend = self.shared.backend
        K = np.empty((self.size, self.size))
        found = backend.gather("kernel matrix", backend.map("kernel matrix", _products, left, right))
        for (i, j), block in zip(pairs, found, strict=True):
            K[edges[i] : edges[i + 1], edges[j] : edges[j + 1]] = block
            K[edges[j] : edges[j + 1], edges[i] : edges[i + 1]] = block.T
        K[np.diag_indices_from(K)] = self.diagonal
        return K

    def take(self, objects: NDArray[Any]) -> Any:
        """The shared rows of the given informed objects, in their order, here."""
        return self.shared.take(objects, _pick)


def factor(phi: PhiLike) -> Factored:
    """Factor the kernel of the rows of Phi.

    >>> found = factor(sparse.csr_array([[0.6, 0.8, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> found.rows, found.columns, found.own
    (array([0, 1]), array([1]), array([0.36, 0.  ]))
    """
    return Factored(phi if isinstance(phi, RowBlocks) else RowBlocks.of(as_rows(phi)))


# -------------------------------------------------------------------- one block


class _SharedBlock(NamedTuple):
    """The informed rows of a block, as ``Factored.shared`` holds them, and the columns of what is shared."""

    block: Any
    columns: NDArray[np.int64]


def split(phi: Any, counts: NDArray[np.int64] | None = None) -> _SharedBlock:
    """The informed rows of a block, columns of a single object folded into ``own``, empty columns dropped.

    ``counts`` are the ``column_counts`` of all blocks, where there are others.
    """
    phi = as_rows(phi)
    rows = informed_rows(phi)
    if len(rows) < phi.shape[0]:
        phi = phi[rows]
    if not is_sparse(phi):
        used = phi.any(axis=0) if counts is None else counts > 0
        columns = np.flatnonzero(used)
        return _SharedBlock(phi if used.all() else phi[:, columns], columns)
    columns, found, codes = _count_columns(phi, counts)
    private = found == 1
    squares = np.where(private[codes], phi.data, 0).astype(np.float64) ** 2
    own = np.add.reduceat(squares, phi.indptr[:-1]) if len(rows) else np.zeros(0)
    return _SharedBlock(SharedAndOwn(_keep_columns(phi, codes, ~private), own), columns[~private])


def _split_of(phi: Any, counts: NDArray[np.int64]) -> Any:
    return split(phi, counts).block


def as_split(block: Any) -> SharedAndOwn:
    """A block of ``Factored.shared`` as ``SharedAndOwn``; a dense one is all shared."""
    return block if isinstance(block, SharedAndOwn) else SharedAndOwn(block, np.zeros(block.shape[0]))


class _Fact(NamedTuple):
    informed: int
    is_sparse: bool
    nbytes: int


def _facts(block: Any, check: bool) -> _Fact:
    if check:
        check_finite(block)
    return _Fact(len(informed_rows(block)), is_sparse(block), stored_bytes(block))


def _pick(block: Any, rows: NDArray[Any]) -> Any:
    return as_split(block).shared[rows]


def _own(block: Any) -> Floats:
    return as_split(block).own


def _diagonal(block: Any) -> Floats:
    return as_split(block).own + row_squares(as_split(block).shared)


def _entries(block: Any) -> int:
    return int(as_split(block).shared.nnz)


def _column_sums(block: Any) -> Floats:
    shared = as_split(block).shared
    return np.asarray(shared.sum(axis=0, dtype=np.float64)).ravel()


def _into_columns(block: Any, vectors: NDArray[Any]) -> NDArray[Any]:
    """The first half of a product, ``shared' @ vectors``; over blocks of rows these add up."""
    result: NDArray[Any] = as_split(block).shared.T @ vectors
    return result


def _out_of_columns(block: Any, vectors: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """The second half, ``own * vectors + shared @ columns``."""
    shared, own = as_split(block)
    result: NDArray[Any] = (own if vectors.ndim == 1 else own[:, None]) * vectors + shared @ columns
    return result


def _products(block: Any, other: Any) -> Floats:
    product: Any = as_split(block).shared @ as_split(other).shared.T
    return np.asarray(product.toarray() if is_sparse(product) else product, dtype=np.float64)


def _count_columns(
    phi: Any, counts: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(used columns, how many rows have each, position of every stored entry's column among them)."""
    if counts is not None or is_crowded(phi):
        counts = column_counts(phi) if counts is None else counts
        columns = np.flatnonzero(counts)
        new = np.cumsum(counts > 0) - 1
        return columns, counts[columns], new[phi.indices]
    columns, codes, counts = np.unique(phi.indices, return_inverse=True, return_counts=True)
    return columns, counts, codes


def _keep_columns(phi: Any, codes: NDArray[np.int64], wanted: NDArray[np.bool_]) -> Any:
    """``phi`` reduced to the wanted ones among its used columns, renumbered in order."""
    keep = wanted[codes]
    new = np.cumsum(wanted) - 1
    indptr = np.concatenate([[0], np.cumsum(keep)])[phi.indptr]
    small = max(int(wanted.sum()), len(keep)) < np.iinfo(np.int32).max
    kind = np.int32 if small else np.int64
    indices = new[codes[keep]].astype(kind)
    return sparse.csr_array(
        (phi.data[keep], indices, indptr.astype(kind)), shape=(phi.shape[0], int(wanted.sum()))
    )


def _gram_of_float32(block: NDArray[Any]) -> Floats:
    """X X' in float64, a block of columns at a time, so that X is never held twice."""
    n, p = block.shape
    K = np.zeros((n, n))
    width = max(64, BLOCK_BYTES // (8 * max(n, 1)))
    for start in range(0, p, width):
        K += gram(block[:, start : start + width].astype(np.float64))
    return K
