"""Rows in blocks: the one matrix type of the methods, held in memory, in files, or by the workers of a cluster.

A method is written as functions of one block and sums over blocks. Where blocks lie is the business of a *backend*.
``LOCAL`` calls the functions here; the usual matrix in memory is one block, which costs nothing extra. ``Scratch``
does the same with blocks that lie in files, for more rows than memory holds. ``nearfar.scale`` adds a backend that
sends the functions to the workers of Dask. A backend knows a value by a *handle*: the value itself, a file, a future.
"""

from __future__ import annotations

import mmap
import operator
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from nearfar._tools import memory, threads
from nearfar._tools.progress import track
from nearfar.errors import FileError

Handle = Any
Function = Callable[..., Any]
# all pages at once, where the system can: one by one they cost more than the work on them
READ_ALL: dict[str, Any] = (
    {"flags": mmap.MAP_SHARED | mmap.MAP_POPULATE, "prot": mmap.PROT_READ}
    if hasattr(mmap, "MAP_POPULATE")
    else {"access": mmap.ACCESS_READ}
)


class Backend:
    """Runs functions of blocks; this one calls them in this process, side by side where there are several blocks.

    Arguments may be handles; ``shared`` ones are the same for all blocks.
    """

    def submit(self, name: str, function: Function, *arguments: Any) -> Handle:
        """The result of one call; arguments may also be lists of handles."""
        return function(*map(_opened, arguments))

    def map(self, name: str, function: Function, *columns: Iterable[Any], **shared: Any) -> list[Handle]:
        """``function(*row, **shared)`` for every row of the zipped columns."""
        return list(self._results(name, function, columns, shared))

    def store(self, name: str, function: Function, *columns: Iterable[Any], **shared: Any) -> list[Handle]:
        """As ``map``, for results as large as blocks of rows: they lie where those lie."""
        return [self._kept(result) for result in self._results(name, function, columns, shared)]

    def store_pairs(
        self, name: str, function: Function, *columns: Iterable[Any], **shared: Any
    ) -> tuple[list[Handle], list[Handle]]:
        """As ``store``, for pairs of a large result and a small one that goes with it."""
        pairs = [(self._kept(one), other) for one, other in self._results(name, function, columns, shared)]
        return [large for large, _ in pairs], [small for _, small in pairs]

    def total(self, name: str, function: Function, *columns: Iterable[Any], **shared: Any) -> Handle:
        """The sum of the results of ``map``, in order; only a few of them are held at a time."""
        return add_all(self._results(name, function, columns, shared))

    def reduce(self, name: str, function: Callable[[list[Any]], Any], handles: Sequence[Handle]) -> Handle:
        """``function(list of values)``, by groups where there are many; the order of values is kept."""
        return function(list(map(_opened, handles)))

    def wait(self, name: str, handles: Sequence[Handle]) -> None:
        """Until all are there."""

    def gather(self, name: str, handles: Sequence[Handle]) -> list[Any]:
        """The values, here."""
        return list(map(_opened, handles))

    def memory_per_task(self) -> int:
        """Bytes that one function may take: a share of what is free, at most 2 GB."""
        return min(2 << 30, memory.available_bytes() // (2 * self.n_cores()))

    def n_cores(self) -> int:
        """How many functions run side by side."""
        return threads.n_threads()

    def _kept(self, rows: Any) -> Handle:
        """Rows in memory stay where they are."""
        return rows

    def _results(
        self, name: str, function: Function, columns: tuple[Iterable[Any], ...], shared: dict[str, Any]
    ) -> Iterator[Any]:
        """The results in order, as many at a time as there are threads."""
        rows = list(zip(*columns, strict=True))
        values = {key: _opened(value) for key, value in shared.items()}

        def call(*row: Any) -> Any:
            return function(*map(_opened, row), **values)

        if len(rows) <= 1:
            yield from (call(*row) for row in rows)
            return
        at_once = self.n_cores()
        for start in track(range(0, len(rows), at_once), name):
            with threads.one_blas_thread():  # blocks have the cores already
                results = threads.run(call, rows[start : start + at_once])
            yield from results


LOCAL = Backend()


class Scratch(Backend):
    """As ``LOCAL``, with blocks of rows in files, for matrices past memory; ``close`` removes them all.

    Parameters
    ----------
    folder : where to make a folder for the files; it must exist and have room for about two copies of Phi.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._count = 0
        self._mapped: WeakSet[Stored] = WeakSet()
        try:
            self.folder = tempfile.mkdtemp(prefix="nearfar-", dir=folder)
        except OSError as error:
            raise FileError(
                f"{os.fspath(folder)}: cannot be used as a scratch folder ({error.strerror}); give a folder that "
                "exists and can be written"
            ) from error

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kept(self, rows: Any) -> Handle:
        """Rows go into a file of their own; an eighth of the memory may stay mapped."""
        self._count += 1
        stored = Stored(rows, os.path.join(self.folder, f"{self._count:06d}.rows"))
        if sum(other.size for other in self._mapped) + stored.size <= memory.available_bytes() // 8:
            stored.stays_mapped = True
            self._mapped.add(stored)
        return stored


class Stored:
    """A value in a file, memory-mapped wherever it is used; the file goes when nobody needs it any more.

    To map a file anew for every step costs more than many a step, so it may stay mapped.
    """

    stays_mapped = False

    def __init__(self, value: Any, path: str) -> None:
        self.path = path
        self._mapped: memoryview | None = None
        self._spans: list[tuple[int, int]] = []
        buffers: list[pickle.PickleBuffer] = []
        self._head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        try:
            with open(path, "wb") as file:
                for buffer in buffers:
                    file.write(bytes(-file.tell() % 64))  # arrays are aligned
                    start = file.tell()
                    file.write(buffer.raw())
                    self._spans.append((start, file.tell()))
                self.size = file.tell()
        except OSError as error:
            raise FileError(
                f"{os.path.dirname(path)}: cannot write to the scratch folder ({error.strerror}); make room there, "
                "or choose a folder on a larger disk"
            ) from error

    def open(self) -> Any:
        """The value; its arrays lie in the file, read when they are looked at, and cannot be changed."""
        mapped = self._mapped or (
            self._map() if self.size else memoryview(b"")
        )  # no empty file can be mapped
        if self.stays_mapped:
            self._mapped = mapped
        return pickle.loads(self._head, buffers=[mapped[start:stop] for start, stop in self._spans])

    def _map(self) -> memoryview:
        try:
            with open(self.path, "rb") as file:
                return memoryview(mmap.mmap(file.fileno(), 0, **READ_ALL))
        except OSError as error:
            raise FileError(
                f"{self.path}: the block is no longer there ({error.strerror}); use what is computed inside the "
                "with block of the scratch folder"
            ) from error

    def __del__(self) -> None:
        with suppress(OSError, AttributeError, TypeError):  # also while Python shuts down
            os.remove(self.path)


def _opened(argument: Any) -> Any:
    if isinstance(argument, Stored):
        return argument.open()
    return list(map(_opened, argument)) if type(argument) is list else argument


def add_all(terms: Iterable[Any]) -> Any:
    """The sum of one or more arrays, numbers, or tuples of those, in order.

    >>> add_all([(1, 2.0), (3, 4.0)])
    (4, 6.0)
    """

    def add(one: Any, other: Any) -> Any:
        return tuple(map(add, one, other)) if isinstance(one, tuple) else one + other

    return reduce(add, terms)


def join(pieces: Sequence[Any]) -> Any:
    """Blocks of rows one below the other, dense or csr; a single one is not copied."""
    if len(pieces) == 1:
        return pieces[0]
    if any(map(sparse.issparse, pieces)):
        return sparse.csr_array(sparse.vstack(pieces))
    return np.concatenate(pieces)


class RowBlocks:
    """A matrix, or a vector with an entry per object, in blocks of consecutive rows.

    Parameters
    ----------
    backend : who holds the blocks.
    blocks : handles of (rows, width) ndarrays or csr_arrays; of (rows,) ndarrays where ``width`` is None.
    sizes : how many rows each block has.
    width, dtype : of all blocks.
    checked : whether all values are known to be finite.
    """

    def __init__(
        self,
        backend: Backend,
        blocks: Sequence[Handle],
        sizes: Sequence[int],
        width: int | None,
        dtype: DTypeLike,
        *,
        checked: bool = False,
    ) -> None:
        self.backend = backend
        self.blocks = list(blocks)
        self.sizes = tuple(map(int, sizes))
        self.width = width
        self.dtype = np.dtype(dtype)
        self.checked = checked

    @classmethod
    def of(cls, matrix: Any) -> RowBlocks:
        """A matrix in memory, as one block: neither copied nor looked at.

        >>> RowBlocks.of(np.eye(3))
        RowBlocks of shape (3, 3), float64, in 1 block
        """
        return cls(LOCAL, [matrix], [matrix.shape[0]], matrix.shape[1], matrix.dtype, checked=True)

    def __repr__(self) -> str:
        many = f"{len(self.blocks)} block{'s' * (len(self.blocks) != 1)}"
        return f"RowBlocks of shape {self.shape}, {self.dtype}, in {many}"

    @property
    def n_rows(self) -> int:
        """Rows of all blocks."""
        return sum(self.sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, width), or (n,)."""
        return (self.n_rows,) if self.width is None else (self.n_rows, self.width)

    @property
    def starts(self) -> list[int]:
        """Number of the first row of every block."""
        return [0, *np.cumsum(self.sizes)[:-1].tolist()] if self.sizes else []

    @property
    def nbytes(self) -> int:
        """Bytes of the rows, if they are dense."""
        return self.n_rows * (self.width or 1) * self.dtype.itemsize

    def map(self, name: str, function: Function, *columns: Iterable[Any], **shared: Any) -> list[Handle]:
        """Handles of ``function(block, *row, **shared)``; every column has a value or handle per block."""
        return self.backend.map(name, function, self.blocks, *columns, **shared)

    def total(self, name: str, function: Function, *columns: Iterable[Any], **shared: Any) -> Handle:
        """A handle of the sum of what ``map`` would give."""
        return self.backend.total(name, function, self.blocks, *columns, **shared)

    def gather(self, name: str, function: Function, *columns: Iterable[Any], **shared: Any) -> list[Any]:
        """The values of ``map``, here."""
        return self.backend.gather(name, self.map(name, function, *columns, **shared))

    def sum(self, name: str, function: Function, *columns: Iterable[Any], **shared: Any) -> Any:
        """The value of ``total``, here."""
        return self.backend.gather(name, [self.total(name, function, *columns, **shared)])[0]

    def like(self, handles: Sequence[Handle], width: int | None, dtype: DTypeLike) -> RowBlocks:
        """Another matrix of the same rows in the same blocks."""
        return RowBlocks(self.backend, handles, self.sizes, width, dtype, checked=True)

    def cut(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """An array with an entry per row, cut as the blocks are."""
        return np.split(values, np.cumsum(self.sizes)[:-1]) if len(self.sizes) > 1 else [values]

    def take(self, rows: NDArray[Any], pick: Function | None = None) -> Any:
        """The given rows, in their order, here; ``pick(block, rows)`` takes them out of a block."""
        edges = np.concatenate([[0], np.cumsum(self.sizes)])
        home = np.searchsorted(edges, rows, side="right") - 1
        used = np.unique(home)
        if not len(used):
            used = np.zeros(1, dtype=np.intp)
        blocks, wanted = [self.blocks[b] for b in used], [rows[home == b] - edges[b] for b in used]
        picked = self.backend.map("picking rows", pick or operator.getitem, blocks, wanted)
        pieces = self.backend.gather("picking rows", picked)
        order = np.argsort(np.concatenate([np.flatnonzero(home == b) for b in used]), kind="stable")
        stacked = join(pieces)
        return stacked if np.array_equal(order, np.arange(len(order))) else stacked[order]

    def to_array(self, name: str = "fetching rows") -> Any:
        """All rows here, as one ndarray or csr_array."""
        return join(self.backend.gather(name, self.blocks))

    compute = to_array  # the name that Dask's arrays have for it

    def __getitem__(self, rows: Any) -> Any:
        """The rows of an integer, a slice, a mask or a list of numbers, here; others stay where they are.

        >>> RowBlocks.of(np.eye(3))[1:]
        array([[0., 1., 0.],
               [0., 0., 1.]])
        """
        wanted = np.arange(self.n_rows)[rows]
        return self.take(wanted) if wanted.ndim else self.take(wanted[None])[0]
