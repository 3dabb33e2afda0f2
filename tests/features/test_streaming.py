"""Answers past memory: counts that cannot overflow, batches from files, a damaged file in the middle."""

import pickle
import shutil
import subprocess
import sys
import tracemalloc
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scale_tools import dense
from strategies import roles

from nearfar import FeatureMap, Triplets, read_triplets, scan_triplets
from nearfar.errors import CoverageWarning, FileError, InputError, UninformedWarning
from nearfar.features import PARTS
from nearfar.features.counts import Counts, bits, count_keys
from nearfar.io.batches import Reader

# -------------------------------------------------------------------- integers with an overflow guard


@pytest.mark.parametrize("kernel", ["k1", "k2", "score"])
@pytest.mark.parametrize("small", [np.int16, np.int32])
def test_the_grid_widens_before_a_cell_could_overflow(kernel, small):
    counts = Counts(PARTS[kernel], 3, np.arange(3, dtype=np.int32), 3)
    answers = Triplets.from_array([[0, 1, 2]], n_objects=3)
    counts.add(*roles(answers))
    assert counts.grid.dtype == np.int16
    most = np.iinfo(small).max - 1
    counts.grid = counts.grid.astype(small) * small(most)
    counts._most = most  # as after so many answers
    before = counts.grid.astype(np.int64)
    for _ in range(5):
        counts.add(*roles(answers))
    assert counts.grid.dtype.itemsize == 2 * np.dtype(small).itemsize
    assert np.array_equal(counts.grid, before + 5 * np.sign(before))


def test_a_cell_that_two_anchors_count_into_does_not_overflow():
    counts = Counts(PARTS["score"], 3, np.arange(3, dtype=np.int32), 3)
    counts.add(*roles(Triplets.from_array([[0, 1, 2], [1, 0, 2]] * 20_000, n_objects=3)))
    assert counts.grid[0, 1].tolist() == counts.grid[1, 0].tolist() == [40_000, 40_000]


def test_sparse_cells_widen_when_their_sum_could_overflow():
    counts = Counts(PARTS["k1"], 3, np.arange(3, dtype=np.int32), 3, dense=False)
    counts.add(*roles(Triplets.from_array([[0, 1, 2]], n_objects=3)))
    cells = counts.cells()
    huge = cells._replace(net=np.array([2**31 - 1], np.int32), total=np.array([2**31 - 1], np.int32))
    counts.add_cells(huge)
    assert counts.cells().total.tolist() == [2**31] and counts.cells().net.tolist() == [2**31]


@pytest.mark.parametrize("block_rows", [1, 3, 4, 7, 100])
def test_cells_cut_by_rows_are_the_cells_of_the_rows(block_rows):
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(7)[:3] for _ in range(60)])
    answers, mark = Triplets.from_array(rows, n_objects=7), np.arange(7, dtype=np.int32)
    whole = Counts(PARTS["score"], 7, mark, 7, dense=False)
    whole.add(*roles(answers))
    grid = Counts(PARTS["score"], 7, mark, 7, dense=True)
    grid.add(*roles(answers))
    blocks = whole.cut(block_rows)
    assert len(blocks) == -(-7 // block_rows)
    for number, cells in enumerate(blocks):
        first = number * block_rows
        size = min(block_rows, 7 - first)
        assert (np.diff(cells.keys) > 0).all()
        counts = Counts(PARTS["score"], size, mark, 7, dense=True)
        assert counts.row_bits == bits(size)
        counts.add_cells(cells)
        counts.settle()
        assert np.array_equal(counts.grid, grid.grid[first : first + size])


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 5))
def test_cells_are_counted_as_by_a_dictionary(signed, n_threads):
    net, total = Counter(), Counter()
    for key in signed:
        net[key >> 1] += 2 * (key & 1) - 1
        total[key >> 1] += 1
    cells = count_keys(np.array(signed, dtype=np.int64), n_threads, few=5)
    wanted = sorted(total)
    assert [column.tolist() for column in cells] == [
        wanted,
        [net[key] for key in wanted],
        [total[key] for key in wanted],
    ]


