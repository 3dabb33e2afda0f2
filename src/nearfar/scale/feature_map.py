"""FeatureMap past memory: answers -> Phi in blocks of rows, on disk or on the workers of Dask."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from nearfar._tools.checks import check_count
from nearfar.blocks import Backend, Handle, RowBlocks
from nearfar.features import Columns
from nearfar.features.counts import grid_pays
from nearfar.features.mapping import check_form, landmark_indices, parse_kernel, warn_of_gaps
from nearfar.features.part import ColumnCodes, columns_of
from nearfar.features.rows import shared_columns
from nearfar.scale._answers import Answers, as_answers
from nearfar.scale._counting import PartCells, Recipe, block_codes, count_piece, join_codes, make_rows, merge
from nearfar.scale._engine import FAN_IN, current_backend
from nearfar.triplets import Triplets

BLOCK_BYTES = 1 << 27  # of Phi, at most
CHUNK_ROWS = 2048  # a block holds a whole number of these, so that the kernel matrix can be cut along them


class FeatureMap(BaseEstimator):  # type: ignore[misc]
    """``nearfar.FeatureMap`` on the active Dask client or scratch folder: the same rows to the last bit.

    The answers of a piece are counted, every block of rows gets the cells that belong to it, and these are added
    up; nobody ever holds all answers or all of Phi.

    Parameters
    ----------
    kernel, landmarks, layout, dtype : as for ``nearfar.FeatureMap``.
    fan_in : counted pieces that are added up at a time, at least 2; more of them are fewer passes and more memory.

    Attributes
    ----------
    features_ : (n, p) Phi as RowBlocks of ndarrays or csr_arrays.
    informed_ : (n,) whether the object has a non-zero row, RowBlocks.
    n_informed_ : how many have.
    uninformed_ : indices of the others.
    objects_ : names of the n objects.
    coverage_ : per kernel part, the columns that two informed objects share on average.
    columns_ : Columns, what each column is about.
    n_answers_ : how many answers were counted.

    Examples
    --------
    >>> import tempfile
    >>> from nearfar.scale import scratch
    >>> with scratch(tempfile.mkdtemp()):
    ...     FeatureMap("score").fit_transform([[0, 1, 2], [1, 0, 2], [2, 1, 0]]).to_array().shape
    (3, 3)
    """

    def __init__(
        self,
        kernel: str = "k1",
        *,
        landmarks: Sequence[str] | Sequence[int] | None = None,
        layout: Literal["auto", "dense", "sparse"] = "auto",
        dtype: DTypeLike = np.float64,
        fan_in: int = FAN_IN,
    ) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.layout = layout
        self.dtype = dtype
        self.fan_in = fan_in

    def fit(self, answers: Answers | Triplets | ArrayLike, y: object = None) -> FeatureMap:
        """Count the answers and make the rows of Phi; they stay in blocks."""
        check_form(self.layout, self.dtype)
        check_count(self.fan_in, "fan_in", least=2)
        engine, given = current_backend(), as_answers(answers)
        self.objects_ = given.objects
        self._mark_objects = landmark_indices(self.landmarks, given.objects)
        recipe = self._recipe(engine, given)
        cells, self.n_answers_ = _count(engine, recipe, given, self.fan_in)
        self._codes_handle = None
        if any(map(recipe.must_find, recipe.parts)):
            joined = _join(engine, recipe, cells)
            cells = [[each] for each in joined]
            occurring = engine.map("columns", block_codes, [recipe] * len(joined), range(len(joined)), joined)
            self._codes_handle = engine.reduce("columns", join_codes, occurring)
        self._make(engine, recipe, cells)
        return self

    def fit_transform(self, answers: Answers | Triplets | ArrayLike, y: object = None) -> Any:
        """Phi of the answers, one row per object, in blocks."""
        return self.fit(answers).features_

    @property
    def columns_(self) -> Columns:
        """What each column is about."""
        check_is_fitted(self, "features_")
        parts = parse_kernel(self.kernel)
        codes: list[ColumnCodes] = [part.all_codes(self._recipe_.n_marks) for part in parts]
        if self._codes_handle is not None:
            occurring = self.features_.backend.gather("columns", [self._codes_handle])[0]
            for i, part in enumerate(parts):
                codes[i] = occurring[i] if self._recipe_.must_find(part) else codes[i]
        return columns_of(parts, codes, self._mark_objects, tuple(self.objects_))

    # ---------------------------------------------------------------- inside

    def _recipe(self, engine: Backend, answers: Answers) -> Recipe:
        """Blocks so small that several fit into a worker beside each other, and enough of them for all cores."""
        parts, n, m = parse_kernel(self.kernel), answers.n_objects, answers.approximate
        landmarks = None if self.landmarks is None else tuple(self._mark_objects.tolist())
        marks = len(self._mark_objects)
        row_bytes = 1.0
        for part in parts:
            entries = m * part.cells_per_answer
            dense = self.layout == "dense" or grid_pays(n * part.n_columns(marks), entries)
            filled = part.n_columns(marks) * np.dtype(self.dtype).itemsize
            # a sparse entry takes 12 bytes
            row_bytes += filled if dense else min(filled, 12 * entries / max(n, 1))
        room = min(BLOCK_BYTES, engine.memory_per_task() // 16)  # several fit beside each other
        block_rows = min(int(room / row_bytes), -(-n // (2 * engine.n_cores())))
        if block_rows > CHUNK_ROWS:
            block_rows -= block_rows % CHUNK_ROWS
        self._recipe_ = Recipe(self.kernel, n, landmarks, max(1, block_rows))
        return self._recipe_

    def _make(self, engine: Backend, recipe: Recipe, cells: list[list[Handle]]) -> None:
        n, marks, m = recipe.n_objects, recipe.n_marks, self.n_answers_
        dense = [grid_pays(n * part.n_columns(marks), m * part.cells_per_answer) for part in recipe.parts]
        form = (self.layout, np.dtype(self.dtype).name)
        blocks = range(recipe.n_blocks)
        shared = {"codes": self._codes_handle, "dense": dense, "form": form}
        phi, facts = engine.store_pairs("rows", make_rows, [recipe] * len(blocks), blocks, cells, **shared)
        del cells[:]  # a block's cells may go once its rows are made
        informed = engine.map("informed", itemgetter(0), facts)
        per_column = engine.total("per-column", itemgetter(1), facts)
        del facts
        engine.wait("rows of Phi", phi)
        sizes = [recipe.rows_of(b) for b in blocks]
        (totals,) = engine.gather("columns", [per_column])
        width = sum(map(len, totals))
        self.features_ = RowBlocks(engine, phi, sizes, width, self.dtype, checked=True)
        self.informed_ = RowBlocks(engine, informed, sizes, None, np.bool_, checked=True)
        missing = self.uninformed_
        self.n_informed_ = n - len(missing)
        self.coverage_ = {
            part.name: shared_columns(rows, self.n_informed_)
            for part, rows in zip(recipe.parts, totals, strict=True)
        }
        warn_of_gaps(self.kernel, self.coverage_, n, [self.objects_[i] for i in missing])

    @property
    def uninformed_(self) -> NDArray[np.intp]:
        """Indices of the objects whose row is zero."""
        check_is_fitted(self, "features_")
        return np.flatnonzero(~self.informed_.to_array())


def _count(engine: Backend, recipe: Recipe, answers: Answers, fan_in: int) -> tuple[list[list[Handle]], int]:
    """Handles of the cells of every block, in a few runs that are to be added up, and how many answers there are."""
    per_answer = sum(part.cells_per_answer for part in recipe.parts)
    in_piece = answers.approximate * per_answer / max(1, len(answers.pieces))
    most = recipe.n_objects * sum(part.n_columns(recipe.n_marks) for part in recipe.parts)
    blocks = range(recipe.n_blocks)
    # a run has cells for every block, and blocks are added up side by side
    runs = Runs(
        enough_runs(in_piece, most, fan_in=fan_in),
        lambda several: _join(engine, recipe, [list(block) for block in zip(*several, strict=True)]),
    )
    numbers: list[Handle] = []
    for piece in answers.pieces:
        counted = engine.submit("count", count_piece, recipe, piece, answers.names)
        numbers.append(engine.submit("answers", itemgetter(1), counted))
        runs.add(engine.store("cells", _block_of, [counted] * len(blocks), blocks))
        del counted
    total = sum(engine.gather("counting answers", numbers))
    left = runs.left()
    return [[run[b] for run in left] for b in blocks], total


def _block_of(counted: tuple[list[PartCells], int], block: int) -> PartCells:
    return counted[0][block]


def _join(engine: Backend, recipe: Recipe, cells: list[list[Handle]]) -> list[Handle]:
    """The cells of every block, added up."""
    if all(len(runs) == 1 for runs in cells):
        return [run for (run,) in cells]
    return engine.store("merge", merge, [recipe] * len(cells), range(len(cells)), cells)


# -------------------------------------------------------------------- runs
# Runs of cells that are added up as they come, as log-structured merge trees do: little memory, and little work.
#
# Every piece of answers gives a block of rows a run of cells. Kept until the end, runs would take the memory of all
# answers; added up one by one, the sum would be gone through for every piece. So enough runs of a size make one of the
# next. A run holds a cell once, so sizes end where a run holds about all cells that can differ: runs of the last size
# are added up to a single one. That keeps about three times the cells that differ, whatever the number of answers.


def enough_runs(in_run: float, most: float, *, fan_in: int = FAN_IN) -> list[int]:
    """How many runs of each size make one of the next, from runs of so many cells to one of the most there can be.

    No more than ``fan_in`` runs are joined at once.

    >>> enough_runs(4e6, 1e9), enough_runs(4e6, 1e8), enough_runs(2e9, 1e9)
    ([16, 16], [16, 4], [])
    """
    enough = []
    size = max(1.0, in_run)
    while size < most:
        enough.append(min(fan_in, math.ceil(2 * most / size)))
        size *= enough[-1]
    return enough


class Runs:
    """The runs of one block of rows; ``join`` adds several up to one."""

    def __init__(self, enough: list[int], join: Callable[[list[Any]], Any]) -> None:
        self._enough = enough
        self._join = join
        self._growing: list[list[Any]] = [[] for _ in enough]
        self._last: list[Any] = []

    def add(self, run: Any) -> None:
        """Take one more run, of the smallest size."""
        for runs, enough in zip(self._growing, self._enough, strict=True):
            runs.append(run)
            if len(runs) < enough:
                return
            run = self._join(list(runs))
            runs.clear()
        self._last = [self._join([*self._last, run])] if self._last else [run]

    def left(self) -> list[Any]:
        """Those that are still to be added up."""
        return [run for runs in self._growing for run in runs] + self._last
