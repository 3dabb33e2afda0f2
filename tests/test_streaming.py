"""Answers past memory: counts that cannot overflow, batches from files, a damaged file in the middle."""

import numpy as np
import pytest

from nearfar import FeatureMap, Triplets
from nearfar.features import PARTS
from nearfar.features.counts import Counts, bits

# -------------------------------------------------------------------- integers with an overflow guard


@pytest.mark.filterwarnings("ignore::nearfar.errors.NearfarWarning")
@pytest.mark.parametrize("kernel", ["k1", "k2", "score"])
def test_a_cell_outgrows_its_integers(kernel):
    """40,000 equal answers and 10,000 of the contrary are past 16 bits; the ratio stays exact."""
    yes, no = [[0, 1, 2]] * 40_000, [[0, 2, 1]] * 10_000
    stream = FeatureMap(kernel)
    for batch in (yes[:30_000], no, yes[30_000:]):
        stream.partial_fit(Triplets.from_array(batch, n_objects=3))
    grid = stream._counts[0].grid
    assert grid.dtype == np.int32
    assert grid[..., 1].max() == 50_000 and np.abs(grid[..., 0]).max() == 30_000
    whole = FeatureMap(kernel).fit_transform(Triplets.from_array(yes + no, n_objects=3))
    assert np.array_equal(stream.features_, whole)


@pytest.mark.parametrize(("start", "kind"), [(2**15 - 10, np.int32), (2**31 - 10, np.int64)])
def test_the_grid_widens_in_the_middle_of_a_batch(start, kind):
    counts = Counts(PARTS["k1"], 3, np.arange(3, dtype=np.int32), 3)
    answers = Triplets.from_array([[0, 1, 2], [1, 0, 2]] * 10, n_objects=3)
    counts.add(answers)
    counts.grid = counts.grid.astype(np.int16 if start < 2**16 else np.int32)
    counts.grid[0, 2] = start
    counts.add(answers)
    assert counts.grid.dtype == kind
    assert counts.grid[0, 2].tolist() == [start + 10, start + 10]
    assert counts.grid[1, 1].tolist() == [20, 20]


def test_sparse_cells_widen_when_their_sum_could_overflow():
    counts = Counts(PARTS["k1"], 3, np.arange(3, dtype=np.int32), 3, dense=False)
    counts.add(Triplets.from_array([[0, 1, 2]], n_objects=3))
    cells = counts.cells()
    huge = cells._replace(net=np.array([2**31 - 1], np.int32), total=np.array([2**31 - 1], np.int32))
    counts.add_cells(huge)
    assert counts.cells().total.tolist() == [2**31] and counts.cells().net.tolist() == [2**31]


@pytest.mark.parametrize("block_rows", [1, 3, 4, 7, 100])
def test_cells_cut_by_rows_are_the_cells_of_the_rows(block_rows):
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(7)[:3] for _ in range(60)])
    answers, place = Triplets.from_array(rows, n_objects=7), np.arange(7, dtype=np.int32)
    whole = Counts(PARTS["score"], 7, place, 7, dense=False)
    whole.add(answers)
    grid = Counts(PARTS["score"], 7, place, 7, dense=True)
    grid.add(answers)
    blocks = whole.cut(block_rows)
    assert len(blocks) == -(-7 // block_rows)
    for number, cells in enumerate(blocks):
        first = number * block_rows
        size = min(block_rows, 7 - first)
        assert (np.diff(cells.keys) > 0).all()
        counts = Counts(PARTS["score"], size, place, 7, dense=True)
        assert counts.row_bits == bits(size)
        counts.add_cells(cells)
        counts.settle()
        assert np.array_equal(counts.grid, grid.grid[first : first + size])
