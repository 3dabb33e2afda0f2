"""Row blocks to and from dask arrays; the blocks themselves are those of ``nearfar.blocks``, held by workers."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import numpy as np

from nearfar.blocks import RowBlocks
from nearfar.errors import InputError
from nearfar.scale._engine import Engine, current_backend


def from_dask(X: Any) -> RowBlocks:
    """Take the rows of a dask array in blocks, computed by the active Dask client where they are not yet.

    Parameters
    ----------
    X : (n, p) dask array. Blocks of columns are joined.

    Returns
    -------
    RowBlocks : give them to ``KernelPCA``, ``KernelKMeans``, ``neighbours`` and the other methods.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> with Client(processes=False, dashboard_address=None):
    ...     from_dask(da.eye(4, chunks=2)).to_array().shape
    (4, 4)
    """
    import dask.array as da

    backend = current_backend()
    if not isinstance(X, da.Array) or X.ndim != 2 or not isinstance(backend, Engine):
        raise InputError(
            f"X: expected a two-dimensional dask array and an active Dask client, got {type(X).__name__}"
        )
    if X.dtype.kind != "f":
        X = X.astype(np.float64)  # type: ignore[no-untyped-call]
    X = X.rechunk({1: -1})
    with backend.faults("computing the rows"):
        blocks = backend.client.compute(list(X.to_delayed().ravel()))
    return RowBlocks(backend, blocks, X.chunks[0], X.shape[1], X.dtype)


def to_dask(rows: RowBlocks) -> Any:
    """A dask array over rows that the workers of Dask hold, for what else Dask can do with them.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> with Client(processes=False, dashboard_address=None):
    ...     to_dask(from_dask(da.eye(4, chunks=2))).chunks
    ((2, 2), (4,))
    """
    import dask.array as da

    if not isinstance(rows.backend, Engine):
        raise InputError(f"rows: expected rows held by workers of Dask, got {rows!r} in this process")
    name, tail = f"nearfar-{uuid4().hex}", () if rows.width is None else (0,)
    graph = {(name, i, *tail): block for i, block in enumerate(rows.blocks)}
    chunks = (rows.sizes,) if rows.width is None else (rows.sizes, (rows.width,))
    meta = np.empty((0,) * len(chunks), rows.dtype)
    return da.Array(graph, name, chunks, meta=meta)  # type: ignore[no-untyped-call]
