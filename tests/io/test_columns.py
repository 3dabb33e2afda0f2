"""Tables of any kind: the caller names the columns; lists of ``nearfar plan``; what the survey tools export."""

import numpy as np
import polars as pl
import pytest
from io_tools import named, read

import nearfar as nf
from nearfar.errors import FileError, InputError, RowsError

QUESTION = {"anchor": "Q", "option": ["L", "R"], "choice": "Picked"}
TABLE = "who,Q,L,R,Picked,ms\nann,a,b,c,{}\nbob,a,c,b,{}\n"


@pytest.mark.parametrize(
    ("role", "cells"),
    [
        ("choice", ("b,900", "b,1100")),
        ("choice", ("left,900", "Right,1100")),
        ("choice", ("1,900", "2.0,1100")),
        ("choice_from_1", ("1,900", "2,1100")),
        ("choice_from_0", ("0,900", "1,1100")),
        ("choice_side", ("left,900", "right,1100")),
        ("choice_name", ("b,900", "b,1100")),
    ],
)
def test_a_choice_by_name_number_or_side(tmp_path, role, cells):
    columns = {
        "anchor": "Q",
        "option": ["L", "R"],
        role: "Picked",
        "participant": "who",
        "milliseconds": "ms",
    }
    answers = read(tmp_path, TABLE.format(*cells), columns=columns).triplets
    assert named(answers) == [("a", "b", "c"), ("a", "b", "c")]
    assert answers.seconds.tolist() == [0.9, 1.1]
    assert np.asarray(answers.participant).tolist() == ["ann", "bob"]


def test_columns_by_position(tmp_path):
    text = TABLE.format("b,1", "b,1")
    for columns in (
        {"anchor": 1, "option": [2, 3], "choice": 4},
        {"anchor": "2", "option": ["3", "4"], "choice": "5"},
    ):
        assert named(read(tmp_path, text, columns=columns).triplets) == [("a", "b", "c")] * 2


def test_a_choice_that_could_be_two_things_is_not_guessed(tmp_path):
    text = "Q,L,R,Picked\n9,2,1,1\n9,5,6,1\n"
    with pytest.raises(
        RowsError, match=r"line 2: a choice that is both a name and a number.*choice_name, choice_from"
    ):
        read(tmp_path, text, columns=QUESTION)
    by_number = QUESTION | {"choice_from_1": "Picked"}
    del by_number["choice"]
    assert named(read(tmp_path, text, columns=by_number).triplets) == [("9", "2", "1"), ("9", "5", "6")]
    with pytest.raises(
        RowsError, match=r"not a choice: L 'b', R 'c', Picked '0'; .* name the column as choice_from_0"
    ):
        read(tmp_path, "Q,L,R,Picked\na,b,c,0\n", columns=QUESTION)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"anchor": "Qq", "near": "L", "far": "R"},
            r"has no column 'Qq'; its columns are 'Q', 'L', 'R', 'Picked'",
        ),
        ({"anchor": 7, "near": "L", "far": "R"}, r"has no column 7; its columns are 'Q'"),
        ({"anchr": "Q"}, r"unknown role 'anchr'; expected one of anchor, near, far, option, choice"),
        (
            {"anchor": "Q", "near": "L"},
            r"got the roles anchor, near; expected anchor, near, far; or anchor, two or more options",
        ),
        ({"anchor": ["Q", "L"], "near": "L", "far": "R"}, r"anchor must be one column, got 2"),
    ],
)
def test_wrong_columns_get_a_sentence(tmp_path, columns, message):
    with pytest.raises((InputError, FileError), match=message):
        read(tmp_path, "Q,L,R,Picked\na,b,c,b\n", columns=columns)


