"""Each dialect: recognised by its header, its traps known, its rows told apart."""

import numpy as np
import pytest
from io_tools import named, read

from nearfar.errors import FileError, NearfarWarning, RowsError
from nearfar.io import read_answers, read_triplets
from nearfar.triplets import Triplets, random_rows

# ---------------------------------------------------------------- ours


@pytest.mark.filterwarnings("ignore:.*have no participant")
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
    source = result.sources[0]
    assert (source.dialect, source.row_word, source.rows, source.unused) == (
        "canonical",
        "line",
        3,
        ("remark",),
    )
    assert (
        repr(result) == "ReadResult(Triplets(3 answers, 3 objects, 2 participants), 0 rejected, 0 set aside)"
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
    with pytest.warns(NearfarWarning, match=r"times such as '14\.11\.23 22h13' cannot be read"):
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


def test_two_objects_and_the_chosen_one(tmp_path):
    assert named(read(tmp_path, "a,b,odd\nx,y,z\n").triplets) == [("x", "y", "z"), ("y", "x", "z")]
    assert named(read(tmp_path, "a,b,central\nx,y,z\n").triplets) == [("x", "z", "y"), ("y", "z", "x")]
    with pytest.raises(RowsError, match="same object twice"):
        read(tmp_path, "a,b,odd\nx,y,y\n")


def test_numbers_without_a_header_name_the_way_out(tmp_path):
    with pytest.raises(FileError, match="--dialect most-central"):
        read(tmp_path, "32,16,30\n18,15,53\n")


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
    with pytest.warns(NearfarWarning, match=r"the first line was read as an answer"):
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
    assert result.sources[0].dialect == "salmon"


def test_salmon_old_header_without_loser_or_names(tmp_path):
    text = "head,left,right,winner,alg_ident,puid,head_object\n0,1,3,3,r,p,<b>x</b>\n3,1,0,1.0,r,p,\n"
    result = read(tmp_path, text)
    assert result.triplets.array.tolist() == [[0, 3, 1], [3, 1, 0]]
    assert result.triplets.objects == ("0", "1", "2", "3")
    listed = read(tmp_path, text, objects=["w", "x", "y", "z"]).triplets
    assert named(listed) == [("w", "z", "x"), ("z", "x", "w")]


def test_salmon_winner_that_was_not_shown(tmp_path):
    text = SALMON.format("", "") + (
        "0,1,2,1,ann,1,100.0\n0,2,1,1,ann,1,100.2\n0,1,2,1,ann,1,150\n0,1,2,1,bob,1,100.1\n0,1,2,3,bob,1,101\n0,1,2,,bob,1,1\n"
    )
    with pytest.raises(RowsError, match=r"line 6: not a choice: .*winner '3'; expected the number of left"):
        read(tmp_path, text)
    result = read(tmp_path, text, on_bad="drop")
    assert result.rejected["line"].to_list() == [6] and result.checks["kind"].to_list() == ["no answer"]
    assert len(result.triplets) == 4


# ---------------------------------------------------------------- tripletTools and NEXT

TOOLS = "worker_id,rt,Center,Left,Right,Answer,sampleAlg,sampleSet\n"


@pytest.mark.parametrize("files", [True, False])
def test_salmon_sets_catch_trials_aside_and_grades_them(tmp_path, files):
    names = ",head_filename,left_filename,right_filename"
    rows = ["0,2,1,1,ann", "0,0,1,0,ann", "0,1,0,1,bob"]
    text = [f"head,left,right,winner,puid{names if files else ''}"]
    for row in rows:
        shown = [f"{'abc'[int(i)]}.png" for i in row.split(",")[:3]]
        text.append(",".join([row, *(shown if files else [])]))
    (tmp_path / "a.csv").write_text("\n".join(text) + "\n")
    result = read_answers(tmp_path / "a.csv")
    assert len(result.triplets) == 1 and not len(result.rejected)
    assert result.checks.select("line", "kind", "participant", "correct").rows() == [
        (3, "check", "ann", True),
        (4, "check", "bob", False),
    ]


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
    assert result.sources[0].dialect == "tripletTools"


def test_triplettools_check_row_that_pretends_to_be_an_answer(tmp_path):
    with pytest.raises(RowsError, match=r"line 2: the same object twice: Center 'a', Left 'a', Right 'b'"):
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
    assert result.sources[0].dialect == "tripletTools"


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
    assert result.sources[0].dialect == "next"
    assert named(result.triplets) == [("a", "b", "c")]
    assert result.triplets.seconds.tolist() == [2.5]
    assert result.triplets.answered_at.tolist() == [978307200.000001]
    assert np.asarray(result.triplets.participant).tolist() == [1099]
    assert result.checks.select("line", "kind", "participant").rows() == [(3, "no answer", "1099")]
    assert result.rejected.select("line", "reason").rows() == [(4, "not a choice")]


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
    with pytest.raises(RowsError, match=r"line 5: not a choice: .*choice .4."):
        read(tmp_path, text + "1\t2\t4\t4\t1\t8\n", "answers.tsv")
    with pytest.raises(RowsError, match=r"line 5: index beyond the object list: image1 '0'; .* from 1 to 4"):
        read(tmp_path, text + "0\t2\t4\t1\t1\t8\n", "answers.tsv", objects=list("wxyz"))


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


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("anchor,near,far,rule", ["a,b,c,random", "a,c,b,adaptive", "b,c,a,"]),
        ("a,b,c,odd,rule", ["a,b,c,c,random", "a,b,c,b,adaptive", "a,b,c,a,"]),
        ("head,left,right,winner,sampler", ["0,1,2,1,random", "0,1,2,2,adaptive", "1,0,2,0,"]),
        ("Center,Left,Right,Answer,Alg.Label", ["a,b,c,b,random", "a,b,c,c,adaptive", "b,c,a,a,"]),
        ("Center,Left,Right,Answer,sampleAlg", ["a,b,c,b,random", "a,b,c,c,adaptive", "b,c,a,a,NA"]),
    ],
)
def test_how_questions_were_chosen_is_read(tmp_path, header, rows):
    answers = read(tmp_path, "\n".join([header, *rows, ""])).triplets
    each = len(answers) // 3
    assert np.asarray(answers.rule).tolist() == ["random"] * each + ["adaptive"] * each + [""] * each
    assert random_rows(answers).tolist() == [True] * each + [False] * 2 * each


def test_any_column_may_say_how_questions_were_chosen(tmp_path):
    text = "anchor,near,far,how\na,b,c,uniform\na,c,b,best\n"
    answers = read(tmp_path, text, columns={"rule": "how"}).triplets
    both = Triplets.concatenate([answers[1:], Triplets.from_array([[0, 1, 2]], ["a", "b", "c"])])
    assert np.asarray(both.rule).tolist() == ["best", ""]
    assert random_rows(both).tolist() == [False, False]
    assert random_rows(answers[:1]) is None  # nothing else to tell it from
    assert random_rows(answers.replace(rule=None)) is None


@pytest.mark.parametrize(
    ("header", "column"),
    [
        ("head,winner,loser", "sampler"),
        *(("anchor,near,far", name) for name in ("sampler", "Alg.Label", "sampleAlg", "rule")),
    ],
)
def test_a_column_that_says_what_is_random_is_read_in_any_table(tmp_path, header, column):
    path = tmp_path / "answers.csv"
    path.write_text(f"{header},{column}\na,b,c,Random\nb,c,a,ARR\nc,a,b,Random\n")
    np.testing.assert_array_equal(random_rows(read_triplets(path)), [True, False, True])
