"""Tables of any kind: the caller names the columns; lists of ``nearfar plan``; what the survey tools export."""

import warnings

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
        ("choice_side", ("L,900", "ArrowRight,1100")),
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


@pytest.mark.parametrize("first", ["a,b,c,ann,1.25", "a,b,z,eve,1.25"])
def test_the_first_row_of_a_file_without_a_header_is_an_answer(tmp_path, first):
    rows = f"{first}\nb,c,a,ann,2.5\nc,a,b,ann,3.5\n"
    columns = {"anchor": 0, "near": 1, "far": 2, "participant": 3, "seconds": 4}
    assert len(read(tmp_path, rows, columns=columns).triplets) == 3
    headed = "item,closer,further,who,seconds\n" + rows
    assert len(read(tmp_path, headed, columns=columns).triplets) == 3


def test_a_choice_that_could_be_two_things_is_not_guessed(tmp_path):
    text = "Q,L,R,Picked\n9,2,1,1\n9,5,6,1\n"
    with pytest.raises(
        RowsError, match=r"line 2: a choice that is both a name and a number.*choice_name, choice_from"
    ):
        read(tmp_path, text, columns=QUESTION)
    by_number = QUESTION | {"choice_from_1": "Picked"}
    del by_number["choice"]
    assert named(read(tmp_path, text, columns=by_number).triplets) == [("9", "2", "1"), ("9", "5", "6")]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"anchor": "Qq", "near": "L", "far": "R"},
            r"has no column 'Qq'; its columns are 'Q', 'L', 'R', 'Picked'",
        ),
        ({"anchor": 7, "near": "L", "far": "R"}, r"has no column 7; its columns are 'Q'"),
        ({"anchor": True, "near": "L", "far": "R"}, r"has no column True; its columns are 'Q'"),
        (5, r"columns must be a dict of roles and their columns, got 5"),
        (
            {"anchor": "1", "near": "2", "far": "44"},
            r"has no column '44'; its columns are numbered from 1 to \d",
        ),
        ({"anchr": "Q"}, r"unknown role 'anchr'"),
        ({"anchor": "Q", "near": "L"}, r"got the roles anchor, near"),
        ({"anchor": ["Q", "L"], "near": "L", "far": "R"}, r"anchor must be one column, got 2"),
        (QUESTION | {"near": "L"}, r"got the roles anchor, option, choice, near"),
        ({"anchor": "Q", "option": ["Q", "L", "R"], "odd": "Picked"}, r"got the roles anchor, option, odd"),
        (QUESTION | {"seconds": "L", "milliseconds": "R"}, r"got both seconds and milliseconds"),
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


def test_a_spreadsheet_with_decimal_commas(tmp_path):
    """As Excel saves it in most of Europe; a comma in a name does not cut it."""
    text = "Compared;First;Second;Nearer, you think;Sec.\nfig;lime;plum, ripe;plum, ripe;1,25\nfig;kiwi;lime;lime;,5\n"
    columns = {
        "anchor": "Compared",
        "option": ["First", "Second"],
        "choice": "Nearer, you think",
        "seconds": "Sec.",
    }
    answers = read(tmp_path, text, columns=columns).triplets
    assert named(answers) == [("fig", "plum, ripe", "lime"), ("fig", "lime", "kiwi")]
    assert answers.seconds.tolist() == [1.25, 0.5]
    with pytest.raises(RowsError, match=r"line 2: not a number: s '1,250'"):
        read(tmp_path, 'anchor,near,far,s\na,b,c,"1,250"\n', columns={"seconds": "s"})


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
    with pytest.raises(InputError, match=r"answers.csv: 'ann' is in two groups, 'expert' and 'novice'"):
        read(tmp_path, text + "a,b,c,ann,novice\n", columns=columns)
    with pytest.raises(InputError, match=r"named as group, but none as participant"):
        read(tmp_path, text, columns={"group": "kind"})


def without(columns, **others):
    """The roles with others in place of ``choice``."""
    return {role: at for role, at in columns.items() if role != "choice"} | others


