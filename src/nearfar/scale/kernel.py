"""The full kernel matrix past memory: written to Zarr block by block, never held in one place."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from nearfar import __version__
from nearfar._tools.atomic import atomic_path
from nearfar._tools.checks import check_count, need
from nearfar.blocks import Handle, RowBlocks, join
from nearfar.errors import FileError, InputError
from nearfar.kernel.factored import Factored
from nearfar.kernel.gram import cross_kernel
from nearfar.kernel.phi import informed_rows, uninformed
from nearfar.kernel.shift import check_diagonal, smallest_eigenvalue
from nearfar.scale._answers import Answers
from nearfar.scale._engine import Engine, require_dask
from nearfar.scale.feature_map import CHUNK_ROWS, FeatureMap
from nearfar.triplets import Triplets

HEAD = "zarr.json"  # of an array on a disk
STOP_SECONDS = 15.0  # seconds that workers have to finish a tile when the rest is given up


def kernel_matrix(
    answers: Answers | Triplets | ArrayLike,
    kernel: str = "k1",
    *,
    to: str | os.PathLike[str],
    landmarks: Any = None,
    diagonal: Literal["shift", "keep"] = "shift",
    dtype: DTypeLike = np.float64,
) -> Any:
    """``nearfar.kernel_matrix`` in a Zarr array: the same numbers, as large as the disk.

    Parameters
    ----------
    answers : from ``nearfar.scale.read_triplets``, or Triplets.
    kernel, landmarks, diagonal, dtype : as for ``nearfar.kernel_matrix``.
    to : where to write: a path that all machines see, or any address that fsspec knows. It must not exist.

    Returns
    -------
    dask array, or Zarr array with a scratch folder : the (n, n) matrix, read from there when it is used. The attributes
        of the Zarr array tell ``objects``, ``uninformed`` (indices), ``diagonal``, ``shift``, and whether it is ``whole``.

    Examples
    --------
    >>> import tempfile
    >>> from nearfar.scale import scratch
    >>> with scratch(tempfile.mkdtemp()):
    ...     K = kernel_matrix([[0, 1, 2], [1, 0, 2], [2, 1, 0]], "score", to=tempfile.mkdtemp() + "/K.zarr")
    >>> K.shape, list(K.attrs["objects"])
    ((3, 3), ['0', '1', '2'])
    """
    check_diagonal(diagonal)
    check_target(to)
    fitted = FeatureMap(kernel, landmarks=landmarks, dtype=dtype).fit(answers)
    return gram(fitted.features_, to=to, diagonal=diagonal, objects=fitted.objects_)


def gram(
    phi: Any,
    *,
    to: str | os.PathLike[str],
    diagonal: Literal["shift", "keep"] = "keep",
    objects: Sequence[str] | None = None,
    chunk_rows: int = CHUNK_ROWS,
) -> Any:
    """Write Phi Phi' of rows in blocks to a Zarr array.

    Parameters
    ----------
    phi : (n, p) RowBlocks; rows are objects.
    to, diagonal : as for ``kernel_matrix``.
    objects : names of the rows, if they are to be kept with the array.
    chunk_rows : rows and columns of a chunk of the array, at most.

    Examples
    --------
    >>> import tempfile
    >>> from nearfar.scale import FeatureMap, scratch
    >>> with scratch(tempfile.mkdtemp()) as made:
    ...     phi = FeatureMap("score").fit_transform([[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    ...     gram(phi, to=tempfile.mkdtemp() + "/K.zarr").shape
    (3, 3)
    """
    shifted = check_diagonal(diagonal)
    check_count(chunk_rows, "chunk_rows")
    check_target(to)
    if not isinstance(phi, RowBlocks):
        raise InputError(
            f"phi: expected rows in blocks, got {type(phi).__name__}; for a matrix in memory use "
            "nearfar.kernel.shifted_kernel, for a dask array nearfar.scale.from_dask"
        )
    facts: dict[str, Any] = {"diagonal": diagonal, "uninformed": uninformed(phi).tolist()}
    facts["shift"] = shift = smallest_eigenvalue(Factored(phi)) if shifted else 0.0
    if objects is not None:
        facts["objects"] = list(objects)
    with _new_array(os.fspath(to), phi, facts, chunk_rows) as (target, height):
        _write_all(phi, target, height, shift)
    if not isinstance(phi.backend, Engine):
        return _zarr().open_array(os.fspath(to), mode="r")
    import dask.array as da

    return da.from_zarr(os.fspath(to))  # type: ignore[no-untyped-call]


def _write_all(phi: RowBlocks, target: str, height: int, shift: float) -> None:
    """Write all tiles: a strip of rows of the matrix at a time, so that no two tasks write one chunk."""
    backend, n = phi.backend, phi.n_rows
    strips = [_strip(phi, first, min(first + height, n)) for first in range(0, n, height)]
    written: list[Handle] = []
    try:
        for i, strip in enumerate(strips):
            starts = [(i * height, j * height) for j in range(i + 1)]
            given = ([strip] * (i + 1), strips[: i + 1], starts)
            written += backend.map("kernel matrix", _write_tile, *given, shift=shift, target=target)
        backend.wait("kernel matrix", written)
    except BaseException:
        with suppress(OSError):  # without the head of the array workers stop writing to it
            os.remove(os.path.join(target, HEAD))
        if isinstance(backend, Engine):
            with suppress(Exception):
                require_dask().wait(written, timeout=STOP_SECONDS)
        raise


def _strip(phi: RowBlocks, first: int, last: int) -> Handle:
    """A handle of rows first..last-1, of however many blocks."""
    edges = [*phi.starts, phi.n_rows]
    inside = [b for b in range(len(phi.blocks)) if edges[b] < last and edges[b + 1] > first]
    starts = [max(first - edges[b], 0) for b in inside]
    stops = [min(last, edges[b + 1]) - edges[b] for b in inside]
    if len(inside) == 1 and (starts[0], stops[0]) == (0, phi.sizes[inside[0]]):
        return phi.blocks[inside[0]]
    blocks = [phi.blocks[b] for b in inside]
    return phi.backend.store("strips", _rows_between, [blocks], [starts], [stops])[0]


def check_target(to: str | os.PathLike[str]) -> None:
    """An error where a Zarr array cannot be written after the work: there is no Zarr, or something is there already."""
    _zarr()
    to = os.fspath(to)
    if "://" in to:
        return
    if os.path.exists(to):
        raise FileError(f"{to}: exists already; remove it or choose another name")
    if not os.path.isdir(os.path.dirname(os.path.abspath(to))):
        raise FileError(f"{to}: there is no directory {os.path.dirname(to)!r}; make it first")


@contextmanager
def _new_array(to: str, phi: RowBlocks, facts: dict[str, Any], chunk_rows: int) -> Iterator[tuple[str, int]]:
    """Yield where to write, and the height of a chunk; a local array appears under its name when it is whole, a remote one is marked so."""
    zarr = _zarr()
    height = max(1, min(max(phi.sizes, default=1), chunk_rows))
    with nullcontext(to) if "://" in to else atomic_path(to) as target:
        try:
            array = zarr.create_array(
                store=str(target),
                shape=(phi.n_rows, phi.n_rows),
                chunks=(height, height),
                dtype=phi.dtype,
                attributes={"nearfar": __version__, "whole": False, **facts},
            )
        except (OSError, ValueError, zarr.errors.ContainsArrayError) as error:
            raise FileError(f"{to}: cannot be written, {error}; choose another path") from error
        yield str(target), height
        array.attrs["whole"] = True


def _zarr() -> Any:
    return need("zarr", "zarr", "dask")


# -------------------------------------------------------------------- tasks


def _rows_between(blocks: list[Any], starts: list[int], stops: list[int]) -> Any:
    return join([block[a:b] for block, a, b in zip(blocks, starts, stops, strict=True)])


def _write_tile(rows: Any, others: Any, starts: tuple[int, int], shift: float, target: str) -> None:
    """Write the kernel between two strips of rows, and its mirror image."""
    zarr = _zarr()
    try:
        array = zarr.open_array(target, mode="r+")
    except FileNotFoundError as error:
        remedy = "give a path on a disk that all machines share, or an address such as s3://..."
        raise FileError(f"{target}: a worker does not see it; {remedy}") from error
    tile = cross_kernel(rows, others)
    if starts[0] == starts[1]:
        informed = informed_rows(rows)
        tile[informed, informed] -= shift
    (row, column), (height, width) = starts, tile.shape
    _put(array, target, slice(row, row + height), slice(column, column + width), tile)
    if row != column:
        _put(array, target, slice(column, column + width), slice(row, row + height), tile.T)


def _put(array: Any, target: str, rows: slice, columns: slice, tile: Any) -> None:
    if "://" not in target and not os.path.exists(os.path.join(target, HEAD)):
        return  # given up meanwhile
    try:
        array[rows, columns] = tile
    except OSError as error:
        raise FileError(f"{target}: cannot be written, {error}; make room there") from error
