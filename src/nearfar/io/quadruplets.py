"""Quadruplets, d(a, b) < d(c, d): for embeddings. Kernels, and all that holds out answers, need one anchor."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import FileError, TripletError
from nearfar.io.dialects import QUADRUPLETS
from nearfar.io.objects import read_columns
from nearfar.io.sources import find_sources
from nearfar.io.typed_tables import load_arrays
from nearfar.triplets.ids import order_names, positions


@dataclass(frozen=True, eq=False)
class Quadruplets:
    """Answers "a is nearer to b than c is to d": ``array`` has (m, 4) indices of them, ``objects`` the names.

    >>> len(Quadruplets(np.array([[0, 1, 2, 3]]), ("fig", "plum", "lime", "kiwi")))
    1
    """

    array: NDArray[np.int32]
    objects: tuple[str, ...]

    def __post_init__(self) -> None:
        same = (self.array[:, 0] == self.array[:, 1]) | (self.array[:, 2] == self.array[:, 3])
        if same.any():
            row = int(same.argmax()) + 1
            raise TripletError(f"quadruplet {row}: an object is paired with itself; expected two objects")

    def __len__(self) -> int:
        return len(self.array)

    @property
    def n_objects(self) -> int:
        """How many objects there are."""
        return len(self.objects)


def as_quadruplets(given: Any) -> Quadruplets | None:
    """Quadruplets as they are, or of an (m, 4) array of indices; None where it is anything else."""
    if isinstance(given, Quadruplets):
        return given
    array = given if isinstance(given, np.ndarray) else np.empty((0, 0))
    if array.ndim != 2 or array.shape[1] != 4 or array.dtype.kind not in "iu" or array.min(initial=0) < 0:
        return None
    return Quadruplets(array.astype(np.int32), tuple(map(str, range(int(array.max(initial=-1)) + 1))))


def read_quadruplets(path: str | os.PathLike[str]) -> Quadruplets:
    """Read quadruplets, d(a, b) < d(c, d): a table with the columns a, b, c, d, or an .npy file of (m, 4) indices.

    Embeddings fit them (``nf.fit(quadruplets, "soe-2")``); kernels, folds and reports need triplets, which have one anchor.

    Examples
    --------
    >>> import tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "pairs.csv")
    >>> with open(file, "w") as stream:
    ...     _ = stream.write("a,b,c,d\\nfig,plum,lime,kiwi\\nfig,lime,plum,kiwi\\n")
    >>> read_quadruplets(file).array.tolist()
    [[0, 3, 2, 1], [0, 2, 3, 1]]
    """
    source = find_sources(path)[0]
    if source.format == "npy":
        made = as_quadruplets(load_arrays(source)[""])
        if made is None:
            raise FileError(f"{source.name}: expected an (m, 4) array of whole numbers from 0")
        return made
    rows = list(zip(*read_columns(source, QUADRUPLETS).values(), strict=True))
    if blank := [
        number for number, row in enumerate(rows, 1) if not all(cell and cell.strip() for cell in row)
    ]:
        raise FileError(f"{source.name}: row {blank[0]} has a blank cell; expected four objects")
    names = [str(cell) for row in rows for cell in row]
    objects = order_names(names)
    return Quadruplets(positions(names, objects).reshape(-1, 4), tuple(objects))
