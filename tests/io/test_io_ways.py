"""Answers that are not in a text file: arrays, data frames, standard input, many files; and the ways out."""

import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from io_tools import assert_same, named, read

from nearfar.errors import FileError, NearfarError, NearfarWarning, RowsError, TripletError
from nearfar.io import read_answers, read_triplets, write_triplets
from nearfar.triplets import Triplets

# ---------------------------------------------------------------- arrays


def test_list_order_is_what_an_array_means():
    rows = np.array([[0, 1, 2], [3, 1, 0]])
    assert read_triplets(rows).array.tolist() == rows.tolist()
    assert read_triplets(rows, objects=list("wxyz")).objects == ("w", "x", "y", "z")


@pytest.mark.parametrize("response", [[True, False], [1, 0], [1, -1], [1.0, 0.0]])
def test_list_boolean(response):
    answers = read_triplets((np.array([[0, 1, 2], [0, 1, 2]]), np.array(response)), dialect="list-boolean")
    assert answers.array.tolist() == [[0, 1, 2], [0, 2, 1]]


def test_list_count_keeps_every_vote_and_sets_the_undecided_aside():
    result = read_answers((np.array([[0, 1, 2]] * 4), np.array([2, -1, 0, 1])), dialect="list-count")
    assert result.triplets.array.tolist() == [[0, 1, 2], [0, 1, 2], [0, 2, 1], [0, 1, 2]]
    assert result.checks.select("line", "kind").rows() == [(2, "undecided")]


def test_responses_that_are_none():
    rows = np.array([[0, 1, 2]])
    with pytest.raises(RowsError, match=r"row 0: no response: response '2'"):
        read_triplets((rows, np.array([2])), dialect="list-boolean")
    with pytest.raises(RowsError, match=r"row 0: no count: response '0\.5'"):
        read_triplets((rows, np.array([0.5])), dialect="list-count")


def test_npz_and_npy_files(tmp_path):
    rows = np.array([[0, 1, 2], [2, 0, 1]], dtype=np.uint8)
    np.savez(
        tmp_path / "order.npz", triplets=rows, names=np.array(["x", "y", "z"]), participant=[4, 5], note="hi"
    )
    answers = read_triplets(tmp_path / "order.npz")
    assert named(answers) == [("x", "y", "z"), ("z", "x", "y")]
    assert np.asarray(answers.participant).tolist() == [4, 5]
    assert read_triplets(tmp_path / "order.npz", objects=["z", "y", "x"]).array.tolist() == [
        [2, 1, 0],
        [0, 2, 1],
    ]
    with pytest.raises(RowsError, match=r"row 0: not in the object list: column 2 '1'"):
        read_triplets(tmp_path / "order.npz", objects=["z", "x"])
    np.savez(tmp_path / "votes.npz", triplets=rows, response=[1, -2])
    assert len(read_triplets(tmp_path / "votes.npz", dialect="list-count")) == 3
    np.savez(tmp_path / "odd.npz", odd_one_out=rows)
    assert read_triplets(tmp_path / "odd.npz").array.tolist()[:2] == [[0, 1, 2], [1, 0, 2]]
    central = read_triplets(tmp_path / "order.npz", dialect="most-central")
    assert named(central)[0] == ("y", "x", "z")
    np.save(tmp_path / "rows.npy", rows)
    assert read_triplets(tmp_path / "rows.npy").array.tolist() == rows.tolist()
    np.savez(tmp_path / "names.npz", anchor=["p"], near=["q"], far=["r"])
    assert named(read_triplets(tmp_path / "names.npz")) == [("p", "q", "r")]


# ---------------------------------------------------------------- other ways in


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_data_frames_of_any_library(library):
    frame = {
        "a": ["x", "x"],
        "b": ["y", "y"],
        "c": ["z", "z"],
        "odd": ["z", None],
        "participant": ["p", None],
    }
    with pytest.raises(RowsError, match=r"data frame, row 1: blank cell: odd ''"):
        read_triplets(library(frame))
    assert named(read_answers(library(frame), on_bad="drop").triplets) == [("x", "y", "z"), ("y", "x", "z")]


def test_a_pyarrow_table_and_typed_columns():
    import pyarrow as pa

    when = pd.Timestamp("2023-11-14 22:13:20", tz="UTC")
    table = pa.table({"anchor": [1, 2], "near": [2, 10], "far": [10, 1], "answered_at": [when, when]})
    answers = read_triplets(table)
    assert answers.objects == ("1", "2", "10")
    assert answers.answered_at.tolist() == [1.7e9, 1.7e9]
    mixed = pd.DataFrame(
        {"anchor": [1, "x"], "near": [2.0, 3.0], "far": ["a", "b"], "statement": [1.0, None]}
    )
    assert named(read_triplets(mixed)) == [("1", "2", "a"), ("x", "3", "b")]


