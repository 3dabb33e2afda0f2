"""A matrix in blocks of rows that lie on workers, and its way into and out of a dask array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import InputError
from nearfar.scale._engine import Engine, Future, current_engine

__all__ = ["Cut", "block_futures", "cut_rows", "dask_rows", "fetch"]


@dataclass(frozen=True, eq=False)
class Cut:
    """Blocks of consecutive rows, each the result of a task.

    blocks : futures of (rows, width) ndarrays or csr_arrays.
    sizes : how many rows each has.
    """

    engine: Engine
    blocks: tuple[Future, ...]
    sizes: tuple[int, ...]
    width: int
    dtype: np.dtype[Any]

    @property
    def n_rows(self) -> int:
        """Rows of all blocks."""
        return sum(self.sizes)

    @property
    def starts(self) -> list[int]:
        """Number of the first row of every block."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(int).tolist() if self.sizes else []


def dask_rows(blocks: Sequence[Future], sizes: Sequence[int], width: int | None, meta: Any) -> Any:
    """A dask array over futures: (n, width), or (n,) where ``width`` is None. ``meta`` is an empty block."""
    import dask.array as da

    name = f"nearfar-{uuid4().hex}"
    tail = () if width is None else (0,)
    graph = {(name, i, *tail): block for i, block in enumerate(blocks)}
    chunks = (tuple(sizes),) if width is None else (tuple(sizes), (width,))
    return da.Array(graph, name, chunks, meta=meta)  # type: ignore[no-untyped-call]


def cut_rows(engine: Engine, X: Any) -> Cut:
    """The blocks of a two-dimensional dask array, computed where they are not yet."""
    import dask.array as da

    if not isinstance(X, da.Array) or X.ndim != 2:
        raise InputError(
            f"X: expected a dask array in blocks of rows, got {type(X).__name__}; make it with "
            "nearfar.scale.FeatureMap(...).fit_transform(answers)",
        )
    if X.dtype.kind != "f":
        X = X.astype(np.float64)  # type: ignore[no-untyped-call]
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    blocks = block_futures(engine, X)
    return Cut(engine, tuple(blocks), tuple(map(int, X.chunks[0])), int(X.shape[1]), X.dtype)


def block_futures(engine: Engine, X: Any) -> list[Future]:
    """Futures of the blocks of a dask array that is cut along its first axis only."""
    from dask.core import flatten

    keys = list(flatten(X.__dask_keys__()))  # type: ignore[no-untyped-call]
    graph = dict(X.__dask_graph__())
    if all(hasattr(graph.get(key), "status") for key in keys):  # futures already, as FeatureMap makes them
        return [graph[key] for key in keys]
    with engine.faults("computing the features"):
        return list(engine.client.compute(list(X.to_delayed().ravel())))


def fetch(name: str, X: Any) -> NDArray[Any]:
    """A dask array that is cut along its first axis only, here; as ``compute``, but a lost cluster is one sentence."""
    engine = current_engine()
    return np.concatenate(engine.gather(name, block_futures(engine, X)))
