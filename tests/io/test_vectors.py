"""Vectors per object: every way to give them means the same, and what cannot be features is refused in one sentence."""

import gzip
import io
import pickle
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nearfar import LIMITS
from nearfar.cli._options import Given
from nearfar.cli._reading import load_features
from nearfar.errors import FeatureWarning, FileError, InputError, NearfarError, RowsError, TooLargeError
from nearfar.io.vectors import VectorTable, vector_tables

NAMES = ("fig", "=plum", "007")
VALUES = np.array([[0.5, 1.0], [-2.25, 1e-7], [3.0, -0.125]])
FRAME = pl.DataFrame({"object": NAMES, "sweet": VALUES[:, 0], "sour": VALUES[:, 1]})


def assert_is(table, name, objects=NAMES, values=VALUES, columns=("sweet", "sour")):
    assert (table.name, table.objects, table.columns) == (name, objects, columns)
    assert table.values.dtype == np.float64
    np.testing.assert_array_equal(table.values, values)


def write_npy(path):
    np.save(path, VALUES)


def write_npz(path):
    np.savez(path, taste=VALUES, names=NAMES)


def write_text(text):
    return lambda path: path.write_text(text)


ROWS = "object,sweet,sour\nfig,0.5,1\n'=plum,-2.25,1e-7\n\n007, 3.0,-.125\n"
TABLES = {
    "taste.csv": write_text(ROWS),
    "taste.csv.gz": lambda path: path.write_bytes(gzip.compress(ROWS.encode())),
    "taste.tsv": write_text(ROWS.replace(",", "\t")),
    "taste.txt": write_text(
        "Object;sweet;sour\nfig;0,5;1\n'=plum;-2,25;1e-7\n007;3;-0,125\n"
    ),  # decimal commas
    "taste.jsonl": write_text("".join(f"{line}\n" for line in FRAME.write_ndjson().splitlines())),
    "taste.parquet": FRAME.write_parquet,
    "taste.xlsx": FRAME.write_excel,
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_every_format_hold_the_same(tmp_path, name):
    TABLES[name](tmp_path / name)
    [table] = vector_tables(tmp_path / name)
    assert_is(table, "taste")
    assert vector_tables({"mine": str(tmp_path / name)})[0].name == "mine"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_tables_in_other_encodings_are_read_as_answers_are(tmp_path, encoding):
    (tmp_path / "taste.csv").write_bytes("object,sweet\nkäse,0.5\nfig,1\n".encode(encoding))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the encoding
        [table] = vector_tables(tmp_path / "taste.csv")
    assert_is(table, "taste", ("käse", "fig"), [[0.5], [1.0]], ("sweet",))


def test_arrays_in_files(tmp_path):
    write_npy(tmp_path / "taste.npy")
    write_npz(tmp_path / "made.npz")
    assert_is(*vector_tables(tmp_path / "taste.npy"), "taste", objects=None, columns=())
    assert_is(*vector_tables(tmp_path / "made.npz"), "taste", columns=())


@pytest.mark.parametrize(
    "given_features",
    [
        FRAME,
        FRAME.to_pandas(),
        FRAME.to_arrow(),
        FRAME.with_columns(pl.col("object").cast(pl.Categorical)),
        FRAME.to_pandas().set_index("object"),
        pd.DataFrame(VALUES, index=list(NAMES), columns=["sweet", "sour"]),
        VectorTable("features", NAMES, VALUES, ("sweet", "sour")),
    ],
    ids=["polars", "pandas", "pyarrow", "categorical", "index", "nameless index", "itself"],
)
def test_frames_of_every_library_hold_the_same(given_features):
    assert_is(*vector_tables(given_features), "features")
    assert_is(*vector_tables({"taste": given_features}), "taste")


def test_numbers_that_may_name_rows_are_no_names_without_a_word(tmp_path):
    np.savez(
        tmp_path / "v.npz", taste=VALUES, ids=np.arange(len(VALUES))[::-1], kind=np.zeros(len(VALUES), int)
    )
    with pytest.warns(FeatureWarning, match="'ids' names them"):
        assert vector_tables(tmp_path / "v.npz")[0].objects is None


def test_an_index_called_object_names_the_rows_by_numbers_too():
    frame = pd.DataFrame({"object": [2, 0, 1], "sweet": [0.3, 0.1, 0.2]}).set_index("object")
    assert vector_tables(frame)[0].objects == ("2", "0", "1")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.int8, np.uint64, bool, ">f4"])
