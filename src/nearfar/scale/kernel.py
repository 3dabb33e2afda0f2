"""The full kernel matrix, for whoever really wants it: written to Zarr block by block, never in one place."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

import nearfar
from nearfar.errors import FileError, MissingExtra
from nearfar.kernel.factored import informed_rows
from nearfar.kernel.matrix import cross_kernel
from nearfar.kernel.shift import check_diagonal, shift_and_matrix
from nearfar.scale._answers import Answers
from nearfar.scale._cut import Cut, cut_rows
from nearfar.scale._engine import Future, current_engine, require_dask
from nearfar.scale._parts import CutParts, uninformed_rows
from nearfar.scale.feature_map import CHUNK_ROWS, FeatureMap
from nearfar.triplets import Triplets

__all__ = ["check_place", "gram", "kernel_matrix"]

HEAD = "zarr.json"  # of an array on a disk
STOPPING = 15.0  # seconds that workers have to finish a tile when the rest is given up


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
    dask array : the (n, n) matrix, read from there when it is used. The attributes of the Zarr array tell ``objects``,
        ``uninformed`` (indices), ``diagonal``, ``shift``, and whether it is ``whole``.
    """
    check_diagonal(diagonal)
    check_place(to)
    fitted = FeatureMap(kernel, landmarks=landmarks, dtype=dtype).fit(answers)
    return gram(fitted.features_, to=to, diagonal=diagonal, objects=fitted.objects_)


def gram(
    phi: Any,
    *,
    to: str | os.PathLike[str],
    diagonal: Literal["shift", "keep"] = "keep",
    objects: Sequence[str] | None = None,
) -> Any:
    """Phi Phi' of a dask array in blocks of rows, written to a Zarr array.

    Parameters
    ----------
    phi : (n, p) dask array; rows are objects.
    to, diagonal : as for ``kernel_matrix``.
    objects : names of the rows, if they are to be kept with the array.
    """
    import dask.array as da

    shifted, engine = check_diagonal(diagonal), current_engine()
    check_place(to)
    cut = cut_rows(engine, _in_chunks(phi))
    missing = engine.gather("uninformed", engine.map("uninformed", uninformed_rows, cut.blocks, cut.starts))
    facts: dict[str, Any] = {"diagonal": diagonal, "uninformed": np.concatenate(missing).tolist()}
    facts["shift"] = shift = shift_and_matrix(CutParts(cut)).shift if shifted else 0.0  # type: ignore[arg-type]
    if objects is not None:
        facts["objects"] = list(objects)
    with _new_array(os.fspath(to), cut, facts) as place:
        pairs = [(i, j) for i in range(len(cut.blocks)) for j in range(i + 1)]
        written = [
            engine.submit(
                "write",
                _write_pair,
                cut.blocks[i],
                cut.blocks[j],
                (cut.starts[i], cut.starts[j]),
                place,
                shift if i == j else 0.0,
            )
            for i, j in pairs
        ]
        try:
            engine.wait("kernel matrix", written)
        except BaseException:
            _stop(place, written)
            raise
    return da.from_zarr(os.fspath(to))  # type: ignore[no-untyped-call]


def _in_chunks(phi: Any) -> Any:
    """Blocks of equal height that hold a whole number of chunks, so that no two tasks write one chunk."""
    import dask.array as da

    if not isinstance(phi, da.Array) or phi.ndim != 2:
        return phi  # cut_rows says what is wrong with it
    heights = phi.chunks[0]
    regular = len(set(heights[:-1])) <= 1 and heights[-1:] <= heights[:1]
    if regular and (heights[0] <= CHUNK_ROWS or heights[0] % CHUNK_ROWS == 0):
        return phi
    return phi.rechunk({0: min(phi.shape[0], CHUNK_ROWS)})  # type: ignore[no-untyped-call]


def check_place(to: str | os.PathLike[str]) -> None:
    """An error where a Zarr array cannot be written after the work: there is no Zarr, or something is there already."""
    _zarr()
    to = os.fspath(to)
    if "://" in to:
        return
    if os.path.exists(to):
        raise FileError(
            f"{to}: exists already; remove it or choose another name",
        )
    if not os.path.isdir(os.path.dirname(os.path.abspath(to))):
        raise FileError(
            f"{to}: there is no directory {os.path.dirname(to)!r}; make it first",
        )


@contextmanager
def _new_array(to: str, cut: Cut, facts: dict[str, Any]) -> Iterator[str]:
    """Yield where to write; a local array appears under its name when it is whole, a remote one is marked so."""
    zarr = _zarr()
    local = "://" not in to
    final = os.path.abspath(to) if local else to
    place = (
        os.path.join(os.path.dirname(final), f".{secrets.token_hex(4)}.tmp.{os.path.basename(final)}")
        if local
        else to
    )
    height = max(1, min(cut.sizes[0], CHUNK_ROWS))
    try:
        array = zarr.create_array(
            store=place,
            shape=(cut.n_rows, cut.n_rows),
            chunks=(height, height),
            dtype=cut.dtype,
            attributes={"nearfar": nearfar.__version__, "whole": False, **facts},
        )
    except (OSError, ValueError, zarr.errors.ContainsArrayError) as error:
        raise FileError(
            f"{to}: cannot be written, {error}; choose another place",
        ) from error
    try:
        yield place
        array.attrs["whole"] = True
        if local:
            os.rename(place, final)
    finally:
        if local:
            shutil.rmtree(place, ignore_errors=True)


def _stop(place: str, written: list[Future]) -> None:
    """Take the head off an array, so that workers stop writing to it, and wait for what they are at."""
    with suppress(OSError):
        os.remove(os.path.join(place, HEAD))
    with suppress(Exception):
        require_dask().wait(written, timeout=STOPPING)


def _zarr() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise MissingExtra("zarr", "dask") from error
    return zarr


# -------------------------------------------------------------------- tasks


def _write_pair(block: Any, other: Any, starts: tuple[int, int], place: str, shift: float) -> None:
    """Write the kernel between two blocks, and its mirror image, chunk by chunk."""
    zarr = _zarr()
    try:
        array = zarr.open_array(place, mode="r+")
    except FileNotFoundError as error:
        raise FileError(
            f"{place}: a worker does not see it; give a path on a disk that all machines share, or an address such "
            "as s3://...",
        ) from error
    row, column = starts
    height = array.chunks[0]
    for top in range(0, block.shape[0], height):
        strip = block[top : top + height]
        for left in range(0, other.shape[0], height):
            tile = cross_kernel(strip, other[left : left + height])
            if row == column and top == left:
                informed = informed_rows(strip)
                tile[informed, informed] -= shift
            rows = slice(row + top, row + top + tile.shape[0])
            columns = slice(column + left, column + left + tile.shape[1])
            _put(array, place, rows, columns, tile)
            if row != column:
                _put(array, place, columns, rows, tile.T)


def _put(array: Any, place: str, rows: slice, columns: slice, tile: Any) -> None:
    if "://" not in place and not os.path.exists(os.path.join(place, HEAD)):
        return  # given up meanwhile
    try:
        array[rows, columns] = tile
    except OSError as error:
        raise FileError(
            f"{place}: cannot be written, {error}; make room there",
        ) from error