def test_odd_and_central_by_name_or_number(tmp_path):
    three = {"option": ["x", "y", "z"]}
    text = "x,y,z,pick\na,b,c,c\na,b,c,1\n"
    assert named(read(tmp_path, text, columns=three | {"odd": "pick"}).triplets) == [
        ("a", "b", "c"), ("b", "a", "c"), ("b", "c", "a"), ("c", "b", "a"),
    ]  # fmt: skip
    assert named(read(tmp_path, text, columns=three | {"central": "pick"}).triplets)[:2] == [
        ("a", "c", "b"),
        ("b", "c", "a"),
    ]


def test_marked_checks_are_graded_and_set_aside(tmp_path):
    text = "who,Q,L,R,Picked,catch\nann,a,b,c,b,\nann,a,a,c,a,1\nann,a,c,a,c,yes\nbob,a,b,c,b,b\nbob,a,b,c,b,c\nbob,a,b,c,c,TRUE\n"
    result = read(tmp_path, text, columns=QUESTION | {"participant": "who", "check": "catch"})
    assert named(result.triplets) == [("a", "b", "c")]
    assert result.checks.select("line", "kind", "participant", "correct").rows() == [
        (3, "check", "ann", True),
        (4, "check", "ann", False),
        (5, "check", "bob", True),
        (6, "check", "bob", False),
        (7, "check", "bob", None),
    ]


def test_only_an_optional_column_is_named(tmp_path):
    text = "anchor,near,far,Worker No.,RT\na,b,c,7,1500\n"
    answers = read(tmp_path, text, columns={"participant": "Worker No.", "milliseconds": "RT"}).triplets
    assert (np.asarray(answers.participant).tolist(), answers.seconds.tolist()) == ([7], [1.5])


def test_blank_and_skipped_choices_are_set_aside(tmp_path):
    result = read(tmp_path, "Q,L,R,Picked\na,b,c,\na,b,c,Skip\na,b,c,b\n", columns=QUESTION)
    assert result.checks["kind"].to_list() == ["no answer", "skip"]
    assert len(result.triplets) == 1


def test_a_plan_with_a_choice_is_read_as_it_is(tmp_path):
    questions = nf.design.random_questions(["fig", "kiwi", "lime", "plum"], 6, seed=1)
    frame = pl.DataFrame(
        {
            role: [questions.objects[i] for i in getattr(questions, role)]
            for role in ("anchor", "one", "other")
        }
    )
    for choice in ("one", "left", "1"):
        picked = frame["one"] if choice == "one" else pl.Series([choice] * len(frame))
        frame.with_columns(choice=picked, participant=pl.lit("p")).write_csv(tmp_path / "plan.csv")
        answers = nf.read_triplets(tmp_path / "plan.csv")
        assert named(answers) == frame.select("anchor", "one", "other").rows()
        assert answers.near_side.tolist() == [0] * len(frame)
    listed = (
        "participant,place,question,role,anchor,one,other,choice\np,1,1,new,a,b,c,c\np,2,,check,a,c,a,a\n"
    )
    result = read(tmp_path, listed)
    assert named(result.triplets) == [("a", "c", "b")]
    assert result.checks.select("kind", "correct").rows() == [("check", True)]


def test_columns_in_every_way_of_reading(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(TABLE.format("b,1", "b,1"))
    batches = list(nf.scan_triplets(path, columns=QUESTION, batch_rows=1))
    assert [row for batch in batches for row in named(batch)] == [("a", "b", "c")] * 2
    assert named(nf.read_triplets(pl.read_csv(path), columns=QUESTION)) == [("a", "b", "c")] * 2


def test_groups_of_people(tmp_path):
    text = "anchor,near,far,who,kind\na,b,c,ann,expert\na,b,c,7,novice\na,c,b,ann,\n"
    columns = {"participant": "who", "group": "kind"}
    assert read(tmp_path, text, columns=columns).groups == {"ann": "expert", "7": "novice"}
    with pytest.raises(InputError, match=r"participant 'ann' is in the groups 'expert' and 'novice'"):
        read(tmp_path, text + "a,b,c,ann,novice\n", columns=columns)
    with pytest.raises(InputError, match=r"named as group, but none as participant"):
        read(tmp_path, text, columns={"group": "kind"})