def test_numbers_of_every_type_are_read(tmp_path, dtype):
    values = np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype)
    np.save(tmp_path / "x.npy", values)
    assert_is(*vector_tables(values), "features", objects=None, values=values, columns=())
    assert_is(*vector_tables(tmp_path / "x.npy"), "x", objects=None, values=values, columns=())


def test_names_that_are_numbers_are_written_as_in_answers():
    whole = pd.DataFrame({"object": [3.0, 1.0, 2.0], "x": [1, 2, 4]})
    assert vector_tables(whole)[0].objects == ("3", "1", "2")
    assert vector_tables(whole.astype({"object": int}))[0].objects == ("3", "1", "2")


def test_one_dimension_is_one_column():
    assert_is(*vector_tables(np.array([1, 5, 2])), "features", None, [[1], [5], [2]], ())
    series = pd.Series([1.0, 5.0], index=["fig", "lime"], name="sweet")
    assert_is(*vector_tables(series), "features", ("fig", "lime"), [[1], [5]], ("sweet",))


def test_several_sources(tmp_path):
    np.savez(tmp_path / "both.npz", clip=VALUES, words=-VALUES)
    assert [t.name for t in vector_tables([tmp_path / "both.npz", VALUES, FRAME])] == [
        "clip",
        "words",
        "features 2",
        "features 3",
    ]
    named = vector_tables({"words": tmp_path / "both.npz", "mine": VectorTable("x", None, VALUES)})
    assert [t.name for t in named] == ["words", "mine"]
    np.testing.assert_array_equal(named[0].values, -VALUES)
    with pytest.raises(InputError, match="'clip'"):
        vector_tables([tmp_path / "both.npz", VectorTable("clip", None, VALUES)])


# ---------------------------------------------------------------- archives


def test_a_name_selects_or_renames_an_array(tmp_path):
    np.savez(tmp_path / "one.npz", clip=VALUES, labels=[1, 2, 3])
    np.savez(tmp_path / "two.npz", clip=VALUES, words=2 * VALUES, note="text")
    assert [t.name for t in vector_tables({"mine": tmp_path / "one.npz"})] == ["mine"]
    [words] = vector_tables({"words": tmp_path / "two.npz"})
    assert_is(words, "words", objects=None, values=2 * VALUES, columns=())
    with pytest.raises(FileError, match=r"'clip' .* 'words' .*'mine'"):
        vector_tables({"mine": tmp_path / "two.npz"})
    with pytest.raises(InputError, match="<U4"):
        vector_tables({"note": tmp_path / "two.npz"})


@pytest.mark.parametrize("key", ["names", "objects", "object"])
@pytest.mark.parametrize("kind", [np.str_, "S", object])
def test_rows_of_an_archive_are_named(tmp_path, key, kind):
    names = np.array(["fig", "plüm", "lime"])
    names = np.char.encode(names, "utf-8") if kind == "S" else names.astype(kind)
    np.savez(tmp_path / "x.npz", **{key: names, "x": VALUES})
    if kind is object:
        with pytest.raises(FileError, match="pickle"):
            vector_tables(tmp_path / "x.npz")
    else:
        assert vector_tables(tmp_path / "x.npz")[0].objects == ("fig", "plüm", "lime")


def test_names_go_with_the_array_of_their_length(tmp_path):
    np.savez(tmp_path / "x.npz", a=VALUES, b=VALUES[:2], names=["x", "y"], objects=NAMES)
    assert [t.objects for t in vector_tables(tmp_path / "x.npz")] == [NAMES, ("x", "y")]
    np.savez(tmp_path / "column.npz", a=VALUES, names=np.array(NAMES)[:, None])  # as MATLAB keeps names
    assert_is(*vector_tables(tmp_path / "column.npz"), "a", columns=())
    np.savez(tmp_path / "matrix.npz", objects=np.eye(3, dtype=int))
    assert_is(*vector_tables(tmp_path / "matrix.npz"), "objects", None, np.eye(3), ())
    np.savez(tmp_path / "other.npz", version=["1"], kinds=["x", "x", "y"], labels=NAMES, a=VALUES)
    assert_is(*vector_tables(tmp_path / "other.npz"), "a", columns=())
    np.savez(tmp_path / "y.npz", a=VALUES, names=["x", "y"])
    np.savez(tmp_path / "z.npz", a=VALUES, names=np.array([], str))
    for name in ("y.npz", "z.npz"):
        with pytest.raises(InputError, match=r"a: has shape \(3, 2\) and [02] names"):
            vector_tables(tmp_path / name)


