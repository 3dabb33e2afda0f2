"""What is written is what is read, through every format and dialect."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from io_tools import OPTIONAL, assert_same, names, same_partition, triplets

from nearfar.errors import FileError
from nearfar.evaluate.collection import summarise
from nearfar.io import read_answers, read_triplets, scan_triplets, write_triplets
from nearfar.triplets import Triplets

# drawn names may look alike, and drawn times may look like milliseconds
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*some names differ only by",
    "ignore:.*which looks like milliseconds",
    "ignore:.*have no participant",
)

TEXT_FORMATS = ["csv", "tsv", "jsonl", "csv.gz", "csv.zst", "tsv.gz", "jsonl.gz", "jsonl.zst"]


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


@pytest.mark.parametrize("extension", TEXT_FORMATS)
@given(answers=triplets())
@settings(max_examples=25)
def test_text_formats(folder, extension, answers):
    path = folder / f"answers.{extension}"
    write_triplets(answers, path)
    assert_same(read_triplets(path, objects=answers.objects), answers)


@pytest.mark.parametrize("extension", ["parquet", "npz"])
@given(answers=triplets())
@settings(max_examples=40)
def test_typed_formats_keep_the_object_list_and_the_types(folder, extension, answers):
    path = folder / f"answers.{extension}"
    write_triplets(answers, path)
    assert_same(read_triplets(path), answers, exact_types=True)


@pytest.mark.parametrize("extension", ["csv", "jsonl", "parquet"])
@given(answers=triplets(statements=False))
@settings(max_examples=25)
def test_left_and_right_dialects(folder, extension, answers):
    for dialect in ("salmon", "next"):
        path = folder / f"{dialect}.{extension}"
        answers = answers.replace(seconds=None if answers.seconds is None else np.abs(answers.seconds))
        write_triplets(answers, path, dialect=dialect)
        back = read_triplets(path, objects=answers.objects)
        columns = [role for role in OPTIONAL if role not in ("near_side", "seconds")]
        assert_same(back, answers, columns=columns)
        if dialect == "salmon":
            known = answers.near > answers.far if answers.near_side is None else answers.near_side
            np.testing.assert_array_equal(back.near_side, known)
        elif answers.near_side is None:
            assert back.near_side is None
        else:
            np.testing.assert_array_equal(back.near_side, answers.near_side)
        if answers.seconds is not None:
            np.testing.assert_array_equal(back.seconds, answers.seconds)


@given(answers=triplets())
@settings(max_examples=25)
def test_triplettools(folder, answers):
    if "NA" in answers.objects:  # R's blank
        return
    path = folder / "answers.csv"
    write_triplets(answers, path, dialect="tripletTools")
    back = read_triplets(path, objects=answers.objects)
    assert_same(back, answers, columns=["statement"] + ["rule"] * (answers.rule is not None))
    if answers.seconds is not None:
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(back.seconds, answers.seconds * 1000 / 1000, rtol=1e-15)


statement_rows = st.lists(st.permutations(range(4)).map(lambda p: p[:3]), min_size=1, max_size=5)


@pytest.mark.parametrize("kind", ["odd-one-out", "most-central"])
@pytest.mark.parametrize("extension", ["csv", "jsonl.zst", "parquet"])
@given(rows=statement_rows, objects=st.lists(names, min_size=4, max_size=4, unique=True), data=st.data())
@settings(max_examples=15)
def test_statements_survive(folder, kind, extension, rows, objects, data):
    ids = data.draw(st.lists(st.integers(-5, 99), min_size=len(rows), max_size=len(rows), unique=True))
    make = Triplets.from_odd_one_out if kind == "odd-one-out" else Triplets.from_most_central
    answers = make(rows, objects, statement=ids, participant=[f"p{i}" for i in range(len(rows))])
    path, canonical = folder / f"{kind}.{extension}", folder / f"canonical.{extension}"
    write_triplets(answers, path, dialect=kind)
    back = read_triplets(path, objects=objects)
    assert_same(back, answers)
    write_triplets(back, canonical)
    assert_same(read_triplets(canonical, objects=objects), answers)


@given(
    answers=triplets(max_size=12),
    batch_rows=st.integers(1, 5),
    extension=st.sampled_from(["csv", "parquet", "npz"]),
)
@settings(max_examples=40)
def test_a_scan_gives_the_same_answers_in_pieces(folder, answers, batch_rows, extension):
    path = folder / f"scanned.{extension}"
    write_triplets(answers, path)
    batches = list(scan_triplets(path, batch_rows=batch_rows))
    assert all(len(batch) <= batch_rows for batch in batches)
    assert len({batch.objects for batch in batches}) == 1
    whole = read_triplets(path)
    assert batches[0].objects == whole.objects
    for role in OPTIONAL:
        if getattr(whole, role) is not None:
            pieces = np.concatenate([np.asarray(getattr(batch, role)) for batch in batches])
            np.testing.assert_array_equal(pieces, np.asarray(getattr(whole, role)), err_msg=role)
    np.testing.assert_array_equal(np.concatenate([batch.array for batch in batches]), whole.array)


trials = st.lists(
    st.tuples(st.sampled_from(["ann", "bob", "p7"]), st.integers(1, 3)), min_size=2, max_size=10
)


@pytest.mark.parametrize("extension", ["csv", "jsonl", "parquet", "npz"])
@given(said=trials, numeric=st.booleans(), batch_rows=st.integers(1, 4))
@settings(max_examples=20)
def test_trials_numbered_for_every_person_are_statements_of_one_person(
    folder, extension, said, numeric, batch_rows
):
    people = [who for who, _ in said]
    ids = [number if numeric else f"trial {number}" for _, number in said]
    answers = Triplets.from_array([[0, 1, 2]] * len(said), ["x", "y", "z"], statement=ids, participant=people)
    path, again = folder / f"trials.{extension}", folder / f"again.{extension}"
    write_triplets(answers, path)
    whole = read_triplets(path)
    write_triplets(whole, again)
    pieces = [batch.to_frame() for batch in scan_triplets(path, batch_rows=batch_rows)]
    for back in (
        whole,
        read_triplets(again),
        read_triplets(pl.concat(pieces)),
        read_triplets(whole.to_frame()),
    ):
        assert same_partition(back.statement_ids, said)
        assert_same(back, answers)
    twice = [(number, *one) for number in (1, 2) for one in said]
    assert same_partition(read_triplets([path, again]).statement_ids, twice)
    both = pl.concat([batch.to_frame() for batch in scan_triplets([path, again], batch_rows=batch_rows)])
    assert same_partition(read_triplets(both).statement_ids, twice)


def test_a_column_of_trials_that_every_person_counts_from_1(tmp_path):
    path = tmp_path / "trials.csv"
    path.write_text("who,trial,q,n,f\nann,1,a,b,c\nann,1,a,b,d\nbob,1,a,c,b\nbob,2,b,c,d\n")
    roles = {"participant": "who", "statement": "trial", "anchor": "q", "near": "n", "far": "f"}
    assert read_triplets(path, columns=roles).statement_ids.tolist() == [0, 0, 1, 2]
    assert summarise(read_answers(path, columns=roles))["statements"] == 3


FORMULAS = ["=1+1", "+x", "-x", "@x", "'=1", "''+2", "-1", "'-1", "\t=1", "'tis", "'"]


@pytest.mark.parametrize("extension", ["csv", "tsv.gz", "xlsx", "jsonl"])
def test_no_spreadsheet_runs_a_name_and_every_name_comes_back(folder, extension):
    m = len(FORMULAS)
    rows = [[i, (i + 1) % m, (i + 2) % m] for i in range(m)]
    answers = Triplets.from_array(rows, FORMULAS, participant=FORMULAS, statement=FORMULAS)
    path = folder / f"formulas.{extension}"
    write_triplets(answers, path)
    assert_same(read_triplets(path, objects=FORMULAS), answers)
    if extension == "csv":
        cells = {cell for line in path.read_text().splitlines() for cell in line.split(",")}
        assert not [cell for cell in cells if cell[0] in "=+@" or (cell[0] == "-" and cell != "-1")]


@pytest.mark.filterwarnings("error")
def test_times_beyond_any_sum_come_back_without_a_warning(tmp_path):
    answers = Triplets([2, 2], [1, 1], [0, 0], ["a", "b", "c"], seconds=[8.98846567e307, 8.98846567e307])
    write_triplets(answers, tmp_path / "answers.parquet")
    assert read_triplets(tmp_path / "answers.parquet").seconds.tolist() == answers.seconds.tolist()


@pytest.mark.filterwarnings("ignore:list-order. bare rows of indices have no room for statement")
@pytest.mark.parametrize("extension", ["csv", "tsv", "txt", "jsonl", "parquet", "xlsx", "npy", "npz"])
def test_bare_rows_in_every_format(tmp_path, extension):
    """Some formats cannot do without names of columns; their rows are read back all the same."""
    rows = [[0, 1, 2], [1, 0, 2], [3, 2, 0], [2, 3, 0]]
    answers = Triplets.from_array(rows, statement=np.array([0, 0, 1, 1]))
    for dialect in ["list-order", *(["things"] if extension[:2] != "np" else [])]:
        write_triplets(answers, tmp_path / f"rows.{extension}", dialect=dialect)
        assert read_triplets(tmp_path / f"rows.{extension}", dialect=dialect).array.tolist() == rows


@pytest.mark.filterwarnings("error")
def test_a_workbook_holds_addresses_as_text(tmp_path):
    """Excel has room for 65,530 links, and shows 'internal:x' as 'x'."""
    objects = [
        "http://a.org/1.png",
        "internal:x",
        "mailto:a@b.c",
        "external:c",
        "https://b.org/" + "y" * 3000,
    ]
    rows = np.stack([np.arange(22_000) % 5, np.arange(1, 22_001) % 5, np.arange(2, 22_002) % 5], axis=1)
    answers = Triplets.from_array(rows, objects)
    write_triplets(answers, tmp_path / "links.xlsx")
    assert_same(read_triplets(tmp_path / "links.xlsx", objects=objects), answers)
    with pytest.raises(FileError, match="a cell has 40,000 characters"):
        write_triplets(Triplets.from_array([[0, 1, 2]], ["x" * 40_000, "y", "z"]), tmp_path / "long.xlsx")
    assert not (tmp_path / "long.xlsx").exists()
