"""Answers in pieces: what a worker reads and counts at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.triplets import Triplets, as_triplets

PIECE_ROWS = 500_000  # of answers held in memory; 6 MB on their way to a worker

Roles = tuple[NDArray[np.int32], ...]
"""(anchor, near, far) of some answers, as indices: what counting needs of Triplets."""


class Piece(Protocol):
    """Some of the answers, wherever they lie. It travels to a worker and is read there."""

    def read(self, names: Any) -> Iterator[Roles]:
        """The answers as indices, in batches; ``names`` is what ``Answers.names`` stands for, on the worker."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers that are not in memory here, as ``nearfar.scale.read_triplets`` makes them.

    Attributes
    ----------
    pieces : what a worker reads at a time.
    objects : the names of all n objects, in index order.
    names : what the workers need to turn names into indices; None where files hold indices.
    approximate : about how many answers there are, for cutting work.

    Examples
    --------
    >>> as_answers([[0, 1, 2], [1, 0, 2]])
    Answers(about 2 in 1 pieces, 3 objects)
    """

    pieces: tuple[Piece, ...]
    objects: Sequence[str]
    names: Any
    approximate: int

    @property
    def n_objects(self) -> int:
        """How many objects there are, answered about or not."""
        return len(self.objects)

    def __repr__(self) -> str:
        return f"Answers(about {self.approximate:,} in {len(self.pieces)} pieces, {self.n_objects:,} objects)"


@dataclass(frozen=True, eq=False)
class MemoryPiece:
    """Answers that travel with the task itself."""

    batch: Roles

    def read(self, names: Any) -> Iterator[Roles]:
        """The one batch there is."""
        yield self.batch


def as_answers(answers: Answers | Triplets | ArrayLike, *, piece_rows: int = PIECE_ROWS) -> Answers:
    """Answers as they are; Triplets or an (m, 3) array of indices in pieces of ``piece_rows`` answers; a dask DataFrame."""
    if isinstance(answers, Answers):
        return answers
    if hasattr(answers, "__dask_graph__"):
        from nearfar.scale.reading import read_triplets

        return read_triplets(answers)  # type: ignore[arg-type]
    triplets = as_triplets(answers)
    cuts = [slice(start, start + piece_rows) for start in range(0, len(triplets), piece_rows)]
    pieces = [MemoryPiece((triplets.anchor[c], triplets.near[c], triplets.far[c])) for c in cuts]
    return Answers(tuple(pieces), triplets.objects, None, len(triplets))
