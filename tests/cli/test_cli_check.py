"""``nearfar check``, and what all commands share: options, exclusion, warnings, progress, output."""

import io
import json
import subprocess
import sys
import time
import warnings

import polars as pl
import pytest
from cli_tools import run

import nearfar as nf
from nearfar._tools.progress import step
from nearfar.cli._options import Given, session
from nearfar.cli._reading import load
from nearfar.errors import FileError, NearfarWarning

ANSWERS = (
    "anchor,near,far,participant,answered_at\n"
    "a,b,c,ann,1\na,b,c,ann,1.1\na,c,b,bob,5\nb,c,a,bob,6\nb,a,c,cat,7\nb,b,c,cat,8\nb,a,,cat,9\n"
)


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(ANSWERS)
    return path


# ---------------------------------------------------------------- check


def test_check_tells_what_was_read(monkeypatch, capsys, answers, tmp_path):
    (tmp_path / "objects.csv").write_text("object\na\nb\nc\nz\n")
    code, out, err = run(monkeypatch, capsys, "check", answers, "--objects", tmp_path / "objects.csv")
    assert (code, err) == (0, "")
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines == [
        f"{answers}  (format: anchor, near, far; 7 rows)",
        "objects         4, without answers: z",
        "answers         5 (4 unique)",
        "contradictions  2 (questions that received both answers)",
        "trials          no trial ids; each row is one trial",
        "participants    3",
        "repeats         2 questions answered more than once, 1 time by the same participant",
        "double submits  1, kept",
        "  1 row: the same object twice; expected three distinct objects",
        f"      {answers}, line 7: anchor 'b', near 'b', far 'c'",
        "  1 row: blank cell; expected the name of an object",
        f"      {answers}, line 8: far ''",
        "rejected        2 rows",
    ]