@pytest.mark.filterwarnings("ignore:.*have no participant")
def test_missing_values_of_pandas_and_a_column_that_is_there_twice():
    frame = pd.DataFrame(
        {
            "anchor": pd.array(["a", "b"], dtype="string"),
            "near": ["b", "c"],
            "far": ["c", "a"],
            "participant": pd.array([7, None], dtype="Int64"),
            "seconds": pd.array([1.5, None], dtype="Float64"),
            "answered_at": pd.to_datetime(["2023-11-14 22:13:20", None]),
        }
    )
    for given in (frame, frame.convert_dtypes()):
        answers = read_triplets(given)
        assert named(answers) == [("a", "b", "c"), ("b", "c", "a")]
        assert np.asarray(answers.participant).tolist() == ["7", ""]
        assert answers.seconds[0] == 1.5 and np.isnan(answers.seconds[1])
        assert answers.answered_at[0] == 1.7e9 and np.isnan(answers.answered_at[1])
    twice = pd.DataFrame([["a", "b", "c", "d"]], columns=["anchor", "near", "far", "near"])
    with pytest.raises(FileError, match=r"data frame: a column is there twice \(.*'near' 2 times\)"):
        read_triplets(twice)


def test_standard_input_is_known_by_its_first_bytes(tmp_path, monkeypatch):
    answers = Triplets([0, 1], [1, 2], [2, 0], ["a", "b", "c"], statement=[4, 4])
    for extension in ("csv", "tsv", "jsonl", "csv.gz", "csv.zst", "jsonl.zst", "parquet", "npz"):
        write_triplets(answers, tmp_path / f"answers.{extension}")
        data = (tmp_path / f"answers.{extension}").read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert_same(read_triplets("-"), answers)


def test_a_json_array_as_salmon_exports_it(tmp_path):
    text = '[{"head": 0, "left": 1, "right": 2, "winner": 2, "puid": "p"}, 5]'
    result = read(tmp_path, text, "responses.json", on_bad="drop")
    assert result.triplets.array.tolist() == [[0, 2, 1]]
    assert result.rejected.select("line", "reason").rows() == [(2, "not a JSON object")]


@pytest.mark.filterwarnings("ignore:.*have no participant")
def test_a_key_that_appears_late_in_jsonl_is_not_lost(tmp_path):
    line = '{"anchor": "a", "near": "b", "far": "c"}\n'
    text = line * 3000 + line.replace("}", ', "participant": "late"}')
    people = read(tmp_path, text, "answers.jsonl").triplets.participant
    assert (people == "late").sum() == 1


def test_files_are_joined_and_statements_kept_apart(tmp_path):
    (tmp_path / "one.csv").write_text("a,b,c,odd\nx,y,z,z\n")
    (tmp_path / "two.csv").write_text("anchor,near,far,statement\nx,y,w,0\n")
    for source in ([tmp_path / "one.csv", tmp_path / "two.csv"], str(tmp_path / "*.csv")):
        result = read_answers(source)
        assert named(result.triplets) == [("x", "y", "z"), ("y", "x", "z"), ("x", "y", "w")]
        assert np.asarray(result.triplets.statement).tolist() == [0, 0, 1]
        assert [source.dialect for source in result.sources] == ["odd-one-out", "canonical"]


def test_rejected_rows_name_their_file(tmp_path):
    (tmp_path / "one.csv").write_text("anchor,near,far\na,b,b\n")
    (tmp_path / "two.csv").write_text("anchor,near,far\na,b,c\na,a,b\n")
    result = read_answers([tmp_path / "one.csv", tmp_path / "two.csv"], on_bad="drop")
    assert result.rejected["file"].to_list() == [str(tmp_path / "one.csv"), str(tmp_path / "two.csv")]
    assert result.rejected["line"].to_list() == [2, 3]


# ---------------------------------------------------------------- writing


def test_what_bare_rows_have_no_room_for_is_named(tmp_path):
    answers = Triplets.from_odd_one_out([[0, 1, 2]], ["x", "y", "z"], participant=["p"])
    with pytest.warns(
        NearfarWarning, match=r"things: .* no room for the names of objects, participant; left out"
    ):
        write_triplets(answers, tmp_path / "bare.csv", dialect="things")
    assert (tmp_path / "bare.csv").read_text() == "0,1,2\n"
    plain = Triplets.from_odd_one_out([[0, 1, 2], [2, 0, 1]])
    write_triplets(plain, tmp_path / "plain.tsv", dialect="things")
    assert_same(read_triplets(tmp_path / "plain.tsv", dialect="things"), plain)