def test_features_of_things(shared_data):
    tables = vector_tables(shared_data / "things" / "features.npz")
    with np.load(shared_data / "things" / "features.npz") as stored:
        for table in tables:
            assert_is(table, table.name, None, stored[table.name].astype(np.float64), ())
    assert [(t.name, t.values.shape) for t in tables] == [("clip", (1854, 512)), ("words", (1854, 300))]


# ---------------------------------------------------------------- what cannot be features


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([[1, np.nan], [2, 3]], r"row 0, column 1 .*nan"),
        ([[1, 2], [2, -np.inf]], r"row 1, column 1 .*-inf"),
        (np.ma.array([[1, 2], [3, 4]], mask=[[0, 0], [1, 0]]), r"row 1, column 0 .*nan"),
        (np.array([[np.finfo(np.longdouble).max], [1]]), "row 0, column 0 .*inf"),
        (np.ones((2, 2, 2)), r"\(2, 2, 2\)"),
        (np.float64(3), r"shape \(\)"),
        (np.ones((0, 3)), r"\(0, 3\)"),
        (np.ones((3, 0)), r"\(3, 0\)"),
        (VALUES.astype(complex), "complex128"),
        (VALUES.astype(object), "object"),
        (VALUES.astype(str), "<U"),
        (VALUES.astype("M8[s]"), "datetime64"),
        (np.ones((4, 2)), "constant"),
        (np.c_[np.arange(3), np.eye(3)], "column 0 counts"),
        (np.c_[np.ones(3), np.arange(1, 4), np.eye(3)], "column 1 counts"),
    ],
)
@pytest.mark.filterwarnings("ignore::nearfar.errors.FeatureWarning")
def test_arrays_that_are_no_features(values, match):
    values = values if isinstance(values, np.ndarray | np.generic) else np.array(values)
    with pytest.raises(InputError, match=match) as caught:
        vector_tables({"clip": values})
    assert str(caught.value).startswith("clip: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("object,x,y\na,1,\nb,2,3\n", "row 'a', column 'y' .*nan"),
        ("object,x,y\na,1,2\nb,inf,3\n", "row 'b', column 'x' .*inf"),
        ("object,x,kind\na,1,sweet\nb,2,sour\n", "column 'kind'"),
        ("object,x\na,1\nb,NA\n", "row 'b', column 'x' is 'NA'"),
        ('object,x\na,"1,5"\nb,2\n', "column 'x'"),
        ("name,x\na,1\nb,2\n", "'object'.*'name'"),
        ("object\na\nb\n", "column"),
        ("object,x\n", "shape"),
        ("object,x\na,1\nb,2\na,3\n", "'a' is listed twice"),
        ("object,x\na,1\n,2\n", "blank"),
        ("object,x\na,7\nb,7\n", "constant"),
        ("object,object,x\na,b,7\nb,c,7\n", "2 columns"),
        (",object,x\n0,a,5\n1,b,7\n2,c,1\n", "column '' counts"),
        ("object,ID,x\na,1,5\nb,2,7\nc,3,1\n", "column 'ID' counts"),
        ("object,index,x\na,0,5\nb,1,7\nc,2,1\n", "column 'index' counts"),
        ("Unnamed: 0,object,x\n0,a,5\n1,b,7\n2,c,1\n", "column 'Unnamed: 0' counts"),
        ("Unnamed: 0,object,x\n8,a,5\n0,b,7\n3,c,1\n", "column 'Unnamed: 0' counts"),  # of a part, or sorted
        (",object,x\n2,a,5\n0,b,7\n1,c,1\n", "column '' counts"),
        ("row,object,x\n1,a,5\n2,b,7\n3,c,1\n", "column 'row' counts"),
        ("object,Nr,x\na,0,5\nb,1,7\nc,2,1\n", "column 'Nr' counts"),
    ],
)
def test_tables_that_are_no_features(tmp_path, text, match):
    path = tmp_path / "clip.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=match) as caught:
        vector_tables(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_long_cell_is_not_repeated(tmp_path):
    pl.DataFrame({"object": ["a", "b"], "x": [[0.1] * 500] * 2}).write_ndjson(tmp_path / "x.jsonl")
    with pytest.raises(FileError, match="row 'a', column 'x'") as caught:
        vector_tables(tmp_path / "x.jsonl")
    assert len(str(caught.value)) < 300


def test_titles_that_occur_twice_do_not_match_columns(tmp_path):
    path = tmp_path / "clip.csv"
    path.write_text("object,x,x\na,1,2\nb,2,5\n")
    assert_is(vector_tables(path)[0], "clip", ("a", "b"), [[1, 2], [2, 5]], ())


def test_an_empty_file_is_not_asked_for_answers(tmp_path):
    for name in ("clip.csv", "clip.npy"):
        (tmp_path / name).touch()
        with pytest.raises(FileError, match="empty") as caught:
            vector_tables(tmp_path / name)
        assert "answers" not in str(caught.value)


def test_columns_that_only_look_like_an_index_are_kept():
    named = pl.DataFrame({"object": NAMES, "rank": [1, 2, 3], "id": [2, 1, 3], "index": [0, 1, 3]})
    assert vector_tables(named)[0].columns == ("rank", "id", "index")
    assert vector_tables(np.c_[np.arange(3), VALUES])[0].values.shape == (3, 3)
    assert vector_tables(np.c_[np.arange(2), np.eye(2), VALUES[:2]])[0].values.shape == (
        2,
        5,
    )  # too few to tell
    assert vector_tables(np.c_[np.arange(3) + 2, np.eye(3)])[0].values.shape == (3, 4)


def test_a_ragged_table(tmp_path):
    (tmp_path / "x.csv").write_text("object,x\na,1\nb\n")
    with pytest.raises(RowsError, match="line 3"):
        vector_tables(tmp_path / "x.csv")


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([[1.0], [2.0], [3.0]]),
        pl.Series([1, 2, 3]).cast(pl.Date),
        pl.Series([1, 2, 3]).cast(pl.Datetime),
        pl.Series(["x", "1", "2"], dtype=pl.Categorical),
    ],
    ids=str,
)
def test_typed_columns_that_are_not_numeric(column):
    with pytest.raises(InputError, match="odd"):
        vector_tables(FRAME.with_columns(odd=column))