def test_check_as_json(monkeypatch, capsys, answers):
    code, out, _ = run(monkeypatch, capsys, "check", answers, "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["objects"], facts["answers"], facts["unique"], facts["double_submits"]) == (3, 5, 4, 1)
    assert [(r["reason"], r["count"]) for r in facts["rejected"]] == [
        ("the same object twice", 1),
        ("blank cell", 1),
    ]


def test_check_shows_what_was_set_aside_and_not_used(monkeypatch, capsys, tmp_path):
    path = tmp_path / "tools.csv"
    path.write_text(
        "worker_id,rt,Center,Left,Right,Answer,sampleAlg,mood\nw,1,a,b,c,b,random,x\nw,1,a,a,c,a,check,x\nw,1,a,b,c,NA,random,x\n"
    )
    code, out, _ = run(monkeypatch, capsys, "check", path)
    assert code == 0
    assert "set aside       1 × check, 1 correct and 0 wrong\n" in out
    assert "set aside       1 × no answer\n" in out
    assert "not used        columns mood\n" in out


def test_check_of_nothing_but_bad_rows_fails_after_listing_them(monkeypatch, capsys, tmp_path):
    (tmp_path / "bad.csv").write_text("anchor,near,far\na,a,a\n" * 1 + "a,a,a\n" * 9)
    code, out, err = run(monkeypatch, capsys, "check", tmp_path / "bad.csv")
    assert code == 2 and f"{tmp_path / 'bad.csv'}: holds no answers" in err and err.count("\n") == 1
    assert "answers         0 (0 unique)" in out
    assert "      and 7 more" in out


@pytest.mark.parametrize("name", ["nope.csv", "answers.xlsx"])
def test_check_of_what_cannot_be_read_fails_with_one_sentence(monkeypatch, capsys, tmp_path, name):
    code, out, err = run(monkeypatch, capsys, "check", tmp_path / name)
    assert (code, out) == (2, "")
    assert err.startswith(f"nearfar: {tmp_path / name}: ")
    assert err.count("\n") == 1


def test_check_of_the_food_answers(monkeypatch, capsys, shared_data):
    code, out, _ = run(monkeypatch, capsys, "check", shared_data / "food" / "triplets.npz")
    assert code == 0
    assert "250,320 (190,376 unique)" in out
    assert "9,349 (comparisons that received both" in out


def test_check_reads_standard_input_in_a_process_of_its_own(answers):
    command = [sys.executable, "-m", "nearfar", "check", "-"]
    done = subprocess.run(command, input=answers.read_bytes(), capture_output=True, check=True)
    assert b"standard input  (format: anchor, near, far; 7 rows)" in done.stdout
    assert done.stderr == b""


def test_check_lists_every_rejected_row(monkeypatch, capsys, tmp_path):
    (tmp_path / "many.csv").write_text("anchor,near,far\na,b,c\n" + "a,a,\x1b[31mb\n" * 12 + "a,b\n")
    for name in ("out.csv", "out.jsonl", "out.xlsx"):
        code, out, err = run(
            monkeypatch, capsys, "check", tmp_path / "many.csv", "--rejected", tmp_path / name
        )
        assert (code, err) == (0, "")
        assert out.splitlines()[-1].split() == ["rejected", "13", "rows"]
        assert "\x1b" not in out
    listed = pl.read_csv(tmp_path / "out.csv")
    assert listed.columns == ["file", "line", "reason", "content", "expected"]
    assert listed["line"].to_list() == list(range(3, 16))
    code, out, _ = run(monkeypatch, capsys, "check", tmp_path / "many.csv", "--json")
    assert [row["line"] for row in json.loads(out)["rejected_rows"]] == list(range(3, 16))


def test_check_lists_names_that_look_alike(monkeypatch, capsys, tmp_path):
    (tmp_path / "a.csv").write_text("anchor,near,far\nfig,Fig,kiwi\nfig\u00a0,caf\u00e9,cafe\u0301\n")
    code, out, err = run(monkeypatch, capsys, "check", tmp_path / "a.csv")
    assert code == 0
    assert "similar names   'Fig', 'fig', 'fig\\xa0'\n" in out
    assert "similar names   'cafe\\u0301', 'caf\\xe9'\n" in out
    assert err.count("warning: ") == 1
    assert "some names differ only by spaces or Unicode form" in err


def test_milliseconds_under_seconds_are_noticed(monkeypatch, capsys, tmp_path):
    (tmp_path / "a.csv").write_text("anchor,near,far,seconds\na,b,c,2008\na,b,c,1500\na,b,c,3000\n")
    _, _, err = run(monkeypatch, capsys, "check", tmp_path / "a.csv")
    assert "the median response time is 2,008 s, which looks like milliseconds" in err
    _, _, err = run(monkeypatch, capsys, "check", tmp_path / "a.csv", "--column", "milliseconds=seconds")
    assert err == ""
    for seconds, noticed in ((90, False), (250, True), (2_000_000, True)):
        (tmp_path / "a.csv").write_text(f"anchor,near,far,seconds\na,b,c,{seconds}\n")
        _, _, err = run(monkeypatch, capsys, "check", tmp_path / "a.csv")
        assert ("looks like milliseconds" in err) == noticed


def test_a_file_with_columns_of_its_own(monkeypatch, capsys, tmp_path):
    (tmp_path / "a.csv").write_text("Q,L,R,Picked\na,b,c,left\n")
    columns = [f"--column={each}" for each in ("anchor=Q", "option=L", "option=R", "choice=Picked")]
    code, out, _ = run(monkeypatch, capsys, "check", tmp_path / "a.csv", *columns)
    assert (code, "(format: columns as named; 1 row)" in out) == (0, True)
    code, _, err = run(monkeypatch, capsys, "check", tmp_path / "a.csv", "--column", "anchor")
    assert (code, err.splitlines()[0][:40]) == (2, "nearfar: --column anchor: expected ROLE=")


# ---------------------------------------------------------------- what commands share


def test_participants_can_be_left_out(monkeypatch, capsys, answers, tmp_path):
    (tmp_path / "out.txt").write_text("ann\n\n  bob \nann\n")
    code, out, err = run(monkeypatch, capsys, "check", answers, "--exclude", tmp_path / "out.txt")
    assert (code, err) == (0, "")
    assert "answers         1 (1 unique)" in out
    assert "excluded        2 participants with 4 answers" in out


def test_a_stranger_on_the_list_gets_a_sentence(answers, tmp_path):
    (tmp_path / "out.txt").write_text("ann\nzoe\n")
    with pytest.warns(
        NearfarWarning, match=r"1 of 2 listed participants gave no answer \('zoe'\); check the spelling"
    ):
        loaded = load(
            Given(answers=[str(answers)], on_bad="drop", exclude=tmp_path / "out.txt"), announce=False
        )
    assert loaded.excluded == {"ann": 2, "zoe": 0}
    assert len(loaded.triplets) == 3
    assert len(loaded.result.triplets) == 5


def test_nobody_can_be_left_out_of_nameless_answers(tmp_path):
    path, listed = tmp_path / "answers.csv", tmp_path / "out.txt"
    path.write_text("anchor,near,far,participant\na,b,c,7\na,b,c,8\n")
    listed.write_text("7\n")
    assert load(Given(answers=[str(path)], exclude=listed)).excluded == {"7": 1}
    path.write_text("anchor,near,far\na,b,c\n")
    with pytest.raises(FileError, match=r"the answers do not say who gave them"):
        load(Given(answers=[str(path)], exclude=listed))
    with pytest.raises(FileError, match=r"gone\.txt: cannot be read, there is no such file"):
        load(Given(answers=[str(path)], exclude=tmp_path / "gone.txt"))


def test_dropped_rows_are_counted(tmp_path):
    (tmp_path / "answers.csv").write_text("anchor,near,far\na,b,c\na,b,b\nb,c,a\na,c,\n")
    with pytest.warns(
        NearfarWarning, match=r"answers\.csv: dropped 2 rows that are not valid answers, the first in line 3"
    ):
        assert len(load(Given(answers=[str(tmp_path / "answers.csv")], on_bad="drop")).triplets) == 2


def test_several_files_are_joined(answers, tmp_path):
    (tmp_path / "more.csv").write_text("a,b,c,odd\na,b,z,z\n")
    loaded = load(Given(answers=[str(answers), str(tmp_path / "more.csv")], on_bad="drop"), announce=False)
    assert len(loaded.triplets) == 7
    assert loaded.triplets.objects == ("a", "b", "c", "z")
    assert loaded.objects is None


def test_a_warning_is_one_line_without_its_source(capsys):
    with session():
        for _ in range(2):
            warnings.warn("mind the gap", NearfarWarning, stacklevel=1)
    assert capsys.readouterr().err == "nearfar: warning: mind the gap\n"


def test_warnings_of_others_pass_as_they_are():
    with pytest.warns(DeprecationWarning, match="old"), session():
        warnings.warn("old", DeprecationWarning, stacklevel=1)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("seconds", "quiet", "terminal"),
    [(0.9, False, True), (0.0, False, True), (0.9, True, True), (0.9, False, False)],
)
def test_progress_is_drawn_only_when_it_lasts_and_somebody_looks(monkeypatch, seconds, quiet, terminal):
    drawn = seconds > 0 and terminal and not quiet
    stderr = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    with session(quiet), step("a long step", total=10) as advance:
        advance(5)
        time.sleep(seconds)
        patience = time.monotonic() + 60  # a slow machine takes long to import what draws
        while drawn and "a long step" not in stderr.getvalue() and time.monotonic() < patience:
            time.sleep(0.05)
        advance(5)
    assert ("a long step" in stderr.getvalue()) == drawn


