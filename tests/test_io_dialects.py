"""Each dialect: recognised by its header, its traps known, its rows told apart."""

import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from io_tools import assert_same

from nearfar.errors import NearfarWarning, RowsError, TripletError
from nearfar.io import read_answers, read_triplets, write_triplets
from nearfar.triplets import Triplets


def named(triplets):
    return [tuple(triplets.objects[i] for i in row) for row in triplets.array.tolist()]


def read(tmp_path, text, name="answers.csv", **options):
    path = tmp_path / name
    path.write_text(text)
    return read_answers(path, **options)


# ---------------------------------------------------------------- ours


def test_canonical_with_everything(tmp_path):
    result = read(
        tmp_path,
        "Anchor,NEAR,far,statement,participant,seconds,near_side,answered_at,remark\n"
        "10,9,8,5,ann,1.5,left,1700000000.25,x\n"
        "9,10,8,,,,,,\n"
        "8,9,10,5,bob,NA,right,2023-11-14 22:13:20.25,\n",
    )
    answers = result.triplets
    assert answers.objects == ("8", "9", "10")
    assert named(answers) == [("10", "9", "8"), ("9", "10", "8"), ("8", "9", "10")]
    assert np.asarray(answers.statement).tolist() == [5, 6, 5]
    assert np.asarray(answers.participant).tolist() == ["ann", "", "bob"]
    np.testing.assert_array_equal(answers.seconds, [1.5, np.nan, np.nan])
    assert answers.near_side.tolist() == [0, -1, 1]
    np.testing.assert_array_equal(answers.answered_at, [1700000000.25, np.nan, 1700000000.25])
    part = result.parts[0]
    assert (part.dialect, part.unit, part.rows, part.unused) == ("canonical", "line", 3, ("remark",))
    assert (
        repr(result) == "ReadResult(Triplets(3 answers, 3 objects, 3 participants), 0 rejected, 0 set aside)"
    )


def test_a_blank_statement_has_an_id_of_its_own(tmp_path):
    text = "anchor,near,far,statement\na,b,c,row 1\na,b,c,\na,b,c,\na,b,c,x\n"
    answers = read(tmp_path, text).triplets
    assert np.asarray(answers.statement).tolist() == ["row 1", "row 2", "row 3", "x"]


def test_names_are_kept_to_the_letter(tmp_path):
    answers = read(tmp_path, "anchor,near,far,participant\n007, x ,7,007\n007,7,é,008\n").triplets
    assert answers.objects == (" x ", "007", "7", "é")
    assert np.asarray(answers.participant).tolist() == ["007", "008"]


def test_numbers_are_numbers_only_if_all_are(tmp_path):
    head = "anchor,near,far,participant,statement\n"
    ints = read(tmp_path, head + "a,b,c,7,1\na,b,c,8,-2\n").triplets
    assert (ints.participant.is_numeric, ints.statement.is_numeric) == (True, True)
    assert np.asarray(ints.statement).tolist() == [1, -2]
    text = read(tmp_path, head + "a,b,c,7,01\na,b,c,x,2\n").triplets
    assert (text.participant.is_numeric, text.statement.is_numeric) == (False, False)
    huge = read(tmp_path, head + f"a,b,c,{2**63},1\n").triplets
    assert np.asarray(huge.participant).tolist() == [str(2**63)]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_of_a_csv_file_are_seen_in_its_header(tmp_path, separator):
    text = "anchor,near,far\na,b,c\n".replace(",", separator)
    assert named(read(tmp_path, text).triplets) == [("a", "b", "c")]


def test_a_header_without_answers(tmp_path):
    result = read(tmp_path, "anchor,near,far\n")
    assert (len(result.triplets), result.triplets.objects, len(result.rejected)) == (0, (), 0)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    (tmp_path / "answers.csv").write_bytes(b"\xef\xbb\xbfanchor,near,far\r\na,b,c\r\n")
    assert named(read_triplets(tmp_path / "answers.csv")) == [("a", "b", "c")]


@pytest.mark.parametrize("text", ["2023-11-14T22:13:20Z", "2023-11-14 23:13:20+01:00", "2023-11-14 22:13:20 UTC",
                                  "2023-11-14T17:13:20-0500", "1700000000"])  # fmt: skip
def test_points_in_time(tmp_path, text):
    answers = read(tmp_path, f"anchor,near,far,answered_at\na,b,c,{text}\n").triplets
    assert answers.answered_at.tolist() == [1_700_000_000]


def test_times_in_a_format_of_their_own_are_not_known(tmp_path):
    text = "Participant.ID,Timestamp,Center,Left,Right,Answer,Alg.Label\np,14.11.23 22h13,a,b,c,b,Test\n"
    with pytest.warns(NearfarWarning, match=r"times such as '14\.11\.23 22h13' cannot be understood"):
        answers = read(tmp_path, text).triplets
    assert np.isnan(answers.answered_at).all()