@pytest.mark.parametrize(
    ("table", "columns", "role"),
    [
        ("Q,L,R,Picked\na,b,c,1\na,b,c,0\n", QUESTION, "choice_from_0"),
        ("x,y,z,odd\na,b,c,1\na,b,c,0\n", {"option": ["x", "y", "z"], "choice": "odd"}, "odd_from_0"),
        ("Q,x,y,z,Picked\na,b,c,d,1\na,b,c,d,0\n", QUESTION | {"option": ["x", "y", "z"]}, "choice_from_0"),
    ],
)
def test_numbers_that_may_count_from_0_are_not_read_as_if_from_1(tmp_path, table, columns, role):
    kind = role.removesuffix("_from_0")
    undecided = without(columns, **{kind: columns["choice"]})
    with pytest.raises(FileError, match="from 0 or from 1"):
        read(tmp_path, table, columns=undecided, on_bad="drop")
    by_0 = read(tmp_path, table, columns=without(columns, **{role: columns["choice"]})).triplets
    one_more = table.replace(",1\n", ",2\n").replace(",0\n", ",1\n")
    assert named(by_0) == named(read(tmp_path, one_more, columns=undecided).triplets)
    by_1 = read(
        tmp_path, table, columns=without(columns, **{f"{kind}_from_1": columns["choice"]}), on_bad="drop"
    )
    assert by_1.rejected["reason"].to_list() == ["not a choice"]


def test_a_check_is_graded_in_the_way_choices_are_written(tmp_path):
    text = "Q,L,R,Picked,catch\na,b,c,1,c\na,b,c,0,c\na,b,c,0,\n"
    result = read(tmp_path, text, columns=without(QUESTION, choice_from_0="Picked", check="catch"))
    assert result.checks["correct"].to_list() == [True, False]


def test_a_side_that_was_chosen_is_where_near_was(tmp_path):
    text = "Q,L,R,Picked\na,b,c,left\na,b,c,right\n"
    sides = read(tmp_path, text, columns=without(QUESTION, choice_side="Picked")).triplets.near_side
    assert sides.tolist() == [0, 1]


@pytest.mark.parametrize("role", ["odd", "central"])
def test_a_choice_that_could_be_two_things_names_the_roles_of_its_question(tmp_path, role):
    with pytest.raises(RowsError, match=f"{role}_name, {role}_from_0"):
        read(tmp_path, "x,y,z,Picked\n3,1,2,1\n", columns={"option": ["x", "y", "z"], role: "Picked"})


def test_picks_of_a_grid_that_could_be_two_things_are_not_guessed(tmp_path):
    text = "Q,x,y,z,Picked\n9,3,1,2,1;2\n9,5,6,7,1;2\n"
    grid = QUESTION | {"option": ["x", "y", "z"]}
    with pytest.raises(RowsError, match=r"line 2: a choice that is both a name and a number.*choice_name"):
        read(tmp_path, text, columns=grid)
    by_number = read(tmp_path, text, columns=without(grid, choice_from_1="Picked")).triplets
    assert named(by_number)[:2] == [("9", "3", "2"), ("9", "1", "2")]
    by_name = read(tmp_path, text, columns=without(grid, choice_name="Picked"), on_bad="drop").triplets
    assert named(by_name) == [("9", "1", "3"), ("9", "2", "3")]


def test_a_file_without_names_of_columns(tmp_path):
    rows = "trip a b c 2 1830\ntrip a c b 1 2100\n"
    columns = {"anchor": "2", "option": ["3", "4"], "choice_from_1": "5", "milliseconds": "6"}
    for text in (rows, "task 2 left right choice rt\n" + rows):
        answers = read(tmp_path, text, name="answers.txt", columns=columns).triplets
        assert named(answers) == [("a", "c", "b")] * 2
        assert answers.seconds.tolist() == [1.83, 2.1]
    near = {"anchor": "1", "near": "2", "far": "3"}
    assert len(read(tmp_path, "a,b,c,x\na,c,b,y\nb,c,a,z\n", columns=near).triplets) == 3
    assert len(read(tmp_path, "q,n,f,x\na,c,b,y\nb,c,a,z\n", columns=near).triplets) == 2
    assert (
        len(read(tmp_path, "q,n,f,x\na,c,b,y\nd,e,g,z\n", columns=near).triplets) == 3
    )  # names hardly occur twice
    assert len(read(tmp_path, "target,near,far,x\na,c,b,y\nd,e,g,z\n", columns=near).triplets) == 2
    assert (
        len(read(tmp_path, "q,n,f,rt\na,c,b,1.5\nd,e,g,2\n", columns=near | {"seconds": "4"}).triplets) == 2
    )
    result = read(tmp_path, "trip a b c  1830\n" + rows, name="answers.txt", columns=columns)
    assert (len(result.triplets), result.checks["kind"].to_list()) == (2, ["no answer"])


