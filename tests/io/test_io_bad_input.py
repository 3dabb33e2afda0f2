"""Every kind of bad input gets its one sentence: where, what came, what was expected."""

import gzip
import io
import os
import pickle

import numpy as np
import polars as pl
import pytest

from nearfar.errors import FileError, InputError, RowsError, TripletError
from nearfar.io import read_answers, read_triplets, write_triplets
from nearfar.triplets import Triplets

GOOD = "anchor,near,far\na,b,c\n"


def put(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# ---------------------------------------------------------------- the file as a whole


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("empty.csv", "", r"empty\.csv: is empty"),
        ("blank.csv", "\n \n\n", r"blank\.csv: holds only blank lines"),
        ("answers.xlsx", GOOD, r"answers\.xlsx: is called a xlsx file, but its contents are not xlsx"),
        ("answers.doc", GOOD, r"answers\.doc: unknown extension '\.doc'"),
        ("answers", GOOD, r"answers: no extension"),
        ("answers.npz.gz", GOOD, r"unknown extension '\.npz\.gz'"),
        ("answers.csv.gz", GOOD, r"answers\.csv\.gz: is called a gzip file, but its contents are not gzip"),
        ("answers.csv.zst", GOOD, r"is called a zstd file, but its contents are not zstd"),
        ("answers.npz", GOOD, r"is called a npz file, but its contents are not npz"),
        ("answers.npz", b"PK\x03\x04 nonsense", r"answers\.npz: is not a readable npz archive"),
        ("answers.parquet", GOOD, r"is called a parquet file, but its contents are not parquet"),
        ("answers.parquet", b"PAR1 and then nothing", r"is not a readable Parquet file"),
        ("answers.csv", "anchor,near,fra\na,b,c\n", r"the columns 'anchor', 'near' and 'fra' are not known"),
        ("answers.csv", "anchor,near,far,Far\na,b,c,d\n", r"2 columns are called 'far'"),
        ("answers.csv", GOOD.encode("utf-16")[:-1], r"line 1: UTF-16 or binary data"),
        ("answers.csv", b"anch\xff,near,far\n", r"line 1: bytes that are not UTF-8"),
        ("answers.csv", "anchor,near,far\ra,b,c\r", r"a carriage return inside a line"),
        (
            "answers.csv",
            'anchor,near,"far\na,b,c\n',
            r"line 1: the header cannot be read, a quotation mark opens",
        ),
        ("answers.json", "{}", r"holds one JSON value"),
        ("answers.json", "[1", r"answers\.json: is not JSON"),
        ("answers.json", '[["' + "x" * 99 + '"]]', r"not a JSON object: '.*x'"),
        ("answers.dat", GOOD, r"^[^']*answers\.dat: unknown extension '\.dat'"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path, name, data, message):
    with pytest.raises(FileError, match=message) as caught:
        read_triplets(put(tmp_path / name, data))
    assert str(tmp_path / name) in str(caught.value)


def test_a_missing_file_a_directory_and_a_pattern_without_files(tmp_path):
    with pytest.raises(FileError, match=r"nope\.csv: cannot be read, there is no such file"):
        read_triplets(tmp_path / "nope.csv")
    with pytest.raises(FileError, match=r"is a directory"):
        read_triplets(tmp_path)
    with pytest.raises(FileError, match=r"\*\.csv: no file matches this pattern"):
        read_triplets(tmp_path / "*.csv")
    with pytest.raises(InputError, match=r"the list of files is empty"):
        read_triplets([])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = put(tmp_path / "answers.csv", GOOD)
    path.chmod(0)
    with pytest.raises(FileError, match=r"cannot be read, permission denied"):
        read_triplets(path)


@pytest.mark.parametrize("packed", ["gz", "zst"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_an_archive_cut_short(tmp_path, packed, kind):
    answers = Triplets.from_array(
        np.random.default_rng(0).permuted(np.tile(np.arange(50), (2000, 1)), axis=1)[:, :3]
    )
    whole = tmp_path / f"whole.{kind}.{packed}"
    write_triplets(answers, whole)
    cut = put(tmp_path / f"cut.{kind}.{packed}", whole.read_bytes()[:-400])
    with pytest.raises(FileError, match=rf"cut\.{kind}\.{packed}: damaged or cut short"):
        read_triplets(cut)


def test_a_parquet_file_damaged_in_the_middle(tmp_path):
    whole = tmp_path / "whole.parquet"
    write_triplets(Triplets.from_array([[0, 1, 2]] * 999), whole)
    data = bytearray(whole.read_bytes())
    data[8:60] = bytes(52)
    with pytest.raises(FileError, match=r"cut\.parquet: cannot be read to its end, it is damaged"):
        read_triplets(put(tmp_path / "cut.parquet", bytes(data)))


class Bomb:
    def __reduce__(self):
        return (os.system, ("touch exploded",))


def test_a_pickle_is_never_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    archive = io.BytesIO()
    np.savez(archive, triplets=np.array([[Bomb(), 1, 2]], dtype=object))
    path = put(tmp_path / "answers.npz", archive.getvalue())
    with pytest.raises(FileError, match=r"holds Python objects \(a pickle\), which nearfar never loads"):
        read_triplets(path)
    with pytest.raises(FileError, match=r"is called a npz file, but its contents are not npz"):
        read_triplets(put(tmp_path / "bare.npz", pickle.dumps(Bomb())))
    with pytest.raises(FileError, match=r"is called a npy file"):
        read_triplets(put(tmp_path / "bare.npy", pickle.dumps(Bomb())))
    assert not (tmp_path / "exploded").exists()


def test_arrays_of_the_wrong_make(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(FileError, match=r"holds x; expected arrays anchor, near and far, or triplets"):
        read_triplets(tmp_path / "other.npz")
    with pytest.raises(FileError, match=r"the rows have shape \(4, 2\)"):
        read_triplets(np.zeros((4, 2), dtype=int))
    with pytest.raises(FileError, match=r"list-boolean needs an array 'response'"):
        read_triplets(np.array([[0, 1, 2]]), dialect="list-boolean")
    with pytest.raises(TripletError, match=r"cannot be read from dict"):
        read_triplets({"anchor": []})


def test_of_a_huge_cell_the_beginning_is_shown(tmp_path):
    path = put(tmp_path / "huge.csv", "anchor,near,far,seconds\na,b,c," + "x" * 1_000_000 + "\n")
    with pytest.raises(RowsError, match=r"not a number: seconds 'x{200}…'") as caught:
        read_triplets(path)
    assert len(str(caught.value)) < 1000


def test_a_response_is_never_left_out_unasked(tmp_path):
    """Half of these answers are the other way round, so that rows alone would be wrong."""
    rows, response = np.array([[0, 1, 2], [1, 2, 0]]), np.array([1, -1])
    np.savez(tmp_path / "votes.npz", triplets=rows, response=response)
    for given in (tmp_path / "votes.npz", (rows, response)):
        with pytest.raises(FileError, match=r"a response to every row; name its dialect"):
            read_triplets(given)
        assert read_triplets(given, dialect="list-order").array.tolist() == rows.tolist()
        assert read_triplets(given, dialect="list-boolean").array.tolist() == [[0, 1, 2], [1, 0, 2]]
    with pytest.raises(FileError, match=r"response has shape \(1,\)"):
        read_triplets((rows, response[:1]), dialect="list-boolean")


def test_options_that_do_not_exist(tmp_path):
    path = put(tmp_path / "answers.csv", GOOD)
    with pytest.raises(InputError, match=r"dialect: 'klingon' is not known"):
        read_triplets(path, dialect="klingon")
    with pytest.raises(InputError, match=r"on_bad must be 'error' or 'drop', got 'ignore'"):
        read_triplets(path, on_bad="ignore")
    with pytest.raises(
        FileError, match=r"the columns are 'anchor', 'near', 'far'; salmon expects head, left"
    ):
        read_triplets(path, dialect="salmon")


def test_a_header_of_two_dialects_must_be_told_apart(tmp_path):
    path = put(tmp_path / "answers.csv", "a,b,c,odd,central\nx,y,z,x,y\n")
    with pytest.raises(FileError, match=r"may be odd-one-out or most-central"):
        read_triplets(path)
    assert read_triplets(path, dialect="Odd_One_Out").array.tolist() == [[1, 2, 0], [2, 1, 0]]


# ---------------------------------------------------------------- single rows

LISTED = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,b", r"line 4: wrong number of cells: 2 cells \('a,b'\)"),
        ("a", r"line 4: wrong number of cells: 1 cell \('a'\)"),
        ("a,b,c,d", r"line 4: wrong number of cells: 4 cells \('a,b,c,d'\)"),
        ("a,b,", r"line 4: blank cell: far ''"),
        ("a,  ,c", r"line 4: blank cell: near '  '"),
        ("a,b,b", r"line 4: the same object twice: anchor 'a', near 'b', far 'b'"),
        ("a,NaN,c", r"line 4: NaN: near 'NaN'"),
        ("a,nan,c", r"line 4: NaN: near 'nan'"),
        ("a,NA,c", r"line 4: NA: near 'NA'"),
        (b"a,b,\xff", r"line 4: undecodable bytes: 'a,b,\\xff'"),
        ('a,"b"x,c', r"line 4: broken quotes: text beside a quoted cell"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_bad_row_of_a_csv_file(tmp_path, row, message, end):
    row = row if isinstance(row, bytes) else row.encode()
    lines = [b"anchor,near,far", b"a,b,c", b"b,c,a", row, b"c,a,b", b""]
    path = put(tmp_path / "answers.csv", end.encode().join(lines))
    with pytest.raises(RowsError, match=message) as caught:
        read_triplets(path)
    assert f"{path}, line 4" in str(caught.value)
    assert caught.value.rejected["line"].to_list() == [4] and isinstance(caught.value, ValueError)
    assert "on_bad='drop'" in str(caught.value)
    result = read_answers(path, on_bad="drop")
    assert len(result.triplets) == 3
    assert result.rejected.equals(caught.value.rejected)


@pytest.mark.parametrize("packed", ["gz", "zst"])
def test_bad_rows_of_packed_files_too(tmp_path, packed):
    text = "anchor,near,far\na,b,c\na,b\nb,c,a\n"
    path = tmp_path / f"answers.csv.{packed}"
    if packed == "gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        frame = pl.DataFrame({"anchor,near,far": text.splitlines()[1:]})
        frame.write_csv(path, compression="zstd", quote_style="never", check_extension=False)
    with pytest.raises(RowsError, match=r"line 3: wrong number of cells: 2 cells"):
        read_triplets(path)


@pytest.mark.filterwarnings("ignore:.*have no participant")
def test_a_short_row_whose_last_cell_may_be_blank(tmp_path):
    """Polars fills short rows up, so a missing cell must not pass for a blank one."""
    good = "anchor,near,far,participant\na,b,c,\nb,c,a,ann\n"
    assert np.asarray(read_triplets(put(tmp_path / "good.csv", good)).participant).tolist() == ["", "ann"]
    with pytest.raises(RowsError, match=r"line 4: wrong number of cells: 3 cells \('c,a,b'\)"):
        read_triplets(put(tmp_path / "short.csv", good + "c,a,b\n"))
    quoted = 'anchor,near,far,participant\n"a,x",b,c,\n"b\nb",c,a,\n'
    assert len(read_triplets(put(tmp_path / "quoted.csv", quoted))) == 2
    with pytest.raises(RowsError, match=r"line 5: wrong number of cells: 3 cells"):
        read_triplets(put(tmp_path / "quoted_short.csv", quoted + "c,a,b\n"))


def test_lines_are_counted_through_blank_lines_and_cells_of_several_lines(tmp_path):
    text = '\n\nanchor,near,far\n\n"a\nx\ny",b,c\n\nb,b,c\n'
    path = put(tmp_path / "answers.csv", text)
    with pytest.raises(RowsError, match=r"line 9: the same object twice"):
        read_triplets(path)
    with pytest.raises(
        RowsError, match=r"2 of 3 rows.*\n  line 9: the same object twice.*\n  line 10: wrong number of cells"
    ):
        read_triplets(put(path, text + "a\n"))
    assert read_answers(path, on_bad="drop").triplets.objects == ("a\nx\ny", "b", "c")


def test_the_first_five_are_shown_and_the_rest_counted(tmp_path):
    path = put(tmp_path / "answers.csv", GOOD + "a,a,b\n" * 1234)
    with pytest.raises(RowsError, match=r"1,234 of 1,235 rows are not answers") as caught:
        read_triplets(path)
    shown = str(caught.value).splitlines()
    assert len(shown) == 7
    assert shown[1].startswith("  line 3: the same object twice")
    assert shown[5].startswith("  line 7: ")
    assert shown[6] == "  and 1,229 more"
    assert len(caught.value.rejected) == 1234


def test_names_must_be_listed(tmp_path):
    path = put(tmp_path / "answers.csv", "anchor,near,far\na,b,c\na,b,e\na,NaN,b\n")
    with pytest.raises(RowsError, match=r"line 3: not in the object list: far 'e'"):
        read_triplets(path, objects=LISTED)
    kept = read_answers(path, objects=[*LISTED, "e", "NaN"])
    assert len(kept.triplets) == 3
    assert kept.triplets.objects == (*LISTED, "e", "NaN")


@pytest.mark.parametrize("dialect", ["odd-one-out", "most-central"])
def test_the_choice_must_be_among_the_three(tmp_path, dialect):
    role = "odd" if dialect == "odd-one-out" else "central"
    path = put(tmp_path / "answers.csv", f"a,b,c,{role}\nx,y,z,x\nx,y,z,w\nx,x,z,z\nx,y,z,\n")
    result = read_answers(path, on_bad="drop")
    assert result.rejected.select("line", "reason").rows() == [
        (3, f"{role} is none of the three"),
        (4, "the same object twice"),
        (5, "blank cell"),
    ]
    assert result.triplets.objects == ("x", "y", "z")
    with pytest.raises(
        RowsError, match=rf"line 3: {role} is none of the three: a 'x', b 'y', c 'z', {role} 'w'"
    ):
        read_triplets(path)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("-1", r"line 2: negative index: column 3 '-1'"),
        ("1.5", r"line 2: fractional index: column 3 '1\.5'"),
        ("4", r"line 2: index beyond the object list: column 3 '4'"),
        ("NaN", r"line 2: NaN: column 3 'NaN'"),
        ("x", r"line 2: not an index: column 3 'x'"),
        ("", r"line 2: blank cell: column 3 ''"),
        ("0", r"line 2: the same object twice: column 1 '0', column 2 '1', column 3 '0'"),
    ],
)
def test_a_bad_index(tmp_path, cell, message):
    path = put(tmp_path / "answers.csv", f"0,1,2\n0,1,{cell}\n")
    with pytest.raises(RowsError, match=message):
        read_triplets(path, dialect="things", objects=LISTED)


def test_an_index_too_large_to_believe(tmp_path):
    path = put(tmp_path / "answers.csv", "0,1,2\n0,1,4000000000\n")
    with pytest.raises(FileError, match=r"the largest index is 4,000,000,000, but there are only 4 answers"):
        read_triplets(path, dialect="things")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, r"row 1: negative index: column 3 '-1'"),
        (0.5, r"row 1: fractional index: column 3 '0\.5'"),
        (np.nan, r"row 1: NaN: column 3 'NaN'"),
        (7, r"row 1: index beyond the object list: column 3 '7'"),
    ],
)
def test_a_bad_index_in_an_array(value, message):
    with pytest.raises(RowsError, match=message):
        read_triplets(np.array([[0, 1, 2], [0, 1, value]]), objects=LISTED)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, r"row 1: blank cell: far ''"),
        (np.nan, r"row 1: NaN: far 'NaN'"),
        (-1.0, r"row 1: negative index: far '-1"),
        (1.5, r"row 1: fractional index: far '1\.5'"),
    ],
)
def test_a_bad_number_in_a_data_frame(value, message):
    frame = pl.DataFrame({"anchor": [1.0, 1.0], "near": [2.0, 2.0], "far": [3.0, value]}, strict=False)
    with pytest.raises(RowsError, match=message):
        read_triplets(frame)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"anchor": "a", "near": "b"}', r"line 3: blank cell: far ''"),
        ('{"anchor": "a", "near": "b", "far": null}', r"line 3: blank cell: far ''"),
        ('{"anchor": "a", "near": "b", "far": NaN}', r"line 3: blank cell: far ''"),
        ('{"anchor": "a", "near": "b", "far": "b"}', r"line 3: the same object twice"),
        ('{"anchor": "a", ', r"""line 3: not JSON: '\{"anchor": "a",'; expected one JSON object per line"""),
        ("[1, 2, 3]", r"line 3: not a JSON object: '\[1, 2, 3\]'"),
    ],
)
def test_a_bad_line_of_jsonl(tmp_path, line, message):
    good = '{"anchor": "a", "near": "b", "far": "c"}'
    path = put(tmp_path / "answers.jsonl", "\n".join([good, "", line, good, ""]))
    with pytest.raises(RowsError, match=message):
        read_triplets(path)
    assert len(read_answers(path, on_bad="drop").triplets) == 2


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("seconds", "fast", r"line 2: not a number: seconds 'fast'"),
        ("near_side", "top", r"line 2: not a side: near_side 'top'"),
    ],
)
def test_a_bad_optional_cell(tmp_path, column, cell, message):
    good = {"seconds": "1.5", "near_side": "left"}[column]
    path = put(tmp_path / "answers.csv", f"anchor,near,far,{column}\na,b,c,{cell}\na,c,b,{good}\na,c,b,\n")
    with pytest.raises(RowsError, match=message):
        read_triplets(path)


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_long_name_of_a_column_is_read(tmp_path, quote):
    name = f"{quote}{'x' * 200_000}{quote}"
    path = put(tmp_path / "answers.csv", f"anchor,near,far,{name}\na,b,c,d\n")
    assert len(read_triplets(path)) == 1