# ---------------------------------------------------------------- statements


def test_odd_one_out(tmp_path):
    text = "a,b,c,odd,participant\nx,y,z,z,ann\nx,y,z,x,bob\nz,x,y,x,bob\n"
    answers = read(tmp_path, text).triplets
    assert named(answers) == [
        ("x", "y", "z"), ("y", "x", "z"),
        ("y", "z", "x"), ("z", "y", "x"),
        ("z", "y", "x"), ("y", "z", "x"),
    ]  # fmt: skip
    assert np.asarray(answers.statement).tolist() == [0, 0, 1, 1, 2, 2]
    assert np.asarray(answers.participant).tolist() == ["ann"] * 2 + ["bob"] * 4


def test_most_central(tmp_path):
    answers = read(tmp_path, "a,b,c,central,statement\nx,y,z,y,q7\nx,y,z,x,q8\n").triplets
    assert named(answers) == [("x", "y", "z"), ("z", "y", "x"), ("y", "x", "z"), ("z", "x", "y")]
    assert np.asarray(answers.statement).tolist() == ["q7", "q7", "q8", "q8"]


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("odd-one-out", [("a", "b", "c"), ("b", "a", "c")]),
        ("most-central", [("b", "a", "c"), ("c", "a", "b")]),
    ],
)
@pytest.mark.parametrize("name", ["answers.csv", "answers.txt"])
def test_three_bare_columns_when_the_caller_says_so(tmp_path, dialect, expected, name):
    mark = " " if name.endswith("txt") else ","
    assert named(read(tmp_path, mark.join("abc") + "\n", name, dialect=dialect).triplets) == expected


def test_a_forgotten_header_is_noticed(tmp_path):
    with pytest.warns(NearfarWarning, match=r"the first line \('i', 'j', 'odd'\) was read as an answer"):
        read(tmp_path, "i,j,odd\n" + "x,y,z\n" * 12, dialect="odd-one-out")


@pytest.mark.parametrize("dialect", ["odd-one-out", "most-central"])
def test_a_skip_is_set_aside_unless_an_object_is_called_so(tmp_path, dialect):
    role = "odd" if dialect == "odd-one-out" else "central"
    result = read(tmp_path, f"a,b,c,{role}\nx,y,z,x\nx,y,z,Skip\nskip,y,z,skip\n")
    assert result.checks.select("line", "kind").rows() == [(3, "skip")]
    assert len(result.triplets) == 4
    assert set(result.triplets.objects) == {"x", "y", "z", "skip"}


# ---------------------------------------------------------------- Salmon

SALMON = "head,left,right,winner,{}puid,response_time,time_received{}\n"


def test_salmon_new_header_with_file_names(tmp_path):
    roles = ("head", "left", "right", "winner", "loser")
    head = SALMON.format("loser,", "," + ",".join(f"{role}_filename" for role in roles))
    result = read(
        tmp_path,
        head
        + "0,1,2,2,1,ann,1.25,1700000000.0,i0.png,i1.png,i2.png,i2.png,i1.png\n"
        + "2,1,0,1,0,ann,-1,1700000009.0,i2.png,i1.png,i0.png,i1.png,i0.png\n",
    )
    assert named(result.triplets) == [("i0.png", "i2.png", "i1.png"), ("i2.png", "i1.png", "i0.png")]
    assert result.triplets.near_side.tolist() == [1, 0]
    np.testing.assert_array_equal(result.triplets.seconds, [1.25, np.nan])
    assert result.triplets.answered_at.tolist() == [1.7e9, 1.7e9 + 9]
    assert np.asarray(result.triplets.participant).tolist() == ["ann", "ann"]
    assert result.parts[0].dialect == "salmon"


def test_salmon_old_header_without_loser_or_names(tmp_path):
    text = "head,left,right,winner,alg_ident,puid,head_object\n0,1,3,3,r,p,<b>x</b>\n3,1,0,1.0,r,p,\n"
    result = read(tmp_path, text)
    assert result.triplets.array.tolist() == [[0, 3, 1], [3, 1, 0]]
    assert result.triplets.objects == ("0", "1", "2", "3")
    listed = read(tmp_path, text, objects=["w", "x", "y", "z"]).triplets
    assert named(listed) == [("w", "z", "x"), ("z", "x", "w")]


