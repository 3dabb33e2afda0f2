"""Lists of ``nearfar plan`` with a column for the choice are read as they are, whatever kind the questions are."""

import numpy as np
import polars as pl
import pytest
from io_tools import named, read

from nearfar.io import read_answers

FRUIT = ["fig", "kiwi", "lime", "plum", "pear", "quince", "date", "sloe", "7", "1"]


@pytest.fixture
def plan(tmp_path, monkeypatch, capsys):
    """Runs ``nearfar plan`` and gives the rows of its list."""
    from nearfar.cli import main

    def run(kind, objects):
        listed, path = tmp_path / "objects.csv", tmp_path / "list.csv"
        pl.DataFrame({"object": objects}).write_csv(listed)
        size = "--size 5" if kind == "grid" else ""
        words = f"nearfar plan {listed} --kind {kind} --budget 12 --people 3 --checks 2 {size} -q -o {path}"
        monkeypatch.setattr("sys.argv", words.split())
        with pytest.raises(SystemExit, match="0"):
            main()
        return pl.read_csv(path, infer_schema=False)

    return run


def said(kind, anchor, options, picks):
    """The triplets of a choice, from the definitions."""
    if kind in ("near", "grid"):
        return {(anchor, near, far) for near in picks for far in options if far not in picks}
    one, other = (option for option in options if option not in picks)
    if kind == "odd":
        return {(one, other, picks[0]), (other, one, picks[0])}
    return {(one, picks[0], other), (other, picks[0], one)}


def is_ambiguous(name, shown):
    """Whether a name is also the number of another option; such a choice is refused (tests/io/test_columns.py)."""
    return name in map(str, range(1, len(shown) + 1)) and shown[int(name) - 1] != name


def answer(frame, kind, how):
    """The list with choices, the triplets they say, and how the check questions went."""
    rng, choices, triplets, right = np.random.default_rng(3), [], [], []
    for row in frame.rows(named=True):
        shown = [row[c] for c in row if c in ("one", "other", "a", "b", "c") or c.startswith("option_")]
        picks = None
        while picks is None or any(is_ambiguous(pick, shown) for pick in picks):
            at = rng.permutation(len(shown))[: 2 if kind == "grid" else 1].tolist()
            picks = [shown[i] for i in at]
        choices.append([str(i + 1) for i in at] if how == "numbers" else picks)
        if row["role"] == "check":
            right.append(row["check"] in picks)
        else:
            triplets.append(said(kind, row.get("anchor"), shown, picks))
    if how == "columns":
        return (
            frame.with_columns(
                choice_1=pl.Series([c[0] for c in choices]), choice_2=pl.Series([c[1] for c in choices])
            ),
            triplets,
            right,
        )
    return frame.with_columns(choice=pl.Series(["; ".join(c) for c in choices])), triplets, right


@pytest.mark.parametrize(
    ("kind", "how"),
    [(kind, how) for kind in ("near", "odd", "central", "grid") for how in ("names", "numbers")]
    + [("grid", "columns")],
)
def test_every_kind_of_list_is_read_with_its_choices(tmp_path, plan, kind, how):
    objects = (
        FRUIT[:8] if how == "numbers" else FRUIT if how == "names" else [*FRUIT, "kiwi, gold", "pear; red"]
    )
    frame, triplets, right = answer(plan(kind, objects), kind, how)
    frame.write_csv(tmp_path / "answers.csv")
    result = read_answers(tmp_path / "answers.csv")
    by_statement = {}
    for row, statement in zip(named(result.triplets), result.triplets.statement_ids.tolist(), strict=True):
        by_statement.setdefault(statement, set()).add(row)
    assert list(by_statement.values()) == triplets
    assert result.checks["correct"].to_list() == right and len(right) == 6
    assert not len(result.rejected)


@pytest.mark.parametrize(
    ("choice", "triplets", "reason"),
    [
        ("b", 3, None),
        ("b; b", 3, None),
        ("c | b", 4, None),
        ("2, 4", 4, None),
        ('["b", "c"]', 4, None),
        ("b; x", 0, "not a choice"),
        ("9", 0, "not a choice"),
        ("b;c;d;e", 0, "all options chosen"),
    ],
)
def test_picks_from_a_grid(tmp_path, choice, triplets, reason):
    cell = '"' + choice.replace('"', '""') + '"'
    text = "anchor,option_1,option_2,option_3,option_4,choice\n" + f"a,b,c,d,e,d\na,b,c,d,e,{cell}\n"
    result = read(tmp_path, text, on_bad="drop")
    assert [row["reason"] for row in result.rejected.rows(named=True)] == ([] if reason is None else [reason])
    assert len(result.triplets) == 3 + triplets
    roles = {"anchor": "anchor", "option": [f"option_{i}" for i in range(1, 5)], "choice": "choice"}
    assert named(read(tmp_path, text, on_bad="drop", columns=roles).triplets) == named(result.triplets)


def test_a_grid_without_an_answer_is_set_aside_and_a_check_of_three_is_graded(tmp_path):
    text = "anchor,option_1,option_2,option_3,choice\na,b,c,d,\na,b,c,d,Skip\na,b,c,d,c\n"
    assert read(tmp_path, text).checks["kind"].to_list() == ["no answer", "skip"]
    columns = {"option": ["x", "y", "z"], "odd": "odd", "check": "check"}
    result = read(tmp_path, "x,y,z,odd,check\na,b,c,c,\na,a,c,c,c\na,a,c,a,c\n", columns=columns)
    assert result.checks.select("kind", "correct").rows() == [("check", True), ("check", False)]
    assert len(result.triplets) == 2


def test_a_kind_that_is_none_is_refused(tmp_path):
    result = read(tmp_path, "kind,a,b,c,choice\nodd,x,y,z,z\nodder,x,y,z,z\ncentral,x,y,z,z\n", on_bad="drop")
    assert [row["reason"] for row in result.rejected.rows(named=True)] == ["not a kind"]
    assert named(result.triplets) == [("x", "y", "z"), ("y", "x", "z"), ("x", "z", "y"), ("y", "z", "x")]


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("anchor,one,other,said\na,b,c,1\n", "choice_from_0"),
        ("kind,a,b,c,said\nodd,x,y,z,1\n", "choice_from_0"),
        ("kind,anchor,option_1,option_2,option_3,said\ngrid,a,b,c,d,1\n", "choice_from_0"),
        ("anchor,one,other,said\na,b,c,right\n", "choice_side"),
    ],
)
def test_the_choice_of_a_list_stands_under_another_name(tmp_path, text, role):
    by_number = read(tmp_path, text.replace(",said", ",choice").replace(",1\n", ",2\n")).triplets
    assert named(read(tmp_path, text, columns={role: "said"}).triplets) == named(by_number)