def test_remarks_go_to_stderr_unless_quiet(capsys):
    Given(answers=[]).tell("written")
    Given(answers=[], quiet=True).tell("hidden")
    assert capsys.readouterr() == ("", "written\n")


def test_pseudonyms_of_any_report_nearby_are_excluded(monkeypatch, capsys, tmp_path):
    from nearfar._tools.pseudonyms import pseudonyms

    (tmp_path / "answers.csv").write_text("anchor,near,far,participant\na,b,c,ann\na,b,d,bob\n")
    (tmp_path / "first.key").write_text("one key\n")
    (tmp_path / "server.key").write_bytes(b"\xff\x00 is not one of ours")
    (tmp_path / "out.txt").write_text(pseudonyms(["ann", "bob"], "one key")["bob"] + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = load(Given(answers=[str(tmp_path / "answers.csv")], exclude=tmp_path / "out.txt"))
    assert loaded.excluded == {"bob": 1}


def test_answers_of_nobody_known_are_not_those_of_one_person(monkeypatch, capsys, tmp_path):
    """As merged cells of a spreadsheet leave them: a warning; whether a blank repeats a question is not known."""
    path = tmp_path / "blanks.csv"
    path.write_text("anchor,near,far,participant\na,b,c,ann\nb,c,a,\nb,c,a,\nc,a,b,bob\nc,a,b,bob\n")
    _, out, err = run(monkeypatch, capsys, "check", path)
    assert "participants    2\n" in out and "2 of 5 answers have no participant" in err
    assert "2 questions answered more than once, 1 time by the same participant" in out
    with pytest.warns(NearfarWarning, match="no participant"):
        assert repr(nf.read_triplets(path)) == "Triplets(5 answers, 3 objects, 2 participants)"