def test_salmon_winner_that_was_not_shown_and_double_submits(tmp_path):
    text = SALMON.format("", "") + (
        "0,1,2,1,ann,1,100.0\n0,2,1,1,ann,1,100.2\n0,1,2,1,ann,1,150\n0,1,2,1,bob,1,100.1\n0,1,2,3,bob,1,101\n0,1,2,,bob,1,1\n"
    )
    with pytest.raises(RowsError, match=r"line 6: the winner was not shown: left '1', right '2', winner '3'"):
        read(tmp_path, text)
    result = read(tmp_path, text, on_bad="drop")
    assert result.rejected["reason"].to_list() == ["the winner was not shown", "blank cell"]
    assert len(result.triplets) == 4
    assert result.double_submits.tolist() == [False, True, False, False]


# ---------------------------------------------------------------- tripletTools and NEXT

TOOLS = "worker_id,rt,Center,Left,Right,Answer,sampleAlg,sampleSet\n"


def test_triplettools_grades_check_rows(tmp_path):
    result = read(
        tmp_path,
        TOOLS
        + "w1,1500,a,b,c,c,random,train\n"
        + "w1,NA,a,a,z,a,check,NA\n"
        + "w2,900,a,z,a,z,check,NA\n"
        + "w2,900,a,b,c,NA,validation,test\n",
    )
    assert named(result.triplets) == [("a", "c", "b")]
    assert result.triplets.objects == ("a", "b", "c")  # z was only shown in checks
    assert result.triplets.seconds.tolist() == [1.5]
    assert result.triplets.near_side.tolist() == [1]
    assert result.checks.select("line", "kind", "participant", "correct").rows() == [
        (3, "check", "w1", True),
        (4, "check", "w2", False),
        (5, "no answer", "w2", None),
    ]
    assert result.parts[0].dialect == "tripletTools"


def test_triplettools_check_row_that_pretends_to_be_an_answer(tmp_path):
    with pytest.raises(
        RowsError, match=r"line 2: two equal objects: Center 'a', Left 'a', Right 'b', Answer 'a'"
    ):
        read(tmp_path, TOOLS + "w,1,a,a,b,a,random,train\n")


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("sessionID,Target,Option1,Option2,primary,AlgSample", "s,a,b,c,b,random"),
        ("pid,head,winner,loser,rt", "s,a,b,c,1"),
        ("sub_id,Target,primary,alternate", "s,a,b,c"),
        ("worker_id,Center,Left,Right,Answer,head,winner,loser,rt", "s,a,b,c,b,0,1,2,5"),
    ],
)
def test_triplettools_other_headers(tmp_path, header, row):
    result = read(tmp_path, f"{header}\n{row}\n")
    assert named(result.triplets) == [("a", "b", "c")]
    assert np.asarray(result.triplets.participant).tolist() == ["s"]
    assert result.parts[0].dialect == "tripletTools"


def test_triplettools_winner_and_loser_alone(tmp_path):
    result = read(tmp_path, "pid,head,winner,loser,rt\np,a,a,b,1\np,a,b,a,1\np,a,,b,1\np,a,b,c,1\n")
    assert result.checks.select("kind", "correct").rows() == [
        ("check", True),
        ("check", False),
        ("no answer", None),
    ]
    assert named(result.triplets) == [("a", "b", "c")]


def test_next_counts_rows_without_an_answer(tmp_path):
    text = (
        "Participant.ID,Timestamp,Center,Left,Right,Answer,Response.Time..s.,Alg.Label\n"
        "1099,2001-01-01 00:00:00.000001,a,b,c,b,2.5,Train\n"
        "1099,2001-01-01 00:00:00.000002,a,b,c,,3,Train\n"
        "1100,2001-01-01 00:00:00.000003,a,b,c,d,3,Train\n"
    )
    result = read(tmp_path, text, on_bad="drop")
    assert result.parts[0].dialect == "next"
    assert named(result.triplets) == [("a", "b", "c")]
    assert result.triplets.seconds.tolist() == [2.5]
    assert result.triplets.answered_at.tolist() == [978307200.000001]
    assert np.asarray(result.triplets.participant).tolist() == [1099]
    assert result.checks.select("line", "kind", "participant").rows() == [(3, "no answer", "1099")]
    assert result.rejected.select("line", "reason").rows() == [(4, "the answer was not shown")]


# ---------------------------------------------------------------- THINGS


def test_things_bare_rows_are_indices_with_the_odd_one_last(tmp_path):
    answers = read(tmp_path, "0\t5\t2\n1\t0\t5\n", "answers.tsv", dialect="things").triplets
    assert answers.n_objects == 6
    assert answers.array.tolist() == [[0, 5, 2], [5, 0, 2], [1, 0, 5], [0, 1, 5]]


