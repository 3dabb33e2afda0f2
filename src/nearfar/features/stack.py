"""Blocks of unit rows side by side: the last step to Phi."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from nearfar._tools.memory import available_bytes
from nearfar.errors import TooLargeError

__all__ = ["Block", "Phi", "informed_rows", "stack"]

Phi = NDArray[np.floating[Any]] | sparse.csr_array
"""n x p features: an ndarray, or a csr_array where most entries are zero."""

Block = NDArray[Any] | Any
"""Rows of one part: an ndarray, or a csc_array (which the stubs cannot index, hence Any)."""


def stack(blocks: Sequence[Block], layout: str, dtype: DTypeLike) -> Phi:
    """Blocks in order, every row again of unit length, as "dense" or "sparse" or as they come ("auto")."""
    if len(blocks) > 1:
        # a block's row has length one or zero, so the stacked row has the root of how many are informed
        parts = np.sum([informed_rows(block) for block in blocks], axis=0)
        scale = (1 / np.sqrt(np.maximum(parts, 1))).astype(dtype)
        blocks = [_scale_rows(block, scale) for block in blocks]
    as_dense = layout == "dense" or (layout == "auto" and all(isinstance(b, np.ndarray) for b in blocks))
    if as_dense:
        if any(not isinstance(block, np.ndarray) for block in blocks):
            _check_fits(blocks[0].shape[0], sum(block.shape[1] for block in blocks), np.dtype(dtype).itemsize)
        arrays = [block if isinstance(block, np.ndarray) else block.toarray() for block in blocks]
        return arrays[0] if len(arrays) == 1 else np.hstack(arrays)
    rows = [_csr(block) for block in blocks]
    return rows[0] if len(rows) == 1 else sparse.csr_array(sparse.hstack(rows, format="csr"))


def informed_rows(block: Block) -> NDArray[np.bool_]:
    """(n,) whether each row has anything but zeros."""
    if isinstance(block, np.ndarray):
        return np.asarray(block.any(axis=1))
    informed = np.zeros(block.shape[0], dtype=np.bool_)
    informed[block.indices[block.data != 0]] = True
    return informed


def _csr(block: Block) -> sparse.csr_array:
    rows = sparse.csr_array(block)
    rows.eliminate_zeros()
    return rows


def _scale_rows(block: Block, scale: NDArray[Any]) -> Block:
    if isinstance(block, np.ndarray):
        scaled: NDArray[Any] = block * scale[:, None]
        return scaled
    return sparse.csc_array(
        (block.data * scale[block.indices], block.indices, block.indptr), shape=block.shape
    )


def _check_fits(n_rows: int, n_columns: int, itemsize: int) -> None:
    needed, free = n_rows * n_columns * itemsize, available_bytes()
    if needed > free:
        raise TooLargeError(
            f"a dense Phi of {n_rows:,} x {n_columns:,} takes {needed / 1e9:.0f} GB and {free / 1e9:.0f} GB are free; "
            "use layout='sparse', or landmarks"
        )