def test_constant_columns_are_told_of_once():
    with pytest.warns(FeatureWarning, match=r"features: .*'flat'"):
        [table] = vector_tables(FRAME.with_columns(flat=1.0).select("flat", "object", "sweet", "sour"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert vector_tables(table)[0].columns == ("flat", "sweet", "sour")


@pytest.mark.parametrize(
    "features", [3, None, {"a": [VALUES]}, [[1.0, 2.0]], {"a": None}, b"x.npy", object()]
)
def test_other_things_are_refused(features):
    with pytest.raises(InputError, match="cannot be read from"):
        vector_tables(features)


def test_frames_without_names_are_refused():
    for features in (FRAME.drop("object"), pd.DataFrame(VALUES), FRAME["sweet"], pa.table({"x": [1, 2]})):
        with pytest.raises(InputError, match="no column 'object'"):
            vector_tables(features)


@pytest.mark.parametrize(
    "table", [VectorTable("x", ("a", "b"), VALUES), VectorTable("x", None, VALUES, ("a",))]
)
def test_a_table_made_by_hand_is_checked(table):
    with pytest.raises(InputError, match="x: has shape"):
        vector_tables(table)


# ---------------------------------------------------------------- hostile files


class Trap:
    """What must never be unpickled."""

    def __reduce__(self):
        return (Path.touch, (Path("trapped"),))


def header(text):
    """An NPY file of this header and nothing else."""
    body = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trap = np.array([[Trap()]], dtype=object)
    np.save("a.npy", trap, allow_pickle=True)
    np.savez("b.npz", x=trap, y=VALUES)
    Path("c.npy").write_bytes(pickle.dumps(Trap()))
    with zipfile.ZipFile("d.npz", "w") as archive:
        archive.writestr("x.npy", pickle.dumps(Trap()))
    for name in ("a.npy", "b.npz", "c.npy", "d.npz"):
        with pytest.raises(FileError, match=name):
            vector_tables(name)
    assert not Path("trapped").exists()


@pytest.mark.parametrize(
    "dtype_and_shape", [("<f8", "(10**15, 4)"), ("<f8", "(1000000000000000, 4)"), ("|V0", "(99999999999, 9)")]
)
@pytest.mark.parametrize("archived", [False, True])
def test_headers_that_promise_too_much(tmp_path, dtype_and_shape, archived):
    dtype, shape = dtype_and_shape
    data = header(f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}")
    path = tmp_path / ("x.npz" if archived else "x.npy")
    if archived:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x.npy", data)
    else:
        path.write_bytes(data)
    with pytest.raises(InputError, match=path.name):
        vector_tables(path)


def test_an_archive_that_unpacks_to_far_more(tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", x=np.zeros((2100, 2000)))
    with pytest.raises(FileError, match="NEARFAR_MAX_UNPACKED_RATIO"):
        vector_tables(tmp_path / "bomb.npz")


def test_memory_is_guarded(tmp_path, monkeypatch):
    values = np.random.default_rng(0).integers(0, 100, (100, 20), dtype=np.int8)
    frame = pl.DataFrame(values).with_columns(object=pl.int_range(100))
    np.save(tmp_path / "x.npy", values)
    np.savez_compressed(tmp_path / "x.npz", x=values)
    frame.write_csv(tmp_path / "x.csv")
    monkeypatch.setattr(LIMITS, "memory_bytes", 15_000)  # as int8 they fit, as float64 they do not
    for features in (values, frame, *(tmp_path / f"x.{kind}" for kind in ("npy", "npz", "csv"))):
        with pytest.raises(TooLargeError, match="need"):
            vector_tables(features)
    monkeypatch.setattr(LIMITS, "memory_bytes", 1_000)  # not even as they are stored
    for kind, what in (("npy", "arrays"), ("npz", "arrays"), ("csv", "cells")):
        with pytest.raises(TooLargeError, match=what):
            vector_tables(tmp_path / f"x.{kind}")


@given(st.data())
def test_damaged_files_are_one_sentence(tmp_path_factory, data):
    stream = io.BytesIO()
    np.savez(stream, taste=VALUES, names=NAMES)
    whole = bytearray(stream.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    path.write_bytes(whole[: data.draw(st.integers(1, len(whole)))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables, said = outcome(path)
    assert said.count("\n") == 0
    assert all(np.isfinite(table.values).all() for table in tables)


def outcome(path):
    """What is read from a file, and the error where it is not; any other error goes through."""
    try:
        return vector_tables(path), ""
    except NearfarError as error:
        return [], str(error)


@given(arrays(np.float64, (4, 3), elements=st.floats(allow_nan=False, allow_infinity=False), unique=True))
def test_what_is_written_is_read(tmp_path_factory, values):
    """To the last bit, as text too."""
    folder = tmp_path_factory.getbasetemp()
    frame = pl.DataFrame(values, schema=["x", "y", "z"]).with_columns(object=pl.Series(list("abcd")))
    np.save(folder / "v.npy", values)
    frame.write_csv(folder / "v.csv")
    frame.write_parquet(folder / "v.parquet")
    for features in (values, frame, folder / "v.npy", folder / "v.csv", folder / "v.parquet"):
        np.testing.assert_array_equal(vector_tables(features)[0].values, values)


# ---------------------------------------------------------------- the option --features


def test_features_of_a_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npy(Path("taste.npy"))
    write_npy(Path("a=b.npy"))
    np.savez("both.npz", clip=VALUES, words=-VALUES)

    def names(*given_features):
        return [t.name for t in load_features(Given(answers=[], features=list(given_features)))]

    assert names("taste.npy", "mine=taste.npy", "a=b.npy", "c=a=b.npy") == ["taste", "mine", "a=b", "c"]
    assert names("both.npz") == ["clip", "words"]
    assert names("words=both.npz", "taste.npy") == ["words", "taste"]
    assert load_features(Given(answers=[])) is None
    for wrong in ("=taste.npy", "mine="):
        with pytest.raises(InputError, match="NAME=FILE"):
            names(wrong)
    with pytest.raises(InputError, match="two sources"):
        names("taste.npy", "taste.npy")
    with pytest.raises(FileError, match="no such file"):
        names("mine=none.npy")
