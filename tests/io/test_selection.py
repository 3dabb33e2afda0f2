"""Which part of a file is read, and under which names: archives, rows, spellings, sides, headers below a title."""

import csv
import io
import zipfile

import numpy as np
import polars as pl
import pytest
from io_tools import assert_same, named, read

import nearfar as nf
from nearfar.errors import FileError, NearfarWarning, RowsError

TABLE = "anchor,near,far,block,participant\nfig,plum,lime,main,ann\nfig,lime,plum,training,ann\nlime,fig,plum,main,bob\n"


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return path


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "xlsx", "npz", "csv.gz"])
def test_an_archive_with_one_table(tmp_path, ending):
    answers = read(tmp_path, TABLE).triplets
    nf.write_triplets(answers, tmp_path / f"answers.{ending}")
    data = (tmp_path / f"answers.{ending}").read_bytes()
    with zipfile.ZipFile(tmp_path / "study.zip", "w") as packed:
        packed.writestr(f"export/answers.{ending}", data)
        packed.writestr("__MACOSX/export/._answers", b"x")
    found = nf.read_answers(tmp_path / "study.zip")
    assert_same(found.triplets, answers)
    assert found.sources[0].name.endswith(f"study.zip/export/answers.{ending}")


def test_an_archive_that_is_not_one_table_is_one_sentence(tmp_path):
    with pytest.raises(FileError, match=r"holds 2 files \(a\.csv, b\.csv\).*unpack"):
        nf.read_triplets(archive(tmp_path / "two.zip", a_dot_csv=TABLE, b_dot_csv=TABLE))
    with pytest.raises(FileError, match="unknown extension"):
        nf.read_triplets(archive(tmp_path / "doc.zip", a_dot_docx="x"))
    (tmp_path / "cut.zip").write_bytes((tmp_path / "two.zip").read_bytes()[:60])
    with pytest.raises(FileError, match="ZIP"):
        nf.read_triplets(tmp_path / "cut.zip")
    with pytest.raises(FileError, match="NEARFAR_MAX_UNPACKED_RATIO"):
        nf.read_triplets(archive(tmp_path / "bomb.zip", a_dot_csv="a" * (1 << 26)))


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("block = main", [0, 2]),
        ("block == main", [0, 2]),
        ("block != main", [1]),
        (["block=main", "participant = ann"], [0]),
        ("4 = training", [1]),
        ("block = ", []),
    ],
)
def test_rows_are_selected_by_a_condition(tmp_path, where, kept):
    rows = list(csv.reader(io.StringIO(TABLE)))[1:]
    result = read(tmp_path, TABLE, where=where)
    assert named(result.triplets) == [tuple(rows[i][:3]) for i in kept]
    assert result.checks["kind"].to_list() == ["not selected"] * (3 - len(kept))


def test_what_is_not_selected_is_not_judged(tmp_path):
    """Practice rows with other objects, or a choice of 0, neither stop the reader nor name an object."""
    text = "Q,L,R,Picked,block\na,b,c,2,main\nx,,z,0,practice\nb,a,c,1,main\n"
    columns = {"anchor": "Q", "option": ["L", "R"], "choice": "Picked"}
    result = read(tmp_path, text, columns=columns, where="block = main")
    assert named(result.triplets) == [("a", "c", "b"), ("b", "a", "c")]
    assert result.triplets.objects == ("a", "b", "c")


def test_names_are_joined_where_that_is_wanted(tmp_path):
    text = "anchor,near,far\nFig,plum,lime\nfig ,lime,PLUM\nLime,fig,Plum\nfig,Fig,lime\n"
    with pytest.warns(NearfarWarning, match="join-names"):
        assert len(read(tmp_path, text).triplets.objects) == 8
    result = read(tmp_path, text, join_names=True, on_bad="drop")
    assert named(result.triplets) == [
        ("Fig", "plum", "lime"),
        ("Fig", "lime", "plum"),
        ("lime", "Fig", "plum"),
    ]
    assert result.rejected["line"].to_list() == [5]  # the same object twice, once the names are one
    with pytest.raises(RowsError, match="object list"):
        read(tmp_path, text, objects=["fig", "plum", "lime"])
    listed = read(tmp_path, text, objects=["fig", "plum", "lime"], join_names=True, on_bad="drop")
    assert listed.triplets.objects == ("fig", "plum", "lime") and len(listed.triplets) == 3
    chosen = "Q,L,R,Picked\nfig,Plum,lime,plum\nFIG,Lime,plum, LIME \n"
    columns = {"anchor": "Q", "option": ["L", "R"], "choice": "Picked"}
    assert len(read(tmp_path, chosen, columns=columns, join_names=True).triplets) == 2


