"""FeatureMap over many machines: answers -> Phi as a dask array in blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from nearfar.features import Columns
from nearfar.features.counts import grid_pays
from nearfar.features.feature_map import (
    SOME,
    check_form,
    columns_of,
    landmark_indices,
    parse_kernel,
    shared_columns,
    warn_of_gaps,
)
from nearfar.features.part import Codes
from nearfar.scale._answers import Answers, as_answers
from nearfar.scale._counting import (
    Counted,
    PartCells,
    Recipe,
    block_codes,
    count_piece,
    join_codes,
    make_rows,
    merge,
)
from nearfar.scale._cut import dask_rows
from nearfar.scale._engine import Engine, Future, current_engine
from nearfar.scale.merge_tree import Runs, enough_runs
from nearfar.triplets import Triplets

__all__ = ["FeatureMap"]

BLOCK_BYTES = 1 << 27  # of Phi, at most
TASKS_AT_ONCE = 16  # blocks of Phi that must fit into what a task may use
ENTRY_BYTES = 12  # of a sparse Phi
CHUNK_ROWS = 2048  # a block holds a whole number of these, so that the kernel matrix can be cut along them


class FeatureMap(BaseEstimator):  # type: ignore[misc]
    """``nearfar.FeatureMap`` on the workers of the active Dask client: the same rows to the last bit.

    Workers count the answers of a piece each, send every block of rows the cells that belong to it, and add those
    up; no machine ever holds all answers or all of Phi.

    Parameters
    ----------
    kernel, landmarks, layout, dtype : as for ``nearfar.FeatureMap``.

    Attributes
    ----------
    features_ : (n, p) Phi as a dask array in blocks of rows, ndarrays or csr_arrays, held by the workers.
    informed_ : (n,) whether the object has a non-zero row, a dask array.
    n_informed_ : how many have.
    objects_ : names of the n objects.
    coverage_ : per kernel part, the columns that two informed objects share on average.
    columns_ : Columns, what each column is about.
    n_answers_ : how many answers were counted.
    """

    def __init__(
        self,
        kernel: str = "k1",
        *,
        landmarks: Sequence[str] | Sequence[int] | None = None,
        layout: Literal["auto", "dense", "sparse"] = "auto",
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.layout = layout
        self.dtype = dtype

    def fit(self, answers: Answers | Triplets | ArrayLike, y: object = None) -> FeatureMap:
        """Count the answers and make the rows of Phi; they stay with the workers."""
        check_form(self.layout, self.dtype)
        engine, given = current_engine(), as_answers(answers)
        self.objects_ = given.objects
        self._place_objects = landmark_indices(self.landmarks, given.objects)
        recipe = self._recipe(engine, given)
        cells, self.n_answers_ = _count(engine, recipe, given)
        self._codes_future = None
        if any(map(recipe.must_find, recipe.parts)):
            cells = [[_join(engine, recipe, b, runs)] for b, runs in enumerate(cells)]
            self._codes_future = _find_columns(engine, recipe, [joined for (joined,) in cells])
        self._make(engine, recipe, cells)
        return self

    def fit_transform(self, answers: Answers | Triplets | ArrayLike, y: object = None) -> Any:
        """Phi of the answers, one row per object: a dask array."""
        return self.fit(answers).features_

    @property
    def columns_(self) -> Columns:
        """What each column is about."""
        check_is_fitted(self, "features_")
        parts = parse_kernel(self.kernel)
        found: list[Codes] = (
            [np.empty(0, np.int64)] * len(parts)
            if self._codes_future is None
            else current_engine().result("columns", self._codes_future)
        )
        codes = [
            own if self._recipe_.must_find(part) else part.all_codes(self._recipe_.n_places)
            for part, own in zip(parts, found, strict=True)
        ]
        return columns_of(parts, codes, self._place_objects, tuple(self.objects_))

    # ---------------------------------------------------------------- inside

    def _recipe(self, engine: Engine, answers: Answers) -> Recipe:
        """Blocks so small that several fit into a worker beside each other, and enough of them for all cores."""
        parts, n, m = parse_kernel(self.kernel), answers.n_objects, answers.approximate
        landmarks = None if self.landmarks is None else tuple(self._place_objects.tolist())
        places = len(self._place_objects)
        row_bytes = 1.0
        for part in parts:
            entries = m * part.cells_per_answer
            dense = self.layout == "dense" or grid_pays(n * part.n_columns(places), entries)
            filled = part.n_columns(places) * np.dtype(self.dtype).itemsize
            row_bytes += filled if dense else min(filled, ENTRY_BYTES * entries / max(n, 1))
        room = min(BLOCK_BYTES, engine.memory_per_task() // TASKS_AT_ONCE)
        block_rows = min(int(room / row_bytes), -(-n // (2 * engine.n_cores())))
        if block_rows > CHUNK_ROWS:
            block_rows -= block_rows % CHUNK_ROWS
        self._recipe_ = Recipe(self.kernel, n, landmarks, max(1, block_rows))
        return self._recipe_

    def _make(self, engine: Engine, recipe: Recipe, cells: list[list[Future]]) -> None:
        dense = [
            grid_pays(
                recipe.n_objects * part.n_columns(recipe.n_places), self.n_answers_ * part.cells_per_answer
            )
            for part in recipe.parts
        ]
        form = (self.layout, np.dtype(self.dtype).name)
        blocks = range(recipe.n_blocks)
        rows = [
            engine.submit("rows", make_rows, recipe, b, cells[b], dense, self._codes_future, form)
            for b in blocks
        ]
        del cells[:]  # a block's cells may go once its rows are made
        phi = engine.map("phi", attrgetter("phi"), rows)
        informed = engine.map("informed", attrgetter("informed"), rows)
        per_column = engine.reduce(
            "per-column", _add_up, engine.map("per-column", attrgetter("per_column"), rows)
        )
        del rows
        engine.wait("rows of Phi", phi)
        sizes = [recipe.rows_of(b) for b in blocks]
        totals: list[NDArray[np.int64]] = engine.result("columns", per_column)
        width = sum(map(len, totals))
        is_dense = self.layout == "dense" or (self.layout == "auto" and all(dense))
        empty = np.empty((0, 0), self.dtype)
        self.features_ = dask_rows(phi, sizes, width, empty if is_dense else sparse.csr_array(empty))
        self.informed_ = dask_rows(informed, sizes, None, np.empty(0, bool))
        self._tell(engine, recipe, informed, totals)

    def _tell(self, engine: Engine, recipe: Recipe, informed: list[Future], totals: list[Any]) -> None:
        gaps = engine.gather("informed", engine.map("gaps", _gaps, informed))
        n, n_missing = recipe.n_objects, sum(count for count, _ in gaps)
        self.n_informed_ = n - n_missing
        self.coverage_ = {
            part.name: shared_columns(rows, self.n_informed_)
            for part, rows in zip(recipe.parts, totals, strict=True)
        }
        missing = [b * recipe.block_rows + i for b, (_, first) in enumerate(gaps) for i in first]
        warn_of_gaps(self.kernel, self.coverage_, n, n_missing, [self.objects_[i] for i in missing[:SOME]])


def _count(engine: Engine, recipe: Recipe, answers: Answers) -> tuple[list[list[Future]], int]:
    """Futures of the cells of every block, in a few runs that are to be added up, and how many answers there are."""
    in_piece = answers.approximate * recipe.cells_per_answer / max(1, len(answers.pieces))
    enough = enough_runs(in_piece, recipe.n_cells)
    blocks = range(recipe.n_blocks)
    runs = [Runs(enough, partial(_join, engine, recipe, b)) for b in blocks]
    numbers: list[Future] = []
    for piece in answers.pieces:
        counted = engine.submit("count", count_piece, recipe, piece, answers.names)
        numbers.append(engine.submit("answers", attrgetter("n_answers"), counted))
        for b, cells in enumerate(engine.map("cells", _block_of, [counted] * len(blocks), blocks)):
            runs[b].add(cells)
    total = sum(engine.gather("counting answers", numbers))
    return [each.left() for each in runs], total


def _join(engine: Engine, recipe: Recipe, block: int, runs: list[Future]) -> Future:
    return runs[0] if len(runs) == 1 else engine.submit("merge", merge, recipe, block, runs)


def _find_columns(engine: Engine, recipe: Recipe, cells: list[Future]) -> Future:
    """A future of the columns that occur."""
    found = engine.map("columns", block_codes, [recipe] * len(cells), range(recipe.n_blocks), cells)
    return engine.reduce("columns", join_codes, found)


# -------------------------------------------------------------------- small tasks


def _block_of(counted: Counted, block: int) -> PartCells:
    return counted.blocks[block]


def _add_up(blocks: list[list[NDArray[np.int64]]]) -> list[NDArray[np.int64]]:
    return [np.sum(part, axis=0) for part in zip(*blocks, strict=True)]


def _gaps(informed: NDArray[np.bool_]) -> tuple[int, list[int]]:
    """(how many rows of a block are zero, the first few of them)."""
    missing = np.flatnonzero(~informed)
    return len(missing), missing[:SOME].tolist()
