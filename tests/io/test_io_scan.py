"""Batches: one object list, ids that stay put, bounded memory, errors when their turn comes."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from nearfar.errors import FileError, InputError, RowsError
from nearfar.io import read_triplets, scan_triplets, write_triplets
from nearfar.triplets import Triplets


def write(path, text):
    path.write_text(text)
    return path


def joined(batches, role):
    return np.concatenate([np.asarray(getattr(batch, role)) for batch in batches]).tolist()


def named(batches):
    return [tuple(batch.objects[i] for i in row) for batch in batches for row in batch.array.tolist()]


def test_many_files_share_one_object_list(tmp_path):
    write(tmp_path / "1.csv", "anchor,near,far\nb,c,d\nb,d,c\n")
    write(tmp_path / "2.jsonl", '{"anchor": "z", "near": "a", "far": "b"}\n')
    write_triplets(Triplets([0], [1], [2], ["m", "n", "o"]), tmp_path / "3.parquet")
    batches = list(scan_triplets(tmp_path / "*", batch_rows=1))
    assert len({batch.objects for batch in batches}) == 1
    assert batches[0].objects == ("a", "b", "c", "d", "m", "n", "o", "z")
    assert named(batches) == [("b", "c", "d"), ("b", "d", "c"), ("z", "a", "b"), ("m", "n", "o")]
    assert [len(batch) for batch in batches] == [1, 1, 1, 1]


def test_a_given_object_list_is_kept(tmp_path):
    path = write(tmp_path / "1.csv", "anchor,near,far\nb,c,d\n")
    (batch,) = scan_triplets(path, objects=["d", "c", "b", "x"])
    assert batch.objects == ("d", "c", "b", "x")
    assert batch.array.tolist() == [[2, 1, 0]]
    with pytest.raises(RowsError, match=r"line 2: not in the object list: far 'd'"):
        list(scan_triplets(path, objects=["b", "c"]))


def test_indices_count_objects_over_all_files(tmp_path):
    one, two = write(tmp_path / "1.csv", "0,1,2\n"), write(tmp_path / "2.csv", "0,1,7\n")
    batches = list(scan_triplets([one, two], dialect="things"))
    assert {batch.n_objects for batch in batches} == {8}
    assert joined(batches, "statement") == [0, 0, 1, 1]


def test_statements_are_one_over_batches_and_distinct_between_files(tmp_path):
    head = "anchor,near,far,statement\n"
    one = write(tmp_path / "1.csv", head + "a,b,c,0\na,b,c,1\na,b,c,0\na,b,c,\na,b,c,\n")
    two = write(tmp_path / "2.csv", head + "a,b,c,-3\na,b,c,1\n")
    for batch_rows in (1, 2, 100):
        ids = joined(list(scan_triplets([one, two], batch_rows=batch_rows)), "statement")
        assert ids[:3] == [0, 1, 0]
        assert len(set(ids)) == 6
    text = write(tmp_path / "3.csv", head + "a,b,c,x\na,b,c,\na,b,c,x\n")
    ids = joined(list(scan_triplets([one, text], batch_rows=2)), "statement")
    assert ids == ["1:0", "1:1", "1:0", "1:row 1", "1:row 2", "2:x", "2:row 1", "2:x"]
    assert joined(list(scan_triplets(text, batch_rows=2)), "statement") == ["x", "row 1", "x"]


def test_rows_of_several_triplets_stay_together(tmp_path):
    path = write(tmp_path / "1.csv", "a,b,c,odd\n" + "x,y,z,x\n" * 5)
    batches = list(scan_triplets([path, path], batch_rows=2))
    assert [len(batch) for batch in batches] == [4, 4, 2] * 2
    assert joined(batches, "statement") == [i // 2 for i in range(20)]


def test_participants_are_numbers_only_if_all_are(tmp_path):
    head = "anchor,near,far,participant\n"
    one, two = write(tmp_path / "1.csv", head + "a,b,c,1\n"), write(tmp_path / "2.csv", head + "a,b,c,x\n")
    assert joined(list(scan_triplets(one)), "participant") == [1]
    assert joined(list(scan_triplets([one, two])), "participant") == ["1", "x"]


def test_a_corrupt_file_in_the_middle_is_an_error_when_its_turn_comes(tmp_path):
    good = write(tmp_path / "1.csv", "anchor,near,far\na,b,c\na,c,b\n")
    (tmp_path / "2.csv.gz").write_bytes(b"\x1f\x8b" + b"broken")
    for objects in (None, ["a", "b", "c"]):
        scan = scan_triplets([good, tmp_path / "2.csv.gz", good], objects=objects, batch_rows=1)
        assert [len(next(scan)), len(next(scan))] == [1, 1]
        with pytest.raises(FileError, match=r"2\.csv\.gz: damaged"):
            next(scan)


def test_one_can_go_on_after_a_corrupt_file(tmp_path):
    """The objects of the files after it are known, though nothing was said about them yet."""
    first = write(tmp_path / "1.csv", "anchor,near,far,statement\nb,c,d,1\n")
    last = write(tmp_path / "3.csv", "anchor,near,far,statement\nb,c,d,1\na,z,b,7\n")
    for number, damage in enumerate(("a,b,b\n", "a,b\n", 'a,"b,c\n')):
        bad = write(tmp_path / f"2{number}.csv", "anchor,near,far\n" + damage)
        scan = scan_triplets([first, bad, last])
        before = next(scan)
        with pytest.raises(InputError, match=rf"2{number}\.csv, line 2"):
            next(scan)
        assert before.objects == ("a", "b", "c", "d", "z")
        after = list(scan_triplets(last, objects=before.objects))
        assert named([before, *after]) == [("b", "c", "d"), ("b", "c", "d"), ("a", "z", "b")]


def test_a_bad_row_is_an_error_with_its_line(tmp_path):
    path = write(tmp_path / "1.csv", "anchor,near,far\n" + "a,b,c\n" * 5 + "a,b,b\n" + "a,b,c\n" * 5)
    scan = scan_triplets(path, batch_rows=2)
    assert [len(next(scan)), len(next(scan))] == [2, 2]
    with pytest.raises(RowsError, match=r"line 7: the same object twice"):
        next(scan)


BAD_ROWS = ["a,b,b\n", "a,b\n", "a,b,c,d\n", "a,,c\n", "a,\udcff,c\n", 'a,b"c,d\n']


@pytest.mark.parametrize("bad", BAD_ROWS)
@pytest.mark.parametrize("objects", [None, ["a", "b", "c", "d"]])
def test_bad_rows_can_be_dropped(tmp_path, bad, objects):
    text = "anchor,near,far\n" + "a,b,c\n" * 3 + bad + "\n" + "d,b,c\n" * 4
    path = tmp_path / "1.csv"
    path.write_bytes(text.encode(errors="surrogateescape"))
    whole = read_triplets(path, on_bad="drop", objects=objects)
    for batch_rows in (1, 2, 100):
        batches = list(scan_triplets(path, on_bad="drop", objects=objects, batch_rows=batch_rows))
        assert named(batches) == named([whole])
        assert batches[0].objects == whole.objects
    with pytest.raises(InputError, match=r"on_bad must be 'error' or 'drop', got 'keep'"):
        scan_triplets(path, on_bad="keep")


def test_bad_indices_can_be_dropped(tmp_path):
    table = pl.DataFrame({"anchor": [0, 1, 5, 3], "near": [1, 2, 2, 3], "far": [2, 0, 9, 1]})
    table.write_parquet(tmp_path / "1.parquet")
    for n in (6, np.int64(6)):
        batches = list(scan_triplets(tmp_path / "1.parquet", objects=n, on_bad="drop", batch_rows=3))
        assert np.concatenate([batch.array for batch in batches]).tolist() == [[0, 1, 2], [1, 2, 0]]
    with pytest.raises(RowsError, match="2 of 4 rows"):
        list(scan_triplets(tmp_path / "1.parquet", objects=np.int64(6)))
    with pytest.raises(InputError, match="objects: must be a number from 0"):
        scan_triplets(tmp_path / "1.parquet", objects=-1)


def test_a_malformed_row_is_an_error_with_its_line(tmp_path):
    path = write(tmp_path / "1.csv", "anchor,near,far\n" + "a,b,c\n" * 5 + "a,b\n" + "a,b,c\n" * 5)
    with pytest.raises(RowsError, match=r"line 7: wrong number of cells: 2 cells"):
        list(scan_triplets(path, batch_rows=2))


def test_a_file_only_the_careful_reader_understands(tmp_path):
    """A quotation mark inside an unquoted cell is text to Python's csv and an error to polars."""
    path = write(tmp_path / "1.csv", "anchor,near,far\na,b,c\n" * 1 + 'a,5" disc,c\nb,a,c\n')
    assert named([read_triplets(path)]) == [("a", "b", "c"), ("a", '5" disc', "c"), ("b", "a", "c")]
    assert named(scan_triplets(path, batch_rows=1)) == [
        ("a", "b", "c"),
        ("a", '5" disc', "c"),
        ("b", "a", "c"),
    ]