def test_arrays_can_be_written_as_rows(tmp_path):
    answers = Triplets.from_array([[0, 1, 2], [2, 1, 0]], ["x", "y", "z"], statement=[8, 9])
    write_triplets(answers, tmp_path / "rows.npz", dialect="list-order")
    assert np.load(tmp_path / "rows.npz")["triplets"].tolist() == answers.array.tolist()
    assert_same(read_triplets(tmp_path / "rows.npz"), answers)
    bare = Triplets.from_array([[0, 1, 2]])
    write_triplets(bare, tmp_path / "rows.npy", dialect="list-order")
    assert_same(read_triplets(tmp_path / "rows.npy"), bare)


@pytest.mark.parametrize(
    ("name", "dialect", "message"),
    [
        ("x.csv", "odd-one-out", r"not all answers are odd-one-out"),
        ("x.csv", "most-central", r"not all answers are most-central"),
        ("x.csv", "list-count", r"list-count cannot be written"),
        ("x.npz", "salmon", r"npz: holds arrays, not salmon rows"),
        ("x.npy", "canonical", r"npy: holds arrays, not canonical rows"),
        ("x.json", "canonical", r"json: can only be read"),
        ("x.doc", "canonical", r"unknown extension '\.doc'"),
        ("nowhere/x.csv", "canonical", r"there is no directory '.*nowhere'"),
    ],
)
def test_what_cannot_be_written(tmp_path, name, dialect, message):
    answers = Triplets.from_array([[0, 1, 2], [1, 0, 3]], statement=[0, 0])
    with pytest.raises((TripletError, ValueError), match=message):
        write_triplets(answers, tmp_path / name, dialect=dialect)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_npz_cannot_keep(tmp_path):
    with pytest.raises(TripletError, match=r"npz cannot keep a name"):
        write_triplets(Triplets([0], [1], [2], ["a", "b", "c\0"]), tmp_path / "x.npz")


@pytest.mark.parametrize("library", [pl, pytest.importorskip("pandas")])
def test_numbers_beside_a_list_of_names_are_refused_in_one_sentence(library):
    frame = library.DataFrame({"anchor": [0], "near": [1], "far": [2]})
    with pytest.raises(FileError, match=r"^data frame: holds numbers where the object list has names[^\n]*$"):
        read_triplets(frame, objects=["a", "b", "c"])
    assert read_triplets(frame, objects=["2", "0", "1"]).array.tolist() == [[1, 2, 0]]


def test_the_format_can_be_named(tmp_path, capsysbinary):
    answers = Triplets.from_array([[0, 1, 2]])
    with pytest.raises(FileError, match=r"'salmon' is not a file format"):
        write_triplets(answers, tmp_path / "answers.csv", format="salmon")
    write_triplets(answers, tmp_path / "answers", format="jsonl.gz")
    (tmp_path / "answers").rename(tmp_path / "answers.jsonl.gz")
    assert_same(read_triplets(tmp_path / "answers.jsonl.gz"), answers)
    write_triplets(answers, "-", format="jsonl")
    assert capsysbinary.readouterr().out == b'{"anchor":"0","near":"1","far":"2"}\n'


@pytest.mark.filterwarnings("ignore:.*have no participant")
@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt8, pl.UInt64, pl.Float64, pl.String])
def test_numbers_as_participants_mean_the_same_in_every_type(tmp_path, dtype):
    """Distinct numbers are written once; a row without one has no participant, not participant 0."""
    who = [7, None, 7, 12, None, 7]
    rows = {"anchor": ["a"] * 6, "near": ["b"] * 6, "far": ["c"] * 6}
    frame = pl.DataFrame({**rows, "participant": pl.Series(who, dtype=pl.Int64).cast(dtype)})
    frame.write_parquet(tmp_path / "answers.parquet")
    people = read_triplets(tmp_path / "answers.parquet").participant
    assert np.asarray(people).tolist() == ["7", "", "7", "12", "", "7"]
    assert "0" not in people.names.tolist()


def test_next_does_not_show_the_answer_by_its_side(tmp_path):
    answers = Triplets.from_array([[0, 1, 2], [0, 2, 1]], ["a", "b", "c"])
    for sides, left in (([1, 0], ["c", "c"]), (None, ["b", "b"])):
        write_triplets(answers.replace(near_side=sides), tmp_path / "next.csv", dialect="next")
        assert pl.read_csv(tmp_path / "next.csv")["Left"].to_list() == left
        assert_same(read_triplets(tmp_path / "next.csv"), answers, columns=[])


def test_more_objects_than_an_index_can_name_are_refused():
    for make in (
        lambda: Triplets.from_array([[0, 1, 2]], n_objects=10**30),
        lambda: read_triplets(np.array([[0, 1, 2]]), objects=10**30),
    ):
        with pytest.raises(NearfarError, match="objects"):
            make()
