"""What workers do on the way from answers to rows of Phi; the counting itself is that of ``nearfar.features``.

A piece of answers is counted into cells, which are cut by blocks of rows and made small for the journey; a block
adds up the cells it gets from all pieces. Counts are integers, so neither pieces nor their order leave a trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import distinct
from nearfar.features.counts import CountedCells, Counts
from nearfar.features.mapping import parse_kernel
from nearfar.features.part import ColumnCodes, Part
from nearfar.features.rows import rows_from_counts, stack
from nearfar.scale._answers import Piece

PartCells = tuple[CountedCells, ...]  # one for every part of the kernel


@dataclass(frozen=True)
class Recipe:
    """How to count: the kernel, how many objects, which are landmarks (None: all), and how many rows a block has."""

    kernel: str
    n_objects: int
    landmarks: tuple[int, ...] | None
    block_rows: int

    @property
    def parts(self) -> list[Part]:
        """The parts of the kernel."""
        return parse_kernel(self.kernel)

    @property
    def n_marks(self) -> int:
        """How many objects columns are made of."""
        return self.n_objects if self.landmarks is None else len(self.landmarks)

    @property
    def n_blocks(self) -> int:
        """How many blocks of rows there are; one without rows where there are no objects."""
        return max(1, -(-self.n_objects // self.block_rows))

    def must_find(self, part: Part) -> bool:
        """Whether the columns of a part are those that occur, and so are known only once all is counted."""
        return self.landmarks is None and part.of_pairs

    def rows_of(self, block: int) -> int:
        """How many rows a block has."""
        return min(self.block_rows, self.n_objects - block * self.block_rows)


def count_piece(recipe: Recipe, piece: Piece, names: Any) -> tuple[list[PartCells], int]:
    """The cells of every block in a piece of answers, and how many answers there were."""
    mark = _marks(recipe.n_objects, recipe.landmarks)
    counts = [Counts(part, recipe.n_objects, mark, recipe.n_marks, dense=False) for part in recipe.parts]
    n_answers = 0
    for batch in piece.read(names):
        n_answers += len(batch[0])
        for each in counts:
            each.add(*batch)
    by_part = [each.cut(recipe.block_rows) for each in counts]
    return [tuple(map(_small, cells)) for cells in zip(*by_part, strict=True)], n_answers


def merge(recipe: Recipe, block: int, pieces: list[PartCells]) -> PartCells:
    """The cells of a block from several pieces, or none, added up."""
    return tuple(_small(counts.cells()) for counts in _added(recipe, block, pieces))


def block_codes(recipe: Recipe, block: int, cells: PartCells) -> list[ColumnCodes]:
    """The columns of each part that occur in a block; none where all columns stay anyway."""
    codes = []
    for counts in _added(recipe, block, [cells]):
        keys = counts.cells().keys if recipe.must_find(counts.part) else np.empty(0, np.int64)
        codes.append(counts.part.codes(distinct(keys >> counts.row_bits), recipe.n_marks))
    return codes


def join_codes(blocks: list[list[ColumnCodes]]) -> list[ColumnCodes]:
    """The columns of each part that occur in any of several blocks."""
    return [distinct(np.concatenate(codes)) for codes in zip(*blocks, strict=True)]


def make_rows(
    recipe: Recipe,
    block: int,
    runs: list[PartCells],
    codes: list[ColumnCodes] | None,
    dense: list[bool],
    form: tuple[str, str],
) -> tuple[Any, tuple[NDArray[np.bool_], tuple[NDArray[Any], ...]]]:
    """Rows of Phi of a block; which of them are informed, and how many there are in each column of each part.

    From all the block's cells, over the given columns; ``form`` is (layout, dtype).
    """
    layout, dtype = form
    parts = []
    for i, counts in enumerate(_added(recipe, block, runs, dense)):
        own = codes[i] if codes is not None and recipe.must_find(counts.part) else None
        parts.append(rows_from_counts(counts, own, own is None, dtype))
    informed = np.any([part.informed for part in parts], axis=0)
    per_column = tuple(part.rows_per_column for part in parts)
    rows = stack([part.phi for part in parts], layout, dtype)
    if isinstance(rows, np.ndarray):
        rows = np.ascontiguousarray(rows)  # row by row, as k-means and neighbours read them
    return rows, (informed, per_column)


def _added(
    recipe: Recipe, block: int, pieces: list[PartCells], dense: list[bool] | None = None
) -> list[Counts]:
    first = block * recipe.block_rows
    mark = _marks(recipe.n_objects, recipe.landmarks)[first : first + recipe.rows_of(block)]
    added = []
    for i, part in enumerate(recipe.parts):
        counts = Counts(part, recipe.rows_of(block), mark, recipe.n_marks, dense=bool(dense and dense[i]))
        for cells in pieces:
            counts.add_cells(cells[i])
        counts.settle()
        added.append(counts)
    return added


def _small(cells: CountedCells) -> CountedCells:
    """The same numbers in as few bytes as they need; copied, so that a block holds on to nothing else."""
    kind = np.min_scalar_type(-1 - int(cells.total.max(initial=0)))
    short = int(cells.keys[-1]) < 2**32 if len(cells.keys) else True
    return CountedCells(
        cells.keys.astype(np.uint32 if short else np.int64), cells.net.astype(kind), cells.total.astype(kind)
    )


@lru_cache(maxsize=2)
def _marks(n_objects: int, landmarks: tuple[int, ...] | None) -> NDArray[Any]:
    """Mark of every object, its number among the column objects, -1 for none, in as few bytes as that needs."""
    if landmarks is None:
        return np.arange(n_objects, dtype=np.int32)
    kind = np.min_scalar_type(-1 - len(landmarks))
    mark = np.full(n_objects, -1, dtype=kind)
    mark[list(landmarks)] = np.arange(len(landmarks), dtype=kind)
    mark.flags.writeable = False
    return mark