def test_a_batch_needs_rows():
    with pytest.raises(InputError, match=r"batch_rows must be an integer >= 1, got 0"):
        scan_triplets("x.csv", batch_rows=0)


def test_errors_about_missing_files_come_at_once(tmp_path):
    with pytest.raises(FileError, match=r"there is no such file"):
        scan_triplets([tmp_path / "nope.csv"])


MEMORY = """
import sys
import nearfar.io as io
rows = sum(len(batch) for batch in io.scan_triplets(sys.argv[1], batch_rows=20_000))
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(rows, int(peak) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured as Linux counts it")
def test_memory_does_not_grow_with_the_answers(tmp_path):
    """Past the buffers of the reader (some 100 MB) it stays flat; keeping the batches would take 140 MB more."""
    rng = np.random.default_rng(0)
    names = pl.Series([f"object {i:03d}" for i in range(202)])
    peaks = []
    for m in (2_000_000, 5_500_000):
        first = pl.Series(rng.integers(0, 200, m))
        columns = {role: names.gather(first + i) for i, role in enumerate(("anchor", "near", "far"))}
        times = {"statement": pl.int_range(m, eager=True), "seconds": pl.Series(rng.random(m))}
        path = tmp_path / f"{m}.parquet"
        pl.DataFrame(columns | times | {"answered_at": times["seconds"]}).write_parquet(
            path, row_group_size=50_000
        )
        command = [sys.executable, "-c", MEMORY, str(path)]
        count, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert int(count) == m
        peaks.append(int(peak))
    assert peaks[1] - peaks[0] < 70