# -------------------------------------------------------------------- files


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Three Parquet files of indices, and the answers in them."""
    folder, rng = tmp_path_factory.mktemp("answers"), np.random.default_rng(0)
    parts = []
    for number, size in enumerate((700, 1100, 400)):
        rows = np.array([rng.permutation(40)[:3] for _ in range(size)], dtype=np.int32)
        parts.append(Triplets.from_array(rows, n_objects=40))
        table = pl.DataFrame(dict(zip(("anchor", "near", "far"), rows.T, strict=True)))
        table.write_parquet(folder / f"{number}.parquet", row_group_size=150)
        table.write_csv(folder / f"{number}.csv")
    return folder, parts


def stream(fitted, paths, **options):
    for batch in scan_triplets(paths, **options):
        fitted.partial_fit(batch)
    return fitted


@pytest.mark.parametrize(("pattern", "objects"), [("*.parquet", 40), ("*.csv", 40), ("*.parquet", None)])
@pytest.mark.parametrize("batch_rows", [1, 97, 5000])
def test_files_in_batches_of_any_size_give_the_features_of_the_whole(files, pattern, objects, batch_rows):
    folder, parts = files
    paths = sorted(folder.glob(pattern))
    if batch_rows == 1:
        paths, parts = paths[2:], parts[2:]
    whole = FeatureMap("k1+score").fit_transform(Triplets.concatenate(parts))
    for order in (paths, paths[::-1]):
        fitted = stream(FeatureMap("k1+score"), order, objects=objects, batch_rows=batch_rows)
        assert fitted.objects_ == parts[0].objects
        assert np.array_equal(dense(fitted.features_), dense(whole))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_stream_can_be_put_aside(files, layout):
    """What was counted survives a pickle, and the stream goes on after it."""
    _, parts = files
    fitted = FeatureMap("k1+k2+score", layout=layout)
    for part in parts:
        fitted = pickle.loads(pickle.dumps(fitted.partial_fit(part)))
    whole = FeatureMap("k1+k2+score", layout=layout).fit_transform(Triplets.concatenate(parts))
    assert np.array_equal(dense(fitted.features_), dense(whole))


def test_gaps_are_warned_of_when_features_are_asked_for():
    fitted = FeatureMap("k1")
    for answer in ([0, 1, 2], [3, 4, 5]):
        fitted.partial_fit(Triplets.from_array([answer], n_objects=7))
    with (
        pytest.warns(UninformedWarning, match="5 of 7 objects"),
        pytest.warns(CoverageWarning, match="share 0"),
    ):
        assert fitted.features_.shape == (7, 2)
    assert fitted.uninformed_objects_ == ["1", "2", "4", "5", "6"]


def test_indices_are_not_looked_up(files):
    """A Parquet file of whole numbers, with n given, needs neither a dictionary nor a list of names."""
    folder, parts = files
    reader = Reader(folder / "0.parquet", objects=3_000_000)
    (source,) = reader.sources
    tracemalloc.start()
    read = [batch.triplets.to_numpy() for batch in reader.batches(reader.open(source), 300)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(np.concatenate(read), parts[0].array)
    assert peak < 20_000_000  # of Python's objects; the names alone would take nine times as much
    batches = list(scan_triplets(folder / "0.parquet", objects=40, batch_rows=300))
    assert np.array_equal(np.concatenate([batch.array for batch in batches]), parts[0].array)
    assert all(batch.objects is batches[0].objects for batch in batches)


@pytest.mark.parametrize("harm", ["footer", "page", "row", "beyond", "blank"])
def test_a_bad_file_in_the_middle_is_named_and_nothing_is_lost(files, tmp_path, harm):
    folder, parts = files
    paths = [tmp_path / f"{number}.parquet" for number in range(3)]
    for path in paths:
        shutil.copy(folder / path.name, path)
    table = pl.read_parquet(paths[1])
    if harm == "footer":
        paths[1].write_bytes(paths[1].read_bytes()[:-200])
    elif harm == "page":
        data = bytearray(paths[1].read_bytes())
        middle = len(data) // 2
        data[middle : middle + 400] = bytes(400)
        paths[1].write_bytes(data)
    else:
        value = {"row": pl.col("near"), "beyond": pl.lit(40), "blank": pl.lit(None)}[harm]
        broken = pl.when(pl.int_range(pl.len()) == 801).then(value).otherwise(pl.col("far")).alias("far")
        table.with_columns(broken).write_parquet(paths[1], row_group_size=150)
    fitted = FeatureMap("score")
    expected = {
        "footer": "Parquet",
        "page": "",
        "row": "row 801: the same object",
        "beyond": "row 801",
        "blank": "row 801",
    }
    with pytest.raises(InputError, match=rf"1\.parquet.*{expected[harm]}"):
        stream(fitted, paths, objects=40, batch_rows=200)
    done = fitted._counts[0].n_answers
    assert 700 <= done <= 1500  # the first file, and what came before the harm
    before = Triplets.concatenate(parts)[:done]
    assert np.array_equal(dense(fitted.features_), dense(FeatureMap("score").fit_transform(before)))
    stream(fitted, paths[2], objects=40)
    both = Triplets.concatenate([before, parts[2]])
    assert np.array_equal(dense(fitted.features_), dense(FeatureMap("score").fit_transform(both)))


@pytest.mark.parametrize("objects", [40, None])
def test_data_that_cannot_be_decoded_is_no_end_of_file(tmp_path, objects):
    """Polars stops a stream of batches there without a word, so rows are counted."""
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(40)[:3] for _ in range(1100)], dtype=np.int32)
    path = tmp_path / "answers.parquet"
    pl.DataFrame(rows, schema=["anchor", "near", "far"]).write_parquet(path, row_group_size=150)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 400] = bytes(400)
    path.write_bytes(data)
    with pytest.raises(FileError, match=r"answers\.parquet: cannot be read to its end, it is damaged"):
        list(scan_triplets(path, objects=objects, batch_rows=200))
    with pytest.raises(FileError, match=r"answers\.parquet: cannot be read to its end, it is damaged"):
        read_triplets(path, objects=objects)


MEMORY = """
import resource, sys
import nearfar as nf
landmarks = range(8)
stream = nf.FeatureMap("k1", landmarks=landmarks)
for _ in range(int(sys.argv[2])):
    for batch in nf.scan_triplets(sys.argv[1], objects=5000, batch_rows=50_000):
        stream.partial_fit(batch)
assert stream.features_.shape == (5000, 28)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_depend_on_the_answers(tmp_path):
    rng = np.random.default_rng(0)
    anchor, near = rng.integers(8, 5000, 500_000), rng.integers(0, 8, 500_000)
    table = pl.DataFrame({"anchor": anchor, "near": near, "far": (near + rng.integers(1, 8, 500_000)) % 8})
    table.cast(pl.Int32).write_parquet(tmp_path / "answers.parquet")
    peaks = []
    for rounds in ("1", "8"):
        command = [sys.executable, "-c", MEMORY, str(tmp_path / "answers.parquet"), rounds]
        peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert peaks[1] < 1.15 * peaks[0]  # 4 million answers are 48 MB
