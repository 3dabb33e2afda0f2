"""Object lists, files that appear whole or not at all, and the facts about a collection."""

import io
import os
import stat
import sys
from pathlib import Path

import pytest
from io_tools import assert_same

from nearfar._tools.atomic import atomic_path
from nearfar.errors import FileError, RowsError
from nearfar.io import ObjectList, read_objects, read_triplets, write_triplets
from nearfar.triplets import Triplets

# ---------------------------------------------------------------- object lists


def test_an_object_list_with_everything(tmp_path):
    path = tmp_path / "objects.csv"
    path.write_text('object,display_name,image,group\n007,"Bond, James",pics/7.jpg,spies\nq,,,\n')
    listed = read_objects(path)
    assert listed.names == ("007", "q")
    assert listed.display_names == ("Bond, James", "q")
    assert listed.images == (tmp_path / "pics" / "7.jpg", None)
    assert listed.groups == ("spies", None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "object,price,class,note\na,1.5,x,\nb,,y,hm\n",
            {"price": (1.5, None), "class": ("x", "y"), "note": (None, "hm")},
        ),
        ("object;price\na;1,5\nb;2\n", {"price": (1.5, 2.0)}),
        ("object,,Group,note,note\na,1,g,n,n\nb,2,g,n,n\n", {}),
    ],
)
def test_further_columns_are_properties(tmp_path, text, expected):
    path = tmp_path / "objects.csv"
    path.write_text(text)
    assert read_objects(path).properties == expected


def test_properties_in_latin_1(tmp_path):
    path = tmp_path / "objects.csv"
    path.write_bytes("object,Größe,Farbe,image\na,1,grün,a.png\nb,2,rot,\n".encode("latin-1"))
    listed = read_objects(path)
    assert listed.properties == {"Größe": (1.0, 2.0), "Farbe": ("grün", "rot")}
    assert listed.images == (tmp_path / "a.png", None)


def test_an_object_list_of_names_alone(tmp_path):
    path = tmp_path / "objects.tsv"
    path.write_text("Object\nb\n\na\n")
    assert read_objects(path) == ObjectList(("b", "a"), ("b", "a"), (None, None), (None, None))


def test_an_object_list_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"object,image\nb,x.png\n")))
    assert read_objects("-").images == (Path("x.png"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,display_name\na,b\n", r"a column named 'object'; its columns are 'name', 'display_name'"),
        ("object,display_name\na,b\n,c\n", "object 1 is ''; every object needs a name"),
        ("object\na\nb\na\n", "'a' is listed twice"),
    ],
)
def test_an_object_list_that_is_none(tmp_path, text, message):
    path = tmp_path / "objects.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        read_objects(path)


def test_a_ragged_object_list(tmp_path):
    path = tmp_path / "objects.csv"
    path.write_text("object,display_name,group\na,b,c\nd,e\n")
    with pytest.raises(RowsError, match=r"line 3: wrong number of cells: 2 cells"):
        read_objects(path)


def test_answers_are_read_with_an_object_list_however_it_is_given(tmp_path):
    (tmp_path / "answers.csv").write_text("anchor,near,far\na,b,c\n")
    (tmp_path / "objects.csv").write_text("object\nc\nb\na\nz\n")
    listed = read_objects(tmp_path / "objects.csv")
    for given_list in (listed, ["c", "b", "a", "z"], tmp_path / "objects.csv", str(tmp_path / "objects.csv")):
        answers = read_triplets(tmp_path / "answers.csv", objects=given_list)
        assert answers.objects == ("c", "b", "a", "z")
        assert answers.array.tolist() == [[2, 1, 0]]


# ---------------------------------------------------------------- whole or not at all


def test_a_file_appears_when_it_is_whole(tmp_path):
    target = tmp_path / "out.csv.gz"
    with atomic_path(target) as path:
        assert path.parent == tmp_path
        assert path.name.endswith(".out.csv.gz")
        path.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("trouble", [ValueError, KeyboardInterrupt, SystemExit])
def test_trouble_leaves_what_was_there(tmp_path, trouble):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(trouble, match="stop"), atomic_path(target) as path:  # noqa: PT012
        path.write_text("half")
        raise trouble("stop")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_links_and_permissions_stay(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    with atomic_path(link) as path:
        path.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_device_is_written_to_directly():
    with atomic_path(os.devnull) as path:
        path.write_text("gone")
    assert Path(os.devnull).is_char_device()


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match=r"cannot be written, it is a directory"), atomic_path(tmp_path):
        pass
    with (
        pytest.raises(FileError, match=r"there is no directory '.*nope'"),
        atomic_path(tmp_path / "nope" / "x.csv"),
    ):
        pass


def test_writing_over_a_file_keeps_it_until_the_end(tmp_path):
    path = tmp_path / "answers.csv"
    first = Triplets.from_array([[0, 1, 2]])
    write_triplets(first, path)
    with pytest.raises(ValueError, match="not all answers are odd-one-out"):
        write_triplets(Triplets.from_array([[2, 1, 0]]), path, dialect="odd-one-out")
    assert_same(read_triplets(path), first)