@pytest.mark.parametrize(
    "role", ["near", "choice", "choice_name", "odd_from_1", "central", "grid", "rank", "pile", "similarity"]
)
def test_a_headerless_file_keeps_its_first_row_in_every_role(tmp_path, role):
    """The names of the first row occur nowhere else, as far as its role lets them."""
    rows = [[f"{x}{i}" for x in "abcd"] for i in range(4)]
    cells, columns = {
        "near": (lambda r: r[:3], {"anchor": 1, "near": 2, "far": 3}),
        "choice": (lambda r: [*r[:3], "left"], {"anchor": 1, "option": [2, 3], "choice": 4}),
        "choice_name": (lambda r: [*r[:3], r[2]], {"anchor": 1, "option": [2, 3], "choice_name": 4}),
        "odd_from_1": (lambda r: [*r[:3], "3"], {"option": [1, 2, 3], "odd_from_1": 4}),
        "central": (lambda r: [*r[:3], r[0]], {"option": [1, 2, 3], "central": 4}),
        "grid": (lambda r: [*r, r[1]], {"anchor": 1, "option": [2, 3, 4], "choice": 5}),
        "rank": (lambda r: r, {"anchor": 1, "rank": [2, 3, 4]}),
        "pile": (lambda r: [r[0], r[0]], {"object": 1, "pile": 2}),
        "similarity": (lambda r: [*r[:2], "5"], {"object": [1, 2], "similarity": 3}),
    }[role]
    text = "".join(",".join(cells(row)) + "\n" for row in rows)
    by_number = {
        key: [str(one) for one in at] if isinstance(at, list) else str(at) for key, at in columns.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = read(tmp_path, text, columns=by_number)
    assert result.sources[0].rows == 4


def test_screens_of_a_survey_that_asked_nothing_are_set_aside(tmp_path):
    text = "who,Q,L,R,Picked\nann,,,,0\nann,a,b,c,None\nann,a,b,c,b\nann,a,,c,c\nEND OF FILE\n"
    result = read(tmp_path, text, columns=QUESTION, on_bad="drop")
    assert result.checks["kind"].to_list() == ["no question", "no answer"]
    assert result.rejected["reason"].to_list() == ["blank cell"]
    assert named(result.triplets) == [("a", "b", "c")]


def test_a_participant_has_one_group_over_all_files(tmp_path):
    columns = {"participant": "who", "group": "cohort"}
    for name, group in (("1.csv", "x"), ("2.csv", "y")):
        (tmp_path / name).write_text(f"anchor,near,far,who,cohort\na,b,c,ann,{group}\n")
    with pytest.raises(InputError, match=r"'ann' is in two groups, 'x' and 'y'"):
        nf.read_answers([tmp_path / "1.csv", tmp_path / "2.csv"], columns=columns)


def test_a_column_without_a_name_is_listed_by_its_number(tmp_path):
    result = read(tmp_path, "anchor,near,far,,note\na,b,c,1,x\n")
    assert result.sources[0].unused == ("column 4", "note")


def test_objects_called_by_numbers_do_not_hide_choices_that_count_from_0(tmp_path):
    """Each 0 is the name of an option too, but the other rows have no names: 2 may then be the second or the third."""
    text = "x,y,z,pick\n0,3,4,0\n5,1,3,2\n4,0,1,0\n"
    columns = {"option": ["x", "y", "z"], "odd": "pick"}
    with pytest.raises(FileError, match="choice_from_0"):
        read(tmp_path, text, columns=columns)
    with pytest.raises(FileError, match="choice_from_0"):  # also where these rows are not read at once
        list(nf.scan_triplets(tmp_path / "answers.csv", columns=columns, batch_rows=1))
    names = text.replace("5,1,3,2", "5,2,3,2")
    assert len(read(tmp_path, names, columns=columns).triplets) == 6
    by_column = text.replace("5,1,3,2", "5,1,3,y")
    assert len(read(tmp_path, by_column, columns=columns).triplets) == 6


def test_a_choice_that_is_an_object_a_number_and_another_column_is_refused(tmp_path):
    text = "3,2,1,pick\n2,1,0,1\n5,3,0,3\n"
    result = read(tmp_path, text, columns={"option": ["3", "2", "1"], "central": "pick"}, on_bad="drop")
    assert result.rejected["line"].to_list() == [2, 3] and not len(result.triplets)


@pytest.mark.parametrize("columns", [["A", "B"], ["left", "right"], ["R", "L"]])
def test_a_choice_that_is_an_object_and_another_column_is_refused(columns, tmp_path):
    """Objects called as the columns are: a letter may then mean an object, or whatever stands in that column."""
    one, other = columns
    text = f"ref,{one},{other},pick\nfig,{other},{one},{one}\nfig,{one},plum,{one}\nfig,plum,lime,{other}\n"
    roles = {"anchor": "ref", "option": columns}
    result = read(tmp_path, text, columns=roles | {"choice": "pick"}, on_bad="drop")
    assert result.rejected["line"].to_list() == [2]
    assert named(result.triplets) == [("fig", one, "plum"), ("fig", "lime", "plum")]
    by_column = read(tmp_path, text, columns=roles | {"choice_side": "pick"}).triplets
    assert named(by_column) == [("fig", other, one), ("fig", one, "plum"), ("fig", "lime", "plum")]


@pytest.mark.parametrize(
    "names",
    [("Left", "Right"), ("img_left", "img_right"), ("linkes Bild", "rechtes Bild"), ("gauche", "droite")],
)
@pytest.mark.parametrize("mirrored", [False, True])
def test_columns_called_left_and_right_tell_the_side_of_a_choice_by_name(names, mirrored, tmp_path):
    text = f"ref,{names[0]},{names[1]},pick\nfig,plum,lime,plum\nfig,plum,lime,lime\nkiwi,fig,lime,lime\n"
    options = list(names)[::-1] if mirrored else list(names)
    for role, sides in (("choice", [0, 1, 1]), ("choice_name", [0, 1, 1]), ("far", [1, 0, 0])):
        columns = {"anchor": "ref", "option": options, role: "pick"}
        assert read(tmp_path, text, columns=columns).triplets.near_side.tolist() == sides
    said = text.replace(",plum\n", ",left\n").replace(",lime\n", ",right\n")
    for role in ("choice", "choice_side"):  # a side is the column of that name, wherever it stands
        columns = {"anchor": "ref", "option": options, role: "pick"}
        answers = read(tmp_path, said, columns=columns).triplets
        assert named(answers) == [("fig", "plum", "lime"), ("fig", "lime", "plum"), ("kiwi", "lime", "fig")]
        assert answers.near_side.tolist() == [0, 1, 1]
    neither = text.replace(names[0], "x1", 1).replace(names[1], "x2", 1)
    columns = {"anchor": "ref", "option": ["x1", "x2"], "choice": "pick"}
    assert read(tmp_path, neither, columns=columns).triplets.near_side is None


@pytest.mark.parametrize("role", ["choice", "choice_side"])
def test_a_side_that_is_the_name_of_one_column_is_that_column(role, tmp_path):
    columns = {"anchor": "ref", "option": ["other", "links"], role: "pick"}
    answers = read(
        tmp_path, "ref,other,links,pick\nfig,plum,lime,links\nfig,plum,kiwi,other\n", columns=columns
    )
    assert named(answers.triplets) == [("fig", "lime", "plum"), ("fig", "plum", "kiwi")]


@pytest.mark.parametrize("column", [4, "5"])
def test_the_choice_of_a_plan_is_given_by_number_where_two_columns_have_its_name(column, tmp_path):
    text = "anchor,one,other,choice,choice\nfig,plum,lime,1,2\nkiwi,fig,lime,1,1\n"
    result = read(tmp_path, text, columns={"choice": column})
    assert named(result.triplets) == [("fig", "lime", "plum"), ("kiwi", "fig", "lime")]