def test_sides_in_german(tmp_path):
    columns = {"anchor": "Q", "option": ["L", "R"], "choice_side": "Taste"}
    answers = read(tmp_path, "Q,L,R,Taste\na,b,c,links\na,b,c,Rechts\n", columns=columns).triplets
    assert named(answers) == [("a", "b", "c"), ("a", "c", "b")] and answers.near_side.tolist() == [0, 1]
    text = "anchor,near,far,near_side\na,b,c,links\na,c,b,rechts\na,b,d,\n"
    assert read(tmp_path, text).triplets.near_side.tolist() == [0, 1, -1]


@pytest.mark.parametrize(
    "title", ["My study\n\n", "Study 3,,,\nexported,2024-01-01,,\n", '"a, ""b""\nc"\n', "x\ty\n"]
)
def test_a_header_below_a_title_is_found_and_said(tmp_path, title):
    line = 1 + title.count("\n")
    with pytest.warns(NearfarWarning, match=rf"the header is in line {line};"):
        result = read(tmp_path, title + TABLE)
    assert_same(result.triplets, read(tmp_path, TABLE, name="plain.csv").triplets)
    assert result.sources[0].rows == 3
    renamed = TABLE.replace("anchor,near,far", "Q,N,F")
    with pytest.warns(NearfarWarning, match=rf"line {line}"):
        found = read(tmp_path, title + renamed, columns={"anchor": "Q", "near": "N", "far": "F"})
    assert len(found.triplets) == 3


@pytest.mark.parametrize("sides", ["known", "some", "none"])
def test_next_has_the_chosen_object_on_the_side_where_it_was(tmp_path, sides):
    """Read back by the csv module; where the side is not known, it must not give the answer away."""
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(9)[:3] for _ in range(400)])
    near_side = {"known": rng.integers(0, 2, 400), "some": rng.integers(-1, 2, 400), "none": None}[sides]
    answers = nf.Triplets.from_array(rows, [f"o{i}" for i in range(9)], near_side=near_side)
    nf.write_triplets(answers, tmp_path / "next.csv", dialect="next")
    with open(tmp_path / "next.csv", newline="") as file:
        written = list(csv.DictReader(file))
    for row, (anchor, near, far), at in zip(
        written, named(answers), [-1] * 400 if near_side is None else near_side, strict=True
    ):
        assert (row["Center"], row["Answer"], {row["Left"], row["Right"]}) == (anchor, near, {near, far})
        assert at < 0 or row[("Left", "Right")[at]] == near
    assert 0.4 < np.mean([row["Answer"] == row["Left"] for row in written]) < 0.6


@pytest.mark.parametrize("dialect", ["canonical", "salmon", "next", "tripletTools"])
def test_the_label_of_the_design_is_kept(tmp_path, dialect):
    labels = ["random", "ARR", "validation", "CrowdKernel"]
    answers = nf.Triplets.from_array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 0, 1]], list("abc"), rule=labels)
    nf.write_triplets(answers, tmp_path / "answers.csv", dialect=dialect)
    back = nf.read_triplets(tmp_path / "answers.csv")
    assert np.asarray(back.rule).tolist() == labels
    assert nf.triplets.random_rows(back).tolist() == [True, False, True, False]


def test_a_data_frame_takes_the_same_options():
    frame = pl.read_csv(io.StringIO(TABLE))
    assert len(nf.read_triplets(frame, where="block = main", join_names=True)) == 2


def test_a_column_that_may_say_who_answered_is_not_left_out_in_silence(tmp_path):
    subject = read(tmp_path, TABLE.replace("participant", "Subject")).triplets
    assert np.asarray(subject.participant).tolist() == ["ann", "ann", "bob"]
    for name, option in (("Rater", "participant=Rater"), ("Worker Nr", "participant='Worker Nr'")):
        with pytest.warns(NearfarWarning, match=option):
            assert read(tmp_path, TABLE.replace("participant", name)).triplets.participant is None
    assert read(tmp_path, TABLE.replace("participant", "id")).triplets.participant is None  # of a row


def test_rows_of_four_are_told_to_be_quadruplets(tmp_path):
    np.save(
        tmp_path / "pairs.npy",
        np.array([[0, 1, 2, 3], [1, 2, 0, 3], [3, 0, 1, 2], [2, 3, 0, 1], [0, 2, 1, 3]]),
    )
    with pytest.raises(FileError, match="--dialect quadruplets"):
        nf.read_triplets(tmp_path / "pairs.npy")