def test_things_big_table_counts_from_one(tmp_path):
    text = "image1\timage2\timage3\tchoice\tRT\tsubject_id\n1\t2\t4\t1\t1500\t9\n1\t2\t4\t2\t-30\t9\n1\t2\t4\t3\t1\t8\n"
    answers = read(tmp_path, text, "answers.tsv").triplets
    assert answers.objects == ("1", "2", "3", "4")
    assert [row[2] for row in named(answers)[::2]] == ["1", "2", "4"]
    assert named(answers)[0] == ("2", "4", "1")
    assert answers.seconds[::2].tolist() == [1.5, -0.03, 0.001]
    assert np.asarray(answers.participant).tolist() == [9, 9, 9, 9, 8, 8]
    with pytest.raises(RowsError, match=r"line 5: no choice: choice '4'; expected choice to be 1, 2 or 3"):
        read(tmp_path, text + "1\t2\t4\t4\t1\t8\n", "answers.tsv")
    with pytest.raises(RowsError, match=r"line 5: index beyond the object list: image1 '0'; .* from 1 to 4"):
        read(tmp_path, text + "0\t2\t4\t1\t1\t8\n", "answers.tsv", objects=list("wxyz"))


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
    with pytest.raises(RowsError, match=r"row 0: no response: response '2'; expected True or False"):
        read_triplets((rows, np.array([2])), dialect="list-boolean")
    with pytest.raises(
        RowsError, match=r"row 0: no count: response '0\.5'; expected a whole number of votes"
    ):
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
    with pytest.raises(
        RowsError, match=r"row 0: not in the object list: column 2 '1'; expected one of the 2"
    ):
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
    assert result.rejected.select("line", "reason").rows() == [(2, "no JSON object")]


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
        assert [part.dialect for part in result.parts] == ["odd-one-out", "canonical"]


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
        ("x.csv", "odd-one-out", r"the answers are not all odd-one-out statements"),
        ("x.csv", "most-central", r"the answers are not all most-central statements"),
        ("x.csv", "list-count", r"list-count cannot be written; expected one of canonical"),
        (
            "x.npz",
            "salmon",
            r"npz: holds arrays, not salmon rows; expected the dialect canonical or list-order",
        ),
        ("x.npy", "canonical", r"npy: holds arrays, not canonical rows; expected the dialect list-order"),
        ("x.json", "canonical", r"json: can only be read; write jsonl"),
        ("x.doc", "canonical", r"unknown extension '\.doc'"),
        ("nowhere/x.csv", "canonical", r"there is no directory '.*nowhere'; make it first"),
    ],
)
def test_what_cannot_be_written(tmp_path, name, dialect, message):
    answers = Triplets.from_array([[0, 1, 2], [1, 0, 3]], statement=[0, 0])
    with pytest.raises((TripletError, ValueError), match=message):
        write_triplets(answers, tmp_path / name, dialect=dialect)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_npz_cannot_keep(tmp_path):
    with pytest.raises(TripletError, match=r"objects: a name ends in a NUL character"):
        write_triplets(Triplets([0], [1], [2], ["a", "b", "c\0"]), tmp_path / "x.npz")


def test_the_format_can_be_named(tmp_path, capsysbinary):
    answers = Triplets.from_array([[0, 1, 2]])
    write_triplets(answers, tmp_path / "answers", format="jsonl.gz")
    (tmp_path / "answers").rename(tmp_path / "answers.jsonl.gz")
    assert_same(read_triplets(tmp_path / "answers.jsonl.gz"), answers)
    write_triplets(answers, "-", format="jsonl")
    assert capsysbinary.readouterr().out == b'{"anchor":"0","near":"1","far":"2"}\n'


# ---------------------------------------------------------------- the real collections


def test_the_papers_counts(shared_data):
    food = read_triplets(shared_data / "food" / "triplets.npz")
    distinct, _ = food.unique()
    assert (len(food), food.n_objects, len(distinct)) == (250_320, 100, 190_376)
    assert len(distinct) - len(np.unique(distinct.question_ids)) == 9_349
    assert (len(food.participant.present), len(food.statement.present)) == (243, 15_320)
    car = read_triplets(shared_data / "car" / "triplets.npz")
    assert (len(car), len(car.unique().triplets)) == (13_514, 12_502)


def test_the_car_survey_as_published(shared_data):
    t_all = read_triplets(shared_data / "car" / "T_ALL.csv", dialect="most-central")
    assert (len(t_all), t_all.n_objects, len(t_all.unique().triplets)) == (13_514, 60, 12_502)
    assert t_all.objects == tuple(str(i) for i in range(1, 61))
    survey = read_triplets(shared_data / "car" / "survey_data.csv")
    assert len(survey) == 2 * 7_097
    assert survey.seconds[:2].tolist() == [11.108, 11.108]


def test_things_and_musicians(shared_data):
    things = read_triplets(shared_data / "things" / "things_test10.npz")
    assert (len(things), things.n_objects) == (2 * 127_304, 1854)
    musicians = read_answers(shared_data / "musicians" / "triplets.npz", on_bad="drop")
    assert (len(musicians.triplets), len(musicians.rejected)) == (9_090, 17)
